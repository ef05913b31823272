/* Orders by deadline and admission: what any preemptive schedule can meet on one machine, edf and least_laxity do. */
#include "tests/dice.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t roll(uint64_t *state, uint32_t sides)
{
    return (uint32_t)dice_star(state, sides);
}

static uint32_t due_job(struct test_case *c, double submit, double duration, uint32_t gpus, double deadline)
{
    uint32_t job = case_job(c, submit, duration, gpus);
    c->jobs[job].deadline_ns = (int64_t)(deadline * 1e9);
    return job;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
}

/* ---- one machine ------------------------------------------------------------------------------------------------- */

/* The demand of every interval from a submission to a deadline must fit into it: necessary and sufficient for preemptive schedules on one
 * machine (Baruah, Rosier and Howell, 1990). */
static bool is_feasible(const struct test_case *c)
{
    for (uint32_t i = 0; i < c->n_jobs; i++)
        for (uint32_t k = 0; k < c->n_jobs; k++) {
            int64_t from = c->jobs[i].submit_ns, to = c->jobs[k].deadline_ns, demand = 0;
            if (to == WORKLOAD_ABSENT)
                continue;
            for (uint32_t j = 0; j < c->n_jobs; j++)
                if (c->jobs[j].submit_ns >= from && c->jobs[j].deadline_ns <= to &&
                    c->jobs[j].deadline_ns != WORKLOAD_ABSENT)
                    demand += c->jobs[j].duration_ns;
            if (demand > 0 && demand > to - from)
                return false;
        }
    return true;
}

static uint32_t count_late(const struct test_case *c)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        n += c->jobs[j].deadline_ns != WORKLOAD_ABSENT && c->r.jobs[j].status == STATUS_FINISHED &&
             c->r.jobs[j].end_ns > c->jobs[j].deadline_ns;
    return n;
}

/* A random case of whole seconds on one GPU; some jobs without a deadline. */
static struct test_case *random_case(uint64_t seed, const char *policy)
{
    struct test_case *c = case_create(1, 1);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    uint32_t n = 2 + roll(&state, 9);
    for (uint32_t j = 0; j < n; j++) {
        uint32_t submit = roll(&state, 30), duration = 1 + roll(&state, 8);
        if (roll(&state, 5) == 0)
            case_job(c, submit, duration, 1);
        else
            due_job(c, submit, duration, 1, submit + duration + roll(&state, n));
    }
    case_sort(c);
    case_policy(c, policy);
    return c;
}

static void meets_all_that_can_be_met(const char *policy)
{
    uint32_t n_feasible = 0, n_late = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct test_case *c = random_case(seed, policy);
        if (strcmp(policy, "least_laxity") == 0)
            case_param(c, "quantum", "1 s"); /* times are whole seconds: slots of one are enough */
        case_run(c);
        bool is_possible = is_feasible(c);
        n_feasible += is_possible;
        n_late += count_late(c) > 0;
        cr_expect(count_late(c) == 0 || !is_possible, "%s, seed %d: %u deadlines are missed that could be met", policy,
                  (int)seed, count_late(c));
        cr_expect(count_late(c) > 0 || is_possible, "%s, seed %d: the test of feasibility is wrong", policy, (int)seed);
        case_destroy(c);
    }
    cr_expect(n_feasible > 100 && n_late > 100, "%u cases of 400 can be met, %u were not", n_feasible, n_late);
}

Test(edf, meets_every_deadline_that_any_preemptive_schedule_can_on_one_machine)
{
    meets_all_that_can_be_met("edf");
}

Test(least_laxity, meets_every_deadline_that_any_preemptive_schedule_can_on_one_machine)
{
    meets_all_that_can_be_met("least_laxity");
}

Test(edf, by_hand)
{
    /*  A A B B B A A A C C      C has no deadline and came first of all; B's is earlier than A's */
    struct test_case *c = case_create(1, 1);
    case_policy(c, "edf");
    case_job(c, 0, 2, 1);
    due_job(c, 0, 5, 1, 20);
    due_job(c, 2, 3, 1, 6);
    case_run(c);
    expect(c, 1, 0, 8);
    expect(c, 2, 2, 5);
    expect(c, 0, 8, 10);
    case_destroy(c);
}

