/* cluster.h - the inventory, who holds what, and an index of what is free.
 *
 *      partition 0            partition 1        a partition: nodes that one VC owns (mode `nodes`), or that all
 *     +-------------+        +-----------+       quota VCs share (mode `gpus`), or all nodes when no VC is named
 *     | pool 0      |        | pool 2    |       a pool: the nodes of one partition that are alike (GPUs, type, CPU,
 *     |  n0 n1 n2   |        |  n5 n6    |       memory), in node order
 *     | pool 1      |        +-----------+
 *     |  n3 n4      |                            each pool keeps, for every count f = 0..G, the set of its nodes with
 *     +-------------+                            exactly f visible free GPUs (nodeset.h): first, next, any in O(log n)
 *
 * Additive resources are integers: milli-GPU shares, milli-CPU, KiB. `visible` free GPUs are the free ones less what is
 * reserved. A GPU has a small list of tenants (job, share); exclusive use (share 1000) is a rule of who allocates, not of
 * the table. Down nodes are to come with faults.
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "base/arena.h"
#include "base/names.h"
#include "cluster/nodeset.h"
#include "cluster/vc_route.h"
#include "traces/workload.h"

#include <braid/error.h>
#include <braid/policy.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- as the config says it ------------------------------------------------------------------ */

struct node_group_spec {
    const char *name;        /* by which `of` of a VC may mean it; NULL or "": none */
    const char *vc;          /* the VC that owns the group's nodes; NULL or "": none in particular */
    uint32_t count, gpus;    /* gpus may be 0: CPU-only nodes */
    const char *gpu;         /* type, "" = unnamed */
    uint64_t gpu_memory_kib; /* of one GPU; 0 = unlimited */
    uint32_t cpu_milli;      /* 0 = unlimited */
    uint64_t memory_kib;     /* 0 = unlimited */
    uint32_t nodes_per_rack; /* 0 = cluster_spec.nodes_per_rack */
};

enum vc_mode { VC_NODES, VC_GPUS };
#define VC_ALL_NODES UINT32_MAX
enum vc_shrink { VC_DRAIN, VC_PREEMPT };

/* A change of quota: from `at_utc_ns` on (absolute where the file has dates, else from time 0) the VC has `gpus`. */
struct vc_change {
    int64_t at_ns;
    uint32_t gpus;
};

struct vc_spec {
    const char *name;
    enum vc_mode mode;
    uint32_t amount; /* nodes (VC_ALL_NODES: what no other takes; 0: those of groups that name it) or GPUs */
    const char *of;  /* the group or the type of GPU that its nodes are of; NULL: any */
    struct vc_route jobs; /* which jobs it takes whatever VC they name */
    enum vc_shrink shrink;
    const char *changes_path; /* NULL: constant */
    const char *changes_shown;
    bool changes_are_dates;    /* at_ns counts from 1970 */
    struct vc_change *changes; /* ascending; filled by cluster_spec_load */
    uint32_t n_changes;
};

struct cluster_spec {
    const char *file; /* NULL, or: a list of nodes in one of the forms of inventory.c */
    const char *file_shown;
    uint32_t gpus_per_node;  /* for a table of nodes a VC; default 8 */
    uint32_t nodes_per_rack; /* 0 = one rack */
    struct node_group_spec *groups;
    uint32_t n_groups;
    struct vc_spec *vcs; /* none: one queue over all nodes, whatever VC a job names */
    uint32_t n_vcs;
};

/* Read `file` and the `changes` files into groups, vcs and changes, and list VCs that only groups name; memory from `a`.
 * (cluster/inventory.c) */
int cluster_spec_load(struct cluster_spec *spec, struct arena *a, struct error *err);

/* ---- what a job asks for ------------------------------------------------------------------------ */

struct demand {
    uint32_t gpus;      /* whole GPUs */
    uint32_t cpu_milli; /* of the whole job; shared out over its nodes by GPUs */
    uint64_t mem_kib;
    uint32_t gpu_type; /* index into cluster.gpu_types, NAMES_NONE = any; beyond the last index: one that no node has */
};

/* ---- who holds what ------------------------------------------------------------------------- */

