/* A job stays in one rack when some rack can hold it. What it takes is fixed by the PACKED rule over the whole partition (so many
 * wholly free nodes of each size and one for the rest); the rack decides which.
 *
 *     rack 0  [8 8 . .]  16 free        16 GPUs: racks 0 and 2 can hold them; rack 0 is left with the least
 *     rack 1  [4 4 4 4]  16 free
 *     rack 2  [8 8 8 .]  24 free        32 GPUs: no rack can; rack 2 gives the most (24), then rack 0 gives 8
 *
 * The cluster keeps the racks in order of free GPUs, so that of many racks only those are opened which have too little in one piece.
 * A job that no rack can hold has all of them looked through. */
#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

#include "base/check.h"

struct rack_local {
    struct packed packed;
    uint32_t *size, *count; /* what is missing: count[i] wholly free nodes of size[i] GPUs, descending, … */
    uint32_t n_sizes;
    uint32_t rest;        /* … and one node for the rest; 0: none */
    uint32_t *rack_stamp; /* a rack: the round in which it was used */
};

static int rack_local_init(void *self, const struct cluster *c, const union param *v, struct arena *a,
                           struct error *err)
{
    struct rack_local *r = self;
    r->size = ARENA_NEW(a, uint32_t, c->n_pools);
    r->count = ARENA_NEW(a, uint32_t, c->n_pools);
    r->rack_stamp = ARENA_NEW(a, uint32_t, c->n_racks);
    if (r->size == NULL || r->count == NULL || r->rack_stamp == NULL)
        return error_set(err, BRAID_FAILED, "memory is out for the placement's tables of racks");
    return packed_init(self, c, v, a, err);
}

/* What the PACKED rule takes, by counting. */
static void plan(struct rack_local *r, const struct want *w)
{
    struct want whole = *w;
    uint32_t missing = w->d->gpus;
    bool is_single = true;
    r->n_sizes = 0;
    for (uint32_t i = w->q->first_pool; i < w->q->first_pool + w->q->n_pools && missing > 0; i++) {
        const struct pool *p = &w->c->pools[i];
        if (!pool_matches(p, w->d))
            continue;
        if (is_single && missing <= p->gpus) /* one node of the largest size could hold it */
            break;
        is_single = false;
        if (p->gpus > missing || (r->n_sizes > 0 && r->size[r->n_sizes - 1] == p->gpus))
            continue;
        whole.is_whole = true;
        whole.gpus = p->gpus;
        uint32_t count = want_count(&whole, missing / p->gpus);
        if (count > 0) {
            r->size[r->n_sizes] = p->gpus;
            r->count[r->n_sizes++] = count;
            missing -= count * p->gpus;
        }
    }
    r->rest = missing;
}

static bool node_will_do(const struct want *w, uint32_t node, uint32_t gpus, bool is_whole)
{
    if (node_visible(&w->c->nodes[node]) < gpus) /* first of all: it is what most nodes lack */
        return false;
    struct want one = *w;
    one.gpus = gpus;
    one.is_whole = is_whole;
    return want_has_pool(&one, w->c->nodes[node].pool) && want_accepts(&one, node);
}

/* The nodes of a rack that lie in the partition: [begin, end). */
static uint32_t rack_nodes(const struct want *w, uint32_t rack, uint32_t *end)
{
    const struct rack *k = &w->c->racks[rack];
    uint32_t first = w->q->nodes[0], last = w->q->nodes[w->q->n_nodes - 1];
    uint32_t low = k->nodes[0], high = k->nodes[k->n_nodes - 1];
    *end = (high < last ? high : last) + 1;
    return low > first ? low : first;
}

/* Wholly free nodes of one size in the rack that will do, up to `enough`. */
static uint32_t rack_count(const struct want *w, uint32_t begin, uint32_t end, uint32_t size, uint32_t enough)
{
    uint32_t count = 0;
    for (uint32_t node = begin; node < end && count < enough; node++)
        count += node_will_do(w, node, size, true);
    return count;
}

