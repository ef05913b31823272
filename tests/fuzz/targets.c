#include "fuzz.h"

#include "traces/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fuzz_target targets[] = {
    {"engine", NULL, fuzz_engine}, {"groups", NULL, fuzz_groups},     {"compat", NULL, fuzz_compat},
    {"config", NULL, fuzz_config}, {"cluster", NULL, fuzz_cluster},   {"quota", NULL, fuzz_quota},
    {"sample", NULL, fuzz_sample}, {"overhead", NULL, fuzz_overhead}, {"estimates", NULL, fuzz_estimates},
    {"trace", "auto", fuzz_trace},
};
enum { N_TARGETS = sizeof targets / sizeof *targets, READERS_MAX = 64, NAME_ROOM = 64 };

const struct fuzz_target *fuzz_target_at(size_t i)
{
    static char names[READERS_MAX][NAME_ROOM];
    static struct fuzz_target readers[READERS_MAX];
    if (i < N_TARGETS)
        return &targets[i];
    size_t n = 0, k = i - N_TARGETS;
    while (reader_list()[n] != NULL)
        n++;
    if (k >= n || k >= READERS_MAX)
        return NULL;
    snprintf(names[k], sizeof names[k], "trace-%s", reader_list()[k]->name);
    readers[k] = (struct fuzz_target){names[k], reader_list()[k]->name, fuzz_trace};
    return &readers[k];
}

const struct fuzz_target *fuzz_target_find(const char *name)
{
    const struct fuzz_target *t;
    for (size_t i = 0; (t = fuzz_target_at(i)) != NULL; i++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: does not hold: %s: ", file, line, condition);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
