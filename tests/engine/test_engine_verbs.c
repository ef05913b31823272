/* What the verbs of a policy answer, asked by small policies written here: a script is a function that is called once a round, inside
 * `schedule`. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <string.h>

#define EXPECT(call, code) cr_expect_eq(call, code, "%s", sched_code_text(call))

/* ---- codes --------------------------------------------------------------------------------------------- */

static void wrong_states(struct sched *s, uint32_t round)
{
    if (round == 0) {
        cr_expect_eq(sched_start(s, 1), SCHED_E_SCOPE, "it is not submitted yet");
        cr_expect_eq(sched_start(s, 77), SCHED_E_SCOPE, "there is no such job");
        cr_expect_eq(sched_start(s, UINT32_MAX), SCHED_E_SCOPE);
        cr_expect_eq(sched_preempt(s, 0), SCHED_E_STATE, "it does not run");
        cr_expect_eq(sched_move(s, 0), SCHED_E_STATE);
        cr_expect_eq(sched_restore(s, 0), SCHED_E_STATE, "it was not preempted in this round");
        cr_expect_eq(sched_start(s, 0), SCHED_OK);
        cr_expect_eq(sched_start(s, 0), SCHED_E_STATE, "it runs");
        cr_expect_eq(sched_probe(s, 0), SCHED_E_STATE);
        cr_expect_eq(sched_reject(s, 0, "no"), SCHED_E_STATE, "it runs");
        cr_expect_eq(sched_restore(s, 0), SCHED_E_STATE);
    } else if (round == 1) {
        cr_expect_eq(sched_preempt(s, 0), SCHED_OK);
        cr_expect_eq(sched_preempt(s, 0), SCHED_E_STATE, "it was preempted a moment ago");
        cr_expect_eq(sched_reject(s, 0, "no"), SCHED_E_STATE, "not in the round in which it ran");
        cr_expect_eq(sched_restore(s, 0), SCHED_OK);
        cr_expect_eq(sched_restore(s, 0), SCHED_E_STATE);
    } else if (round == 2) {
        cr_expect_eq(sched_start(s, 0), SCHED_E_STATE, "it is over");
        cases_start_all(s);
    }
}

Test(verbs, a_job_must_be_in_the_right_state)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    case_job(c, 5, 10, 1);
    cases_run_script(c, wrong_states);
    cr_expect_eq(c->r.jobs[0].end_ns, 10 * S, "nothing of all that disturbed it");
    cr_expect_eq(c->r.jobs[0].preemptions, 0u);
    case_destroy(c);
}

static void no_fit(struct sched *s, uint32_t round)
{
    if (round > 0) {
        cases_start_all(s);
        return;
    }
    cr_expect_eq(sched_free_gpus(s), 8u);
    cr_expect_eq(sched_capacity_gpus(s), 8u);
    EXPECT(sched_probe(s, 0), SCHED_OK);
    EXPECT(sched_start(s, 0), SCHED_OK); /* 3 GPUs of a node of 4 */
    EXPECT(sched_start(s, 1), SCHED_OK); /* 3 of the other */
    cr_expect_eq(sched_free_gpus(s), 2u);
    EXPECT(sched_probe(s, 2), SCHED_E_NO_FIT); /* 2 GPUs are free, but not on one node */
    EXPECT(sched_start(s, 2), SCHED_E_NO_FIT);
    EXPECT(sched_preempt(s, 0), SCHED_OK); /* what a round started it may take back */
    EXPECT(sched_probe(s, 2), SCHED_OK);
    EXPECT(sched_start(s, 2), SCHED_OK);
    EXPECT(sched_start(s, 0), SCHED_E_NO_FIT);
}

Test(verbs, probe_and_start_see_what_the_round_staged)
{
    struct test_case *c = case_create(2, 4);
    case_job(c, 0, 10, 3);
    case_job(c, 0, 10, 3);
    case_job(c, 0, 10, 2);
    cases_run_script(c, no_fit);
    cr_expect_eq(c->r.jobs[0].start_ns, 10 * S);
    cr_expect_eq(c->r.jobs[0].preemptions, 0u, "started and taken back in one round: it never ran");
    cr_expect_eq(c->r.jobs[0].restarts, 0u);
    cr_expect_eq(c->r.jobs[2].start_ns, 0);
    case_destroy(c);
}

