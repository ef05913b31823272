#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

static uint32_t least_loaded_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    (void)rng;
    uint32_t best = NODESET_NONE;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        /* In a pool the least loaded node is the one with the most free GPUs. */
        uint32_t node = NODESET_NONE;
        for (uint32_t f = level_previous(w->c, pool, w->c->pools[pool].gpus);
             node == NODESET_NONE && f != NODESET_NONE && f >= w->gpus; f = level_previous(w->c, pool, f - 1))
            node = want_lowest_at(w, pool, f, 0);
        if (node == NODESET_NONE)
            continue;
        int order = best == NODESET_NONE ? -1 : node_compare_load(w->c, node, best);
        if (order < 0 || (order == 0 && node < best))
            best = node;
    }
    return best;
}

static uint32_t least_loaded_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                                  gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, least_loaded_choose, NULL);
}

const struct placement_ops placement_least_loaded = {
    .name = "least_loaded",
    .summary = "the node with the lowest share of its GPUs allocated, lowest number on ties",
    .source = "least loaded: Azar et al., Balanced allocations, 1994 (its greedy with all choices)",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct packed),
    .init = packed_init,
    .pick = least_loaded_pick,
};
