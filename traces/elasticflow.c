/* The inputs of ElasticFlow, in seconds, the deadline an instant (docs/formats/elasticflow.md). */
#include "base/number.h"
#include "traces/reader.h"

static const struct csv_column columns[] = {
    {"job_id", OF_ID, COLUMN_TELLS, 0},
    {"submit_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"num_gpu", OF_GPUS, COLUMN_REQUIRED, 0},
    {"duration", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"ddl", OF_DEADLINE, COLUMN_TELLS, NS_PER_S},
    {"best_effort", OF_BEST_EFFORT, COLUMN_OPTIONAL, 0},
    {"model_name", OF_MODEL, COLUMN_TELLS, 0},
    {"batch_size", OF_BATCH, COLUMN_TELLS, 0},
    {"iteration", OF_ITERATIONS, COLUMN_OPTIONAL, 0},
    {"real_duration", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"real_iteration", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_format format = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};

static const struct trace_wording wording[] = {{ROW_NO_DURATION, "no duration"}, {ROW_FINE, NULL}};

const struct trace_reader reader_elasticflow = {
    .name = "elasticflow",
    .summary = "ElasticFlow: job_id,submit_time,model_name,ddl,batch_size,num_gpu,duration,iteration (seconds)",
    .csv = &format,
    .wording = wording,
};
