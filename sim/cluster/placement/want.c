#include "cluster/placement/want.h"

#include "base/check.h"

uint32_t node_gpus_within(const struct cluster *c, const struct demand *d, uint32_t node, uint32_t gpus)
{
    const struct node *n = &c->nodes[node];
    gpus =
        sched_part_most(d->cpu_milli, n->cpu_free_milli, gpus, d->gpus); /* unlimited: the largest number there is */
    return sched_part_most(d->mem_kib, n->mem_free_kib, gpus, d->gpus);
}

int node_compare_load(const struct cluster *c, uint32_t a, uint32_t b)
{
    const struct node *x = &c->nodes[a], *y = &c->nodes[b];
    uint64_t free_x = (uint64_t)node_visible(x) * y->gpus, free_y = (uint64_t)node_visible(y) * x->gpus;
    return (free_x < free_y) - (free_x > free_y);
}

bool want_has_pool(const struct want *w, uint32_t pool)
{
    const struct pool *p = &w->c->pools[pool];
    return pool_matches(p, w->d) && (w->is_whole ? p->gpus == w->gpus : p->gpus >= w->gpus);
}

bool want_accepts(const struct want *w, uint32_t node)
{
    if (w->taken != NULL && w->taken->stamp[node] == w->taken->round)
        return false;
    return !w->is_bounded || node_gpus_within(w->c, w->d, node, w->gpus) == w->gpus;
}

/* Position in the pool of its first node with a number >= node. */
static uint32_t pool_position(const struct pool *p, uint32_t node)
{
    if (node <= p->first_node)
        return 0;
    if (p->nodes[p->n_nodes - 1] - p->first_node == p->n_nodes - 1) /* no gaps */
        return node - p->first_node;
    uint32_t low = 0, high = p->n_nodes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->nodes[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t want_lowest_at(const struct want *w, uint32_t pool, uint32_t free, uint32_t from)
{
    const struct pool *p = &w->c->pools[pool];
    const struct nodeset *set = &p->by_free[free];
    for (uint32_t i = nodeset_next(set, pool_position(p, from)); i != NODESET_NONE; i = nodeset_next(set, i + 1))
        if (want_accepts(w, p->nodes[i]))
            return p->nodes[i];
    return NODESET_NONE;
}

uint32_t want_lowest_in(const struct want *w, uint32_t pool, uint32_t from)
{
    uint32_t best = NODESET_NONE;
    for (uint32_t f = level_next(w->c, pool, w->gpus); f != NODESET_NONE; f = level_next(w->c, pool, f + 1)) {
        uint32_t node = want_lowest_at(w, pool, f, from);
        best = node < best ? node : best;
    }
    return best;
}

uint32_t want_lowest(const struct want *w, uint32_t from)
{
    uint32_t best = NODESET_NONE;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        uint32_t node = want_lowest_in(w, pool, from);
        best = node < best ? node : best;
    }
    return best;
}

uint32_t want_tightest(const struct want *w)
{
    uint32_t best = NODESET_NONE, best_free = UINT32_MAX;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        for (uint32_t f = level_next(w->c, pool, w->gpus); f <= best_free && f != NODESET_NONE;
             f = level_next(w->c, pool, f + 1)) {
            uint32_t node = want_lowest_at(w, pool, f, 0);
            if (node == NODESET_NONE)
                continue;
            if (f < best_free || node < best) {
                best = node;
                best_free = f;
            }
            break;
        }
    }
    return best;
}

uint32_t want_roomiest(const struct want *w)
{
    uint32_t best = NODESET_NONE, best_free = w->gpus;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        for (uint32_t f = level_previous(w->c, pool, w->c->pools[pool].gpus); f >= best_free && f != NODESET_NONE;
             f = f == 0 ? NODESET_NONE : level_previous(w->c, pool, f - 1)) {
            uint32_t node = want_lowest_at(w, pool, f, 0);
            if (node == NODESET_NONE)
                continue;
            if (best == NODESET_NONE || f > best_free || node < best) {
                best = node;
                best_free = f;
            }
            break;
        }
    }
    return best;
}

uint32_t want_count(const struct want *w, uint32_t enough)
{
    bool is_plain = w->taken == NULL && !w->is_bounded;
    uint32_t count = 0;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools && count < enough; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        for (uint32_t f = level_next(w->c, pool, w->gpus); f != NODESET_NONE && count < enough;
             f = level_next(w->c, pool, f + 1)) {
            if (is_plain)
                count += w->c->pools[pool].by_free[f].count;
            else
                for (uint32_t node = want_lowest_at(w, pool, f, 0); node != NODESET_NONE && count < enough;
                     node = want_lowest_at(w, pool, f, node + 1))
                    count++;
        }
    }
    return count < enough ? count : enough;
}

/* The r-th node that will do, pool by pool, count by count. */
static uint32_t want_at(const struct want *w, uint32_t r)
{
    bool is_plain = w->taken == NULL && !w->is_bounded;
    for (uint32_t pool = w->q->first_pool; pool < w->q->first_pool + w->q->n_pools; pool++) {
        if (!want_has_pool(w, pool))
            continue;
        for (uint32_t f = level_next(w->c, pool, w->gpus); f != NODESET_NONE; f = level_next(w->c, pool, f + 1)) {
            uint32_t members = w->c->pools[pool].by_free[f].count;
            if (is_plain && r >= members) {
                r -= members;
                continue;
            }
            for (uint32_t node = want_lowest_at(w, pool, f, 0); node != NODESET_NONE;
                 node = want_lowest_at(w, pool, f, node + 1))
                if (r-- == 0)
                    return node;
        }
    }
    return NODESET_NONE;
}

