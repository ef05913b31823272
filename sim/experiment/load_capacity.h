/* load_capacity.h - the GPU capacity over time against which a trace is scaled to a load (traces/trace.h, trace_scale).
 *
 * Capacity is what the listed virtual clusters may use: their own nodes, or the sum of the quotas at that moment, at most the GPUs of the
 * nodes they share. Jobs that the run would reject (an unlisted virtual cluster, a demand that never fits) are no load.
 */
#ifndef EXPERIMENT_LOAD_CAPACITY_H
#define EXPERIMENT_LOAD_CAPACITY_H

#include "experiment/experiment.h"

struct load_capacity;

/* For the cluster and placement of `config` and the jobs of `w` (both must outlive it). NULL with `err` filled when the cluster cannot be
 * built or memory is out. */
struct load_capacity *load_capacity_create(const struct run_config *config, const struct workload *w,
                                           struct error *err);
void load_capacity_destroy(struct load_capacity *c);

/* Why the run will reject a job when it is submitted ("unknown_vc", "gpu_type_absent", or as cluster_never_fits says); NULL: it will not. */
const char *load_capacity_refuses(const struct load_capacity *c, uint32_t job);

struct trace_capacity load_capacity_view(struct load_capacity *c);

#endif
