/* Conservative backfilling: schedules solved by hand, then random ones against a naive planner with plain arrays. */
#include "tests/engine/cases.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct test_case *conservative(uint32_t nodes, uint32_t gpus)
{
    struct test_case *c = case_create(nodes, gpus);
    case_policy(c, "conservative");
    return c;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
}

/* One node of 4 GPUs.
 *
 *   conservative                                    easy
 *   GPU 3 ...eeeeeee.....CCCCC                      GPU 3 ...dddddddddddddddddddd CCCCC
 *   GPU 2 AAAAAAAAAA.....CCCCC                      GPU 2 AAAAAAAAAA eeeeeee      CCCCC
 *   GPU 1 AAAAAAAAAABBBBBBBBBBCCCCC                 GPU 1 AAAAAAAAAA BBBBBBBBBB   CCCCC
 *   GPU 0 AAAAAAAAAABBBBBBBBBBCCCCC ddd..ddd        GPU 0 AAAAAAAAAA BBBBBBBBBB   CCCCC
 *         0         10        20   25      45             0          10        20 23   28
 *
 * A (3 GPUs, 10 s) runs. B (2, 10 s) is promised 10, C (4, 5 s) 20. d (1, 20 s) may not take the free GPU at 3: it would still hold it at 20
 * and delay C, so it gets 25. e (1, 7 s) may: it is gone by 11. Under easy only B holds a reservation, d leaves it whole (two GPUs are over at
 * 10) and starts at once: C waits until 23. e finds no GPU free before 10. */
static struct test_case *parting_case(const char *policy)
{
    struct test_case *c = case_create(1, 4);
    case_policy(c, policy);
    case_job(c, 0, 10, 3);
    case_job(c, 1, 10, 2);
    case_job(c, 2, 5, 4);
    case_job(c, 3, 20, 1);
    case_job(c, 4, 7, 1);
    case_run(c);
    return c;
}

Test(conservative, keeps_a_promise_that_easy_does_not_make)
{
    struct test_case *c = parting_case("conservative");
    expect(c, 0, 0, 10);
    expect(c, 1, 10, 20);
    expect(c, 2, 20, 25);
    expect(c, 3, 25, 45);
    expect(c, 4, 4, 11);
    case_destroy(c);
    c = parting_case("easy");
    expect(c, 0, 0, 10);
    expect(c, 1, 10, 20);
    expect(c, 2, 23, 28);
    expect(c, 3, 3, 23);
    expect(c, 4, 10, 17);
    case_destroy(c);
}

Test(conservative, plans_to_the_node)
{
    /* Two nodes of 4, A and B hold 3 GPUs of one each. C (2 GPUs) finds two free, but not on one node: it is promised node 0 at 10.
     * D (1 GPU, 20 s) may take either free one: on both it leaves one GPU over, so the first. E (4 GPUs) is promised node 1 at 12. */
    struct test_case *c = conservative(2, 4);
    case_job(c, 0, 10, 3);
    case_job(c, 0, 12, 3);
    case_job(c, 1, 5, 2);
    case_job(c, 2, 20, 1);
    case_job(c, 3, 5, 4);
    case_run(c);
    expect(c, 2, 10, 15);
    expect(c, 3, 2, 22);
    expect(c, 4, 12, 17);
    case_destroy(c);
}

Test(conservative, a_job_larger_than_a_node_waits_for_whole_nodes)
{
    /* Three nodes of 4; A holds 1 GPU of node 0 until 30, B one of node 1 until 10. C (10 GPUs: two whole nodes and 2 GPUs) is promised 10:
     * nodes 1 and 2, the rest beside A. D (4 GPUs, 9 s) fits before it on node 2 at 2, E (4 GPUs, 9 s) at 3 does not. */
    struct test_case *c = conservative(3, 4);
    case_job(c, 0, 30, 1);
    case_job(c, 0, 10, 4);
    case_job(c, 1, 5, 10);
    case_job(c, 2, 8, 4);
    case_job(c, 3, 8, 4);
    case_run(c);
    expect(c, 2, 10, 15);
    expect(c, 3, 2, 10);
    expect(c, 4, 15, 23);
    case_destroy(c);
}

