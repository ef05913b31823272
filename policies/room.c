#include "policies/room.h"

/* The nodes in scope and their distinct sizes, descending. */
static bool scope_prepare(struct room *r, struct sched *s)
{
    uint32_t n = sched_n_nodes(s);
    r->sizes = sched_alloc(s, (size_t)n + 1, sizeof *r->sizes);
    r->whole = sched_alloc(s, (size_t)n + 1, sizeof *r->whole);
    r->scope = sched_alloc(s, (size_t)n + 1, sizeof *r->scope);
    r->size_at = sched_alloc(s, r->n_nodes, sizeof *r->size_at);
    r->by_free = sched_alloc(s, (size_t)r->largest + 1, sizeof *r->by_free);
    if (r->sizes == NULL || r->whole == NULL || r->scope == NULL || r->size_at == NULL || r->by_free == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t gpus = sched_node_gpus(s, sched_node(s, i)), k = 0, at = r->n_sizes;
        while (k < r->n_sizes && r->sizes[k] != gpus)
            k++;
        if (k < r->n_sizes)
            continue;
        for (; at > 0 && r->sizes[at - 1] < gpus; at--)
            r->sizes[at] = r->sizes[at - 1];
        r->sizes[at] = gpus;
        r->n_sizes++;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = sched_node(s, i), k = 0;
        while (r->sizes[k] != sched_node_gpus(s, node))
            k++;
        r->size_at[node] = k;
        r->scope[r->n_scope++] = node;
    }
    return true;
}

struct room *room_create(struct sched *s)
{
    struct room *r = sched_alloc(s, 1, sizeof *r);
    if (r == NULL)
        return NULL;
    uint32_t n = sched_n_nodes(s);
    r->is_packed = sched_is_packed(s);
    r->is_plain = sched_gpus_decide(s);
    r->is_divided = sched_is_divided(s);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = sched_node(s, i), gpus = sched_node_gpus(s, node);
        r->n_nodes = node + 1 > r->n_nodes ? node + 1 : r->n_nodes;
        r->largest = gpus > r->largest ? gpus : r->largest;
        r->all_gpus += gpus;
    }
    r->freed = sched_alloc(s, r->n_nodes, sizeof *r->freed);
    r->stamp = sched_alloc(s, r->n_nodes, sizeof *r->stamp);
    r->touched = sched_alloc(s, r->n_nodes, sizeof *r->touched);
    bool is_ready = r->freed != NULL && r->stamp != NULL && r->touched != NULL && scope_prepare(r, s);
    return is_ready ? r : NULL;
}

void room_begin(struct room *r, struct sched *s, uint32_t gpus)
{
    uint32_t capacity = sched_capacity_gpus(s), held = sched_held_gpus(s);
    r->gpus = gpus;
    r->n_touched = 0;
    r->freed_all = 0;
    r->excess = held > capacity ? held - capacity : 0;
    r->had_node = false;
    r->n_able = 0;
    if (++r->now_stamp == 0) { /* the stamps wrapped: all are old */
        for (uint32_t i = 0; i < r->n_nodes; i++)
            r->stamp[i] = 0;
        r->now_stamp = 1;
    }
    /* Who asks found no place before anything was freed. Where no quota binds and GPUs alone decide, no node then had enough. */
    r->is_bound = capacity < r->all_gpus;
    r->is_uncounted = r->is_packed && (gpus > r->largest || r->is_bound || !r->is_plain);
}

/* Count the nodes by what is free on them by now. */
static void count_nodes(struct room *r, struct sched *s)
{
    bool is_large = r->gpus > r->largest;
    r->is_uncounted = false;
    for (uint32_t k = 0; k < r->n_sizes; k++)
        r->whole[k] = 0;
    for (uint32_t f = 0; is_large && f <= r->largest; f++)
        r->by_free[f] = 0;
    for (uint32_t i = 0; i < r->n_scope; i++) {
        uint32_t node = r->scope[i], free = sched_node_free(s, node);
        r->had_node |= free >= r->gpus;
        free += room_freed(r, node);
        r->n_able += free >= r->gpus;
        r->whole[r->size_at[node]] += free == r->sizes[r->size_at[node]];
        if (is_large)
            r->by_free[free]++;
    }
}

void room_add(struct room *r, struct sched *s, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = places[i].node, gpus = places[i].gpus;
        if (r->stamp[node] != r->now_stamp) {
            r->stamp[node] = r->now_stamp;
            r->freed[node] = 0;
            r->touched[r->n_touched++] = node;
        }
        r->freed[node] += gpus;
        r->freed_all += gpus;
        if (r->is_uncounted)
            continue;
        uint32_t free = sched_node_free(s, node) + r->freed[node];
        r->n_able += free >= r->gpus && free - gpus < r->gpus;
        r->whole[r->size_at[node]] += free == r->sizes[r->size_at[node]];
        if (r->gpus > r->largest) {
            r->by_free[free - gpus]--;
            r->by_free[free]++;
        }
    }
}

uint32_t room_freed(const struct room *r, uint32_t node)
{
    return r->stamp[node] == r->now_stamp ? r->freed[node] : 0;
}

uint64_t room_gpus(const struct room *r, struct sched *s)
{
    uint64_t sum = sched_free_gpus(s) + r->freed_all;
    return sum > r->excess ? sum - r->excess : 0;
}

/* Take wholly free nodes of at least `least` GPUs, largest first, while not larger than what is missing; how many were taken. */
static uint32_t take_whole(const struct room *r, uint32_t least, uint32_t *missing)
{
    uint32_t n_taken = 0;
    *missing = r->gpus;
    for (uint32_t k = 0; k < r->n_sizes && r->sizes[k] >= least; k++) {
        uint32_t take = *missing / r->sizes[k];
        take = take < r->whole[k] ? take : r->whole[k];
        *missing -= take * r->sizes[k];
        n_taken += take;
    }
    return n_taken;
}

/* A job larger than a node: wholly free nodes, then one other node for the rest. */
static bool large_fits(const struct room *r)
{
    uint32_t rest, ignored, n_able = 0;
    take_whole(r, 1, &rest);
    if (rest == 0)
        return true;
    if (rest > r->largest)
        return false;
    uint32_t n_taken = take_whole(r, rest, &ignored); /* those that could have served the rest */
    for (uint32_t f = r->largest; f >= rest && n_able <= n_taken; f--)
        n_able += r->by_free[f];
    return n_able > n_taken;
}

bool room_fits(struct room *r, struct sched *s)
{
    if (r->is_divided)
        return room_gpus(r, s) >= r->gpus;
    bool is_one_node = r->is_packed && r->gpus <= r->largest;
    if (is_one_node && !r->is_uncounted && r->n_able == 0)
        return false;
    if (room_gpus(r, s) < r->gpus)
        return false;
    if (!r->is_packed)
        return true;
    if (r->is_uncounted)
        count_nodes(r, s);
    return is_one_node ? r->n_able > 0 : large_fits(r);
}

bool room_is_settled(const struct room *r)
{
    if (!r->is_packed || r->is_bound || r->is_divided || r->n_sizes != 1)
        return false;
    if (r->gpus <= r->largest)
        return r->n_able == 1;
    return r->gpus % r->largest == 0 && r->whole[0] == r->gpus / r->largest;
}

bool room_needs(const struct room *r, struct sched *s, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places), least = r->gpus < r->largest ? r->gpus : r->largest;
    for (uint32_t i = 0; i < n; i++)
        if (sched_node_free(s, places[i].node) + room_freed(r, places[i].node) >= least)
            return true;
    return false;
}
