#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

struct power_of_two {
    struct packed packed;
    uint32_t d;
};

static int power_of_two_init(void *self, const struct cluster *c, const union param *v, struct arena *a,
                             struct error *err)
{
    struct power_of_two *p = self;
    p->d = (uint32_t)v[0].i;
    return packed_init(self, c, v, a, err);
}

static uint32_t power_of_two_choose(void *self, const struct want *w, gsl_rng *rng)
{
    const struct power_of_two *p = self;
    uint32_t best = want_draw(w, rng);
    for (uint32_t i = 1; i < p->d && best != NODESET_NONE; i++) {
        uint32_t other = want_draw(w, rng);
        if (node_compare_load(w->c, other, best) < 0)
            best = other;
    }
    return best;
}

/* Wholly free nodes are equally loaded: one draw is as good as several. */
static uint32_t power_of_two_whole(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    return want_draw(w, rng);
}

static uint32_t power_of_two_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                                  gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, power_of_two_choose, power_of_two_whole);
}

static const struct param_spec PARAMS[] = {
    {.name = "d",
     .type = PARAM_INT,
     .def = "2",
     .min = 1,
     .max = 64,
     .unit = "nodes",
     .help =
         "How many nodes are drawn, independently and with the same probability, before the least loaded is taken."},
};

const struct placement_ops placement_power_of_two = {
    .name = "power_of_two",
    .summary =
        "of two nodes drawn at random among those with enough free GPUs the less loaded, the first drawn on ties",
    .source = "Mitzenmacher, The power of two choices in randomized load balancing, TPDS 2001",
    .rule = PLACEMENT_PACKED,
    .params = PARAMS,
    .n_params = sizeof PARAMS / sizeof *PARAMS,
    .state_size = sizeof(struct power_of_two),
    .init = power_of_two_init,
    .pick = power_of_two_pick,
};
