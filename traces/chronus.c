/* The inputs of the Chronus scheduler: Tiresias' columns and deadlines, in seconds (docs/formats/chronus.md). */
#include "base/number.h"
#include "traces/reader.h"

/* The authors count a job as satisfied when it ends within the first entry of `expect_time_list` after its submission (main.py,
 * summary_all_jobs); that of a best-effort job is its submission again and means nothing. */
static const struct csv_column columns[] = {
    {"job_id", OF_ID, COLUMN_TELLS, 0},
    {"submit_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"num_gpu", OF_GPUS, COLUMN_REQUIRED, 0},
    {"duration", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"expect_time_list", OF_DEADLINES, COLUMN_TELLS, NS_PER_S},
    {"best_effort", OF_BEST_EFFORT, COLUMN_OPTIONAL, 0},
    {"user", OF_USER, COLUMN_OPTIONAL, 0},
    {"model_name", OF_MODEL, COLUMN_OPTIONAL, 0},
    {"expect_value_list", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"job_type", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"iterations", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"interval", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_format format = {.columns = columns, .n_columns = sizeof columns / sizeof columns[0]};

static const struct trace_wording wording[] = {{ROW_NO_DURATION, "no duration"}, {ROW_FINE, NULL}};

const struct trace_reader reader_chronus = {
    .name = "chronus",
    .summary = "Chronus: Tiresias' columns with user,expect_time_list,best_effort (seconds)",
    .csv = &format,
    .wording = wording,
};