Test(least_laxity, by_hand)
{
    /* A: 6 s by 10, laxity 4 and falling while it waits. B: 2 s by 5, laxity 3: first, to the end of its slot of 2 s. Then A; C comes at 3: 1 s by
     * 9: laxity 5, A's at 2 was 2 and stands still: C's falls to it at 6, at which A has held its GPU for 4 s, two slots: C goes 7-8?
     * No: values are looked at at each whole slot and at the ends of leases: 4, 6. At 6 C's is 9 - 6 - 1 = 2: equal, nobody is displaced. A
     * ends at 8. */
    struct test_case *c = case_create(1, 1);
    case_policy(c, "least_laxity");
    case_param(c, "quantum", "2 s");
    due_job(c, 0, 6, 1, 10);
    due_job(c, 0, 2, 1, 5);
    due_job(c, 3, 1, 1, 9);
    case_run(c);
    expect(c, 1, 0, 2);
    expect(c, 0, 2, 8);
    expect(c, 2, 8, 9);
    case_destroy(c);
}

Test(deadline_orders, go_with_every_fill_and_last_without_deadlines_in_order_of_submission)
{
    static const char *const orders[] = {"edf", "least_laxity"}, *const fills[] = {"strict", "skip", "easy"},
                             *const preempts[] = {"never", "when_better", "quantum"};
    for (int o = 0; o < 2; o++)
        for (int f = 0; f < 3; f++)
            for (int p = 0; p < (f < 2 ? 3 : 1); p++) {
                struct test_case *c = case_create(1, 2);
                case_policy(c, "compose");
                case_param(c, "order", orders[o]);
                case_param(c, "fill", fills[f]);
                case_param(c, "preempt", preempts[p]);
                case_param(c, "quantum", "100 s");
                for (int j = 0; j < 5; j++)
                    case_job(c, j, 20, 2);
                due_job(c, 4, 20, 2, 10000);
                case_run(c);
                expect(c, 0, 0, p == 1 ? 40 : 20);
                cr_expect_float_eq(case_start_s(c, 5), p == 1 ? 4 : 20, 1e-9);
                for (uint32_t j = 1; j < 5; j++)
                    cr_expect_float_eq(case_start_s(c, j), 20.0 * (j + 1), 1e-9, "%s, %s, %s: job %u at %g", orders[o],
                                       fills[f], preempts[p], j, case_start_s(c, j));
                case_destroy(c);
            }
}

Test(deadline_orders, need_a_policy_that_may_know_deadlines)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, "sjf");
    case_param(c, "order", "edf");
    due_job(c, 0, 1, 1, 5);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, "deadlines"), "%s", c->err.message);
    case_param(c, "order", "sjf");
    case_param(c, "admission", "feasible");
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, "deadlines"), "%s", c->err.message);
    case_destroy(c);
}

/* ---- admission ------------------------------------------------------------------------------------------------------ */

Test(admission, accepts_exactly_what_keeps_one_machine_feasible)
{
    /* in order of submission, each is accepted if and only if those accepted before and it can all be met */
    uint32_t n_rejected = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct test_case *c = random_case(seed, "edf");
        case_param(c, "admission", "feasible");
        case_run(c);
        cr_expect_eq(count_late(c), 0u, "seed %d: an accepted job is late", (int)seed);
        struct test_case *kept = case_create(1, 1);
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            bool was_rejected = c->r.jobs[j].status == STATUS_REJECTED;
            if (c->jobs[j].deadline_ns == WORKLOAD_ABSENT) {
                cr_expect_not(was_rejected);
                continue;
            }
            kept->jobs[kept->n_jobs++] = c->jobs[j];
            cr_expect_eq(was_rejected, !is_feasible(kept), "seed %d: job %u is %s", (int)seed, j,
                         was_rejected ? "rejected" : "accepted");
            kept->n_jobs -= was_rejected;
            n_rejected += was_rejected;
            if (was_rejected)
                cr_expect_str_eq(c->r.jobs[j].reason, "deadline_cannot_be_met");
        }
        case_destroy(kept);
        case_destroy(c);
    }
    cr_expect_gt(n_rejected, 100u);
}

Test(admission, never_preempting_counts_what_runs_to_its_end)
{
    /* A, without a deadline, holds the GPU to 10. B (5 s by 12) cannot be met then; under edf, which displaces A, it can. */
    for (int k = 0; k < 2; k++) {
        struct test_case *c = case_create(1, 1);
        case_policy(c, "edf");
        case_param(c, "admission", "feasible");
        if (k == 0)
            case_param(c, "preempt", "never");
        case_job(c, 0, 10, 1);
        due_job(c, 1, 5, 1, 12);
        due_job(c, 2, 1, 1, 11);
        case_run(c);
        cr_expect_eq(c->r.jobs[1].status, k == 0 ? STATUS_REJECTED : STATUS_FINISHED);
        expect(c, 2, k == 0 ? 10 : 2, k == 0 ? 11 : 3);
        case_destroy(c);
    }
}

