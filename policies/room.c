#include "policies/room.h"

struct room *room_create(struct sched *s)
{
    struct room *r = sched_alloc(s, 1, sizeof *r);
    if (r == NULL)
        return NULL;
    uint32_t n = sched_n_nodes(s);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = sched_node(s, i), gpus = sched_node_gpus(s, node);
        r->n_nodes = node + 1 > r->n_nodes ? node + 1 : r->n_nodes;
        r->largest = gpus > r->largest ? gpus : r->largest;
    }
    r->freed = sched_alloc(s, r->n_nodes, sizeof *r->freed);
    r->stamp = sched_alloc(s, r->n_nodes, sizeof *r->stamp);
    r->touched = sched_alloc(s, r->n_nodes, sizeof *r->touched);
    return r->freed != NULL && r->stamp != NULL && r->touched != NULL ? r : NULL;
}

void room_begin(struct room *r, struct sched *s, uint32_t gpus)
{
    r->gpus = gpus;
    r->n_touched = 0;
    r->freed_all = 0;
    r->whole_gpus = 0;
    r->has_node = false;
    if (++r->now_stamp == 0) { /* the stamps wrapped: all are old */
        for (uint32_t i = 0; i < r->n_nodes; i++)
            r->stamp[i] = 0;
        r->now_stamp = 1;
    }
    if (gpus > r->largest && sched_is_packed(s)) { /* wholly free already; only jobs larger than a node pay for this */
        uint32_t n = sched_n_nodes(s);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t node = sched_node(s, i);
            uint32_t free = sched_node_free(s, node);
            r->whole_gpus += sched_node_gpus(s, node) == free ? free : 0;
        }
    }
}

void room_add(struct room *r, struct sched *s, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = places[i].node;
        if (r->stamp[node] != r->now_stamp) {
            r->stamp[node] = r->now_stamp;
            r->freed[node] = 0;
            r->touched[r->n_touched++] = node;
        }
        r->freed[node] += places[i].gpus;
        r->freed_all += places[i].gpus;
        uint32_t free = sched_node_free(s, node) + r->freed[node];
        r->has_node |= free >= r->gpus;
        r->whole_gpus += free == sched_node_gpus(s, node) ? free : 0;
    }
}

uint32_t room_freed(const struct room *r, uint32_t node)
{
    return r->stamp[node] == r->now_stamp ? r->freed[node] : 0;
}

bool room_fits(const struct room *r, struct sched *s)
{
    if (sched_free_gpus(s) + r->freed_all < r->gpus)
        return false;
    if (!sched_is_packed(s))
        return true;
    if (r->gpus > r->largest)
        return r->whole_gpus >= r->gpus / r->largest * r->largest;
    return r->has_node; /* before, no node had enough: only one that was freed can have it now */
}
