/* What a policy may know of a job's length: from the past alone, and the same for the same seed. */
#include "tests/engine/cases.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* First come first served; each job's estimate is noted when it is submitted. */
static int64_t noted[CASE_JOBS];

static void note_submit(void *self, struct sched *s, uint32_t job)
{
    (void)self;
    cr_assert_eq(sched_estimate_ns(s, job, &noted[job]), SCHED_OK);
}

static void start_in_order(void *self, struct sched *s)
{
    (void)self;
    for (uint32_t j = 0; j < sched_n_jobs(s); j++)
        if (sched_is_queued(s, j) && sched_start(s, j) != SCHED_OK)
            return;
}

static const struct policy_ops noting = {.abi_version = BRAID_POLICY_ABI,
                                         .size = sizeof noting,
                                         .name = "noting",
                                         .summary = "",
                                         .source = "",
                                         .knows = KNOWS_ESTIMATE,
                                         .state_size = 1,
                                         .on_submit = note_submit,
                                         .schedule = start_in_order};

static struct test_case *with_source(enum estimate_source source)
{
    struct test_case *c = case_create(1, 1);
    c->spec.policy = (struct policy_spec){.ops = &noting, .label = "noting"};
    c->spec.estimate.source = source;
    return c;
}

static const struct cases_shape shape = {
    .jobs = 100, .nodes = 2, .gpus = 4, .span_ns = 3000 * S, .longest_ns = 200 * S, .grain_ns = 1, .largest = 8};

static struct test_case *random_with_source(enum estimate_source source)
{
    struct test_case *c = cases_create(&shape, 3);
    c->spec.policy = (struct policy_spec){.ops = &noting, .label = "noting"};
    c->spec.estimate.source = source;
    return c;
}

Test(estimate, exact_is_the_duration)
{
    struct test_case *c = random_with_source(ESTIMATE_EXACT);
    case_run(c);
    for (uint32_t j = 0; j < c->n_jobs; j++)
        cr_expect_eq(noted[j], c->jobs[j].duration_ns);
    case_destroy(c);
}

Test(estimate, trace_takes_what_the_trace_says_and_an_hour_where_it_is_silent)
{
    struct test_case *c = with_source(ESTIMATE_TRACE);
    for (int i = 0; i < 3; i++)
        case_job(c, i, 10, 1);
    c->jobs[0].estimate_ns = 70 * S;
    c->jobs[2].estimate_ns = 0;
    case_run(c);
    cr_expect_eq(noted[0], 70 * S);
    cr_expect_eq(noted[1], 3600 * S);
    cr_expect_eq(noted[2], 1, "never less than a nanosecond");
    case_destroy(c);
}

Test(estimate, trace_without_estimates_is_bad_input)
{
    struct test_case *c = with_source(ESTIMATE_TRACE);
    case_job(c, 0, 10, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, "estimate"));
    case_destroy(c);
}

/* ---- user_mean ----------------------------------------------------------------------------------------- */

static uint32_t user_job(struct test_case *c, const char *user, double submit_s, double duration_s)
{
    uint32_t j = case_job(c, submit_s, duration_s, 1);
    c->jobs[j].user = user;
    return j;
}

Test(estimate, user_mean_is_over_what_the_user_has_finished)
{
    struct test_case *c = with_source(ESTIMATE_USER_MEAN);
    user_job(c, "x", 0, 10);  /* nothing known: an hour */
    user_job(c, "x", 5, 30);  /* still nothing finished */
    user_job(c, "x", 10, 50); /* submitted when the first ends: it counts */
    user_job(c, "y", 20, 1);  /* nothing of y: the mean of all */
    user_job(c, "x", 45, 1);  /* 10 s and 30 s have ended */
    user_job(c, "y", 100, 1); /* y has one by now */
    case_run(c);
    cr_expect_eq(noted[0], 3600 * S);
    cr_expect_eq(noted[1], 3600 * S);
    cr_expect_eq(noted[2], 10 * S);
    cr_expect_eq(noted[3], 10 * S);
    cr_expect_eq(noted[4], 20 * S);
    cr_expect_eq(noted[5], 1 * S);
    case_destroy(c);
}

