#include "base/number.h"
#include "traces/generator.h"
#include "traces/writer.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHILLY "../shared/traces/philly/philly.csv"

/* As the model has it where a test leaves out `repeat`; a test that wants none says so by NONE. */
#define NONE 1e-300

static void make(struct workload *w, struct generator_spec spec)
{
    struct error err = {0};
    if (!(spec.repeat > 0))
        spec.repeat = -1;
    cr_assert_eq(generator_make(w, &spec, &err), BRAID_OK, "%s", err.message);
}

static bool same_digest(const struct workload *a, const struct workload *b)
{
    return memcmp(a->digest, b->digest, DIGEST_BYTES) == 0;
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov distance of two samples (both are sorted here), read after all copies of a value. */
static double distance(int64_t *a, size_t na, int64_t *b, size_t nb)
{
    qsort(a, na, sizeof *a, compare_i64);
    qsort(b, nb, sizeof *b, compare_i64);
    double worst = 0;
    for (size_t i = 0, j = 0; i < na && j < nb;) {
        int64_t x = a[i] < b[j] ? a[i] : b[j];
        while (i < na && a[i] == x)
            i++;
        while (j < nb && b[j] == x)
            j++;
        double gap = fabs((double)i / (double)na - (double)j / (double)nb);
        worst = gap > worst ? gap : worst;
    }
    return worst;
}

/* ---- all models ----------------------------------------------------------------------------------- */

Test(generator, gives_valid_jobs_under_every_model)
{
    for (const char *const *model = generator_models(); *model != NULL; model++) {
        struct workload w;
        make(&w, (struct generator_spec){.model = *model, .jobs = 5000, .seed = 7});
        cr_assert_eq(w.n_jobs, 5000);
        cr_assert_eq(w.report.rows_kept, 5000);
        cr_assert_lt(w.submit_ns[0], NS_PER_S, "time 0 is the first submission, floored to the second");
        for (uint32_t j = 0; j < w.n_jobs; j++) {
            char id[16];
            int n = snprintf(id, sizeof id, "%" PRIu32, j);
            cr_assert_eq(w.id_at[j + 1] - w.id_at[j], (uint64_t)n);
            cr_assert_eq(memcmp(w.id_text + w.id_at[j], id, (size_t)n), 0);
            cr_assert(j == 0 || w.submit_ns[j] >= w.submit_ns[j - 1]);
            cr_assert_geq(w.duration_ns[j], 0);
            cr_assert_geq(w.gpus[j], 1);
            cr_assert_lt(w.vc[j], w.vcs.count);
            cr_assert_lt(w.user[j], w.users.count);
            cr_assert_neq(w.trace_status[j], TRACE_UNKNOWN);
        }
        workload_fini(&w);
    }
}

Test(generator, gives_the_same_jobs_for_the_same_seed_alone)
{
    struct workload a, b, c;
    make(&a, (struct generator_spec){.model = "philly", .jobs = 500, .seed = 3});
    make(&b, (struct generator_spec){.model = "philly", .jobs = 500, .seed = 3});
    make(&c, (struct generator_spec){.model = "philly", .jobs = 500, .seed = 4});
    cr_assert(same_digest(&a, &b));
    cr_assert_not(same_digest(&a, &c));
    workload_fini(&a);
    workload_fini(&b);
    workload_fini(&c);
}

Test(generator, draws_from_streams_that_do_not_shift_each_other)
{
    struct workload a, b;
    make(&a, (struct generator_spec){.model = "philly", .jobs = 500, .seed = 3});
    make(&b,
         (struct generator_spec){.model = "philly", .jobs = 800, .seed = 3, .vcs = 3, .users = 40, .is_lean = true});
    for (uint32_t j = 0; j < 500; j++) {
        cr_assert_eq(a.submit_ns[j], b.submit_ns[j], "more jobs and other users leave arrivals alone");
        cr_assert_eq(a.gpus[j], b.gpus[j]);
        cr_assert_eq(a.trace_status[j], b.trace_status[j]);
    }
    workload_fini(&a);
    workload_fini(&b);
}

Test(generator, leaves_everything_else_as_it_is_when_lean)
{
    struct workload a, b;
    make(&a, (struct generator_spec){.model = "philly", .jobs = 500, .seed = 3});
    make(&b, (struct generator_spec){.model = "philly", .jobs = 500, .seed = 3, .is_lean = true});
    cr_assert_eq(memcmp(a.duration_ns, b.duration_ns, 500 * sizeof *a.duration_ns), 0);
    cr_assert_eq(memcmp(a.user, b.user, 500 * sizeof *a.user), 0);
    cr_assert_not_null(a.stage_ns[0]);
    cr_assert_null(b.stage_ns[0]);
    cr_assert_null(b.name);
    workload_fini(&a);
    workload_fini(&b);
}

/* The rate decides when, and nothing else: the same jobs in the same order, so that loads can be compared on common random numbers. */
Test(generator, makes_the_same_jobs_at_any_rate)
{
    enum { N = 4000 };
    for (const char *const *model = generator_models(); *model != NULL; model++) {
        struct workload a, b;
        make(&a, (struct generator_spec){.model = *model, .jobs = N, .seed = 9});
        make(&b, (struct generator_spec){.model = *model, .jobs = N, .seed = 9, .rate_per_day = 77777});
        cr_assert_neq(a.submit_ns[N - 1], b.submit_ns[N - 1]);
        cr_assert_eq(memcmp(a.duration_ns, b.duration_ns, N * sizeof *a.duration_ns), 0, "%s: durations", *model);
        cr_assert_eq(memcmp(a.gpus, b.gpus, N * sizeof *a.gpus), 0, "%s: GPUs", *model);
        cr_assert_eq(memcmp(a.user, b.user, N * sizeof *a.user), 0, "%s: users", *model);
        cr_assert_eq(memcmp(a.vc, b.vc, N * sizeof *a.vc), 0, "%s: VCs", *model);
        cr_assert_eq(memcmp(a.trace_status, b.trace_status, N), 0, "%s: states", *model);
        if (a.name != NULL)
            cr_assert_eq(memcmp(a.name, b.name, N * sizeof *a.name), 0, "%s: names", *model);
        workload_fini(&a);
        workload_fini(&b);
    }
}

static void expect_round_trip(struct generator_spec spec)
{
    char folder[256], path[300];
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/braid-generator-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t.csv.gz", folder);
    struct workload a, b;
    struct error err = {0};
    make(&a, spec);
    cr_assert_eq(trace_write(&a, path, &err), BRAID_OK, "%s", err.message);
    struct trace_spec read = {.path = path, .shown_path = path, .format = "auto", .jobs = TRACE_NO_LIMIT};
    cr_assert_eq(trace_load(&b, &read, &err), BRAID_OK, "%s", err.message);
    cr_assert(same_digest(&a, &b), "%s", spec.model);
    workload_fini(&a);
    workload_fini(&b);
    unlink(path);
    rmdir(folder);
}

Test(generator, survives_writing_and_reading)
{
    for (const char *const *model = generator_models(); *model != NULL; model++) {
        bool is_poisson = strcmp(*model, "poisson") == 0;
        expect_round_trip((struct generator_spec){.model = *model, .jobs = 700, .seed = 5});
        expect_round_trip((struct generator_spec){.model = *model,
                                                  .jobs = 700,
                                                  .seed = 6,
                                                  .deadlines = is_poisson ? 0 : 0.5,
                                                  .has_estimates = !is_poisson,
                                                  .has_gpu_types = true});
    }
}

Test(generator, scales_arrivals_with_the_rate)
{
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = 20000, .seed = 1, .rate_per_day = 2000, .burst = 1});
    double days = (double)w.submit_ns[w.n_jobs - 1] / 86400e9;
    cr_assert_float_eq(20000 / days, 2000, 100, "%g jobs a day", 20000 / days);
    workload_fini(&w);
    make(&w, (struct generator_spec){.model = "philly", .jobs = 50, .seed = 1, .rate_per_day = 0.01, .burst = 1});
    cr_assert_float_eq((double)w.submit_ns[w.n_jobs - 1] / 86400e9, 5000, 3000);
    workload_fini(&w);
}

