/* What a run adds up over time, on schedules solved by hand: allocated, available, free and useless GPU time, and the imbalance of nodes. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <math.h>

static void expect_s(const char *what, double is_ns, double wanted_s)
{
    cr_expect_float_eq(is_ns * 1e-9, wanted_s, 1e-9, "%s is %.12g s, not %.12g", what, is_ns * 1e-9, wanted_s);
}

Test(totals, free_useless_and_imbalance)
{
    /*  node 0 (2 GPUs)   aaaaaaaaaa       a: 1 GPU, 0-10
     *  node 1 (2 GPUs)   bbbbccc...       b: 2 GPUs, 0-4; c: 2 GPUs, comes at 2, waits for b, 4-7 */
    struct test_case *c = case_create(2, 2);
    const struct run_totals *t = &c->r.totals;
    case_job(c, 0, 10, 1);
    case_job(c, 0, 4, 2);
    case_job(c, 2, 3, 2);
    case_run(c);
    cr_assert_eq(c->r.jobs[2].start_ns, 4 * S);
    expect_s("allocated up to the last submission", t->allocated_gpu_ns_window, 3 * 2);
    expect_s("available up to it", t->capacity_gpu_ns_window, 4 * 2);
    expect_s("allocated", t->allocated_gpu_ns_makespan, 3 * 7 + 1 * 3);
    expect_s("available", t->capacity_gpu_ns_makespan, 4 * 10);
    expect_s("free", t->free_gpu_ns, 1 * 7 + 3 * 3);
    expect_s("useless", t->useless_gpu_ns, 1 * 2); /* while c waits beside the one free GPU */
    /* sd / mean: of 1 and 2 GPUs (1/2) / (3/2), of 1 and 0 (1/2) / (1/2) */
    expect_s("imbalance", t->imbalance_ns, 7.0 / 3 + 3);
    expect_s("time with GPUs in use", t->imbalance_span_ns, 10);
    case_destroy(c);
}

Test(totals, time_without_jobs_has_no_imbalance)
{
    struct test_case *c = case_create(3, 1); /* 0-2 and 5-6: one of three nodes in use: sd / mean = sqrt(2/9) / (1/3) */
    case_job(c, 0, 2, 1);
    case_job(c, 5, 1, 1);
    case_run(c);
    expect_s("imbalance", c->r.totals.imbalance_ns, 3 * sqrt(2));
    expect_s("time with GPUs in use", c->r.totals.imbalance_span_ns, 3);
    expect_s("free", c->r.totals.free_gpu_ns, 3 * 6 - 3);
    case_destroy(c);
}

Test(totals, a_quota_is_what_there_is)
{
    struct vc_change shrinks[] = {{10 * S, 2}};
    struct test_case *c = case_create(1, 8);
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 4, .changes = shrinks, .n_changes = 1};
    c->cluster.n_vcs = 1;
    c->jobs[case_job(c, 0, 20, 1)].vc = "a";
    c->jobs[case_job(c, 16, 4, 1)].vc = "a";
    case_run(c);
    expect_s("available up to the last submission", c->r.totals.capacity_gpu_ns_window, 4 * 10 + 2 * 6);
    expect_s("available", c->r.totals.capacity_gpu_ns_makespan, 4 * 10 + 2 * 10);
    case_destroy(c);
}

Test(totals, quotas_give_no_more_than_there_is)
{
    struct test_case *c = case_create(1, 8);
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 6};
    c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_GPUS, .amount = 6};
    c->cluster.n_vcs = 2;
    c->jobs[case_job(c, 0, 20, 6)].vc = "a";
    c->jobs[case_job(c, 0, 5, 2)].vc = "b";
    case_run(c);
    expect_s("available", c->r.totals.capacity_gpu_ns_makespan, 8 * 20);
    case_destroy(c);
}

/* Job 1 finds no place and is refused for it in the same round. */
static void refuse_what_does_not_fit(struct sched *s, uint32_t round)
{
    (void)round;
    for (uint32_t job = 0; job < sched_n_jobs(s); job++)
        if (sched_is_queued(s, job) && sched_start(s, job) == SCHED_E_NO_FIT)
            cr_expect_eq(sched_reject(s, job, "no_room"), SCHED_OK);
}

Test(totals, nothing_is_useless_when_nobody_waits)
{
    struct test_case *c = case_create(1, 4);
    case_job(c, 0, 10, 3);
    case_job(c, 1, 10, 2);
    cases_run_script(c, refuse_what_does_not_fit);
    cr_assert_eq(c->r.jobs[1].status, STATUS_REJECTED);
    expect_s("free", c->r.totals.free_gpu_ns, 10);
    expect_s("useless", c->r.totals.useless_gpu_ns, 0);
    case_destroy(c);
}
