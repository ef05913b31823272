/* Smooth weighted round robin in two steps, so that its cost does not grow with the number of nodes:
 *
 *     pools of like nodes, each with a credit       credit += weight x nodes for every pool with a node that will do;
 *     [ 8 GPUs x 4 ]  [ 4 GPUs x 2 ]                the largest credit wins (on ties: the larger nodes)
 *          │                                     and pays the sum of what was added
 *          ▼ round robin among the pool's nodes
 *
 * Nodes of one pool have one weight, so over a cluster with room everywhere each node is used in proportion to its weight. */
#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

#include <string.h>

enum { WEIGHT_ONE = 1000 }; /* weights are kept in thousandths, so that credits are whole */

struct weighted_round_robin {
    struct packed packed;
    int64_t *weight; /* a pool: of all its nodes together */
    int64_t *credit;
    uint32_t *next; /* a pool: the node behind the last one used */
};

/* The kind of each pool: like nodes in several partitions are one kind; kinds are numbered by their first nodes. */
static uint32_t number_kinds(const struct cluster *c, uint32_t *kind)
{
    uint32_t n = 0;
    for (uint32_t partition = 0; partition < c->n_partitions; partition++) {
        const struct partition *q = &c->partitions[partition]; /* in order of their nodes */
        for (uint32_t from = 0, done = 0; done < q->n_pools; done++) {
            uint32_t pool = UINT32_MAX; /* the pool with the next first node */
            for (uint32_t i = q->first_pool; i < q->first_pool + q->n_pools; i++)
                if (c->pools[i].first_node >= from &&
                    (pool == UINT32_MAX || c->pools[i].first_node < c->pools[pool].first_node))
                    pool = i;
            from = c->pools[pool].first_node + 1;
            uint32_t like = UINT32_MAX;
            for (uint32_t i = 0; i < q->first_pool && like == UINT32_MAX; i++)
                if (pools_are_alike(&c->pools[i], &c->pools[pool]))
                    like = i;
            kind[pool] = like != UINT32_MAX ? kind[like] : n++;
        }
    }
    return n;
}

static int weighted_round_robin_init(void *self, const struct cluster *c, const union param *v, struct arena *a,
                                     struct error *err)
{
    struct weighted_round_robin *r = self;
    r->weight = ARENA_NEW(a, int64_t, c->n_pools);
    r->credit = ARENA_NEW(a, int64_t, c->n_pools);
    r->next = ARENA_NEW(a, uint32_t, c->n_pools);
    uint32_t *kind = ARENA_NEW(a, uint32_t, c->n_pools);
    if (r->weight == NULL || r->credit == NULL || r->next == NULL || kind == NULL)
        return error_set(err, BRAID_FAILED, "memory is out for the placement's credits");
    uint32_t n_kinds = number_kinds(c, kind);
    if (v[0].list.n > 0 && v[0].list.n != n_kinds)
        return error_set(err, BRAID_BAD_INPUT,
                         "placement weighted_round_robin: %u weights for %u kinds of node; give one for each kind",
                         v[0].list.n, n_kinds);
    for (uint32_t i = 0; i < c->n_pools; i++) {
        const struct pool *p = &c->pools[i];
        double weight = v[0].list.n > 0 ? v[0].list.v[kind[i]] : p->gpus;
        r->weight[i] = (int64_t)(weight * WEIGHT_ONE + 0.5) * p->n_nodes;
    }
    return packed_init(self, c, v, a, err);
}

static void weighted_round_robin_copy(void *to, const void *from, const struct cluster *c)
{
    struct weighted_round_robin *x = to;
    const struct weighted_round_robin *y = from;
    memcpy(x->credit, y->credit, c->n_pools * sizeof *x->credit);
    memcpy(x->next, y->next, c->n_pools * sizeof *x->next);
}

static uint32_t weighted_round_robin_choose(void *self, const struct want *w, gsl_rng *rng)
{
    struct weighted_round_robin *r = self;
    (void)rng;
    int64_t added = 0;
    uint32_t best = NODESET_NONE, best_pool = 0;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        uint32_t node = want_lowest_in(w, pool, r->next[pool]);
        if (node == NODESET_NONE)
            node = want_lowest_in(w, pool, 0);
        if (node == NODESET_NONE)
            continue;
        r->credit[pool] += r->weight[pool];
        added += r->weight[pool];
        if (best == NODESET_NONE || r->credit[pool] > r->credit[best_pool]) {
            best = node;
            best_pool = pool;
        }
    }
    if (best != NODESET_NONE) {
        r->credit[best_pool] -= added;
        r->next[best_pool] = best + 1;
    }
    return best;
}

static uint32_t weighted_round_robin_pick(void *self, const struct cluster *c, uint32_t partition,
                                          const struct demand *d, gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, weighted_round_robin_choose, weighted_round_robin_choose);
}

static const struct param_spec PARAMS[] = {
    {.name = "weights",
     .type = PARAM_NUMBERS,
     .def = "[]",
     .min = 0.001,
     .max = 1e6,
     .unit = "",
     .help =
         "A weight for each kind of node, in the order in which the kinds appear in the cluster; none: a node's GPUs."},
};

const struct placement_ops placement_weighted_round_robin = {
    .name = "weighted_round_robin",
    .summary = "nodes in turn, each as often as its weight says (its GPUs, unless stated)",
    .source = "smooth weighted round robin as in the nginx upstream module",
    .rule = PLACEMENT_PACKED,
    .params = PARAMS,
    .n_params = sizeof PARAMS / sizeof *PARAMS,
    .state_size = sizeof(struct weighted_round_robin),
    .init = weighted_round_robin_init,
    .pick = weighted_round_robin_pick,
    .copy = weighted_round_robin_copy,
};
