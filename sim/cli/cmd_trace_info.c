/* braid trace info: what is in a trace, as tables. */
#include "base/number.h"
#include "cli/cmd_trace.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 20 };

#define NS_PER_HOUR (3600.0 * 1e9)

static double gpu_hours(const struct workload *w, uint32_t j)
{
    return (double)w->gpus[j] * (double)w->duration_ns[j] / NS_PER_HOUR;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void print_date(int64_t utc_s)
{
    int64_t year;
    int month, day;
    date_from_days(utc_s / 86400, &year, &month, &day);
    printf("%04" PRId64 "-%02d-%02d %02" PRId64 ":%02" PRId64 ":%02" PRId64, year, month, day, utc_s % 86400 / 3600,
           utc_s % 3600 / 60, utc_s % 60);
}

static void print_head(const struct workload *w, const char *path)
{
    int64_t first_ns = w->submit_ns[0], last_ns = w->submit_ns[w->n_jobs - 1];
    double hours = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        hours += gpu_hours(w, j);
    char hex[DIGEST_HEX + 1];
    digest_hex(w->digest, DIGEST_BYTES, hex);
    printf("trace      %s\nformat     %s\ndigest     %.16s\njobs       %" PRIu32 " of %" PRIu64 " rows\n", path,
           w->report.format, hex, w->n_jobs, w->report.rows_read);
    printf("submitted  ");
    if (w->has_origin) {
        print_date(w->origin_utc_s + first_ns / NS_PER_S);
        printf(" to ");
        print_date(w->origin_utc_s + last_ns / NS_PER_S);
        printf(" UTC");
    } else {
        printf("%.9g s to %.9g s of the trace's own clock (no dates)", (double)w->offset_s + (double)first_ns / 1e9,
               (double)w->offset_s + (double)last_ns / 1e9);
    }
    printf(" (%.2f days)\nGPU-hours  %.1f\nVCs        %" PRIu32 "\nusers      %" PRIu32 "\n",
           (double)(last_ns - first_ns) / (86400 * 1e9), hours, w->vcs.count, w->users.count);
}

/* ---- durations by GPUs ------------------------------------------------------------------------------------ */

static int by_gpus_then_duration(const void *a, const void *b, void *workload)
{
    const struct workload *w = workload;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (w->gpus[x] != w->gpus[y])
        return w->gpus[x] < w->gpus[y] ? -1 : 1;
    return (w->duration_ns[x] > w->duration_ns[y]) - (w->duration_ns[x] < w->duration_ns[y]);
}

static void print_quantiles(const char *label, const double *sorted, size_t n, double n_all, double hours,
                            double hours_all)
{
    static const double at[] = {0.1, 0.5, 0.9, 0.99};
    printf("%8s %10zu %6.2f %14.1f %6.2f", label, n, percent((double)n, n_all), hours, percent(hours, hours_all));
    for (size_t q = 0; q < sizeof at / sizeof at[0]; q++)
        printf(" %11.1f", gsl_stats_quantile_from_sorted_data(sorted, 1, n, at[q]));
    printf(" %11.1f\n", sorted[n - 1]);
}

static void print_sizes(struct workload *w, uint32_t *order, double *values)
{
    double all = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        order[j] = j;
        all += gpu_hours(w, j);
    }
    qsort_r(order, w->n_jobs, sizeof *order, by_gpus_then_duration, w);
    printf("\nJobs by GPUs; durations in seconds\n%8s %10s %6s %14s %6s %11s %11s %11s %11s %11s\n", "GPUs", "jobs",
           "%", "GPU-hours", "%", "p10", "p50", "p90", "p99", "max");
    uint32_t sizes = 0;
    for (uint32_t from = 0, to; from < w->n_jobs; from = to) {
        double hours = 0;
        for (to = from; to < w->n_jobs && w->gpus[order[to]] == w->gpus[order[from]]; to++) {
            hours += gpu_hours(w, order[to]);
            values[to] = (double)w->duration_ns[order[to]] / 1e9;
        }
        if (sizes++ >= 2 * TOP)
            continue;
        char label[16];
        snprintf(label, sizeof label, "%" PRIu32, w->gpus[order[from]]);
        print_quantiles(label, values + from, to - from, w->n_jobs, hours, all);
    }
    if (sizes > 2 * TOP)
        printf("     ... %" PRIu32 " more sizes\n", sizes - 2 * TOP);
    gsl_sort(values, 1, w->n_jobs);
    print_quantiles("all", values, w->n_jobs, w->n_jobs, all, all);
}