/* Can the rack hold all that is missing? Then *free is what is free there for jobs of this GPU type. */
static bool rack_holds(const struct rack_local *r, const struct want *w, uint32_t rack, uint32_t *free)
{
    uint32_t end, begin = rack_nodes(w, rack, &end), spoken_for = 0;
    for (uint32_t i = 0; i < r->n_sizes; i++) {
        if (rack_count(w, begin, end, r->size[i], r->count[i]) < r->count[i])
            return false;
        spoken_for += r->size[i] >= r->rest ? r->count[i] : 0;
    }
    bool has_rest = r->rest == 0;
    for (uint32_t node = begin, found = 0; node < end && !has_rest; node++) {
        found += node_will_do(w, node, r->rest, false);
        has_rest = found > spoken_for;
    }
    *free = 0;
    for (uint32_t node = begin; node < end && has_rest; node++)
        if (pool_matches(&w->c->pools[w->c->nodes[node].pool], w->d) &&
            (w->taken == NULL || w->taken->stamp[node] != w->taken->round))
            *free += node_visible(&w->c->nodes[node]);
    return has_rest;
}

/* GPUs that the rack can give in wholly free nodes of the sizes that are missing. */
static uint32_t rack_gives(const struct rack_local *r, const struct want *w, uint32_t rack)
{
    uint32_t end, begin = rack_nodes(w, rack, &end), gpus = 0;
    for (uint32_t i = 0; i < r->n_sizes; i++)
        gpus += r->size[i] * rack_count(w, begin, end, r->size[i], r->count[i]);
    return gpus;
}

/* A rack that holds what is missing, as the search goes: one in use before a new one, then the least free, then the lowest. */
struct holder {
    uint32_t rack, free;
    bool is_used;
};

static void try_rack(const struct rack_local *r, const struct want *w, uint32_t rack, uint32_t least,
                     struct holder *best)
{
    bool is_used = w->taken != NULL && r->rack_stamp[rack] == w->taken->round;
    uint32_t free;
    if (w->c->racks[rack].free_gpus < least || (best->is_used && !is_used) || !rack_holds(r, w, rack, &free))
        return;
    if (is_used != best->is_used || free < best->free || (free == best->free && rack < best->rack))
        *best = (struct holder){rack, free, is_used};
}

/* The racks strictly between `first` and `last` lie inside the partition: where the GPU type does not matter either, what is free
 * there is the rack's own sum, and the first that holds the job in the order of that sum is the best. */
static void try_in_order(const struct rack_local *r, const struct want *w, uint32_t first, uint32_t last,
                         uint32_t least, struct holder *best)
{
    const struct nodeset *order = &w->c->racks_by_free;
    uint32_t n = w->c->n_racks;
    if (least >= order->size / n) /* more than any rack has */
        return;
    for (uint32_t key = nodeset_next(order, least * n); key != NODESET_NONE;) {
        uint32_t free = key / n, rack = key % n;
        if (free > best->free)
            return;
        if (rack <= first) {
            key = nodeset_next(order, free * n + first + 1);
        } else if (rack >= last) {
            key = nodeset_next(order, (free + 1) * n);
        } else {
            try_rack(r, w, rack, least, best);
            if (best->rack == rack)
                return;
            key = nodeset_next(order, key + 1);
        }
    }
}

static uint32_t find_holder(const struct rack_local *r, const struct want *w, uint32_t first, uint32_t last)
{
    struct holder best = {UINT32_MAX, UINT32_MAX, false};
    uint32_t least = r->rest;
    for (uint32_t i = 0; i < r->n_sizes; i++)
        least += r->size[i] * r->count[i];
    bool is_plain = w->taken == NULL && (w->q->n_pools == 1 || w->d->gpu_type == NAMES_NONE);
    if (is_plain && w->c->has_rack_index) {
        try_rack(r, w, first, least, &best);
        try_rack(r, w, last, least, &best);
        try_in_order(r, w, first, last, least, &best);
    } else {
        for (uint32_t rack = first; rack <= last; rack++)
            try_rack(r, w, rack, least, &best);
    }
    return best.rack;
}

