#include "policies/gittins_law.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

static const double TAIL_END = 600; /* exp(-600) is the end of what doubles hold of a tail, nearly */

bool gittins_law_is_proper(const struct gittins_law *law)
{
    return law->mean > 0 && law->shape > (law->kind == LAW_PARETO ? 1 : 0);
}

static double weibull_scale(const struct gittins_law *law)
{
    return law->mean * exp(-gsl_sf_lngamma(1 + 1 / law->shape));
}

static double pareto_low(const struct gittins_law *law)
{
    return law->mean * (law->shape - 1) / law->shape;
}

static double lognormal_mu(const struct gittins_law *law)
{
    return log(law->mean) - law->shape * law->shape / 2;
}

double gittins_law_tail(const struct gittins_law *law, double a)
{
    if (a <= 0)
        return 1;
    switch (law->kind) {
    case LAW_EXPONENTIAL:
        return gsl_cdf_exponential_Q(a, law->mean);
    case LAW_LOGNORMAL:
        return gsl_cdf_lognormal_Q(a, lognormal_mu(law), law->shape);
    case LAW_PARETO:
        return gsl_cdf_pareto_Q(a, law->shape, pareto_low(law));
    case LAW_WEIBULL:
        return gsl_cdf_weibull_Q(a, weibull_scale(law), law->shape);
    }
    return 0;
}

double gittins_law_excess(const struct gittins_law *law, double a)
{
    if (a <= 0)
        return law->mean;
    switch (law->kind) {
    case LAW_EXPONENTIAL:
        return law->mean * gsl_cdf_exponential_Q(a, law->mean);
    case LAW_LOGNORMAL: {
        double above = (log(a) - lognormal_mu(law)) / law->shape;
        return law->mean * gsl_cdf_ugaussian_Q(above - law->shape) - a * gsl_cdf_ugaussian_Q(above);
    }
    case LAW_PARETO: {
        double low = pareto_low(law);
        return a < low ? law->mean - a : a / (law->shape - 1) * pow(low / a, law->shape);
    }
    case LAW_WEIBULL: { /* the integral of exp(-(x / scale)^k), with t = (x / scale)^k */
        double t = pow(a / weibull_scale(law), law->shape);
        return t < TAIL_END ? law->mean * gsl_cdf_gamma_Q(t, 1 / law->shape, 1) : 0;
    }
    }
    return 0;
}

bool gittins_law_is_steady(const struct gittins_law *law, double a)
{
    return law->kind == LAW_EXPONENTIAL || gittins_law_tail(law, a) <= 0;
}

double gittins_law_index(const struct gittins_law *law, double attained, double delta)
{
    if (law->kind == LAW_EXPONENTIAL)
        return 1 / law->mean;
    double ends = gittins_law_tail(law, attained) - gittins_law_tail(law, attained + delta);
    double spent = gittins_law_excess(law, attained) - gittins_law_excess(law, attained + delta);
    return ends > 0 && spent > 0 ? ends / spent : 0;
}
