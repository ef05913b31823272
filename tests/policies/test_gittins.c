/* Gittins: the index against its definition, schedules solved by hand, random ones against a naive reference (ticks.h). */
#include "policies/gittins_index.h"
#include "tests/policies/ticks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* By the definition: the chance to finish within delta of service, over the service expected to be spent on it. */
static double index_naive(const int64_t *values, size_t n, int64_t attained, int64_t delta)
{
    double finish = 0, spent = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t left = values[i] - attained;
        if (left > 0) {
            finish += left <= delta;
            spent += (double)(left < delta ? left : delta);
        }
    }
    return spent > 0 ? finish / spent : 0;
}

Test(gittins_index, is_what_its_definition_says)
{
    srand(1);
    for (int round = 0; round < 12500; round++) {
        int64_t values[40], copy[40], delta = 1 + rand() % 30;
        size_t n = (size_t)(rand() % 41);
        for (size_t i = 0; i < n; i++)
            copy[i] = values[i] = rand() % (round % 2 == 0 ? 60 : 500);
        struct gittins_index g;
        cr_assert(gittins_index_init(&g, copy, n, delta));
        for (int64_t step = 0; step * delta < 600; step++) {
            double want = index_naive(values, n, step * delta, delta), have = gittins_index_at(&g, step);
            cr_assert_float_eq(have, want, 1e-12, "round %d, step %lld: %g, not %g", round, (long long)step, have,
                               want);
            int64_t next = gittins_index_next(&g, step);
            for (int64_t between = step + 1; between < next && between * delta < 600; between++)
                cr_assert_float_eq(gittins_index_at(&g, between), have, 0);
            if (next != INT64_MAX)
                cr_assert(gittins_index_at(&g, next) != have, "step %lld is called a jump and is none",
                          (long long)next);
        }
        gittins_index_fini(&g);
    }
}

Test(gittins_index, a_job_that_ends_exactly_after_delta_counts_as_finished)
{
    int64_t values[] = {10, 20};
    struct gittins_index g;
    cr_assert(gittins_index_init(&g, values, 2, 10));
    cr_expect_float_eq(gittins_index_at(&g, 0), 1.0 / 20, 1e-15); /* one of two, 10 s each */
    cr_expect_float_eq(gittins_index_at(&g, 1), 1.0 / 10, 1e-15);
    cr_expect_float_eq(gittins_index_at(&g, 2), 0, 0);
    gittins_index_fini(&g);
}

Test(gittins_index, holds_for_service_beyond_the_range_of_sums)
{
    int64_t values[64];
    for (int i = 0; i < 64; i++)
        values[i] = 2 * (INT64_MAX / 8);
    struct gittins_index g;
    cr_assert(gittins_index_init(&g, values, 64, INT64_MAX / 8));
    cr_expect_float_eq(gittins_index_at(&g, 0) * (double)(INT64_MAX / 8), 0, 0);
    cr_expect_eq(gittins_index_next(&g, 0), 1);
    cr_expect_float_eq(gittins_index_at(&g, 1) * (double)(INT64_MAX / 8), 1, 1e-9);
    gittins_index_fini(&g);
}

/* ---- the best delta (0) ---- */

Test(gittins_index, best_steps_cover_all_service)
{
    for (int64_t step = 0; step < GITTINS_STEPS_MAX; step++) {
        int64_t begin = gittins_index_begin(0, step), next = gittins_index_begin(0, step + 1);
        if (begin == INT64_MAX) {
            cr_assert_eq(next, INT64_MAX);
            continue;
        }
        cr_assert_eq(gittins_index_step(0, begin), step);
        cr_assert_eq(gittins_index_step(0, next - 1), step, "step %d", (int)step);
        cr_assert_geq(next - begin, S);
        cr_assert(next == INT64_MAX || next - begin == S || next - begin <= begin / 32);
    }
    cr_assert_lt(gittins_index_step(0, INT64_MAX), GITTINS_STEPS_MAX);
}

/* Over all ends of later steps, one by one. */
static double best_naive(const int64_t *values, size_t n, int64_t step)
{
    int64_t attained = gittins_index_begin(0, step);
    double best = index_naive(values, n, attained, INT64_MAX);
    for (int64_t k = step + 1; gittins_index_begin(0, k) != INT64_MAX; k++) {
        double index = index_naive(values, n, attained, gittins_index_begin(0, k) - attained);
        best = index > best ? index : best;
    }
    return best;
}

