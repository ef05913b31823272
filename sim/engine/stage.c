/* stage.c - the verbs of a policy. A verb acts on the cluster at once and keeps one record a job; when `schedule` returns, the
 * record (what the job was before the round) is compared with what the job is now, and only the difference counts:
 *
 *   before   now                      settled as
 *   queued   running                  start, or resume when it ran before
 *   running  queued                   preemption
 *   running  running, same GPUs       nothing
 *   running  running, other GPUs      one move
 *   queued   queued                   nothing
 */
#include "base/check.h"
#include "engine/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Find or make the record of `job`; NULL when memory is out. */
static struct staged *stage_record(struct sim *sim, struct sched *s, uint32_t job)
{
    struct job *j = &sim->jobs[job];
    if (j->staged == 0) {
        if (sim->n_staged == sim->staged_room) {
            uint32_t room = sim->staged_room * 2 + 64;
            struct staged *grown = ARENA_NEW(&sim->arena, struct staged, room);
            if (grown == NULL) {
                sim_fail(sim, BRAID_FAILED, "out of memory");
                return NULL;
            }
            if (sim->n_staged > 0)
                memcpy(grown, sim->staged, sim->n_staged * sizeof *grown);
            sim->staged = grown;
            sim->staged_room = room;
        }
        struct staged *r = &sim->staged[sim->n_staged++];
        char *why = r->why; /* a record that was used before keeps its text */
        *r = (struct staged){job, j->state == JOB_RUNNING ? j->alloc : ALLOC_NONE, j->state == JOB_RUNNING, why};
        if (r->was_running)
            hold_keep(sim, r->old_alloc);
        if (sim->spec->watch.decision != NULL && r->why == NULL)
            r->why = ARENA_NEW(&sim->arena, char, WHY_MAX);
        if (r->why != NULL)
            r->why[0] = '\0';
        j->staged = sim->n_staged;
    }
    struct staged *r = &sim->staged[j->staged - 1];
    if (r->why != NULL && s->because[0] != '\0')
        memcpy(r->why, s->because, WHY_MAX);
    s->because[0] = '\0';
    return r;
}

void sched_because(struct sched *s, const char *format, ...)
{
    if (s->sim->spec->watch.decision == NULL)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(s->because, sizeof s->because, format, args);
    va_end(args);
}

/* The checks that every verb on a job begins with. */
static int stage_enter(struct sched *s, uint32_t job, enum job_state wanted)
{
    struct sim *sim = s->sim;
    sim->totals.decision_ops++;
    if (!s->in_schedule)
        return SCHED_E_CALL;
    if (job >= sim->w->n_jobs || sim->jobs[job].instance != s->index || sim->jobs[job].state == JOB_NONE)
        return SCHED_E_SCOPE;
    return sim->jobs[job].state == wanted ? SCHED_OK : SCHED_E_STATE;
}

static int stage_no_fit(struct sched *s)
{
    s->is_blocked = true;
    s->because[0] = '\0';
    return SCHED_E_NO_FIT;
}

/* The job runs on `handle` from now on. */
static void stage_settle_in(struct sched *s, uint32_t job, uint32_t handle)
{
    struct sim *sim = s->sim;
    if (sim->spec->check)
        books_note(sim, handle);
    struct job *j = &sim->jobs[job];
    j->alloc = handle;
    j->state = JOB_RUNNING;
    s->queued_jobs--;
    s->queued_gpus -= sim_gpus(sim, job);
    sim->n_queued--;
    sim->n_running++;
}

/* Book the new allocation `handle` as the job's place and count it as running. */
static int stage_occupy(struct sched *s, uint32_t job, uint32_t handle)
{
    if (handle == ALLOC_NONE || !hold_open(s->sim, handle, job)) {
        sim_fail(s->sim, BRAID_FAILED, "out of memory");
        return SCHED_E_NO_FIT;
    }
    stage_settle_in(s, job, handle);
    return SCHED_OK;
}

/* The reverse: the job gives up its GPUs, or leaves its group, and counts as queued. */
static void stage_vacate(struct sched *s, uint32_t job)
{
    struct sim *sim = s->sim;
    struct job *j = &sim->jobs[job];
    if (sim->spec->check)
        books_note(sim, j->alloc);
    hold_leave(sim, j->alloc, job);
    j->alloc = ALLOC_NONE;
    j->state = JOB_QUEUED;
    s->queued_jobs++;
    s->queued_gpus += sim_gpus(sim, job);
    sim->n_queued++;
    sim->n_running--;
}