static uint32_t find_giver(const struct rack_local *r, const struct want *w, uint32_t first, uint32_t last)
{
    uint32_t best = UINT32_MAX, best_gpus = 0;
    for (uint32_t rack = first; rack <= last; rack++) {
        uint32_t gpus = w->c->racks[rack].free_gpus > best_gpus ? rack_gives(r, w, rack) : 0;
        if (gpus > best_gpus) {
            best = rack;
            best_gpus = gpus;
        }
    }
    return best;
}

/* Wholly free nodes of the rack, lowest numbers first, as far as they are missing. */
static uint32_t take_whole(struct rack_local *r, const struct want *w, uint32_t rack, struct place *out, uint32_t n,
                           uint32_t room)
{
    uint32_t end, begin = rack_nodes(w, rack, &end);
    for (uint32_t i = 0; i < r->n_sizes; i++)
        for (uint32_t node = begin; node < end && r->count[i] > 0; node++)
            if (node_will_do(w, node, r->size[i], true)) {
                require(n < room, "a job of %u GPUs needs more than %u places", w->d->gpus, room);
                out[n++] = (struct place){node, r->size[i]};
                r->packed.stamp[node] = r->packed.round;
                r->count[i]--;
            }
    r->rack_stamp[rack] = r->packed.round;
    return n;
}

/* Best fit within the rack. */
static uint32_t rest_node(const struct rack_local *r, const struct want *w, uint32_t rack)
{
    uint32_t end, best = NODESET_NONE;
    for (uint32_t node = rack_nodes(w, rack, &end); node < end; node++)
        if (node_will_do(w, node, r->rest, false) &&
            (best == NODESET_NONE || node_visible(&w->c->nodes[node]) < node_visible(&w->c->nodes[best])))
            best = node;
    return best;
}

static uint32_t consolidate_choose(void *self, const struct want *w, gsl_rng *rng)
{
    (void)self;
    (void)rng;
    return want_tightest(w);
}

static uint32_t rack_local_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d,
                                gsl_rng *rng, struct place *out, uint32_t room)
{
    struct rack_local *r = self;
    const struct partition *q = &c->partitions[partition];
    uint32_t first = c->nodes[q->nodes[0]].rack, last = c->nodes[q->nodes[q->n_nodes - 1]].rack;
    if (first == last)
        return packed_pick(self, c, partition, d, rng, out, room, consolidate_choose, NULL);
    if (!placement_fits(c, partition, d, PLACEMENT_PACKED))
        return 0;
    struct want w = {.c = c, .q = q, .d = d, .gpus = d->gpus, .is_bounded = cluster_is_bounded(c, partition, d)};
    plan(r, &w);
    r->packed.round++;
    for (uint32_t n = 0;;) {
        uint32_t rack = find_holder(r, &w, first, last);
        bool is_last = rack != UINT32_MAX;
        if (!is_last)
            rack = find_giver(r, &w, first, last);
        require(rack != UINT32_MAX, "counting promised places for %u GPUs that no rack has", d->gpus);
        n = take_whole(r, &w, rack, out, n, room);
        w.taken = &r->packed;
        if (!is_last)
            continue;
        if (r->rest > 0) {
            require(n < room, "a job of %u GPUs needs more than %u places", d->gpus, room);
            out[n++] = (struct place){rest_node(r, &w, rack), r->rest};
        }
        return n;
    }
}

const struct placement_ops placement_rack_local = {
    .name = "rack_local",
    .summary = "one rack, the one left with the least free GPUs, consolidated inside; else as few racks as a greedy "
               "choice finds",
    .source = "locality as in Jeon et al., Analysis of large-scale multi-tenant GPU clusters, ATC 2019",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct rack_local),
    .init = rack_local_init,
    .pick = rack_local_pick,
};
