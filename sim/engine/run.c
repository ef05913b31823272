/* run.c - set-up, the clock and the rounds of one simulation. */
#include "engine/run.h"

#include "base/check.h"
#include "base/random.h"
#include "compat/compat.h"
#include "engine/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *job_status_text(enum job_status s)
{
    static const char *const text[] = {"finished", "unfinished", "rejected", "failed", "killed", "not_submitted"};
    return text[s];
}

const char *decision_kind_text(enum decision_kind k)
{
    static const char *const text[] = {"submit", "start",  "resume", "preempt", "move",
                                       "reject", "finish", "kill",   "requeue", "capacity"};
    return text[k];
}

void sim_fail(struct sim *sim, int code, const char *format, ...)
{
    if (sim->has_failed)
        return;
    char message[sizeof sim->err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    error_set(sim->err, code, "%s", message);
    sim->has_failed = true;
}

void sim_touch(struct sim *sim, struct sched *s)
{
    if (s->is_touched)
        return;
    s->is_touched = true;
    uint32_t i = sim->n_touched++; /* kept in order of instance: few are touched at once */
    for (; i > 0 && sim->touched[i - 1] > s->index; i--)
        sim->touched[i] = sim->touched[i - 1];
    sim->touched[i] = s->index;
}

void sim_touch_partition(struct sim *sim, uint32_t partition)
{
    if (sim->ops->scope == SCOPE_CLUSTER)
        return; /* the one instance was touched by the event itself */
    for (uint32_t i = sim->partition_first[partition]; i < sim->partition_first[partition + 1]; i++) {
        struct sched *s = &sim->instances[sim->partition_instances[i]];
        if (s->queued_jobs > 0)
            sim_touch(sim, s);
    }
}

/* ---- set-up ------------------------------------------------------------------------------------- */

static bool demand_equal(const struct demand *a, const struct demand *b)
{
    return a->gpus == b->gpus && a->cpu_milli == b->cpu_milli && a->mem_kib == b->mem_kib && a->gpu_type == b->gpu_type;
}

static uint32_t demand_slot(const struct sim *sim, const struct demand *d)
{
    uint64_t h =
        d->gpus * 0x9e3779b97f4a7c15u ^ (d->cpu_milli + d->mem_kib * 31u + d->gpu_type * 131u) * 0xc2b2ae3d27d4eb4fu;
    uint32_t slot = (uint32_t)(h >> 32) & (sim->n_demand_slots - 1);
    while (sim->demand_slots[slot] != 0 && !demand_equal(&sim->demands[sim->demand_slots[slot] - 1], d))
        slot = (slot + 1) & (sim->n_demand_slots - 1);
    return slot;
}

static bool demand_grow(struct sim *sim)
{
    uint32_t room = sim->demands_room == 0 ? 32 : sim->demands_room * 2;
    struct demand *demands = ARENA_NEW(&sim->arena, struct demand, room);
    uint32_t *slots = ARENA_NEW(&sim->arena, uint32_t, (size_t)room * 2);
    if (demands == NULL || slots == NULL)
        return false;
    if (sim->n_demands > 0)
        memcpy(demands, sim->demands, sim->n_demands * sizeof *demands);
    sim->demands = demands;
    sim->demands_room = room;
    sim->demand_slots = slots;
    sim->n_demand_slots = room * 2;
    for (uint32_t i = 0; i < sim->n_demands; i++)
        sim->demand_slots[demand_slot(sim, &demands[i])] = i + 1;
    return true;
}

/* The distinct demands of the trace, in order of first appearance, and each job's index among them. */
static bool demands_prepare(struct sim *sim)
{
    const struct workload *w = sim->w;
    const struct names *types = cluster_gpu_types(sim->cluster);
    uint32_t *type_of = ARENA_NEW(&sim->arena, uint32_t, (size_t)w->gpu_types.count + 1);
    if (type_of == NULL || !demand_grow(sim))
        return false;
    for (uint32_t t = 0; t < w->gpu_types.count; t++) {
        const char *name = names_text(&w->gpu_types, t);
        uint32_t known = names_find(types, name, strlen(name));
        /* a type that no node has never fits; where no node has a type, types do not matter */
        type_of[t] = types->count == 0 ? NAMES_NONE : known != NAMES_NONE ? known : types->count + t;
    }
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        struct demand d = {.gpus = w->gpus[j],
                           .cpu_milli = w->cpu_milli != NULL ? w->cpu_milli[j] : 0,
                           .mem_kib = w->mem_kib != NULL ? w->mem_kib[j] : 0,
                           .gpu_type = w->gpu_type != NULL && w->gpu_type[j] != NAMES_NONE ? type_of[w->gpu_type[j]]
                                                                                           : NAMES_NONE};
        uint32_t slot = demand_slot(sim, &d);
        if (sim->demand_slots[slot] == 0) {
            if (sim->n_demands == sim->demands_room) {
                if (!demand_grow(sim))
                    return false;
                slot = demand_slot(sim, &d);
            }
            sim->demands[sim->n_demands++] = d;
            sim->demand_slots[slot] = sim->n_demands;
        }
        sim->jobs[j].demand = sim->demand_slots[slot] - 1;
    }
    return true;
}

