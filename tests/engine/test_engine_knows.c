/* What a policy may know of a job, and what becomes of policies that go round in circles. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <string.h>

#define EXPECT(call, code) cr_expect_eq(call, code, "%s", sched_code_text(call))

/* ---- what a policy may know --------------------------------------------------------------------------------------- */

static void asks_undeclared(struct sched *s, uint32_t round)
{
    (void)round;
    int64_t out = 77;
    EXPECT(sched_duration_ns(s, 0, &out), SCHED_E_UNDECLARED);
    EXPECT(sched_estimate_ns(s, 0, &out), SCHED_E_UNDECLARED);
    EXPECT(sched_remaining_ns(s, 0, &out), SCHED_E_UNDECLARED);
    EXPECT(sched_run_ns(s, 0, &out), SCHED_E_UNDECLARED);
    EXPECT(sched_recorded_start_ns(s, 0, &out), SCHED_E_UNDECLARED);
    EXPECT(sched_deadline_ns(s, 0, &out), SCHED_E_UNDECLARED);
    cr_expect_eq(out, 77, "an accessor that refuses leaves its output alone");
    cases_start_all(s);
}

Test(knows, what_is_not_declared_is_not_told)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    cases_run_script(c, asks_undeclared);
    case_destroy(c);
}

static void asks_declared(struct sched *s, uint32_t round)
{
    int64_t out = 77;
    if (round == 0) {
        EXPECT(sched_duration_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 10 * S);
        EXPECT(sched_estimate_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 4 * S);
        EXPECT(sched_run_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 6 * S, "start overhead and estimate");
        out = 77;
        EXPECT(sched_recorded_start_ns(s, 0, &out), SCHED_E_ABSENT);
        EXPECT(sched_deadline_ns(s, 0, &out), SCHED_E_ABSENT);
        cr_expect_eq(out, 77);
    } else if (round == 1) { /* at 1 s: overhead until 2 s */
        EXPECT(sched_remaining_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 4 * S);
        EXPECT(sched_run_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 5 * S);
        EXPECT(sched_preempt(s, 0), SCHED_OK);
        EXPECT(sched_run_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 9 * S, "if it started now it would pay for the restart");
        EXPECT(sched_restore(s, 0), SCHED_OK);
    } else if (round == 2) { /* at 9 s: the estimate of 4 s has been used up since 6 s */
        EXPECT(sched_remaining_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 1);
        EXPECT(sched_run_ns(s, 0, &out), SCHED_OK);
        cr_expect_eq(out, 1);
        cr_expect_eq(sched_attained_ns(s, 0), 9 * S);
        cr_expect_eq(sched_attained_gpu_ns(s, 0), 18 * S);
        cr_expect_eq(sched_queued_ns(s, 0), 0);
        cr_expect_eq(sched_queued_ns(s, 1), 8 * S);
        cr_expect_eq(sched_starts(s, 0), 1u);
        cr_expect_eq(sched_starts(s, 1), 0u);
    }
    cases_start_all(s);
}

Test(knows, what_is_declared_is_told_from_the_estimate)
{
    struct test_case *c = case_create(1, 2);
    struct policy_ops ops = cases_script(asks_declared);
    ops.knows = KNOWS_DURATION | KNOWS_ESTIMATE | KNOWS_RECORD | KNOWS_DEADLINE;
    cases_use(c, &ops);
    c->spec.overhead.start.constant_ns = 2 * S;
    c->spec.overhead.restart.constant_ns = 5 * S;
    c->spec.estimate.source = ESTIMATE_TRACE;
    case_job(c, 0, 10, 2);
    case_job(c, 1, 1, 2);
    case_job(c, 9, 1, 2);
    for (int i = 0; i < 3; i++)
        c->jobs[i].estimate_ns = 4 * S;
    case_run(c);
    cr_expect_gt(cases_n_rounds, 2u);
    case_destroy(c);
}

/* ---- who asks, and for what --------------------------------------------------------------------------------------- */

