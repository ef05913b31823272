/* rollout.c - the copy of the engine's state that rollouts start from, and the threads that work on it. */
#include "engine/rollout.h"

#include "base/check.h"
#include "cluster/cluster_state.h"
#include "cluster/placement/modules.h"
#include "engine/rollout_crew.h"
#include "engine/rollout_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------ */

static bool lane_alloc(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    struct arena *a = &lane->arena;
    uint32_t most = r->most;
    lane->start_ns = ARENA_NEW(a, int64_t, most);
    lane->end_ns = ARENA_NEW(a, int64_t, most);
    lane->heap = ARENA_NEW(a, struct rollout_run_end, (size_t)most + 1);
    lane->class_list = ARENA_NEW(a, uint16_t, most);
    lane->class_end = ARENA_NEW(a, uint32_t, most);
    lane->taken = ARENA_NEW(a, uint32_t, most);
    lane->heads = ARENA_NEW(a, struct head, (size_t)most + 1);
    lane->where = ARENA_NEW(a, const struct place *, most);
    lane->where_n = ARENA_NEW(a, uint32_t, most);
    lane->is_kept = ARENA_NEW(a, uint8_t, most);
    lane->is_closed = ARENA_NEW(a, uint8_t, most);
    lane->user_sum = ARENA_NEW(a, double, most);
    lane->user_n = ARENA_NEW(a, uint32_t, most);
    lane->last = ARENA_NEW(a, uint16_t, most);
    lane->position = ARENA_NEW(a, uint16_t, most);
    lane->scratch = ARENA_NEW(a, uint16_t, most);
    lane->state = ARENA_NEW(a, uint64_t, r->levels.n_words);
    for (uint32_t i = 0; i < ROLLOUT_MARKS; i++) {
        lane->marks[i].heap = ARENA_NEW(a, struct rollout_run_end, r->most_marked);
        lane->marks[i].taken = ARENA_NEW(a, uint32_t, r->most);
        lane->marks[i].state = ARENA_NEW(a, uint64_t, r->levels.n_words);
        lane->marks[i].rng = arena_alloc(a, 1, shadow_rng_size(r));
    }
    return !a->is_short;
}

static bool window_alloc(struct rollout *r)
{
    struct arena *a = r->arena;
    uint32_t most = r->most;
    r->job = ARENA_NEW(a, uint32_t, most);
    r->class_of = ARENA_NEW(a, uint32_t, most);
    r->gpus = ARENA_NEW(a, uint32_t, most);
    r->run_ns = ARENA_NEW(a, int64_t, most);
    r->keep_ns = ARENA_NEW(a, int64_t, most);
    r->deadline_ns = ARENA_NEW(a, int64_t, most);
    r->earliest_ns = ARENA_NEW(a, int64_t, most);
    r->arrival_ns = ARENA_NEW(a, int64_t, most);
    r->waited_ns = ARENA_NEW(a, int64_t, most);
    r->waited_s = ARENA_NEW(a, double, most);
    r->run_s = ARENA_NEW(a, double, most);
    r->weight = ARENA_NEW(a, double, most);
    r->alone_s = ARENA_NEW(a, double, most);
    r->user = ARENA_NEW(a, uint32_t, most);
    r->users_seen = ARENA_NEW(a, uint32_t, most);
    r->victim_at = ARENA_NEW(a, uint32_t, most);
    r->victim_n = ARENA_NEW(a, uint32_t, most);
    r->victims = ARENA_NEW(a, uint32_t, most);
    r->classes = ARENA_NEW(a, struct rollout_class, most);
    r->class_slot = ARENA_NEW(a, uint32_t, 2 * (size_t)r->sim->n_demands);
    r->user_slot = ARENA_NEW(a, uint32_t, (size_t)r->sim->w->users.count + 1);
    return !a->is_short;
}