/* Consecutive GPUs of one node. */
struct span {
    uint32_t node, gpu_first, gpu_count;
};

/* What a job holds: a list of places (one a node) and of spans (runs of GPU numbers). Handles are reused. */
#define ALLOC_NONE UINT32_MAX

struct pool {
    uint32_t partition;
    uint32_t gpus;      /* of each node: G */
    uint32_t gpu_type;  /* NAMES_NONE: unnamed, serves only jobs that name none */
    uint32_t cpu_milli; /* UINT32_MAX unlimited */
    uint64_t mem_kib;   /* UINT64_MAX unlimited */
    uint32_t n_nodes;
    uint32_t first_node;     /* smallest node number */
    const uint32_t *nodes;   /* node number of the i-th node of the pool, ascending */
    struct nodeset *by_free; /* G + 1 sets over 0..n_nodes-1 (position in the pool) */
    uint32_t free_gpus;      /* visible, all nodes */
    uint64_t gpu_memory_kib; /* of one GPU; UINT64_MAX unlimited */
};

struct partition {
    uint32_t n_pools;
    uint32_t first_pool; /* pools of a partition are consecutive, largest G first, then lowest first_node */
    uint32_t n_nodes;
    const uint32_t *nodes;    /* ascending */
    uint32_t gpus, free_gpus; /* free: visible */
};

struct vc {
    const char *name; /* "" for the one queue over everything */
    enum vc_mode mode;
    enum vc_shrink shrink;
    uint32_t partition;
    uint32_t quota_gpus; /* present quota; the partition's GPUs in mode VC_NODES */
    uint32_t used_gpus;
    const struct vc_change *changes; /* at_ns from time 0, ascending */
    uint32_t n_changes;
};

struct node {
    uint32_t pool, position; /* position in its pool */
    uint32_t rack;
    uint32_t gpus, free_gpus, reserved_gpus; /* visible = free_gpus - reserved_gpus */
    uint32_t cpu_free_milli;
    uint64_t mem_free_kib;
    uint32_t gpu_at;  /* its first GPU in the table of GPUs */
    uint32_t word_at; /* its first word in the bit map of free GPUs; a node has (gpus + 63) / 64 words */
};

struct rack {
    uint32_t n_nodes, gpus, free_gpus; /* visible */
    const uint32_t *nodes;
};

struct cluster; /* opaque to policies; flat for placement modules (cluster/cluster_state.h) */

/* Build from a loaded spec. `gpu_types` of the workload are matched by name to demands. Errors: no nodes, VCs that want more
 * nodes than there are, quotas without nodes left for them, a VC named twice. Memory from `a`. */
struct cluster *cluster_create(const struct cluster_spec *spec, int64_t origin_utc_s, struct arena *a,
                               struct error *err);

uint32_t cluster_n_nodes(const struct cluster *c);
uint32_t cluster_n_gpus(const struct cluster *c);
uint32_t cluster_n_vcs(const struct cluster *c);
uint32_t cluster_n_partitions(const struct cluster *c);
const struct vc *cluster_vc(const struct cluster *c, uint32_t vc);
uint32_t cluster_vc_find(const struct cluster *c, const char *name); /* NAMES_NONE: not listed; 0 when no VC is named */
const struct partition *cluster_partition(const struct cluster *c, uint32_t partition);
const struct node *cluster_node(const struct cluster *c, uint32_t node);
const struct names *cluster_gpu_types(const struct cluster *c);

/* Free GPUs that a VC may use: visible free GPUs of its partition, for quotas at most quota - used (0 when over). */
uint32_t cluster_vc_free(const struct cluster *c, uint32_t vc);

/* CPU and host memory of all nodes of a partition, of the whole cluster for NAMES_NONE; 0 when any node's is unlimited. */
uint64_t cluster_cpu_milli(const struct cluster *c, uint32_t partition);
uint64_t cluster_memory_kib(const struct cluster *c, uint32_t partition);

/* The quota of `vc` from now on; used may exceed it (drain). */
void cluster_vc_set_quota(struct cluster *c, uint32_t vc, uint32_t gpus);

