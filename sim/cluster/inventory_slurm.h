/* inventory_slurm.h - the nodes of a cluster as Slurm lists them.
 *
 *     sinfo -N -o "%N %P %G %c %m"       NODELIST PARTITION GRES CPUS MEMORY, a line a node and partition, between blanks or |
 *     scontrol show node                 NodeName=… CPUTot=… Gres=… RealMemory=… Partitions=…, a node over several lines or in one (-o)
 *
 * GPUs and their type are those of Gres, memory is in MiB. Each partition becomes a virtual cluster that owns its nodes, unless the config
 * lists virtual clusters of its own or the list names no partitions. Nodes count whatever their state is.
 */
#ifndef CLUSTER_INVENTORY_SLURM_H
#define CLUSTER_INVENTORY_SLURM_H

#include "cluster/cluster.h"

/* Read `spec->file` if it is one of these (*is_it). BRAID_BAD_INPUT: a value that cannot be read, a node in two partitions, no nodes. */
int inventory_slurm_load(struct cluster_spec *spec, struct arena *a, bool *is_it, struct error *err);

/* Put nodes like the last group's into it, or begin a group. false: memory is out. (inventory.c) */
bool inventory_add_group(struct cluster_spec *spec, struct arena *a, const struct node_group_spec *group);

#endif
