/* antman on schedules solved by hand. Stages are storage, CPU, GPU, network; priority 1 is opportunistic. */
#include "tests/harness.h"

#include <criterion/criterion.h>

static struct test_case *shared(uint32_t nodes, uint32_t gpus)
{
    struct test_case *c = case_create(nodes, gpus);
    case_policy(c, "antman");
    c->sharing = (struct sharing_spec){.groups = 2, .order = INTERLEAVE_BEST};
    return c;
}

static uint32_t job_with(struct test_case *c, double submit, double duration, uint32_t gpus, bool is_opportunistic,
                         int storage, int gpu)
{
    uint32_t j = case_job(c, submit, duration, gpus);
    c->jobs[j].stage_ns[0] = storage * S;
    c->jobs[j].stage_ns[2] = gpu * S;
    c->jobs[j].iteration_ns = (storage + gpu) * S;
    c->jobs[j].priority = is_opportunistic;
    return j;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end, uint32_t preemptions)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-6, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-6, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
    cr_expect_eq(c->r.jobs[job].preemptions, preemptions, "job %u is preempted %u times", job,
                 c->r.jobs[job].preemptions);
}

Test(antman, an_opportunistic_job_shares_where_the_guaranteed_one_does_not_suffer)
{
    /* storage 1 s and GPU 1 s each: they braid perfectly */
    struct test_case *c = shared(1, 1);
    job_with(c, 0, 40, 1, false, 1, 1);
    job_with(c, 10, 20, 1, true, 1, 1);
    case_run(c);
    expect(c, 0, 0, 40, 0);
    expect(c, 1, 10, 30, 0);
    case_destroy(c);
}

Test(antman, where_it_would_suffer_the_opportunistic_job_waits)
{
    /* all on the GPU: both would go at half speed */
    struct test_case *c = shared(1, 1);
    job_with(c, 0, 40, 1, false, 0, 2);
    job_with(c, 10, 20, 1, true, 0, 2);
    case_run(c);
    expect(c, 0, 0, 40, 0);
    expect(c, 1, 40, 60, 0);
    case_destroy(c);
    c = shared(1, 1);
    case_param(c, "guaranteed_rate",
               "0.5"); /* … unless that is allowed: 10 + 20 s x 2, then alone; 10 + 30 left at half speed until 50 */
    job_with(c, 0, 40, 1, false, 0, 2);
    job_with(c, 10, 20, 1, true, 0, 2);
    case_run(c);
    expect(c, 1, 10, 50, 0);
    expect(c, 0, 0, 60, 0);
    case_destroy(c);
}

Test(antman, it_is_the_guaranteed_job_that_must_not_suffer)
{
    /* beside an iteration of 11 s one of 2 s goes at 2/11: a guaranteed job is not put to that, an opportunistic one may be */
    struct test_case *c = shared(1, 1);
    job_with(c, 0, 40, 1, false, 1, 1);
    job_with(c, 10, 22, 1, true, 1, 10);
    case_run(c);
    expect(c, 0, 0, 40, 0);
    expect(c, 1, 40, 62, 0);
    case_destroy(c);
    c = shared(1, 1); /* storage 1 s while the other computes for 10 s: a tenth of its pace, and 2 s take 20 */
    job_with(c, 0, 100, 1, false, 0, 10);
    job_with(c, 10, 2, 1, true, 1, 0);
    case_run(c);
    expect(c, 0, 0, 100, 0);
    expect(c, 1, 10, 30, 0);
    case_destroy(c);
}

Test(antman, guaranteed_jobs_take_gpus_back_from_the_latest_opportunistic_one)
{
    struct test_case *c = shared(1, 2);
    job_with(c, 0, 100, 1, true, 0, 2);
    job_with(c, 1, 100, 1, true, 0, 2);
    job_with(c, 10, 20, 1, false, 0, 2);
    case_run(c);
    expect(c, 0, 0, 100, 0);
    expect(c, 2, 10, 30, 0);
    expect(c, 1, 1, 121, 1);
    case_destroy(c);
}

Test(antman, who_is_left_over_keeps_the_gpus_until_somebody_is_due_them)
{
    /* G ends at 20, o runs on; a guaranteed job comes at 30 and takes the GPU, and o joins it at once: storage and GPU braid */
    struct test_case *c = shared(1, 1);
    job_with(c, 0, 20, 1, false, 1, 1);
    job_with(c, 0, 60, 1, true, 1, 1);
    job_with(c, 30, 20, 1, false, 1, 1);
    case_run(c);
    expect(c, 0, 0, 20, 0);
    expect(c, 2, 30, 50, 0);
    cr_expect_float_eq(case_start_s(c, 1), 0, 1e-9);
    cr_expect_float_eq(case_end_s(c, 1), 60, 1e-6, "%g", case_end_s(c, 1));
    case_destroy(c);
}

Test(antman, guaranteed_jobs_are_served_first_come_first_served)
{
    /* B of 2 GPUs waits behind A; C of 1 GPU, guaranteed, may not pass it, D, opportunistic, may use the idle one until B is due */
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        struct test_case *c = shared(1, 2);
        case_param(c, "fill", is_strict ? "strict" : "skip");
        job_with(c, 0, 20, 1, false, 0, 2);
        job_with(c, 1, 10, 2, false, 0, 2);
        job_with(c, 2, 10, 1, false, 0, 2);
        job_with(c, 3, 50, 1, true, 0, 2);
        case_run(c);
        if (is_strict) {
            expect(c, 1, 20, 30, 0);
            expect(c, 2, 30, 40, 0);
            expect(c, 3, 3, 63, 1);
        } else {
            expect(c, 1, 20, 30, 0);
            expect(c, 2, 2, 12, 0);
        }
        case_destroy(c);
    }
}

Test(antman, without_a_sharing_model_idle_gpus_are_all_there_is)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, "antman");
    job_with(c, 0, 40, 1, false, 1, 1);
    job_with(c, 10, 20, 1, true, 1, 1);
    case_run(c);
    expect(c, 1, 40, 60, 0);
    case_destroy(c);
}

/* 10 GiB a GPU; o needs 4. Beside h1 it would go as fast as beside h2, or faster, but h1 leaves 2: it goes to h2 at once. */
Test(antman, a_host_without_the_memory_leaves_the_job_to_the_next_one)
{
    for (int is_faster = 0; is_faster < 2; is_faster++) {
        struct test_case *c = shared(1, 2);
        case_param(c, "guaranteed_rate", "0.5");
        c->groups[0].gpu_memory_kib = 10u << 20;
        uint32_t h1 = job_with(c, 0, 1000, 1, false, is_faster ? 0 : 1, 1), h2 = job_with(c, 0, 1000, 1, false, 1, 1),
                 o = job_with(c, 10, 100, 1, true, 1, 0);
        c->jobs[h1].gpu_mem_kib = 8u << 20;
        c->jobs[h2].gpu_mem_kib = 1u << 20;
        c->jobs[o].gpu_mem_kib = 4u << 20;
        case_run(c);
        cr_expect_eq(case_start_s(c, o), 10, "%g", case_start_s(c, o));
        cr_expect_float_eq(case_end_s(c, h1), 1000, 1e-6);
        case_destroy(c);
    }
}
