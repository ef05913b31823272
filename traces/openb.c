/* Alibaba's GPU trace of 2023 (openb): pods, many of which ask for a part of a GPU (docs/formats/openb.md). */
#include "base/number.h"
#include "traces/reader.h"

#include <string.h>

enum { BYTES_PER_MIB = 1 << 20 };

static const struct csv_column columns[] = {
    {"name", OF_ID, COLUMN_TELLS, 0},
    {"creation_time", OF_SUBMIT, COLUMN_OPTIONAL, NS_PER_S}, /* the files with five columns have no times */
    {"num_gpu", OF_GPUS, COLUMN_REQUIRED, 0},
    {"gpu_milli", OF_GPU_MILLI, COLUMN_TELLS, 0},
    {"scheduled_time", OF_START, COLUMN_OPTIONAL, NS_PER_S},
    {"deletion_time", OF_END, COLUMN_OPTIONAL, NS_PER_S},
    {"pod_phase", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"cpu_milli", OF_CPUS, COLUMN_TELLS, 1},
    {"memory_mib", OF_MEMORY, COLUMN_TELLS, BYTES_PER_MIB},
    {"gpu_spec", OF_GPU_TYPE, COLUMN_OPTIONAL, 0},
    {"qos", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_status statuses[] = {
    {"Succeeded", TRACE_PASSED}, {"Failed", TRACE_FAILED}, {"Running", TRACE_UNKNOWN},
    {"Pending", TRACE_UNKNOWN},  {NULL, TRACE_UNKNOWN},
};

static void finish(struct trace_row *row, const struct trace_input *in)
{
    (void)in;
    if (row->gpus_milli > 0 && row->submit_ns != WORKLOAD_ABSENT && row->start_ns == WORKLOAD_ABSENT)
        row->fault = ROW_NEVER_STARTED;
    else if (row->gpus_milli > 0 && row->submit_ns != WORKLOAD_ABSENT && row->end_ns == WORKLOAD_ABSENT)
        row->fault = ROW_STILL_RUNNING;
}

static const struct trace_wording wording[] = {
    {ROW_NEVER_STARTED, "a pod that was never scheduled; it has no run time"},
    {ROW_STILL_RUNNING, "a pod that was scheduled and not deleted; its run time is not known"},
    {ROW_NO_SUBMIT, "no creation_time; the files of five columns have no times at all"},
    {ROW_FINE, NULL},
};

static const struct csv_format format = {
    .columns = columns, .n_columns = sizeof columns / sizeof columns[0], .statuses = statuses, .finish = finish};

const struct trace_reader reader_openb = {
    .name = "openb",
    .summary = "Alibaba 2023 pods: name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,…,creation_time,deletion_time,"
               "scheduled_time (seconds)",
    .csv = &format,
    .wording = wording,
};