static void at_places(struct sched *s, uint32_t round)
{
    if (round > 0)
        return;
    const struct place *got;
    EXPECT(sched_start_at(s, 0, (const struct place[]){{0, 2}, {0, 1}}, 2), SCHED_E_ARGUMENT); /* a node twice */
    EXPECT(sched_start_at(s, 0, (const struct place[]){{0, 2}}, 1), SCHED_E_ARGUMENT);         /* too few GPUs */
    EXPECT(sched_start_at(s, 0, (const struct place[]){{0, 2}, {1, 2}}, 2), SCHED_E_ARGUMENT); /* too many */
    EXPECT(sched_start_at(s, 0, (const struct place[]){{0, 3}, {1, 0}}, 2), SCHED_E_ARGUMENT); /* none of a node */
    EXPECT(sched_start_at(s, 0, (const struct place[]){{9, 3}}, 1), SCHED_E_ARGUMENT);         /* no such node */
    EXPECT(sched_start_at(s, 0, NULL, 0), SCHED_E_ARGUMENT);
    EXPECT(sched_start_at(s, 0, (const struct place[]){{0, UINT32_MAX}, {1, 4}}, 2),
           SCHED_E_ARGUMENT);                                                       /* 3, modulo 2^32 */
    EXPECT(sched_start_at(s, 0, (const struct place[]){{2, 3}}, 1), SCHED_E_SCOPE); /* of the other virtual cluster */
    EXPECT(sched_start_at(s, 2, (const struct place[]){{2, 1}}, 1), SCHED_E_SCOPE); /* so is the job */
    cr_expect_eq(sched_free_gpus(s), 8u, "no harm done");
    EXPECT(sched_start_at(s, 0, (const struct place[]){{1, 2}, {0, 1}}, 2), SCHED_OK); /* as no packing module would */
    cr_expect_eq(sched_places(s, 0, &got), 2u);
    cr_expect(got[0].node == 1 && got[0].gpus == 2 && got[1].node == 0 && got[1].gpus == 1);
    EXPECT(sched_start_at(s, 1, (const struct place[]){{1, 3}}, 1), SCHED_E_NO_FIT); /* 2 are left there */
    EXPECT(sched_start_at(s, 1, (const struct place[]){{0, 3}}, 1), SCHED_OK);
    cr_expect_eq(sched_node_free(s, 0), 0u);
    cr_expect_eq(sched_node_free(s, 1), 2u);
}

static void by_vc(struct sched *s, uint32_t round)
{
    (void)round;
    static uint32_t asked;
    if (sched_n_nodes(s) == 1) { /* virtual cluster b: node 2 */
        cr_expect_eq(sched_node(s, 0), 2u);
        EXPECT(sched_start(s, 0), SCHED_E_SCOPE);
        EXPECT(sched_reserve(s, 0, 1), SCHED_E_SCOPE);
        cases_start_all(s);
        return;
    }
    cr_expect_eq(sched_n_nodes(s), 2u);
    at_places(s, asked++);
}

Test(verbs, start_at_checks_its_places)
{
    struct test_case *c = case_create(3, 4);
    c->cluster.n_vcs = 2;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_NODES, .amount = 2};
    c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_NODES, .amount = 1};
    for (int i = 0; i < 3; i++)
        case_job(c, 0, 10, i < 2 ? 3 : 1);
    c->jobs[0].vc = c->jobs[1].vc = "a";
    c->jobs[2].vc = "b";
    cases_run_script(c, by_vc);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(c->r.jobs[i].end_ns, 10 * S);
    case_destroy(c);
}

static void over_quota(struct sched *s, uint32_t round)
{
    if (round > 0)
        return;
    cr_expect_eq(sched_capacity_gpus(s), 2u);
    EXPECT(sched_start_at(s, 0, (const struct place[]){{0, 3}}, 1), SCHED_E_NO_FIT);
    EXPECT(sched_start_at(s, 1, (const struct place[]){{0, 2}}, 1), SCHED_OK);
    cr_expect_eq(sched_free_gpus(s), 0u, "the quota is used up, the node is not");
    cr_expect_eq(sched_node_free(s, 0), 2u);
}

Test(verbs, start_at_keeps_to_the_quota)
{
    struct vc_change changes[] = {{5 * S, 4}};
    struct test_case *c = case_create(1, 4);
    c->cluster.n_vcs = 1;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 2, .changes = changes, .n_changes = 1};
    case_job(c, 0, 10, 3);
    case_job(c, 0, 10, 2);
    c->jobs[0].vc = c->jobs[1].vc = "a";
    cases_run_script(c, over_quota);
    cr_expect_eq(c->r.jobs[0].status, STATUS_UNFINISHED);
    case_destroy(c);
}

