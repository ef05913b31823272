/* events.c - what the events of an instant do to jobs and books, before any policy is asked. */
#include "base/check.h"
#include "engine/sim.h"

#include <math.h>

void job_link(struct sched *s, struct job *jobs, uint32_t job)
{
    jobs[job].run_next = JOB_NIL;
    jobs[job].run_prev = s->running_last;
    if (s->running_last != JOB_NIL)
        jobs[s->running_last].run_next = job;
    else
        s->running_first = job;
    s->running_last = job;
    s->running_jobs++;
}

void job_unlink(struct sched *s, struct job *jobs, uint32_t job)
{
    struct job *j = &jobs[job];
    if (j->run_prev != JOB_NIL)
        jobs[j->run_prev].run_next = j->run_next;
    else
        s->running_first = j->run_next;
    if (j->run_next != JOB_NIL)
        jobs[j->run_next].run_prev = j->run_prev;
    else
        s->running_last = j->run_prev;
    s->running_jobs--;
}

int64_t job_end_ns(const struct sim *sim, uint32_t job)
{
    const struct job *j = &sim->jobs[job];
    double left = (double)sim->w->duration_ns[job] - j->work_done;
    if (sim->spec->estimate.on_exceed == ESTIMATE_KILL) {
        double allowed = (double)estimate_of(sim, job) - j->work_done;
        left = allowed < left ? allowed : left;
    }
    int64_t from = job_work_from_ns(j);
    if (left <= 0)
        return from;
    double wait = j->rate == 1.0 ? ceil(left) : ceil(left / j->rate);
    return wait < (double)TIME_LAST ? time_after(from, (int64_t)wait) : TIME_LAST;
}

static void segment_emit(const struct sim *sim, uint32_t job, int64_t begin, int64_t end, enum segment_kind kind, double rate)
{
    const struct run_watch *watch = &sim->spec->watch;
    if (watch->segment == NULL || begin >= end)
        return;
    const struct span *spans = NULL;
    uint32_t n = kind == SEGMENT_QUEUED ? 0 : cluster_alloc_spans(sim->cluster, sim->jobs[job].alloc, &spans);
    uint32_t group = n > 0 ? hold_of(sim, sim->jobs[job].alloc)->group : HOLD_ALONE;
    watch->segment(watch->self, job, begin, end, kind, rate, group, spans, n);
}

void job_emit_queued(const struct sim *sim, uint32_t job)
{
    segment_emit(sim, job, sim->jobs[job].since_ns, sim->now_ns, SEGMENT_QUEUED, 0);
}

void job_settle(struct sim *sim, uint32_t job)
{
    struct job *j = &sim->jobs[job];
    int64_t now = sim->now_ns, held = now - j->since_ns;
    int64_t work_from = job_work_from_ns(j) < now ? job_work_from_ns(j) : now;
    int64_t productive = now - work_from;
    j->run_ns += held;
    j->overhead_ns += held - productive;
    int64_t gpu_ns;
    if (__builtin_mul_overflow(held, (int64_t)sim_gpus(sim, job), &gpu_ns) || __builtin_add_overflow(j->gpu_ns, gpu_ns, &j->gpu_ns))
        j->gpu_ns = INT64_MAX;
    j->work_done += (double)productive * j->rate;
    totals_work(sim, job, (double)productive * j->rate);
    segment_emit(sim, job, j->since_ns, work_from, SEGMENT_OVERHEAD, 0);
    segment_emit(sim, job, work_from, now, SEGMENT_RUN, j->rate);
    j->since_ns = now;
}

void job_set_rate(struct sim *sim, uint32_t job, double rate)
{
    struct job *j = &sim->jobs[job];
    if (j->rate == rate)
        return;
    job_settle(sim, job);
    j->rate = rate;
    evq_set(&sim->events, job, job_end_ns(sim, job), EVENT_COMPLETION);
}

void job_done(struct sim *sim, uint32_t job, enum job_status status, const char *reason)
{
    struct job *j = &sim->jobs[job];
    j->state = JOB_DONE;
    j->status = (uint8_t)status;
    j->reason = reason;
    j->end_ns = sim->now_ns;
    j->rate = 0;
    sim->n_done++;
    sim->n_status[status]++;
    if (sim->depend.missing != NULL)
        depend_on_done(sim, job, status);
}

