/* sample.h - sums and quantiles of samples. */
#ifndef OUTPUT_SAMPLE_H
#define OUTPUT_SAMPLE_H

#include <math.h>
#include <stddef.h>

/* A sum of doubles with Neumaier's compensation: its error does not grow with the number of terms. All zero at first. */
struct sum {
    double head, tail;
};

static inline void sum_add(struct sum *s, double x)
{
    double t = s->head + x;
    s->tail += fabs(s->head) >= fabs(x) ? (s->head - t) + x : (x - t) + s->head;
    s->head = t;
}

static inline double sum_value(const struct sum *s)
{
    return s->head + s->tail;
}

/* Quantiles p[0..k) (ascending, 0..1) of x[0..n), linear between order statistics (numpy's default, GSL's
 * gsl_stats_quantile_from_sorted_data); NaN when n is 0. `x` is reordered. By selection (gsl_stats_select): O(n) each. */
void sample_quantiles(double *x, size_t n, const double *p, size_t k, double *out);

/* The same, but the element floor(p n) of x in ascending order, counted from 0. */
void sample_elements(double *x, size_t n, const double *p, size_t k, double *out);

#endif
