/* `sacct --json` (docs/formats/slurm-json.md): an object whose `jobs` are the jobs. What each version of Slurm calls a value is told by what
 * the first jobs have. */
#include "traces/mapped.h"

#include <string.h>

static const char *const gpu[] = {"gres/gpu"}, *const cpu[] = {"cpu"}, *const memory[] = {"mem"};

/* For each target the names that it has had, the newest first; the first that is there counts. */
static const struct mapped_candidate sources[] = {
    {"submit", true, {.column = "time.submission", .unit = "unix"}},
    {"id", true, {.column = "job_id"}},
    {"gpus", false, {.column = "tres.requested", .tres = {gpu, 1}}},
    {"gpus", false, {.column = "tres.allocated", .tres = {gpu, 1}}},
    {"gpu_type", false, {.column = "tres.requested", .tres = {gpu, 1}}},
    {"start", true, {.column = "time.start", .unit = "unix"}},
    {"end", false, {.column = "time.end", .unit = "unix"}},
    {"duration", true, {.column = "time.elapsed"}},
    {"estimate", false, {.column = "time.limit.number", .unit = "min"}},
    {"estimate", false, {.column = "time.limit", .unit = "min"}},
    {"vc", false, {.column = "partition"}},
    {"user", false, {.column = "user"}},
    {"name", false, {.column = "name"}},
    {"status", false, {.column = "state.current"}},
    {"priority", false, {.column = "priority.number"}},
    {"priority", false, {.column = "priority"}},
    {"cpus", false, {.column = "tres.requested", .tres = {cpu, 1}}},
    {"memory", false, {.column = "tres.requested", .tres = {memory, 1}, .unit = "MiB"}},
};
/* A limit of 0 is one that is not set. */
static void finish(struct trace_row *row)
{
    if (row->estimate_ns == 0)
        row->estimate_ns = WORKLOAD_ABSENT;
}

static int slurm_json_read(struct trace_input *in, struct rows *out, struct error *err)
{
    return mapped_read_found(in, out, sources, sizeof sources / sizeof sources[0], finish, err);
}

/* An object with `jobs` that have what only those of sacct have. */
static bool slurm_json_is_content(const char *text, size_t n)
{
    static const char *const keys[] = {"\"allocation_nodes\"", "\"association\"", "\"derived_exit_code\"",
                                       "\"submission\""};
    if (n == 0 || text[0] != '{' || memmem(text, n, "\"jobs\"", 6) == NULL)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (memmem(text, n, keys[i], strlen(keys[i])) != NULL)
            return true;
    return false;
}

const struct trace_reader reader_slurm_json = {
    .name = "slurm_json",
    .is_content = slurm_json_is_content,
    .summary = "Slurm's accounting as JSON, sacct --json: an object with jobs that have time, tres, state, …",
    .read = slurm_json_read,
};
