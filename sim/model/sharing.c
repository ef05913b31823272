#include "model/sharing.h"

#include "model/stage_cache.h"

#include <stdlib.h>

struct braided {
    struct sharing_model model;
    struct interleave interleave; /* numbers the profiles under either fidelity */
    struct stage_cache stages;
    enum sharing_fidelity fidelity;
    uint8_t kind[WORKLOAD_STAGES]; /* as which kind each stage counts */
    uint32_t *profile; /* of each job; NO_PROFILE where the trace has no stage times for it */
    const struct workload *w;
};

#define NO_PROFILE UINT32_MAX

static void braided_rates(void *self, const uint32_t *jobs, uint32_t n, double *out)
{
    struct braided *b = self;
    uint32_t profiles[INTERLEAVE_GROUP_MAX] = {0};
    for (uint32_t i = 0; i < n; i++)
        profiles[i] = b->profile[jobs[i]];
    double period = interleave_period(&b->interleave, profiles, n);
    for (uint32_t i = 0; i < n; i++) {
        double rate = (double)b->w->iteration_ns[jobs[i]] / period;
        out[i] = rate < 1 ? rate : 1;
    }
}

static void staged_rates(void *self, const uint32_t *jobs, uint32_t n, double *out)
{
    struct braided *b = self;
    uint32_t profiles[STAGE_JOBS_MAX] = {0};
    double cycles[STAGE_JOBS_MAX] = {0};
    out[0] = 1;
    if (n == 1)
        return; /* alone, its stages may overlap: they need not be a chain */
    for (uint32_t i = 0; i < n; i++)
        profiles[i] = b->profile[jobs[i]];
    stage_cache_cycles(&b->stages, profiles, n, cycles);
    double inflation = b->interleave.rule.inflation[n];
    for (uint32_t i = 0; i < n; i++) {
        double rate = (double)b->w->iteration_ns[jobs[i]] / cycles[i];
        rate = inflation > 0 ? rate / inflation : rate;
        out[i] = rate < 1 ? rate : 1;
    }
}

static const char *braided_refusal(void *self, const uint32_t *jobs, uint32_t n, uint64_t gpu_memory_kib)
{
    const struct braided *b = self;
    uint64_t memory = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (b->profile[jobs[i]] == NO_PROFILE)
            return "no_profile";
        memory += b->w->gpu_mem_kib != NULL ? b->w->gpu_mem_kib[jobs[i]] : 0;
    }
    return gpu_memory_kib > 0 && memory > gpu_memory_kib ? "gpu_memory" : NULL;
}

static bool braided_profiles(struct braided *b)
{
    const struct workload *w = b->w;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        b->profile[j] = NO_PROFILE;
        if (w->stage_ns[0] == NULL || w->iteration_ns == NULL || w->iteration_ns[j] <= 0)
            continue;
        struct interleave_profile p = {.iteration = (double)w->iteration_ns[j]};
        struct stage_job stages = {0};
        int64_t sum = 0;
        for (int k = 0; k < WORKLOAD_STAGES; k++) {
            sum += w->stage_ns[k][j];
            stages.stage_ns[b->kind[k]] += w->stage_ns[k][j];
            p.stage[b->kind[k]] += (double)w->stage_ns[k][j];
        }
        if (sum <= 0)
            continue;
        stages.gap_ns = w->iteration_ns[j] > sum ? w->iteration_ns[j] - sum : 0;
        b->profile[j] = interleave_add(&b->interleave, &p);
        if (b->profile[j] == NO_PROFILE)
            return false;
        if (b->fidelity == SHARING_STAGE && !stage_cache_add(&b->stages, b->profile[j], &stages))
            return false;
    }
    return true;
}

int sharing_create(struct sharing_model **out, const struct sharing_spec *spec, const struct workload *w, struct error *err)
{
    *out = NULL;
    uint32_t n_kinds = spec->n_kinds > 0 ? spec->n_kinds : WORKLOAD_STAGES;
    if (spec->groups <= 1 || n_kinds == 1)
        return BRAID_OK;
    struct braided *b = calloc(1, sizeof *b);
    if (b == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    struct interleave_rule rule = {.form = INTERLEAVE_PHASES, .order = spec->order, .kinds = n_kinds};
    for (uint32_t n = 1; n <= INTERLEAVE_GROUP_MAX && spec->inflation.n > 0; n++)
        rule.inflation[n] = spec->inflation.v[(n < spec->inflation.n ? n : spec->inflation.n) - 1];
    interleave_init(&b->interleave, &rule);
    stage_cache_init(&b->stages, &(struct stage_rule){STAGE_EXCLUSIVE, spec->order, n_kinds});
    b->fidelity = spec->fidelity;
    for (uint8_t k = 0; k < WORKLOAD_STAGES; k++)
        b->kind[k] = spec->n_kinds > 0 ? spec->kind[k] : k;
    uint32_t most = interleave_most(&rule);
    b->w = w;
    b->model = (struct sharing_model){.self = b,
                                      .most = spec->groups < most ? spec->groups : most,
                                      .rates = spec->fidelity == SHARING_STAGE ? staged_rates : braided_rates,
                                      .refusal = braided_refusal};
    b->profile = malloc((size_t)w->n_jobs * sizeof *b->profile + 1);
    if (b->profile == NULL || !braided_profiles(b)) {
        sharing_destroy(&b->model);
        return error_set(err, BRAID_FAILED, "out of memory");
    }
    *out = &b->model;
    return BRAID_OK;
}

void sharing_destroy(struct sharing_model *m)
{
    if (m == NULL)
        return;
    struct braided *b = m->self;
    interleave_fini(&b->interleave);
    stage_cache_fini(&b->stages);
    free(b->profile);
    free(b);
}
