#include "policies/prospect.h"

struct prospect *prospect_create(struct sched *s)
{
    uint32_t n = sched_n_nodes(s), n_table = 0;
    for (uint32_t i = 0; i < n; i++)
        n_table = sched_node(s, i) + 1 > n_table ? sched_node(s, i) + 1 : n_table;
    struct prospect *x = sched_alloc(s, 1, sizeof *x);
    if (x == NULL)
        return NULL;
    x->is_packed = sched_is_packed(s);
    x->is_plain = sched_gpus_decide(s);
    x->nodes = sched_alloc(s, n_table, sizeof *x->nodes);
    x->by_size = sched_alloc(s, n, sizeof *x->by_size);
    x->places = sched_alloc(s, n, sizeof *x->places);
    x->touched = sched_alloc(s, n, sizeof *x->touched);
    if (x->nodes == NULL || x->by_size == NULL || x->places == NULL || x->touched == NULL)
        return NULL;
    for (uint32_t i = 0; i < n; i++) { /* nodes come in runs of one size: nearly sorted */
        uint32_t node = sched_node(s, i), k = i;
        for (; k > 0 && sched_node_gpus(s, x->by_size[k - 1]) < sched_node_gpus(s, node); k--)
            x->by_size[k] = x->by_size[k - 1];
        x->by_size[k] = node;
        x->all_gpus += sched_node_gpus(s, node);
    }
    x->n_scope = n;
    return x;
}

static int64_t plus(int64_t free, int64_t freed)
{
    return free == SCHED_UNLIMITED ? free : free + freed;
}

/* What would be free on a node. */
static void free_on(const struct prospect *x, struct sched *s, uint32_t node, int64_t out[NEED_KINDS])
{
    static const struct prospect_node nothing;
    const struct prospect_node *n = x->nodes[node].stamp == x->now_stamp ? &x->nodes[node] : &nothing;
    out[NEED_GPUS] = sched_node_free(s, node) + n->freed[NEED_GPUS];
    out[NEED_CPU] = plus(sched_node_free_cpu_milli(s, node), n->freed[NEED_CPU]);
    out[NEED_MEMORY] = plus(sched_node_free_memory_kib(s, node), n->freed[NEED_MEMORY]);
}

/* Add to what is free on a node what a running job of `of` GPUs holds there, behind `before` GPUs on other nodes. */
static void give(struct sched *s, uint32_t job, const struct place *place, uint32_t before, uint32_t of,
                 int64_t free[NEED_KINDS])
{
    free[NEED_GPUS] += place->gpus;
    free[NEED_CPU] = plus(free[NEED_CPU], (int64_t)sched_part(sched_cpu_milli(s, job), before, place->gpus, of));
    free[NEED_MEMORY] = plus(free[NEED_MEMORY], (int64_t)sched_part(sched_memory_kib(s, job), before, place->gpus, of));
}

/* What a node where so much is free adds to `sum`. */
static uint32_t worth(const struct prospect *x, struct sched *s, uint32_t node, const int64_t free[NEED_KINDS])
{
    uint32_t size = sched_node_gpus(s, node);
    if (!need_is_served(&x->need, size, sched_node_type(s, node)))
        return 0;
    if (!x->is_packed)
        return need_within(&x->need, free, x->need.gpus);
    if (x->need.gpus <= x->largest)
        return need_within(&x->need, free, x->need.gpus) == x->need.gpus;
    return size <= x->need.gpus && need_within(&x->need, free, size) == size ? size : 0;
}

static uint32_t worth_now(const struct prospect *x, struct sched *s, uint32_t node)
{
    int64_t free[NEED_KINDS];
    free_on(x, s, node, free);
    return worth(x, s, node, free);
}

void prospect_begin(struct prospect *x, struct sched *s, uint32_t job)
{
    uint32_t capacity = sched_capacity_gpus(s), held = sched_held_gpus(s);
    x->need = need_of(s, job);
    x->freed_gpus = 0;
    x->excess = held > capacity ? held - capacity : 0;
    x->n_places = x->n_touched = 0;
    x->largest = 0;
    for (uint32_t i = 0; i < x->n_scope && x->largest == 0; i++)
        if (need_is_served(&x->need, sched_node_gpus(s, x->by_size[i]), sched_node_type(s, x->by_size[i])))
            x->largest = sched_node_gpus(s, x->by_size[i]);
    if (++x->now_stamp == 0) { /* the stamps wrapped: all are old */
        for (uint32_t i = 0; i < x->n_scope; i++)
            x->nodes[x->by_size[i]].stamp = 0;
        x->now_stamp = 1;
    }
    /* It has found no place: where GPUs alone decide and no quota binds, no node then has enough as it is. */
    x->is_only_touched = x->is_plain && x->is_packed && x->need.gpus <= x->largest && capacity >= x->all_gpus;
    x->is_counted = x->is_only_touched;
    x->sum = 0;
}

void prospect_add(struct prospect *x, struct sched *s, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places), before = 0, of = sched_gpus(s, job);
    for (uint32_t i = 0; i < n; i++) {
        struct prospect_node *node = &x->nodes[places[i].node];
        uint32_t gpus = places[i].gpus, old = x->is_counted ? worth_now(x, s, places[i].node) : 0;
        if (node->stamp != x->now_stamp) {
            *node = (struct prospect_node){.stamp = x->now_stamp};
            x->touched[x->n_touched++] = places[i].node;
        }
        give(s, job, &places[i], before, of, node->freed);
        before += gpus;
        if (x->is_counted)
            x->sum = x->sum + worth_now(x, s, places[i].node) - old;
    }
    x->freed_gpus += of;
}

