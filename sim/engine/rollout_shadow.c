/* rollout_shadow.c - a second cluster, of the same shape, on which the placement module of the run itself is asked.
 *
 * It is built once a lane from the config; when the state is copied, the jobs that run are allocated anew on it. (They may get other GPU
 * numbers of the same nodes: no module looks at them.) Every start and end of a plan goes to a log, and going back is to undo the log
 * from its end: the same GPUs are free then as were before, so each step back finds its own.
 *
 * The module's state on the shadow is its own. One with a memory of its past (`copy`) starts each plan from a copy of the run's; draws
 * come from a copy of the instance's stream.
 */
#include "base/check.h"
#include "engine/rollout_state.h"

#include <string.h>

enum step_kind { STEP_START, STEP_END, STEP_ENDING, STEP_VICTIM };

struct step {
    uint8_t kind;
    uint32_t index;
};

struct shadow {
    struct cluster *cluster;
    void *placement;
    gsl_rng *rng;
    struct place *picked;
    uint32_t picked_room;
    uint32_t *handle; /* of a job of the plan, by index; before it starts, of a victim */
    uint32_t *ending; /* handle, by ending */
    uint32_t *ending_vc, *ending_job;
    struct demand *ending_demand;
    uint32_t n_endings, endings_room;
    uint32_t *victim; /* handle, by index */
    uint32_t *victim_job;
    uint32_t n_queued, n;
    struct step *log;
    uint32_t log_room;
};

static const struct demand *demand_of(const struct rollout *r, uint32_t job)
{
    return &r->sim->demands[r->sim->jobs[job].demand];
}

static bool create(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    struct sim *sim = r->sim;
    struct arena *a = &lane->arena;
    struct error err;
    struct shadow *x = ARENA_NEW(a, struct shadow, 1);
    if (x == NULL)
        return false;
    lane->shadow = x;
    x->cluster = cluster_create(sim->spec->cluster, sim->w->origin_utc_s, a, &err);
    x->placement = arena_alloc(a, 1, sim->placement->state_size);
    x->rng = gsl_rng_alloc(r->rng->type);
    x->handle = ARENA_NEW(a, uint32_t, r->most);
    x->victim = ARENA_NEW(a, uint32_t, r->most);
    x->victim_job = ARENA_NEW(a, uint32_t, r->most);
    x->picked_room = sim->places_room;
    x->picked = ARENA_NEW(a, struct place, x->picked_room);
    if (x->cluster == NULL || x->placement == NULL || x->rng == NULL || a->is_short)
        return false;
    return sim->placement->init == NULL ||
           sim->placement->init(x->placement, x->cluster, sim->spec->placement.params, a, &err) == 0;
}

static bool grow(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    struct shadow *x = lane->shadow;
    struct arena *a = &lane->arena;
    if (x->endings_room < r->n_endings) {
        uint32_t room = r->n_endings * 2;
        uint32_t *ending = ARENA_NEW(a, uint32_t, room), *vc = ARENA_NEW(a, uint32_t, room);
        uint32_t *job = ARENA_NEW(a, uint32_t, room);
        struct demand *demand = ARENA_NEW(a, struct demand, room);
        if (ending == NULL || vc == NULL || job == NULL || demand == NULL)
            return false;
        x->ending = ending;
        x->ending_vc = vc;
        x->ending_job = job;
        x->ending_demand = demand;
        x->endings_room = room;
    }
    uint32_t steps = r->n_endings + 4 * r->n_all;
    if (x->log_room < steps) {
        x->log = ARENA_NEW(a, struct step, (size_t)steps * 2);
        if (x->log == NULL)
            return false;
        x->log_room = steps * 2;
    }
    return true;
}

static void release(struct shadow *x, uint32_t vc, uint32_t job, const struct demand *d, uint32_t handle)
{
    cluster_free(x->cluster, vc, job, d, handle);
    cluster_forget(x->cluster, handle);
}

bool shadow_prepare(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    struct sim *sim = r->sim;
    if (lane->shadow == NULL && !create(lane))
        return false;
    struct shadow *x = lane->shadow;
    for (uint32_t e = 0; e < x->n_endings; e++)
        release(x, x->ending_vc[e], x->ending_job[e], &x->ending_demand[e], x->ending[e]);
    for (uint32_t i = x->n_queued; i < x->n; i++)
        release(x, r->vc, x->victim_job[i], demand_of(r, x->victim_job[i]), x->victim[i]);
    x->n_endings = x->n = x->n_queued = 0;
    if (!grow(lane))
        return false;
    const struct partition *q = cluster_partition(x->cluster, r->partition);
    for (uint32_t i = 0; i < q->n_nodes; i++)
        cluster_unreserve(x->cluster, q->nodes[i], cluster_node(x->cluster, q->nodes[i])->reserved_gpus);
    for (uint32_t e = 0; e < r->n_endings; e++) {
        const struct rollout_ending *ending = &r->endings[e];
        uint32_t job = ending->job, vc = sim_vc(sim, job);
        x->ending_demand[e] = *demand_of(r, job);
        x->ending_vc[e] = vc;
        x->ending_job[e] = job;
        x->ending[e] =
            cluster_alloc(x->cluster, vc, job, &x->ending_demand[e], r->places + ending->places_at, ending->n_places);
        if (x->ending[e] == ALLOC_NONE)
            return false;
        x->n_endings++;
    }
    x->n = x->n_queued = r->n_queued;
    for (uint32_t i = r->n_queued; i < r->n; i++) {
        x->victim_job[i] = r->job[i];
        x->victim[i] = cluster_alloc(x->cluster, r->vc, r->job[i], demand_of(r, r->job[i]), r->places + r->victim_at[i],
                                     r->victim_n[i]);
        if (x->victim[i] == ALLOC_NONE)
            return false;
        x->n++;
    }
    for (uint32_t i = 0; i < q->n_nodes; i++) /* what others hold back at this moment */
        cluster_reserve(x->cluster, q->nodes[i], cluster_node(sim->cluster, q->nodes[i])->reserved_gpus);
    return true;
}

