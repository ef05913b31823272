#include "traces/generator_durations.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 4096, GUIDES = 1024 };
#define LEAST_S 0.5000001 /* of a mixture: rounds to one second */
#define ZERO_S 0.25       /* what stands for a duration of zero where its logarithm is wanted: rounds to nothing */

static double part_below(const struct profile_part *p, double log_s, double longest_s)
{
    double s = exp(log_s);
    switch (p->law) {
    case PART_PARETO:
        return s <= p->b ? 0 : fmin(1, (1 - pow(p->b / s, p->a)) / (1 - pow(p->b / longest_s, p->a)));
    case PART_LOGUNIFORM:
        return fmax(0, fmin(1, (log_s - log(p->a)) / (log(p->b) - log(p->a))));
    case PART_LOGNORMAL:
        break;
    }
    return gsl_cdf_ugaussian_P((log_s - p->a) / p->b);
}

static double mixture_below(const struct profile_class *c, double log_s, double longest_s)
{
    double below = 0, total = 0;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        below += c->parts[i].weight * part_below(&c->parts[i], log_s, longest_s);
        total += c->parts[i].weight;
    }
    return below / total;
}

static void fill_from_mixture(struct durations *d, const struct profile_class *c, double longest_s)
{
    double first = log(LEAST_S), step = (log(longest_s) - first) / (GRID - 1);
    double none = mixture_below(c, first, longest_s), all = mixture_below(c, first + step * (GRID - 1), longest_s);
    for (int i = 0; i < GRID; i++) {
        double log_s = first + step * i;
        double u = i == GRID - 1 ? 1 : (mixture_below(c, log_s, longest_s) - none) / (all - none);
        if (d->n >= 2 && u <= d->u[d->n - 1] && u <= d->u[d->n - 2])
            d->n--; /* the middle of a stretch without jobs */
        d->u[d->n] = u;
        d->log_s[d->n++] = log_s;
    }
}

int durations_init(struct durations *d, const struct profile_class *c, double longest_s, struct error *err)
{
    uint32_t room = c->knots != NULL ? c->n_knots : GRID;
    *d = (struct durations){.u = malloc(room * sizeof *d->u),
                            .log_s = malloc(room * sizeof *d->log_s),
                            .guide = malloc((GUIDES + 1) * sizeof *d->guide)};
    if (d->u == NULL || d->log_s == NULL || d->guide == NULL)
        return error_set(err, BRAID_FAILED, "out of memory for the generator's table of durations");
    if (c->knots == NULL)
        fill_from_mixture(d, c, longest_s);
    for (uint32_t i = 0; c->knots != NULL && i < c->n_knots; i++) {
        d->u[d->n] = c->knots[i].u;
        d->log_s[d->n++] = log(fmax(c->knots[i].seconds, ZERO_S));
    }
    uint32_t at = 0;
    for (uint32_t g = 0; g <= GUIDES; g++) {
        while (at + 2 < d->n && d->u[at + 1] < (double)g / GUIDES)
            at++;
        d->guide[g] = at;
    }
    return BRAID_OK;
}

void durations_fini(struct durations *d)
{
    free(d->u);
    free(d->log_s);
    free(d->guide);
    memset(d, 0, sizeof *d);
}

int64_t durations_at(const struct durations *d, double u)
{
    uint32_t i = d->guide[(uint32_t)(u * GUIDES)];
    while (i + 2 < d->n && d->u[i + 1] < u)
        i++;
    double width = d->u[i + 1] - d->u[i];
    double part = width > 0 ? fmin(1, fmax(0, (u - d->u[i]) / width)) : 1;
    return llround(exp(d->log_s[i] + part * (d->log_s[i + 1] - d->log_s[i])));
}
