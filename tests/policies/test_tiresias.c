/* Tiresias: schedules solved by hand, then random ones against a naive reference (ticks.h). */
#include "tests/policies/ticks.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct test_case *queues(uint32_t gpus, const char *thresholds, const char *service, const char *promote)
{
    struct test_case *c = case_create(1, gpus);
    case_policy(c, "tiresias");
    case_param(c, "thresholds", thresholds);
    case_param(c, "service", service);
    case_param(c, "promote", promote);
    return c;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end, uint32_t preemptions)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
    cr_expect_eq(c->r.jobs[job].preemptions, preemptions, "job %u is preempted %u times, not %u", job,
                 c->r.jobs[job].preemptions, preemptions);
}

Test(tiresias, a_demoted_job_gives_way_at_the_instant_it_reaches_the_limit)
{
    /*  GPU  AAAA BBB AAAAAA        at 4 A has 4 s of service, the limit of queue 0; B waits there */
    struct test_case *c = queues(1, "[4, 10]", "time", "0");
    case_job(c, 0, 10, 1);
    case_job(c, 2, 3, 1);
    case_run(c);
    expect(c, 0, 0, 13, 1);
    expect(c, 1, 4, 7, 0);
    case_destroy(c);
}

Test(tiresias, a_limit_in_gpu_time_is_reached_between_seconds)
{
    /* 8 GPUs x 406.25 s = 3250 GPU s */
    struct test_case *c = queues(8, "[3250, 7200]", "gpu_time", "0");
    case_job(c, 0, 1000, 8);
    case_job(c, 10, 100, 8);
    case_run(c);
    expect(c, 0, 0, 1100, 1);
    expect(c, 1, 406.25, 506.25, 0);
    case_destroy(c);
}

Test(tiresias, a_limit_that_no_nanosecond_meets_is_reached_in_the_next)
{
    /* 3 GPUs: 10 GPU s are reached after 3.333333334 s */
    struct test_case *c = queues(3, "[10]", "gpu_time", "0");
    case_job(c, 0, 5, 3);
    case_job(c, 1, 1, 3);
    case_run(c);
    cr_expect_eq(c->r.jobs[1].start_ns, INT64_C(3333333334));
    expect(c, 0, 0, 6, 1);
    case_destroy(c);
}

Test(tiresias, inside_a_queue_running_jobs_stay_and_others_follow_by_entry)
{
    /*  queue 0   A A B B . C            A enters queue 1 at 2, B at 4. B runs on there until C comes; then A, who
     *  queue 1           B   A A A B B  entered first, is first
     *            0 1 2 3 4 5 6 7 8 9 10 11 */
    struct test_case *c = queues(1, "[2]", "time", "0");
    case_job(c, 0, 5, 1);
    case_job(c, 1, 5, 1);
    case_job(c, 5, 1, 1);
    case_run(c);
    expect(c, 0, 0, 9, 1);
    expect(c, 1, 2, 11, 1);
    expect(c, 2, 5, 6, 0);
    case_destroy(c);
}

Test(tiresias, demotions_that_nobody_waited_for_still_count_from_their_own_instant)
{
    /* A enters queue 1 at 2 and B at 3, before anybody waits. C and D displace both at 5, E both at 7; at 8 A is first, C fits too. */
    struct test_case *c = queues(2, "[2]", "time", "0");
    case_job(c, 0, 10, 1);
    case_job(c, 1, 10, 1);
    case_job(c, 5, 3, 2);
    case_run(c);
    /* C: 5 to 7 in queue 0, then in queue 1 it keeps its GPUs until 8 */
    expect(c, 2, 5, 8, 0);
    expect(c, 0, 0, 13, 1);
    expect(c, 1, 1, 14, 1);
    case_destroy(c);
}

Test(tiresias, a_job_that_waited_for_its_executed_time_returns_to_the_first_queue)
{
    /*  A A B B A A B B A A B B A A A A      each in turn: 2 s of service, then 2 s of waiting
     *  0   2   4   6   8  10  12      16 */
    struct test_case *c = queues(1, "[2]", "time", "1");
    case_job(c, 0, 10, 1);
    case_job(c, 1, 6, 1);
    case_run(c);
    expect(c, 0, 0, 16, 3);
    expect(c, 1, 2, 12, 2);
    case_destroy(c);
}

