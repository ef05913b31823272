#include "tests/theory/interval.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

void sample_add(struct sample *s, double batch_mean)
{
    cr_assert_lt(s->n, (uint32_t)SAMPLE_ROOM);
    s->mean[s->n++] = batch_mean;
}

/* Student's t that a single one of `family` intervals needs. */
static double quantile(uint32_t family, double freedom)
{
    return gsl_cdf_tdist_Qinv((1 - FAMILY_CONFIDENCE) / family / 2, freedom);
}

struct interval interval_of(const struct sample *s, const struct sample *control, double control_mean, uint32_t family)
{
    cr_assert_geq(s->n, 10u);
    double n = (double)s->n;
    struct interval i = {.correlation = gsl_stats_lag1_autocorrelation(s->mean, 1, s->n)};
    if (control == NULL) {
        i.mean = gsl_stats_mean(s->mean, 1, s->n);
        i.half_width = quantile(family, n - 1) * gsl_stats_sd(s->mean, 1, s->n) / sqrt(n);
        return i;
    }
    cr_assert_eq(control->n, s->n);
    double c0, c1, cov00, cov01, cov11, rest, error;
    gsl_fit_linear(control->mean, 1, s->mean, 1, s->n, &c0, &c1, &cov00, &cov01, &cov11, &rest);
    gsl_fit_linear_est(control_mean, c0, c1, cov00, cov01, cov11, &i.mean, &error);
    i.half_width = quantile(family, n - 2) * error;
    return i;
}

bool interval_holds(const struct interval *i, double exact)
{
    return fabs(i->mean - exact) <= i->half_width;
}