Test(estimate, user_mean_follows_the_last_ten_or_so)
{
    struct test_case *c = with_source(ESTIMATE_USER_MEAN);
    for (int i = 0; i < 60; i++)
        user_job(c, "x", i * 1000, i < 10 ? 900 : 100);
    case_run(c);
    cr_expect_eq(noted[10], 900 * S);
    cr_expect_eq(noted[11], (9 * 900 + 100) / 10 * S);
    for (int i = 12; i < 60; i++)
        cr_expect_lt(noted[i], noted[i - 1]);
    cr_expect_lt(noted[59], 110 * S, "the old ones fade");
    case_destroy(c);
}

/* Changing how long a job takes changes no estimate that was made before it ended. */
Test(estimate, user_mean_uses_the_past_only)
{
    struct test_case *before = random_with_source(ESTIMATE_USER_MEAN);
    case_run(before);
    int64_t first[CASE_JOBS];
    memcpy(first, noted, sizeof first);
    uint32_t n_changed = 0;
    for (uint32_t changed = 0; changed < before->n_jobs; changed += 7) {
        struct test_case *after = random_with_source(ESTIMATE_USER_MEAN);
        after->jobs[changed].duration_ns += 1000 * S;
        case_run(after);
        int64_t ended = before->r.jobs[changed].end_ns;
        for (uint32_t j = 0; j < before->n_jobs; j++) {
            if (before->jobs[j].submit_ns < ended)
                cr_assert_eq(noted[j], first[j], "job %u knew of the end of job %u at %lld", j, changed,
                             (long long)ended);
            n_changed += noted[j] != first[j];
        }
        case_destroy(after);
    }
    cr_expect_gt(n_changed, 0u, "and it does change later ones");
    case_destroy(before);
}

/* ---- noise ------------------------------------------------------------------------------------------------ */

Test(estimate, noise_is_the_same_for_a_seed_and_another_for_another)
{
    int64_t first[CASE_JOBS];
    uint32_t n_other = 0;
    for (int i = 0; i < 3; i++) {
        struct test_case *c = random_with_source(ESTIMATE_NOISE);
        c->spec.estimate.sigma = 0.5;
        c->spec.seed = i == 2 ? 2 : 1;
        case_run(c);
        for (uint32_t j = 0; j < c->n_jobs && i == 1; j++)
            cr_expect_eq(noted[j], first[j]);
        for (uint32_t j = 0; j < c->n_jobs && i == 2; j++)
            n_other += noted[j] != first[j];
        memcpy(first, noted, sizeof first);
        case_destroy(c);
    }
    cr_expect_gt(n_other, 80u, "zero-length jobs stay at 1 ns");
}

Test(estimate, noise_is_lognormal_about_the_duration)
{
    struct test_case *c = with_source(ESTIMATE_NOISE);
    c->spec.estimate.sigma = 0.3;
    enum { N = 4000 };
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++)
        case_job(c, i, 0.5, 1);
    case_run(c);
    for (int i = 0; i < N; i++) {
        double log_ratio = log((double)noted[i] / 0.5e9);
        sum += log_ratio;
        squares += log_ratio * log_ratio;
    }
    double mean = sum / N, sd = sqrt(squares / N - mean * mean);
    cr_expect_lt(fabs(mean), 4 * 0.3 / sqrt(N), "mean %g", mean);
    cr_expect_lt(fabs(sd - 0.3), 4 * 0.3 / sqrt(2.0 * N), "sd %g", sd);
    case_destroy(c);
}

Test(estimate, no_noise_is_exact)
{
    struct test_case *c = random_with_source(ESTIMATE_NOISE);
    c->spec.estimate.sigma = 0;
    case_run(c);
    for (uint32_t j = 0; j < c->n_jobs; j++)
        cr_expect_eq(noted[j], c->jobs[j].duration_ns < 1 ? 1 : c->jobs[j].duration_ns);
    case_destroy(c);
}

/* ---- from a file -------------------------------------------------------------------------------------------- */

static char folder[128], path[192];

