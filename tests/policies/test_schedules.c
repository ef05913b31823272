/* Hand-solved schedules: the expected start and end stand beside each job. */
#include "tests/harness.h"

#include <criterion/criterion.h>

struct want {
    double submit, duration;
    uint32_t gpus;
    double start, end;
};

static struct test_case *solved(const char *policy, uint32_t nodes, uint32_t gpus, const struct want *want, uint32_t n,
                                const char *param, const char *value)
{
    struct test_case *c = case_create(nodes, gpus);
    case_policy(c, policy);
    if (param != NULL)
        case_param(c, param, value);
    for (uint32_t i = 0; i < n; i++)
        case_job(c, want[i].submit, want[i].duration, want[i].gpus);
    case_run(c);
    for (uint32_t i = 0; i < n; i++) {
        cr_expect_float_eq(case_start_s(c, i), want[i].start, 1e-9, "%s: job %u starts at %g, not %g", policy, i,
                           case_start_s(c, i), want[i].start);
        cr_expect_float_eq(case_end_s(c, i), want[i].end, 1e-9, "%s: job %u ends at %g, not %g", policy, i, case_end_s(c, i),
                           want[i].end);
    }
    return c;
}

#define SOLVED(policy, nodes, gpus, param, value, ...)                                                                        \
    do {                                                                                                                      \
        const struct want want[] = {__VA_ARGS__};                                                                             \
        case_destroy(solved(policy, nodes, gpus, want, sizeof want / sizeof *want, param, value));                            \
    } while (0)

Test(schedules, fifo_head_holds_back_all_behind_it)
{
    SOLVED("fifo", 1, 4, NULL, NULL, {0, 10, 3, 0, 10}, {1, 5, 2, 10, 15}, {2, 1, 1, 10, 11});
}

Test(schedules, fifo_skip_lets_small_jobs_pass)
{
    SOLVED("fifo_skip", 1, 4, NULL, NULL, {0, 10, 3, 0, 10}, {1, 5, 2, 10, 15}, {2, 1, 1, 2, 3});
}

Test(schedules, sjf_orders_the_queue_by_length)
{
    SOLVED("sjf", 1, 1, NULL, NULL, {0, 10, 1, 0, 10}, {1, 5, 1, 12, 17}, {2, 2, 1, 10, 12});
}

Test(schedules, ljf_is_sjf_reversed)
{
    SOLVED("ljf", 1, 1, NULL, NULL, {0, 10, 1, 0, 10}, {1, 2, 1, 15, 17}, {2, 5, 1, 10, 15}, {3, 2, 1, 17, 19});
}

Test(schedules, qssf_weighs_length_by_gpus)
{
    /* 4 s x 2 GPUs = 8 against 6 s x 1 GPU = 6: the longer but lighter job first */
    SOLVED("qssf", 1, 2, NULL, NULL, {0, 10, 2, 0, 10}, {1, 4, 2, 16, 20}, {2, 6, 1, 10, 16});
}

Test(schedules, easy_backfills_only_what_leaves_the_head_alone)
{
    /* head (1) needs all 4 GPUs: its reservation is at 10. Job 2 would end at 12: no. Job 3 ends at 9: yes. */
    SOLVED("easy", 1, 4, NULL, NULL, {0, 10, 3, 0, 10}, {1, 5, 4, 10, 15}, {2, 10, 1, 15, 25}, {3, 6, 1, 3, 9});
}

Test(schedules, easy_backfills_up_to_the_reservation_and_not_a_nanosecond_more)
{
    SOLVED("easy", 1, 4, NULL, NULL, {0, 10, 3, 0, 10}, {1, 5, 4, 10, 15}, {2, 8, 1, 2, 10});
    SOLVED("easy", 1, 4, NULL, NULL, {0, 10, 3, 0, 10}, {1, 5, 4, 10, 15}, {2, 8.000000001, 1, 15, 23.000000001});
}

