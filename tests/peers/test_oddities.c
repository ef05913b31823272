/* What the other simulators do that the engine does not: tiny cases solved by hand from their rules, and what drivers refuse. */
#include "compat/compat.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct test_case *peer_case(const struct compat_ops *peer, uint32_t nodes, uint32_t gpus, const char *policy,
                                   const char *placement)
{
    struct test_case *c = case_create(nodes, gpus);
    case_policy(c, policy);
    case_placement(c, placement);
    c->spec.compat = peer;
    return c;
}

#define EXPECT_JOB(c, job, start, end)                                                                                 \
    do {                                                                                                               \
        cr_expect_eq((c)->r.jobs[job].start_ns, (start)*S, "job %u starts at %g", job, case_start_s(c, job));          \
        cr_expect_eq((c)->r.jobs[job].end_ns, (end)*S, "job %u ends at %g", job, case_end_s(c, job));                  \
    } while (0)

/* ---- Tiresias -------------------------------------------------------------------------------------- */

Test(tiresias, longest_pending_skips_the_job_behind_each_that_starts)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 4, "longest_waiting", "count");
    for (int i = 0; i < 3; i++)
        case_job(c, 0, 10, 1);
    case_run(c);
    EXPECT_JOB(c, 0u, 0, 10);
    EXPECT_JOB(c, 1u, 10, 20); /* there is room at 0, but it was not looked at */
    EXPECT_JOB(c, 2u, 0, 10);
    case_destroy(c);
}

Test(tiresias, a_job_of_no_length_never_ends_and_keeps_its_gpus)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 2, "fifo", "count");
    case_job(c, 0, 0, 1);
    case_job(c, 1, 5, 2); /* would need both */
    case_run(c);
    cr_expect_eq(c->r.jobs[0].status, STATUS_UNFINISHED);
    cr_expect_str_eq(c->r.jobs[0].reason, "completion_lost");
    cr_expect_eq(c->r.jobs[1].status, STATUS_UNFINISHED);
    cr_expect_str_eq(c->r.jobs[1].reason, "never_started");
    case_policy(c, "srtf"); /* here it ends, in no time */
    case_run(c);
    EXPECT_JOB(c, 0u, 0, 0);
    EXPECT_JOB(c, 1u, 1, 6);
    case_destroy(c);
}

Test(tiresias, smallest_first_preempts)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 2, "smallest", "count");
    case_job(c, 0, 10, 2);
    case_job(c, 3, 4, 1);
    case_run(c);
    EXPECT_JOB(c, 1u, 3, 7);
    EXPECT_JOB(c, 0u, 0, 14);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[0].run_ns, 10 * S);
    case_destroy(c);
}

/* 8 GPUs, limit 3250: reached in truth at 406.25 s. It wakes at (3250 - 0) / 8 = 406 (3,248 GPU s: nothing), then at 406 + (3250 - 406) / 8 =
 * 761: only then does the other job get its turn. (A submission in between would have told it.) */
Test(tiresias, demotion_of_a_large_job_is_noticed_late)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 8, "tiresias", "count");
    case_job(c, 0, 1000, 8);
    case_job(c, 0, 50, 8);
    case_run(c);
    EXPECT_JOB(c, 1u, 761, 811);
    EXPECT_JOB(c, 0u, 0, 1050);
    case_destroy(c);
}

/* One GPU, limit 10 s. At 5 the completion of job 0 falls on the submission of job 2 at 20 and is written into its event. The jump at 10
 * gives the GPU to job 1; at 20 job 0 is called complete with 10 s of its 20 to go. */
Test(tiresias, a_job_that_lost_its_gpus_may_still_complete)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 1, "tiresias", "count");
    case_param(c, "service", "time");
    case_param(c, "thresholds", "[10, 7200]");
    case_job(c, 0, 20, 1);
    case_job(c, 5, 30, 1);
    case_job(c, 20, 5, 1);
    case_run(c);
    EXPECT_JOB(c, 0u, 0, 20);
    cr_expect_eq(c->r.jobs[0].status, STATUS_FINISHED);
    cr_expect_eq(c->r.jobs[0].run_ns, 10 * S);
    EXPECT_JOB(c, 1u, 10, 45); /* demoted at 20, on again at 25 */
    EXPECT_JOB(c, 2u, 20, 25);
    case_destroy(c);
}

