/* naive.h - the rules of placement as plain scans over all nodes, to compare the modules with. */
#ifndef TESTS_CLUSTER_NAIVE_H
#define TESTS_CLUSTER_NAIVE_H

#include "world.h"

struct naive {
    const struct world *w;
    const struct partition *q;
    const struct demand *d;
    bool taken[PLACES_MAX]; /* by node: places that the job in hand has */
    uint32_t next;          /* round_robin: first node to look at */
    struct {                /* weighted_round_robin, by pool */
        int64_t credit;
        uint32_t next;
    } pool[16];
};

/* A choice among the nodes that will do for `gpus` GPUs; `is_whole`: wholly free nodes of exactly this size. */
typedef uint32_t (*naive_choose)(struct naive *v, uint32_t gpus, bool is_whole);

static inline bool naive_type_fits(const struct naive *v, uint32_t node)
{
    const struct pool *p = &v->w->c->pools[cluster_node(v->w->c, node)->pool];
    return p->gpus > 0 && (v->d->gpu_type == NAMES_NONE || p->gpu_type == v->d->gpu_type);
}

/* Does the node's free CPU and memory cover the part of `gpus` GPUs, rounded up? */
static inline bool naive_has_rest(const struct naive *v, uint32_t node, uint32_t gpus)
{
    const struct node *n = cluster_node(v->w->c, node);
    return (uint64_t)v->d->cpu_milli * gpus <= (uint64_t)n->cpu_free_milli * v->d->gpus &&
           (unsigned __int128)v->d->mem_kib * gpus <= (unsigned __int128)n->mem_free_kib * v->d->gpus;
}

static inline bool naive_ok(const struct naive *v, uint32_t node, uint32_t gpus, bool is_whole)
{
    return naive_type_fits(v, node) && !v->taken[node] && visible_gpus(v->w, node) >= gpus &&
           (!is_whole || cluster_node(v->w->c, node)->gpus == gpus) && naive_has_rest(v, node, gpus);
}

static inline uint32_t naive_largest(const struct naive *v)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < v->q->n_nodes; i++)
        if (naive_type_fits(v, v->q->nodes[i]) && cluster_node(v->w->c, v->q->nodes[i])->gpus > most)
            most = cluster_node(v->w->c, v->q->nodes[i])->gpus;
    return most;
}

static inline uint32_t naive_lowest(struct naive *v, uint32_t gpus, bool is_whole)
{
    for (uint32_t i = 0; i < v->q->n_nodes; i++)
        if (naive_ok(v, v->q->nodes[i], gpus, is_whole))
            return v->q->nodes[i];
    return NODESET_NONE;
}

/* PACKED: the number of places, 0: it does not fit. The marks of taken nodes are left in v. */
static inline uint32_t naive_packed(struct naive *v, naive_choose one, naive_choose whole, struct place *out)
{
    uint32_t missing = v->d->gpus, largest = naive_largest(v), n = 0;
    memset(v->taken, 0, sizeof v->taken);
    if (missing > largest)
        for (uint32_t size = largest; size > 0; size--)
            while (size <= missing) {
                uint32_t node = whole(v, size, true);
                if (node == NODESET_NONE)
                    break;
                v->taken[node] = true;
                out[n++] = (struct place){node, size};
                missing -= size;
            }
    if (missing > 0) {
        uint32_t node = one(v, missing, false);
        if (node == NODESET_NONE)
            return 0;
        out[n++] = (struct place){node, missing};
    }
    return n;
}

static inline bool naive_packed_fits(const struct naive *v)
{
    static struct naive copy;
    static struct place out[PLACES_MAX];
    copy = *v;
    return naive_packed(&copy, naive_lowest, naive_lowest, out) > 0;
}

/* GPUs of a node that the job may take in a pool. */
static inline uint32_t naive_most(const struct naive *v, uint32_t node)
{
    uint32_t gpus = naive_type_fits(v, node) ? visible_gpus(v->w, node) : 0;
    while (gpus > 0 && !naive_has_rest(v, node, gpus))
        gpus--;
    return gpus;
}

static inline bool naive_pool_fits(const struct naive *v)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->q->n_nodes; i++)
        sum += naive_most(v, v->q->nodes[i]);
    return sum >= v->d->gpus;
}

#endif
