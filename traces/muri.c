/* The inputs of the Muri simulator, times in milliseconds (docs/formats/muri.md). */
#include "base/number.h"
#include "traces/reader.h"

#define NS_PER_MS INT64_C(1000000)

static const struct csv_column columns[] = {
    {"job_id", OF_ID, COLUMN_TELLS, 0},
    {"submit_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_MS},
    {"num_gpu", OF_GPUS, COLUMN_REQUIRED, 0},
    {"iterations", OF_ITERATIONS, COLUMN_REQUIRED, 0},
    {"iteration_time", OF_ITERATION_TIME, COLUMN_REQUIRED, NS_PER_MS},
    {"duration", OF_ESTIMATE, COLUMN_OPTIONAL, NS_PER_MS},
    {"model_name", OF_MODEL, COLUMN_OPTIONAL, 0},
    {"resource_time_0", OF_STAGE_STORAGE, COLUMN_TELLS, NS_PER_MS},
    {"resource_time_1", OF_STAGE_GPU, COLUMN_TELLS, NS_PER_MS},
    {"resource_time_2", OF_STAGE_NETWORK, COLUMN_TELLS, NS_PER_MS},
    {"priority", OF_PRIORITY, COLUMN_OPTIONAL, 0},
    {"batch_size", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"interval", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

/* The service that a job asks for is its iterations, not the column `duration`, which Muri itself takes for a first guess. */
static void finish(struct trace_row *row, const struct trace_input *in)
{
    (void)in;
    if (row->iterations == WORKLOAD_ABSENT || row->iteration_ns == WORKLOAD_ABSENT)
        return;
    if (__builtin_mul_overflow(row->iterations, row->iteration_ns, &row->duration_ns))
        row->fault = ROW_TOO_LARGE;
}

static const struct csv_format format = {columns, sizeof columns / sizeof columns[0], NULL, finish};

static const struct trace_wording wording[] = {
    {ROW_NO_DURATION, "no iterations or no iteration_time, of which the run time is made"},
    {ROW_FINE, NULL},
};

const struct trace_reader reader_muri = {
    .name = "muri",
    .summary = "Muri: job_id,num_gpu,submit_time,iterations,model_name,…,iteration_time,resource_time_0..2,priority "
               "(milliseconds)",
    .csv = &format,
    .wording = wording,
};