Test(conservative, an_early_end_lets_jobs_move_forward_in_order)
{
    /* A is predicted to run 10 s and ends at 4: B moves from 10 to 4, and C from 15 to 9 */
    struct test_case *c = conservative(1, 2);
    c->spec.estimate.source = ESTIMATE_TRACE;
    c->jobs[case_job(c, 0, 4, 2)].estimate_ns = 10 * S;
    c->jobs[case_job(c, 1, 5, 2)].estimate_ns = 5 * S;
    c->jobs[case_job(c, 2, 5, 2)].estimate_ns = 5 * S;
    case_run(c);
    expect(c, 1, 4, 9);
    expect(c, 2, 9, 14);
    case_destroy(c);
}

Test(conservative, what_one_gives_up_a_job_before_it_may_have)
{
    /* A and B end at 6, long before they were predicted to. C (both GPUs) may move to 9002 only, as D is in its way at 9000; D moves to
     * 6, and then C to 8. */
    struct test_case *c = conservative(1, 2);
    c->spec.estimate.source = ESTIMATE_TRACE;
    c->jobs[case_job(c, 0, 6, 1)].estimate_ns = 9000 * S;
    c->jobs[case_job(c, 1, 5, 1)].estimate_ns = 20000 * S;
    c->jobs[case_job(c, 3, 10000, 2)].estimate_ns = 10000 * S;
    c->jobs[case_job(c, 5, 2, 1)].estimate_ns = 2 * S;
    case_run(c);
    expect(c, 3, 6, 8);
    expect(c, 2, 8, 10008);
    case_destroy(c);
}

/* ---- more than GPUs: the same reservation under every policy that promises one ------------------------- */

struct three {
    const char *what;
    uint32_t gpus[3], cpus[3], gib[3]; /* of R (0-100 s), head (50 s) and long (500 s) */
    const char *type[3];
};

static void check_head(const char *policy, const char *placement, const struct three *t)
{
    struct test_case *c = case_create(1, 8);
    case_policy(c, policy);
    case_placement(c, placement);
    bool is_typed = t->type[0] != NULL;
    c->groups[0] = (struct node_group_spec){
        .count = 1, .gpus = 8, .gpu = is_typed ? "a" : "", .cpu_milli = 64000, .memory_kib = UINT64_C(100) << 20};
    c->groups[1] = (struct node_group_spec){.count = 1, .gpus = 8, .gpu = "b"};
    c->cluster.n_groups = is_typed ? 2 : 1;
    for (uint32_t i = 0; i < 3; i++) {
        static const double run[] = {100, 50, 500};
        struct case_job *j = &c->jobs[case_job(c, i, run[i], t->gpus[i])];
        j->cpu_milli = t->cpus[i] * 1000;
        j->mem_kib = (uint64_t)t->gib[i] << 20;
        j->gpu_type = t->type[i];
    }
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 1), 100, 1e-6, "%s, %s, %s: the head starts at %g s", policy, placement, t->what,
                       case_start_s(c, 1));
    cr_expect_geq(case_start_s(c, 2), 100.0, "%s, %s, %s", policy, placement, t->what);
    case_destroy(c);
}

