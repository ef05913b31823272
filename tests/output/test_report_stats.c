/* Means, paired ratios and intervals against numbers worked out by hand or by tables. */
#include "output/report_stats.h"

#include <criterion/criterion.h>
#include <math.h>

/* Mean of 1, 2, 3, 4: 2.5; s = 1.2909944; t(0.975, 3) = 3.1824463; half width 2.0542603. */
Test(report_stats, mean_has_the_t_interval_of_the_tables)
{
    struct interval i = stats_mean((double[]){1, 2, 3, 4}, 4);
    cr_expect_eq(i.mean, 2.5);
    cr_expect_float_eq(i.high, 2.5 + 2.0542603, 1e-6);
    cr_expect_float_eq(i.low, 2.5 - 2.0542603, 1e-6);
}

Test(report_stats, nan_is_left_out_and_one_value_has_no_interval)
{
    struct interval i = stats_mean((double[]){NAN, 5, NAN}, 3);
    cr_expect_eq(i.n, 1);
    cr_expect_eq(i.mean, 5);
    cr_expect(isnan(i.low) && isnan(i.high));
    i = stats_mean((double[]){NAN}, 1);
    cr_expect(isnan(i.mean));
}

/* Ratios 2 and 8: geometric mean 4; sd of logs = ln 4 / sqrt 2, standard error ln 4 / 2, t(0.975, 1) = 12.7062047. */
Test(report_stats, ratio_is_geometric_and_its_interval_that_of_the_logarithm)
{
    struct interval i = stats_ratio((double[]){20, 80}, (double[]){10, 10}, 2);
    cr_expect_float_eq(i.mean, 4, 1e-12);
    double half = 12.7062047 * log(4) / 2;
    cr_expect_float_eq(log(i.high), log(4) + half, 1e-6);
    cr_expect_float_eq(log(i.low), log(4) - half, 1e-6);
}

Test(report_stats, ratio_turned_round_is_its_inverse)
{
    double a[] = {3, 5, 9}, b[] = {4, 4, 5};
    struct interval x = stats_ratio(a, b, 3), y = stats_ratio(b, a, 3);
    cr_expect_float_eq(x.mean * y.mean, 1, 1e-12);
    cr_expect_float_eq(x.low * y.high, 1, 1e-12);
}

Test(report_stats, ratio_of_zeros_is_one_and_over_zero_infinite)
{
    cr_expect_eq(stats_ratio((double[]){0}, (double[]){0}, 1).mean, 1);
    cr_expect(isinf(stats_ratio((double[]){1, 2}, (double[]){0, 1}, 2).mean));
    cr_expect(isnan(stats_ratio((double[]){1, 2}, (double[]){0, 1}, 2).low));
    cr_expect(isnan(stats_ratio(NULL, NULL, 0).mean));
}

/* numpy.quantile([1, 2, 4, 8], 0.5) = 3, 0.99 -> 7.88 */
Test(report_stats, quantile_is_linear_between_order_statistics)
{
    double v[] = {8, 1, 4, 2};
    stats_sort(v, 4);
    cr_expect_eq(stats_quantile(v, 4, 0.5), 3);
    cr_expect_float_eq(stats_quantile(v, 4, 0.99), 7.88, 1e-12);
    cr_expect(isnan(stats_quantile(v, 0, 0.5)));
}