static bool endings_grow(struct rollout *r)
{
    if (r->n_endings < r->endings_room)
        return true;
    uint32_t room = r->endings_room * 2 + 64;
    struct rollout_ending *grown = ARENA_NEW(r->arena, struct rollout_ending, room);
    r->busy_s = ARENA_NEW(r->arena, double, (size_t)room + 1);
    r->busy_gpus = ARENA_NEW(r->arena, double, (size_t)room + 1);
    if (grown == NULL || r->busy_s == NULL || r->busy_gpus == NULL)
        return false;
    if (r->n_endings > 0)
        memcpy(grown, r->endings, r->n_endings * sizeof *grown);
    r->endings = grown;
    r->endings_room = room;
    return true;
}

struct rollout *rollout_create(struct sched *s, uint32_t most, uint32_t most_expected)
{
    struct sim *sim = s->sim;
    struct rollout *r = ARENA_NEW(&sim->arena, struct rollout, 1);
    if (r == NULL || s->vc == NAMES_NONE || (uint64_t)most + most_expected > ROLLOUT_MOST)
        return NULL;
    r->sim = sim;
    r->arena = &sim->arena;
    r->vc = s->vc;
    r->partition = s->partition;
    r->most = most + most_expected;
    r->most_marked = most;
    r->rng = s->placement_rng;
    enum levels_choice choice;
    bool is_able;
    if (!window_alloc(r) || !endings_grow(r) ||
        !levels_init(&r->levels, sim->cluster, r->partition, r->arena, &is_able))
        return NULL;
    r->has_levels = is_able && levels_choice_of(sim->placement, &choice);
    if (r->has_levels)
        r->levels.choice = choice;
    else
        r->levels.n_words = 0;
    r->base = ARENA_NEW(r->arena, uint64_t, r->levels.n_words);
    uint32_t n = sim->spec->threads > 1 ? sim->spec->threads : 1;
    sim->n_rollouts++;
    r->lanes = ARENA_NEW(r->arena, struct rollout_lane *, n);
    if (r->base == NULL || r->lanes == NULL)
        n = 0;
    while (r->n_lanes < n) {
        struct rollout_lane *lane = calloc(1, sizeof *lane);
        if (lane == NULL)
            break;
        r->lanes[r->n_lanes] = lane;
        r->n_lanes++;
        lane->r = r;
        arena_init(&lane->arena);
        if (!lane_alloc(lane))
            break;
    }
    if (n > 0 && r->n_lanes == n && !r->lanes[n - 1]->arena.is_short)
        return r;
    rollout_destroy(r);
    return NULL;
}

void rollout_destroy(struct rollout *r)
{
    if (r == NULL)
        return;
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        shadow_fini(r->lanes[i]);
        arena_fini(&r->lanes[i]->arena);
        free(r->lanes[i]);
    }
    r->n_lanes = 0;
    if (--r->sim->n_rollouts == 0) {
        crew_destroy(r->sim->crew);
        r->sim->crew = NULL;
    }
}

static bool out_of_memory(struct rollout *r)
{
    sim_fail(r->sim, BRAID_FAILED, "out of memory");
    return false;
}

/* ---- the copy ------------------------------------------------------------------------------------------ */

static bool places_add(struct rollout *r, uint32_t job, uint32_t *at, uint32_t *n)
{
    const struct place *places;
    *n = cluster_alloc_places(r->sim->cluster, r->sim->jobs[job].alloc, &places);
    if (r->places_room - r->n_places < *n) {
        uint32_t room = (r->n_places + *n) * 2 + 64;
        struct place *grown = ARENA_NEW(r->arena, struct place, room);
        if (grown == NULL)
            return false;
        if (r->n_places > 0)
            memcpy(grown, r->places, r->n_places * sizeof *grown);
        r->places = grown;
        r->places_room = room;
    }
    *at = r->n_places;
    memcpy(r->places + *at, places, *n * sizeof *places);
    r->n_places += *n;
    return true;
}