/* Where the placement module would put it: the number of places, in sim->places. */
static uint32_t stage_pick(struct sched *s, uint32_t job)
{
    struct sim *sim = s->sim;
    const struct demand *d = &sim->demands[sim->jobs[job].demand];
    uint32_t vc = sim_vc(sim, job);
    if (cluster_vc_free(sim->cluster, vc) < d->gpus)
        return 0;
    return sim->placement->pick(sim->placement_self, sim->cluster, cluster_vc(sim->cluster, vc)->partition, d, s->placement_rng,
                                sim->places, sim->places_room);
}

bool stage_fits(struct sched *s, uint32_t job)
{
    struct sim *sim = s->sim;
    const struct demand *d = &sim->demands[sim->jobs[job].demand];
    uint32_t vc = sim_vc(sim, job);
    bool fits = cluster_vc_free(sim->cluster, vc) >= d->gpus;
    if (fits && sim->placement->never != NULL) /* a module with a rule of its own beyond the two: ask it */
        fits = stage_pick(s, job) > 0;
    else if (fits)
        fits = placement_fits(sim->cluster, cluster_vc(sim->cluster, vc)->partition, d, sim->placement->rule);
    return fits;
}

int sched_probe(struct sched *s, uint32_t job)
{
    int code = stage_enter(s, job, JOB_QUEUED);
    if (code != SCHED_OK)
        return code;
    return stage_fits(s, job) ? SCHED_OK : stage_no_fit(s);
}

/* May jobs that this round took from their GPUs go back beyond the quota (it shrank under `drain`, so more was held than it allows)?
 * While no other job of the VC was started in this round: then it never holds more than before. */
static bool may_exceed_quota(const struct sim *sim, uint32_t vc)
{
    for (uint32_t i = 0; i < sim->n_staged; i++) {
        const struct staged *r = &sim->staged[i];
        if (!r->was_running && sim->jobs[r->job].state == JOB_RUNNING && sim_vc(sim, r->job) == vc)
            return false;
    }
    return true;
}

/* Back to the GPUs it held before the round, when they are free and its quota allows; else SCHED_E_NO_FIT. */
static int stage_return(struct sched *s, uint32_t job, const struct staged *r)
{
    struct sim *sim = s->sim;
    const struct demand *d = &sim->demands[sim->jobs[job].demand];
    uint32_t vc = sim_vc(sim, job);
    if (!r->was_running || hold_of(sim, r->old_alloc)->n_members > 0 ||
        (cluster_vc_free(sim->cluster, vc) < d->gpus && !may_exceed_quota(sim, vc)))
        return SCHED_E_NO_FIT;
    uint32_t handle = cluster_alloc_again(sim->cluster, vc, job, d, r->old_alloc);
    return handle == ALLOC_NONE ? SCHED_E_NO_FIT : stage_occupy(s, job, handle);
}

int sched_start(struct sched *s, uint32_t job)
{
    struct sim *sim = s->sim;
    int code = stage_enter(s, job, JOB_QUEUED);
    if (code != SCHED_OK)
        return code;
    struct job *j = &sim->jobs[job];
    if (j->staged != 0 && stage_return(s, job, &sim->staged[j->staged - 1]) == SCHED_OK)
        return SCHED_OK;
    uint32_t n = stage_pick(s, job);
    if (n == 0)
        return stage_no_fit(s);
    if (stage_record(s->sim, s, job) == NULL)
        return SCHED_E_NO_FIT;
    return stage_occupy(s, job, cluster_alloc(sim->cluster, sim_vc(sim, job), job, &sim->demands[j->demand], sim->places, n));
}

int sched_start_at(struct sched *s, uint32_t job, const struct place *places, uint32_t n)
{
    struct sim *sim = s->sim;
    int code = stage_enter(s, job, JOB_QUEUED);
    if (code != SCHED_OK)
        return code;
    struct job *j = &sim->jobs[job];
    const struct demand *d = &sim->demands[j->demand];
    uint32_t vc = sim_vc(sim, job), partition = cluster_vc(sim->cluster, vc)->partition;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (places[i].node >= cluster_n_nodes(sim->cluster) || places[i].gpus == 0)
            return SCHED_E_ARGUMENT;
        for (uint32_t k = 0; k < i; k++)
            if (places[k].node == places[i].node)
                return SCHED_E_ARGUMENT;
        if (!cluster_owns(sim->cluster, partition, places[i].node))
            return SCHED_E_SCOPE;
        sum += places[i].gpus;
    }
    if (sum != d->gpus)
        return SCHED_E_ARGUMENT;
    if (cluster_vc_free(sim->cluster, vc) < d->gpus || !cluster_places_fit(sim->cluster, d, places, n))
        return stage_no_fit(s);
    if (stage_record(sim, s, job) == NULL)
        return SCHED_E_NO_FIT;
    return stage_occupy(s, job, cluster_alloc(sim->cluster, vc, job, d, places, n));
}

