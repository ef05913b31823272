/* `sacct --json` (docs/formats/slurm-json.md): an object whose `jobs` are the jobs. What each version of Slurm calls a value is told by what
 * the first jobs have. */
#include "traces/mapped.h"
#include "traces/table.h"

#include <stdlib.h>
#include <string.h>

static const char *const gpu[] = {"gres/gpu"}, *const cpu[] = {"cpu"}, *const memory[] = {"mem"};

/* For each target the names that it has had, the newest first; the first that is there counts. */
static const struct {
    const char *target;
    bool is_needed;
    struct mapping_source source;
} sources[] = {
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
enum { N_SOURCES = sizeof sources / sizeof sources[0] };

static bool has_value(const struct table_peek *k, const char *name)
{
    for (uint32_t c = 0; c < k->n_columns; c++)
        if (strcmp(k->names[c], name) == 0)
            return true;
    return false;
}

/* A limit of 0 is one that is not set. */
static void finish(struct trace_row *row)
{
    if (row->estimate_ns == 0)
        row->estimate_ns = WORKLOAD_ABSENT;
}

static int slurm_json_read(struct trace_input *in, struct rows *out, struct error *err)
{
    struct trace_mapping m = {.separator = "auto"};
    struct table_peek *peek = calloc(1, sizeof *peek);
    if (peek == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    int code = table_peek(peek, &in->source, in->path, err);
    for (int i = 0; i < N_SOURCES && code == BRAID_OK; i++) {
        uint32_t t = mapping_target_find(sources[i].target);
        if (m.is_given[t] || (!sources[i].is_needed && !has_value(peek, sources[i].source.column)))
            continue;
        m.is_given[t] = true;
        m.sources[t] = sources[i].source;
    }
    free(peek);
    if (code == BRAID_OK)
        code = source_rewind(&in->source, err);
    return code == BRAID_OK ? mapped_read(in, out, &m, finish, err) : code;
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
