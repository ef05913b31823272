#include "output/sample.h"
#include "run_sample.h"

#include <criterion/criterion.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double value(const struct metrics *m, const char *name)
{
    int i = metrics_find(name);
    cr_assert_geq(i, 0, "%s", name);
    return m->value[i];
}

static void expect(const struct metrics *m, const char *name, double wanted)
{
    double v = value(m, name);
    cr_assert((isnan(v) && isnan(wanted)) || fabs(v - wanted) <= 1e-12 * fmax(1, fabs(wanted)),
              "%s is %.17g, not %.17g", name, v, wanted);
}

static void compute(struct metrics *m, struct run_sample *s)
{
    struct error err = {0};
    cr_assert_eq(metrics_compute(m, &s->result, &s->workload, &s->config.measure, &err), 0, "%s", err.message);
}

/*
 * Four GPUs.      0    10   20   30   40   50   60   70
 *   a (2 GPUs, ann)   [==============]                      submit  0, runs  0..30, ideal 30: jct 30, slowdown 1
 *   b (4 GPUs, bob)   ...............[=====================] submit 10, runs 30..70, ideal 20: jct 60, slowdown 3; 20 s overhead and lost
 *   c (1 GPU,  ann)             [===]                        submit 20, runs 20..28, ideal  8: jct  8, slowdown 1
 *   d (1 GPU,  ann)             |                            submit 20, runs 20..20, ideal  0: jct  0, slowdown undefined
 *   e (9 GPUs, bob)             x                            submit 20, rejected
 *   f (1 GPU,  eve)                  .........................  submit 30, unfinished at 70
 */
static const struct sample_job jobs[] = {
    {"a", "ann", "v", 2, 0, 30, 0, 30, 30, 0, 0},
    {"b", "bob", "v", 4, 10, 20, 30, 70, 40, 15, 5, 2, 1, 3},
    {"c", "ann", "v", 1, 20, 8, 20, 28, 8, 0, 0},
    {"d", "ann", "v", 1, 20, 0, 20, 20, 0, 0, 0},
    {"e", "bob", "v", 9, 20, 5, -1, 20, 0, 0, 0, .status = STATUS_REJECTED, .reason = "too_large_for_cluster"},
    {"f", "eve", "v", 1, 30, 5, -1, 70, 0, 0, 0, .status = STATUS_UNFINISHED, .reason = "horizon"},
};

static void fill_totals(struct run_totals *t)
{
    *t = (struct run_totals){.capacity_gpu_ns_window = 4 * 30e9,
                             .capacity_gpu_ns_makespan = 4 * 70e9,
                             .allocated_gpu_ns_window = 68e9,
                             .allocated_gpu_ns_makespan = 228e9,
                             .useless_gpu_ns = 12e9,
                             .free_gpu_ns = 48e9,
                             .imbalance_ns = 5e9,
                             .imbalance_span_ns = 20e9,
                             .events = 11,
                             .rounds = 9,
                             .decisions = 7,
                             .decision_ops = 13,
                             .first_submit_ns = 0,
                             .last_submit_ns = (int64_t)30e9,
                             .last_end_ns = (int64_t)70e9,
                             .used_until_ns = (int64_t)70e9,
                             .stop_ns = (int64_t)70e9};
}

