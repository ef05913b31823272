/* plot_metric.h - one metric of /summary for the policies of a combination: means over seeds, or ratios to a baseline paired by seed. */
#ifndef OUTPUT_PLOT_METRIC_H
#define OUTPUT_PLOT_METRIC_H

#include "output/metrics.h"
#include "output/plot_figures.h"
#include "output/report_stats.h"

/* The means of each policy into `out` (as many as there are policies), with 95 % t intervals over seeds. */
int plot_metric_means(const struct report_file *f, const struct plot_combo *c, const char *metric, struct interval *out,
                      struct error *err);

/* Improvements over policy `base`, above 1 where the policy is better: base / policy, or policy / base of a metric of which more is better
 * (and of one that is neither). Geometric means over the runs paired by seed, each over the jobs that finished in both (report_common.h);
 * NaN where it cannot be told which did. */
int plot_metric_ratios(const struct report_file *f, const struct plot_combo *c, const char *metric, uint32_t base,
                       struct interval *out, struct error *err);

/* "mean JCT" of "jct_mean"; a metric without such a name is called as it is. */
const char *plot_metric_title(const char *metric);

#endif
