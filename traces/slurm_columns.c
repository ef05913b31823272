/* Slurm's accounting as sacct prints it without -P, or with a delimiter other than `|`: columns of fixed width over a line of dashes, or
 * fields between tabs, commas or semicolons (docs/formats/slurm.md). Fields go by the names that sacct -P has. */
#include "traces/mapped.h"

#include <string.h>

static const char *const gpu[] = {"gres/gpu"}, *const cpu[] = {"cpu"}, *const memory[] = {"mem"};

static const struct mapped_candidate sources[] = {
    {"submit", true, {.column = "Submit"}},
    {"id", false, {.column = "JobID"}},
    {"id", false, {.column = "JobIDRaw"}},
    {"gpus", false, {.column = "ReqTRES", .tres = {gpu, 1}}},
    {"gpus", false, {.column = "AllocTRES", .tres = {gpu, 1}}},
    {"gpu_type", false, {.column = "ReqTRES", .tres = {gpu, 1}}},
    {"start", false, {.column = "Start"}},
    {"end", false, {.column = "End"}},
    {"duration", false, {.column = "ElapsedRaw"}},
    {"duration", false, {.column = "Elapsed"}},
    {"estimate", false, {.column = "TimelimitRaw", .unit = "min"}},
    {"estimate", false, {.column = "Timelimit", .unit = "min"}},
    {"vc", false, {.column = "Partition"}},
    {"vc", false, {.column = "Account"}},
    {"user", false, {.column = "User"}},
    {"name", false, {.column = "JobName"}},
    {"status", false, {.column = "State"}},
    {"priority", false, {.column = "Priority"}},
    {"cpus", false, {.column = "ReqTRES", .tres = {cpu, 1}}},
    {"memory", false, {.column = "ReqTRES", .tres = {memory, 1}, .unit = "MiB"}},
};

/* "123.batch" is a step. */
static void finish(struct trace_row *row)
{
    if (row->id.n > 0 && memchr(row->id.at, '.', row->id.n) != NULL)
        row->fault = ROW_JOB_STEP;
}

static int slurm_columns_read(struct trace_input *in, struct rows *out, struct error *err)
{
    return mapped_read_found(in, out, sources, sizeof sources / sizeof sources[0], finish, err);
}

/* A first line with JobID, Submit and a list of resources between anything but bars. */
static bool slurm_columns_is_content(const char *text, size_t n)
{
    const char *feed = n > 0 ? memchr(text, '\n', n) : NULL;
    bool has_id = false, has_submit = false, has_resources = false;
    size_t line = feed != NULL ? (size_t)(feed - text) : n;
    if (n == 0 || memchr(text, '|', line) != NULL)
        return false;
    for (size_t i = 0; i < line;) {
        size_t from = i;
        while (i < line && memchr(" \t,;\r\"", text[i], 6) == NULL)
            i++;
        size_t length = i - from;
        has_id |= (length == 5 && memcmp(text + from, "JobID", 5) == 0) ||
                  (length == 8 && memcmp(text + from, "JobIDRaw", 8) == 0);
        has_submit |= length == 6 && memcmp(text + from, "Submit", 6) == 0;
        has_resources |= (length == 7 && memcmp(text + from, "ReqTRES", 7) == 0) ||
                         (length == 9 && memcmp(text + from, "AllocTRES", 9) == 0);
        i++;
    }
    return has_id && has_submit && has_resources;
}

const struct trace_reader reader_slurm_columns = {
    .name = "slurm_columns",
    .is_content = slurm_columns_is_content,
    .summary = "Slurm's accounting, sacct without -P: columns over a line of dashes, or fields between tabs, commas or "
               "semicolons",
    .read = slurm_columns_read,
};
