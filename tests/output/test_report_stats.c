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

Test(report_stats, the_ratio_of_means_is_that_of_the_sums)
{
    const double a[] = {20, 20, 500, NAN}, b[] = {10, 10, 1000, 3};
    struct interval i = stats_ratio_of_means(a, b, 4);
    cr_expect_float_eq(i.mean, 540.0 / 1020, 1e-12);
    /* d = 3 (a / 540 - b / 1020): 0.0817.., 0.0817.., -0.1634..; t(0.975, 2) = 4.302653 */
    double d = 3 * (20.0 / 540 - 10.0 / 1020), half = 4.302652729911275 * sqrt((d * d + d * d + 4 * d * d) / 2 / 3);
    cr_expect_float_eq(i.low, i.mean * exp(-half), 1e-9);
    cr_expect_float_eq(i.high, i.mean * exp(half), 1e-9);
    cr_expect_eq(i.n, 3);
    struct interval other = stats_ratio_of_means(b, a, 4);
    cr_expect_float_eq(other.low, 1 / i.high, 1e-9, "A over B and B over A say the same");
}

Test(report_stats, a_difference_has_a_t_interval_and_a_range_its_ends)
{
    const double a[] = {3, 5, NAN, 7}, b[] = {1, 1, 1, 1};
    struct interval i = stats_difference(a, b, 4);
    cr_expect_float_eq(i.mean, 4, 1e-12);
    cr_expect_float_eq(i.high - i.mean, 4.302652729911275 * 2 / sqrt(3), 1e-9);
    stats_range(&i, a, 4);
    cr_expect(i.low == 3 && i.high == 7);
}
