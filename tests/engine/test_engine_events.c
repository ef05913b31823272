/* What happens at one instant, and how a run ends. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <string.h>

/* ---- order within an instant ------------------------------------------------------------------------- */

Test(instant, a_gpu_freed_and_asked_for_is_given_at_once)
{
    struct test_case *c = case_create(1, 1);
    struct told *t = cases_watch(c);
    case_job(c, 0, 10, 1);
    case_job(c, 10, 5, 1);
    case_run(c);
    cr_expect_str_eq(told_at(t, 10 * S), "finish 0, submit 1, start 1");
    cr_expect_eq(c->r.jobs[1].start_ns, 10 * S);
    cr_expect_eq(c->r.jobs[1].end_ns, 15 * S);
    case_destroy(c);
}

Test(instant, arrivals_come_in_order_of_rank_and_start_in_order_of_the_policy)
{
    struct test_case *c = case_create(1, 4);
    struct told *t = cases_watch(c);
    case_policy(c, "sjf");
    for (int i = 0; i < 4; i++)
        case_job(c, 3, 9 - i, 1);
    case_run(c);
    cr_expect_str_eq(told_at(t, 3 * S), "submit 0, submit 1, submit 2, submit 3, start 3, start 2, start 1, start 0");
    case_destroy(c);
}

Test(instant, completions_come_in_order_of_rank)
{
    struct test_case *c = case_create(1, 4);
    struct told *t = cases_watch(c);
    case_policy(c, "ljf");
    case_job(c, 0, 10, 1);
    case_job(c, 3, 7, 1);
    case_job(c, 8, 2, 1);
    case_run(c);
    cr_expect_str_eq(told_at(t, 10 * S), "finish 0, finish 1, finish 2");
    case_destroy(c);
}

Test(instant, zero_length_jobs_pass_one_gpu_on_in_rounds)
{
    struct test_case *c = case_create(1, 1);
    struct told *t = cases_watch(c);
    for (int i = 0; i < 3; i++)
        case_job(c, 1, 0, 1);
    case_job(c, 1, 2, 1);
    case_run(c);
    cr_expect_str_eq(told_at(t, 1 * S),
                     "submit 0, submit 1, submit 2, submit 3, start 0, finish 0, start 1, finish 1, start 2, "
                     "finish 2, start 3");
    cr_expect_eq(c->r.totals.rounds, 4u + 1u, "four at 1 s, one at 3 s");
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(c->r.jobs[i].end_ns, 1 * S);
        cr_expect_eq(c->r.jobs[i].run_ns, 0);
    }
    case_destroy(c);
}

/* A policy that notes which callbacks it gets. */
static char log_text[512];

static void note(const char *what)
{
    strncat(log_text, what, sizeof log_text - strlen(log_text) - 1);
}

static void note_submit(void *self, struct sched *s, uint32_t job)
{
    (void)self, (void)job;
    if (sched_now(s) == 10 * S)
        note("submit ");
    cr_expect_eq(sched_wake_at(s, 10 * S), sched_now(s) < 10 * S ? SCHED_OK : SCHED_E_TIME);
}

static void note_finish(void *self, struct sched *s, uint32_t job)
{
    (void)self, (void)s, (void)job;
    note("finish ");
}

static void note_capacity(void *self, struct sched *s)
{
    (void)self, (void)s;
    note("capacity ");
}

static void note_timer(void *self, struct sched *s)
{
    (void)self, (void)s;
    note("timer ");
}

static void note_schedule(void *self, struct sched *s)
{
    (void)self;
    if (sched_now(s) == 10 * S)
        note("schedule ");
    for (uint32_t j = 0; j < sched_n_jobs(s); j++)
        if (sched_is_queued(s, j))
            sched_start(s, j);
}

static const struct policy_ops noting = {.abi_version = BRAID_POLICY_ABI,
                                         .size = sizeof noting,
                                         .name = "noting",
                                         .summary = "",
                                         .source = "",
                                         .state_size = 1,
                                         .on_submit = note_submit,
                                         .on_finish = note_finish,
                                         .on_capacity = note_capacity,
                                         .on_timer = note_timer,
                                         .schedule = note_schedule};

Test(instant, completion_capacity_arrival_timer_then_one_question)
{
    struct test_case *c = case_create(1, 4);
    static struct vc_change change = {10 * S, 2};
    c->spec.policy = (struct policy_spec){.ops = &noting, .label = "noting"};
    c->cluster.n_vcs = 1;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 4, .changes = &change, .n_changes = 1};
    case_job(c, 0, 10, 1);
    case_job(c, 10, 10, 1);
    c->jobs[0].vc = c->jobs[1].vc = "a";
    case_run(c);
    cr_expect_str_eq(log_text, "finish capacity submit timer schedule finish ");
    case_destroy(c);
}