int sched_preempt(struct sched *s, uint32_t job)
{
    int code = stage_enter(s, job, JOB_RUNNING);
    if (code != SCHED_OK)
        return code;
    if (stage_record(s->sim, s, job) == NULL)
        return SCHED_E_NO_FIT;
    stage_vacate(s, job);
    return SCHED_OK;
}

int sched_restore(struct sched *s, uint32_t job)
{
    int code = stage_enter(s, job, JOB_QUEUED);
    if (code != SCHED_OK)
        return code;
    struct sim *sim = s->sim;
    if (sim->jobs[job].staged == 0)
        return SCHED_E_STATE;
    const struct staged *r = &sim->staged[sim->jobs[job].staged - 1];
    const struct hold *h = r->was_running ? hold_of(sim, r->old_alloc) : NULL;
    if (h == NULL || h->n_members == 0)
        return stage_return(s, job, r);
    if (h->n_members == HOLD_MEMBERS)
        return SCHED_E_NO_FIT;
    hold_join(sim, r->old_alloc, job); /* back among those that stayed */
    stage_settle_in(s, job, r->old_alloc);
    return SCHED_OK;
}

int sched_join(struct sched *s, uint32_t job, uint32_t with)
{
    struct sim *sim = s->sim;
    int code = stage_enter(s, job, JOB_QUEUED);
    if (code == SCHED_OK)
        code = stage_enter(s, with, JOB_RUNNING);
    if (code != SCHED_OK)
        return code;
    if (sim->spec->sharing == NULL)
        return SCHED_E_ABSENT;
    if (sim->jobs[job].demand != sim->jobs[with].demand || sim_vc(sim, job) != sim_vc(sim, with))
        return SCHED_E_ARGUMENT;
    uint32_t handle = sim->jobs[with].alloc;
    const struct hold *h = hold_of(sim, handle);
    uint32_t together[HOLD_MEMBERS + 1];
    memcpy(together, h->members, h->n_members * sizeof *together);
    together[h->n_members] = job;
    if (h->n_members >= sim->spec->sharing->most || h->n_members == HOLD_MEMBERS ||
        sim->spec->sharing->refusal(sim->spec->sharing->self, together, h->n_members + 1,
                                    cluster_alloc_gpu_memory(sim->cluster, handle)) != NULL)
        return SCHED_E_NO_FIT;
    if (stage_record(sim, s, job) == NULL)
        return SCHED_E_NO_FIT;
    hold_join(sim, handle, job);
    stage_settle_in(s, job, handle);
    return SCHED_OK;
}

int sched_group(struct sched *s, const uint32_t *jobs, uint32_t n)
{
    if (n == 0)
        return SCHED_E_ARGUMENT;
    int code = sched_start(s, jobs[0]);
    for (uint32_t i = 1; i < n && code == SCHED_OK; i++) {
        code = sched_join(s, jobs[i], jobs[0]);
        for (uint32_t k = i; code != SCHED_OK && k-- > 0;) /* all or none */
            sched_preempt(s, jobs[k]);
    }
    return code;
}

int sched_move(struct sched *s, uint32_t job)
{
    struct sim *sim = s->sim;
    int code = stage_enter(s, job, JOB_RUNNING);
    if (code != SCHED_OK)
        return code;
    if (stage_record(sim, s, job) == NULL)
        return SCHED_E_NO_FIT;
    /* give up the place and pick anew with it free; nowhere to go: stay */
    uint32_t vc = sim_vc(sim, job), handle = sim->jobs[job].alloc, next;
    if (hold_of(sim, handle)->n_members > 1)
        return SCHED_E_STATE; /* a group moves by being taken apart and put together */
    hold_keep(sim, handle);
    const struct demand *d = &sim->demands[sim->jobs[job].demand];
    stage_vacate(s, job);
    uint32_t n = stage_pick(s, job);
    if (n > 0)
        next = cluster_alloc(sim->cluster, vc, job, d, sim->places, n);
    else
        next = cluster_alloc_again(sim->cluster, vc, job, d, handle);
    hold_drop(sim, handle);
    return stage_occupy(s, job, next) != SCHED_OK || n == 0 ? SCHED_E_NO_FIT : SCHED_OK;
}