Test(metrics, a_hand_made_run)
{
    struct run_sample s;
    struct metrics m;
    run_sample_init(&s, jobs, 6, 1);
    fill_totals(&s.result.totals);
    compute(&m, &s);
    expect(&m, "jobs", 6);
    expect(&m, "finished", 4);
    expect(&m, "unfinished", 1);
    expect(&m, "rejected", 1);
    expect(&m, "failed", 0);
    expect(&m, "killed", 0);
    /* completion times 30 60 8 0, sorted 0 8 30 60 */
    expect(&m, "jct_mean", 24.5);
    expect(&m, "jct_p50", 19);
    expect(&m, "jct_p95", 30 + 0.85 * 30);
    expect(&m, "jct_p99", 30 + 0.97 * 30);
    expect(&m, "jct_max", 60);
    /* waits 0 20 0 0 */
    expect(&m, "wait_mean", 5);
    expect(&m, "wait_p50", 0);
    expect(&m, "wait_p95", 0.85 * 20);
    expect(&m, "wait_p99", 0.97 * 20);
    expect(&m, "queued_mean", 5);
    expect(&m, "slowdown_mean", 5.0 / 3);
    expect(&m, "bounded_slowdown_mean", (1 + 3 + 1) / 3.0);
    expect(&m, "makespan", 70);
    expect(&m, "gpu_utilization", 68.0 / 120);
    expect(&m, "gpu_utilization_makespan", 228.0 / 280);
    /* productive: a 60, b 4 x 20, c 8 GPU s */
    expect(&m, "gpu_busy", 148.0 / 280);
    expect(&m, "fragmentation", 0.25);
    expect(&m, "load_imbalance", 0.25);
    expect(&m, "preemptions", 2);
    expect(&m, "moves", 1);
    expect(&m, "restarts", 3);
    expect(&m, "success_rate", 4.0 / 5);
    expect(&m, "satisfied_rate", 3.0 / 4);
    /* users: ann slowdown 1, bob 3; eve has none */
    expect(&m, "jain_index", (1 + 1.0 / 3) * (1 + 1.0 / 3) / (2 * (1 + 1.0 / 9)));
    /* in the system: ann 0..30, bob 10..70, eve 30..70: 130 user s over 70 s; share of a user 4 / (13 / 7) GPUs */
    double share = 4 / (13.0 / 7);
    double a = 1, b = 60 / (20 * 4 / share), c = 1;
    expect(&m, "ftf_mean", (a + b + c) / 3);
    expect(&m, "ftf_max", fmax(a, b));
    expect(&m, "deadline_miss_rate", NAN);
    expect(&m, "gap_jct", NAN);
    expect(&m, "cpu_utilization", NAN);
    expect(&m, "decisions", 7);
    expect(&m, "decision_ops", 13);
    expect(&m, "events", 11);
    run_sample_fini(&s);
}

/* The jobs above with every time multiplied by `scale` and every start `late` seconds later. */
static void compute_changed(struct metrics *m, double scale, double late, const struct measure_spec *measure)
{
    struct sample_job changed[6];
    struct run_sample s;
    memcpy(changed, jobs, sizeof jobs);
    for (int i = 0; i < 6; i++) {
        struct sample_job *j = &changed[i];
        bool has_run = j->start >= 0;
        j->submit *= scale;
        j->ideal *= scale;
        j->start = has_run ? (j->start + late) * scale : -1;
        j->end = (j->end + (has_run ? late : 0)) * scale;
        j->run *= scale;
        j->overhead *= scale;
        j->lost *= scale;
        j->preemptions += late > 0;
        j->moves += late > 0;
        j->restarts += late > 0;
    }
    run_sample_init(&s, changed, 6, 1);
    fill_totals(&s.result.totals);
    struct run_totals *t = &s.result.totals;
    double *times[] = {&t->capacity_gpu_ns_window,
                       &t->capacity_gpu_ns_makespan,
                       &t->allocated_gpu_ns_window,
                       &t->allocated_gpu_ns_makespan,
                       &t->useless_gpu_ns,
                       &t->free_gpu_ns,
                       &t->imbalance_ns,
                       &t->imbalance_span_ns};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        *times[i] *= scale;
    t->last_submit_ns = (int64_t)(30e9 * scale);
    t->last_end_ns = t->used_until_ns = (int64_t)((70 + late) * 1e9 * scale);
    s.config.measure = *measure;
    compute(m, &s);
    run_sample_fini(&s);
}

static const struct measure_spec everything = {.to_ns = RUN_NO_LIMIT},
                                 nothing = {.has_from = true, .from_ns = INT64_MAX / 2, .to_ns = RUN_NO_LIMIT};

