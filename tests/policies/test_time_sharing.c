/* Policies that share time: turns by weight, turns of short jobs, feedback queues, windows of arrivals. */
#include "tests/policies/ticks.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_case *one_gpu(const char *policy)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, policy);
    return c;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
}

static void user_job(struct test_case *c, const char *user, double submit, double duration)
{
    c->jobs[case_job(c, submit, duration, 1)].user = user;
}

static void expect_refused(struct test_case *c, const char *says)
{
    user_job(c, "ann", 0, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, says), "%s", c->err.message);
    case_destroy(c);
}

/* ---- round robin, plain and weighted ---------------------------------------------------------------------- */

static void equal_service(const char *policy)
{
    /* five equal jobs at once, 1 GPU, quantum 3 s: at any time the times on the GPU differ by at most the quantum */
    for (int stop = 1; stop <= 97; stop += 8) {
        struct test_case *c = one_gpu(policy);
        case_param(c, "quantum", "3 s");
        for (int i = 0; i < 5; i++)
            user_job(c, i % 2 == 0 ? "ann" : "bob", 0, 20);
        if (strcmp(policy, "weighted_round_robin") == 0)
            case_param(c, "by", "priority");
        c->spec.stop.at_ns = stop * S;
        case_run(c);
        int64_t least = INT64_MAX, most = 0;
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            least = c->r.jobs[j].run_ns < least ? c->r.jobs[j].run_ns : least;
            most = c->r.jobs[j].run_ns > most ? c->r.jobs[j].run_ns : most;
        }
        cr_expect_leq(most - least, 3 * S, "%s: at %d s service is from %g to %g s", policy, stop, (double)least * 1e-9,
                      (double)most * 1e-9);
        cr_expect_gt(most, 0);
        case_destroy(c);
    }
}

Test(round_robin, gives_equal_service_to_equal_jobs)
{
    equal_service("round_robin");
    equal_service("weighted_round_robin");
}

/* Seconds of GPU time of each user, ann, bob, cat, after `stop` seconds. */
static void service_of_users(struct test_case *c, int stop, double out[3])
{
    c->spec.stop.at_ns = stop * S;
    case_run(c);
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t j = 0; j < c->n_jobs; j++)
        out[c->jobs[j].user[0] - 'a'] += (double)c->r.jobs[j].run_ns * 1e-9 * c->jobs[j].gpus;
}

Test(weighted_round_robin, weights_of_users_hold_however_many_jobs_they_have)
{
    struct test_case *c = one_gpu("weighted_round_robin");
    case_param(c, "quantum", "2 s");
    case_param(c, "weights", "bob=2, cat=3.5");
    for (int i = 0; i < 40; i++)
        user_job(c, i < 30 ? "ann" : i < 38 ? "bob" : "cat", 0, 5000);
    double have[3];
    service_of_users(c, 1300, have); /* 100 rounds of 2 + 4 + 7 s */
    cr_expect_float_eq(have[0], 200, 1e-6, "%g", have[0]);
    cr_expect_float_eq(have[1], 400, 1e-6, "%g", have[1]);
    cr_expect_float_eq(have[2], 700, 1e-6, "%g", have[2]);
    case_destroy(c);
}

Test(weighted_round_robin, weights_hold_over_several_gpus)
{
    struct test_case *c = case_create(2, 4);
    case_policy(c, "weighted_round_robin");
    case_param(c, "quantum", "10 s");
    case_param(c, "weights", "ann=1, bob=2, *=4");
    for (int i = 0; i < 90; i++)
        user_job(c, i % 3 == 0 ? "ann" : i % 3 == 1 ? "bob" : "cat", 0, 1e6);
    double have[3];
    service_of_users(c, 21000, have);
    double all = have[0] + have[1] + have[2];
    cr_expect_float_eq(all, 8 * 21000.0, 1e-6);
    cr_expect_float_eq(have[0] / all, 1 / 7.0, 0.005, "%g", have[0] / all);
    cr_expect_float_eq(have[1] / all, 2 / 7.0, 0.005, "%g", have[1] / all);
    cr_expect_float_eq(have[2] / all, 4 / 7.0, 0.005, "%g", have[2] / all);
    case_destroy(c);
}

