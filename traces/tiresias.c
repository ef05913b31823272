/* The inputs of the Tiresias simulator, times in seconds (docs/formats/tiresias.md). */
#include "base/number.h"
#include "traces/reader.h"

static const struct csv_column columns[] = {
    {"job_id", OF_ID, COLUMN_TELLS, 0},        {"submit_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"num_gpu", OF_GPUS, COLUMN_REQUIRED, 0},  {"duration", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"model_name", OF_MODEL, COLUMN_TELLS, 0}, {"iterations", OF_NOTHING, COLUMN_TELLS, 0},
    {"interval", OF_NOTHING, COLUMN_TELLS, 0},
};

static const struct csv_format format = {columns, sizeof columns / sizeof columns[0], NULL, NULL};

static const struct trace_wording wording[] = {{ROW_NO_DURATION, "no duration"}, {ROW_FINE, NULL}};

const struct trace_reader reader_tiresias = {
    .name = "tiresias",
    .summary = "Tiresias: job_id,num_gpu,submit_time,iterations,model_name,duration,interval (seconds)",
    .csv = &format,
    .wording = wording,
};
