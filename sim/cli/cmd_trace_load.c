/* Offered load of a trace: the GPU time that its jobs ask for between first and last submission, over what a cluster has in that time. */
#include "base/number.h"
#include "cli/cmd_trace.h"
#include "experiment/experiment.h"
#include "experiment/offered_load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_head(const char *what)
{
    printf("\nOffered load by %s\n%-20s %10s %10s %14s %12s %8s\n", what, what, "jobs", "rejected", "GPU-hours",
           "capacity", "load");
}

/* Returns whether the load is above 1. */
static bool print_row(const struct load_row *r, double span_ns)
{
    double load = load_row_load(r);
    printf("%-20s %10" PRIu32 " %10" PRIu32 " %14.1f %12.1f ", r->name, r->jobs, r->rejected, r->gpu_ns / 3600e9,
           r->capacity_gpu_ns / span_ns);
    if (r->capacity_gpu_ns > 0)
        printf("%8.3f%s\n", load, load > 1 ? "  above 1: the queue grows without end" : "");
    else
        printf("%8s  no GPUs\n", "-");
    return load > 1;
}

static void warn(const char *path)
{
    fflush(stdout);
    fprintf(stderr,
            "braid: %s: the offered load is above 1.0: more GPU time is asked for than there is, so waiting times grow "
            "with the "
            "length of the trace; scale it with trace.load or trace.scale\n",
            path);
}

static bool print_rows(const char *what, const struct load_row *rows, uint32_t n, double span_ns)
{
    bool is_above = false;
    if (n > 0)
        print_head(what);
    for (uint32_t i = 0; i < n; i++)
        is_above |= print_row(&rows[i], span_ns);
    return is_above;
}

static int print_config(const struct trace_arguments *a, const struct run_config *config, const struct workload *w,
                        struct error *err)
{
    struct offered_load l;
    int code = offered_load_init(&l, config, w, err);
    if (code != BRAID_OK)
        return code;
    bool is_above = print_rows("cluster", &l.all, 1, l.span_ns);
    is_above |= print_rows("VC", l.vcs, l.n_vcs, l.span_ns);
    is_above |= print_rows("GPU type", l.types, l.n_types, l.span_ns);
    if (is_above)
        warn(a->paths[0]);
    offered_load_fini(&l);
    return BRAID_OK;
}

static int print_gpus(const struct trace_arguments *a, double gpus, const struct workload *w)
{
    double span_ns = (double)(w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]);
    char name[32];
    snprintf(name, sizeof name, "%.0f GPUs", gpus);
    struct load_row all = {.name = name, .capacity_gpu_ns = gpus * span_ns};
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        bool fits = (double)w->gpus[j] <= gpus;
        all.jobs++;
        all.rejected += !fits;
        all.gpu_ns += fits ? (double)w->gpus[j] * (double)w->duration_ns[j] : 0;
    }
    print_head("cluster");
    if (print_row(&all, span_ns))
        warn(a->paths[0]);
    return BRAID_OK;
}

int trace_load_print(const struct trace_arguments *a, const struct workload *w, struct error *err)
{
    uint64_t gpus = 0;
    if (a->gpus != NULL && (!number_parse_u64(a->gpus, strlen(a->gpus), &gpus) || gpus == 0))
        return error_set(err, BRAID_BAD_INPUT, "--gpus is a number of GPUs above 0, not '%s'", a->gpus);
    if (w->submit_ns[w->n_jobs - 1] == w->submit_ns[0]) {
        puts("\nOffered load: not to be told, all jobs are submitted at one instant");
        return BRAID_OK;
    }
    if (a->gpus != NULL)
        return print_gpus(a, (double)gpus, w);
    /* The config's own trace, if it has one, is of no interest here. */
    static const char set[] = "trace={generate: {model: philly, jobs: 1}}";
    const struct config_override override = {.text = set};
    struct experiment x;
    int code = experiment_load(&x, a->cluster, &override, 1, err);
    if (code != BRAID_OK)
        return code;
    if (x.n_runs > 1)
        printf("\nCluster: that of the first of the config's %" PRIu32 " runs\n", x.n_runs);
    code = print_config(a, &x.runs[0], w, err);
    experiment_fini(&x);
    return code;
}