/* ---- bad input ------------------------------------------------------------------------------------- */

static void expect_refusal(struct generator_spec spec, const char *words)
{
    struct workload w;
    struct error err = {0};
    cr_assert_eq(generator_make(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, words), "'%s' lacks '%s'", err.message, words);
}

Test(generator, refuses_what_makes_no_sense)
{
    expect_refusal((struct generator_spec){.model = "phily", .jobs = 1}, "did you mean 'philly'");
    expect_refusal((struct generator_spec){.model = "zzz", .jobs = 1}, "there are philly, helios, pai");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .burst = 0.5}, "burst");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .burst = 65}, "burst");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .burst = NAN}, "burst");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .repeat = 1.1}, "repeats");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .deadlines = -0.1}, "deadlines");
    expect_refusal((struct generator_spec){.model = "poisson", .jobs = 1, .burst = 2}, "no bursts");
    expect_refusal((struct generator_spec){.model = "poisson", .jobs = 1, .repeat = 0.5}, "no bursts");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 0}, "number of jobs");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .rate_per_day = -1}, "rate");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .rate_per_day = NAN}, "rate");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .users = 20000000}, "users");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1000, .rate_per_day = 1e-3}, "years");
    expect_refusal((struct generator_spec){.model = "philly", .jobs = 1, .rate_per_day = 1e-300}, "years");
    expect_refusal((struct generator_spec){.model = "poisson", .jobs = 1000, .rate_per_day = 1e-3}, "years");
}