/* ---- outside `schedule` ---------------------------------------------------------------------------------- */

static void early_submit(void *self, struct sched *s, uint32_t job)
{
    (void)self;
    EXPECT(sched_start(s, job), SCHED_E_CALL);
    EXPECT(sched_probe(s, job), SCHED_E_CALL);
    EXPECT(sched_preempt(s, job), SCHED_E_CALL);
    EXPECT(sched_restore(s, job), SCHED_E_CALL);
    EXPECT(sched_move(s, job), SCHED_E_CALL);
    EXPECT(sched_reject(s, job, "no"), SCHED_E_CALL);
    EXPECT(sched_reserve(s, 0, 1), SCHED_E_CALL);
    EXPECT(sched_start_at(s, job, (const struct place[]){{0, 1}}, 1), SCHED_E_CALL);
    EXPECT(sched_wake_at(s, sched_now(s) + 1), SCHED_OK); /* the one that is allowed everywhere */
}

static void nothing_but_start(struct sched *s, uint32_t round)
{
    (void)round;
    cases_start_all(s);
}

Test(verbs, only_inside_schedule)
{
    struct test_case *c = case_create(1, 1);
    struct policy_ops ops = cases_script(nothing_but_start);
    ops.on_submit = early_submit;
    cases_use(c, &ops);
    case_job(c, 0, 10, 1);
    case_run(c);
    cr_expect_eq(c->r.jobs[0].end_ns, 10 * S);
    cr_expect_eq(cases_n_rounds, 3u, "at 0, at 1 ns, at 10 s");
    case_destroy(c);
}

/* ---- wake_at ----------------------------------------------------------------------------------------------- */

static int64_t rounds_at[16];

static void wakes(struct sched *s, uint32_t round)
{
    rounds_at[round] = sched_now(s);
    cases_start_all(s);
    if (round > 0)
        return;
    EXPECT(sched_wake_at(s, sched_now(s) - 1), SCHED_E_TIME);
    EXPECT(sched_wake_at(s, sched_now(s)), SCHED_E_TIME);
    EXPECT(sched_wake_at(s, INT64_MIN), SCHED_E_TIME);
    EXPECT(sched_wake_at(s, SCHED_NEVER), SCHED_OK); /* never comes */
    EXPECT(sched_wake_at(s, 8 * S), SCHED_OK);
    EXPECT(sched_wake_at(s, 4 * S), SCHED_OK); /* the earliest wins */
    EXPECT(sched_wake_at(s, 6 * S), SCHED_OK);
}

Test(verbs, wake_at_is_for_the_future_and_the_earliest_wins)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 1, 9, 1);
    cases_run_script(c, wakes);
    cr_expect_eq(cases_n_rounds, 3u);
    cr_expect_eq(rounds_at[0], 1 * S);
    cr_expect_eq(rounds_at[1], 4 * S);
    cr_expect_eq(rounds_at[2], 10 * S);
    case_destroy(c);
}

/* ---- preempt, start, move ------------------------------------------------------------------------------------ */

static void rebuild(struct sched *s, uint32_t round)
{
    if (round == 1) { /* the whole plan torn down and built again */
        for (uint32_t j = 0; j < 2; j++)
            EXPECT(sched_preempt(s, j), SCHED_OK);
        cr_expect(sched_is_queued(s, 0));
        cr_expect_eq(sched_since_ns(s, 0), 5 * S);
        EXPECT(sched_start(s, 1), SCHED_OK); /* in another order: each finds its own GPUs again */
        EXPECT(sched_start(s, 0), SCHED_OK);
        cr_expect_eq(sched_since_ns(s, 0), 0, "never touched");
        cr_expect_eq(sched_attained_ns(s, 0), 5 * S);
    }
    cases_start_all(s);
}

Test(verbs, preempt_and_start_on_the_same_gpus_is_nothing_at_all)
{
    struct test_case *c = case_create(1, 4);
    struct told *t = cases_watch(c);
    c->spec.overhead.restart.constant_ns = 3 * S;
    case_job(c, 0, 10, 2);
    case_job(c, 0, 12, 2);
    case_job(c, 5, 1, 4);
    cases_run_script(c, rebuild);
    for (int i = 0; i < 2; i++) {
        const struct job *j = &c->r.jobs[i];
        cr_expect(j->preemptions == 0 && j->moves == 0 && j->restarts == 0 && j->overhead_ns == 0);
        cr_expect_eq(j->end_ns, (10 + 2 * i) * S);
    }
    cr_expect_str_eq(told_at(t, 5 * S), "submit 2");
    case_destroy(c);
}

