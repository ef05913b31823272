/* braid trace convert: any readable trace in braid's own csv, or in a format of the HPC world, saying what that one cannot carry. */
#include "cli/cmd_trace.h"

#include "traces/writer.h"
#include "traces/writer_batsim.h"
#include "traces/writer_swf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int write_csv(const struct workload *w, const char *path, struct losses *lost, struct error *err)
{
    *lost = (struct losses){0};
    return trace_write(w, path, err);
}

static const struct target {
    const char *name, *ending, *called;
    int (*write)(const struct workload *w, const char *path, struct losses *lost, struct error *err);
} targets[] = {
    {"csv", ".csv", "braid csv", write_csv},
    {"swf", ".swf", "SWF", trace_write_swf},
    {"batsim", ".json", "Batsim JSON", trace_write_batsim},
};
enum { N_TARGETS = sizeof targets / sizeof targets[0] };

static bool ends_with(const char *path, size_t n, const char *ending)
{
    size_t length = strlen(ending);
    return n >= length && memcmp(path + n - length, ending, length) == 0;
}

/* By --to, else by the ending of the file's name. */
static const struct target *find_target(const struct trace_arguments *a)
{
    size_t n = strlen(a->output);
    if (ends_with(a->output, n, ".gz"))
        n -= 3;
    for (int i = 0; i < N_TARGETS; i++)
        if (a->to != NULL ? strcmp(a->to, targets[i].name) == 0 : ends_with(a->output, n, targets[i].ending))
            return &targets[i];
    return NULL;
}

static void print_losses(const struct losses *lost, const char *called)
{
    if (lost->n > 0)
        fprintf(stderr, "braid: %s has no place for\n", called);
    for (uint32_t i = 0; i < lost->n; i++)
        fprintf(stderr, "  %s, of %" PRIu32 " jobs\n", lost->all[i].what, lost->all[i].jobs);
}

int cmd_trace_convert(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace convert FILE -o OUT.csv|OUT.swf|OUT.json[.gz] [--to csv|swf|batsim] [--format NAME]\n"
        "                           [--failed run|drop|merge_attempts] [--applications FILE] [--strict]\n"
        "                           [--columns LIST [--separator NAME] [--header WORD] [--unit UNIT]]\n\n"
        "Read a trace and write its jobs, whole or not at all: as braid csv (reading that file gives the same jobs), "
        "in\n"
        "the Standard Workload Format, or as a Batsim workload. What the latter two cannot carry is told on stderr, "
        "and\n"
        "so are rows that are dropped.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "fmasotCXHU", 1, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    if (a.output == NULL)
        return cli_usage("trace convert",
                         "where to? give -o FILE.csv, FILE.swf or FILE.json, with .gz behind it for gzip");
    const struct target *target = find_target(&a);
    if (target == NULL && a.to != NULL)
        return cli_usage("trace convert", "--to is csv, swf or batsim, not '%s'", a.to);
    if (target == NULL)
        return cli_usage("trace convert", "'%s' ends in none of .csv, .swf and .json; say --to csv, swf or batsim",
                         a.output);
    struct workload w;
    struct losses lost;
    struct error err = {0};
    int code = trace_arguments_load(&a, &w, &err);
    if (code == BRAID_OK)
        code = target->write(&w, a.output, &lost, &err);
    if (code == BRAID_OK) {
        fprintf(stderr, "braid: wrote %" PRIu32 " jobs to %s", w.n_jobs, a.output);
        trace_dropped_print(&w.report);
        if (w.offset_s != 0)
            fprintf(stderr, "braid: times are moved: time 0 is second %" PRId64 " of the trace\n", w.offset_s);
        print_losses(&lost, target->called);
    }
    workload_fini(&w);
    return code == BRAID_OK ? 0 : cli_fail(&err);
}
