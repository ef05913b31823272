#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

static uint32_t first_fit_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    (void)rng;
    return want_lowest(w, 0);
}

static uint32_t first_fit_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                               gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, first_fit_choose, NULL);
}

const struct placement_ops placement_first_fit = {
    .name = "first_fit",
    .summary = "lowest node number with enough free GPUs",
    .source =
        "first fit: Johnson et al., Worst-case performance bounds for simple one-dimensional packing algorithms, 1974",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct packed),
    .init = packed_init,
    .pick = first_fit_pick,
};