Test(conservative, the_head_is_not_delayed_by_want_of_anything)
{
    static const struct three cases[] = {
        {"memory", {1, 1, 1}, {8, 8, 8}, {60, 80, 30}, {NULL}},
        {"CPUs", {1, 1, 1}, {40, 60, 8}, {0, 0, 0}, {NULL}},
        {"GPUs", {5, 8, 2}, {0, 0, 0}, {0, 0, 0}, {NULL}},
        {"type", {4, 8, 4}, {0, 0, 0}, {0, 0, 0}, {"a", "a", "a"}},
        {"memory of a type", {1, 1, 1}, {1, 1, 1}, {60, 80, 30}, {"a", "a", "a"}},
    };
    static const char *const policies[] = {"easy", "conservative", "sjf_easy"};
    static const char *const placements[] = {"consolidate", "count", "spread", "rack_local"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
            for (size_t k = 0; k < sizeof placements / sizeof *placements; k++)
                check_head(policies[p], placements[k], &cases[i]);
}

/* CPUs are short on nodes whose GPUs are not all taken: jobs that are due at the same instant, on several nodes each, all start where they are
 * planned, and the nodes stay known. */
Test(conservative, nodes_stay_known_where_cpus_are_short)
{
    for (uint32_t n = 4; n <= 10; n++) {
        struct test_case *c = conservative(n, 4);
        c->groups[0].cpu_milli = 8000;
        c->jobs[case_job(c, 0, 100000, 1)].cpu_milli = 8000;
        for (uint32_t i = 0; i + 1 < n; i++)
            c->jobs[case_job(c, 0, 100, 4)].cpu_milli = 1000;
        c->jobs[case_job(c, 1, 50, 2)].cpu_milli = 4000;
        for (uint32_t i = 0; i < 3 * n; i++)
            c->jobs[case_job(c, 2, 50 + i % 7, 4)].cpu_milli = 1000;
        case_run(c);
        expect(c, n, 100, 150); /* beside the first ones of 4 GPUs */
        for (uint32_t i = n + 1; i + 2 < 2 * n; i++)
            cr_expect_float_eq(case_start_s(c, i), 100, 1e-9, "%u nodes: job %u starts at %g s", n, i,
                               case_start_s(c, i));
        case_destroy(c);
    }
}

Test(conservative, unlike_nodes_of_several_types)
{
    static const struct {
        double submit, run;
        uint32_t gpus;
        const char *type;
    } jobs[] = {{28.6, 102, 30, NULL},   {35.9, 226, 4, "a100"}, {39.4, 173, 4, "a100"}, {83.9, 193, 8, NULL},
                {105.8, 132, 4, "a100"}, {111.2, 213, 8, NULL},  {125.06, 62, 8, "a100"}};
    struct test_case *c = conservative(4, 4);
    case_placement(c, "rack_local");
    c->groups[0].gpu = "t4";
    c->groups[1] = (struct node_group_spec){.count = 4, .gpus = 8, .gpu = "a100"};
    c->groups[2] = (struct node_group_spec){.count = 4, .gpus = 3, .gpu = "a100"};
    c->cluster.n_groups = 3;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        c->jobs[case_job(c, jobs[i].submit, jobs[i].run, jobs[i].gpus)].gpu_type = jobs[i].type;
    case_run(c);
    for (uint32_t i = 0; i < c->n_jobs; i++)
        cr_expect_eq(c->r.jobs[i].status, STATUS_FINISHED);
    /* 30 GPUs: three nodes of 8, one of 4, and 2 of the fourth of 8 or of one of 4 or 3 */
    expect(c, 1, 35.9, 261.9);
    case_destroy(c);
}

/* One rule for jobs beyond their estimates. A (3 of 4 GPUs, predicted 10 s, runs 1000) is predicted at 20 to run until 40: C (5 s) may pass B, which
 * waits for all four. `now` takes A to end at any moment: nothing that needs the GPU may start. */
Test(conservative, the_rule_for_overruns_is_that_of_easy)
{
    for (int i = 0; i < 3; i++) {
        struct test_case *c = case_create(1, 4);
        case_policy(c, i == 0 ? "conservative" : "easy");
        case_placement(c, "count");
        if (i == 2)
            case_param(c, "overrun", "now");
        c->spec.estimate.source = ESTIMATE_TRACE;
        c->jobs[case_job(c, 0, 1000, 3)].estimate_ns = 10 * S;
        c->jobs[case_job(c, 1, 100, 4)].estimate_ns = 100 * S;
        c->jobs[case_job(c, 20, 5, 1)].estimate_ns = 5 * S;
        case_run(c);
        expect(c, 1, 1000, 1100);
        if (i < 2)
            expect(c, 2, 20, 25);
        else
            expect(c, 2, 1100, 1105);
        case_destroy(c);
    }
}

/* srtf: at 30 A has run 30 s of predicted 10 and is taken to go on until 40. B (5 s) displaces it, C (20 s) does not; by `now` A has
 * nothing left and stays. */
Test(conservative, the_rule_for_overruns_is_that_of_srtf)
{
    for (int i = 0; i < 2; i++) {
        struct test_case *c = case_create(1, 1);
        case_policy(c, "srtf");
        case_param(c, "overrun", i == 0 ? "double" : "now");
        c->spec.estimate.source = ESTIMATE_TRACE;
        c->jobs[case_job(c, 0, 39, 1)].estimate_ns = 10 * S;
        c->jobs[case_job(c, 30, 5, 1)].estimate_ns = 5 * S;
        c->jobs[case_job(c, 30, 20, 1)].estimate_ns = 20 * S;
        case_run(c);
        expect(c, 0, 0, i == 0 ? 44 : 39);
        expect(c, 1, i == 0 ? 30 : 39, i == 0 ? 35 : 44);
        expect(c, 2, 44, 64);
        case_destroy(c);
    }
}

Test(conservative, an_overrun_puts_off_those_behind_it)
{
    /* A is predicted to run 4 s and runs 10: at 4 its end is put off to 8, at 8 to 16. B waits; C (1 s) may not pass B before 4, as B is
     * promised 4, but at 8 B is promised 16, and a job that ends by then on the free GPU delays nobody: it started at 2 anyway. */
    struct test_case *c = conservative(1, 2);
    c->spec.estimate.source = ESTIMATE_TRACE;
    c->jobs[case_job(c, 0, 10, 1)].estimate_ns = 4 * S;
    c->jobs[case_job(c, 1, 5, 2)].estimate_ns = 5 * S;
    c->jobs[case_job(c, 2, 6, 1)].estimate_ns =
        6 * S; /* would hold the GPU until 8 > 4; at 4 B is put off to 8: 4 + 6 > 8; at 8 to 16: goes */
    case_run(c);
    expect(c, 0, 0, 10);
    expect(c, 2, 8, 14);
    expect(c, 1, 14, 19);
    case_destroy(c);
}

Test(conservative, counts_where_any_gpus_will_do)
{
    /* under `count` C needs no node of its own: two GPUs are free */
    struct test_case *c = conservative(2, 4);
    case_placement(c, "count");
    case_job(c, 0, 10, 3);
    case_job(c, 0, 12, 3);
    case_job(c, 1, 5, 2);
    case_run(c);
    expect(c, 2, 1, 6);
    case_destroy(c);
}

Test(conservative, overhead_is_part_of_the_plan)
{
    /* A takes 2 + 10 s, so B is promised 12; C (1 GPU, 2 + 8 s) is gone by 12, D (2 + 9 s) is not */
    struct test_case *c = conservative(1, 2);
    c->spec.overhead.start.constant_ns = 2 * S;
    case_job(c, 0, 10, 1);
    case_job(c, 1, 5, 2);
    case_job(c, 2, 8, 1);
    case_run(c);
    expect(c, 0, 0, 12);
    expect(c, 2, 2, 12);
    expect(c, 1, 12, 19);
    case_destroy(c);
}

Test(conservative, jobs_of_no_length_start_and_end)
{
    struct test_case *c = conservative(1, 1);
    case_job(c, 0, 0, 1);
    case_job(c, 0, 2, 1);
    case_job(c, 1, 0, 1);
    case_job(c, 1, 1, 1);
    case_run(c);
    expect(c, 0, 0, 0);
    expect(c, 1, 0, 2);
    expect(c, 2, 2, 2);
    expect(c, 3, 2, 3);
    case_destroy(c);
}

Test(conservative, with_depth_only_the_head_of_the_queue_holds_reservations)
{
    /* depth 1: B alone holds one. C could run beside A until B's start, but is not looked at before B has gone. */
    struct test_case *c = conservative(1, 2);
    case_param(c, "depth", "1");
    case_job(c, 0, 10, 1);
    case_job(c, 1, 5, 2);
    case_job(c, 2, 3, 1);
    case_run(c);
    expect(c, 1, 10, 15);
    expect(c, 2, 15, 18);
    case_destroy(c);
}

/* ---- quotas ----------------------------------------------------------------------------------------- */

Test(conservative, a_quota_of_none_keeps_jobs_waiting_until_it_returns)
{
    struct test_case *c = conservative(2, 4);
    static struct vc_change changes[] = {{5 * S, 0}, {20 * S, 8}};
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 8, .changes = changes, .n_changes = 2};
    c->cluster.n_vcs = 1;
    c->jobs[case_job(c, 0, 10, 8)].vc = "a"; /* drains */
    c->jobs[case_job(c, 1, 10, 4)].vc = "a";
    c->jobs[case_job(c, 6, 1, 1)].vc = "a";
    case_run(c);
    expect(c, 0, 0, 10);
    expect(c, 1, 20, 30);
    expect(c, 2, 20, 21);
    case_destroy(c);
}

