#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

#include <string.h>

struct round_robin {
    struct packed packed;
    uint32_t *next; /* a partition: the node behind the last one used */
};

static int round_robin_init(void *self, const struct cluster *c, const union param *v, struct arena *a,
                            struct error *err)
{
    struct round_robin *r = self;
    r->next = ARENA_NEW(a, uint32_t, c->n_partitions);
    if (r->next == NULL)
        return error_set(err, BRAID_FAILED, "memory is out for the placement's cursors");
    return packed_init(self, c, v, a, err);
}

static void round_robin_copy(void *to, const void *from, const struct cluster *c)
{
    struct round_robin *x = to;
    const struct round_robin *y = from;
    memcpy(x->next, y->next, c->n_partitions * sizeof *x->next);
}

static uint32_t round_robin_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)rng;
    uint32_t *next = &((struct round_robin *)self)->next[w->q - w->c->partitions];
    uint32_t node = want_lowest(w, *next);
    if (node == NODESET_NONE)
        node = want_lowest(w, 0);
    if (node != NODESET_NONE)
        *next = node + 1;
    return node;
}

static uint32_t round_robin_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                                 gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, round_robin_choose, round_robin_choose);
}

const struct placement_ops placement_round_robin = {
    .name = "round_robin",
    .summary = "the next node with enough free GPUs behind the last one used, around the partition",
    .source = "next fit with a moving start: Johnson, Near-optimal bin packing algorithms, 1973",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct round_robin),
    .init = round_robin_init,
    .pick = round_robin_pick,
    .copy = round_robin_copy,
};
