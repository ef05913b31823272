/* braid trace fit: a model for the generator measured from a trace. */
#include "base/outfile.h"
#include "cli/cmd_trace.h"
#include "traces/fit.h"
#include "traces/fit_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { CHECK_SEED = 1 };

static void print_summary(FILE *out, const struct profile *p, const struct workload *w)
{
    double gpus = 0, jobs = 0;
    for (uint32_t i = 0; i < p->n_sizes; i++) {
        gpus += p->sizes[i].jobs * p->sizes[i].gpus;
        jobs += p->sizes[i].jobs;
    }
    fprintf(out, "jobs           %12" PRIu32 "\n", w->n_jobs);
    fprintf(out, "jobs a day     %12.1f\n", p->rate_per_day);
    fprintf(out, "mean GPUs      %12.3f   %" PRIu32 " different numbers, %" PRIu32 " classes of durations\n",
            gpus / jobs, p->n_sizes, p->n_classes);
    fprintf(out, "mean burst     %12.2f   jobs that come together\n", p->burst);
    bool is_assumed = w->name == NULL || w->names.count < 2;
    fprintf(out, "repeats        %12.3f   share of submissions with the name, user, VC and GPUs of another%s\n",
            p->repeat, is_assumed ? "; assumed: the trace has no job names" : "");
    fprintf(out, "alike          %12.3f   share of a duration's variance that these explain%s\n", p->alike,
            is_assumed ? "; assumed" : "");
    fprintf(out, "VCs            %12" PRIu32 "   as skewed as Zipf's law of exponent %.2f\n", p->vcs, p->vc_exponent);
    fprintf(out, "users          %12" PRIu32 "   of a VC: exponent %.2f\n", p->users, p->user_exponent);
}

/* The model beside its trace; what is off is marked, and said on standard error. */
static void print_check(FILE *out, const struct fit_check *c)
{
    fprintf(out, "\n%-16s %14s %14s   %" PRIu32 " jobs made by the model, seed %d\n", "", "trace", "made", c->jobs,
            CHECK_SEED);
    uint32_t off = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct fit_check_row *r = &c->rows[i];
        char trace[32] = "";
        if (!isnan(r->trace))
            snprintf(trace, sizeof trace, "%.4g", r->trace);
        fprintf(out, "%-16s %14s %14.4g%s%s%s\n", r->name, trace, r->made, r->unit[0] != 0 ? "   " : "", r->unit,
                r->is_off ? "  (off)" : "");
        off += r->is_off;
    }
    if (off > 0)
        fprintf(
            stderr,
            "braid: the model differs from its trace in what is marked '(off)'; a few long jobs may be behind it (look "
            "at other seeds), or a trace that the model does not describe (docs/generator.md)\n");
}

int cmd_trace_fit(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace fit FILE -o MODEL.yaml [--format NAME] [--failed run|drop|merge_attempts]\n"
        "                       [--applications FILE] [--strict]\n"
        "                       [--columns LIST [--separator NAME] [--header WORD] [--unit UNIT]]\n\n"
        "Measure a trace (arrivals by hour of the week, bursts, GPU counts, durations and states by GPU count, "
        "virtual\n"
        "clusters, users, repeats) and write a model from which 'braid trace generate --file MODEL.yaml' and\n"
        "'trace: {generate: {file: MODEL.yaml}}' make more of the same, at any rate and load. Jobs are made once and\n"
        "compared with the trace; what differs by more than it should is marked.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "fmasoCXHU", 1, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    if (a.output == NULL)
        return cli_usage("trace fit", "where to? give -o MODEL.yaml");
    struct workload w;
    struct arena arena;
    struct profile profile;
    struct error err = {0};
    arena_init(&arena);
    int code = trace_arguments_load(&a, &w, &err);
    if (code == BRAID_OK)
        code = fit_measure(&profile, &arena, &w, &err);
    struct fit_check check;
    if (code == BRAID_OK)
        code = fit_check(&check, &profile, &w, CHECK_SEED, &err);
    if (code == BRAID_OK)
        code = fit_write(&profile, a.spec.path, a.output, &err);
    if (code == BRAID_OK) {
        FILE *out = outfile_is_stdout(a.output) ? stderr : stdout;
        print_summary(out, &profile, &w);
        print_check(out, &check);
        fprintf(stderr, "braid: wrote a model of %" PRIu32 " jobs to %s", w.n_jobs, a.output);
        trace_dropped_print(&w.report);
    }
    workload_fini(&w);
    arena_fini(&arena);
    int finished = cli_finish();
    return code != BRAID_OK ? cli_fail(&err) : finished;
}
