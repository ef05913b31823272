/* What a run tells agrees with its table of jobs: segments tile each job's life, and every identity holds to the nanosecond. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct cases_shape one_queue = {
    .jobs = 150, .nodes = 4, .gpus = 8, .span_ns = 2000 * S, .longest_ns = 400 * S, .grain_ns = 1, .largest = 20};
static const struct cases_shape quotas = {.jobs = 150,
                                          .nodes = 4,
                                          .gpus = 8,
                                          .span_ns = 2000 * S,
                                          .longest_ns = 400 * S,
                                          .grain_ns = 1,
                                          .largest = 20,
                                          .n_vcs = 3,
                                          .quotas = true};

/* ---- the checks ---------------------------------------------------------------------------------------- */

/* Queued, overhead and run follow one another from submission to end; their sums are those of the table. */
static void check_tiles(const struct test_case *c, const struct told *t, const char *policy)
{
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct job *job = &c->r.jobs[j];
        int64_t at = c->jobs[j].submit_ns, queued = 0, overhead = 0, run = 0, gpu_ns = 0;
        double work = 0;
        for (uint32_t i = 0; i < t->n_segments; i++) {
            const struct told_segment *s = &t->segments[i];
            if (s->job != j)
                continue;
            cr_assert_eq(s->begin, at, "%s: job %u has a gap or an overlap at %lld", policy, j, (long long)at);
            cr_assert_gt(s->end, s->begin);
            at = s->end;
            int64_t length = s->end - s->begin;
            uint32_t gpus = 0;
            for (uint32_t k = 0; k < s->n_spans; k++)
                gpus += s->spans[k].gpu_count;
            cr_assert_eq(gpus, s->kind == SEGMENT_QUEUED ? 0u : c->jobs[j].gpus);
            queued += s->kind == SEGMENT_QUEUED ? length : 0;
            overhead += s->kind == SEGMENT_OVERHEAD ? length : 0;
            run += s->kind == SEGMENT_RUN ? length : 0;
            work += (double)length * s->rate;
            gpu_ns += length * gpus;
        }
        if (job->end_ns >= 0)
            cr_assert_eq(at, job->end_ns, "%s: job %u", policy, j);
        cr_assert_eq(overhead, job->overhead_ns);
        cr_assert_eq(overhead + run, job->run_ns);
        cr_assert_leq(job->overhead_ns, job->run_ns);
        cr_assert_eq(gpu_ns, job->gpu_ns);
        cr_assert_eq(work, job->work_done);
        if (job->status == STATUS_FINISHED) {
            cr_assert_eq(run, c->jobs[j].duration_ns);
            cr_assert_eq(job->end_ns - c->jobs[j].submit_ns, queued + job->run_ns, "jct = queued + run");
        }
    }
    /* told in order of time; an overhead is told together with the run behind it */
    int64_t last = 0;
    for (uint32_t i = 0; i < t->n_segments; i++) {
        if (t->segments[i].kind == SEGMENT_OVERHEAD)
            continue;
        cr_assert_geq(t->segments[i].end, last, "%s: not in order of time", policy);
        last = t->segments[i].end;
    }
}

/* No GPU has two jobs at a time. */
static void check_exclusive(const struct told *t, const char *policy)
{
    for (uint32_t i = 0; i < t->n_segments; i++)
        for (uint32_t k = i + 1; k < t->n_segments; k++) {
            const struct told_segment *a = &t->segments[i], *b = &t->segments[k];
            if (a->end <= b->begin || b->end <= a->begin)
                continue;
            for (uint32_t x = 0; x < a->n_spans; x++)
                for (uint32_t y = 0; y < b->n_spans; y++) {
                    const struct span *p = &a->spans[x], *q = &b->spans[y];
                    cr_assert(p->node != q->node || p->gpu_first + p->gpu_count <= q->gpu_first ||
                                  q->gpu_first + q->gpu_count <= p->gpu_first,
                              "%s: jobs %u and %u share a GPU of node %u", policy, a->job, b->job, p->node);
                }
        }
}