int sched_reject(struct sched *s, uint32_t job, const char *reason)
{
    struct sim *sim = s->sim;
    int code = stage_enter(s, job, JOB_QUEUED);
    if (code != SCHED_OK)
        return code;
    struct job *j = &sim->jobs[job];
    if (j->staged != 0 && sim->staged[j->staged - 1].was_running)
        return SCHED_E_STATE; /* it ran a moment ago: preempt it first, reject it in a later round */
    s->queued_jobs--;
    s->queued_gpus -= sim_gpus(sim, job);
    sim->n_queued--;
    job_emit_queued(sim, job);
    job_done(sim, job, STATUS_REJECTED, reason);
    sim_decision(sim, DECISION_REJECT, job, reason);
    sim->totals.decisions++;
    return SCHED_OK;
}

int sched_reserve_with(struct sched *s, uint32_t node, uint32_t gpus, int64_t cpu_milli, int64_t memory_kib)
{
    struct sim *sim = s->sim;
    sim->totals.decision_ops++;
    if (!s->in_schedule)
        return SCHED_E_CALL;
    if (node >= cluster_n_nodes(sim->cluster) ||
        (s->partition != NAMES_NONE && !cluster_owns(sim->cluster, s->partition, node)))
        return SCHED_E_SCOPE;
    if (s->n_reserved == s->reserved_room) {
        uint32_t room = s->reserved_room * 2 + 16;
        struct reservation *grown = ARENA_NEW(&sim->arena, struct reservation, room);
        if (grown == NULL) {
            sim_fail(sim, BRAID_FAILED, "out of memory");
            return SCHED_E_NO_FIT;
        }
        if (s->n_reserved > 0)
            memcpy(grown, s->reserved, s->n_reserved * sizeof *grown);
        s->reserved = grown;
        s->reserved_room = room;
    }
    if (gpus == 0 && cpu_milli <= 0 && memory_kib <= 0)
        return SCHED_OK;
    if (cpu_milli < 0 || cpu_milli > UINT32_MAX || memory_kib < 0)
        return SCHED_E_NO_FIT;
    const struct reservation r = {node, gpus, (uint32_t)cpu_milli, (uint64_t)memory_kib};
    if (!cluster_reserve(sim->cluster, node, gpus))
        return SCHED_E_NO_FIT;
    if (!cluster_reserve_host(sim->cluster, node, r.cpu_milli, r.mem_kib)) {
        cluster_unreserve(sim->cluster, node, gpus);
        return SCHED_E_NO_FIT;
    }
    s->reserved[s->n_reserved++] = r;
    return SCHED_OK;
}

int sched_reserve(struct sched *s, uint32_t node, uint32_t gpus)
{
    return sched_reserve_with(s, node, gpus, 0, 0);
}

void sched_release(struct sched *s)
{
    while (s->n_reserved > 0) {
        const struct reservation *r = &s->reserved[--s->n_reserved];
        cluster_unreserve(s->sim->cluster, r->node, r->gpus);
        cluster_unreserve_host(s->sim->cluster, r->node, r->cpu_milli, r->mem_kib);
    }
}

int sched_wake_at(struct sched *s, int64_t when_ns)
{
    struct sim *sim = s->sim;
    if (when_ns <= sim->now_ns)
        return SCHED_E_TIME;
    if (when_ns < s->wake_ns && when_ns != SCHED_NEVER) {
        s->wake_ns = when_ns;
        evq_set(&sim->events, sim->w->n_jobs + s->index, when_ns, EVENT_TIMER);
    }
    return SCHED_OK;
}

/* ---- settling ---------------------------------------------------------------------------------- */

static void settle_begin(struct sim *sim, uint32_t job, const struct overhead_rule *rule)
{
    struct job *j = &sim->jobs[job];
    const char *model = sim->w->model != NULL ? names_text(&sim->w->models, sim->w->model[job]) : NULL;
    j->since_ns = sim->now_ns;
    j->overhead_until_ns = time_after(sim->now_ns, overhead_ns(rule, sim_gpus(sim, job), model));
    j->rate = 1.0; /* in a group: until hold_settle says better */
    evq_set(&sim->events, job, job_end_ns(sim, job), EVENT_COMPLETION);
}