static int change_compare(const void *a, const void *b)
{
    const struct capacity_change *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->vc > y->vc) - (x->vc < y->vc);
}

/* All changes of quota in order of time; those before the first submission only set the start. */
static bool changes_prepare(struct sim *sim)
{
    uint32_t n = 0, n_vcs = cluster_n_vcs(sim->cluster);
    for (uint32_t v = 0; v < n_vcs; v++)
        n += cluster_vc(sim->cluster, v)->n_changes;
    sim->changes = ARENA_NEW(&sim->arena, struct capacity_change, n);
    if (sim->changes == NULL)
        return false;
    int64_t begin = sim->w->n_jobs > 0 ? sim->w->submit_ns[0] : 0;
    for (uint32_t v = 0; v < n_vcs; v++) {
        const struct vc *vc = cluster_vc(sim->cluster, v);
        for (uint32_t i = 0; i < vc->n_changes; i++) {
            if (vc->changes[i].at_ns <= begin)
                cluster_vc_set_quota(sim->cluster, v, vc->changes[i].gpus);
            else
                sim->changes[sim->n_changes++] = (struct capacity_change){vc->changes[i].at_ns, v, vc->changes[i].gpus};
        }
    }
    if (sim->n_changes > 1)
        qsort(sim->changes, sim->n_changes, sizeof *sim->changes, change_compare);
    return true;
}

static bool partitions_prepare(struct sim *sim)
{
    uint32_t n_parts = cluster_n_partitions(sim->cluster), n_vcs = cluster_n_vcs(sim->cluster), k = 0;
    sim->partition_first = ARENA_NEW(&sim->arena, uint32_t, (size_t)n_parts + 1);
    sim->partition_instances = ARENA_NEW(&sim->arena, uint32_t, n_vcs);
    if (sim->arena.is_short)
        return false;
    for (uint32_t p = 0; p < n_parts; p++) {
        sim->partition_first[p] = k;
        for (uint32_t v = 0; v < n_vcs; v++)
            if (cluster_vc(sim->cluster, v)->partition == p)
                sim->partition_instances[k++] = v;
    }
    sim->partition_first[n_parts] = k;
    return true;
}