Test(schedules, easy_backfills_equal_ones_in_order_of_rank_whatever_they_ask)
{
    /* two GPUs are free up to 10; of jobs 2 and 3, submitted together, the earlier has the first choice */
    SOLVED("easy", 1, 4, NULL, NULL, {0, 10, 2, 0, 10}, {1, 5, 4, 10, 15}, {2, 5, 1, 2, 7}, {2, 5, 2, 15, 20});
    SOLVED("easy", 1, 4, NULL, NULL, {0, 10, 2, 0, 10}, {1, 5, 4, 10, 15}, {2, 5, 2, 2, 7}, {2, 5, 1, 15, 20});
}

Test(schedules, easy_long_job_may_take_what_the_head_leaves_over)
{
    /* at 10 the head takes 3 of 4 GPUs: one is over, so the long job 2 may have it; job 3 may not have another */
    SOLVED("easy", 1, 4, NULL, NULL, {0, 10, 2, 0, 10}, {1, 5, 3, 10, 15}, {2, 20, 1, 2, 22}, {3, 20, 1, 15, 35});
}

Test(schedules, srtf_displaces_the_longest_remaining)
{
    /* at 2 job 2 (3) displaces job 0 (8 left), at 3 job 3 (3) displaces job 1 (5 left), which is back first, at 5 */
    SOLVED("srtf", 1, 2, NULL, NULL, {0, 10, 1, 0, 14}, {0, 8, 1, 0, 10}, {2, 3, 1, 2, 5}, {3, 3, 1, 3, 6});
}

Test(schedules, srtf_counts_what_is_left_of_a_displaced_job)
{
    /* job 0 gives way with 2 s left and is back before job 2, of 5 s */
    SOLVED("srtf", 1, 1, NULL, NULL, {0, 10, 1, 0, 11}, {8, 1, 1, 8, 9}, {8, 5, 1, 11, 16});
}

Test(schedules, srtf_does_not_displace_an_equal)
{
    SOLVED("srtf", 1, 1, NULL, NULL, {0, 10, 1, 0, 10}, {4, 6, 1, 10, 16});
}

Test(schedules, service_counts_where_gpus_times_the_clock_leave_64_bits)
{
    /* day 100, 2,048 GPUs: less service remains of the running job than of the one that comes */
    SOLVED("srsf", 1, 2048, NULL, NULL, {8640000, 100, 2048, 8640000, 8640100}, {8640010, 500, 2048, 8640100, 8640600});
    SOLVED("srsf", 1, 2048, NULL, NULL, {8640000, 100, 2048, 8640000, 8640150}, {8640010, 50, 2048, 8640010, 8640060});
}

Test(schedules, smallest_displaces_larger_jobs)
{
    SOLVED("smallest", 1, 4, NULL, NULL, {0, 10, 4, 0, 15}, {2, 5, 1, 2, 7});
}

Test(schedules, round_robin_serves_in_turns)
{
    /* quantum 2: A 0-2, B 2-4, A 4-6, B 6-7, A 7-8 */
    SOLVED("round_robin", 1, 1, "quantum", "2 s", {0, 5, 1, 0, 8}, {0, 3, 1, 2, 7});
}

Test(schedules, restart_overhead_is_paid_once_a_resume)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, "srtf");
    c->spec.overhead.start.constant_ns = 1 * S;
    c->spec.overhead.restart.constant_ns = 3 * S;
    case_job(c, 0, 10, 1); /* 0-1 start, 1-4 work (3 done), displaced at 4, back at 7 (1 + 2): 3 restart, 7 work: 17 */
    case_job(c, 4, 2, 1);
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 1), 7, 1e-9);
    cr_expect_float_eq(case_end_s(c, 0), 17, 1e-9);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[0].restarts, 1u);
    cr_expect_eq(c->r.jobs[0].overhead_ns, 4 * S);
    cr_expect_eq(c->r.jobs[0].run_ns, 14 * S);
    case_destroy(c);
}

Test(schedules, zero_length_jobs_start_and_end)
{
    SOLVED("fifo", 1, 1, NULL, NULL, {0, 0, 1, 0, 0}, {0, 0, 1, 0, 0}, {0, 2, 1, 0, 2}, {1, 0, 1, 2, 2}, {1, 0, 1, 2, 2});
}