static void settle_start(struct sim *sim, struct sched *s, uint32_t job, const char *why)
{
    struct job *j = &sim->jobs[job];
    job_link(s, sim->jobs, job);
    job_emit_queued(sim, job);
    if (j->start_ns < 0) {
        j->start_ns = sim->now_ns;
        settle_begin(sim, job, &sim->spec->overhead.start);
        sim_decision(sim, DECISION_START, job, why);
    } else {
        j->restarts++;
        settle_begin(sim, job, &sim->spec->overhead.restart);
        sim_decision(sim, DECISION_RESUME, job, why);
    }
}

/* The job gives up `handle` after having run on it: its time is settled under the old place. */
static void settle_leave(struct sim *sim, uint32_t job, uint32_t handle)
{
    struct job *j = &sim->jobs[job];
    uint32_t present = j->alloc;
    double work_done = j->work_done;
    j->alloc = handle; /* segments tell where it ran */
    job_settle(sim, job);
    j->work_checkpointed = j->work_done; /* a planned stop saves its state */
    j->alloc = present;
    hold_drop(sim, handle);
    stuck_note_leave(sim, j->work_done > work_done);
}

static void settle_preempt(struct sim *sim, struct sched *s, uint32_t job, uint32_t handle, enum cause cause, const char *why)
{
    struct job *j = &sim->jobs[job];
    settle_leave(sim, job, handle);
    job_unlink(s, sim->jobs, job);
    j->preemptions++;
    j->rate = 0;
    evq_cancel(&sim->events, job);
    sim_decision(sim, cause == CAUSE_PREEMPTED ? DECISION_PREEMPT : DECISION_REQUEUE, job, why);
    if (sim->ops->on_requeue != NULL)
        sim->ops->on_requeue(s->self, s, job, cause);
}

void stage_settle(struct sim *sim, struct sched *s)
{
    sched_release(s);
    uint32_t freed_partition = NAMES_NONE;
    for (uint32_t i = 0; i < sim->n_staged; i++) {
        struct staged *r = &sim->staged[i];
        uint32_t job = r->job;
        struct job *j = &sim->jobs[job];
        j->staged = 0;
        if (!r->was_running) {
            if (j->state == JOB_RUNNING) {
                settle_start(sim, s, job, r->why);
                sim->totals.decisions++;
            }
            continue;
        }
        if (j->state == JOB_RUNNING && cluster_alloc_equal(sim->cluster, r->old_alloc, j->alloc)) {
            if (hold_of(sim, r->old_alloc)->group != hold_of(sim, j->alloc)->group) { /* other company on the same GPUs */
                uint32_t present = j->alloc;
                j->alloc = r->old_alloc;
                job_settle(sim, job);
                j->alloc = present;
                hold_touch(sim, present);
            }
            hold_drop(sim, r->old_alloc);
            continue;
        }
        freed_partition = cluster_vc(sim->cluster, sim_vc(sim, job))->partition;
        sim->totals.decisions++;
        if (j->state == JOB_QUEUED) {
            settle_preempt(sim, s, job, r->old_alloc, CAUSE_PREEMPTED, r->why);
        } else {
            settle_leave(sim, job, r->old_alloc);
            j->moves++;
            settle_begin(sim, job, &sim->spec->overhead.restart);
            sim_decision(sim, DECISION_MOVE, job, r->why);
        }
    }
    sim->n_staged = 0;
    hold_settle(sim);
    /* what this queue gave up may be of use to another that was already asked in this round */
    if (freed_partition != NAMES_NONE && s->vc != NAMES_NONE && cluster_vc(sim->cluster, s->vc)->mode == VC_GPUS)
        sim_touch_partition(sim, freed_partition);
}

void stage_requeue(struct sim *sim, uint32_t job, enum cause why)
{
    struct sched *s = &sim->instances[sim->jobs[job].instance];
    uint32_t handle = sim->jobs[job].alloc;
    hold_keep(sim, handle);
    stage_vacate(s, job);
    hold_settle(sim);
    settle_preempt(sim, s, job, handle, why, why == CAUSE_CAPACITY ? "quota shrank" : "fault");
}