static int instances_prepare(struct sim *sim, struct error *err)
{
    const struct policy_ops *ops = sim->ops;
    bool rules_all = ops->scope == SCOPE_CLUSTER || cluster_n_vcs(sim->cluster) == 0;
    sim->n_instances = rules_all ? 1 : cluster_n_vcs(sim->cluster);
    if (sim->n_instances > UINT16_MAX)
        return error_set(err, BRAID_BAD_INPUT, "more than %d virtual clusters", UINT16_MAX);
    sim->instances = ARENA_NEW(&sim->arena, struct sched, sim->n_instances);
    sim->touched = ARENA_NEW(&sim->arena, uint32_t, sim->n_instances);
    sim->asked = ARENA_NEW(&sim->arena, uint32_t, sim->n_instances);
    if (sim->arena.is_short)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < sim->n_instances; i++) {
        struct sched *s = &sim->instances[i];
        const struct vc *vc = cluster_vc(sim->cluster, i);
        s->sim = sim;
        s->index = i;
        s->vc = rules_all && cluster_n_vcs(sim->cluster) > 1 ? NAMES_NONE : i;
        s->partition = s->vc == NAMES_NONE ? NAMES_NONE : vc->partition;
        s->name = s->vc == NAMES_NONE ? "" : vc->name;
        s->wake_ns = SCHED_NEVER;
        s->running_first = s->running_last = JOB_NIL;
        s->rng = random_stream(sim->spec->seed, "policy", s->name);
        s->placement_rng = random_stream(sim->spec->seed, "placement", s->name);
        s->self = arena_alloc(&sim->arena, 1, ops->state_size);
        if (s->rng == NULL || s->placement_rng == NULL || s->self == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
    }
    return BRAID_OK;
}

static int policies_init(struct sim *sim, uint32_t *n_ready, struct error *err)
{
    for (; *n_ready < sim->n_instances; ++*n_ready) {
        struct sched *s = &sim->instances[*n_ready];
        if (sim->ops->init != NULL && sim->ops->init(s->self, s, sim->spec->policy.params, err) != 0) {
            if (err != NULL && err->code == BRAID_OK)
                error_set(err, BRAID_BAD_INPUT, "policy %s refuses its parameters", sim->ops->name);
            return err != NULL ? err->code : BRAID_BAD_INPUT;
        }
    }
    return BRAID_OK;
}

static int sim_prepare(struct sim *sim, struct arena *results, struct error *err)
{
    const struct run_spec *spec = sim->spec;
    const struct workload *w = sim->w;
    sim->cluster = cluster_create(spec->cluster, w->origin_utc_s, &sim->arena, err);
    if (sim->cluster == NULL)
        return err != NULL && err->code != BRAID_OK ? err->code : BRAID_FAILED;
    sim->placement = spec->placement.ops;
    sim->is_packed = sim->placement->rule == PLACEMENT_PACKED;
    sim->placement_self = arena_alloc(&sim->arena, 1, sim->placement->state_size);
    if (sim->placement->init != NULL &&
        sim->placement->init(sim->placement_self, sim->cluster, spec->placement.params, &sim->arena, err) != 0)
        return err != NULL && err->code != BRAID_OK ? err->code : BRAID_BAD_INPUT;

    sim->jobs = ARENA_NEW(results, struct job, w->n_jobs);
    if (sim->jobs == NULL)
        return error_set(err, BRAID_FAILED, "out of memory for %u jobs", w->n_jobs);
    uint32_t largest = 1;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        sim->jobs[j].start_ns = sim->jobs[j].end_ns = -1;
        sim->jobs[j].alloc = ALLOC_NONE;
        sim->jobs[j].reason = "";
        largest = w->gpus[j] > largest ? w->gpus[j] : largest;
    }
    uint32_t *vc_of = ARENA_NEW(&sim->arena, uint32_t, (size_t)w->vcs.count + 1);
    if (vc_of == NULL || !demands_prepare(sim))
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t v = 0; v < w->vcs.count; v++)
        vc_of[v] = cluster_vc_find(sim->cluster, names_text(&w->vcs, v));
    sim->vc_of = vc_of;
    sim->never = ARENA_NEW(&sim->arena, const char *, (size_t)cluster_n_vcs(sim->cluster) * sim->n_demands);
    uint32_t n_nodes = cluster_n_nodes(sim->cluster);
    sim->places_room = largest < n_nodes ? largest : n_nodes;
    sim->places = ARENA_NEW(&sim->arena, struct place, sim->places_room);
    sim->checked_room = spec->check ? 1024 : 0;
    sim->checked_nodes = ARENA_NEW(&sim->arena, uint32_t, sim->checked_room);
    if (sim->arena.is_short || !changes_prepare(sim) || !partitions_prepare(sim))
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = instances_prepare(sim, err);
    if (code != BRAID_OK)
        return code;
    if (!evq_init(&sim->events, w->n_jobs + sim->n_instances, &sim->arena))
        return error_set(err, BRAID_FAILED, "out of memory");
    code = depend_prepare(sim, err);
    return code == BRAID_OK ? estimate_prepare(sim, err) : code;
}