Test(conservative, a_job_too_large_for_the_present_quota_holds_back_nobody)
{
    struct test_case *c = conservative(2, 4);
    static struct vc_change changes[] = {{5 * S, 4}, {20 * S, 8}};
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 8, .changes = changes, .n_changes = 2};
    c->cluster.n_vcs = 1;
    c->jobs[case_job(c, 0, 10, 4)].vc = "a";
    c->jobs[case_job(c, 1, 10, 8)].vc = "a";
    c->jobs[case_job(c, 6, 2, 4)].vc = "a";
    c->jobs[case_job(c, 7, 30, 2)].vc = "a";
    case_run(c);
    expect(c, 2, 10, 12);
    expect(c, 3, 12, 42);
    expect(c, 1, 42, 52);
    case_destroy(c);
}

Test(conservative, a_shrinking_quota_sends_the_latest_back_to_their_place_in_the_queue)
{
    struct test_case *c = conservative(2, 4);
    static struct vc_change changes[] = {{5 * S, 4}};
    c->vcs[0] = (struct vc_spec){
        .name = "a", .mode = VC_GPUS, .amount = 8, .shrink = VC_PREEMPT, .changes = changes, .n_changes = 1};
    c->cluster.n_vcs = 1;
    c->jobs[case_job(c, 0, 10, 4)].vc = "a";
    c->jobs[case_job(c, 1, 10, 4)].vc = "a"; /* has run 4 of 10 s at 5 */
    c->jobs[case_job(c, 2, 10, 4)].vc = "a";
    case_run(c);
    expect(c, 0, 0, 10);
    expect(c, 1, 1, 16);
    expect(c, 2, 16, 26);
    case_destroy(c);
}

