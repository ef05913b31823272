/* What a trace says of the schedule on record: how long jobs waited, how many GPUs were in use, how good the limits were. */
#include "cli/cmd_trace.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <inttypes.h>
#include <stdlib.h>

/* Mean and quantiles of `n` > 0 values, which are sorted. */
static void print_row(const char *label, double *values, size_t n, int digits)
{
    static const double at[] = {0.1, 0.5, 0.9, 0.99};
    gsl_sort(values, 1, n);
    printf("%-20s %10zu %11.*f", label, n, digits, gsl_stats_mean(values, 1, n));
    for (size_t q = 0; q < sizeof at / sizeof at[0]; q++)
        printf(" %11.*f", digits, gsl_stats_quantile_from_sorted_data(values, 1, n, at[q]));
    printf(" %11.*f\n", digits, values[n - 1]);
}

static void print_head(const char *title)
{
    printf("\n%s\n%-20s %10s %11s %11s %11s %11s %11s %11s\n", title, "", "jobs", "mean", "p10", "p50", "p90", "p99",
           "max");
}

static void print_waits(const struct workload *w, double *values)
{
    size_t n = 0;
    uint32_t early = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        if (w->start_ns[j] == WORKLOAD_ABSENT)
            continue;
        early += w->start_ns[j] < w->submit_ns[j];
        if (w->start_ns[j] >= w->submit_ns[j])
            values[n++] = (double)(w->start_ns[j] - w->submit_ns[j]) / 1e9;
    }
    if (n == 0)
        return;
    print_head("Recorded waits, from submission to start, in seconds");
    print_row("wait", values, n, 1);
    if (early > 0)
        printf("%-20s %10" PRIu32 "  started before their submission; not counted\n", "", early);
}

struct change {
    int64_t at_ns, gpus;
};

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->gpus > y->gpus) - (x->gpus < y->gpus); /* ends before starts */
}

/* The most GPUs that the jobs held at one time, had each run from its start on without a break; false: no memory. */
static bool print_peak(const struct workload *w)
{
    struct change *changes = calloc((size_t)w->n_jobs * 2, sizeof *changes);
    if (changes == NULL)
        return false;
    size_t n = 0;
    int64_t held = 0, most = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        int64_t end_ns;
        if (w->start_ns[j] == WORKLOAD_ABSENT || w->duration_ns[j] == 0 ||
            __builtin_add_overflow(w->start_ns[j], w->duration_ns[j], &end_ns))
            continue;
        changes[n++] = (struct change){w->start_ns[j], w->gpus[j]};
        changes[n++] = (struct change){end_ns, -(int64_t)w->gpus[j]};
    }
    qsort(changes, n, sizeof *changes, by_time);
    for (size_t i = 0; i < n; i++) {
        held += changes[i].gpus;
        most = held > most ? held : most;
    }
    if (n > 0)
        printf("GPUs in use on record: at most %" PRId64 " at one time (jobs that were preempted count as running)\n",
               most);
    free(changes);
    return true;
}

static void print_limits(const struct workload *w, double *values)
{
    size_t n = 0, beyond = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        if (w->estimate_ns[j] == WORKLOAD_ABSENT || w->estimate_ns[j] <= 0)
            continue;
        values[n++] = (double)w->duration_ns[j] / (double)w->estimate_ns[j];
        beyond += w->duration_ns[j] > w->estimate_ns[j];
    }
    if (n == 0)
        return;
    print_head("Limits or estimates of the trace");
    print_row("duration / limit", values, n, 3);
    printf("beyond the limit: %.2f %% of them; without a limit: %.2f %% of all jobs\n",
           100 * (double)beyond / (double)n, 100 * (double)(w->n_jobs - n) / (double)w->n_jobs);
}

bool trace_record_print(const struct workload *w, double *values)
{
    double gpu_ns = 0, span_ns = (double)(w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]);
    for (uint32_t j = 0; j < w->n_jobs; j++)
        gpu_ns += (double)w->gpus[j] * (double)w->duration_ns[j];
    bool ok = true;
    if (w->start_ns != NULL) {
        print_waits(w, values);
        ok = print_peak(w);
    }
    if (w->estimate_ns != NULL)
        print_limits(w, values);
    if (span_ns > 0)
        printf("\nDemand: %.1f GPUs on average from the first to the last submission; a cluster of as many has a load "
               "of 1\n",
               gpu_ns / span_ns);
    return ok;
}
