/* Replay of the trace's own starts, by hand. */
#include "tests/harness.h"

#include <criterion/criterion.h>

static struct test_case *replay(uint32_t gpus)
{
    struct test_case *c = case_create(1, gpus);
    case_policy(c, "recorded");
    return c;
}

static uint32_t record(struct test_case *c, double submit, double duration, uint32_t gpus, double start)
{
    uint32_t job = case_job(c, submit, duration, gpus);
    c->jobs[job].recorded_start_ns = (int64_t)(start * 1e9);
    return job;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
}

Test(recorded, jobs_start_when_the_trace_says_though_gpus_are_free)
{
    struct test_case *c = replay(4);
    record(c, 0, 5, 1, 3.25);
    record(c, 1, 5, 1, 1);
    record(c, 1, 5, 4, 20);
    case_run(c);
    expect(c, 0, 3.25, 8.25);
    expect(c, 1, 1, 6);
    expect(c, 2, 20, 25);
    case_destroy(c);
}

Test(recorded, a_start_before_the_submission_is_clamped)
{
    struct test_case *c = replay(1);
    record(c, 10, 5, 1, 4);
    case_run(c);
    expect(c, 0, 10, 15);
    case_destroy(c);
}

Test(recorded, who_finds_no_gpus_starts_as_soon_as_it_fits_in_order_of_record)
{
    /*  0 runs 0-10 on 3 of 4 GPUs. 1 (2 GPUs, due 2) and 2 (2 GPUs, due 1) wait until 10, 2 is first; 3 (1 GPU, due 3) fits at once and
     *  passes both. At 10 GPUs are free for 2 and, as 3 ended at 9, for 1. */
    struct test_case *c = replay(4);
    record(c, 0, 10, 3, 0);
    record(c, 0, 5, 2, 2);
    record(c, 0, 5, 2, 1);
    record(c, 0, 6, 1, 3);
    record(c, 0, 1, 1, 10);
    case_run(c);
    expect(c, 1, 10, 15);
    expect(c, 2, 10, 15);
    expect(c, 3, 3, 9);
    expect(c, 4, 15, 16);
    case_destroy(c);
}

Test(recorded, the_order_of_record_decides_who_gets_the_last_gpus)
{
    struct test_case *c = replay(2);
    record(c, 0, 10, 2, 0);
    record(c, 0, 5, 2, 4);
    record(c, 0, 5, 2, 3);
    case_run(c);
    expect(c, 2, 10, 15);
    expect(c, 1, 15, 20);
    case_destroy(c);
}

Test(recorded, jobs_without_a_record_start_when_they_fit)
{
    struct test_case *c = replay(2);
    case_job(c, 0, 5, 2);
    record(c, 1, 5, 1, 12);
    case_job(c, 2, 5, 1);
    case_run(c);
    expect(c, 0, 0, 5);
    expect(c, 1, 12, 17);
    expect(c, 2, 5, 10);
    case_destroy(c);
}

Test(recorded, a_trace_without_records_runs_first_come_first_served)
{
    struct test_case *c = replay(2);
    case_job(c, 0, 5, 2);
    case_job(c, 1, 5, 2);
    case_run(c);
    expect(c, 1, 5, 10);
    case_destroy(c);
}

Test(recorded, its_own_result_replays_to_itself)
{
    struct test_case *c = case_create(4, 4), *again = case_create(4, 4);
    case_policy(c, "fifo_skip");
    case_policy(again, "recorded");
    uint32_t state = 7;
    double submit = 0;
    for (int i = 0; i < 300; i++) {
        state = state * 1664525u + 1013904223u;
        submit += (state >> 20) % 4;
        case_job(c, submit, 1 + (state >> 8) % 50, 1 + (state >> 16) % 6);
    }
    case_run(c);
    for (uint32_t i = 0; i < c->n_jobs; i++) {
        uint32_t job = case_job(again, (double)c->jobs[i].submit_ns * 1e-9, (double)c->jobs[i].duration_ns * 1e-9,
                                c->jobs[i].gpus);
        again->jobs[job].recorded_start_ns = c->r.jobs[i].start_ns;
    }
    case_placement(again, "count"); /* the pool holds whatever nodes held */
    case_run(again);
    uint32_t late = 0;
    for (uint32_t i = 0; i < c->n_jobs; i++)
        late += again->r.jobs[i].start_ns != again->jobs[i].recorded_start_ns;
    cr_expect_eq(late, 0u, "%u jobs do not start when recorded", late);
    case_destroy(c);
    case_destroy(again);
}