Test(generator, allows_more_virtual_clusters_than_users)
{
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = 3000, .seed = 1, .vcs = 7, .users = 2});
    cr_assert_eq(w.vcs.count, 7);
    cr_assert_eq(w.users.count, 2);
    workload_fini(&w);
}

/* ---- bursts and repeats ----------------------------------------------------------------------------- */

/* The share of jobs that are followed at more than a quarter of the mean distance. */
static double lone(const struct workload *w)
{
    double quarter_ns = (double)(w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]) / (w->n_jobs - 1) / 4, n = 0;
    for (uint32_t j = 1; j < w->n_jobs; j++)
        n += (double)(w->submit_ns[j] - w->submit_ns[j - 1]) > quarter_ns;
    return n / (w->n_jobs - 1);
}

Test(generator, burst_makes_jobs_come_together)
{
    enum { N = 40000 };
    struct workload w; /* gavel: no hours of the week, so the expected shares are exp(-1/4) and about exp(-1/12) / 3 */
    make(&w, (struct generator_spec){.model = "gavel", .jobs = N, .seed = 4, .rate_per_day = 100});
    cr_assert_float_eq(lone(&w), exp(-0.25), 0.01, "%.3f without bursts", lone(&w));
    workload_fini(&w);
    make(&w, (struct generator_spec){.model = "gavel", .jobs = N, .seed = 4, .rate_per_day = 100, .burst = 3});
    cr_assert_float_eq(lone(&w), exp(-0.25 / 3) / 3, 0.02, "%.3f with bursts of three", lone(&w));
    double days = (double)w.submit_ns[N - 1] / 86400e9;
    cr_assert_float_eq(N / days, 100, 10, "bursts leave the mean rate: %.1f a day", N / days);
    workload_fini(&w);
}

Test(generator, jobs_of_one_name_have_one_user_vc_size_and_network)
{
    enum { N = 20000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "helios", .jobs = N, .seed = 4});
    uint32_t *first = malloc(w.names.count * sizeof *first);
    for (uint32_t i = 0; i < w.names.count; i++)
        first[i] = UINT32_MAX;
    for (uint32_t j = 0; j < N; j++) {
        uint32_t *f = &first[w.name[j]];
        if (*f == UINT32_MAX)
            *f = j;
        cr_assert(w.user[j] == w.user[*f] && w.vc[j] == w.vc[*f] && w.gpus[j] == w.gpus[*f] &&
                      w.model[j] == w.model[*f],
                  "jobs %" PRIu32 " and %" PRIu32, *f, j);
    }
    free(first);
    workload_fini(&w);
}

Test(generator, repeat_is_the_share_of_submissions_that_are_not_new)
{
    enum { N = 20000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = N, .seed = 4, .burst = 1, .repeat = NONE});
    cr_assert_eq(w.names.count, N, "every job is new");
    workload_fini(&w);
    make(&w, (struct generator_spec){.model = "philly", .jobs = N, .seed = 4, .burst = 1, .repeat = 0.7});
    double pool = 1024 * (1 - exp(-0.1 * N / 1024)); /* origins of the pool that have been drawn once */
    cr_assert_float_eq(w.names.count / (double)N, 0.3 + pool / N, 0.02);
    workload_fini(&w);
    make(&w, (struct generator_spec){.model = "philly", .jobs = N, .seed = 4, .burst = 1, .repeat = 1});
    cr_assert(w.names.count <= 1 + 1024, "all repeat the first, or one of the pool: %" PRIu32 " names", w.names.count);
    workload_fini(&w);
}

