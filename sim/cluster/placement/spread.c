/* Nodes with free GPUs in order of (most free first, lowest number) give one GPU each, turn after turn, until the job has all:
 *
 *     free   n2: 8   n0: 3   n1: 1          5 GPUs:   turn 1  n2 n0 n1     turn 2  n2 n0     ->  n2: 2, n0: 2, n1: 1
 */
#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

#include "base/check.h"

/* Largest count below `free` that occurs in a pool of the type; 0: none. */
static uint32_t level_below(const struct want *w, uint32_t free)
{
    uint32_t best = 0;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        uint32_t gpus = w->c->pools[pool].gpus;
        uint32_t f = level_previous(w->c, pool, gpus < free ? gpus : free - 1);
        if (f != NODESET_NONE && f > best)
            best = f;
    }
    return best;
}

static uint32_t lowest_with(const struct want *w, uint32_t free, uint32_t from)
{
    uint32_t best = NODESET_NONE;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool) || free > w->c->pools[pool].gpus)
            continue;
        uint32_t node = want_lowest_at(w, pool, free, from);
        best = node < best ? node : best;
    }
    return best;
}

static uint32_t spread_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                            gsl_rng *rng, struct place *out, uint32_t room)
{
    (void)self;
    (void)rng;
    if (!placement_fits(c, partition, d, PLACEMENT_POOL))
        return 0;
    struct want w = {
        .c = c, .q = &c->partitions[partition], .d = d, .gpus = 1, .is_bounded = cluster_is_bounded(c, partition, d)};
    uint32_t n = 0, missing = d->gpus;
    for (uint32_t free = level_below(&w, UINT32_MAX); free > 0 && missing > 0; free = level_below(&w, free))
        for (uint32_t node = lowest_with(&w, free, 0); node != NODESET_NONE && missing > 0;
             node = lowest_with(&w, free, node + 1), missing--) {
            require(n < room, "a job of %u GPUs needs more than %u places", d->gpus, room);
            out[n++] = (struct place){node, 1};
        }
    while (missing > 0) {
        uint32_t before = missing;
        for (uint32_t i = 0; i < n && missing > 0; i++) {
            uint32_t gpus = out[i].gpus + 1;
            if (gpus > node_visible(&c->nodes[out[i].node]) || node_gpus_within(c, d, out[i].node, gpus) < gpus)
                continue;
            out[i].gpus = gpus;
            missing--;
        }
        require(missing < before, "counting promised %u free GPUs and %u of them were not found", d->gpus, missing);
    }
    return n;
}

const struct placement_ops placement_spread = {
    .name = "spread",
    .summary = "as many nodes as possible: one GPU of each in turn, the most free first",
    .source = "baseline against consolidation",
    .rule = PLACEMENT_POOL,
    .pick = spread_pick,
};