/* ---- how a run ends ---------------------------------------------------------------------------------- */

Test(stop, horizon_cuts_jobs_and_counts_them)
{
    struct test_case *c = case_create(1, 1);
    struct told *t = cases_watch(c);
    c->spec.stop.at_ns = 10 * S;
    case_job(c, 0, 4, 1);
    case_job(c, 1, 6, 1);  /* ends at the horizon: still finished */
    case_job(c, 2, 6, 1);  /* starts at the horizon */
    case_job(c, 3, 6, 1);  /* waits */
    case_job(c, 11, 6, 1); /* behind it */
    case_run(c);
    const struct job *j = c->r.jobs;
    cr_expect_eq(j[0].status, STATUS_FINISHED);
    cr_expect_eq(j[1].status, STATUS_FINISHED);
    cr_expect_eq(j[1].end_ns, 10 * S);
    for (int i = 2; i < 4; i++) {
        cr_expect_eq(j[i].status, STATUS_UNFINISHED);
        cr_expect_str_eq(j[i].reason, "horizon");
        cr_expect_eq(j[i].end_ns, 10 * S);
        cr_expect_eq(j[i].run_ns, 0);
    }
    cr_expect_eq(j[2].start_ns, 10 * S);
    cr_expect_eq(j[3].start_ns, -1);
    cr_expect_eq(j[4].status, STATUS_NOT_SUBMITTED);
    cr_expect_str_eq(j[4].reason, "not_submitted");
    cr_expect_eq(j[4].end_ns, -1);
    cr_expect_eq(c->r.totals.stop_ns, 10 * S);
    cr_expect_not(c->r.totals.is_overloaded);
    cr_expect_eq(t->segments[t->n_segments - 1].job, 3u, "what still waits is told, too");
    case_destroy(c);
}

Test(stop, horizon_between_events_counts_the_time_up_to_it)
{
    struct test_case *c = case_create(1, 2);
    c->spec.stop.at_ns = 7 * S + 5;
    c->spec.overhead.start.constant_ns = 3 * S;
    case_job(c, 0, 100, 2);
    case_run(c);
    cr_expect_eq(c->r.jobs[0].run_ns, 7 * S + 5);
    cr_expect_eq(c->r.jobs[0].overhead_ns, 3 * S);
    cr_expect_eq(c->r.jobs[0].gpu_ns, 2 * (7 * S + 5));
    cr_expect_eq(c->r.jobs[0].work_done, (double)(4 * S + 5));
    cr_expect_eq(c->r.jobs[0].end_ns, 7 * S + 5);
    case_destroy(c);
}

Test(stop, horizon_before_the_first_submission)
{
    struct test_case *c = case_create(1, 1);
    c->spec.stop.at_ns = 1 * S;
    case_job(c, 5, 1, 1);
    case_run(c);
    cr_expect_eq(c->r.jobs[0].status, STATUS_NOT_SUBMITTED);
    cr_expect_str_eq(c->r.jobs[0].reason, "not_submitted");
    case_destroy(c);
}

Test(stop, overload_ends_the_run_when_more_wait_than_allowed)
{
    struct test_case *c = case_create(1, 1);
    c->spec.stop.queue = 2;
    for (int i = 0; i < 6; i++)
        case_job(c, i, 100, 1);
    case_run(c);
    cr_expect(c->r.totals.is_overloaded);
    cr_expect_eq(c->r.totals.stop_ns, 3 * S, "one runs; the third to wait comes at 3 s");
    cr_expect_str_eq(c->r.jobs[0].reason, "overload");
    cr_expect_eq(c->r.jobs[0].run_ns, 3 * S);
    cr_expect_str_eq(c->r.jobs[3].reason, "overload");
    cr_expect_str_eq(c->r.jobs[4].reason, "not_submitted");
    case_destroy(c);
}

Test(stop, a_queue_of_just_the_limit_is_no_overload)
{
    struct test_case *c = case_create(1, 1);
    c->spec.stop.queue = 2;
    for (int i = 0; i < 3; i++)
        case_job(c, i, 100, 1);
    case_run(c);
    cr_expect_not(c->r.totals.is_overloaded);
    cr_expect_eq(c->r.jobs[2].status, STATUS_FINISHED);
    case_destroy(c);
}

