#include "engine/rollout_levels.h"

#include "cluster/cluster_state.h"
#include "cluster/placement/modules.h"

bool levels_choice_of(const struct placement_ops *ops, enum levels_choice *out)
{
    if (ops == &placement_consolidate || ops == &placement_best_fit)
        *out = LEVELS_TIGHTEST;
    else if (ops == &placement_first_fit)
        *out = LEVELS_LOWEST;
    else if (ops == &placement_worst_fit)
        *out = LEVELS_ROOMIEST;
    else
        return false;
    return true;
}

bool levels_init(struct levels *l, const struct cluster *c, uint32_t partition, struct arena *a, bool *is_able)
{
    const struct partition *q = &c->partitions[partition];
    l->n_pools = q->n_pools;
    l->n_nodes = q->n_nodes;
    l->first_node = q->n_nodes > 0 ? q->nodes[0] : 0; /* the nodes of a partition have consecutive numbers */
    *is_able = q->n_pools <= LEVELS_POOLS;
    l->pools = ARENA_NEW(a, struct levels_pool, q->n_pools);
    l->pool_of = ARENA_NEW(a, uint32_t, q->n_nodes);
    l->position = ARENA_NEW(a, uint32_t, q->n_nodes);
    if (l->pools == NULL || l->pool_of == NULL || l->position == NULL)
        return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < q->n_pools; i++) {
        const struct pool *p = &c->pools[q->first_pool + i];
        *is_able &= p->gpus <= LEVELS_GPUS;
        uint32_t words = (p->n_nodes + 63) / 64;
        l->pools[i] = (struct levels_pool){.gpus = p->gpus,
                                           .n_nodes = p->n_nodes,
                                           .n_words = words,
                                           .mask_at = at,
                                           .count_at = at + 1,
                                           .sets_at = at + 1 + (p->gpus + 2) / 2,
                                           .nodes = p->nodes};
        at = l->pools[i].sets_at + (p->gpus + 1) * words;
        for (uint32_t k = 0; k < p->n_nodes; k++) {
            l->pool_of[p->nodes[k] - l->first_node] = i;
            l->position[p->nodes[k] - l->first_node] = k;
        }
    }
    l->free_at = at;
    l->n_words = at + (q->n_nodes + 7) / 8;
    return true;
}

uint64_t levels_pools(const struct levels *l, const struct cluster *c, uint32_t partition, const struct demand *d,
                      bool *is_single)
{
    uint64_t pools = 0;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < l->n_pools; i++) {
        const struct pool *p = &c->pools[c->partitions[partition].first_pool + i];
        if (!pool_matches(p, d))
            continue;
        pools |= UINT64_C(1) << i;
        largest = largest == 0 ? p->gpus : largest; /* pools come largest first */
    }
    *is_single = d->gpus <= largest;
    return pools;
}

static uint32_t *counts_of(const struct levels_pool *p, uint64_t *block)
{
    return (uint32_t *)(block + p->count_at);
}

static uint8_t *free_of(const struct levels *l, uint64_t *block)
{
    return (uint8_t *)(block + l->free_at);
}

void levels_load(const struct levels *l, const struct cluster *c, uint64_t *block)
{
    for (uint32_t i = 0; i < l->free_at; i++)
        block[i] = 0;
    uint8_t *free = free_of(l, block);
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        const struct levels_pool *p = &l->pools[l->pool_of[i]];
        uint32_t f = node_visible(&c->nodes[l->first_node + i]), k = l->position[i];
        free[i] = (uint8_t)f;
        block[p->mask_at] |= UINT64_C(1) << f;
        block[p->sets_at + f * p->n_words + k / 64] |= UINT64_C(1) << k % 64;
        counts_of(p, block)[f]++;
    }
}

static inline void node_move(const struct levels *l, uint64_t *block, uint32_t i, uint32_t to)
{
    const struct levels_pool *p = &l->pools[l->pool_of[i]];
    uint8_t *free = &free_of(l, block)[i];
    uint32_t from = *free, k = l->position[i], *counts = counts_of(p, block);
    *free = (uint8_t)to;
    block[p->sets_at + from * p->n_words + k / 64] &= ~(UINT64_C(1) << k % 64);
    block[p->sets_at + to * p->n_words + k / 64] |= UINT64_C(1) << k % 64;
    if (--counts[from] == 0)
        block[p->mask_at] &= ~(UINT64_C(1) << from);
    if (counts[to]++ == 0)
        block[p->mask_at] |= UINT64_C(1) << to;
}