static bool is_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* A clock that goes twice as fast doubles what is in seconds and changes nothing else. (Ten seconds are a constant of the bounded slowdown.) */
Test(metrics, each_has_the_unit_that_the_table_says)
{
    size_t n;
    const struct metric_info *table = metrics_table(&n);
    struct metrics once, twice;
    compute_changed(&once, 1, 0, &everything);
    compute_changed(&twice, 2, 0, &everything);
    for (size_t i = 0; i < n; i++) {
        double factor = strcmp(table[i].unit, "s") == 0 ? 2 : 1;
        if (strcmp(table[i].name, "bounded_slowdown_mean") != 0)
            cr_expect(is_near(twice.value[i], factor * once.value[i]), "%s: %g, %g", table[i].name, once.value[i],
                      twice.value[i]);
        if (strcmp(table[i].unit, "fraction") == 0)
            cr_expect(isnan(once.value[i]) || (once.value[i] >= 0 && once.value[i] <= 1), "%s", table[i].name);
        cr_expect(strcmp(table[i].unit, "s") == 0 || strcmp(table[i].unit, "fraction") == 0 ||
                  table[i].unit[0] == '\0');
        if (table[i].is_count)
            cr_expect(once.value[i] == floor(once.value[i]), "%s", table[i].name);
    }
}

/* Jobs that start later and are preempted more often are never better. */
Test(metrics, each_gets_worse_in_the_direction_that_the_table_says)
{
    size_t n, n_worse = 0;
    const struct metric_info *table = metrics_table(&n);
    struct metrics good, bad;
    compute_changed(&good, 1, 0, &everything);
    compute_changed(&bad, 1, 100, &everything);
    for (size_t i = 0; i < n; i++) {
        if (table[i].over != METRIC_OVER_FINISHED && table[i].over != METRIC_OVER_JOBS)
            continue; /* of totals that are given here */
        if (strcmp(table[i].name, "jain_index") == 0)
            continue; /* all are late alike, which is fair */
        double change = bad.value[i] - good.value[i];
        cr_expect(isnan(change) || change * table[i].better <= 1e-12, "%s: %g, %g", table[i].name, good.value[i],
                  bad.value[i]);
        cr_expect(table[i].better != 0 || change == 0, "%s", table[i].name);
        n_worse += change * table[i].better < 0;
    }
    cr_expect_geq(n_worse, 18, "%zu", n_worse);
}

/* With nothing inside `measure` what is over its jobs is 0 or nothing, and what is over the whole run is as before. */
Test(metrics, each_is_over_what_the_table_says)
{
    size_t n;
    const struct metric_info *table = metrics_table(&n);
    struct metrics with, without;
    compute_changed(&with, 1, 0, &everything);
    compute_changed(&without, 1, 0, &nothing);
    for (size_t i = 0; i < n; i++) {
        cr_expect_neq(metrics_over_text(table[i].over)[0], '\0');
        if (table[i].over == METRIC_OVER_FINISHED || table[i].over == METRIC_OVER_JOBS)
            cr_expect(isnan(without.value[i]) || without.value[i] == 0, "%s: %g", table[i].name, without.value[i]);
        else
            cr_expect(is_near(with.value[i], without.value[i]), "%s", table[i].name);
    }
}

Test(metrics, names_of_quantiles_and_costs_are_described)
{
    static const struct {
        const char *name, *unit;
        double q;
    } known[] = {{"wait_p95", "s", 0.95},
                 {"queued_p90", "s", 0.9},
                 {"jct_p99.9", "s", 0.999},
                 {"slowdown_p5", "", 0.05},
                 {"bounded_slowdown_p100", "", 1}};
    char quantity[METRIC_NAME_MAX];
    struct metric_info info;
    double q;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        cr_assert(metrics_quantile(known[i].name, quantity, &q), "%s", known[i].name);
        cr_expect(is_near(q, known[i].q) && metrics_describe(&info, known[i].name) && info.better == -1);
        cr_expect_str_eq(info.unit, known[i].unit);
    }
    static const char *const unknown[] = {"wait_p",       "wait_p101", "wait_pp5", "wait_p-5",
                                          "makespan_p50", "_p50",      "wait_p5e1"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        cr_expect_not(metrics_quantile(unknown[i], quantity, &q), "%s", unknown[i]);
    cr_expect(metrics_describe(&info, "cpu_s") && strcmp(info.unit, "s") == 0 && info.better == -1);
    cr_expect_not(metrics_describe(&info, "jct_meen"));
}