static void asks_who(struct sched *s, uint32_t round)
{
    (void)round;
    cr_expect_eq(sched_n_users(s), 2u);
    cr_expect_eq(sched_n_vcs(s), 1u);
    cr_expect_str_eq(sched_user_name(s, sched_user(s, 1)), "bo");
    cr_expect_str_eq(sched_vc_name(s, sched_vc(s, 1)), "");
    cr_expect_eq(sched_cpu_milli(s, 0), 0u);
    cr_expect_eq(sched_cpu_milli(s, 1), 2500u);
    cr_expect_eq(sched_memory_kib(s, 1), 4096u);
    cr_expect_eq(sched_capacity_cpu_milli(s), 24000u, "2 x 8 and 1 x 8 cores");
    cr_expect_eq(sched_capacity_memory_kib(s), 0u, "one node's is unlimited");
    cases_start_all(s);
}

Test(knows, demands_and_names_are_open)
{
    struct test_case *c = case_create(2, 4);
    c->groups[0].cpu_milli = 8000;
    c->groups[0].memory_kib = 1 << 20;
    c->groups[1] = (struct node_group_spec){.count = 1, .gpus = 2, .gpu = "", .cpu_milli = 8000};
    c->cluster.n_groups = 2;
    case_job(c, 0, 10, 1);
    case_job(c, 0, 10, 1);
    c->jobs[0].user = "al";
    c->jobs[1].user = "bo";
    c->jobs[1].cpu_milli = 2500;
    c->jobs[1].mem_kib = 4096;
    cases_run_script(c, asks_who);
    case_destroy(c);
}

/* ---- policies that go round in circles ----------------------------------------------------------------------------- */

/* Of the jobs of this queue, another one runs after every round. */
static void swap_for_ever(struct sched *s, uint32_t round)
{
    (void)round;
    uint32_t next = UINT32_MAX;
    for (uint32_t j = 0; j < sched_n_jobs(s); j++)
        if (sched_is_queued(s, j) && sched_probe(s, j) != SCHED_E_SCOPE)
            next = j;
    for (uint32_t j = 0; j < sched_n_jobs(s); j++)
        if (sched_is_running(s, j))
            sched_preempt(s, j); /* those of the other queue refuse: SCHED_E_SCOPE */
    sched_start(s, next);
}

Test(circles, queues_that_preempt_at_each_other_for_ever_are_an_error)
{
    struct test_case *c = case_create(1, 2);
    struct policy_ops ops = cases_script(swap_for_ever);
    cases_use(c, &ops);
    c->spec.check = false; /* a million rounds */
    c->cluster.n_vcs = 2;
    for (uint32_t v = 0; v < 2; v++)
        c->vcs[v] = (struct vc_spec){.name = v == 0 ? "a" : "b", .mode = VC_GPUS, .amount = 1};
    for (uint32_t j = 0; j < 4; j++) {
        case_job(c, j / 2 * 5, 10, 1);
        c->jobs[j].vc = j % 2 == 0 ? "a" : "b";
    }
    cr_expect_eq(case_try(c), BRAID_FAILED);
    cr_expect(strstr(c->err.message, "does not settle") != NULL || strstr(c->err.message, "makes no progress") != NULL,
              "%s", c->err.message);
    case_destroy(c);
}

static void sleeper(struct sched *s, uint32_t round)
{
    (void)round;
    sched_wake_at(s, sched_now(s) + 1);
}

Test(circles, a_policy_that_only_wakes_itself_is_an_error)
{
    struct test_case *c = case_create(1, 1);
    struct policy_ops ops = cases_script(sleeper);
    cases_use(c, &ops);
    case_job(c, 0, 10, 1);
    cr_expect_eq(case_try(c), BRAID_FAILED);
    cr_expect_not_null(strstr(c->err.message, "wakes itself"), "%s", c->err.message);
    case_destroy(c);
}

Test(circles, jobs_that_never_outlive_their_overhead_are_an_error)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, "round_robin");
    case_param(c, "quantum", "1 s");
    c->spec.check = false;
    c->spec.overhead.restart.constant_ns = 5 * S;
    case_job(c, 0, 10, 1);
    case_job(c, 0, 10, 1);
    cr_expect_eq(case_try(c), BRAID_FAILED);
    cr_expect_not_null(strstr(c->err.message, "makes no progress"), "%s", c->err.message);
    case_destroy(c);
}

static void lazy(struct sched *s, uint32_t round)
{
    (void)s, (void)round;
}

Test(circles, a_policy_that_does_nothing_leaves_its_jobs_unfinished)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    cases_run_script(c, lazy);
    cr_expect_eq(c->r.jobs[0].status, STATUS_UNFINISHED);
    cr_expect_str_eq(c->r.jobs[0].reason, "never_started");
    case_destroy(c);
}
