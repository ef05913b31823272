/* gittins_past.c - Gittins without a crystal ball: the distribution is that of the jobs that have ended so far in this run. */
#include "policies/gittins.h"

#include <string.h>

enum param_of { DELTA, SERVICE, THRESHOLDS, REFIT };

static int gittins_past_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    const struct gittins_spec spec = {.source = "past",
                                      .file = "",
                                      .delta_s = v[DELTA].f,
                                      .by_gpu_time = strcmp(v[SERVICE].s, "gpu_time") == 0,
                                      .thresholds = &v[THRESHOLDS],
                                      .refit_ns = v[REFIT].i};
    return gittins_setup(self, s, &spec, err);
}

static const struct param_spec gittins_past_params[] = {
    [DELTA] = GITTINS_DELTA,
    [SERVICE] = GITTINS_SERVICE,
    [THRESHOLDS] = GITTINS_THRESHOLDS,
    [REFIT] = GITTINS_REFIT,
};

const struct policy_ops policy_gittins_past = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "gittins_past",
    .summary = "Highest Gittins index first, one delta ahead (0: as far as is best), learnt from the jobs that have "
               "ended so far, preemptive",
    .source = "Gittins, 1979; Gu et al., NSDI'19 (Tiresias), section 3.3",
    .knows = KNOWS_NOTHING,
    .scope = SCOPE_VC,
    .params = gittins_past_params,
    .n_params = sizeof gittins_past_params / sizeof *gittins_past_params,
    .state_size = sizeof(struct gittins),
    .init = gittins_past_init,
    .fini = gittins_fini,
    .on_submit = compose_on_submit,
    .on_finish = gittins_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = gittins_schedule,
};