/* ---- what is added when asked for -------------------------------------------------------------------- */

Test(generator, deadlines_are_1_2_and_2_and_10_times_the_duration)
{
    enum { N = 30000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "gavel", .jobs = N, .seed = 4, .deadlines = 0.6});
    uint32_t with[3] = {0};
    for (uint32_t j = 0; j < N; j++) {
        if (w.deadline_ns[j] == WORKLOAD_ABSENT)
            continue;
        double times = (double)(w.deadline_ns[j] - w.submit_ns[j]) / (double)w.duration_ns[j];
        with[times < 1.5 ? 0 : times < 5 ? 1 : 2]++;
        cr_assert(fabs(times - 1.2) < 1e-9 || fabs(times - 2) < 1e-9 || fabs(times - 10) < 1e-9, "%g", times);
    }
    for (int i = 0; i < 3; i++)
        cr_assert_float_eq(with[i] / (double)N, 0.2, 0.01);
    workload_fini(&w);
}

Test(generator, estimates_are_round_and_never_too_short)
{
    enum { N = 5000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = N, .seed = 4, .has_estimates = true});
    uint32_t hours = 0;
    for (uint32_t j = 0; j < N; j++) {
        cr_assert_geq(w.estimate_ns[j], w.duration_ns[j]);
        hours += w.estimate_ns[j] == 3600 * NS_PER_S;
    }
    cr_assert_gt(hours, N / 50, "%" PRIu32 " jobs ask for an hour", hours);
    workload_fini(&w);
}

Test(generator, gpu_types_are_asked_for_only_when_wanted)
{
    enum { N = 20000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "pai", .jobs = N, .seed = 4});
    cr_assert_null(w.gpu_type);
    workload_fini(&w);
    make(&w, (struct generator_spec){.model = "pai", .jobs = N, .seed = 4, .has_gpu_types = true});
    uint32_t typed = 0;
    for (uint32_t j = 0; j < N; j++)
        typed += w.gpu_type[j] != NAMES_NONE;
    cr_assert_float_eq(typed / (double)N, 1987.0 / 7064, 0.03, "measured in the Alibaba trace of 2023");
    workload_fini(&w);
}

/* ---- poisson --------------------------------------------------------------------------------------- */

Test(generator, poisson_has_exponential_gaps_and_durations)
{
    enum { N = 100000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "poisson", .jobs = N, .seed = 11, .rate_per_day = 864});
    double gap = 0, gap2 = 0, duration = 0, duration2 = 0;
    for (uint32_t j = 1; j < N; j++) {
        double g = (double)(w.submit_ns[j] - w.submit_ns[j - 1]) / 1e9, d = (double)w.duration_ns[j] / 1e9;
        gap += g / (N - 1);
        gap2 += g * g / (N - 1);
        duration += d / (N - 1);
        duration2 += d * d / (N - 1);
        cr_assert_eq(w.gpus[j], 1);
    }
    /* mean and standard deviation of an exponential are equal; 5 standard errors of the mean are 1.6 % */
    cr_assert_float_eq(gap, 100, 1.6);
    cr_assert_float_eq(sqrt(gap2 - gap * gap), 100, 3);
    cr_assert_float_eq(duration, 3600, 57);
    cr_assert_float_eq(sqrt(duration2 - duration * duration), 3600, 108);
    workload_fini(&w);
}

/* ---- philly ---------------------------------------------------------------------------------------- */

Test(generator, philly_has_a_daily_and_a_weekly_cycle)
{
    enum { N = 200000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = N, .seed = 2, .burst = 1});
    uint32_t hour[24] = {0}, day[7] = {0};
    int64_t weeks = w.submit_ns[N - 1] / (7 * 86400 * NS_PER_S);
    for (uint32_t j = 0; j < N; j++) {
        int64_t s = w.origin_utc_s + w.submit_ns[j] / NS_PER_S;
        if (w.submit_ns[j] >= weeks * 7 * 86400 * NS_PER_S)
            break; /* whole weeks only */
        hour[s / 3600 % 24]++;
        day[(s / 86400 + 3) % 7]++; /* 1970-01-01 was a Thursday */
    }
    /* The record: 7,159 jobs at 7 h and 2,185 at 14 h; 16,954 on Fridays and 6,988 on Sundays. */
    cr_assert_float_eq((double)hour[7] / hour[14], 7159.0 / 2185, 0.2);
    cr_assert_float_eq((double)day[4] / day[6], 16954.0 / 6988, 0.1);
    workload_fini(&w);
}