Test(metrics, waiting_ends_at_the_first_start_and_queueing_does_not)
{
    /* submitted at 0, runs 10..20 and, after 30 s without GPUs, 50..60 */
    static const struct sample_job twice[] = {
        {"a", "u", "v", 1, 0, 20, 10, 60, 20, 0, 0, .preemptions = 1, .restarts = 1}};
    struct run_sample s;
    struct metrics m;
    run_sample_init(&s, twice, 1, 1);
    compute(&m, &s);
    expect(&m, "wait_mean", 10);
    expect(&m, "wait_p50", 10);
    expect(&m, "queued_mean", 40);
    expect(&m, "jct_mean", 60);
    run_sample_fini(&s);
}

Test(metrics, only_jobs_submitted_inside_measure_count)
{
    struct run_sample s;
    struct metrics m;
    run_sample_init(&s, jobs, 6, 1);
    fill_totals(&s.result.totals);
    s.config.measure = (struct measure_spec){.warm_up_ns = (int64_t)10e9, .to_ns = (int64_t)20e9}; /* [0 + 10, 20) */
    compute(&m, &s);
    expect(&m, "jobs", 1);
    expect(&m, "finished", 1);
    expect(&m, "jct_mean", 60);
    expect(&m, "jct_p99", 60);
    expect(&m, "makespan", 60);
    expect(&m, "preemptions", 2);
    expect(&m, "gpu_utilization", 68.0 / 120); /* of the whole run */
    s.config.measure = (struct measure_spec){.has_from = true, .from_ns = (int64_t)15e9, .to_ns = RUN_NO_LIMIT};
    compute(&m, &s);
    expect(&m, "jobs", 4);
    expect(&m, "jct_mean", 4);
    s.config.measure.from_ns = (int64_t)1000e9;
    compute(&m, &s);
    expect(&m, "jobs", 0);
    expect(&m, "jct_mean", NAN);
    expect(&m, "jct_max", NAN);
    expect(&m, "makespan", NAN);
    expect(&m, "success_rate", NAN);
    expect(&m, "jain_index", NAN);
    expect(&m, "ftf_mean", NAN);
    run_sample_fini(&s);
}

Test(metrics, the_makespan_reaches_to_the_last_end_of_any_kind)
{
    static const struct sample_job three[] = {
        {"a", "u", "v", 1, 5, 10, 5, 15, 10, 0, 0},
        {"b", "u", "v", 1, 6, 99, 6, 30, 24, 0, 0, .status = STATUS_KILLED, .reason = "estimate_exceeded"},
        {"c", "u", "v", 1, 7, 99, 7, 20, 13, 0, 0, .status = STATUS_FAILED, .reason = "node"},
        {"d", "u", "v", 1, 8, 99, 8, 90, 82, 0, 0, .status = STATUS_UNFINISHED, .reason = "horizon"}};
    struct run_sample s;
    struct metrics m;
    run_sample_init(&s, three, 4, 1);
    compute(&m, &s);
    expect(&m, "makespan", 25); /* from 5 to the kill at 30; what was cut at 90 has not ended */
    run_sample_fini(&s);
    run_sample_init(&s, three, 3, 1);
    s.result.jobs[1].status = STATUS_FAILED;
    s.result.jobs[2].end_ns = (int64_t)29e9;
    compute(&m, &s);
    expect(&m, "makespan", 25);
    run_sample_fini(&s);
}

Test(metrics, no_jobs_have_counts_and_no_means)
{
    struct run_sample s;
    struct metrics m;
    run_sample_init(&s, jobs, 0, 1);
    s.result.totals.last_end_ns = -1;
    compute(&m, &s);
    expect(&m, "jobs", 0);
    expect(&m, "finished", 0);
    expect(&m, "jct_mean", NAN);
    expect(&m, "gpu_utilization", NAN);
    expect(&m, "fragmentation", NAN);
    expect(&m, "ftf_max", NAN);
    run_sample_fini(&s);
}

