/* The textbook's workload: Poisson arrivals of jobs of one GPU that take exponential times, M/M/c on c GPUs. Times are not rounded, so
 * that theory applies to the last digit. */
#include "base/number.h"
#include "base/random.h"
#include "traces/generator_model.h"

#include <math.h>

#define MEAN_DURATION_S 3600.0
#define RATE_PER_DAY 192.0 /* 8 GPUs' worth */

enum { ARRIVALS, DURATIONS, VCS, USERS, N_STREAMS };
static const char *const stream_names[N_STREAMS] = {"arrivals", "durations", "vcs", "users"};

static int make_jobs(struct workload *out, const struct generator_spec *spec, gsl_rng *const *rng, struct error *err)
{
    double now_s = 0, gap_s = 86400 / (spec->rate_per_day > 0 ? spec->rate_per_day : RATE_PER_DAY);
    uint32_t vcs = spec->vcs > 0 ? spec->vcs : 1, users = spec->users > 0 ? spec->users : 1;
    for (uint32_t j = 0; j < out->n_jobs; j++) {
        now_s += gsl_ran_exponential(rng[ARRIVALS], gap_s);
        if (now_s >= (double)GENERATOR_LAST_S)
            return generator_too_long(spec, err);
        out->submit_ns[j] = llround(now_s * 1e9);
        out->duration_ns[j] = llround(gsl_ran_exponential(rng[DURATIONS], MEAN_DURATION_S) * 1e9);
        out->gpus[j] = 1;
        out->vc[j] = (uint32_t)gsl_rng_uniform_int(rng[VCS], vcs);
        out->user[j] = (uint32_t)gsl_rng_uniform_int(rng[USERS], users);
        out->trace_status[j] = TRACE_PASSED;
    }
    generator_shift(out);
    int code = generator_name_column(&out->vcs, "vc", NULL, vcs, out->vc, out->n_jobs, err);
    if (code == BRAID_OK)
        code = generator_name_column(&out->users, "u", NULL, users, out->user, out->n_jobs, err);
    return code;
}

static int make(struct workload *out, const struct generator_spec *spec, struct error *err)
{
    struct workload_columns want = {0};
    if (spec->burst > 1 || spec->repeat > 0 || spec->deadlines > 0 || spec->has_estimates)
        return error_set(
            err, BRAID_BAD_INPUT,
            "the model 'poisson' has no bursts, repeats, deadlines and estimates; leave them out or take another");
    int code = workload_alloc(out, spec->jobs, &want, err);
    gsl_rng *rng[N_STREAMS] = {0};
    for (int i = 0; i < N_STREAMS && code == BRAID_OK; i++)
        if ((rng[i] = random_stream(spec->seed, stream_names[i], "")) == NULL)
            code = generator_no_memory(err);
    if (code == BRAID_OK)
        code = make_jobs(out, spec, rng, err);
    for (int i = 0; i < N_STREAMS; i++)
        if (rng[i] != NULL)
            gsl_rng_free(rng[i]);
    return code;
}

const struct generator_model generator_poisson = {
    .name = "poisson",
    .summary = "Poisson arrivals, exponential durations of mean 1 h, one GPU each: M/M/c on c GPUs",
    .make = make,
};