Test(stop, no_jobs_is_a_run)
{
    struct test_case *c = case_create(1, 1);
    case_run(c);
    cr_expect_eq(c->r.n_jobs, 0u);
    case_destroy(c);
}

static volatile int stop_soon;
static uint32_t n_started;

static void cancel_at_start(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc,
                            const char *why)
{
    (void)self, (void)at_ns, (void)job, (void)vc, (void)why;
    n_started += kind == DECISION_START;
    stop_soon |= n_started == 10;
}

Test(stop, cancel_ends_the_run_as_interrupted)
{
    struct test_case *c = case_create(1, 1);
    for (int i = 0; i < 4000; i++)
        case_job(c, i, 1, 1);
    c->spec.cancel = &stop_soon;
    c->spec.watch.decision = cancel_at_start;
    cr_expect_eq(case_try(c), BRAID_FAILED);
    cr_expect_str_eq(c->err.message, "interrupted");
    cr_expect_null(c->r.jobs, "no half of a result");
    cr_expect_lt(n_started, 2000u, "soon");
    case_destroy(c);
}

/* ---- jobs that can never run ------------------------------------------------------------------------- */

Test(rejected, too_large_for_the_cluster_blocks_nobody)
{
    struct test_case *c = case_create(2, 4);
    case_job(c, 0, 5, 9);
    case_job(c, 0, 5, 8);
    case_run(c);
    cr_expect_eq(c->r.jobs[0].status, STATUS_REJECTED);
    cr_expect_str_eq(c->r.jobs[0].reason, "too_large_for_cluster");
    cr_expect_eq(c->r.jobs[0].end_ns, 0);
    cr_expect_eq(c->r.jobs[0].start_ns, -1);
    cr_expect_eq(c->r.jobs[1].end_ns, 5 * S);
    case_destroy(c);
}

Test(rejected, in_virtual_clusters_each_under_its_reason)
{
    struct test_case *c = case_create(3, 4);
    c->cluster.n_vcs = 2;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_NODES, .amount = 1};
    c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_GPUS, .amount = 6};
    static const struct {
        const char *vc;
        uint32_t gpus;
        const char *reason;
    } want[] = {{"a", 5, "too_large_for_vc"}, {"a", 4, ""},          {"b", 7, "too_large_for_vc"},      {"b", 6, ""},
                {"x", 1, "unknown_vc"},       {"", 1, "unknown_vc"}, {"a", 13, "too_large_for_cluster"}};
    enum { N = sizeof want / sizeof *want };
    for (uint32_t i = 0; i < N; i++) {
        case_job(c, 0, 5, want[i].gpus);
        c->jobs[i].vc = want[i].vc;
    }
    case_run(c);
    for (uint32_t i = 0; i < N; i++) {
        bool is_rejected = want[i].reason[0] != '\0';
        cr_expect_str_eq(c->r.jobs[i].reason, want[i].reason, "job %u: %s", i, c->r.jobs[i].reason);
        cr_expect_eq(c->r.jobs[i].status, is_rejected ? STATUS_REJECTED : STATUS_FINISHED);
        cr_expect_eq(c->r.jobs[i].end_ns, is_rejected ? 0 : 5 * S, "nobody is held back");
    }
    case_destroy(c);
}

Test(rejected, without_named_virtual_clusters_every_name_is_known)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 5, 1);
    c->jobs[0].vc = "whatever";
    case_run(c);
    cr_expect_eq(c->r.jobs[0].status, STATUS_FINISHED);
    case_destroy(c);
}

/* ---- quotas that change ------------------------------------------------------------------------------- */

static struct test_case *with_quota(enum vc_shrink shrink, struct vc_change *changes, uint32_t n)
{
    struct test_case *c = case_create(1, 4);
    c->cluster.n_vcs = 2;
    c->vcs[0] = (struct vc_spec){
        .name = "a", .mode = VC_GPUS, .amount = 4, .shrink = shrink, .changes = changes, .n_changes = n};
    c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_GPUS, .amount = 4};
    return c;
}

static void quota_job(struct test_case *c, const char *vc, double submit_s, double duration_s, uint32_t gpus)
{
    c->jobs[case_job(c, submit_s, duration_s, gpus)].vc = vc;
}

