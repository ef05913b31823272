/* The workloads of the Pollux scheduler (OSDI 2021): applications instead of run times (docs/formats/pollux.md). */
#include "base/number.h"
#include "traces/reader.h"

/* The run time alone on T4s, 4 a node, of the configurations that the authors' workloads ask for, and those of Sia's (Jayaram Subramanya et
 * al., SOSP'23). As Pollux' generator has it (get_configurations of simulator/applications.py, petuum/adaptdl, commit de25dcc9, Apache-2.0):
 * iterations at the end of the last epoch (validation-<batch>.csv) x time of a step on the packed placement (placements.csv,
 * scalability.csv; linear between the measured local batch sizes, gradient accumulation where the local batch is above the largest one
 * measured). Rounded to the second; printed and checked by scripts/pollux-lengths. */
static const struct application lengths[] = {
    {"bert", 6, 384, 3056, 0},
    {"bert", 8, 384, 2480, 0},
    {"bert", 12, 384, 1589, 0},
    {"bert", 16, 384, 1335, 0},
    {"cifar10", 4, 2048, 1254, 0},
    {"cifar10", 6, 2048, 854, 0},
    {"cifar10", 8, 2048, 826, 0},
    {"cifar10", 8, 4096, 904, 0},
    {"cifar10", 10, 4096, 701, 0},
    {"cifar10", 12, 4096, 573, 0},
    {"cifar10", 16, 4096, 449, 0},
    {"deepspeech2", 6, 320, 4153, 0},
    {"deepspeech2", 8, 320, 3501, 0},
    {"deepspeech2", 12, 640, 2573, 0},
    {"imagenet", 10, 1600, 62077, 0},
    {"imagenet", 12, 3200, 57479, 0},
    {"imagenet", 14, 3200, 50228, 0},
    {"imagenet", 24, 3200, 31396, 0},
    {"imagenet", 32, 6400, 26207, 0},
    {"imagenet", 48, 6400, 18880, 0},
    {"ncf", 1, 32768, 33, 0},
    {"yolov3", 4, 64, 12870, 0},
    {NULL, 0, 0, 0, 0},
};

static const struct csv_column columns[] = {
    {"name", OF_ID, COLUMN_TELLS, 0},
    {"time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"num_replicas", OF_GPUS, COLUMN_REQUIRED, 0},
    {"application", OF_MODEL, COLUMN_REQUIRED, 0},
    {"batch_size", OF_BATCH, COLUMN_TELLS, 0},
    {"ddl", OF_DEADLINE, COLUMN_OPTIONAL, NS_PER_S}, /* of the copy that ElasticFlow ships */
};

static const struct csv_format format = {
    .columns = columns, .n_columns = sizeof columns / sizeof columns[0], .lengths = lengths};

static const struct trace_wording wording[] = {
    {ROW_NO_DURATION, "the table of applications has no run time for this application with so many GPUs and this batch "
                      "size; bring one with trace.applications"},
    {ROW_FINE, NULL},
};

const struct trace_reader reader_pollux = {
    .name = "pollux",
    .summary =
        "Pollux: name,time,application,num_replicas,batch_size (seconds); run times from a table of applications",
    .csv = &format,
    .wording = wording,
};