static void make_file(const char *text)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.100s/braid-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/estimates.csv", folder);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    cr_assert_eq(fclose(f), 0);
}

static void remove_file(void)
{
    unlink(path);
    rmdir(folder);
}

/* The harness gives no ids: every job's is empty, and the file needs one row for it. */
static struct test_case *with_file(const char *text)
{
    make_file(text);
    struct test_case *c = with_source(ESTIMATE_FILE);
    c->spec.estimate.path = path;
    case_job(c, 0, 10, 1);
    return c;
}

Test(estimate, file_gives_seconds_by_id)
{
    static const char *const files[] = {"id,estimate\r\n,12.5\nj2,7\n",
                                        "\xef\xbb\xbfuser,Estimate,id\nu,\"12.5\", \n\nv,7,j2", "j2,7\n,12.5\n"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct test_case *c = with_file(files[i]);
        case_run(c);
        cr_expect_eq(noted[0], 12500000000, "file %zu", i);
        case_destroy(c);
        remove_file();
    }
}

Test(estimate, file_errors_name_the_place)
{
    static const struct {
        const char *text;
        int line;
        const char *says;
    } bad[] = {{"id,estimate\n,12\nj2,soon\n", 3, "seconds"},
               {"id,estimate\n,12\nj2\n", 3, "fields"},
               {",-1\n", 1, "seconds"},
               {"name,id\n,12\n", 1, "seconds"},
               {"12\n", 1, "header"},
               {"id,estimate\n,12\nj2,7\n,12\n", 4, "already, in line 2"},
               {"id,estimate\nj2,7\n", 0, "no estimate"},
               {"", 0, "no estimate"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct test_case *c = with_file(bad[i].text);
        cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
        cr_expect_eq(c->err.line, bad[i].line, "case %zu: line %d", i, c->err.line);
        cr_expect_not_null(strstr(c->err.message, bad[i].says), "case %zu: %s", i, c->err.message);
        cr_expect_str_eq(c->err.file, path);
        case_destroy(c);
        remove_file();
    }
}

Test(estimate, file_that_is_missing_is_bad_input)
{
    struct test_case *c = with_source(ESTIMATE_FILE);
    c->spec.estimate.path = "tests/engine/no-such-file.csv";
    case_job(c, 0, 10, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    case_destroy(c);
}

/* ---- on_exceed ------------------------------------------------------------------------------------------------ */

Test(estimate, kill_ends_a_job_at_its_estimate_overhead_not_counted)
{
    struct test_case *c = with_source(ESTIMATE_TRACE);
    c->spec.estimate.on_exceed = ESTIMATE_KILL;
    c->spec.overhead.start.constant_ns = 3 * S;
    static const double estimates[] = {4, 10, 20};
    for (int i = 0; i < 3; i++)
        c->jobs[case_job(c, i * 100, 10, 1)].estimate_ns = llrint(estimates[i]) * S;
    case_run(c);
    cr_expect_eq(c->r.jobs[0].status, STATUS_KILLED);
    cr_expect_str_eq(c->r.jobs[0].reason, "estimate_exceeded");
    cr_expect_eq(c->r.jobs[0].end_ns, 7 * S);
    cr_expect_eq(c->r.jobs[0].work_done, 4e9);
    cr_expect_eq(c->r.jobs[1].status, STATUS_FINISHED, "just in time");
    cr_expect_eq(c->r.jobs[2].end_ns, 213 * S);
    case_destroy(c);
}

Test(estimate, what_a_killed_job_ran_is_what_the_user_mean_learns)
{
    struct test_case *c = with_source(ESTIMATE_USER_MEAN);
    c->spec.estimate.on_exceed = ESTIMATE_KILL;
    case_job(c, 0, 10000, 1); /* killed after the hour that is assumed first */
    case_job(c, 5000, 10, 1);
    case_run(c);
    cr_expect_eq(c->r.jobs[0].status, STATUS_KILLED);
    cr_expect_eq(c->r.jobs[0].run_ns, 3600 * S);
    cr_expect_eq(noted[1], 3600 * S);
    case_destroy(c);
}
