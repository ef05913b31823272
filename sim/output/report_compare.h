/* report_compare.h - policies side by side: means over seeds, and paired ratios to a baseline.
 *
 *     samples ──by policy, swept keys, …──▶ groups ──same seed, same other values──▶ pairs with the baseline's group
 *
 * A group is a row: one value of every key of `keys`. Runs of a group differ in the seed and in the swept keys that are not
 * among `keys`; a run is paired with the run of the baseline that has the same seed and the same other values (common random
 * numbers), so that what the seeds have in common cancels.
 *
 * Improvement of A over the baseline B: more than 1 is better, whatever the metric (metric_info.better). Where less is better, the ratio is
 * B / A and the share 1 - A / B (the reduction); where more is better, A / B and A / B - 1 (the gain). Over pairs the ratio is the geometric
 * mean. Counts of which neither way is better have none. Where a ratio says nothing (a value of 0 or below, or more than COMPARE_EXTREME
 * apart), the difference A - B stands for it.
 *
 * Where the runs of a group differ in the seed or another replicate alone, low and high are 95 % t intervals; otherwise the least and the
 * largest value: runs under several loads are no sample.
 *
 * Runs in which other jobs finished are compared over the jobs that finished in both (report_common.h), and marked.
 */
#ifndef OUTPUT_REPORT_COMPARE_H
#define OUTPUT_REPORT_COMPARE_H

#include "output/report_common.h"
#include "output/report_order.h"
#include "output/report_sample.h"
#include "output/report_stats.h"

enum { COMPARE_EXTREME = 1000 };

struct compare_options {
    const char *
        baseline; /* a policy's label, or KEY=VALUE of a key of runs; NULL: "fifo" when it is there, else the first policy */
    const char *const
        *by; /* keys; none: policy and all swept keys but replicates. Job keys (vc, gpus, …) alone add to these */
    uint32_t n_by;
    const char *const *metrics; /* none: the usual ones */
    uint32_t n_metrics;
};

struct compare_cell {
    struct interval mean;       /* over the group's runs */
    struct interval ratio;      /* improvement over pairs, above 1: better; NaN: none */
    struct interval of_means;   /* the same as the ratio of the means of the pairs; always with a t interval or none */
    struct interval difference; /* this - baseline over pairs, in the metric's unit */
    bool is_extreme;            /* a ratio says nothing: see the difference */
};

struct compare_group {
    const char **values; /* n_keys */
    uint32_t n_runs, n_pairs;
    uint32_t n_partly;            /* pairs in which other jobs finished, compared over those that finished in both */
    uint32_t n_unknown;           /* pairs of which that cannot be told */
    double n_common;              /* mean number of jobs that finished in both, over the n_partly pairs */
    const char *why;              /* n_unknown > 0: why */
    double counts[SAMPLE_COUNTS]; /* means over the runs */
    struct compare_cell *cells;   /* n_metrics */
    bool is_baseline;
};

struct compare {
    uint32_t n_keys;
    const char **keys; /* "policy" first */
    uint32_t n_metrics;
    const char *const *metrics;
    const struct metric_info *infos; /* n_metrics */
    uint32_t n_groups;
    struct compare_group
        *groups; /* by the other keys in the config's order; within: the baseline first, then the config's order */
    const char *baseline;                      /* what to call it: "fifo", "estimate.source=exact" */
    const char *baseline_key, *baseline_value; /* "policy", "fifo" */
    uint32_t n_averaged;
    const char **averaged; /* the keys in which the runs of a group differ */
    bool is_sample;        /* these are replicates alone, so that there are intervals; else ranges */
    uint32_t n_traces;     /* different ones */
    bool has_preemptions;
    bool has_load_by_vc; /* a run with `load_scope: vc` */
    uint32_t n_warnings;
    const char **warnings;
    struct report_order order;
    struct sample_set samples;
    struct common_cache cache;
    struct arena arena;
};

/* Other jobs finished in this group than in the baseline, or it has no counterpart and did not finish all. */
bool compare_is_marked(const struct compare_group *g);

/* Means and the ratio of the means disagree about which is better. */
bool compare_disagrees(const struct compare_cell *c);

/* 1 - A / B where less is better, A / B - 1 where more is; NaN: none. */
double compare_share(const struct metric_info *info, double ratio);

/* Compare all runs of `files` (which stay open as long as `out`). BRAID_BAD_INPUT: no runs, an unknown key, metric or baseline, jobs not
 * stored. */
int compare_build(struct compare *out, const struct report_file *files, size_t n_files,
                  const struct compare_options *options, struct error *err);
void compare_fini(struct compare *c);

/* For report_compare.c: the cells of a group. `pairs`: g->n_pairs times the baseline's sample and this one's. */
int compare_fill_cells(struct compare *c, struct compare_group *g, const struct sample *const *runs,
                       const struct sample *const *pairs, struct error *err);

#endif