Test(tiresias, without_promotion_the_long_job_starves)
{
    struct test_case *c = queues(1, "[2]", "time", "0");
    case_job(c, 0, 3, 1);
    for (int i = 0; i < 10; i++)
        case_job(c, 2 * i + 1, 2, 1);
    case_run(c);
    expect(c, 0, 0, 23, 1);
    case_destroy(c);
}

Test(tiresias, higher_queues_pass_who_does_not_fit)
{
    /* B (4 GPUs) waits in queue 0 while A is there as well: C passes it */
    struct test_case *c = queues(4, "[100]", "time", "0");
    case_job(c, 0, 10, 3);
    case_job(c, 1, 5, 4);
    case_job(c, 2, 1, 1);
    case_run(c);
    expect(c, 0, 0, 10, 0);
    expect(c, 1, 10, 15, 0);
    expect(c, 2, 2, 3, 0);
    case_destroy(c);
}

Test(tiresias, wrong_thresholds_are_refused)
{
    struct test_case *c = queues(1, "[7200, 3250]", "time", "0");
    case_job(c, 0, 1, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect(strstr(c->err.message, "ascend") != NULL, "%s", c->err.message);
    case_destroy(c);
}

Test(tiresias, a_quota_that_shrinks_sends_jobs_back_and_they_finish)
{
    struct test_case *c = case_create(1, 4);
    case_policy(c, "tiresias");
    case_param(c, "thresholds", "[8]");
    static struct vc_change changes[] = {{3 * S, 0}, {5 * S, 4}};
    c->vcs[0] = (struct vc_spec){
        .name = "a", .mode = VC_GPUS, .amount = 4, .shrink = VC_PREEMPT, .changes = changes, .n_changes = 2};
    c->cluster.n_vcs = 1;
    c->jobs[case_job(c, 0, 10, 4)].vc = "a";
    c->jobs[case_job(c, 4, 1, 4)].vc = "a";
    case_run(c);
    /* A is in queue 1 from 2 on: at 5 B is first */
    expect(c, 1, 5, 6, 0);
    expect(c, 0, 0, 13, 1);
    case_destroy(c);
}

/* ---- the same by a naive reference ------------------------------------------------------------------- */

struct queue_rule {
    int64_t limits[2];
    bool by_gpu_time;
    int64_t promote; /* 0: never */
};

static void queue_update(void *self, struct tick_job *j, int64_t t)
{
    const struct queue_rule *q = self;
    if (j->submit == t) {
        j->level = 0;
        j->entered = t;
    }
    if (j->is_running) {
        while (j->level < 2 && j->executed * (q->by_gpu_time ? j->gpus : 1) >= q->limits[j->level]) {
            j->level++;
            j->entered = t;
        }
    } else if (q->promote > 0 && j->level > 0 && j->executed > 0 && j->waited >= q->promote * j->executed) {
        j->level = 0;
        j->entered = t;
        j->executed = j->waited = 0;
    }
}

static int queue_first(void *self, const struct tick_job *a, const struct tick_job *b)
{
    (void)self;
    return (a->level > b->level) - (a->level < b->level);
}

static int queue_then(void *self, const struct tick_job *a, const struct tick_job *b)
{
    (void)self;
    return (a->entered > b->entered) - (a->entered < b->entered);
}

static void against_reference(struct queue_rule q, uint32_t seeds)
{
    const struct tick_rule rule = {&q, queue_update, queue_first, queue_then};
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct ticks x;
        ticks_random(&x, seed, 40);
        ticks_run(&x, &rule);
        char thresholds[64], promote[16];
        snprintf(thresholds, sizeof thresholds, "[%d, %d]", (int)q.limits[0], (int)q.limits[1]);
        snprintf(promote, sizeof promote, "%d", (int)q.promote);
        ticks_compare(&x, queues((uint32_t)x.gpus, thresholds, q.by_gpu_time ? "gpu_time" : "time", promote), seed);
    }
}

Test(tiresias, agrees_with_a_naive_reference_by_time)
{
    against_reference((struct queue_rule){{5, 14}, false, 0}, 200);
}

Test(tiresias, agrees_with_a_naive_reference_by_gpu_time)
{
    against_reference((struct queue_rule){{12, 40}, true, 0}, 200);
}

Test(tiresias, agrees_with_a_naive_reference_with_promotion)
{
    against_reference((struct queue_rule){{5, 14}, false, 1}, 200);
    against_reference((struct queue_rule){{12, 40}, true, 3}, 200);
}
