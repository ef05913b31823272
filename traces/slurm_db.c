/* Slurm's own table of jobs, as its database has it: the log of the MIT Supercloud data set and dumps of `CLUSTER_job_table`
 * (docs/formats/slurm-db.md). Times count from 1970, limits in minutes, states are numbers, and resources go by number: 1 CPUs, 2 memory in
 * MiB, 1001 GPUs (and 1002, where one type alone is counted). */
#include "traces/mapped.h"
#include "traces/table.h"

#include <stdlib.h>
#include <string.h>

static const char *const gpu_ids[] = {"1001", "1002"}, *const cpu_ids[] = {"1"}, *const memory_ids[] = {"2"};

static const struct {
    const char *target;
    struct mapping_source source;
} sources[] = {
    {"submit", {.column = "time_submit", .unit = "unix"}},
    {"id", {.column = "id_job"}},
    {"gpus", {.column = "tres_req", .tres = {gpu_ids, 2}}},
    {"start", {.column = "time_start", .unit = "unix"}},
    {"end", {.column = "time_end", .unit = "unix"}},
    {"estimate", {.column = "timelimit", .unit = "min"}},
    {"vc", {.column = "partition"}},
    {"user", {.column = "id_user"}},
    {"name", {.column = "job_name"}},
    {"status", {.column = "state", .codes = JOB_CODES_SLURM}},
    {"priority", {.column = "priority"}},
    {"cpus", {.column = "tres_req", .tres = {cpu_ids, 1}}},
    {"memory", {.column = "tres_req", .tres = {memory_ids, 1}, .unit = "MiB"}},
};
enum { N_SOURCES = sizeof sources / sizeof sources[0] };

static bool has_column(const struct table_peek *k, const char *name)
{
    for (uint32_t c = 0; c < k->n_columns; c++)
        if (strcmp(k->names[c], name) == 0)
            return true;
    return false;
}

static int slurm_db_read(struct trace_input *in, struct rows *out, struct error *err)
{
    struct trace_mapping m = {.separator = "comma"};
    struct table_peek *peek = calloc(1, sizeof *peek);
    if (peek == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    int code = table_peek(peek, &in->source, in->path, err);
    for (int i = 0; i < N_SOURCES && code == BRAID_OK; i++) {
        uint32_t t = mapping_target_find(sources[i].target);
        m.is_given[t] = i < 5 || has_column(peek, sources[i].source.column); /* the first five are needed */
        m.sources[t] = sources[i].source;
    }
    m.separator = peek->separator;
    free(peek);
    if (code == BRAID_OK)
        code = source_rewind(&in->source, err);
    return code == BRAID_OK ? mapped_read(in, out, &m, NULL, err) : code;
}

/* A header with the names of the database's columns. */
static bool slurm_db_is_content(const char *text, size_t n)
{
    static const char *const names[] = {"id_job", "time_submit", "time_start", "time_end", "tres_req"};
    const char *feed = n > 0 ? memchr(text, '\n', n) : NULL;
    size_t line = feed != NULL ? (size_t)(feed - text) : n;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (memmem(text, line, names[i], strlen(names[i])) == NULL)
            return false;
    return true;
}

const struct trace_reader reader_slurm_db = {
    .name = "slurm_db",
    .is_content = slurm_db_is_content,
    .summary = "Slurm's table of jobs (MIT Supercloud): id_job,time_submit,time_start,time_end,tres_req,… (1970, "
               "numbered resources)",
    .read = slurm_db_read,
};
