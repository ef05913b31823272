/* A workload like the Philly trace (Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", ATC'19),
 * measured from its reduced form of 82,247 jobs by scripts/fit-philly.
 *
 *   measured    GPU counts; durations as a mixture of lognormals a class of sizes, none longer than the longest recorded; jobs by hour of the
 *               day and day of the week; jobs a day; skew over the VCs; bursts (by braid trace fit)
 *   published   states (ATC'19, table 6): passed 69.3 %, killed 13.5 %, unsuccessful 17.2 % of the jobs; 44.53, 37.69, 17.76 % of the GPU time
 *   assumption  users and their skew, repeats and how alike they are (the reduced trace has neither users nor names); that the longest
 *               quarter of the jobs of any size has the states of the GPU time
 */
#include "traces/generator_model.h"

static const struct profile_size sizes[] = {{1, 76627}, {2, 1818}, {4, 1870}, {8, 1643}, {12, 7},
                                            {16, 199},  {24, 7},   {32, 67},  {64, 6},   {128, 3}};

static const double hour_jobs[24] = {4367, 3374, 3835, 3780, 2400, 3950, 5732, 7159, 3802, 3447, 3510, 2979,
                                     2567, 2415, 2185, 2224, 3021, 2289, 2744, 2496, 3483, 3142, 3885, 3461};
static const double day_jobs[7] = {10136, 12528, 13370, 15114, 16954, 7157, 6988}; /* Monday first */

#define STATES                                                                                                         \
    .n_bands = 2, .bands = {{.to = 0.75, .passed = 0.7756, .failed = 0.1701, .killed = 0.0543},                        \
                            {.to = 1, .passed = 0.4454, .failed = 0.1777, .killed = 0.3769}}
static const struct profile_class classes[] = {
    {.gpus_from = 1,
     .n_parts = 8,
     .parts = {{0.1200, PART_LOGNORMAL, 4.103, 0.252},
               {0.0886, PART_LOGNORMAL, 4.218, 0.089},
               {0.0702, PART_LOGNORMAL, 5.268, 0.432},
               {0.1274, PART_LOGNORMAL, 6.704, 0.406},
               {0.1183, PART_LOGNORMAL, 7.481, 0.227},
               {0.3110, PART_LOGNORMAL, 7.681, 2.228},
               {0.0545, PART_LOGNORMAL, 7.858, 0.050},
               {0.1100, PART_LOGNORMAL, 8.426, 0.472}},
     STATES},
    {.gpus_from = 2,
     .n_parts = 4,
     .parts = {{0.3065, PART_LOGNORMAL, 2.691, 0.443},
               {0.3008, PART_LOGNORMAL, 2.914, 0.198},
               {0.1097, PART_LOGNORMAL, 3.341, 0.237},
               {0.2831, PART_LOGNORMAL, 8.671, 3.650}},
     STATES},
    {.gpus_from = 3,
     .n_parts = 4,
     .parts = {{0.2803, PART_LOGNORMAL, 5.327, 1.130},
               {0.2857, PART_LOGNORMAL, 9.452, 1.457},
               {0.2705, PART_LOGNORMAL, 11.108, 1.424},
               {0.1636, PART_LOGNORMAL, 11.667, 0.420}},
     STATES},
    {.gpus_from = 5,
     .n_parts = 4,
     .parts = {{0.3122, PART_LOGNORMAL, 6.171, 1.550},
               {0.2560, PART_LOGNORMAL, 9.626, 0.831},
               {0.0772, PART_LOGNORMAL, 12.153, 0.171},
               {0.3546, PART_LOGNORMAL, 12.196, 0.923}},
     STATES},
    {.gpus_from = 9,
     .n_parts = 4,
     .parts = {{0.2381, PART_LOGNORMAL, 5.848, 2.580},
               {0.2867, PART_LOGNORMAL, 6.938, 2.063},
               {0.1023, PART_LOGNORMAL, 10.904, 0.127},
               {0.3729, PART_LOGNORMAL, 11.922, 0.915}},
     STATES},
};

static const struct profile profile = {
    .rate_per_day = 913, /* between the first and the last day of 100 jobs */
    .has_origin = true,
    .origin_utc_s = 1506902400, /* 2017-10-02, a Monday inside the trace */
    .hour_jobs = hour_jobs,
    .day_jobs = day_jobs,
    .burst = 2.8,
    .repeat = 0.5,
    .alike = 0.4,
    .vcs = 11, /* those that have nodes */
    .users = 300,
    .vc_exponent = 1.68,
    .user_exponent = 1,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .longest_s = 4628226,
};

const struct generator_model generator_philly = {
    .name = "philly",
    .summary =
        "like the Philly trace: its sizes and durations, daily and weekly cycle, bursts, users who repeat their jobs",
    .profile = &profile,
};
