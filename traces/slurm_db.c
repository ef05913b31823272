/* Slurm's own table of jobs, as its database has it: the log of the MIT Supercloud data set and dumps of `CLUSTER_job_table`
 * (docs/formats/slurm-db.md). Times count from 1970, limits in minutes, states are numbers, and resources go by number: 1 CPUs, 2 memory in
 * MiB, 1001 GPUs (and 1002, where one type alone is counted). */
#include "traces/mapped.h"

#include <string.h>

static const char *const gpu_ids[] = {"1001", "1002"}, *const cpu_ids[] = {"1"}, *const memory_ids[] = {"2"};

static const struct mapped_candidate sources[] = {
    {"submit", true, {.column = "time_submit", .unit = "unix"}},
    {"id", true, {.column = "id_job"}},
    {"gpus", true, {.column = "tres_req", .tres = {gpu_ids, 2}}},
    {"start", true, {.column = "time_start", .unit = "unix"}},
    {"end", true, {.column = "time_end", .unit = "unix"}},
    {"estimate", false, {.column = "timelimit", .unit = "min"}},
    {"vc", false, {.column = "partition"}},
    {"user", false, {.column = "id_user"}},
    {"name", false, {.column = "job_name"}},
    {"status", false, {.column = "state", .codes = JOB_CODES_SLURM}},
    {"priority", false, {.column = "priority"}},
    {"cpus", false, {.column = "tres_req", .tres = {cpu_ids, 1}}},
    {"memory", false, {.column = "tres_req", .tres = {memory_ids, 1}, .unit = "MiB"}},
};
static int slurm_db_read(struct trace_input *in, struct rows *out, struct error *err)
{
    return mapped_read_found(in, out, sources, sizeof sources / sizeof sources[0], NULL, err);
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