Test(conservative, nodes_that_another_queue_uses_are_tried_again)
{
    /* Both queues may use all 8 GPUs of two nodes. a's 3 GPUs are on node 0, b's 3 on node 1: at 1 a has 5 GPUs of quota left and two are
     * free, but not on one node. They are at 10. */
    struct test_case *c = conservative(2, 4);
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 8};
    c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_GPUS, .amount = 8};
    c->cluster.n_vcs = 2;
    c->jobs[case_job(c, 0, 12, 3)].vc = "a";
    c->jobs[case_job(c, 0, 10, 3)].vc = "b";
    c->jobs[case_job(c, 1, 5, 2)].vc = "a";
    c->jobs[case_job(c, 2, 4, 4)].vc = "b";
    case_run(c);
    expect(c, 0, 0, 12);
    expect(c, 1, 0, 10);
    expect(c, 2, 10, 15);
    expect(c, 3, 12, 16);
    case_destroy(c);
}

Test(conservative, shared_quotas_always_drain)
{
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct test_case *c = conservative(4, 4);
        static struct vc_change changes[] = {{40 * S, 2}, {60 * S, 0}, {90 * S, 12}};
        for (uint32_t v = 0; v < 3; v++)
            c->vcs[v] =
                (struct vc_spec){.name = (const char *[]){"a", "b", "c"}[v], .mode = VC_GPUS, .amount = 8 + 4 * v};
        c->vcs[1].changes = changes;
        c->vcs[1].n_changes = 3;
        c->vcs[1].shrink = seed % 2 == 0 ? VC_DRAIN : VC_PREEMPT;
        c->cluster.n_vcs = 3;
        c->spec.estimate.source = ESTIMATE_TRACE;
        uint32_t state = seed * 2654435761u + 1;
        double submit = 0;
        for (int i = 0; i < 120; i++) {
            state = state * 1664525u + 1013904223u;
            submit += (state >> 25) % 4;
            uint32_t job = case_job(c, submit, (state >> 8) % 20, 1 + (state >> 14) % 8);
            c->jobs[job].vc = c->vcs[(state >> 18) % 3].name;
            c->jobs[job].estimate_ns = S * (1 + (state >> 20) % 20);
        }
        case_run(c);
        for (uint32_t i = 0; i < c->n_jobs; i++)
            cr_assert_eq(c->r.jobs[i].status, STATUS_FINISHED, "seed %u: job %u is %s", seed, i,
                         job_status_text(c->r.jobs[i].status));
        case_destroy(c);
    }
}

