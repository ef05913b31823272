#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

static uint32_t consolidate_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    (void)rng;
    return want_tightest(w);
}

static uint32_t consolidate_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                                 gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, consolidate_choose, NULL);
}

const struct placement_ops placement_consolidate = {
    .name = "consolidate",
    .summary = "fewest nodes; the node whose free GPUs are left with the least, lowest number on ties",
    .source =
        "best fit: Johnson et al., Worst-case performance bounds for simple one-dimensional packing algorithms, 1974",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct packed),
    .init = packed_init,
    .pick = consolidate_pick,
};