/* Could `d` ever run in `vc` on an empty cluster, with the largest quota of the whole run? NULL: yes; else a literal reason
 * ("too_large_for_vc", "too_large_for_cluster", "gpu_type_absent", "too_much_cpu", "too_much_memory"). `packed` is the placement's rule. */
const char *cluster_never_fits(const struct cluster *c, uint32_t vc, const struct demand *d, bool packed);

/* What may keep a demand from starting although as many GPUs as it asks for are free, wherever they are: "GPU types", "CPU" or "host memory"; NULL:
 * nothing, whatever runs. Each limit counts only where so much could be asked of one node. O(demands x pools). */
const char *cluster_beyond_counts(const struct cluster *c, const struct demand *demands, uint32_t n);

/* Does `node` belong to `partition`? */
bool cluster_owns(const struct cluster *c, uint32_t partition, uint32_t node);

/* Are these places (distinct nodes, GPUs adding up to d->gpus) free for `d`: visible GPUs, GPU type, CPU and memory? */
bool cluster_places_fit(const struct cluster *c, const struct demand *d, const struct place *places, uint32_t n);

/* Give `job` the GPUs of `places` (exclusively, lowest free numbers first) on behalf of `vc`. Returns the handle, or ALLOC_NONE when
 * memory is out. The places must fit (asserted). */
uint32_t cluster_alloc(struct cluster *c, uint32_t vc, uint32_t job, const struct demand *d, const struct place *places,
                       uint32_t n);

/* The same GPUs again after cluster_free of `handle` in the same round, when all are still free: a new handle, else ALLOC_NONE.
 * (The spans of a freed handle stay readable until cluster_forget.) */
uint32_t cluster_alloc_again(struct cluster *c, uint32_t vc, uint32_t job, const struct demand *d, uint32_t handle);

void cluster_free(struct cluster *c, uint32_t vc, uint32_t job, const struct demand *d,
                  uint32_t handle);                      /* spans stay readable */
void cluster_forget(struct cluster *c, uint32_t handle); /* a freed handle may be reused from here on */

uint32_t cluster_alloc_places(const struct cluster *c, uint32_t handle, const struct place **out);
uint32_t cluster_alloc_spans(const struct cluster *c, uint32_t handle, const struct span **out);
/* Memory of the smallest GPU among those of an allocation, KiB; 0 = unlimited. */
uint64_t cluster_alloc_gpu_memory(const struct cluster *c, uint32_t handle);
bool cluster_alloc_equal(const struct cluster *c, uint32_t a, uint32_t b); /* the same GPUs? */

/* Share one GPU among tenants: `job` holds share_milli (1..1000) of GPU `gpu` of `node` beside others; false when the shares would pass
 * 1000. The first tenant takes the GPU from the free ones, the last gives it back. */
bool cluster_share(struct cluster *c, uint32_t node, uint32_t gpu, uint32_t job, uint32_t share_milli);
bool cluster_unshare(struct cluster *c, uint32_t node, uint32_t gpu, uint32_t job);
uint32_t cluster_gpu_tenants(const struct cluster *c, uint32_t node, uint32_t gpu, uint32_t *jobs, uint32_t room);

/* Hold back `gpus` visible GPUs of a node (false when it has fewer), and give them back. */
bool cluster_reserve(struct cluster *c, uint32_t node, uint32_t gpus);
void cluster_unreserve(struct cluster *c, uint32_t node, uint32_t gpus);
/* The same for CPU and host memory: they count as taken meanwhile. Nothing happens where they are unlimited. */
bool cluster_reserve_host(struct cluster *c, uint32_t node, uint32_t cpu_milli, uint64_t mem_kib);
void cluster_unreserve_host(struct cluster *c, uint32_t node, uint32_t cpu_milli, uint64_t mem_kib);

/* Allocated GPUs of each node as sums, kept incrementally: sum and sum of squares over all nodes (load_imbalance). */
void cluster_load(const struct cluster *c, uint64_t *sum, uint64_t *sum_of_squares);

/* The books: every node's free + held = capacity for each resource, bit map, tenants, indexes and totals agree. `node` NAMES_NONE: all
 * nodes and totals; else that node. False: `err` says what differs. */
bool cluster_check(const struct cluster *c, uint32_t node, struct error *err);

#endif