static void elsewhere(struct sched *s, uint32_t round)
{
    if (round == 1) {
        EXPECT(sched_preempt(s, 0), SCHED_OK);
        EXPECT(sched_start_at(s, 0, (const struct place[]){{1, 2}}, 1), SCHED_OK);
        EXPECT(sched_preempt(s, 0), SCHED_OK); /* and over again: only the outcome counts */
        EXPECT(sched_start_at(s, 0, (const struct place[]){{2, 2}}, 1), SCHED_OK);
        cr_expect_eq(sched_since_ns(s, 0), 5 * S);
    }
    cases_start_all(s);
}

Test(verbs, preempt_and_start_elsewhere_is_one_move)
{
    struct test_case *c = case_create(3, 2);
    struct told *t = cases_watch(c);
    c->spec.overhead.restart.constant_ns = 3 * S;
    case_job(c, 0, 10, 2);
    case_job(c, 5, 1, 2);
    cases_run_script(c, elsewhere);
    const struct job *j = &c->r.jobs[0];
    cr_expect(j->moves == 1 && j->preemptions == 0 && j->restarts == 0);
    cr_expect_eq(j->end_ns, 13 * S);
    cr_expect_eq(j->overhead_ns, 3 * S);
    cr_expect_str_eq(told_at(t, 5 * S), "submit 1, move 0, start 1");
    cr_expect_eq(t->segments[0].spans[0].node, 0u, "before the move");
    cr_expect_eq(t->segments[t->n_segments - 1].spans[0].node, 2u, "after it");
    case_destroy(c);
}

static void other_gpus_of_the_node(struct sched *s, uint32_t round)
{
    if (round == 2) { /* job 0 ended: GPU 0 is free, job 1 has GPU 1 */
        EXPECT(sched_move(s, 1), SCHED_OK);
        const struct place *places;
        cr_expect_eq(sched_places(s, 1, &places), 1u);
    }
    cases_start_all(s);
}

Test(verbs, a_move_within_the_node_is_a_move)
{
    struct test_case *c = case_create(1, 2);
    case_job(c, 0, 5, 1);
    case_job(c, 0, 10, 1);
    case_job(c, 1, 1, 1);
    c->spec.overhead.restart.constant_ns = 1 * S;
    cases_run_script(c, other_gpus_of_the_node);
    cr_expect_eq(c->r.jobs[1].moves, 1u);
    cr_expect_eq(c->r.jobs[1].end_ns, 11 * S);
    case_destroy(c);
}

static void stay(struct sched *s, uint32_t round)
{
    cases_start_all(s);
    if (round == 1)
        EXPECT(sched_move(s, 0), SCHED_OK);
}

Test(verbs, to_move_to_where_it_is_is_no_move)
{
    struct test_case *c = case_create(2, 2);
    case_job(c, 0, 10, 1);
    case_job(c, 5, 1, 2);
    c->spec.overhead.restart.constant_ns = 3 * S;
    cases_run_script(c, stay);
    cr_expect_eq(c->r.jobs[0].moves, 0u);
    cr_expect_eq(c->r.jobs[0].end_ns, 10 * S);
    case_destroy(c);
}

static void cannot_move(struct sched *s, uint32_t round)
{
    if (round == 0) {
        /* placed as the packing module never would: it would not know where to put it now */
        EXPECT(sched_start_at(s, 0, (const struct place[]){{0, 1}, {1, 1}}, 2), SCHED_OK);
        EXPECT(sched_start(s, 1), SCHED_OK);
        EXPECT(sched_start(s, 2), SCHED_OK);
        EXPECT(sched_move(s, 0), SCHED_E_NO_FIT);
        cr_expect(sched_is_running(s, 0), "it stays");
    } else if (round == 1) {
        EXPECT(sched_move(s, 0), SCHED_E_NO_FIT);
        cr_expect(sched_is_running(s, 0), "it stays");
        const struct place *places;
        cr_expect_eq(sched_places(s, 0, &places), 2u);
    }
}

Test(verbs, a_job_that_cannot_be_moved_stays)
{
    struct test_case *c = case_create(2, 2);
    case_job(c, 0, 10, 2);
    case_job(c, 0, 10, 1);
    case_job(c, 0, 10, 1);
    case_job(c, 5, 10, 2);
    cases_run_script(c, cannot_move);
    cr_expect(c->r.jobs[0].moves == 0 && c->r.jobs[0].preemptions == 0);
    cr_expect_eq(c->r.jobs[0].end_ns, 10 * S);
    case_destroy(c);
}

