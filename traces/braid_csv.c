/* braid's own csv: columns by name, in any order (docs/formats/braid-csv.md). traces/writer.c writes it. */
#include "base/number.h"
#include "traces/reader.h"

static const struct csv_column columns[] = {
    {"id", OF_ID, COLUMN_REQUIRED, 0},
    {"submit", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"gpus", OF_GPUS, COLUMN_REQUIRED, 0},
    {"duration", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"vc", OF_VC, COLUMN_OPTIONAL, 0},
    {"user", OF_USER, COLUMN_OPTIONAL, 0},
    {"name", OF_NAME, COLUMN_OPTIONAL, 0},
    {"model", OF_MODEL, COLUMN_OPTIONAL, 0},
    {"status", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"start", OF_START, COLUMN_OPTIONAL, NS_PER_S},
    {"estimate", OF_ESTIMATE, COLUMN_OPTIONAL, NS_PER_S},
    {"deadline", OF_DEADLINE, COLUMN_OPTIONAL, NS_PER_S},
    {"priority", OF_PRIORITY, COLUMN_OPTIONAL, 0},
    {"cpus", OF_CPUS, COLUMN_OPTIONAL, 0},
    {"memory", OF_MEMORY, COLUMN_OPTIONAL, 0},
    {"gpu_memory", OF_GPU_MEMORY, COLUMN_OPTIONAL, 0},
    {"gpu_type", OF_GPU_TYPE, COLUMN_OPTIONAL, 0},
    {"gpu_milli", OF_GPU_MILLI, COLUMN_OPTIONAL, 0},
    {"batch", OF_BATCH, COLUMN_OPTIONAL, 0},
    {"iterations", OF_ITERATIONS, COLUMN_OPTIONAL, 0},
    {"iteration_time", OF_ITERATION_TIME, COLUMN_OPTIONAL, NS_PER_S},
    {"stage_storage", OF_STAGE_STORAGE, COLUMN_OPTIONAL, NS_PER_S},
    {"stage_cpu", OF_STAGE_CPU, COLUMN_OPTIONAL, NS_PER_S},
    {"stage_gpu", OF_STAGE_GPU, COLUMN_OPTIONAL, NS_PER_S},
    {"stage_network", OF_STAGE_NETWORK, COLUMN_OPTIONAL, NS_PER_S},
    {"depends", OF_DEPENDS, COLUMN_OPTIONAL, 0},
    {"order", OF_ORDER, COLUMN_OPTIONAL, 0},
};

/* Words of the status are those of all logs: traces/job_end.h. */
static const struct csv_format format = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};

const struct trace_reader reader_braid = {
    .name = "braid",
    .summary = "braid's own csv: id,submit,duration,gpus and, where there, vc,user,status,… (dates or seconds)",
    .csv = &format,
};
