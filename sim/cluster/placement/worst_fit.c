#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

static uint32_t worst_fit_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    (void)rng;
    return want_roomiest(w);
}

static uint32_t worst_fit_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                               gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, worst_fit_choose, NULL);
}

const struct placement_ops placement_worst_fit = {
    .name = "worst_fit",
    .summary = "the node with the most free GPUs, lowest number on ties",
    .source = "worst fit: Johnson, Near-optimal bin packing algorithms, 1973",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct packed),
    .init = packed_init,
    .pick = worst_fit_pick,
};