Test(admission, over_several_gpus_whoever_is_accepted_is_met)
{
    uint32_t n_accepted = 0, n_rejected = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed;
        struct test_case *c = case_create(1, 8);
        case_policy(c, "edf");
        case_placement(c, "count");
        case_param(c, "admission", "feasible");
        for (int j = 0; j < 60; j++) {
            uint32_t submit = roll(&state, 200), duration = 1 + roll(&state, 40);
            due_job(c, submit, duration, 1 + roll(&state, 9), submit + duration + roll(&state, 100));
        }
        case_sort(c);
        case_run(c);
        cr_expect_eq(count_late(c), 0u, "seed %d", (int)seed);
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            n_rejected += c->r.jobs[j].status == STATUS_REJECTED;
            n_accepted += c->r.jobs[j].status == STATUS_FINISHED;
        }
        case_destroy(c);
    }
    cr_expect(n_accepted > 1000 && n_rejected > 500, "%u accepted, %u rejected", n_accepted, n_rejected);
}

/* A job of no length is done when it starts: on an idle machine a deadline at its submission is met. Behind one of 5 s, which cannot give way, it is not
 * before 5. */
Test(admission, a_job_of_no_length_meets_a_deadline_at_once)
{
    for (int is_busy = 0; is_busy < 2; is_busy++)
        for (int deadline = 1; deadline <= 5; deadline += 4) {
            struct test_case *c = case_create(1, 1);
            case_policy(c, "edf");
            case_param(c, "admission", "feasible");
            case_param(c, "preempt", "never");
            if (is_busy)
                case_job(c, 0, 5, 1);
            uint32_t job = due_job(c, 1, 0, 1, deadline);
            case_run(c);
            bool is_met = !is_busy || deadline == 5;
            cr_expect_eq(c->r.jobs[job].status, is_met ? STATUS_FINISHED : STATUS_REJECTED, "busy %d, deadline %d",
                         is_busy, deadline);
            if (is_met)
                cr_expect_float_eq(case_end_s(c, job), is_busy ? 5 : 1, 1e-9);
            case_destroy(c);
        }
}

/* The quota shrinks from 4 to 2 while A holds 4 GPUs, which it may keep to its end at 10. B (1 GPU, 5 s by 20) runs from then on. */
Test(admission, who_holds_more_than_a_quota_allows_goes_on)
{
    struct vc_change changes[] = {{1 * S, 2}};
    struct test_case *c = case_create(1, 4);
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 4, .changes = changes, .n_changes = 1};
    c->cluster.n_vcs = 1;
    case_policy(c, "edf");
    case_param(c, "preempt", "never");
    case_param(c, "admission", "feasible");
    due_job(c, 0, 10, 4, 15);
    due_job(c, 2, 5, 1, 20);
    for (uint32_t j = 0; j < c->n_jobs; j++)
        c->jobs[j].vc = "a";
    case_run(c);
    expect(c, 0, 0, 10);
    cr_expect_eq(c->r.jobs[1].status, STATUS_FINISHED);
    expect(c, 1, 10, 15);
    case_destroy(c);
}

/* Shortest first on two nodes of 2 GPUs, 5 s for a move: at 10 C takes node 0, and A, whose 10 s are left, goes on beside B on node 1 to 25, too late for
 * its deadline at 23. At 11 D cannot be let in, for no plan meets all deadlines. Without the overhead A would be done at 20. */
Test(admission, a_move_is_predicted_with_its_overhead)
{
    for (int64_t overhead = 0; overhead <= 5; overhead += 5) {
        struct test_case *c = case_create(2, 2);
        case_placement(c, "worst_fit");
        case_policy(c, "compose");
        case_param(c, "order", "sjf");
        case_param(c, "fill", "skip");
        case_param(c, "preempt", "when_better");
        case_param(c, "admission", "feasible");
        c->spec.overhead.restart.constant_ns = overhead * S;
        due_job(c, 0, 20, 1, 23);
        due_job(c, 0, 12, 1, 100);
        due_job(c, 10, 8, 2, 100);
        due_job(c, 11, 30, 1, 100);
        case_run(c);
        expect(c, 2, 10, 18);
        expect(c, 0, 0, 20 + (double)overhead);
        cr_expect_eq(c->r.jobs[0].moves, 1u);
        cr_expect_eq(c->r.jobs[3].status, overhead == 0 ? STATUS_FINISHED : STATUS_REJECTED);
        case_destroy(c);
    }
}
