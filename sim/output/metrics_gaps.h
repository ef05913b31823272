/* metrics_gaps.h - how far a run is from what no schedule can beat (output/bounds.h). */
#ifndef OUTPUT_METRICS_GAPS_H
#define OUTPUT_METRICS_GAPS_H

#include "engine/run.h"

/* Lower bounds for the jobs of `r` that finished and were submitted in [from_ns, to_ns) (to_ns RUN_NO_LIMIT: all later ones): on the mean of
 * their completion times and on the instant of the last end, ns. NaN where none finished, and under another simulator's semantics.
 *
 * Each virtual cluster is bounded by its largest quota, or by its nodes, and the sums are added; quotas over the same nodes are bounded
 * by these together, too, and the larger sum counts. The jobs that did not finish could only make the others later, so they are left
 * out. O(n log n). BRAID_FAILED: memory. */
struct run_bounds {
    double jct_mean_ns, last_ns;
};
int run_bounds_compute(struct run_bounds *out, const struct run_result *r, const struct workload *w, int64_t from_ns,
                       int64_t to_ns, struct error *err);

#endif