void prospect_ends(struct prospect *x, struct sched *s, uint32_t job)
{
    bool is_counted = x->is_counted;
    x->is_counted = false; /* the sum is of then, and does not change */
    prospect_add(x, s, job);
    x->is_counted = is_counted;
}

uint64_t prospect_gpus(const struct prospect *x, struct sched *s)
{
    uint64_t sum = sched_free_gpus(s) + x->freed_gpus;
    return sum > x->excess ? sum - x->excess : 0;
}

/* It would take `gpus` GPUs of a node. */
static void place_add(struct prospect *x, const int64_t free[NEED_KINDS], uint32_t node, uint32_t gpus)
{
    struct prospect_place *p = &x->places[x->n_places++];
    *p = (struct prospect_place){.node = node, .over = {free[NEED_GPUS] - gpus}};
    for (int k = 0; k < 2; k++)
        p->over[NEED_CPU + k] =
            plus(free[NEED_CPU + k], -(int64_t)sched_part_bound(x->need.host[k], gpus, x->need.gpus));
}

static bool is_taken(const struct prospect *x, uint32_t node)
{
    for (uint32_t i = 0; i < x->n_places; i++)
        if (x->places[i].node == node)
            return true;
    return false;
}

/* One node for `gpus` GPUs beside those that are taken: of those with the fewest GPUs free the lowest. */
static bool take_one(struct prospect *x, struct sched *s, uint32_t gpus)
{
    int64_t free[NEED_KINDS], best_free[NEED_KINDS] = {INT64_MAX};
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < (x->is_only_touched ? x->n_touched : x->n_scope); i++) {
        uint32_t node = x->is_only_touched ? x->touched[i] : x->by_size[i];
        if (!need_is_served(&x->need, sched_node_gpus(s, node), sched_node_type(s, node)))
            continue;
        free_on(x, s, node, free);
        if (need_within(&x->need, free, gpus) < gpus || free[NEED_GPUS] > best_free[NEED_GPUS] ||
            (free[NEED_GPUS] == best_free[NEED_GPUS] && node > best) || is_taken(x, node))
            continue;
        best = node;
        for (int k = 0; k < NEED_KINDS; k++)
            best_free[k] = free[k];
    }
    if (best != UINT32_MAX)
        place_add(x, best_free, best, gpus);
    return best != UINT32_MAX;
}

/* Wholly free nodes, largest first, while not larger than what is missing, and one for the rest. */
static bool take_several(struct prospect *x, struct sched *s)
{
    uint32_t missing = x->need.gpus;
    for (uint32_t i = 0; i < x->n_scope && missing > 0; i++) {
        uint32_t node = x->by_size[i], size = sched_node_gpus(s, node);
        int64_t free[NEED_KINDS];
        if (size == 0 || size > missing || !need_is_served(&x->need, size, sched_node_type(s, node)))
            continue;
        free_on(x, s, node, free);
        if (need_within(&x->need, free, size) < size)
            continue;
        place_add(x, free, node, size);
        missing -= size;
    }
    return missing == 0 || take_one(x, s, missing);
}

bool prospect_fits(struct prospect *x, struct sched *s)
{
    x->n_places = 0;
    if (x->largest == 0 || prospect_gpus(x, s) < x->need.gpus)
        return false;
    if (x->is_plain && !x->is_packed)
        return true;
    if (!x->is_counted) {
        for (uint32_t i = 0; i < x->n_scope; i++)
            x->sum += worth_now(x, s, x->by_size[i]);
        x->is_counted = true;
    }
    if (!x->is_packed)
        return x->sum >= x->need.gpus;
    if (x->need.gpus <= x->largest)
        return x->sum > 0 && take_one(x, s, x->need.gpus);
    return x->sum + (x->largest - 1) >= x->need.gpus && take_several(x, s);
}

/* Of each node as much as it can have, the lowest numbers first, as they would be without `job`. */
static void take_any(struct prospect *x, struct sched *s, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places), before = 0, of = sched_gpus(s, job), missing = x->need.gpus;
    x->n_places = 0;
    for (uint32_t i = 0; i < x->n_scope && missing > 0; i++) {
        int64_t free[NEED_KINDS];
        uint32_t node = sched_node(s, i);
        if (!need_is_served(&x->need, sched_node_gpus(s, node), sched_node_type(s, node)))
            continue;
        free_on(x, s, node, free);
        before = 0;
        for (uint32_t k = 0; k < n; before += places[k++].gpus)
            if (places[k].node == node)
                give(s, job, &places[k], before, of, free);
        uint32_t gpus = need_within(&x->need, free, missing);
        if (gpus > 0)
            place_add(x, free, node, gpus);
        missing -= gpus;
    }
}

bool prospect_leaves(struct prospect *x, struct sched *s, uint32_t job)
{
    /* what is free now is less by what the job took: the sum is not, until it is taken off node by node */
    const struct place *places;
    uint32_t n = sched_places(s, job, &places), before = 0, of = sched_gpus(s, job);
    uint64_t sum = x->sum;
    if (x->is_plain)
        return true;
    for (uint32_t i = 0; i < n; before += places[i++].gpus) {
        int64_t free[NEED_KINDS];
        free_on(x, s, places[i].node, free);
        sum += worth(x, s, places[i].node, free);
        give(s, job, &places[i], before, of, free);
        sum -= worth(x, s, places[i].node, free);
    }
    if (sum < x->need.gpus) {
        take_any(x, s, job);
        return false;
    }
    x->sum = sum;
    return true;
}