static void restores(struct sched *s, uint32_t round)
{
    if (round != 1) {
        cases_start_all(s);
        return;
    }
    EXPECT(sched_preempt(s, 0), SCHED_OK);
    EXPECT(sched_preempt(s, 1), SCHED_OK);
    EXPECT(sched_start(s, 2), SCHED_OK); /* takes the lowest GPUs: those of job 0 */
    EXPECT(sched_restore(s, 0), SCHED_E_NO_FIT);
    EXPECT(sched_restore(s, 1), SCHED_OK);
    EXPECT(sched_restore(s, 3), SCHED_E_STATE);
}

Test(verbs, restore_gives_back_only_what_is_still_free)
{
    struct test_case *c = case_create(1, 4);
    case_job(c, 0, 10, 2);
    case_job(c, 0, 10, 2);
    case_job(c, 5, 1, 1);
    case_job(c, 5, 1, 4);
    cases_run_script(c, restores);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[1].preemptions, 0u);
    cr_expect_eq(c->r.jobs[1].end_ns, 10 * S);
    case_destroy(c);
}

/* ---- reject and reserve ---------------------------------------------------------------------------------------- */

static void rejects(struct sched *s, uint32_t round)
{
    if (round == 2) {
        EXPECT(sched_reject(s, 1, "not_wanted"), SCHED_OK);
        EXPECT(sched_reject(s, 1, "not_wanted"), SCHED_E_STATE);
        EXPECT(sched_start(s, 1), SCHED_E_STATE);
        cr_expect_not(sched_is_queued(s, 1));
    }
    cases_start_all(s);
}

Test(verbs, reject_is_for_good)
{
    struct test_case *c = case_create(1, 1);
    struct told *t = cases_watch(c);
    case_job(c, 0, 10, 1);
    case_job(c, 1, 10, 1);
    case_job(c, 4, 10, 1);
    cases_run_script(c, rejects);
    cr_expect_eq(c->r.jobs[1].status, STATUS_REJECTED);
    cr_expect_str_eq(c->r.jobs[1].reason, "not_wanted");
    cr_expect_eq(c->r.jobs[1].end_ns, 4 * S);
    cr_expect_eq(c->r.jobs[1].start_ns, -1);
    bool is_told = false;
    for (uint32_t i = 0; i < t->n_segments; i++)
        is_told |= t->segments[i].job == 1 && t->segments[i].begin == 1 * S && t->segments[i].end == 4 * S &&
                   t->segments[i].kind == SEGMENT_QUEUED;
    cr_expect(is_told, "it had waited for 3 s");
    case_destroy(c);
}

static void reserves(struct sched *s, uint32_t round)
{
    if (round == 0) {
        EXPECT(sched_reserve(s, 0, 3), SCHED_OK);
        EXPECT(sched_reserve(s, 0, 2), SCHED_E_NO_FIT); /* one is left */
        EXPECT(sched_reserve(s, 7, 1), SCHED_E_SCOPE);
        EXPECT(sched_reserve(s, 1, 0), SCHED_OK);
        cr_expect_eq(sched_free_gpus(s), 5u);
        cr_expect_eq(sched_node_free(s, 0), 1u);
        EXPECT(sched_start(s, 0), SCHED_OK);       /* 2 GPUs: node 1 */
        EXPECT(sched_probe(s, 1), SCHED_E_NO_FIT); /* 3 GPUs */
        sched_release(s);
        EXPECT(sched_probe(s, 1), SCHED_OK);
        EXPECT(sched_reserve(s, 0, 4), SCHED_OK); /* left standing at the end of the round */
        return;
    }
    if (round == 1)
        cr_expect_eq(sched_node_free(s, 0), 4u, "a reservation ends with its round");
    cases_start_all(s);
}

Test(verbs, reserve_holds_back_until_released_or_the_round_ends)
{
    struct test_case *c = case_create(2, 4);
    case_job(c, 0, 10, 2);
    case_job(c, 0, 10, 3);
    case_job(c, 5, 10, 1);
    cases_run_script(c, reserves);
    cr_expect_eq(c->r.jobs[0].start_ns, 0);
    cr_expect_eq(c->r.jobs[1].start_ns, 5 * S);
    case_destroy(c);
}