/* ---- a naive planner ----------------------------------------------------------------------------------
 *
 * Every question is answered from the list of all running and promised jobs; a start can only be now or where one of them ends. */

enum { LINES = 5, JOBS = 60 };

enum naive_state { OUTSIDE, FRESH, PROMISED, RUNS, GONE };

struct naive_job {
    int64_t submit, duration, estimate, gpus;
    int64_t start, end, first; /* promised or real start, predicted end, first promise */
    int64_t share[LINES];
    enum naive_state state;
    int64_t ended;
};

struct naive {
    int64_t size[LINES];
    uint32_t n_lines, n;
    struct naive_job jobs[JOBS];
    int64_t now;
};

static bool holds(const struct naive_job *j)
{
    return j->state == PROMISED || j->state == RUNS;
}

static int64_t free_at(const struct naive *x, uint32_t line, int64_t t)
{
    int64_t free = x->size[line];
    for (uint32_t i = 0; i < x->n; i++)
        if (holds(&x->jobs[i]) && x->jobs[i].start <= t && t < x->jobs[i].end)
            free -= x->jobs[i].share[line];
    return free;
}

/* Free can only shrink where something starts. */
static int64_t free_over(const struct naive *x, uint32_t line, int64_t from, int64_t to)
{
    int64_t least = free_at(x, line, from);
    for (uint32_t i = 0; i < x->n; i++)
        if (holds(&x->jobs[i]) && x->jobs[i].start > from && x->jobs[i].start < to) {
            int64_t free = free_at(x, line, x->jobs[i].start);
            least = free < least ? free : least;
        }
    return least;
}

static bool place_rest(const struct naive *x, int64_t t, int64_t length, int64_t gpus, int64_t *share)
{
    int best = -1;
    for (uint32_t l = 0; l < x->n_lines; l++)
        if (share[l] == 0 && free_over(x, l, t, t + length) >= gpus &&
            (best < 0 || free_over(x, l, t, t + length) < free_over(x, (uint32_t)best, t, t + length)))
            best = (int)l;
    if (best >= 0)
        share[best] = gpus;
    return best >= 0;
}

static bool place(const struct naive *x, int64_t t, int64_t length, int64_t gpus, int64_t *share)
{
    int64_t largest = 0;
    for (uint32_t l = 0; l < x->n_lines; l++) {
        share[l] = 0;
        largest = x->size[l] > largest ? x->size[l] : largest;
    }
    if (gpus > largest)
        for (int64_t size = largest; size > 0; size--)
            for (uint32_t l = 0; l < x->n_lines; l++)
                if (x->size[l] == size && size <= gpus && free_over(x, l, t, t + length) == size) {
                    share[l] = size;
                    gpus -= size;
                }
    return gpus == 0 || place_rest(x, t, length, gpus, share);
}

/* The earliest start before `limit`. */
static bool promise(struct naive *x, struct naive_job *j, int64_t limit)
{
    int64_t at[JOBS + 1], share[LINES];
    uint32_t n = 0;
    at[n++] = x->now;
    for (uint32_t i = 0; i < x->n; i++)
        if (holds(&x->jobs[i]) && x->jobs[i].end > x->now) {
            uint32_t k = n++;
            for (; k > 0 && at[k - 1] > x->jobs[i].end; k--)
                at[k] = at[k - 1];
            at[k] = x->jobs[i].end;
        }
    for (uint32_t k = 0; k < n && at[k] < limit; k++)
        if (place(x, at[k], j->estimate, j->gpus, share)) {
            j->start = at[k];
            j->end = at[k] + j->estimate;
            j->state = PROMISED;
            memcpy(j->share, share, sizeof share);
            return true;
        }
    return false;
}

static bool is_in_the_way(struct naive *x, struct naive_job *j)
{
    bool fits = true;
    j->state = FRESH;
    for (uint32_t l = 0; l < x->n_lines; l++)
        fits &= j->share[l] == 0 || free_over(x, l, j->start, j->end) >= j->share[l];
    j->state = PROMISED;
    return !fits;
}

