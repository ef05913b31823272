/* Best fit over more than one resource: like consolidate it leaves the fewest GPUs on the node; among nodes alike in this it leaves
 * the least CPU, then the least memory. Where the job asks for neither, or no node limits them, the two modules agree. The
 * nodes of one free count are looked through, so it is not flat in their number when CPU or memory bind. */
#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

static bool is_tighter(const struct node *a, const struct node *b)
{
    if (a->cpu_free_milli != b->cpu_free_milli)
        return a->cpu_free_milli < b->cpu_free_milli;
    return a->mem_free_kib < b->mem_free_kib;
}

static uint32_t best_fit_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    (void)rng;
    uint32_t best = want_tightest(w);
    if (best == NODESET_NONE || !w->is_bounded)
        return best;
    uint32_t free = node_visible(&w->c->nodes[best]);
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool) || free > w->c->pools[pool].gpus)
            continue;
        for (uint32_t node = want_lowest_at(w, pool, free, 0); node != NODESET_NONE;
             node = want_lowest_at(w, pool, free, node + 1)) {
            const struct node *n = &w->c->nodes[node], *b = &w->c->nodes[best];
            if (is_tighter(n, b) || (node < best && !is_tighter(b, n)))
                best = node;
        }
    }
    return best;
}

static uint32_t best_fit_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                              gsl_rng *rng, struct place *out, uint32_t room)
{
    return packed_pick(self, c, partition, d, rng, out, room, best_fit_choose, NULL);
}

const struct placement_ops placement_best_fit = {
    .name = "best_fit",
    .summary =
        "the node left with the fewest free GPUs, then the least CPU, then the least memory, lowest number on ties",
    .source =
        "best fit: Johnson et al., Worst-case performance bounds for simple one-dimensional packing algorithms, 1974",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct packed),
    .init = packed_init,
    .pick = best_fit_pick,
};
