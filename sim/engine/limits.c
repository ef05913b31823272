/* limits.c - the most GPUs that jobs can hold at once: all of a partition, and of a virtual cluster its largest quota. A quota that
 * shrinks may leave more held than it allows, never more than it once allowed. */
#include "engine/sim.h"

bool limits_fill(const struct sim *sim, struct run_limits *out, struct arena *results)
{
    const struct cluster *c = sim->cluster;
    uint32_t n_vcs = cluster_n_vcs(c), n_parts = cluster_n_partitions(c), n_names = sim->w->vcs.count;
    uint32_t *partition_gpus = ARENA_NEW(results, uint32_t, n_parts);
    uint32_t *vc_partition = ARENA_NEW(results, uint32_t, n_vcs), *vc_gpus = ARENA_NEW(results, uint32_t, n_vcs);
    uint32_t *vc_of = ARENA_NEW(results, uint32_t, n_names);
    if (results->is_short)
        return false;
    for (uint32_t p = 0; p < n_parts; p++)
        partition_gpus[p] = cluster_partition(c, p)->gpus;
    for (uint32_t v = 0; v < n_vcs; v++) {
        vc_partition[v] = cluster_vc(c, v)->partition;
        vc_gpus[v] = cluster_vc(c, v)->quota_gpus;
    }
    for (uint32_t i = 0; i < sim->n_changes; i++)
        if (sim->changes[i].gpus > vc_gpus[sim->changes[i].vc])
            vc_gpus[sim->changes[i].vc] = sim->changes[i].gpus;
    for (uint32_t v = 0; v < n_vcs; v++)
        if (vc_gpus[v] > partition_gpus[vc_partition[v]])
            vc_gpus[v] = partition_gpus[vc_partition[v]];
    for (uint32_t v = 0; v < n_names; v++)
        vc_of[v] = sim->vc_of[v];
    *out = (struct run_limits){.are_known = true,
                               .are_shared = sim->spec->sharing != NULL,
                               .n_partitions = n_parts,
                               .n_vcs = n_vcs,
                               .partition_gpus = partition_gpus,
                               .vc_partition = vc_partition,
                               .vc_gpus = vc_gpus,
                               .vc_of = vc_of};
    return true;
}
