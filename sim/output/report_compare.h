/* report_compare.h - policies side by side: means over seeds, and paired ratios to a baseline.
 *
 *     samples ──by policy, swept keys, …──▶ groups ──same seed, same other values──▶ pairs with the baseline's group
 *
 * A group is a row: one value of every key of `keys`. Runs of a group differ in the seed and in the swept keys that are not
 * among `keys`; a run is paired with the run of the baseline that has the same seed and the same other values (common random
 * numbers), so that what the seeds have in common cancels.
 *
 * Improvement over the baseline B of this policy A, for every metric alike: ratio B / A (over seeds: the geometric mean of the
 * paired ratios, with a 95 % t interval of the mean logarithm), reduction 1 - A / B.
 */
#ifndef OUTPUT_REPORT_COMPARE_H
#define OUTPUT_REPORT_COMPARE_H

#include "output/report_sample.h"
#include "output/report_stats.h"

struct compare_options {
    const char *baseline; /* a policy's label; NULL: "fifo" when it is there, else the first in natural order */
    const char *const
        *by; /* keys; none: policy and all swept keys but the seed. Job keys (vc, gpus, …) alone add to these */
    uint32_t n_by;
    const char *const *metrics; /* none: the usual ones */
    uint32_t n_metrics;
};

struct compare_cell {
    struct interval mean;  /* over the group's runs */
    struct interval ratio; /* baseline / this, over pairs */
};

struct compare_group {
    const char **values; /* n_keys */
    uint32_t n_runs, n_pairs;
    double counts[SAMPLE_COUNTS]; /* means over the runs */
    struct compare_cell *cells;   /* n_metrics */
    bool is_baseline;
};

struct compare {
    uint32_t n_keys;
    const char **keys; /* "policy" first */
    uint32_t n_metrics;
    const char *const *metrics;
    const char **units;
    uint32_t n_groups;
    struct compare_group
        *groups; /* by the other keys in natural order; within: the baseline first, then natural order */
    const char *baseline;
    uint32_t n_warnings;
    const char **warnings;
    struct sample_set samples;
    struct arena arena;
};

/* Compare all runs of `files` (which stay open as long as `out`). BRAID_BAD_INPUT: no runs, an unknown key, metric or baseline, jobs not
 * stored. */
int compare_build(struct compare *out, const struct report_file *files, size_t n_files,
                  const struct compare_options *options, struct error *err);
void compare_fini(struct compare *c);

#endif
