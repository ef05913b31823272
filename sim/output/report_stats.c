#include "output/report_stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* Mean and interval in two passes: the deviations are taken from the mean itself, for the sake of large means. */
struct interval stats_mean(const double *values, size_t n)
{
    struct interval out = {.mean = NAN, .low = NAN, .high = NAN};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i]))
            continue;
        sum += values[i];
        out.n++;
    }
    if (out.n == 0)
        return out;
    out.mean = sum / (double)out.n;
    if (out.n < 2 || isinf(out.mean))
        return out;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            squares += (values[i] - out.mean) * (values[i] - out.mean);
    double error = sqrt(squares / (double)(out.n - 1) / (double)out.n);
    double half = gsl_cdf_tdist_Pinv(0.975, (double)(out.n - 1)) * error;
    out.low = out.mean - half;
    out.high = out.mean + half;
    return out;
}

static double log_ratio(double above, double below)
{
    return above == below ? 0.0 : log(above / below);
}

struct interval stats_ratio(const double *above, const double *below, size_t n)
{
    struct interval out = {.mean = NAN, .low = NAN, .high = NAN};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(above[i]) || isnan(below[i]))
            continue;
        sum += log_ratio(above[i], below[i]);
        out.n++;
    }
    if (out.n == 0)
        return out;
    double mean = sum / (double)out.n;
    out.mean = exp(mean);
    if (out.n < 2 || !isfinite(mean))
        return out;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(above[i]) || isnan(below[i]))
            continue;
        double d = log_ratio(above[i], below[i]) - mean;
        squares += d * d;
    }
    double error = sqrt(squares / (double)(out.n - 1) / (double)out.n);
    double half = gsl_cdf_tdist_Pinv(0.975, (double)(out.n - 1)) * error;
    out.low = exp(mean - half);
    out.high = exp(mean + half);
    return out;
}

struct interval stats_difference(const double *above, const double *below, size_t n)
{
    struct interval out = {.mean = NAN, .low = NAN, .high = NAN};
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(above[i]) && !isnan(below[i])) {
            sum += above[i] - below[i];
            out.n++;
        }
    if (out.n == 0)
        return out;
    out.mean = sum / (double)out.n;
    if (out.n < 2 || !isfinite(out.mean))
        return out;
    double squares = 0, count = (double)out.n;
    for (size_t i = 0; i < n; i++)
        if (!isnan(above[i]) && !isnan(below[i])) {
            double d = above[i] - below[i] - out.mean;
            squares += d * d;
        }
    double half = gsl_cdf_tdist_Pinv(0.975, count - 1) * sqrt(squares / (count - 1) / count);
    out.low = out.mean - half;
    out.high = out.mean + half;
    return out;
}

struct interval stats_ratio_of_means(const double *above, const double *below, size_t n)
{
    struct interval out = {.mean = NAN, .low = NAN, .high = NAN};
    double sum_above = 0, sum_below = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(above[i]) && !isnan(below[i])) {
            sum_above += above[i];
            sum_below += below[i];
            out.n++;
        }
    if (out.n == 0)
        return out;
    out.mean = sum_above == sum_below ? 1 : sum_above / sum_below;
    if (out.n < 2 || !(sum_above > 0) || !(sum_below > 0) || isinf(sum_above) || isinf(sum_below))
        return out;
    double squares = 0, count = (double)out.n;
    for (size_t i = 0; i < n; i++)
        if (!isnan(above[i]) && !isnan(below[i])) {
            double d = count * (above[i] / sum_above - below[i] / sum_below); /* of mean 0 */
            squares += d * d;
        }
    double half = gsl_cdf_tdist_Pinv(0.975, count - 1) * sqrt(squares / (count - 1) / count);
    out.low = out.mean * exp(-half);
    out.high = out.mean * exp(half);
    return out;
}

void stats_range(struct interval *of, const double *values, size_t n)
{
    of->low = of->high = NAN;
    for (size_t i = 0; of->n >= 2 && i < n; i++) {
        of->low = fmin(of->low, values[i]); /* fmin and fmax pass over NaN */
        of->high = fmax(of->high, values[i]);
    }
}

double stats_quantile(const double *sorted, size_t n, double q)
{
    return n == 0 ? NAN : gsl_stats_quantile_from_sorted_data(sorted, 1, n, q);
}

void stats_sort(double *values, size_t n)
{
    gsl_sort(values, 1, n);
}