Test(gittins_index, best_is_the_greatest_over_all_later_steps)
{
    srand(2);
    for (int round = 0; round < 60; round++) {
        int64_t values[40], copy[40], most = (round % 3 == 0 ? 40 : round % 3 == 1 ? 3000 : 10000000) * S;
        size_t n = (size_t)(rand() % 41);
        for (size_t i = 0; i < n; i++)
            copy[i] = values[i] = (int64_t)((double)rand() / RAND_MAX * (double)most) / (1 + rand() % 2 * 50);
        struct gittins_index g;
        cr_assert(gittins_index_init(&g, copy, n, 0));
        for (int64_t step = 0; step < 900; step += 1 + step / 64) {
            double want = best_naive(values, n, step), have = gittins_index_at(&g, step);
            cr_assert_float_eq(have, want, 1e-9 * want, "round %d, step %d: %g, not %g", round, (int)step, have, want);
        }
        gittins_index_fini(&g);
    }
}

static struct test_case *gittins(uint32_t gpus, const char *delta, const char *service)
{
    struct test_case *c = case_create(1, gpus);
    case_policy(c, "gittins");
    case_param(c, "delta", delta);
    case_param(c, "service", service);
    return c;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
}

Test(gittins, prefers_the_job_about_to_end_to_a_fresh_one)
{
    /* lengths 10, 6, 6 with delta 5: index(0) = 0, index(5) = 3 / (5 + 1 + 1). A stays when it has passed 5. */
    struct test_case *c = gittins(1, "5", "time");
    case_job(c, 0, 10, 1);
    case_job(c, 6, 6, 1);
    case_job(c, 7, 6, 1);
    case_run(c);
    expect(c, 0, 0, 10);
    expect(c, 1, 10, 16);
    expect(c, 2, 16, 22);
    case_destroy(c);
}

Test(gittins, gives_way_after_a_step_without_an_end)
{
    /* lengths 12, 2, 2 with delta 4: index(0) = 2 / 8, index(4) = 0, index(8) = 1 / 4. At 4 A gives way to B, which waits,
     * and at 9 stays when C (of a higher index than 0) comes at 7; A back at 8 after C. */
    struct test_case *c = gittins(1, "4", "time");
    case_job(c, 0, 12, 1);
    case_job(c, 3, 2, 1);
    case_job(c, 7, 2, 1);
    case_run(c);
    /* A 0-4, B 4-6, A 6-7, C 7-9, A 9-16 */
    expect(c, 0, 0, 16);
    expect(c, 1, 4, 6);
    expect(c, 2, 7, 9);
    cr_expect_eq(c->r.jobs[0].preemptions, 2u);
    case_destroy(c);
}

Test(gittins, reads_its_distribution_from_a_file)
{
    char path[] = "/tmp/braid-gittins-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    FILE *f = fdopen(fd, "w");
    fputs("duration\r\n5\r\n5\r\n\r\n9.5\r\n", f);
    fclose(f);
    /* index(0) with delta 5 = 2 / 15, index(5) = 1 / 4.5: as in the first case, whatever the trace's own lengths are */
    struct test_case *c = gittins(1, "5", "time");
    case_param(c, "source", "file");
    case_param(c, "file", path);
    case_job(c, 0, 8, 1);
    case_job(c, 1, 1, 1);
    case_run(c);
    expect(c, 0, 0, 8);
    expect(c, 1, 8, 9);
    case_destroy(c);
    unlink(path);
}

