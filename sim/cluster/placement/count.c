#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

#include "base/check.h"

static uint32_t count_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                           gsl_rng *rng, struct place *out, uint32_t room)
{
    (void)self;
    (void)rng;
    if (!placement_fits(c, partition, d, PLACEMENT_POOL))
        return 0;
    struct want w = {
        .c = c, .q = &c->partitions[partition], .d = d, .gpus = 1, .is_bounded = cluster_is_bounded(c, partition, d)};
    uint32_t n = 0, missing = d->gpus;
    for (uint32_t from = 0; missing > 0;) {
        uint32_t node = want_lowest(&w, from);
        require(node != NODESET_NONE && n < room, "counting promised %u free GPUs and %u of them were not found",
                d->gpus, missing);
        uint32_t gpus = node_visible(&c->nodes[node]);
        gpus = gpus < missing ? gpus : missing;
        if (w.is_bounded)
            gpus = node_gpus_within(c, d, node, gpus);
        out[n++] = (struct place){node, gpus};
        missing -= gpus;
        from = node + 1;
    }
    return n;
}

const struct placement_ops placement_count = {
    .name = "count",
    .summary = "one pool of GPUs: only their number decides; lowest node numbers first",
    .source = "Tiresias simulator, scheme 'count' (Gu et al., NSDI 2019)",
    .rule = PLACEMENT_POOL,
    .pick = count_pick,
};