/* ---- the clock ---------------------------------------------------------------------------------- */

/* Jobs below `before` that waited for others which are done now. */
static void apply_released(struct sim *sim, uint32_t before)
{
    while (evq_time(&sim->events) == sim->now_ns && evq_class(&sim->events) == EVENT_ARRIVAL &&
           evq_handle(&sim->events) < before) {
        struct event e = evq_pop(&sim->events);
        sim->totals.events++;
        event_arrival(sim, e.handle);
    }
}

static void apply_events(struct sim *sim, bool is_first_round)
{
    const struct workload *w = sim->w;
    int64_t now = sim->now_ns;
    while (evq_time(&sim->events) == now && evq_class(&sim->events) < EVENT_CAPACITY) {
        struct event e = evq_pop(&sim->events);
        sim->totals.events++;
        event_completion(sim, e.handle);
    }
    if (is_first_round) {
        for (; sim->next_change < sim->n_changes && sim->changes[sim->next_change].at_ns == now; sim->next_change++) {
            sim->totals.events++;
            event_capacity(sim, &sim->changes[sim->next_change]);
        }
        for (; sim->next_arrival < w->n_jobs && w->submit_ns[sim->next_arrival] == now; sim->next_arrival++) {
            apply_released(sim, sim->next_arrival);
            sim->totals.events++;
            event_arrival(sim, sim->next_arrival);
        }
        if (sim->next_arrival == w->n_jobs && !sim->state.has_window)
            totals_window(sim);
    }
    apply_released(sim, w->n_jobs);
    while (evq_time(&sim->events) == now && evq_class(&sim->events) == EVENT_TIMER) {
        struct event e = evq_pop(&sim->events);
        sim->totals.events++;
        event_timer(sim, e.handle - w->n_jobs);
    }
}

/* Ask each touched instance once, in order. Instances that settling touches again wait for the next round. */
static void ask_policies(struct sim *sim)
{
    uint32_t n = sim->n_touched;
    sim->totals.rounds++;
    sim->n_touched = 0;
    memcpy(sim->asked, sim->touched, n * sizeof *sim->asked);
    for (uint32_t i = 0; i < n; i++)
        sim->instances[sim->asked[i]].is_touched = false;
    for (uint32_t i = 0; i < n; i++) {
        struct sched *s = &sim->instances[sim->asked[i]];
        s->is_blocked = false;
        s->in_schedule = true;
        sim->ops->schedule(s->self, s);
        s->in_schedule = false;
        stage_settle(sim, s);
    }
    sim->n_asked = n;
}

static void levels_emit(struct sim *sim, const struct sched *s, uint64_t all_gpus)
{
    const struct run_watch *watch = &sim->spec->watch;
    struct run_levels levels = {.queued_jobs = s->queued_jobs,
                                .running_jobs = s->running_jobs,
                                .all_capacity_gpus = all_gpus,
                                .queued_gpus = s->queued_gpus};
    if (s->vc != NAMES_NONE) {
        levels.allocated_gpus = cluster_vc(sim->cluster, s->vc)->used_gpus;
        levels.capacity_gpus = (uint32_t)totals_vc_capacity_gpus(sim, s->vc);
    } else {
        levels.capacity_gpus = (uint32_t)all_gpus;
        for (uint32_t v = 0; v < cluster_n_vcs(sim->cluster); v++)
            levels.allocated_gpus += cluster_vc(sim->cluster, v)->used_gpus;
    }
    watch->levels(watch->self, sim->now_ns, s->index, &levels);
}

