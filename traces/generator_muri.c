/* A workload like the four traces that Muri was evaluated with (Zhao et al., "Multi-Resource Interleaving for Deep Learning Training", SIGCOMM'22),
 * measured from its release (simulator/trace-data/trace1.csv to trace4.csv, 10,879 jobs together) by scripts/fit-muri: GPU counts, networks,
 * durations by GPU count as tables, jobs a day.
 *
 * Assumption: the traces have times from their own beginning, so there is no daily cycle; bursts (between 28 and 93 % of the jobs come within a
 * minute of the one before); users and VCs, which they lack; repeats and how alike they are.
 */
#include "traces/generator_model.h"

static const struct profile_size sizes[] = {{1, 4685}, {2, 463}, {4, 2005}, {8, 3063}, {16, 467}, {32, 196}};
static const double network_jobs[GENERATOR_NETWORKS] = {1308, 1366, 1369, 1386, 1322, 1344, 1382, 1402};

static const struct profile_knot durations_1[] = {
    {0, 1},         {0.02, 16},    {0.05, 28},     {0.1, 43},       {0.15, 118},     {0.2, 169},
    {0.25, 189},    {0.3, 212},    {0.35, 292},    {0.4, 537},      {0.45, 845},     {0.5, 2444},
    {0.55, 4771},   {0.6, 7315},   {0.65, 15203},  {0.7, 28786},    {0.75, 58098},   {0.8, 108231},
    {0.85, 183984}, {0.9, 335034}, {0.95, 599581}, {0.98, 1765817}, {0.99, 2123674}, {1, 4257415}};
static const struct profile_knot durations_2[] = {
    {0, 4},         {0.02, 31},    {0.05, 76},     {0.1, 450},     {0.15, 902},     {0.2, 2353},
    {0.25, 11048},  {0.3, 22113},  {0.35, 26463},  {0.4, 32769},   {0.45, 46136},   {0.5, 59667},
    {0.55, 75322},  {0.6, 95871},  {0.65, 122836}, {0.7, 157333},  {0.75, 178982},  {0.8, 228521},
    {0.85, 290232}, {0.9, 444720}, {0.95, 558936}, {0.98, 853029}, {0.99, 1399561}, {1, 2583252}};
static const struct profile_knot durations_4[] = {
    {0, 2},         {0.02, 21},    {0.05, 33},     {0.1, 87},      {0.15, 188},    {0.2, 381},
    {0.25, 706},    {0.3, 1117},   {0.35, 2496},   {0.4, 5410},    {0.45, 12830},  {0.5, 17472},
    {0.55, 29060},  {0.6, 42411},  {0.65, 51915},  {0.7, 68452},   {0.75, 85602},  {0.8, 110283},
    {0.85, 150972}, {0.9, 219217}, {0.95, 312422}, {0.98, 575169}, {0.99, 852671}, {1, 4014063}};
static const struct profile_knot durations_8[] = {
    {0, 1},         {0.02, 22},    {0.05, 41},     {0.1, 108},     {0.15, 406},     {0.2, 767},
    {0.25, 1026},   {0.3, 1692},   {0.35, 3038},   {0.4, 5342},    {0.45, 8653},    {0.5, 14402},
    {0.55, 23639},  {0.6, 42093},  {0.65, 67509},  {0.7, 99590},   {0.75, 143716},  {0.8, 185678},
    {0.85, 235625}, {0.9, 343458}, {0.95, 561869}, {0.98, 910952}, {0.99, 1361224}, {1, 4628239}};
static const struct profile_knot durations_16[] = {
    {0, 2},         {0.02, 30},    {0.05, 36},     {0.1, 44},      {0.15, 55},      {0.2, 93},
    {0.25, 505},    {0.3, 1045},   {0.35, 1473},   {0.4, 3267},    {0.45, 6034},    {0.5, 11991},
    {0.55, 14402},  {0.6, 17133},  {0.65, 29590},  {0.7, 45038},   {0.75, 65133},   {0.8, 90902},
    {0.85, 123440}, {0.9, 173479}, {0.95, 340881}, {0.98, 847250}, {0.99, 1453510}, {1, 3412913}};
static const struct profile_knot durations_32[] = {
    {0, 2},        {0.02, 12},   {0.05, 19},     {0.1, 29},      {0.15, 52},      {0.2, 185},
    {0.25, 258},   {0.3, 694},   {0.35, 930},    {0.4, 1410},    {0.45, 2479},    {0.5, 4157},
    {0.55, 7192},  {0.6, 14394}, {0.65, 14407},  {0.7, 20760},   {0.75, 45717},   {0.8, 49351},
    {0.85, 54831}, {0.9, 66611}, {0.95, 108564}, {0.98, 149697}, {0.99, 1430557}, {1, 3098095}};

#define TABLE(of) .knots = of, .n_knots = sizeof of / sizeof of[0]
static const struct profile_class classes[] = {
    {.gpus_from = 1, TABLE(durations_1)},   {.gpus_from = 2, TABLE(durations_2)},
    {.gpus_from = 4, TABLE(durations_4)},   {.gpus_from = 8, TABLE(durations_8)},
    {.gpus_from = 16, TABLE(durations_16)}, {.gpus_from = 32, TABLE(durations_32)},
};

static const struct profile profile = {
    .rate_per_day = 26.9,
    .burst = 2,
    .repeat = 0.3,
    .alike = 0.3,
    .vcs = 1,
    .users = 50,
    .user_exponent = 1,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .longest_s = 4628239,
    .network_jobs = network_jobs,
};

const struct generator_model generator_muri = {
    .name = "muri",
    .summary = "like the traces of Muri's evaluation: many jobs of 8 GPUs, long durations, eight networks",
    .profile = &profile,
};
