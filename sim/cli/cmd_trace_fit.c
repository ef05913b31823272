/* braid trace fit: a model for the generator measured from a trace. */
#include "cli/cmd_trace.h"
#include "traces/fit.h"

#include <inttypes.h>
#include <stdio.h>

static void print_summary(const struct profile *p, const struct workload *w)
{
    double gpus = 0, jobs = 0;
    for (uint32_t i = 0; i < p->n_sizes; i++) {
        gpus += p->sizes[i].jobs * p->sizes[i].gpus;
        jobs += p->sizes[i].jobs;
    }
    printf("jobs           %12" PRIu32 "\n", w->n_jobs);
    printf("jobs a day     %12.1f\n", p->rate_per_day);
    printf("mean GPUs      %12.3f   %" PRIu32 " different numbers, %" PRIu32 " classes of durations\n", gpus / jobs,
           p->n_sizes, p->n_classes);
    printf("mean burst     %12.2f   jobs that come together\n", p->burst);
    printf("repeats        %12.3f   share of submissions%s\n", p->repeat,
           w->name == NULL ? "; assumed: the trace has no job names" : "");
    printf("alike          %12.3f   share of a duration's variance that its name explains%s\n", p->alike,
           w->name == NULL ? "; assumed" : "");
    printf("VCs            %12" PRIu32 "   as skewed as Zipf's law of exponent %.2f\n", p->vcs, p->vc_exponent);
    printf("users          %12" PRIu32 "   of a VC: exponent %.2f\n", p->users, p->user_exponent);
}

int cmd_trace_fit(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace fit FILE -o MODEL.yaml [--format NAME] [--failed run|drop|merge_attempts]\n"
        "                       [--applications FILE] [--strict]\n\n"
        "Measure a trace (arrivals by hour of the week, bursts, GPU counts, durations and states by GPU count, "
        "virtual\n"
        "clusters, users, repeats) and write a model from which 'braid trace generate --file MODEL.yaml' and\n"
        "'trace: {generate: {file: MODEL.yaml}}' make more of the same, at any rate and load.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "fmaso", 1, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    if (a.output == NULL)
        return cli_usage("trace fit", "where to? give -o MODEL.yaml");
    struct workload w;
    struct arena arena;
    struct profile profile;
    struct error err = {0};
    arena_init(&arena);
    int code = trace_load(&w, &a.spec, &err);
    if (code == BRAID_OK)
        code = fit_measure(&profile, &arena, &w, &err);
    if (code == BRAID_OK)
        code = fit_write(&profile, a.spec.path, a.output, &err);
    if (code == BRAID_OK) {
        print_summary(&profile, &w);
        fprintf(stderr, "braid: wrote a model of %" PRIu32 " jobs to %s", w.n_jobs, a.output);
        trace_dropped_print(&w.report);
    }
    workload_fini(&w);
    arena_fini(&arena);
    int finished = cli_finish();
    return code != BRAID_OK ? cli_fail(&err) : finished;
}