/* The lowest node of a set that is not empty, as index in the partition. */
static inline uint32_t set_first(const struct levels *l, const struct levels_pool *p, const uint64_t *block, uint32_t f)
{
    const uint64_t *set = block + p->sets_at + f * p->n_words;
    uint32_t w = 0;
    while (set[w] == 0)
        w++;
    return p->nodes[w * 64 + (uint32_t)__builtin_ctzll(set[w])] - l->first_node;
}

/* The node that the module would choose for `gpus`, UINT32_MAX: none. */
static inline uint32_t choose(const struct levels *l, const uint64_t *block, uint64_t pools, uint32_t gpus)
{
    uint32_t best = UINT32_MAX, best_free = 0;
    for (; pools != 0; pools &= pools - 1) {
        const struct levels_pool *p = &l->pools[__builtin_ctzll(pools)];
        if (p->gpus < gpus)
            break; /* the others are smaller still */
        uint64_t able = block[p->mask_at] & ~UINT64_C(0) << gpus;
        if (able == 0)
            continue;
        uint32_t f, node;
        switch (l->choice) {
        case LEVELS_TIGHTEST:
            f = (uint32_t)__builtin_ctzll(able);
            if (best != UINT32_MAX && f > best_free)
                continue;
            node = set_first(l, p, block, f);
            if (best == UINT32_MAX || f < best_free || node < best) {
                best = node;
                best_free = f;
            }
            break;
        case LEVELS_ROOMIEST:
            f = 63 - (uint32_t)__builtin_clzll(able);
            if (best != UINT32_MAX && f < best_free)
                continue;
            node = set_first(l, p, block, f);
            if (best == UINT32_MAX || f > best_free || node < best) {
                best = node;
                best_free = f;
            }
            break;
        case LEVELS_LOWEST:
            for (; able != 0; able &= able - 1) {
                node = set_first(l, p, block, (uint32_t)__builtin_ctzll(able));
                best = node < best ? node : best;
            }
            break;
        }
    }
    return best;
}

/* The lowest wholly free node of exactly `size` GPUs. */
static uint32_t choose_whole(const struct levels *l, const uint64_t *block, uint64_t pools, uint32_t size)
{
    uint32_t best = UINT32_MAX;
    for (; pools != 0; pools &= pools - 1) {
        const struct levels_pool *p = &l->pools[__builtin_ctzll(pools)];
        if (p->gpus != size || (block[p->mask_at] >> size & 1) == 0)
            continue;
        uint32_t node = set_first(l, p, block, size);
        best = node < best ? node : best;
    }
    return best;
}

uint32_t levels_take(const struct levels *l, uint64_t *block, uint64_t pools, bool is_single, uint32_t gpus,
                     struct place *out)
{
    uint32_t n = 0, missing = gpus;
    if (!is_single) { /* wholly free nodes, largest first, while they are not larger than what is missing */
        uint32_t size = 0;
        for (uint64_t left = pools; left != 0 && missing > 0; left &= left - 1) {
            const struct levels_pool *p = &l->pools[__builtin_ctzll(left)];
            if (p->gpus == size || p->gpus > missing)
                continue;
            size = p->gpus;
            while (missing >= size) {
                uint32_t node = choose_whole(l, block, pools, size);
                if (node == UINT32_MAX)
                    break;
                node_move(l, block, node, 0);
                out[n++] = (struct place){l->first_node + node, size};
                missing -= size;
            }
        }
    }
    if (missing > 0) {
        uint32_t node = missing <= LEVELS_GPUS ? choose(l, block, pools, missing) : UINT32_MAX;
        if (node == UINT32_MAX) {
            levels_give(l, block, out, n);
            return 0;
        }
        node_move(l, block, node, free_of(l, block)[node] - missing);
        out[n++] = (struct place){l->first_node + node, missing};
    }
    return n;
}

void levels_give(const struct levels *l, uint64_t *block, const struct place *places, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = places[i].node - l->first_node;
        node_move(l, block, node, free_of(l, block)[node] + places[i].gpus);
    }
}

bool levels_take_at(const struct levels *l, uint64_t *block, const struct place *places, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (free_of(l, block)[places[i].node - l->first_node] < places[i].gpus)
            return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = places[i].node - l->first_node;
        node_move(l, block, node, free_of(l, block)[node] - places[i].gpus);
    }
    return true;
}