static bool put_off(struct naive *x) /* true: promises were made anew */
{
    bool any = false, anew = false;
    for (uint32_t i = 0; i < x->n; i++) {
        struct naive_job *j = &x->jobs[i];
        for (; j->state == RUNS && j->end <= x->now; any = true) {
            int64_t ran = j->end - j->start;
            j->end += ran < S ? S : ran;
        }
    }
    if (!any)
        return false;
    struct naive_job all[JOBS];
    memcpy(all, x->jobs, sizeof all);
    for (uint32_t i = 0; i < x->n; i++)
        if (x->jobs[i].state == PROMISED)
            x->jobs[i].state = FRESH;
    for (uint32_t i = 0; i < x->n; i++)
        if (all[i].state == PROMISED) {
            x->jobs[i].state = PROMISED;
            anew |= is_in_the_way(x, &x->jobs[i]);
            if (anew) {
                x->jobs[i].state = FRESH;
                cr_assert(promise(x, &x->jobs[i], INT64_MAX));
            }
        }
    return anew;
}

/* May the promise move to an earlier instant, beside all others? Then it does. */
static bool moves_forward(struct naive *x, struct naive_job *j)
{
    struct naive_job before = *j;
    if (j->state != PROMISED)
        return false;
    j->state = FRESH;
    if (promise(x, j, before.start))
        return true;
    *j = before;
    return false;
}

/* Until nobody moves. */
static void move_forward(struct naive *x)
{
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < x->n; i++)
            any |= moves_forward(x, &x->jobs[i]);
    }
}

/* An arrival, an end, a promised start; while jobs wait, also a predicted end. */
static int64_t next_instant(const struct naive *x)
{
    int64_t next = INT64_MAX;
    bool any_waits = false;
    for (uint32_t i = 0; i < x->n; i++)
        any_waits |= x->jobs[i].state == PROMISED;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct naive_job *j = &x->jobs[i];
        int64_t t = INT64_MAX;
        if (j->state == OUTSIDE)
            t = j->submit;
        else if (j->state == PROMISED)
            t = j->start;
        else if (j->state == RUNS)
            t = any_waits && j->end < j->start + j->duration ? j->end : j->start + j->duration;
        next = t < next ? t : next;
    }
    return next;
}

static void naive_run(struct naive *x)
{
    while ((x->now = next_instant(x)) != INT64_MAX) {
        bool is_early = false;
        for (uint32_t i = 0; i < x->n; i++) {
            struct naive_job *j = &x->jobs[i];
            if (j->state == RUNS && j->start + j->duration == x->now) {
                is_early |= j->end > x->now;
                j->state = GONE;
                j->ended = x->now;
            } else if (j->state == OUTSIDE && j->submit == x->now) {
                j->state = FRESH;
            }
        }
        is_early |= put_off(x);
        if (is_early)
            move_forward(x);
        for (uint32_t i = 0; i < x->n; i++) {
            struct naive_job *j = &x->jobs[i];
            if (j->state == FRESH) {
                cr_assert(promise(x, j, INT64_MAX));
                j->first = j->start;
            }
            if (j->state == PROMISED && j->start == x->now)
                j->state = RUNS;
        }
        for (uint32_t i = 0; i < x->n; i++)
            cr_assert(!moves_forward(x, &x->jobs[i]),
                      "job %u waits at %g s, though it could start earlier beside all others", i,
                      (double)x->now * 1e-9);
    }
}

enum estimates { EXACT, TOO_LONG, WRONG };