Test(tiresias, a_job_that_waited_long_enough_is_promoted)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 1, "tiresias", "count");
    case_param(c, "service", "time");
    case_param(c, "thresholds", "[10, 7200]");
    case_param(c, "promote", "1");
    case_job(c, 0, 30, 1);
    case_job(c, 0, 100, 1);
    /* 0-10 job 0, 10-20 job 1; at 20 both are in the second queue, job 0 has waited its 10 s and goes back to the first */
    case_run(c);
    cr_expect_eq(c->r.jobs[0].start_ns, 0);
    cr_expect_eq(c->r.jobs[1].start_ns, 10 * S);
    cr_expect_gt(c->r.jobs[0].preemptions + c->r.jobs[1].preemptions, 2u);
    case_destroy(c);
}

Test(tiresias, a_job_with_more_gpus_than_its_limit_has_seconds_is_an_error_not_an_endless_loop)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 4000, "tiresias", "count");
    case_job(c, 0, 10, 4000);
    cr_expect_eq(case_try(c), BRAID_FAILED);
    cr_expect_not_null(strstr(c->err.message, "jumps without end"), "%s", c->err.message);
    case_destroy(c);
}

Test(tiresias, a_job_that_never_fits_is_left_out)
{
    struct test_case *c = peer_case(&compat_tiresias, 2, 4, "fifo_skip", "yarn");
    case_job(c, 0, 10, 9);
    case_job(c, 0, 10, 8);
    case_run(c);
    cr_expect_str_eq(c->r.jobs[0].reason, "never_started");
    EXPECT_JOB(c, 1u, 0, 10);
    case_destroy(c);
}

/* Sample: 100 s, nine times 9,000 s, 50,000 s. The index is 30.7 below 100 s of service and 106.8 from there to 9,000 s; the lowest comes
 * first. Job 0 starts. The submissions at 1,000 s and 1,500 s (of jobs that never fit) renew the indices, so job 1 and then job 2 take
 * over. The next renewal is the "unit" 3,250 + 0 + 1,000 + 1,500 = 5,750 s: job 3. */
Test(tiresias, gittins_puts_the_lowest_index_first_and_wakes_at_its_units)
{
    char path[] = "/tmp/braid-peers-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    FILE *f = fdopen(fd, "w");
    fputs("duration\n50000\n100\n", f);
    for (int i = 0; i < 9; i++)
        fputs("9000\n", f);
    fclose(f);
    struct test_case *c = peer_case(&compat_tiresias, 1, 1, "gittins", "count");
    case_param(c, "source", "file");
    case_param(c, "file", path);
    for (int i = 0; i < 4; i++)
        case_job(c, 0, 20000, 1);
    case_job(c, 1000, 1, 2);
    case_job(c, 1500, 1, 2);
    case_run(c);
    unlink(path);
    cr_expect_eq(c->r.jobs[0].start_ns, 0);
    cr_expect_eq(c->r.jobs[1].start_ns, 1000 * S);
    cr_expect_eq(c->r.jobs[2].start_ns, 1500 * S);
    cr_expect_eq(c->r.jobs[3].start_ns, 5750 * S);
    case_destroy(c);
}

/* ---- Helios ---------------------------------------------------------------------------------------- */

Test(helios, under_srtf_jobs_end_a_second_late)
{
    struct test_case *c = peer_case(&compat_helios, 1, 8, "srtf", "consolidate");
    case_job(c, 0, 10, 1);
    case_job(c, 0, 0, 1);
    case_run(c);
    EXPECT_JOB(c, 0u, 0, 11);
    EXPECT_JOB(c, 1u, 0, 1);
    cr_expect_eq(c->r.jobs[0].overhead_ns, S);
    case_destroy(c);
}

/* The victim has 90 s left at 10, then 90 + 30 of overhead; it resumes at 16 (the shorter ends at 10 + 5 + 1) and ends at 16 + 120 + 1. */
Test(helios, a_preempted_job_pays_for_it)
{
    struct test_case *c = peer_case(&compat_helios, 1, 8, "srtf", "consolidate");
    case_job(c, 0, 100, 8);
    case_job(c, 10, 5, 1);
    case_run(c);
    EXPECT_JOB(c, 1u, 10, 16);
    EXPECT_JOB(c, 0u, 0, 137);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[0].restarts, 1u);
    cr_expect_eq(c->r.jobs[0].overhead_ns, 31 * S);
    cr_expect_eq(c->r.jobs[0].run_ns, 131 * S);
    case_destroy(c);
}

/* The quota says that 4 + 4 GPUs go to job 2 when job 1 gives up its 4 on the second node; but there are 4 free on each node then, so that
 * job 2 (8 GPUs on one node) finds no place: job 1 was preempted for nothing, and starts again in the next second. */
