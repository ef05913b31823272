#include "output/sample.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

void sample_quantiles(double *x, size_t n, const double *p, size_t k, double *out)
{
    size_t done = 0; /* x[0..done) are the smallest values: what is selected next lies behind them */
    for (size_t i = 0; i < k; i++) {
        if (n == 0) {
            out[i] = NAN;
            continue;
        }
        double index = p[i] * (double)(n - 1);
        size_t low = (size_t)index;
        double delta = index - (double)low;
        double a = gsl_stats_select(x + done, 1, n - done, low - done);
        out[i] = a;
        done = low;
        if (delta > 0) { /* the next order statistic is the least of those behind */
            double b = gsl_stats_min(x + low + 1, 1, n - low - 1);
            out[i] = (1 - delta) * a + delta * b;
        }
    }
}

void sample_elements(double *x, size_t n, const double *p, size_t k, double *out)
{
    gsl_sort(x, 1, n);
    for (size_t i = 0; i < k; i++) {
        size_t at = (size_t)(p[i] * (double)n);
        out[i] = n == 0 ? NAN : x[at < n ? at : n - 1];
    }
}