static uint32_t draw(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static void against_naive(uint32_t seed, const int64_t *sizes, uint32_t n_lines, bool is_pool, enum estimates kind)
{
    uint32_t state = seed * 2654435761u + 1, all = 0;
    struct naive *x = calloc(1, sizeof *x);
    struct test_case *c = conservative(1, 1);
    cr_assert_not_null(x);
    c->cluster.n_groups = n_lines;
    for (uint32_t l = 0; l < n_lines; l++) {
        c->groups[l] = (struct node_group_spec){.count = 1, .gpus = (uint32_t)sizes[l], .gpu = ""};
        x->size[l] = sizes[l];
        all += (uint32_t)sizes[l];
    }
    x->n_lines = n_lines;
    if (is_pool) {
        case_placement(c, "count");
        x->n_lines = 1;
        x->size[0] = all;
    }
    c->spec.estimate.source = ESTIMATE_TRACE;
    x->n = 2 + draw(&state, JOBS - 1);
    int64_t submit = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        struct naive_job *j = &x->jobs[i];
        submit += draw(&state, 3) == 0 ? 0 : (int64_t)draw(&state, 8) * S;
        *j = (struct naive_job){.submit = submit,
                                .duration = (int64_t)(1 + draw(&state, 30)) * S,
                                .gpus = 1 + draw(&state, draw(&state, 4) == 0 ? all : (uint32_t)sizes[0])};
        j->estimate = j->duration + (kind == EXACT ? 0 : (int64_t)draw(&state, 20) * S);
        if (kind == WRONG && draw(&state, 2) == 0)
            j->estimate = (int64_t)(1 + draw(&state, 30)) * S;
        int64_t share[LINES];
        if (!place(x, 0, 1, j->gpus, share) ||
            submit == 0) /* the case begins empty: a job that never fits would be refused */
            j->gpus = 1;
        uint32_t job = case_job(c, (double)(j->submit / S), (double)(j->duration / S), (uint32_t)j->gpus);
        c->jobs[job].estimate_ns = j->estimate;
    }
    naive_run(x);
    case_run(c);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct naive_job *want = &x->jobs[i];
        const struct job *have = &c->r.jobs[i];
        cr_assert(have->start_ns == want->start && have->end_ns == want->ended,
                  "seed %u, estimates %d: job %u (%lld GPUs) runs %g to %g s, but the naive planner says %g to %g s",
                  seed, (int)kind, i, (long long)want->gpus, (double)have->start_ns * 1e-9, (double)have->end_ns * 1e-9,
                  (double)want->start * 1e-9, (double)want->ended * 1e-9);
        if (kind == EXACT)
            cr_assert_eq(have->start_ns, want->first, "seed %u: job %u is not where it was first promised", seed, i);
        if (kind == TOO_LONG)
            cr_assert_leq(have->start_ns, want->first, "seed %u: job %u starts later than first promised", seed, i);
    }
    case_destroy(c);
    free(x);
}

#define AGAINST(name, is_pool, ...)                                                                                    \
    Test(conservative, name)                                                                                           \
    {                                                                                                                  \
        const int64_t sizes[] = {__VA_ARGS__};                                                                         \
        for (uint32_t seed = 0; seed < 120; seed++)                                                                    \
            for (enum estimates kind = EXACT; kind <= WRONG; kind++)                                                   \
                against_naive(seed, sizes, sizeof sizes / sizeof *sizes, is_pool, kind);                               \
    }

AGAINST(agrees_with_a_naive_planner_on_one_node, false, 4)
AGAINST(agrees_with_a_naive_planner_on_even_nodes, false, 4, 4, 4)
AGAINST(agrees_with_a_naive_planner_on_uneven_nodes, false, 8, 2, 4, 4, 1)
AGAINST(agrees_with_a_naive_planner_on_a_pool, true, 4, 4)

/* Quotas over shared nodes promise more GPUs than there are: a job that is due may find no place for long, and those behind it must not have the
 * policy come up at every end of a reservation that lasts a nanosecond. */
Test(conservative, blocked_jobs_do_not_wake_it_all_the_time)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct cases_shape shape = {.jobs = 80,
                                    .nodes = 4,
                                    .gpus = 4,
                                    .span_ns = 1000 * S,
                                    .longest_ns = 200 * S,
                                    .grain_ns = 1,
                                    .largest = 6,
                                    .n_vcs = 3,
                                    .quotas = true};
        struct test_case *c = cases_create(&shape, seed);
        case_policy(c, "conservative");
        case_placement(c, seed % 2 == 0 ? "consolidate" : "count");
        case_run(c);
        cr_expect_lt(c->r.totals.rounds, 3000u, "seed %u: %u rounds", (unsigned)seed, (unsigned)c->r.totals.rounds);
        case_destroy(c);
    }
}
