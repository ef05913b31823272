/* vc_nodes.h - which nodes each virtual cluster (VC) owns.
 *
 *     groups   [ 0 1 2 3: a100, vc A ] [ 4 5 6: v100 ] [ 7 8 ]
 *     vcs      A {}        B {nodes: all, of: v100}      C {nodes: 1}           the rest: 8, for quotas or nobody
 *
 * Nodes are given out in four turns: groups that name their VC; VCs that want so many nodes of a kind (`of`), in their order; those that
 * want all that is left of a kind; then those that want so many of any kind, and last all that is left. Each takes the lowest free
 * numbers. So more nodes in one group move no VC that is tied to another.
 *
 * The nodes of a VC must stand next to each other, and those that quotas share as well: an error says which do not.
 */
#ifndef CLUSTER_VC_NODES_H
#define CLUSTER_VC_NODES_H

#include "cluster/cluster.h"

struct node_range {
    uint32_t first, n;
};

struct vc_nodes {
    struct node_range *owned; /* by VC of the spec; n is 0 for a quota */
    struct node_range *rest;  /* in order */
    uint32_t n_rest;
};

/* What of the spec an error is about, so that whoever read the spec can say where that is written. */
struct vc_fault {
    enum vc_fault_at { VC_FAULT_CLUSTER, VC_FAULT_VC, VC_FAULT_GROUP } at;
    uint32_t index;  /* of the VC or the group */
    const char *key; /* of it: "nodes", "of", "gpus", "changes", "vc"; NULL: the whole */
};

/* Give out the nodes; memory from `a`. BRAID_BAD_INPUT with `fault` filled (it may be NULL). The cluster has from 1 to 2^24 nodes. */
int vc_nodes_assign(struct vc_nodes *out, const struct cluster_spec *spec, struct arena *a, struct vc_fault *fault,
                    struct error *err);

/* Append a VC for every name in `vc` of a group that `spec->vcs` lacks; memory from `a`. False: memory is out. */
bool vc_nodes_name(struct cluster_spec *spec, struct arena *a);

#endif
