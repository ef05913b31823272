/* The jobs of a run as `braid export --what jobs` writes them, so that a schedule can be replayed (docs/formats/braid-jobs.md). A job's run
 * time is its ideal one; its recorded start is the start that the simulation gave it. */
#include "base/number.h"
#include "traces/reader.h"

static const struct csv_column columns[] = {
    {"run", OF_NOTHING, COLUMN_TELLS, 0},
    {"job", OF_ORDER, COLUMN_REQUIRED, 0},
    {"id", OF_ID, COLUMN_REQUIRED, 0},
    {"user", OF_USER, COLUMN_OPTIONAL, 0},
    {"vc", OF_VC, COLUMN_OPTIONAL, 0},
    {"gpus", OF_GPUS, COLUMN_REQUIRED, 0},
    {"submit", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"start", OF_START, COLUMN_REQUIRED, NS_PER_S},
    {"work", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"trace_status", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"end", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"queued", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"run_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"jct", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"overhead", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"lost", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"gpu_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"preemptions", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"moves", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"restarts", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"status", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"reason", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_status statuses[] = {
    {"passed", TRACE_PASSED},   {"failed", TRACE_FAILED}, {"killed", TRACE_KILLED},
    {"unknown", TRACE_UNKNOWN}, {NULL, TRACE_UNKNOWN},
};

static const struct csv_format format = {
    .columns = columns, .n_columns = sizeof columns / sizeof columns[0], .statuses = statuses};

const struct trace_reader reader_braid_jobs = {
    .name = "braid_jobs",
    .summary =
        "jobs of a run, as 'braid export --what jobs' writes them: run,job,id,gpus,submit,start,work,… (seconds)",
    .csv = &format,
};
