#include "tests/theory/formula.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>

double erlang_c(uint32_t servers, double load)
{
    double offered = load * servers, blocked = 1; /* Erlang B by its recursion: no factorials */
    for (uint32_t c = 1; c <= servers; c++)
        blocked = offered * blocked / (c + offered * blocked);
    return blocked / (1 - load * (1 - blocked));
}

double mmc_wait(uint32_t servers, double load)
{
    return erlang_c(servers, load) / (servers * (1 - load));
}

/* E[S^2] where E[S] = 1. */
static double second_moment(enum service service)
{
    switch (service) {
    case SERVICE_EXPONENTIAL:
        return 2;
    case SERVICE_LOGNORMAL:
        return 1 + LOGNORMAL_SCV;
    case SERVICE_DETERMINISTIC:
        break;
    }
    return 1;
}

double mg1_wait(enum service service, double load)
{
    return load * second_moment(service) / (2 * (1 - load));
}

double mg1_sharing_response(double load)
{
    return 1 / (1 - load);
}

double mg1_urgent_wait(enum service service, double load, double urgent)
{
    return load * second_moment(service) / 2 / (1 - load * urgent);
}

double mg1_patient_wait(enum service service, double load, double urgent)
{
    return mg1_urgent_wait(service, load, urgent) / (1 - load);
}

double mginf_number(double offered)
{
    return offered;
}

double mginf_pairs(double offered)
{
    return offered * offered;
}

/* ---- orders that look at service times: integrals over the distribution ---------------------------------- */

struct mixture { /* arguments of the integrands */
    enum service service;
    double load;
};

static double density(enum service service, double x)
{
    double sigma2 = log(1 + LOGNORMAL_SCV);
    return service == SERVICE_LOGNORMAL ? gsl_ran_lognormal_pdf(x, -sigma2 / 2, sqrt(sigma2))
                                        : gsl_ran_exponential_pdf(x, 1);
}

static double above(enum service service, double x)
{
    double sigma2 = log(1 + LOGNORMAL_SCV);
    return service == SERVICE_LOGNORMAL ? gsl_cdf_lognormal_Q(x, -sigma2 / 2, sqrt(sigma2))
                                        : gsl_cdf_exponential_Q(x, 1);
}

/* The integral of t^k f(t) from 0 to x, in closed form; k = 1 or 2. */
static double moment_below(enum service service, int k, double x)
{
    if (service == SERVICE_EXPONENTIAL)
        return k == 1 ? 1 - (1 + x) * exp(-x) : 2 - (2 + 2 * x + x * x) * exp(-x);
    double sigma2 = log(1 + LOGNORMAL_SCV), moment = exp((k * k - k) * sigma2 / 2);
    return moment *
           gsl_cdf_lognormal_P(x, (k - 0.5) * sigma2, sqrt(sigma2)); /* tilting by t^k moves the mean by k sigma^2 */
}

enum { INTERVALS = 1000 };

static double integral_to_infinity(double (*f)(double, void *), void *args, double relative)
{
    gsl_integration_workspace *space = gsl_integration_workspace_alloc(INTERVALS);
    gsl_function g = {f, args};
    double value, error;
    cr_assert_eq(gsl_integration_qagiu(&g, 0, 0, relative, INTERVALS, space, &value, &error), 0);
    gsl_integration_workspace_free(space);
    return value;
}

static double integral(double (*f)(double, void *), void *args, double to, double relative)
{
    gsl_integration_workspace *space = gsl_integration_workspace_alloc(INTERVALS);
    gsl_function g = {f, args};
    double value, error;
    cr_assert_eq(gsl_integration_qag(&g, 0, to, 0, relative, INTERVALS, GSL_INTEG_GAUSS31, space, &value, &error), 0);
    gsl_integration_workspace_free(space);
    return value;
}

static double residence_rate(double t, void *args) /* dt of attained service takes dt / (1 - rho(t)) */
{
    const struct mixture *m = args;
    return 1 / (1 - m->load * moment_below(m->service, 1, t));
}

static double srpt_response_at(double x, void *args)
{
    struct mixture *m = args;
    double f = density(m->service, x);
    if (f <= 0)
        return 0;
    double free = 1 - m->load * moment_below(m->service, 1, x);
    double wait = m->load * (moment_below(m->service, 2, x) + x * x * above(m->service, x)) / (2 * free * free);
    return f * (wait + integral(residence_rate, m, x, 1e-9));
}

double mg1_srpt_response(enum service service, double load)
{
    cr_assert_neq(service, SERVICE_DETERMINISTIC);
    struct mixture m = {service, load};
    return integral_to_infinity(srpt_response_at, &m, 1e-7);
}

static double sjf_wait_at(double x, void *args)
{
    const struct mixture *m = args;
    double free = 1 - m->load * moment_below(m->service, 1, x);
    return density(m->service, x) * m->load * second_moment(m->service) / 2 / (free * free);
}

double mg1_sjf_wait(enum service service, double load)
{
    cr_assert_neq(service, SERVICE_DETERMINISTIC);
    struct mixture m = {service, load};
    return integral_to_infinity(sjf_wait_at, &m, 1e-7);
}
