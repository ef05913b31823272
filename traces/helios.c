/* Helios (SenseTime), columns by name, and the inputs of its simulator with plain seconds (docs/formats/helios.md). */
#include "base/number.h"
#include "traces/reader.h"

static const struct csv_column columns[] = {
    {"job_id", OF_ID, COLUMN_OPTIONAL, 0},
    {"submit_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"gpu_num", OF_GPUS, COLUMN_REQUIRED, 0},
    {"duration", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"start_time", OF_START, COLUMN_OPTIONAL, NS_PER_S},
    {"end_time", OF_END, COLUMN_OPTIONAL, NS_PER_S},
    {"vc", OF_VC, COLUMN_TELLS, 0},
    {"user", OF_USER, COLUMN_OPTIONAL, 0},
    {"jobname", OF_NAME, COLUMN_OPTIONAL, 0},
    {"cpu_num", OF_CPUS, COLUMN_OPTIONAL, 0},
    {"state", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"order", OF_ORDER, COLUMN_OPTIONAL, 0},
    {"node_num", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"queue", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_status statuses[] = {
    {"COMPLETED", TRACE_PASSED}, {"CANCELLED", TRACE_KILLED}, {"FAILED", TRACE_FAILED},
    {"TIMEOUT", TRACE_FAILED},   {"NODE_FAIL", TRACE_FAILED}, {"Pass", TRACE_PASSED},
    {"Killed", TRACE_KILLED},    {"Failed", TRACE_FAILED},    {NULL, TRACE_UNKNOWN},
};

static const struct csv_format format = {columns, sizeof columns / sizeof columns[0], statuses, NULL};

const struct trace_reader reader_helios = {
    .name = "helios",
    .summary = "Helios: vc,gpu_num,submit_time,duration and, where there, job_id,user,jobname,cpu_num,state,start_time,"
               "end_time,order (dates or seconds)",
    .csv = &format,
};
