/* gittins_law.h - the Gittins index of a job whose length follows a named distribution, in closed form.
 *
 * With S(a) = P(D > a) and H(a) = E(max(D - a, 0)) = the integral of S from a on, the index of gittins_index.h is
 *
 *      index(a) = (S(a) - S(a + delta)) / (H(a) - H(a + delta))
 *
 *   exponential  S = exp(-a / mean)                 index = 1 / mean: what has been attained tells nothing
 *   lognormal    S = Q((ln a - mu) / sigma)         mu = ln mean - sigma^2 / 2, Q the normal tail
 *   pareto       S = (low / a)^alpha from low on    low = mean (alpha - 1) / alpha, alpha > 1
 *   weibull      S = exp(-(a / scale)^k)            scale = mean / Gamma(1 + 1 / k)
 *
 * `shape` is sigma, alpha, k. Lognormal, Pareto and Weibull with k < 1 have indices that fall in the end: least attained service first, nearly;
 * Weibull with k > 1 one that rises: who has begun is let finish.
 */
#ifndef POLICIES_GITTINS_LAW_H
#define POLICIES_GITTINS_LAW_H

#include <stdbool.h>
#include <stdint.h>

enum gittins_law_kind { LAW_EXPONENTIAL, LAW_LOGNORMAL, LAW_PARETO, LAW_WEIBULL };

struct gittins_law {
    enum gittins_law_kind kind;
    double mean; /* > 0, in the unit of service (ns or GPU-ns) */
    double shape;
};

/* Whether such a distribution exists: mean and shape above 0, pareto's shape above 1. */
bool gittins_law_is_proper(const struct gittins_law *law);

/* P(D > a), E(max(D - a, 0)), a >= 0. */
double gittins_law_tail(const struct gittins_law *law, double a);
double gittins_law_excess(const struct gittins_law *law, double a);

/* Whether the index stays as it is from `a` on. */
bool gittins_law_is_steady(const struct gittins_law *law, double a);

/* The index at `attained` for `delta` > 0; 0 where the distribution has ended as far as doubles can tell. */
double gittins_law_index(const struct gittins_law *law, double attained, double delta);

#endif