Test(helios, a_quota_without_nodes_preempts_for_nothing)
{
    struct test_case *c = peer_case(&compat_helios, 2, 8, "srtf", "consolidate");
    case_job(c, 0, 50, 7);
    case_job(c, 0, 100, 7);
    case_job(c, 5, 60, 8);
    case_run(c);
    /* at 5: left 45, 95, 60: quota 16 - 7 - 8 = 1, job 1 must go; node 1 is free then: job 2 starts */
    EXPECT_JOB(c, 2u, 5, 66);
    cr_expect_eq(c->r.jobs[1].preemptions, 1u);
    case_destroy(c);
    c = peer_case(&compat_helios, 2, 8, "srtf", "consolidate");
    case_job(c, 0, 50, 3);
    case_job(c, 0, 50, 6);  /* with best fit: the other node */
    case_job(c, 0, 200, 2); /* beside the 6 */
    case_job(c, 5, 60, 8);
    /* at 5: left 45, 45, 60 (job 3), 195: quota 16 - 3 - 6 = 7 < 8: job 3 is passed over, nobody is preempted */
    case_run(c);
    cr_expect_eq(c->r.jobs[2].preemptions, 0u);
    case_destroy(c);
    c = peer_case(&compat_helios, 2, 8, "srtf", "consolidate");
    case_job(c, 0, 50, 5);
    case_job(c, 0, 50, 4);  /* the other node */
    case_job(c, 0, 200, 4); /* beside it */
    case_job(c, 5, 60, 7);
    /* at 5: left 45, 45, 60, 195: quota 16 - 5 - 4 - 7 = 0: job 2 goes, but 3 and 4 GPUs are free on the two nodes */
    case_run(c);
    cr_expect_geq(c->r.jobs[2].preemptions, 1u);
    cr_expect_gt(c->r.jobs[3].start_ns, 5 * S);
    case_destroy(c);
}

/* Guesses count only once a job has waited: in its first second the smaller job comes first, whatever its guess. */
Test(helios, qssf_goes_by_size_until_somebody_has_waited)
{
    struct test_case *c = peer_case(&compat_helios, 1, 8, "qssf", "consolidate");
    case_job(c, 0, 10, 8); /* 80 */
    case_job(c, 0, 90, 7); /* 630, but smaller */
    case_job(c, 1, 10, 6); /* 60 */
    case_run(c);
    EXPECT_JOB(c, 1u, 0, 90);
    EXPECT_JOB(c, 2u, 90, 100); /* then by guess */
    EXPECT_JOB(c, 0u, 100, 110);
    case_destroy(c);
}

Test(helios, without_preemption_a_job_of_no_length_never_ends)
{
    struct test_case *c = peer_case(&compat_helios, 1, 8, "fifo", "consolidate");
    case_job(c, 0, 0, 8);
    case_job(c, 1, 5, 1);
    case_run(c);
    cr_expect_str_eq(c->r.jobs[0].reason, "never_ends");
    cr_expect_str_eq(c->r.jobs[1].reason, "never_started");
    case_destroy(c);
}

/* 4 free on one node, 6 on the other; 12 GPUs want a whole node and the roomiest other. */
Test(helios, consolidate_takes_the_tightest_node_and_for_the_rest_the_roomiest)
{
    struct test_case *c = peer_case(&compat_helios, 4, 8, "fifo", "consolidate");
    case_job(c, 0, 50, 8);  /* node 0 */
    case_job(c, 1, 50, 3);  /* node 1: 5 free */
    case_job(c, 2, 50, 2);  /* node 1: 3 free */
    case_job(c, 3, 50, 12); /* node 2 whole; node 3 (8 free) for the rest, not node 1 */
    case_job(c, 4, 50, 4);  /* the 4 left on node 3 */
    case_job(c, 5, 10, 4);  /* nowhere: 3 on node 1 */
    case_run(c);
    EXPECT_JOB(c, 4u, 4, 54);
    EXPECT_JOB(c, 5u, 50, 60);
    case_destroy(c);
}

struct nodes {
    uint32_t of_job, n, node[8];
};

static void on_place(void *self, uint32_t job, int64_t begin_ns, int64_t end_ns, enum segment_kind kind, double rate,
                     uint32_t group, const struct span *spans, uint32_t n_spans)
{
    struct nodes *p = self;
    (void)begin_ns, (void)end_ns, (void)rate, (void)group;
    for (uint32_t i = 0; job == p->of_job && kind == SEGMENT_RUN && i < n_spans && p->n < 8; i++)
        p->node[p->n++] = spans[i].node;
}