void event_completion(struct sim *sim, uint32_t job)
{
    struct job *j = &sim->jobs[job];
    struct sched *s = &sim->instances[j->instance];
    require(j->state == JOB_RUNNING && j->alloc != ALLOC_NONE, "job %u ends but is not running", job);
    job_settle(sim, job);
    uint32_t vc = sim_vc(sim, job);
    if (sim->spec->check)
        books_note(sim, j->alloc);
    hold_leave(sim, j->alloc, job);
    j->alloc = ALLOC_NONE;
    job_unlink(s, sim->jobs, job);
    sim->n_running--;
    sim->n_fruitless = 0;
    hold_settle(sim); /* those it shared its GPUs with go faster from now on */
    bool is_killed = sim->spec->estimate.on_exceed == ESTIMATE_KILL && estimate_of(sim, job) < sim->w->duration_ns[job];
    if (!is_killed)
        j->work_done = (double)sim->w->duration_ns[job]; /* a rate other than 1 leaves it within a rounding of that */
    job_done(sim, job, is_killed ? STATUS_KILLED : STATUS_FINISHED, is_killed ? "estimate_exceeded" : "");
    estimate_on_finish(sim, job);
    sim_decision(sim, is_killed ? DECISION_KILL : DECISION_FINISH, job, j->reason);
    if (sim->ops->on_finish != NULL)
        sim->ops->on_finish(s->self, s, job);
    sim_touch(sim, s);
    sim_touch_partition(sim, cluster_vc(sim->cluster, vc)->partition);
    totals_makespan(sim);
}

static const char *refusal(struct sim *sim, uint32_t job)
{
    uint32_t vc = sim_vc(sim, job), demand = sim->jobs[job].demand;
    if (vc == NAMES_NONE)
        return "unknown_vc";
    const char **known = &sim->never[(size_t)vc * sim->n_demands + demand];
    if (*known == NULL) {
        const struct demand *d = &sim->demands[demand];
        const char *why = cluster_never_fits(sim->cluster, vc, d, sim->is_packed);
        if (why == NULL && sim->placement->never != NULL)
            why = sim->placement->never(sim->cluster, cluster_vc(sim->cluster, vc)->partition, d);
        *known = why != NULL ? why : "";
    }
    return **known != '\0' ? *known : NULL;
}

void event_arrival(struct sim *sim, uint32_t job)
{
    struct job *j = &sim->jobs[job];
    uint32_t missing = sim->depend.missing != NULL ? sim->depend.missing[job] : 0;
    if (missing != 0 && missing != DEPEND_FAILED)
        return; /* it comes again when the last of those that it waits for is done */
    j->since_ns = sim->now_ns;
    sim->n_arrived++;
    segment_emit(sim, job, sim->w->submit_ns[job], sim->now_ns, SEGMENT_QUEUED, 0); /* it waited for other jobs */
    const char *why = missing == DEPEND_FAILED ? "dependency_failed" : refusal(sim, job);
    if (why != NULL) {
        job_done(sim, job, STATUS_REJECTED, why);
        sim_decision(sim, DECISION_REJECT, job, why);
        return;
    }
    struct sched *s = &sim->instances[sim->ops->scope == SCOPE_CLUSTER ? 0 : sim_vc(sim, job)];
    j->instance = (uint16_t)s->index;
    j->state = JOB_QUEUED;
    s->queued_jobs++;
    s->queued_gpus += sim_gpus(sim, job);
    sim->n_queued++;
    estimate_on_submit(sim, job);
    sim_decision(sim, DECISION_SUBMIT, job, "");
    if (sim->ops->on_submit != NULL)
        sim->ops->on_submit(s->self, s, job);
    sim_touch(sim, s);
}

void event_capacity(struct sim *sim, const struct capacity_change *change)
{
    const struct vc *vc = cluster_vc(sim->cluster, change->vc);
    cluster_vc_set_quota(sim->cluster, change->vc, change->gpus);
    struct sched *s = &sim->instances[sim->ops->scope == SCOPE_CLUSTER ? 0 : change->vc];
    sim_decision(sim, DECISION_CAPACITY, JOB_NIL, vc->name);
    if (vc->shrink == VC_PREEMPT && vc->used_gpus > vc->quota_gpus) { /* the latest started give way first */
        for (uint32_t job = s->running_last, prev; job != JOB_NIL && vc->used_gpus > vc->quota_gpus; job = prev) {
            prev = sim->jobs[job].run_prev;
            if (sim_vc(sim, job) == change->vc)
                stage_requeue(sim, job, CAUSE_CAPACITY);
        }
        sim_touch_partition(sim, vc->partition); /* other queues may use what they gave up */
    }
    if (sim->ops->on_capacity != NULL)
        sim->ops->on_capacity(s->self, s);
    sim_touch(sim, s);
}

void event_timer(struct sim *sim, uint32_t instance)
{
    struct sched *s = &sim->instances[instance];
    s->wake_ns = SCHED_NEVER;
    if (sim->ops->on_timer != NULL)
        sim->ops->on_timer(s->self, s);
    sim_touch(sim, s);
}