/* All rounds of the instant `sim->now_ns`. */
static void instant(struct sim *sim)
{
    int64_t now = sim->now_ns;
    uint64_t rounds = 0;
    do {
        apply_events(sim, rounds == 0);
        ask_policies(sim);
        uint64_t all_gpus = sim->spec->watch.levels != NULL ? totals_capacity_gpus(sim) : 0;
        for (uint32_t i = 0; i < sim->n_asked && sim->spec->watch.levels != NULL; i++)
            levels_emit(sim, &sim->instances[sim->asked[i]], all_gpus);
        if (stuck_in_rounds(sim, ++rounds))
            return;
    } while (!sim->has_failed && (evq_time(&sim->events) == now || sim->n_touched > 0));
}

static int64_t next_instant(const struct sim *sim)
{
    int64_t t = evq_time(&sim->events);
    if (sim->next_arrival < sim->w->n_jobs && sim->w->submit_ns[sim->next_arrival] < t)
        t = sim->w->submit_ns[sim->next_arrival];
    if (sim->next_change < sim->n_changes && sim->changes[sim->next_change].at_ns < t)
        t = sim->changes[sim->next_change].at_ns;
    return t;
}

static void simulate(struct sim *sim)
{
    const struct run_spec *spec = sim->spec;
    totals_begin(sim);
    sim->now_ns = sim->state.at_ns;
    for (uint32_t i = 0; i < sim->n_instances && spec->watch.levels != NULL; i++)
        levels_emit(sim, &sim->instances[i],
                    totals_capacity_gpus(sim)); /* queues that no event has touched yet have a capacity, too */
    while (sim->next_arrival < sim->w->n_jobs || sim->n_queued + sim->n_running > 0) {
        int64_t t = next_instant(sim);
        if (t == INT64_MAX) { /* jobs wait, and nothing will ever happen again */
            stuck_count_forgotten(sim);
            return;
        }
        if (t > spec->stop.at_ns) {
            totals_advance(sim, spec->stop.at_ns);
            sim->now_ns = spec->stop.at_ns;
            sim->totals.is_cut = true;
            return;
        }
        if (t >= TIME_LAST) {
            sim_fail(sim, BRAID_BAD_INPUT,
                     "the schedule goes on for more than 292 years, where time ends; give fewer or shorter jobs, or "
                     "end it with stop.at");
            return;
        }
        totals_advance(sim, t);
        sim->now_ns = t;
        instant(sim);
        totals_update(sim);
        if (spec->check)
            books_check(sim);
        stuck_look(sim);
        if (sim->has_failed)
            return;
        if (sim->n_queued > spec->stop.queue) {
            sim->totals.is_overloaded = sim->totals.is_cut = true;
            return;
        }
        if (spec->cancel != NULL && *spec->cancel != 0) {
            sim_fail(sim, BRAID_FAILED, "interrupted");
            return;
        }
    }
}