/* Of nodes with as many free GPUs the first one is taken. */
Test(helios, a_job_of_several_nodes_takes_the_first_of_equal_nodes)
{
    struct test_case *c = peer_case(&compat_helios, 5, 8, "fifo", "consolidate");
    struct nodes places = {.of_job = 1};
    case_job(c, 0, 50, 1);  /* node 0 */
    case_job(c, 1, 10, 20); /* nodes 1 and 2 whole, and 4 GPUs on node 3 */
    c->spec.watch = (struct run_watch){.self = &places, .segment = on_place};
    case_run(c);
    cr_assert_eq(places.n, 3u);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect_eq(places.node[i], i + 1);
    case_destroy(c);
}

Test(helios, a_job_of_a_virtual_cluster_that_is_not_listed_is_rejected)
{
    struct test_case *c = peer_case(&compat_helios, 2, 8, "fifo", "count");
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_NODES, .amount = 1};
    c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_NODES, .amount = 1};
    c->cluster.n_vcs = 2;
    c->jobs[case_job(c, 0, 10, 8)].vc = "b";
    c->jobs[case_job(c, 0, 10, 8)].vc = "b";
    c->jobs[case_job(c, 0, 10, 8)].vc = "a";
    c->jobs[case_job(c, 0, 10, 8)].vc = "c";
    case_run(c);
    EXPECT_JOB(c, 1u, 10, 20); /* each its own queue */
    EXPECT_JOB(c, 2u, 0, 10);
    cr_expect_eq(c->r.jobs[3].status, STATUS_REJECTED);
    cr_expect_str_eq(c->r.jobs[3].reason, "unknown_vc");
    case_destroy(c);
}

/* ---- both ------------------------------------------------------------------------------------------ */

struct seen {
    int64_t gpu_ns[CASE_JOBS], last_ns;
    const struct test_case *c;
    bool is_ordered;
    uint32_t starts;
};

static void on_segment(void *self, uint32_t job, int64_t begin_ns, int64_t end_ns, enum segment_kind kind, double rate,
                       uint32_t group, const struct span *spans, uint32_t n_spans)
{
    struct seen *s = self;
    (void)rate, (void)group;
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < n_spans; i++)
        gpus += spans[i].gpu_count;
    cr_expect_eq(gpus, kind == SEGMENT_QUEUED ? 0 : s->c->jobs[job].gpus);
    s->gpu_ns[job] += (end_ns - begin_ns) * gpus;
}

static void on_decision(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc, const char *why)
{
    struct seen *s = self;
    (void)job, (void)vc, (void)why;
    s->is_ordered &= at_ns >= s->last_ns;
    s->last_ns = at_ns;
    s->starts += kind == DECISION_START;
}

static void on_levels(void *self, int64_t at_ns, uint32_t instance, const struct run_levels *levels)
{
    struct seen *s = self;
    s->is_ordered &= at_ns >= s->last_ns;
    s->last_ns = at_ns;
    cr_expect_eq(instance, 0u);
    cr_expect_leq(levels->allocated_gpus, levels->capacity_gpus);
}

Test(compat, watchers_are_told_in_order_and_of_all_gpu_time)
{
    const struct compat_ops *peers[] = {&compat_tiresias, &compat_helios};
    for (int i = 0; i < 2; i++) {
        struct test_case *c = peer_case(peers[i], 2, 8, "srtf", "count");
        static struct seen s;
        s = (struct seen){.c = c, .is_ordered = true};
        for (int k = 0; k < 60; k++)
            case_job(c, k * 7, 20 + k * 37 % 90, 1 + (uint32_t)(k * 5 % 12));
        c->spec.watch = (struct run_watch){&s, on_segment, on_decision, on_levels};
        case_run(c);
        int64_t all = 0;
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            cr_expect_eq(s.gpu_ns[j], c->r.jobs[j].gpu_ns);
            cr_expect_eq(c->r.jobs[j].run_ns - c->r.jobs[j].overhead_ns, c->jobs[j].duration_ns);
            all += c->r.jobs[j].gpu_ns;
        }
        cr_expect_eq(c->r.totals.allocated_gpu_ns_makespan, (double)all);
        cr_expect_eq(c->r.totals.capacity_gpu_ns_makespan, 16.0 * (double)c->r.totals.last_end_ns);
        cr_expect(s.is_ordered);
        cr_expect_eq(s.starts, 60u);
        case_destroy(c);
    }
}