static int ending_compare(const void *a, const void *b)
{
    const struct rollout_ending *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static int rank_compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool is_victim(const struct rollout *r, uint32_t job)
{
    return r->n > r->n_queued &&
           bsearch(&job, r->victims, r->n - r->n_queued, sizeof *r->victims, rank_compare) != NULL;
}

/* The running jobs of the partition but the victims, by end. A group gives its GPUs back with its last member, at present rates. */
static bool endings_take(struct rollout *r, struct sched *s)
{
    struct sim *sim = r->sim;
    for (uint32_t i = 0; i < sim->n_instances; i++) {
        const struct sched *of = &sim->instances[i];
        if (of->partition != r->partition)
            continue;
        for (uint32_t job = of->running_first; job != JOB_NIL; job = sim->jobs[job].run_next) {
            const struct hold *h = hold_of(sim, sim->jobs[job].alloc);
            if (h->members[0] != job || is_victim(r, job))
                continue;
            if (!endings_grow(r))
                return false;
            struct rollout_ending *e = &r->endings[r->n_endings++];
            *e = (struct rollout_ending){.gpus = sim_gpus(sim, job), .is_ours = sim_vc(sim, job) == r->vc, .job = job};
            for (uint32_t k = 0; k < h->n_members; k++) {
                int64_t left = 0;
                sched_expected_run_ns(s, h->members[k], &left);
                int64_t end = time_after(r->now_ns, left);
                e->end_ns = end > e->end_ns ? end : e->end_ns;
            }
            if (!places_add(r, job, &e->places_at, &e->n_places))
                return false;
        }
    }
    if (r->n_endings > 1)
        qsort(r->endings, r->n_endings, sizeof *r->endings, ending_compare);
    r->busy_s[0] = 0;
    for (uint32_t i = 0; i < r->n_endings; i++) {
        const struct rollout_ending *e = &r->endings[i];
        r->busy_s[i + 1] = r->busy_s[i] + (e->is_ours ? e->gpus * ((double)(e->end_ns - r->now_ns) * 1e-9) : 0);
    }
    r->busy_gpus[r->n_endings] = 0;
    for (uint32_t i = r->n_endings; i-- > 0;)
        r->busy_gpus[i] = r->busy_gpus[i + 1] + (r->endings[i].is_ours ? r->endings[i].gpus : 0);
    return true;
}

static int64_t overhead_of(const struct sim *sim, uint32_t job, bool is_restart)
{
    const struct overhead_spec *model = &sim->spec->overhead;
    const char *name = sim->w->model != NULL ? names_text(&sim->w->models, sim->w->model[job]) : NULL;
    return overhead_ns(is_restart ? &model->restart : &model->start, sim_gpus(sim, job), name);
}

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* The class of a job: those that ask the same; made when it is the first. */
static uint32_t class_take(struct rollout *r, uint32_t job, bool is_victim_class)
{
    uint32_t demand = r->sim->jobs[job].demand, *slot = &r->class_slot[2 * demand + is_victim_class];
    if (*slot == 0) {
        r->classes[r->n_classes] =
            (struct rollout_class){.demand = demand, .gpus = sim_gpus(r->sim, job), .is_victim = is_victim_class};
        *slot = ++r->n_classes;
    }
    r->classes[*slot - 1].n++;
    return *slot - 1;
}

/* Entry `i` of the window is `job`, or, when it is expected, one like it that has not begun. */
static void job_take(struct rollout *r, struct sched *s, uint32_t i, uint32_t job, const struct rollout_window *w)
{
    struct sim *sim = r->sim;
    bool is_expected = i >= r->n;
    int64_t left = 0, alone = 0, deadline, submit = sim->w->submit_ns[job];
    sched_expected_ns(s, job, &left);
    sched_estimate_ns(s, job, &alone);
    bool has_deadline = sched_deadline_ns(s, job, &deadline) == SCHED_OK;
    r->job[i] = job;
    r->gpus[i] = sim_gpus(sim, job);
    r->run_ns[i] = is_expected ? time_after(overhead_of(sim, job, false), alone > 0 ? alone : 1)
                               : time_after(overhead_of(sim, job, sim->jobs[job].start_ns >= 0), left);
    r->deadline_ns[i] = has_deadline ? deadline : SCHED_NEVER;
    if (is_expected) {
        int64_t arrival = time_after(r->now_ns, w->expected[i - r->n].after_ns), allowed;
        if (has_deadline && !__builtin_sub_overflow(deadline, submit, &allowed))
            r->deadline_ns[i] = time_after(arrival, allowed > 0 ? allowed : 0);
        r->arrival_ns[i - r->n] = submit = arrival;
    }
    r->waited_ns[i] = r->now_ns - submit;
    r->waited_s[i] = seconds(r->waited_ns[i]);
    r->run_s[i] = seconds(r->run_ns[i]);
    r->weight[i] = w->weights != NULL ? w->weights[i] : 1;
    r->alone_s[i] = seconds(alone < 1 ? 1 : alone);
    r->class_of[i] = class_take(r, job, i >= w->n_queued && !is_expected);
    uint32_t *user = &r->user_slot[sim->w->user[job]];
    if (*user == 0) {
        r->users_seen[r->n_users] = sim->w->user[job];
        *user = ++r->n_users;
    }
    r->user[i] = *user - 1;
    uint32_t nodes = cluster_partition(sim->cluster, r->partition)->n_nodes;
    r->plan_places += r->gpus[i] < nodes ? r->gpus[i] : nodes;
    if (i >= w->n_queued && !is_expected) {
        sched_expected_run_ns(s, job, &left);
        r->keep_ns[i] = time_after(r->now_ns, left);
    }
}

/* Everywhere the same GPUs for all of the window: their number alone decides. */
static bool is_countable(const struct rollout *r)
{
    const struct cluster *c = r->sim->cluster;
    const struct partition *q = &c->partitions[r->partition];
    bool is_plain = r->sim->placement == &placement_count;
    for (uint32_t k = 0; k < r->n_classes && is_plain; k++)
        for (uint32_t i = 0; i < q->n_pools && is_plain; i++) {
            const struct pool *p = &c->pools[q->first_pool + i];
            is_plain = p->gpus == 0 || pool_matches(p, &r->sim->demands[r->classes[k].demand]);
        }
    return is_plain;
}

static void kind_choose(struct rollout *r)
{
    struct sim *sim = r->sim;
    bool is_bounded = false;
    for (uint32_t k = 0; k < r->n_classes; k++)
        is_bounded |= cluster_is_bounded(sim->cluster, r->partition, &sim->demands[r->classes[k].demand]);
    r->kind = is_bounded        ? ROLLOUT_SHADOW
              : is_countable(r) ? ROLLOUT_COUNT
              : r->has_levels   ? ROLLOUT_LEVELS
                                : ROLLOUT_SHADOW;
    uint32_t first = 0;
    for (uint32_t k = 0; k < r->n_classes; k++) {
        struct rollout_class *class = &r->classes[k];
        class->first = first;
        first += class->n;
        r->class_slot[2 * class->demand + class->is_victim] = 0;
        if (r->kind == ROLLOUT_LEVELS)
            class->pools =
                levels_pools(&r->levels, sim->cluster, r->partition, &sim->demands[class->demand], &class->is_single);
    }
    if (r->kind == ROLLOUT_LEVELS)
        levels_load(&r->levels, sim->cluster, r->base);
}

static bool lane_prepare(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    if (lane->places_room < r->plan_places) {
        lane->places = ARENA_NEW(&lane->arena, struct place, (size_t)r->plan_places * 2);
        lane->places_room = r->plan_places * 2;
    }
    lane->n_marks = 0;
    return !lane->arena.is_short && (r->kind != ROLLOUT_SHADOW || shadow_prepare(lane));
}

/* How long after now `gpus` GPUs are free and within the quota at the soonest, while nothing of the window starts. */
static int64_t earliest(const struct rollout *r, uint32_t gpus)
{
    uint64_t free = r->free_gpus, used = r->used_gpus;
    if (r->n > r->n_queued) /* victims may give way at once */
        return 0;
    for (uint32_t e = 0;; e++) {
        if (gpus <= free && used + gpus <= r->quota_gpus)
            return e == 0 ? 0 : r->endings[e - 1].end_ns - r->now_ns;
        if (e == r->n_endings)
            return 0; /* never, as it stands: of no use to a bound */
        free += r->endings[e].gpus;
        used -= r->endings[e].is_ours ? r->endings[e].gpus : 0;
    }
}

bool rollout_freeze(struct rollout *r, struct sched *s, const struct rollout_window *w)
{
    struct sim *sim = r->sim;
    const struct vc *vc = cluster_vc(sim->cluster, r->vc);
    for (uint32_t i = 0; i < r->n_lanes; i++) /* while what they did can still be read */
        if (r->lanes[i]->shadow != NULL)
            shadow_undo(r->lanes[i], 0);
    r->version++;
    r->now_ns = sim->now_ns;
    r->horizon_ns = w->horizon_ns > 0 ? time_after(r->now_ns, w->horizon_ns) : SCHED_NEVER;
    r->n_queued = w->n_queued;
    r->n = w->n_queued + w->n_victims;
    r->n_all = r->n + w->n_expected;
    r->hold_ns = time_after(r->now_ns, w->hold_ns);
    r->n_classes = r->n_users = r->n_endings = r->n_places = r->plan_places = 0;
    r->wants_fairness = w->wants_fairness;
    r->all = (struct rest){0};
    require(r->n_all <= r->most, "a window of %u jobs where %u were announced", r->n_all, r->most);
    for (uint32_t i = 0; i < r->n_all; i++)
        job_take(r, s, i, i < r->n ? w->jobs[i] : w->expected[i - r->n].like, w);
    for (uint32_t u = 0; u < r->n_users; u++)
        r->user_slot[r->users_seen[u]] = 0;
    for (uint32_t i = w->n_queued; i < r->n; i++) {
        r->victims[i - w->n_queued] = w->jobs[i];
        if (!places_add(r, w->jobs[i], &r->victim_at[i], &r->victim_n[i]))
            return out_of_memory(r);
    }
    if (w->n_victims > 1)
        qsort(r->victims, w->n_victims, sizeof *r->victims, rank_compare);
    r->free_gpus = cluster_partition(sim->cluster, r->partition)->free_gpus;
    r->used_gpus = vc->used_gpus;
    r->quota_gpus = vc->quota_gpus;
    r->capacity_gpus = sched_capacity_gpus(s);
    if (!endings_take(r, s))
        return out_of_memory(r);
    for (uint32_t i = 0; i < r->n_all; i++) {
        bool is_same = i > 0 && i != r->n && r->gpus[i] == r->gpus[i - 1];
        r->earliest_ns[i] = i >= r->n ? r->arrival_ns[i - r->n] - r->now_ns
                            : is_same ? r->earliest_ns[i - 1]
                                      : earliest(r, r->gpus[i]);
        if (i < r->n)
            rest_add(&r->all, r, i);
    }
    kind_choose(r);
    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (!lane_prepare(r->lanes[i]))
            return out_of_memory(r);
    return true;
}

/* ---- threads -------------------------------------------------------------------------------------------- */

uint16_t *rollout_scratch(struct rollout_lane *lane)
{
    return lane->scratch;
}

struct rollout_lane *rollout_lane(struct rollout *r)
{
    return r->lanes[0];
}

static bool lanes_are_well(const struct rollout *r)
{
    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (r->lanes[i]->is_short)
            return false;
    return true;
}

struct work {
    struct rollout *r;
    rollout_task task;
    void *self;
};

static void work_item(void *self, uint32_t worker, uint32_t item)
{
    struct work *w = self;
    w->task(w->self, w->r->lanes[worker], item);
}

bool rollout_parallel(struct rollout *r, uint32_t n, rollout_task task, void *self)
{
    struct sim *sim = r->sim;
    if (r->n_lanes > 1 && n > 1 && sim->crew == NULL) /* one for all instances; goes with the last of their rollouts */
        sim->crew = crew_create(r->n_lanes);
    if (r->n_lanes > 1 && n > 1 && sim->crew != NULL) {
        struct work w = {r, task, self};
        crew_run(sim->crew, n, work_item, &w);
    } else {
        for (uint32_t i = 0; i < n; i++)
            task(self, r->lanes[0], i);
    }
    return lanes_are_well(r) || out_of_memory(r);
}

uint64_t rollout_placements(const struct rollout *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n_lanes; i++)
        sum += r->lanes[i]->n_placed;
    return sum;
}