Test(weighted_round_robin, who_comes_back_gets_no_turns_for_the_time_away)
{
    /* bob comes at 100: from then on half and half; equal weights, quantum 1 s */
    struct test_case *c = one_gpu("weighted_round_robin");
    case_param(c, "quantum", "1 s");
    user_job(c, "ann", 0, 5000);
    user_job(c, "cat", 0, 50);
    user_job(c, "bob", 100, 5000);
    double have[3];
    service_of_users(c, 300, have);
    cr_expect_float_eq(have[2], 50, 1e-6);
    cr_expect_float_eq(have[0], 50 + 100, 1.001, "%g", have[0]);
    cr_expect_float_eq(have[1], 100, 1.001, "%g", have[1]);
    case_destroy(c);
}

Test(weighted_round_robin, by_priority_a_slice_is_as_long_as_the_priority)
{
    /*  A B B C C C A B B C C C A       priorities 0 (counts as 1), 2, 3 */
    struct test_case *c = one_gpu("weighted_round_robin");
    case_param(c, "quantum", "1 s");
    case_param(c, "by", "priority");
    for (int i = 0; i < 3; i++)
        c->jobs[case_job(c, 0, i == 0 ? 3 : i == 1 ? 4 : 6, 1)].priority = i == 0 ? 0 : i + 1;
    case_run(c);
    expect(c, 0, 0, 13);
    expect(c, 1, 1, 9);
    expect(c, 2, 3, 12);
    case_destroy(c);
}

