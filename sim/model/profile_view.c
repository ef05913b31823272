#include "model/profile_view.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>

#define LONGEST 1e18 /* four of them are within 64 bits */

static bool columns_make(struct profile_view *v, uint32_t n_jobs)
{
    bool ok = true;
    v->workload.iteration_ns = calloc((size_t)n_jobs + 1, sizeof *v->workload.iteration_ns);
    for (int k = 0; k < WORKLOAD_STAGES; k++) {
        v->workload.stage_ns[k] = calloc((size_t)n_jobs + 1, sizeof *v->workload.stage_ns[k]);
        ok &= v->workload.stage_ns[k] != NULL;
    }
    return ok && v->workload.iteration_ns != NULL;
}

/* `ns` times the factor of the draw `u` in [0, 1); the end of time stays where it is. */
static int64_t measure(int64_t ns, double error, double u)
{
    double seen = (double)ns * (1 + error * (2 * u - 1));
    return seen < LONGEST ? llround(seen) : (int64_t)LONGEST;
}

static bool columns_fill(struct profile_view *v, double error, uint64_t seed, const struct workload *w)
{
    gsl_rng *rng = random_stream(seed, "profile error", "");
    if (rng == NULL)
        return false;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        double more = 0;
        for (int k = 0; k < WORKLOAD_STAGES; k++) {
            int64_t truth = w->stage_ns[k][j], seen = measure(truth, error, gsl_rng_uniform(rng));
            v->workload.stage_ns[k][j] = seen;
            more += (double)seen - (double)truth;
        }
        double iteration = (double)w->iteration_ns[j] + more;
        bool has_iteration = w->iteration_ns[j] > 0; /* one without stays without */
        v->workload.iteration_ns[j] = !has_iteration      ? w->iteration_ns[j]
                                      : iteration >= LONGEST ? (int64_t)LONGEST
                                      : iteration >= 1    ? llround(iteration)
                                                          : 1;
    }
    gsl_rng_free(rng);
    return true;
}

int profile_view_create(struct profile_view **out, double error, uint64_t seed, const struct sharing_spec *spec,
                        const struct workload *w, struct error *err)
{
    *out = NULL;
    if (!(error > 0) || w->stage_ns[0] == NULL || w->iteration_ns == NULL)
        return BRAID_OK;
    struct profile_view *v = calloc(1, sizeof *v);
    if (v == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    v->workload = *w;
    if (!columns_make(v, w->n_jobs) || !columns_fill(v, error, seed, w)) {
        profile_view_destroy(v);
        return error_set(err, BRAID_FAILED, "out of memory");
    }
    int status = sharing_create(&v->sharing, spec, &v->workload, err);
    if (status != BRAID_OK) {
        profile_view_destroy(v);
        return status;
    }
    *out = v;
    return BRAID_OK;
}

void profile_view_destroy(struct profile_view *v)
{
    if (v == NULL)
        return;
    sharing_destroy(v->sharing);
    free(v->workload.iteration_ns);
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        free(v->workload.stage_ns[k]);
    free(v);
}
