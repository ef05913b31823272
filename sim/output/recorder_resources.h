/* recorder_resources.h - how much each kind of resource works over time, for traces that have stage times.
 *
 *        bin 0           bin 1           bin 2                        a job of g GPUs at rate r works on resource k for
 *   |---------------|---------------|---------------|---              r x stage(k) / iteration of the time, on g GPUs' share of it;
 *           ├─────── segment ───────────┤                             each bin gets the part of the segment that lies in it
 *
 * A segment is told when it ends, often long after its first bins have gone by, so the bins are kept until the run is over.
 */
#ifndef OUTPUT_RECORDER_RESOURCES_H
#define OUTPUT_RECORDER_RESOURCES_H

#include "cluster/cluster.h"
#include "traces/workload.h"

struct recorder_resources {
    const struct workload *w;
    int64_t step_ns;
    uint32_t n_queues;
    uint32_t *queue_of; /* by VC of the workload; NAMES_NONE: its jobs are rejected */
    double *busy;       /* GPU ns that each resource works: [bin][queue][stage] */
    size_t n_bins, bins_room;
};

/* `n_queues` 1: one over all; else one a VC of `cluster`, in its order. `w` must outlive it. False: memory is out. */
bool recorder_resources_init(struct recorder_resources *r, const struct workload *w, const struct cluster_spec *cluster,
                             uint32_t n_queues, int64_t step_ns);
void recorder_resources_fini(struct recorder_resources *r);

/* `job` made progress at `rate` from `begin_ns` to `end_ns`. O(bins in between). False: memory is out. */
bool recorder_resources_add(struct recorder_resources *r, uint32_t job, int64_t begin_ns, int64_t end_ns, double rate);

/* GPU ns that `stage` works for the jobs of `queue` in `bin`. */
double recorder_resources_busy(const struct recorder_resources *r, size_t bin, uint32_t queue, int stage);

#endif
