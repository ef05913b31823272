/* rollout_levels.h - the free GPUs of a partition in one block of memory, copied by one memcpy.
 *
 *     pool      mask    bit f: some node has exactly f free
 *               count   of nodes by f
 *               sets    [f] nodes of the pool with exactly f free, a bit each
 *     nodes     free    a byte each
 *
 * For the PACKED modules that choose by free GPUs and number alone, while neither CPU nor memory binds.
 */
#ifndef ENGINE_ROLLOUT_LEVELS_H
#define ENGINE_ROLLOUT_LEVELS_H

#include "cluster/placement.h"

enum levels_choice { LEVELS_TIGHTEST, LEVELS_LOWEST, LEVELS_ROOMIEST };

enum { LEVELS_GPUS = 63, LEVELS_POOLS = 64 }; /* GPUs of a node, pools: more is left to the cluster itself */

struct levels_pool {
    uint32_t gpus, n_nodes, n_words;
    uint32_t mask_at, count_at, sets_at; /* in words of the block */
    const uint32_t *nodes;
};

struct levels {
    enum levels_choice choice;
    uint32_t n_pools, n_nodes, first_node;
    struct levels_pool *pools;
    uint32_t *pool_of, *position; /* by node - first_node */
    uint32_t free_at, n_words;    /* of the block */
};

/* Can the module be followed so? */
bool levels_choice_of(const struct placement_ops *ops, enum levels_choice *out);

/* The shape of a partition; false when memory is out. `is_able` says whether it can be kept so. */
bool levels_init(struct levels *l, const struct cluster *c, uint32_t partition, struct arena *a, bool *is_able);

/* Pools, as bits, that `d` may use; 0: none. Whether it takes one node at most. */
uint64_t levels_pools(const struct levels *l, const struct cluster *c, uint32_t partition, const struct demand *d,
                      bool *is_single);

/* Fill a block from the cluster. */
void levels_load(const struct levels *l, const struct cluster *c, uint64_t *block);

/* Choose and take places for `gpus` GPUs in `pools`; returns their number, 0 when there is no place (nothing is taken then). `out` has
 * room for the partition's nodes or `gpus`, whichever is less. */
uint32_t levels_take(const struct levels *l, uint64_t *block, uint64_t pools, bool is_single, uint32_t gpus,
                     struct place *out);

/* Give places back; take given ones (false, and nothing taken, when they are not free). */
void levels_give(const struct levels *l, uint64_t *block, const struct place *places, uint32_t n);
bool levels_take_at(const struct levels *l, uint64_t *block, const struct place *places, uint32_t n);

#endif