Test(compat, a_horizon_and_an_overload_end_the_run)
{
    struct test_case *c = peer_case(&compat_tiresias, 1, 1, "fifo", "count");
    case_job(c, 0, 10, 1);
    case_job(c, 1, 10, 1);
    case_job(c, 90, 10, 1);
    c->spec.stop.at_ns = 15 * S;
    case_run(c);
    cr_expect_eq(c->r.jobs[0].status, STATUS_FINISHED);
    cr_expect_str_eq(c->r.jobs[1].reason, "horizon");
    cr_expect_eq(c->r.jobs[1].run_ns, 5 * S);
    cr_expect_str_eq(c->r.jobs[2].reason, "not_submitted");
    c->spec.stop = (struct stop_spec){RUN_NO_LIMIT, 0};
    case_run(c);
    cr_expect(c->r.totals.is_overloaded);
    cr_expect_str_eq(c->r.jobs[1].reason, "overload");
    case_destroy(c);
}

static void expect_refused(struct test_case *c, const char *message)
{
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, message), "'%s' does not say '%s'", c->err.message, message);
    cr_expect_null(c->r.jobs);
    case_destroy(c);
}

static struct test_case *one_job(const struct compat_ops *peer, const char *policy, const char *placement)
{
    struct test_case *c = peer_case(peer, 1, 4, policy, placement);
    case_job(c, 0, 10, 1);
    return c;
}

Test(compat, what_a_peer_does_not_have_is_refused_with_what_it_has)
{
    struct test_case *c = one_job(&compat_tiresias, "easy", "count");
    expect_refused(c, "the Tiresias simulator has no policy 'easy'; it has fifo, fifo_skip, longest_waiting, smallest, "
                      "srtf, srsf, tiresias, gittins");
    expect_refused(one_job(&compat_helios, "tiresias", "count"),
                   "the Helios simulator has no policy 'tiresias'; it has fifo, sjf, srtf, qssf");
    c = one_job(&compat_helios, "fifo", "count");
    case_param(c, "fill", "easy");
    expect_refused(c, "no policy fifo with 'fill: easy'; leave 'fill' out");
    expect_refused(one_job(&compat_tiresias, "fifo", "consolidate"), "no placement 'consolidate'; it has count, yarn");
    expect_refused(one_job(&compat_helios, "fifo", "random"), "no placement 'random'; it has consolidate, count");
    expect_refused(one_job(&compat_helios, "fifo", "consolidate"), "on nodes of 8 GPUs alone, but node 0 has 4");
    expect_refused(one_job(&compat_tiresias, "srtf", "yarn"), "soon places nothing more under yarn");
    expect_refused(one_job(&compat_tiresias, "tiresias", "yarn"), "only counts GPUs");
    expect_refused(one_job(&compat_tiresias, "gittins", "count"), "from a file");
    c = one_job(&compat_tiresias, "fifo", "count");
    c->spec.estimate.source = ESTIMATE_NOISE;
    expect_refused(c, "write estimate: exact");
    c = one_job(&compat_helios, "qssf", "count");
    c->spec.estimate.source = ESTIMATE_USER_MEAN;
    expect_refused(c, "reads its predictions");
    c = one_job(&compat_tiresias, "fifo", "count");
    c->spec.overhead.restart.constant_ns = S;
    expect_refused(c, "no overheads to choose");
    c = one_job(&compat_helios, "fifo", "count");
    c->spec.overhead.restart.constant_ns = S;
    expect_refused(c, "overheads of its own");
    c = one_job(&compat_helios, "fifo", "count");
    case_job(c, 1.5, 10, 1);
    expect_refused(c, "counts whole seconds, but the submission of job");
    c = one_job(&compat_tiresias, "fifo", "count");
    case_job(c, 1, 2.5, 1);
    expect_refused(c, "the duration of job");
    c = one_job(&compat_tiresias, "tiresias", "count");
    case_param(c, "thresholds", "[3250.5]");
    expect_refused(c, "whole numbers that ascend");
    c = one_job(&compat_tiresias, "fifo", "count");
    c->vcs[0] = (struct vc_spec){.name = "", .mode = VC_NODES, .amount = 1};
    c->cluster.n_vcs = 1;
    expect_refused(c, "leave cluster.vcs out");
    c = one_job(&compat_helios, "fifo", "count");
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 1};
    c->cluster.n_vcs = 1;
    expect_refused(c, "knows no quotas");
}

Test(compat, drivers_are_found_by_name)
{
    cr_expect_eq(compat_find("helios"), &compat_helios);
    cr_expect_null(compat_find("none"));
    for (size_t i = 0; compat_list()[i] != NULL; i++)
        cr_expect_eq(compat_find(compat_list()[i]->name), compat_list()[i]);
}
