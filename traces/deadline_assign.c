#include "traces/deadline_assign.h"

#include "base/random.h"

#include <stdlib.h>

/* `factor` run times after the submission, or where time ends. */
static int64_t deadline_of(const struct workload *w, uint32_t job, double factor)
{
    double after = factor * (double)w->duration_ns[job];
    int64_t out;
    if (after >= 9e18 || __builtin_add_overflow(w->submit_ns[job], (int64_t)after, &out))
        return INT64_MAX;
    return out;
}

int deadline_assign(struct workload *w, const struct deadlines_spec *spec, struct error *err)
{
    if (spec->factor.n != 2 || !(spec->factor.v[0] <= spec->factor.v[1]))
        return error_set(err, BRAID_BAD_INPUT,
                         "trace.deadlines.factor wants two numbers, the lower one first: [0.5, 1.5]");
    bool is_new = w->deadline_ns == NULL;
    if (is_new)
        w->deadline_ns = malloc(((size_t)w->n_jobs + 1) * sizeof *w->deadline_ns);
    gsl_rng *rng = random_stream(spec->seed, "deadlines", "");
    if (w->deadline_ns == NULL || rng == NULL) {
        if (rng != NULL)
            gsl_rng_free(rng);
        return error_set(err, BRAID_FAILED, "out of memory for the deadlines of the jobs");
    }
    double low = spec->factor.v[0], high = spec->factor.v[1];
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        double factor = low + (high - low) * gsl_rng_uniform(rng);
        bool gets_one = gsl_rng_uniform(rng) < spec->share;
        if (!is_new && spec->jobs == DEADLINES_MISSING && w->deadline_ns[j] != WORKLOAD_ABSENT)
            continue;
        w->deadline_ns[j] = gets_one ? deadline_of(w, j, factor) : WORKLOAD_ABSENT;
    }
    gsl_rng_free(rng);
    workload_digest(w);
    return BRAID_OK;
}