/* submit -> start -> (preempt | requeue -> resume | move)* -> finish | kill, and the counts of the table. */
static void check_decisions(const struct test_case *c, const struct told *t, const char *policy)
{
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct job *job = &c->r.jobs[j];
        enum { NEW, QUEUED, RUNNING, GONE } is = NEW;
        uint32_t preemptions = 0, moves = 0, restarts = 0, starts = 0;
        for (uint32_t i = 0; i < t->n_decisions; i++) {
            const struct told_decision *d = &t->decisions[i];
            if (d->job != j)
                continue;
            bool is_good = false;
            switch (d->kind) {
            case DECISION_SUBMIT:
                is_good = is == NEW && d->at == c->jobs[j].submit_ns;
                is = QUEUED;
                break;
            case DECISION_REJECT:
                is_good = is == NEW || is == QUEUED;
                is = GONE;
                break;
            case DECISION_START:
                is_good = is == QUEUED && starts++ == 0 && d->at == job->start_ns;
                is = RUNNING;
                break;
            case DECISION_RESUME:
                is_good = is == QUEUED && starts == 1;
                restarts++;
                is = RUNNING;
                break;
            case DECISION_PREEMPT:
            case DECISION_REQUEUE:
                is_good = is == RUNNING;
                preemptions++;
                is = QUEUED;
                break;
            case DECISION_MOVE:
                is_good = is == RUNNING;
                moves++;
                break;
            case DECISION_FINISH:
            case DECISION_KILL:
                is_good = is == RUNNING && d->at == job->end_ns;
                is = GONE;
                break;
            case DECISION_CAPACITY:
                break;
            }
            cr_assert(is_good, "%s: job %u: %s at %lld", policy, j, decision_kind_text(d->kind), (long long)d->at);
        }
        cr_assert_eq(preemptions, job->preemptions);
        cr_assert_eq(moves, job->moves);
        cr_assert_eq(restarts, job->restarts);
        cr_assert(job->status != STATUS_FINISHED || is == GONE);
    }
    for (uint32_t i = 1; i < t->n_decisions; i++)
        cr_assert_geq(t->decisions[i].at, t->decisions[i - 1].at);
}

/* Little: over a run that begins and ends empty the area under the number of jobs is the sum of the times that they spent there, in
 * the queue, on GPUs and in all; and the area under the GPUs is their GPU-time. Exact, for all are integers. */
static void check_little(const struct test_case *c, const struct told *t, const char *policy)
{
    __int128 queued = 0, running = 0, allocated = 0, waited = 0, ran = 0, held = 0;
    for (uint32_t instance = 0; instance < c->r.n_instances; instance++) {
        struct run_levels now = {0};
        int64_t at = 0;
        for (uint32_t i = 0; i < t->n_levels; i++) {
            if (t->levels[i].instance != instance)
                continue;
            int64_t dt = t->levels[i].at - at;
            queued += (__int128)now.queued_jobs * dt;
            running += (__int128)now.running_jobs * dt;
            allocated += (__int128)now.allocated_gpus * dt;
            now = t->levels[i].levels;
            at = t->levels[i].at;
        }
        cr_assert(now.queued_jobs == 0 && now.running_jobs == 0 && now.allocated_gpus == 0 && now.queued_gpus == 0,
                  "%s: the run does not end empty", policy);
    }
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct job *job = &c->r.jobs[j];
        if (job->status == STATUS_REJECTED)
            continue;
        waited += job->end_ns - c->jobs[j].submit_ns - job->run_ns;
        ran += job->run_ns;
        held += job->gpu_ns;
    }
    cr_assert(queued == waited, "%s: queued", policy);
    cr_assert(running == ran, "%s: running", policy);
    cr_assert(allocated == held, "%s: GPUs", policy);
    cr_assert_eq(c->r.totals.allocated_gpu_ns_makespan, (double)held, "%s: totals", policy);
}