/* ---- shares of virtual clusters and users -------------------------------------------------------------------- */

struct share {
    uint32_t id, jobs;
    double hours;
};

static int by_hours(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->hours != y->hours)
        return x->hours > y->hours ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool print_shares(const struct workload *w, const char *what, const struct names *names, const uint32_t *column)
{
    if (names->count < 2 && (names->count == 0 || names_text(names, 0)[0] == '\0'))
        return true;
    struct share *shares = calloc(names->count, sizeof *shares);
    if (shares == NULL)
        return false;
    double all = 0;
    for (uint32_t i = 0; i < names->count; i++)
        shares[i].id = i;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        shares[column[j]].jobs++;
        shares[column[j]].hours += gpu_hours(w, j);
        all += gpu_hours(w, j);
    }
    qsort(shares, names->count, sizeof *shares, by_hours);
    printf("\n%s by GPU-hours\n%-20s %10s %6s %14s %6s\n", what, "name", "jobs", "%", "GPU-hours", "%");
    for (uint32_t i = 0; i < names->count && i < TOP; i++)
        printf("%-20s %10" PRIu32 " %6.2f %14.1f %6.2f\n", names_text(names, shares[i].id), shares[i].jobs,
               percent(shares[i].jobs, w->n_jobs), shares[i].hours, percent(shares[i].hours, all));
    if (names->count > TOP)
        printf("... %" PRIu32 " more\n", names->count - TOP);
    free(shares);
    return true;
}

/* ---- outcome, columns ---------------------------------------------------------------------------------------- */

static void print_outcome(const struct workload *w)
{
    uint64_t jobs[4] = {0};
    double hours[4] = {0}, all = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        jobs[w->trace_status[j] & 3]++;
        hours[w->trace_status[j] & 3] += gpu_hours(w, j);
        all += gpu_hours(w, j);
    }
    if (jobs[TRACE_UNKNOWN] == w->n_jobs)
        return;
    printf("\nRecorded outcome\n%-20s %10s %6s %14s %6s\n", "status", "jobs", "%", "GPU-hours", "%");
    for (int s = 0; s < 4; s++)
        if (jobs[s] > 0)
            printf("%-20s %10" PRIu64 " %6.2f %14.1f %6.2f\n", trace_status_text((enum trace_status)s), jobs[s],
                   percent((double)jobs[s], w->n_jobs), hours[s], percent(hours[s], all));
}

/* Failure rates by size of job, over `order`: jobs by GPUs. */
static void print_failures(const struct workload *w, const uint32_t *order)
{
    uint32_t known = 0, sizes = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        known += w->trace_status[j] != TRACE_UNKNOWN;
    if (known == 0)
        return;
    printf("\nRecorded outcome by GPUs\n%8s %10s %10s %8s %8s\n", "GPUs", "jobs", "passed %", "failed %", "killed %");
    for (uint32_t from = 0, to; from < w->n_jobs; from = to) {
        uint32_t of[4] = {0};
        for (to = from; to < w->n_jobs && w->gpus[order[to]] == w->gpus[order[from]]; to++)
            of[w->trace_status[order[to]] & 3]++;
        if (sizes++ < 2 * TOP)
            printf("%8" PRIu32 " %10" PRIu32 " %10.2f %8.2f %8.2f\n", w->gpus[order[from]], to - from,
                   percent(of[TRACE_PASSED], to - from), percent(of[TRACE_FAILED], to - from),
                   percent(of[TRACE_KILLED], to - from));
    }
}

static uint32_t count_times(const int64_t *column, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t j = 0; column != NULL && j < n; j++)
        count += column[j] != WORKLOAD_ABSENT;
    return count;
}

static uint32_t count_names(const struct names *names, const uint32_t *column, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t j = 0; column != NULL && j < n; j++)
        count += column[j] != NAMES_NONE && names_text(names, column[j])[0] != '\0';
    return count;
}

