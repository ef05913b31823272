/* The jobs of a run as `braid export --what jobs` writes them, so that a schedule can be replayed (docs/formats/braid-jobs.md). A job's run
 * time is its ideal one; its recorded start is the start that the simulation gave it. */
#include "base/number.h"
#include "traces/reader.h"

#include <stdlib.h>
#include <string.h>

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

/* The run of the first row: a file may hold the jobs of several runs, which are not one workload. */
struct first_run {
    uint32_t at; /* field of the column `run` */
    bool is_known;
    char name[64];
    size_t n;
};

static int begin(struct trace_input *in, struct rows_columns *has, struct error *err)
{
    (void)has;
    struct first_run *first = calloc(1, sizeof *first);
    if (first == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    first->at = UINT32_MAX;
    for (uint32_t i = 0; i < in->csv.n_fields; i++)
        if (in->csv.fields[i].n == strlen("run") && memcmp(in->csv.fields[i].text, "run", strlen("run")) == 0)
            first->at = i;
    in->joined = first;
    return BRAID_OK;
}

static void end(struct trace_input *in)
{
    free(in->joined);
    in->joined = NULL;
}

static void finish(struct trace_row *row, const struct trace_input *in)
{
    struct first_run *first = in->joined;
    if (first->at >= in->csv.n_fields)
        return;
    struct csv_field run = in->csv.fields[first->at];
    size_t n = run.n < sizeof first->name ? run.n : sizeof first->name;
    if (!first->is_known) {
        memcpy(first->name, run.text, n);
        first->n = n;
        first->is_known = true;
    }
    if (n != first->n || memcmp(first->name, run.text, n) != 0)
        row->fault = ROW_OTHER_RUN;
}

static const struct csv_format format = {
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .statuses = statuses,
    .finish = finish,
    .begin = begin,
    .end = end,
};

const struct trace_reader reader_braid_jobs = {
    .name = "braid_jobs",
    .summary =
        "jobs of a run, as 'braid export --what jobs' writes them: run,job,id,gpus,submit,start,work,… (seconds)",
    .csv = &format,
};