/* Many will do: draw from all nodes until one does. Few: count them off. Either way each has the same probability, and with N nodes
 * the cost is at most about sqrt(N) steps where CPU and memory do not bind. */
uint32_t want_draw(const struct want *w, gsl_rng *rng)
{
    struct want plain = *w; /* an upper bound of those that will do, from counts alone */
    plain.taken = NULL;
    plain.is_bounded = false;
    uint64_t most = want_count(&plain, UINT32_MAX), all = 0;
    uint32_t end = w->q->first_pool + w->q->n_pools;
    for (uint32_t pool = w->q->first_pool; pool < end; pool++)
        all += want_has_pool(w, pool) ? w->c->pools[pool].n_nodes : 0;
    if (most * most >= all && most > 0) {
        for (uint64_t tries = 8 * (all / most + 1); tries > 0; tries--) {
            uint32_t r = (uint32_t)gsl_rng_uniform_int(rng, all);
            uint32_t pool = w->q->first_pool;
            for (; !want_has_pool(w, pool) || r >= w->c->pools[pool].n_nodes; pool++)
                r -= want_has_pool(w, pool) ? w->c->pools[pool].n_nodes : 0;
            uint32_t node = w->c->pools[pool].nodes[r];
            if (node_visible(&w->c->nodes[node]) >= w->gpus && want_accepts(w, node))
                return node;
        }
    }
    uint32_t count = want_count(w, UINT32_MAX);
    return count == 0 ? NODESET_NONE : want_at(w, (uint32_t)gsl_rng_uniform_int(rng, count));
}

/* ---- the PACKED rule ----------------------------------------------------------------------------- */

int packed_init(void *self, const struct cluster *c, const union param *v, struct arena *a, struct error *err)
{
    (void)v;
    struct packed *taken = self;
    taken->stamp = ARENA_NEW(a, uint32_t, c->n_nodes);
    return taken->stamp != NULL ? BRAID_OK
                                : error_set(err, BRAID_FAILED, "memory is out for the placement's table of nodes");
}

static uint32_t choose_node(void *self, const struct want *w, gsl_rng *rng, want_choose choose)
{
    uint32_t node = choose(self, w, rng);
    insist(node == NODESET_NONE || (want_has_pool(w, w->c->nodes[node].pool) &&
                                    node_visible(&w->c->nodes[node]) >= w->gpus && want_accepts(w, node)),
           "a placement chose node %u, which will not do for %u GPUs", node, w->gpus);
    return node;
}

/* Wholly free nodes, largest first, while they are not larger than what is missing. Returns the number of places. */
static uint32_t take_whole_nodes(void *self, struct want *w, gsl_rng *rng, want_choose whole, struct place *out,
                                 uint32_t room)
{
    struct packed *taken = self;
    uint32_t n = 0, missing = w->d->gpus, size = 0;
    w->is_whole = true;
    for (uint32_t i = 0; i < w->q->n_pools && missing > 0; i++) {
        const struct pool *p = &w->c->pools[w->q->first_pool + i];
        if (p->gpus == size || p->gpus > missing || !pool_matches(p, w->d))
            continue;
        size = p->gpus;
        w->gpus = size;
        for (uint32_t from = 0; missing >= size;) {
            uint32_t node = whole != NULL ? choose_node(self, w, rng, whole) : want_lowest(w, from);
            if (node == NODESET_NONE)
                break;
            require(n < room, "a job of %u GPUs needs more than %u places", w->d->gpus, room);
            out[n++] = (struct place){node, size};
            taken->stamp[node] = taken->round;
            missing -= size;
            from = node + 1;
        }
    }
    w->gpus = missing;
    w->is_whole = false;
    return n;
}

uint32_t packed_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d, gsl_rng *rng,
                     struct place *out, uint32_t room, want_choose one, want_choose whole)
{
    const struct partition *q = &c->partitions[partition];
    uint32_t pool = q->first_pool, end = q->first_pool + q->n_pools;
    while (pool < end && !pool_matches(&c->pools[pool], d))
        pool++;
    if (pool == end || d->gpus == 0 || d->gpus > q->free_gpus)
        return 0;
    struct want w = {.c = c, .q = q, .d = d, .gpus = d->gpus, .is_bounded = cluster_is_bounded(c, partition, d)};
    uint32_t n = 0;
    if (d->gpus > c->pools[pool].gpus) {
        /* A choice may move a cursor or draw a number: only when it will come to something. */
        if (!placement_fits(c, partition, d, PLACEMENT_PACKED))
            return 0;
        struct packed *taken = self;
        taken->round++;
        w.taken = taken;
        n = take_whole_nodes(self, &w, rng, whole, out, room);
        if (w.gpus == 0)
            return n;
    }
    uint32_t node = choose_node(self, &w, rng, one);
    if (node == NODESET_NONE) {
        require(n == 0, "counting promised a place for %u GPUs and none was found", d->gpus);
        return 0;
    }
    require(n < room, "a job of %u GPUs needs more than %u places", d->gpus, room);
    out[n++] = (struct place){node, w.gpus};
    return n;
}
