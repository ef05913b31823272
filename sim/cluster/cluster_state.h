/* cluster_state.h - the inside of a cluster: for the cluster's own sources, placement modules and tests, not for the engine.
 *
 * Invariants (cluster_check):
 *   - the nodes of a partition have consecutive numbers (vc_nodes.h), and every node is in one;
 *   - bit g of a node's words is set exactly when GPU g is free, and then owner[gpu_at + g] is OWNER_FREE;
 *   - a node sits in by_free[visible] of its pool, and `levels` has bit f exactly when by_free[f] is not empty;
 *   - CPU and memory are held only together with GPUs, so a node whose GPUs are all free has all of both.
 */
#ifndef CLUSTER_CLUSTER_STATE_H
#define CLUSTER_CLUSTER_STATE_H

#include "cluster/cluster.h"

/* Who has a GPU: OWNER_FREE, the handle of an allocation, or OWNER_SHARED + its first tenant. */
#define OWNER_FREE UINT32_MAX
#define OWNER_SHARED UINT32_C(0x80000000)

#define CPU_UNLIMITED UINT32_MAX
#define MEM_UNLIMITED UINT64_MAX

struct tenant {
    uint32_t job, share_milli;
    uint32_t next; /* of the same GPU in order of joining; of the free list; UINT32_MAX ends */
};

enum alloc_state { ALLOC_IDLE, ALLOC_LIVE, ALLOC_FREED };

/* One place and one span, the common case, are kept inside; longer lists are blocks of 2^class entries. */
struct alloc {
    struct place *places;
    struct span *spans;
    uint32_t n_places, n_spans;
    uint32_t job, vc, gpus;
    uint32_t cpu_milli; /* as demanded: shared over the places by sched_part */
    uint64_t mem_kib;
    uint32_t next_idle;
    uint8_t state;
    uint8_t place_class, span_class; /* 0: inside */
    struct place one_place;
    struct span one_span;
};

enum { ALLOC_CHUNK_SHIFT = 8, ALLOC_CHUNK = 1 << ALLOC_CHUNK_SHIFT, BLOCK_CLASSES = 32 };

struct cluster {
    struct arena *arena;
    uint32_t n_nodes, n_gpus, n_pools, n_partitions, n_racks, n_vcs;
    struct node *nodes;
    struct pool *pools;
    struct partition *partitions;
    struct rack *racks;
    struct vc *vcs;
    uint32_t *vc_most_gpus; /* the largest quota of the whole run, at most the partition's GPUs */
    bool has_named_vcs;
    struct names gpu_types, vc_names; /* their memory is the arena's: no names_fini */

    bool has_rack_index; /* several racks, and not too many keys */
    struct nodeset
        racks_by_free; /* keys free_gpus * n_racks + rack: the racks in order of (visible free GPUs, number) */

    uint64_t *words;   /* free GPUs of all nodes */
    uint32_t *owner;   /* of all GPUs */
    uint64_t **levels; /* a pool: (G + 64) / 64 words */

    struct alloc **chunks; /* handle h is chunks[h >> ALLOC_CHUNK_SHIFT][h % ALLOC_CHUNK] */
    uint32_t n_chunks, chunks_room;
    uint32_t n_handles, first_idle;
    void *idle_places[BLOCK_CLASSES], *idle_spans[BLOCK_CLASSES];
    struct span *scratch; /* room for the spans of any one allocation */

    struct tenant *tenants;
    uint32_t n_tenants, tenants_room, first_tenant; /* first_tenant: of the free list */

    uint64_t load_sum, load_squares;
};

static inline uint32_t node_visible(const struct node *n)
{
    return n->free_gpus - n->reserved_gpus;
}

static inline bool pool_matches(const struct pool *p, const struct demand *d)
{
    return p->gpus > 0 && (d->gpu_type == NAMES_NONE || d->gpu_type == p->gpu_type);
}

/* Nodes of the same kind: within a partition they are one pool. */
static inline bool pools_are_alike(const struct pool *a, const struct pool *b)
{
    return a->gpus == b->gpus && a->gpu_type == b->gpu_type && a->cpu_milli == b->cpu_milli &&
           a->mem_kib == b->mem_kib && a->gpu_memory_kib == b->gpu_memory_kib;
}

/* Does the CPU or memory of some node of the partition bound `d`? When not, counts of GPUs decide alone. */
bool cluster_is_bounded(const struct cluster *c, uint32_t partition, const struct demand *d);

static inline struct alloc *alloc_at(const struct cluster *c, uint32_t handle)
{
    return &c->chunks[handle >> ALLOC_CHUNK_SHIFT][handle & (ALLOC_CHUNK - 1)];
}

/* Smallest f >= from (largest f <= from) such that a node of the pool has exactly f visible free GPUs; NODESET_NONE. */
static inline uint32_t level_next(const struct cluster *c, uint32_t pool, uint32_t from)
{
    uint32_t gpus = c->pools[pool].gpus;
    if (from > gpus)
        return NODESET_NONE;
    const uint64_t *levels = c->levels[pool];
    uint32_t w = from / 64;
    uint64_t word = levels[w] & ~UINT64_C(0) << from % 64;
    while (word == 0) {
        if (++w > gpus / 64)
            return NODESET_NONE;
        word = levels[w];
    }
    return w * 64 + (uint32_t)__builtin_ctzll(word);
}

static inline uint32_t level_previous(const struct cluster *c, uint32_t pool, uint32_t from)
{
    const uint64_t *levels = c->levels[pool];
    uint32_t w = from / 64;
    uint64_t word = levels[w] & ~UINT64_C(0) >> (63 - from % 64);
    while (word == 0) {
        if (w-- == 0)
            return NODESET_NONE;
        word = levels[w];
    }
    return w * 64 + 63 - (uint32_t)__builtin_clzll(word);
}

/* A node's visible free GPUs went from `from` to `to`: keep the sets and sums of its pool, partition and rack. */
void cluster_index_move(struct cluster *c, const struct node *n, uint32_t from, uint32_t to);

/* A node's held GPUs went from `from` to `to`: keep the sums of cluster_load. */
void cluster_load_move(struct cluster *c, uint32_t from, uint32_t to);

#endif
