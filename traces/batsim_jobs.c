/* Jobs of a schedule as Batsim writes them, and `braid export --what batsim` too (docs/formats/batsim-jobs.md): one resource as one GPU. A
 * job's run time is that of the schedule, its recorded start the one that it had there. */
#include "base/number.h"
#include "traces/reader.h"

static const struct csv_column columns[] = {
    {"job_id", OF_ID, COLUMN_REQUIRED, 0},
    {"submission_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"requested_number_of_resources", OF_GPUS, COLUMN_REQUIRED, 0},
    {"execution_time", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"starting_time", OF_START, COLUMN_TELLS, NS_PER_S},
    {"requested_time", OF_ESTIMATE, COLUMN_OPTIONAL, NS_PER_S},
    {"profile", OF_NAME, COLUMN_OPTIONAL, 0},
    {"success", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"final_state", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"workload_name", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"hacky_job_id", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"finish_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"waiting_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"turnaround_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"stretch", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"allocated_resources", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"consumed_energy", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"metadata", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

/* Before Batsim 2 */
static const struct csv_column older[] = {
    {"job_id", OF_ID, COLUMN_REQUIRED, 0},
    {"submission_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"requested_number_of_processors", OF_GPUS, COLUMN_REQUIRED, 0},
    {"execution_time", OF_DURATION, COLUMN_REQUIRED, NS_PER_S},
    {"starting_time", OF_START, COLUMN_TELLS, NS_PER_S},
    {"requested_time", OF_ESTIMATE, COLUMN_OPTIONAL, NS_PER_S},
    {"success", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"final_state", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"workload_name", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"hacky_job_id", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"finish_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"waiting_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"turnaround_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"stretch", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"allocated_processors", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"consumed_energy", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_status statuses[] = {
    {"COMPLETED_SUCCESSFULLY", TRACE_PASSED},
    {"COMPLETED_FAILED", TRACE_FAILED},
    {"COMPLETED_WALLTIME_REACHED", TRACE_FAILED},
    {"COMPLETED_KILLED", TRACE_KILLED},
    {"REJECTED", TRACE_UNKNOWN},
    {"SUBMITTED", TRACE_UNKNOWN},
    {"RUNNING", TRACE_UNKNOWN},
    {"1", TRACE_PASSED},
    {"0", TRACE_FAILED},
    {NULL, TRACE_UNKNOWN},
};

static const struct csv_format older_format = {
    .columns = older,
    .n_columns = sizeof older / sizeof older[0],
    .statuses = statuses,
};

static const struct csv_format format = {
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .statuses = statuses,
    .next = &older_format,
};

const struct trace_reader reader_batsim_jobs = {
    .name = "batsim_jobs",
    .summary = "jobs of a schedule, by Batsim or 'braid export --what batsim': "
               "job_id,submission_time,requested_number_of_resources,…",
    .csv = &format,
};
