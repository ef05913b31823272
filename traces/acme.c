/* Acme (Shanghai AI Laboratory): the job logs of Kalos and Seren, and the gang trace that the AcmeTrace forks convert them to
 * (docs/formats/acme.md). */
#include "base/number.h"
#include "traces/reader.h"

#define BYTES_PER_GB INT64_C(1000000000)

/* All but the duration, which in Kalos counts from the submission, and what Kalos alone has. */
#define COMMON_COLUMNS                                                                                                 \
    {"job_id", OF_ID, COLUMN_OPTIONAL, 0}, {"submit_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},                      \
        {"gpu_num", OF_GPUS, COLUMN_REQUIRED, 0}, {"start_time", OF_START, COLUMN_TELLS, NS_PER_S},                    \
        {"end_time", OF_END, COLUMN_TELLS, NS_PER_S}, {"user", OF_USER, COLUMN_OPTIONAL, 0},                           \
        {"type", OF_NAME, COLUMN_TELLS, 0}, {"state", OF_STATUS, COLUMN_TELLS, 0},                                     \
        {"cpu_num", OF_CPUS, COLUMN_OPTIONAL, 0}, {"node_num", OF_COPIES, COLUMN_OPTIONAL, 0},                         \
        {"queue", OF_NOTHING, COLUMN_OPTIONAL, 0},                                                                     \
    {                                                                                                                  \
        "gpu_time", OF_NOTHING, COLUMN_OPTIONAL, 0                                                                     \
    }

static const struct csv_column kalos_columns[] = {
    COMMON_COLUMNS,
    {"mem_per_pod_GB", OF_MEMORY, COLUMN_TELLS, BYTES_PER_GB},
    {"duration", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"shared_mem_per_pod", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"fail_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"stop_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_column seren_columns[] = {
    COMMON_COLUMNS,
    {"duration", OF_DURATION, COLUMN_OPTIONAL, NS_PER_S},
};

static const struct csv_column gang_columns[] = {
    {"job_id", OF_ID, COLUMN_OPTIONAL, 0},
    {"arrival_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"gpu_per_worker", OF_GPUS, COLUMN_REQUIRED, 0},
    {"gpu_workers", OF_COPIES, COLUMN_REQUIRED, 0},
    {"num_iteration", OF_ITERATIONS, COLUMN_REQUIRED, 0},
    {"iteration_computing_time", OF_STAGE_GPU, COLUMN_REQUIRED, NS_PER_S},
    {"iteration_networking_time", OF_STAGE_NETWORK, COLUMN_REQUIRED, NS_PER_S},
    {"ps", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"cpu_per_gpu_worker", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"cpu_per_ps_worker", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"tensorsizes", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"profiled_network", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_status statuses[] = {
    {"COMPLETED", TRACE_PASSED}, {"CANCELLED", TRACE_KILLED},     {"FAILED", TRACE_FAILED}, {"TIMEOUT", TRACE_FAILED},
    {"NODE_FAIL", TRACE_FAILED}, {"OUT_OF_MEMORY", TRACE_FAILED}, {NULL, TRACE_UNKNOWN},
};

/* Memory is that of one pod, of which there is one a node. */
static void finish_log(struct trace_row *row, const struct trace_input *in)
{
    (void)in;
    if (row->copies > 0 && __builtin_mul_overflow(row->mem_kib, (uint64_t)row->copies, &row->mem_kib))
        row->mem_kib = 0;
}

/* The stages of an iteration are a STAGE_GPU and a STAGE_NETWORK, one after the other. */
enum { GPU_STAGE = OF_STAGE_GPU - OF_STAGE_STORAGE, NETWORK_STAGE = OF_STAGE_NETWORK - OF_STAGE_STORAGE };

static void finish_gang(struct trace_row *row, const struct trace_input *in)
{
    (void)in;
    int64_t computing_ns = row->stage_ns[GPU_STAGE], networking_ns = row->stage_ns[NETWORK_STAGE];
    if (row->gpus_milli != WORKLOAD_ABSENT && row->copies != WORKLOAD_ABSENT &&
        __builtin_mul_overflow(row->gpus_milli, row->copies, &row->gpus_milli))
        row->fault = ROW_BAD_NUMBER;
    if (row->iterations == WORKLOAD_ABSENT || computing_ns == WORKLOAD_ABSENT || networking_ns == WORKLOAD_ABSENT)
        return;
    if (__builtin_add_overflow(computing_ns, networking_ns, &row->iteration_ns) ||
        __builtin_mul_overflow(row->iterations, row->iteration_ns, &row->duration_ns))
        row->fault = ROW_TOO_LARGE;
}

static const struct csv_format gangs = {
    .columns = gang_columns,
    .n_columns = sizeof gang_columns / sizeof gang_columns[0],
    .finish = finish_gang,
};
static const struct csv_format seren = {
    .columns = seren_columns,
    .n_columns = sizeof seren_columns / sizeof seren_columns[0],
    .statuses = statuses,
    .finish = finish_log,
    .next = &gangs,
};
static const struct csv_format kalos = {
    .columns = kalos_columns,
    .n_columns = sizeof kalos_columns / sizeof kalos_columns[0],
    .statuses = statuses,
    .finish = finish_log,
    .next = &seren,
};

const struct trace_reader reader_acme = {
    .name = "acme",
    .summary =
        "Acme: Kalos and Seren, job_id,user,node_num,gpu_num,…,type,state,submit_time,start_time,end_time (dates); "
        "and gangs, arrival_time,num_iteration,…,gpu_workers,gpu_per_worker (seconds)",
    .csv = &kalos,
};