Test(weighted_round_robin, wrong_weights_are_refused)
{
    static const char *const wrong[][2] = {{"dan=1", "no job of the trace is of user 'dan'"},
                                           {"ann=0", "'ann=0'"},
                                           {"ann", "'ann'"},
                                           {"ann=1, ann=2", "given twice"},
                                           {"ann=1e9", "up to"},
                                           {"=1", "no weight"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct test_case *c = one_gpu("weighted_round_robin");
        case_param(c, "weights", wrong[i][0]);
        expect_refused(c, wrong[i][1]);
    }
    struct test_case *c = one_gpu("weighted_round_robin");
    case_param(c, "weights", "ann=2");
    case_param(c, "by", "priority");
    expect_refused(c, "by: user");
}

/* ---- rr_sjf ----------------------------------------------------------------------------------------------------- */

Test(rr_sjf, short_jobs_first_inside_a_window_and_windows_in_turn)
{
    /* window 10 s, quantum 4 s. A (0-10) holds the GPU to 4; of its window C (2 s) comes before B (5 s). A came back at 4, to the same
     * window, with 6 s to go: after B. B ran 6-10, came back at 10, to the next window, with 1 s; D (1.5 s) came at 11.
     *     A A A A C C B B B B A A A A B D D      A from 10 to 14, back at 14 with 2 s: after B and D */
    struct test_case *c = one_gpu("rr_sjf");
    case_param(c, "window", "10 s");
    case_param(c, "quantum", "4 s");
    case_job(c, 0, 10, 1);
    case_job(c, 1, 5, 1);
    case_job(c, 2, 2, 1);
    case_job(c, 11, 1.5, 1);
    case_run(c);
    expect(c, 0, 0, 18.5);
    expect(c, 1, 6, 15);
    expect(c, 2, 4, 6);
    expect(c, 3, 15, 16.5);
    case_destroy(c);
}

/* By default a window (1 h) is longer than a quantum (6 min). Three jobs of about 2 h: each runs once before any runs twice, all three before any runs
 * three times, so all end in the last minutes of 6 h. */
Test(rr_sjf, who_has_had_its_turn_joins_a_later_window)
{
    struct test_case *c = one_gpu("rr_sjf");
    case_param(c, "quantum", "6 min");
    for (int j = 0; j < 3; j++)
        case_job(c, 0, 7200 + 10 * j, 1);
    case_run(c);
    for (uint32_t j = 0; j < 3; j++) {
        cr_expect_float_eq(case_start_s(c, j), 360 * j, 1e-9, "%g", case_start_s(c, j));
        cr_expect_gt(case_end_s(c, j), 20000);
    }
    case_destroy(c);
}

Test(rr_sjf, no_stream_of_short_jobs_starves_a_long_one)
{
    /* short jobs keep one GPU busy for ever; a long one of the first window gets its slices all the same */
    const char *const policies[] = {"rr_sjf", "srtf"};
    double end[2];
    for (int p = 0; p < 2; p++) {
        struct test_case *c = one_gpu(policies[p]);
        case_param(c, "quantum", "30 s");
        if (p == 0)
            case_param(c, "window", "60 s");
        case_job(c, 0, 10, 1);
        case_job(c, 0, 120, 1);
        for (int i = 1; i < 200; i++)
            case_job(c, 10 * i, 10, 1);
        case_run(c);
        end[p] = case_end_s(c, 1);
        case_destroy(c);
    }
    cr_expect_lt(end[0], 1000, "%g", end[0]);
    cr_expect_float_eq(end[1], 2120, 1e-6, "%g", end[1]);
}

/* ---- mlfq --------------------------------------------------------------------------------------------------------- */

static struct test_case *feedback(uint32_t gpus, const char *quanta, const char *boost)
{
    struct test_case *c = case_create(1, gpus);
    case_policy(c, "mlfq");
    case_param(c, "quanta", quanta);
    case_param(c, "boost", boost);
    return c;
}

Test(mlfq, boosts_of_nanoseconds_are_refused)
{
    struct test_case *c = feedback(1, "[10]", "0.0009");
    case_job(c, 0, 1, 1);
    expect_refused(c, "less than 1 ms");
}

Test(mlfq, levels_quanta_and_the_rest_of_a_quantum)
{
    /* quanta 2, 4, 8 s. A and B at 0, C at 9.
     *   0-2 A (level 0), 2-4 B (level 0, done at its quantum's end with 1 s to go: level 1), 4-8 A (level 1, then level 2 at 8),
     *   8-9 B (level 1) ends at 9. C comes at 9: 9-11, level 1 from 11 on, runs on to 12 before A of level 2: done. 12-20 A. */
    struct test_case *c = feedback(1, "[2, 4, 8]", "0 s");
    case_job(c, 0, 14, 1);
    case_job(c, 0, 3, 1);
    case_job(c, 9, 3, 1);
    case_run(c);
    expect(c, 0, 0, 20);
    expect(c, 1, 2, 9);
    expect(c, 2, 9, 12);
    case_destroy(c);
}

Test(mlfq, a_displaced_job_comes_back_to_its_place_and_the_rest_of_its_quantum)
{
    /* quanta 1, 4. A and B in level 1 from 1 and 2 on. A runs 2-3, C displaces it for 1 s, A has 3 s left of its quantum: 4-7. Then B. */
    struct test_case *c = feedback(1, "[1, 4]", "0 s");
    case_job(c, 0, 10, 1);
    case_job(c, 0, 10, 1);
    case_job(c, 3, 1, 1);
    case_run(c);
    expect(c, 2, 3, 4);
    /* A 0-1, B 1-2, A 2-3, C 3-4, A 4-7, B 7-11, A 11-15, B 15-19, A 19-20, B 20-21 */
    expect(c, 0, 0, 20);
    expect(c, 1, 1, 21);
    case_destroy(c);
}

Test(mlfq, a_boost_ends_starvation)
{
    /* A is in level 1 from 2 on, and every 2 s another job of 2 s comes. A boost at 10 puts A behind those that wait in level 0. */
    for (int k = 0; k < 2; k++) {
        struct test_case *c = feedback(1, "[2, 4]", k == 0 ? "0 s" : "10 s");
        case_job(c, 0, 4, 1);
        for (int i = 0; i < 15; i++)
            case_job(c, 2 * i + 1, 2, 1);
        case_run(c);
        cr_expect_float_eq(case_end_s(c, 0), k == 0 ? 34 : 14, 1e-9, "%g", case_end_s(c, 0));
        case_destroy(c);
    }
}

struct feedback_rule {
    int64_t quanta[3], boost;
};

static void feedback_update(void *self, struct tick_job *j, int64_t t)
{
    const struct feedback_rule *f = self;
    if (j->submit == t) {
        j->level = 0;
        j->entered = t;
    }
    if (f->boost > 0 && t % f->boost == 0 && (j->level > 0 || j->executed > 0)) {
        j->level = 0;
        j->entered = t;
        j->executed = 0;
    }
    if (j->is_running && j->executed >= f->quanta[j->level]) {
        j->level += j->level < 2;
        j->entered = t;
        j->executed = 0;
    }
}

static int feedback_first(void *self, const struct tick_job *a, const struct tick_job *b)
{
    (void)self;
    return a->level != b->level ? (a->level > b->level) - (a->level < b->level)
                                : (a->entered > b->entered) - (a->entered < b->entered);
}

static void feedback_against_reference(struct feedback_rule f, const char *quanta, const char *boost)
{
    const struct tick_rule rule = {&f, feedback_update, feedback_first, NULL};
    for (uint32_t seed = 0; seed < 150; seed++) {
        struct ticks x;
        ticks_random(&x, seed, 40);
        ticks_run(&x, &rule);
        ticks_compare(&x, feedback((uint32_t)x.gpus, quanta, boost), seed);
    }
}

Test(mlfq, agrees_with_a_naive_reference)
{
    feedback_against_reference((struct feedback_rule){{3, 7, 11}, 0}, "[3, 7, 11]", "0 s");
    feedback_against_reference((struct feedback_rule){{1, 2, 4}, 0}, "[1, 2, 4]", "0 s");
}

Test(mlfq, agrees_with_a_naive_reference_with_boosts)
{
    feedback_against_reference((struct feedback_rule){{3, 7, 11}, 25}, "[3, 7, 11]", "25 s");
    feedback_against_reference((struct feedback_rule){{5, 9, 2}, 8}, "[5, 9, 2]", "8 s");
}

/* ---- time_window ---------------------------------------------------------------------------------------------------- */

Test(time_window, gathers_then_orders_and_batches_do_not_mix)
{
    /* window 10 s. A opens it at 2 and it closes at 12: C (1 s), A (5 s), B (7 s) by length. D comes at 12, the instant of closing: it opens the
     * next one, which closes at 22, and though shortest it comes after B (18-25). E comes at 30, closes at 40. */
    struct test_case *c = one_gpu("time_window");
    case_param(c, "window", "10 s");
    case_job(c, 2, 5, 1);
    case_job(c, 3, 7, 1);
    case_job(c, 11, 1, 1);
    case_job(c, 12, 0.5, 1);
    case_job(c, 30, 1, 1);
    case_run(c);
    expect(c, 2, 12, 13);
    expect(c, 0, 13, 18);
    expect(c, 1, 18, 25);
    expect(c, 3, 25, 25.5);
    expect(c, 4, 40, 41);
    case_destroy(c);
}

Test(time_window, its_order_and_fill_are_parts)
{
    /* two GPUs, window 10 s: longest first is B (2 GPUs, 9 s), then A (8 s), then C. C passes nobody under strict. */
    static const char *const fills[] = {"strict", "skip", "easy"};
    for (int k = 0; k < 3; k++) {
        struct test_case *c = case_create(1, 2);
        case_policy(c, "time_window");
        case_param(c, "window", "10 s");
        case_param(c, "order", "ljf");
        case_param(c, "fill", fills[k]);
        case_job(c, 0, 12, 1); /* first: 10-22 */
        case_job(c, 1, 11, 2); /* waits to 22 */
        case_job(c, 2, 3, 1);  /* may pass */
        case_run(c);
        expect(c, 0, 10, 22);
        expect(c, 1, 22, 33);
        expect(c, 2, k == 0 ? 33 : 10, k == 0 ? 36 : 13);
        case_destroy(c);
    }
}

/* ---- dynamic_priority --------------------------------------------------------------------------------------------- */

static struct test_case *factors(uint32_t gpus)
{
    struct test_case *c = case_create(1, gpus);
    case_policy(c, "dynamic_priority");
    static const char *const names[] = {"waiting", "demand", "load", "importance", "user"};
    for (int i = 0; i < 5; i++)
        case_param(c, names[i], "0");
    return c;
}

Test(dynamic_priority, each_factor_alone_orders_the_queue)
{
    /* one GPU is taken until 100; then two that wait. What decides is one factor, else the rank. */
    struct test_case *c = factors(1); /* nothing: by rank */
    case_job(c, 0, 100, 1);
    case_job(c, 10, 5, 1);
    case_job(c, 20, 5, 1);
    case_run(c);
    expect(c, 1, 100, 105);
    case_param(c, "importance", "1");
    c->jobs[2].priority = 1;
    case_run(c);
    expect(c, 2, 100, 105);
    case_param(c, "waiting", "400"); /* 10 s are worth 1.1 points */
    case_run(c);
    expect(c, 1, 100, 105);
    case_param(c, "user", "1");
    case_param(c, "weights", "bob=3, *=2.5"); /* half a point more: 1.5 to 1.1 */
    c->jobs[2].user = "bob";
    case_run(c);
    expect(c, 2, 100, 105);
    case_destroy(c);
}

Test(dynamic_priority, load_counts_against_large_jobs_as_it_is_now)
{
    /* 4 GPUs. At 10 a GPU is free and 3 are held (load 3/4), B of 2 GPUs and C of 1 wait: C would fit at once. By `load` alone (skip: who fits
     * goes). Strict: at 20 all are free: load 0, so B, which is first in rank, goes before C although it is larger. */
    for (int k = 0; k < 2; k++) {
        struct test_case *c = factors(4);
        case_param(c, "fill", "strict");
        case_param(c, "load", "1");
        case_job(c, 0, 20, 3);
        case_job(c, 10, 10, k == 0 ? 2 : 4);
        case_job(c, 10, 30, 1);
        case_run(c);
        expect(c, 2, 10, 40); /* the smaller loses fewer points while others run */
        expect(c, 1, k == 0 ? 20 : 40, k == 0 ? 30 : 50);
        case_destroy(c);
    }
    /* At 20 nothing runs: B, of all GPUs, has waited 2 s more than C and loses no points for its size. On a full cluster it would lose 12 more. */
    struct test_case *c = factors(4);
    case_param(c, "fill", "strict");
    case_param(c, "waiting", "3600");
    case_param(c, "load", "16");
    case_job(c, 0, 20, 4);
    case_job(c, 10, 10, 4);
    case_job(c, 12, 30, 1);
    case_run(c);
    expect(c, 1, 20, 30);
    expect(c, 2, 30, 60);
    case_destroy(c);

    c = factors(4);
    case_param(c, "fill", "strict");
    case_job(c, 0, 20, 3);
    case_job(c, 10, 10, 2);
    case_job(c, 10, 30, 1);
    case_run(c);
    expect(c, 2, 20, 50); /* without the factor the larger one, first in rank, holds it back */
    case_destroy(c);
}