static void expect_refusal(const char *source, const char *file, const char *content, const char *says)
{
    char path[] = "/tmp/braid-gittins-XXXXXX";
    if (content != NULL) {
        int fd = mkstemp(path);
        cr_assert_geq(fd, 0);
        cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
        close(fd);
        file = path;
    }
    struct test_case *c = gittins(1, "5", "time");
    case_param(c, "source", source);
    case_param(c, "file", file);
    case_job(c, 0, 1, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    char text[1200];
    cr_expect(strstr(error_text(&c->err, text, sizeof text), says) != NULL, "%s", text);
    case_destroy(c);
    if (content != NULL)
        unlink(path);
}

Test(gittins, a_wrong_sample_is_refused_with_its_line)
{
    expect_refusal("file", "", NULL, "add file: PATH");
    expect_refusal("trace", "x.csv", NULL, "only read with source: file");
    expect_refusal("file", "/nowhere/x.csv", NULL, "cannot be opened");
    expect_refusal("file", "/", NULL, "is a folder");
    expect_refusal("file", NULL, "duration\n", "holds no values");
    expect_refusal("file", NULL, "duration\n12\n-1\n", ":3:1: expected one service time");
    expect_refusal("file", NULL, "duration\n12,3\n", ":2:1: expected one service time");
    expect_refusal("file", NULL, "duration\n12\nnan", ":3:1: expected one service time");
}

/* ---- the same by a naive reference ------------------------------------------------------------------- */

struct index_rule {
    const struct ticks *x;
    int64_t values[TICK_JOBS];
    int64_t delta;
    bool by_gpu_time;
};

static void index_update(void *self, struct tick_job *j, int64_t t)
{
    (void)t;
    const struct index_rule *g = self;
    j->level = j->attained * (g->by_gpu_time ? j->gpus : 1) / g->delta;
}

static int index_first(void *self, const struct tick_job *a, const struct tick_job *b)
{
    const struct index_rule *g = self;
    double x = index_naive(g->values, g->x->n, a->level * g->delta, g->delta);
    double y = index_naive(g->values, g->x->n, b->level * g->delta, g->delta);
    return (x < y) - (x > y);
}

static void against_reference(int64_t delta, bool by_gpu_time)
{
    for (uint32_t seed = 0; seed < 150; seed++) {
        struct ticks x;
        ticks_random(&x, seed, 40);
        struct index_rule g = {.x = &x, .delta = delta, .by_gpu_time = by_gpu_time};
        for (uint32_t i = 0; i < x.n; i++)
            g.values[i] = x.jobs[i].duration * (by_gpu_time ? x.jobs[i].gpus : 1);
        const struct tick_rule rule = {&g, index_update, index_first, NULL};
        ticks_run(&x, &rule);
        char text[16];
        snprintf(text, sizeof text, "%d", (int)delta);
        ticks_compare(&x, gittins((uint32_t)x.gpus, text, by_gpu_time ? "gpu_time" : "time"), seed);
    }
}

Test(gittins, agrees_with_a_naive_reference_by_time)
{
    against_reference(7, false);
}

Test(gittins, agrees_with_a_naive_reference_by_gpu_time)
{
    against_reference(12, true);
}

/* Lengths 1000, 5, 5, 5. With delta 2 nothing ends in a first step, nor in any step of the long job before its last: it keeps the GPU. The best stretch of
 * a fresh job is 5 s: index 3 / 20, against 1 / 900 at 100 s. */
Test(gittins, a_surely_long_job_gives_way_under_the_best_delta)
{
    for (int is_best = 0; is_best < 2; is_best++) {
        struct test_case *c = gittins(1, is_best ? "0" : "2", "time");
        case_job(c, 0, 1000, 1);
        for (int j = 0; j < 3; j++)
            case_job(c, 100, 5, 1);
        case_run(c);
        for (uint32_t j = 1; j < 4; j++)
            expect(c, j, (is_best ? 100 : 1000) + 5 * (j - 1), (is_best ? 105 : 1005) + 5 * (j - 1));
        expect(c, 0, 0, is_best ? 1015 : 1000);
        case_destroy(c);
    }
}

/* Lengths 10, 6, 6: index(0) = 2 / 18 (to 6 s), at 6 s 1 / 4. The long one passes 6 before the others come: it stays. */
Test(gittins, the_best_delta_looks_as_far_as_an_end)
{
    struct test_case *c = gittins(1, "0", "time");
    case_job(c, 0, 10, 1);
    case_job(c, 7, 6, 1);
    case_job(c, 7, 6, 1);
    case_run(c);
    expect(c, 0, 0, 10);
    expect(c, 1, 10, 16);
    expect(c, 2, 16, 22);
    case_destroy(c);
}
