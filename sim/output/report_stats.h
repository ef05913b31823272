/* report_stats.h - means, intervals and quantiles for tables and figures.
 *
 * Intervals are two-sided 95 % t intervals (GSL's tdist): mean +- t(0.975, n - 1) * s / sqrt(n). Ratios of paired runs are
 * averaged as logarithms (geometric mean), so that A over B and B over A say the same thing, and their interval is that of the
 * mean logarithm.
 */
#ifndef OUTPUT_REPORT_STATS_H
#define OUTPUT_REPORT_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* `low` and `high` are NaN with fewer than two values, all three with none. */
struct interval {
    double mean, low, high;
    size_t n; /* values that went in */
};

/* Mean of the values that are not NaN, with its 95 % t interval. */
struct interval stats_mean(const double *values, size_t n);

/* Geometric mean of above[i] / below[i] over the pairs in which neither is NaN, with the 95 % t interval of the mean logarithm.
 * Two zeros are equal (ratio 1). With a zero on one side alone the mean is 0 or infinite and has no interval. */
struct interval stats_ratio(const double *above, const double *below, size_t n);

/* Mean of above[i] - below[i] over the pairs in which neither is NaN, with its 95 % t interval. */
struct interval stats_difference(const double *above, const double *below, size_t n);

/* Mean of `above` / mean of `below` over the pairs in which neither is NaN, with the 95 % t interval of its logarithm by the delta method:
 * the standard error is that of the mean of above[i] / mean(above) - below[i] / mean(below). No interval where a mean is not above 0. */
struct interval stats_ratio_of_means(const double *above, const double *below, size_t n);

/* The least and the largest of `of`'s values as its low and high: what takes the place of an interval where the values are no sample.
 * NaN are left out; fewer than two values have none. */
void stats_range(struct interval *of, const double *values, size_t n);

/* The q-quantile (0..1) of ascending `sorted`: linear between order statistics; NaN for none. */
double stats_quantile(const double *sorted, size_t n, double q);

/* Sort ascending. */
void stats_sort(double *values, size_t n);

#endif