/* What is left when the clock stops. */
static void close_unfinished(struct sim *sim)
{
    const char *why = sim->totals.is_overloaded              ? "overload"
                      : sim->now_ns >= sim->spec->stop.at_ns ? "horizon"
                                                             : NULL; /* nothing will ever happen again */
    for (uint32_t job = 0; job < sim->w->n_jobs; job++) {
        struct job *j = &sim->jobs[job];
        if (j->state == JOB_DONE)
            continue;
        if (j->state == JOB_RUNNING) {
            struct sched *s = &sim->instances[j->instance];
            job_settle(sim, job);
            hold_leave(sim, j->alloc, job);
            j->alloc = ALLOC_NONE;
            evq_cancel(&sim->events, job);
            job_unlink(s, sim->jobs, job);
            sim->n_running--;
        } else if (j->state == JOB_QUEUED) {
            job_emit_queued(sim, job);
            sim->n_queued--;
        } else {
            sim->n_arrived++;
            bool is_submitted = job < sim->next_arrival; /* and waits for others */
            if (is_submitted) {
                j->since_ns = sim->w->submit_ns[job];
                job_emit_queued(sim, job);
            }
            job_done(sim, job, is_submitted ? STATUS_UNFINISHED : STATUS_NOT_SUBMITTED,
                     is_submitted ? "waits_for_dependency" : "not_submitted");
            j->end_ns = is_submitted ? j->end_ns : -1;
            continue;
        }
        job_done(sim, job, STATUS_UNFINISHED, why != NULL ? why : j->start_ns < 0 ? "never_started" : "never_resumed");
    }
}

static int sim_run(struct sim *sim, struct run_result *out, struct arena *results, struct error *err)
{
    uint32_t n_ready = 0;
    int code = sim_prepare(sim, results, err);
    if (code == BRAID_OK && !limits_fill(sim, &out->limits, results))
        code = error_set(err, BRAID_FAILED, "out of memory");
    if (code == BRAID_OK)
        code = policies_init(sim, &n_ready, err);
    if (code == BRAID_OK && !sim->spec->is_trial) {
        simulate(sim);
        if (!sim->has_failed) {
            close_unfinished(sim);
            totals_end(sim);
            if (sim->spec->check)
                books_check_all(sim);
        }
        if (!sim->has_failed && sim->arena.is_short)
            sim_fail(sim, BRAID_FAILED, "out of memory");
        code = sim->has_failed ? sim->err->code : BRAID_OK;
    }
    for (uint32_t i = 0; i < n_ready; i++)
        if (sim->ops->fini != NULL)
            sim->ops->fini(sim->instances[i].self);
    if (code != BRAID_OK)
        return code;
    out->n_jobs = sim->w->n_jobs;
    out->jobs = sim->jobs;
    out->n_instances = sim->n_instances;
    out->instance_names = ARENA_NEW(results, const char *, sim->n_instances);
    if (out->instance_names == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < sim->n_instances; i++) {
        out->instance_names[i] = arena_text(results, sim->instances[i].name, strlen(sim->instances[i].name));
        if (out->instance_names[i] == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
    }
    out->totals = sim->totals;
    return BRAID_OK;
}

int run(struct run_result *out, const struct run_spec *spec, struct error *err)
{
    if (spec->compat != NULL)
        return compat_run(out, spec, err);
    struct error local = {0};
    struct sim sim = {.spec = spec, .w = spec->workload, .ops = spec->policy.ops, .err = err != NULL ? err : &local};
    *out = (struct run_result){0};
    *sim.err = (struct error){0};
    struct arena *results = malloc(sizeof *results);
    if (results == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    arena_init(results);
    arena_init(&sim.arena);
    int code = sim_run(&sim, out, results, sim.err);
    for (uint32_t i = 0; i < sim.n_instances && sim.instances != NULL; i++) {
        if (sim.instances[i].rng != NULL)
            gsl_rng_free(sim.instances[i].rng);
        if (sim.instances[i].placement_rng != NULL)
            gsl_rng_free(sim.instances[i].placement_rng);
    }
    arena_fini(&sim.arena);
    out->arena = results;
    if (code != BRAID_OK)
        run_result_fini(out);
    return code;
}

int run_try(const struct run_spec *spec, struct error *err)
{
    struct run_spec trial = *spec;
    struct run_result r;
    trial.is_trial = true;
    if (spec->compat != NULL)
        return BRAID_OK;
    int code = run(&r, &trial, err);
    if (code == BRAID_OK)
        run_result_fini(&r);
    return code;
}

void run_result_fini(struct run_result *r)
{
    if (r->arena != NULL) {
        arena_fini(r->arena);
        free(r->arena);
    }
    *r = (struct run_result){0};
}