Test(metrics, deadlines_are_missed_only_when_passed)
{
    struct run_sample s;
    struct metrics m;
    run_sample_init(&s, jobs, 6, 1);
    fill_totals(&s.result.totals);
    const int64_t deadlines[] = {(int64_t)30e9, (int64_t)69e9, WORKLOAD_ABSENT, (int64_t)100e9, 0, 0};
    s.workload.deadline_ns = malloc(sizeof deadlines);
    memcpy(s.workload.deadline_ns, deadlines, sizeof deadlines);
    compute(&m, &s);
    expect(&m, "deadline_miss_rate", 1.0 / 3); /* a in time to the second, b late, d early; e and f did not finish */
    expect(&m, "deadline_met_rate", 2.0 / 5);  /* a and d of a, b, d, e, f */
    run_sample_fini(&s);
}

Test(metrics, sums_of_many_jobs_are_exact)
{
    enum { N = 100000 };
    struct run_sample s;
    struct metrics m;
    run_sample_many(&s, N, 3);
    __int128 sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        s.result.jobs[i].end_ns += INT64_C(1)
                                   << 50; /* two weeks: doubles of this size lose the nanoseconds when summed */
        s.result.jobs[i].run_ns += INT64_C(1) << 50;
        sum += s.result.jobs[i].end_ns - s.workload.submit_ns[i];
    }
    compute(&m, &s);
    cr_assert_eq(value(&m, "jct_mean"), (double)((long double)sum / N / 1000000000));
    run_sample_fini(&s);
}

Test(metrics, every_metric_has_a_name_of_its_own_a_unit_and_a_definition)
{
    size_t n;
    const struct metric_info *t = metrics_table(&n);
    cr_assert_leq(n, METRICS_MAX);
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(metrics_find(t[i].name), (int)i);
        cr_assert_not_null(t[i].unit);
        cr_assert(t[i].definition[0] != '\0');
        cr_assert(t[i].better >= -1 && t[i].better <= 1);
    }
    cr_assert_eq(metrics_find("jct"), -1);
}

/* Selection against sorting, over sizes and kinds of samples. */
Test(metrics, quantiles_are_those_of_the_sorted_sample)
{
    static const double p[] = {0, 0.01, 0.5, 0.5, 0.95, 0.99, 1};
    enum { K = sizeof p / sizeof p[0] };
    unsigned seed = 1;
    for (size_t n = 1; n < 400; n += n < 20 ? 1 : 37)
        for (int kind = 0; kind < 4; kind++) {
            double x[400], sorted[400], got[K];
            for (size_t i = 0; i < n; i++) {
                seed = seed * 1103515245u + 12345u;
                double random = (seed >> 8) % 1000;
                x[i] = kind == 0 ? random : kind == 1 ? (double)i : kind == 2 ? -(double)i : (double)((seed >> 12) % 3);
            }
            memcpy(sorted, x, n * sizeof *x);
            gsl_sort(sorted, 1, n);
            sample_quantiles(x, n, p, K, got);
            for (int k = 0; k < K; k++) {
                double wanted = gsl_stats_quantile_from_sorted_data(sorted, 1, n, p[k]);
                cr_assert(fabs(got[k] - wanted) <= 1e-12 * fmax(1, fabs(wanted)), "n %zu kind %d p %g: %g, not %g", n,
                          kind, p[k], got[k], wanted);
            }
        }
    double none = 1;
    sample_quantiles(NULL, 0, p, 1, &none);
    cr_assert(isnan(none));
}

Test(metrics, compensated_sums_keep_what_is_small)
{
    struct sum s = {0};
    sum_add(&s, 1);
    sum_add(&s, 1e100);
    sum_add(&s, 1);
    sum_add(&s, -1e100);
    cr_assert_eq(sum_value(&s), 2);
}