static void check_all(const struct cases_shape *shape, const char *placement, bool has_overhead)
{
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        if (!case_any_size(*p))
            continue;
        struct test_case *c = cases_create(shape, 17);
        struct told *t = cases_watch(c);
        case_policy_quick(c, (*p)->name);
        case_placement(c, placement);
        c->spec.estimate.source = ESTIMATE_TRACE;
        if (has_overhead) {
            c->spec.overhead.start.constant_ns = 2 * S + 1;
            c->spec.overhead.restart.constant_ns = 7 * S + 3;
        }
        if (strcmp((*p)->name, "round_robin") == 0)
            case_param(c, "quantum", "20 s");
        case_run(c);
        check_tiles(c, t, (*p)->name);
        check_exclusive(t, (*p)->name);
        check_decisions(c, t, (*p)->name);
        bool is_finite = true;
        for (uint32_t j = 0; j < c->n_jobs; j++)
            is_finite &= c->r.jobs[j].status != STATUS_UNFINISHED;
        cr_assert(is_finite, "%s: jobs are left over", (*p)->name);
        check_little(c, t, (*p)->name);
        case_destroy(c);
    }
}

Test(watch, every_policy_over_one_queue)
{
    check_all(&one_queue, "consolidate", false);
}

Test(watch, every_policy_with_overheads)
{
    check_all(&one_queue, "spread", true);
}

Test(watch, every_policy_over_quotas_that_change)
{
    check_all(&quotas, "consolidate", true);
}

Test(watch, every_placement)
{
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++) {
        struct test_case *c = cases_create(&one_queue, 5);
        struct told *t = cases_watch(c);
        case_policy(c, "srtf");
        case_placement(c, (*p)->name);
        c->spec.overhead.restart.constant_ns = 3 * S;
        case_run(c);
        check_tiles(c, t, (*p)->name);
        check_exclusive(t, (*p)->name);
        check_decisions(c, t, (*p)->name);
        check_little(c, t, (*p)->name);
        case_destroy(c);
    }
}

Test(watch, a_run_that_is_cut_is_tiled_too)
{
    struct test_case *c = cases_create(&one_queue, 5);
    struct told *t = cases_watch(c);
    case_policy(c, "srtf");
    c->spec.stop.at_ns = 1000 * S + 1;
    case_run(c);
    check_tiles(c, t, "srtf");
    case_destroy(c);
}

Test(watch, jobs_that_are_killed_are_tiled_too)
{
    struct test_case *c = cases_create(&one_queue, 5);
    struct told *t = cases_watch(c);
    case_policy(c, "srtf");
    c->spec.estimate.source = ESTIMATE_TRACE;
    c->spec.estimate.on_exceed = ESTIMATE_KILL;
    case_run(c);
    check_tiles(c, t, "srtf");
    check_decisions(c, t, "srtf");
    uint32_t n_killed = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct job *job = &c->r.jobs[j];
        bool is_over = c->jobs[j].estimate_ns < c->jobs[j].duration_ns;
        cr_expect_eq(job->status, is_over ? STATUS_KILLED : STATUS_FINISHED);
        if (is_over)
            cr_expect_eq(job->run_ns, c->jobs[j].estimate_ns < 1 ? 1 : c->jobs[j].estimate_ns);
        n_killed += is_over;
    }
    cr_expect_gt(n_killed, 0u);
    case_destroy(c);
}

Test(watch, watching_changes_nothing)
{
    struct test_case *seen = cases_create(&quotas, 9), *unseen = cases_create(&quotas, 9);
    cases_watch(seen);
    case_policy(seen, "srtf");
    case_policy(unseen, "srtf");
    unseen->spec.check = false;
    case_run(seen);
    case_run(unseen);
    cr_expect(cases_same(&seen->r, &unseen->r, NULL, 0, 1));
    case_destroy(seen);
    case_destroy(unseen);
}