/* How many jobs have a value, for the columns that some jobs lack. */
static void print_partly(const struct workload *w)
{
    uint32_t has_status = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        has_status += w->trace_status[j] != TRACE_UNKNOWN;
    const struct {
        const char *name;
        uint32_t jobs;
    } columns[] = {
        {"vc", count_names(&w->vcs, w->vc, w->n_jobs)},
        {"user", count_names(&w->users, w->user, w->n_jobs)},
        {"status", has_status},
        {"start", count_times(w->start_ns, w->n_jobs)},
        {"estimate", count_times(w->estimate_ns, w->n_jobs)},
        {"deadline", count_times(w->deadline_ns, w->n_jobs)},
        {"name", count_names(&w->names, w->name, w->n_jobs)},
        {"model", count_names(&w->models, w->model, w->n_jobs)},
        {"gpu_type", count_names(&w->gpu_types, w->gpu_type, w->n_jobs)},
        {"iterations", count_times(w->iterations, w->n_jobs)},
    };
    bool is_first = true;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (columns[i].jobs == 0 || columns[i].jobs == w->n_jobs)
            continue;
        printf("%s %s %.2f %%", is_first ? "\nPartly    " : ",", columns[i].name, percent(columns[i].jobs, w->n_jobs));
        is_first = false;
    }
}

static void print_columns(const struct workload *w)
{
    struct workload_columns has = workload_has(w);
    bool has_status = false;
    for (uint32_t j = 0; j < w->n_jobs && !has_status; j++)
        has_status = w->trace_status[j] != TRACE_UNKNOWN;
    const struct {
        const char *name;
        bool is_there;
    } columns[] = {
        {"vc", w->vcs.count > 1 || names_text(&w->vcs, 0)[0] != '\0'},
        {"user", w->users.count > 1 || names_text(&w->users, 0)[0] != '\0'},
        {"status", has_status},
        {"start", has.start},
        {"estimate", has.estimate},
        {"deadline", has.deadline},
        {"priority", has.priority},
        {"name", has.name},
        {"model", has.model},
        {"cpus", has.cpu},
        {"memory", has.memory},
        {"gpu_type", has.gpu_type},
        {"gpu_milli", has.gpu_milli},
        {"batch", has.batch},
        {"iterations", has.iterations},
        {"stages", has.stages},
    };
    for (int there = 1; there >= 0; there--) {
        printf(there ? "\nColumns   " : "\nMissing   ");
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            if (columns[i].is_there == (there == 1))
                printf(" %s", columns[i].name);
    }
    print_partly(w);
    printf("\n\n");
}

int cmd_trace_info(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace info FILE [--cluster CONFIG.yaml | --gpus N] [--format NAME]\n"
        "                        [--failed run|drop|merge_attempts] [--applications FILE]\n"
        "                        [--columns LIST [--separator NAME] [--header WORD] [--unit UNIT]]\n\n"
        "What is in a trace: jobs, span, durations by GPUs, virtual clusters and users with their shares, arrivals by\n"
        "hour, weekday and over the whole span, outcomes, waits and limits on record, columns, and rows dropped. With "
        "--cluster, the offered load "
        "on\n"
        "the cluster of a config, by virtual cluster and GPU type; with --gpus, on so many GPUs.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "fmacgCXHU", 1, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    if (a.cluster != NULL && a.gpus != NULL)
        return cli_usage("trace info", "--cluster or --gpus, not both");
    struct workload w;
    struct error err = {0};
    int code = trace_arguments_load(&a, &w, &err);
    if (code != BRAID_OK)
        return cli_fail(&err);
    uint32_t *order = malloc(w.n_jobs * sizeof *order);
    double *values = malloc(w.n_jobs * sizeof *values);
    bool ok = order != NULL && values != NULL;
    if (ok) {
        print_head(&w, a.spec.path);
        print_sizes(&w, order, values);
        picture_durations(&w);
        ok = print_shares(&w, "Virtual clusters", &w.vcs, w.vc) && print_shares(&w, "Users", &w.users, w.user);
    }
    if (!ok)
        code = error_set(&err, BRAID_FAILED, "out of memory");
    if (ok) {
        picture_arrivals(&w);
        print_outcome(&w);
        print_failures(&w, order);
        if (!trace_record_print(&w, values))
            code = error_set(&err, BRAID_FAILED, "out of memory");
        if (code == BRAID_OK && (a.cluster != NULL || a.gpus != NULL))
            code = trace_load_print(&a, &w, &err);
    }
    if (ok && code == BRAID_OK) {
        print_columns(&w);
        trace_report_print(&w.report, false);
    }
    free(order);
    free(values);
    workload_fini(&w);
    int finished = cli_finish();
    return code == BRAID_OK ? finished : cli_fail(&err);
}