Test(quota, reaches_zero_and_returns_by_draining)
{
    struct vc_change changes[] = {{5 * S, 0}, {50 * S, 2}};
    struct test_case *c = with_quota(VC_DRAIN, changes, 2);
    quota_job(c, "a", 0, 10, 3);  /* drains to its end */
    quota_job(c, "a", 6, 10, 1);  /* waits, though a GPU is free */
    quota_job(c, "a", 20, 10, 3); /* never again: the quota returns to 2 only, but it was 4 once */
    case_run(c);
    cr_expect_eq(c->r.jobs[0].end_ns, 10 * S);
    cr_expect_eq(c->r.jobs[0].preemptions, 0u);
    cr_expect_eq(c->r.jobs[1].start_ns, 50 * S);
    cr_expect_eq(c->r.jobs[2].status, STATUS_UNFINISHED);
    cr_expect_str_eq(c->r.jobs[2].reason, "never_started");
    case_destroy(c);
}

Test(quota, reaches_zero_and_returns_by_preemption)
{
    struct vc_change changes[] = {{5 * S, 0}, {50 * S, 4}};
    struct test_case *c = with_quota(VC_PREEMPT, changes, 2);
    struct told *t = cases_watch(c);
    c->spec.overhead.restart.constant_ns = 1 * S;
    quota_job(c, "a", 0, 10, 3);
    quota_job(c, "a", 6, 10, 1);
    case_run(c);
    cr_expect_str_eq(told_at(t, 5 * S), "capacity, requeue 0");
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[0].restarts, 1u);
    cr_expect_eq(c->r.jobs[0].end_ns, (50 + 1 + 5) * S, "the work of 5 s was not lost");
    cr_expect_eq(c->r.jobs[1].start_ns, 50 * S);
    case_destroy(c);
}

Test(quota, the_latest_started_gives_way_first)
{
    struct vc_change changes[] = {{5 * S, 3}};
    struct test_case *c = with_quota(VC_PREEMPT, changes, 1);
    struct told *t = cases_watch(c);
    quota_job(c, "a", 0, 10, 2);
    quota_job(c, "a", 1, 10, 1);
    quota_job(c, "a", 2, 10, 1);
    case_run(c);
    cr_expect_str_eq(told_at(t, 5 * S), "capacity, requeue 2");
    case_destroy(c);
}

Test(quota, what_one_queue_gives_up_the_others_are_offered)
{
    struct vc_change changes[] = {{5 * S, 1}};
    struct test_case *c = with_quota(VC_PREEMPT, changes, 1);
    quota_job(c, "a", 0, 100, 3);
    quota_job(c, "b", 1, 10, 4); /* held back by a's job, not by its own quota */
    case_run(c);
    cr_expect_eq(c->r.jobs[1].start_ns, 5 * S);
    case_destroy(c);
}

Test(quota, changes_before_the_first_submission_are_the_start)
{
    struct vc_change changes[] = {{1 * S, 0}, {2 * S, 1}, {3 * S, 4}};
    struct test_case *c = with_quota(VC_DRAIN, changes, 3);
    quota_job(c, "a", 2, 10, 1);
    quota_job(c, "a", 2, 10, 1);
    case_run(c);
    cr_expect_eq(c->r.jobs[0].start_ns, 2 * S);
    cr_expect_eq(c->r.jobs[1].start_ns, 3 * S);
    case_destroy(c);
}

Test(quota, a_queue_at_zero_for_ever_ends_the_run_under_every_policy)
{
    struct vc_change changes[] = {{5 * S, 0}};
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++)
        for (int shrink = VC_DRAIN; shrink <= VC_PREEMPT && case_any_size(*p); shrink++) {
            struct test_case *c = with_quota((enum vc_shrink)shrink, changes, 1);
            case_policy(c, (*p)->name);
            if (strcmp((*p)->name, "time_window") == 0)
                case_param(c, "window", "1 s"); /* else the first job comes too late */
            quota_job(c, "a", 0, 10000, 3);
            quota_job(c, "b", 6, 10000, 1);
            quota_job(c, "a", 7, 10, 1);
            for (uint32_t j = 0; j < c->n_jobs; j++)
                c->jobs[j].recorded_start_ns = 0;
            case_run(c);
            cr_expect_eq(c->r.jobs[0].status,
                         shrink == VC_DRAIN ? STATUS_FINISHED : STATUS_UNFINISHED, "%s", (*p)->name);
            cr_expect_eq(c->r.jobs[1].status, STATUS_FINISHED, "%s", (*p)->name);
            cr_expect_eq(c->r.jobs[2].status, STATUS_UNFINISHED, "%s", (*p)->name);
            case_destroy(c);
        }
}