Test(generator, philly_has_skewed_users_and_the_published_shares_of_states)
{
    enum { N = 50000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = N, .seed = 2});
    uint32_t *jobs = calloc(w.users.count, sizeof *jobs), status[4] = {0}, top = 0;
    for (uint32_t j = 0; j < N; j++) {
        status[w.trace_status[j]]++;
        if (++jobs[w.user[j]] > top)
            top = jobs[w.user[j]];
    }
    cr_assert_gt(top, 20 * N / w.users.count, "the busiest user has %" PRIu32 " jobs", top);
    cr_assert_float_eq(status[TRACE_PASSED] / (double)N, 0.693, 0.015);
    cr_assert_float_eq(status[TRACE_KILLED] / (double)N, 0.135, 0.015);
    cr_assert_float_eq(status[TRACE_FAILED] / (double)N, 0.172, 0.015);
    free(jobs);
    workload_fini(&w);
}

Test(generator, philly_jobs_of_one_name_are_alike)
{
    enum { N = 50000 };
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = N, .seed = 2});
    double *sum = calloc(w.names.count, sizeof *sum), total = 0, square = 0, between = 0;
    uint32_t *n = calloc(w.names.count, sizeof *n);
    for (uint32_t j = 0; j < N; j++) {
        double x = log((double)w.duration_ns[j] / 1e9);
        sum[w.name[j]] += x;
        n[w.name[j]]++;
        total += x;
        square += x * x;
    }
    for (uint32_t i = 0; i < w.names.count; i++)
        between += n[i] > 0 ? sum[i] * sum[i] / n[i] : 0;
    double explained = (between - total * total / N) / (square - total * total / N);
    cr_assert_gt(explained, 0.1, "names explain %.3f of the variance of log durations", explained);
    free(sum);
    free(n);
    workload_fini(&w);
}

Test(generator, philly_iterations_fill_the_duration)
{
    struct workload w;
    make(&w, (struct generator_spec){.model = "philly", .jobs = 2000, .seed = 2});
    for (uint32_t j = 0; j < w.n_jobs; j++) {
        int64_t gap = w.iterations[j] * w.iteration_ns[j] - w.duration_ns[j];
        cr_assert(w.iterations[j] == 1 || llabs(gap) <= w.iteration_ns[j] / 2 + 1);
        for (int s = 0; s < WORKLOAD_STAGES; s++)
            cr_assert_geq(w.stage_ns[s][j], 0);
        cr_assert_gt(w.stage_ns[2][j], 0, "every network computes");
    }
    workload_fini(&w);
}

/* Fitted to it, so it must be near it, whatever the seed. */
Test(generator, philly_sizes_and_durations_are_near_the_record)
{
    if (access(PHILLY, R_OK) != 0)
        cr_skip_test(PHILLY " is not here");
    struct workload real, made;
    struct error err = {0};
    struct trace_spec spec = {.path = PHILLY, .shown_path = PHILLY, .format = "auto", .jobs = TRACE_NO_LIMIT};
    cr_assert_eq(trace_load(&real, &spec, &err), BRAID_OK, "%s", err.message);
    int64_t *a = malloc(real.n_jobs * sizeof *a), *b = malloc(real.n_jobs * sizeof *b);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make(&made, (struct generator_spec){.model = "philly", .jobs = real.n_jobs, .seed = seed});
        for (uint32_t j = 0; j < real.n_jobs; j++) {
            a[j] = real.gpus[j];
            b[j] = made.gpus[j];
        }
        double sizes = distance(a, real.n_jobs, b, real.n_jobs);
        double durations = distance(real.duration_ns, real.n_jobs, made.duration_ns, real.n_jobs);
        printf("seed %" PRIu64 ", distance to the Philly trace: sizes %.4f, durations %.4f\n", seed, sizes, durations);
        cr_assert_lt(sizes, 0.05);
        cr_assert_lt(durations, 0.05);
        workload_fini(&made);
    }
    free(a);
    free(b);
    workload_fini(&real);
}