void shadow_fini(struct rollout_lane *lane)
{
    if (lane->shadow != NULL && lane->shadow->rng != NULL)
        gsl_rng_free(lane->shadow->rng);
}

bool shadow_has_marks(const struct rollout_lane *lane)
{
    return lane->r->sim->placement->copy == NULL;
}

size_t shadow_rng_size(const struct rollout *r)
{
    return gsl_rng_size(r->rng);
}

void shadow_save_rng(const struct rollout_lane *lane, void *to)
{
    memcpy(to, gsl_rng_state(lane->shadow->rng), gsl_rng_size(lane->shadow->rng));
}

void shadow_load_rng(struct rollout_lane *lane, const void *from)
{
    memcpy(gsl_rng_state(lane->shadow->rng), from, gsl_rng_size(lane->shadow->rng));
}

void shadow_begin(struct rollout_lane *lane)
{
    struct shadow *x = lane->shadow;
    const struct sim *sim = lane->r->sim;
    shadow_undo(lane, 0);
    gsl_rng_memcpy(x->rng, lane->r->rng);
    if (sim->placement->copy != NULL)
        sim->placement->copy(x->placement, sim->placement_self, sim->cluster);
}

static void note(struct rollout_lane *lane, enum step_kind kind, uint32_t index)
{
    struct shadow *x = lane->shadow;
    require(lane->at.n_log < x->log_room, "a rollout takes more than %u steps", x->log_room);
    x->log[lane->at.n_log++] = (struct step){(uint8_t)kind, index};
}

static bool started(struct rollout_lane *lane, uint32_t index, uint32_t handle)
{
    if (handle == ALLOC_NONE) {
        lane->is_short = true;
        return false;
    }
    lane->shadow->handle[index] = handle;
    note(lane, STEP_START, index);
    return true;
}

bool shadow_take(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    struct shadow *x = lane->shadow;
    const struct demand *d = demand_of(r, r->job[index]);
    uint32_t n = r->sim->placement->pick(x->placement, x->cluster, r->partition, d, x->rng, x->picked, x->picked_room);
    return n > 0 && started(lane, index, cluster_alloc(x->cluster, r->vc, r->job[index], d, x->picked, n));
}

bool shadow_keep(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    const struct demand *d = demand_of(r, r->job[index]);
    const struct place *places = r->places + r->victim_at[index];
    return cluster_places_fit(lane->shadow->cluster, d, places, r->victim_n[index]) &&
           started(lane, index,
                   cluster_alloc(lane->shadow->cluster, r->vc, r->job[index], d, places, r->victim_n[index]));
}

void shadow_give(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    cluster_free(lane->shadow->cluster, r->vc, r->job[index], demand_of(r, r->job[index]), lane->shadow->handle[index]);
    note(lane, STEP_END, index);
}

void shadow_give_victim(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    cluster_free(lane->shadow->cluster, r->vc, r->job[index], demand_of(r, r->job[index]), lane->shadow->victim[index]);
    note(lane, STEP_VICTIM, index);
}

void shadow_give_ending(struct rollout_lane *lane, uint32_t e)
{
    struct shadow *x = lane->shadow;
    cluster_free(x->cluster, x->ending_vc[e], x->ending_job[e], &x->ending_demand[e], x->ending[e]);
    note(lane, STEP_ENDING, e);
}

/* The GPUs of a freed handle again, under a new one. */
static uint32_t take_back(struct rollout_lane *lane, uint32_t vc, uint32_t job, const struct demand *d, uint32_t handle)
{
    struct cluster *c = lane->shadow->cluster;
    uint32_t again = cluster_alloc_again(c, vc, job, d, handle);
    require(again != ALLOC_NONE, "GPUs of job %u are not free when a rollout goes back", job);
    cluster_forget(c, handle);
    return again;
}

void shadow_undo(struct rollout_lane *lane, uint32_t n_log)
{
    const struct rollout *r = lane->r;
    struct shadow *x = lane->shadow;
    while (lane->at.n_log > n_log) {
        const struct step *step = &x->log[--lane->at.n_log];
        uint32_t i = step->index;
        switch ((enum step_kind)step->kind) {
        case STEP_START:
            release(x, r->vc, r->job[i], demand_of(r, r->job[i]), x->handle[i]);
            break;
        case STEP_END:
            x->handle[i] = take_back(lane, r->vc, r->job[i], demand_of(r, r->job[i]), x->handle[i]);
            break;
        case STEP_ENDING:
            x->ending[i] = take_back(lane, x->ending_vc[i], x->ending_job[i], &x->ending_demand[i], x->ending[i]);
            break;
        case STEP_VICTIM:
            x->victim[i] = take_back(lane, r->vc, r->job[i], demand_of(r, r->job[i]), x->victim[i]);
            break;
        }
    }
}
