#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

static uint32_t random_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    return want_draw(w, rng);
}

static uint32_t random_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                            gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, random_choose, random_choose);
}

const struct placement_ops placement_random = {
    .name = "random",
    .summary = "any node with enough free GPUs, each with the same probability",
    .source = "baseline",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct packed),
    .init = packed_init,
    .pick = random_pick,
};
