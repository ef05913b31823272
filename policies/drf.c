/* drf.c - of each user's parts of the GPUs, CPU and memory of the cluster the largest counts. A resource that some node has without limit is
 * nobody's dominant one.
 */
#include "policies/fair.h"

enum param_of { BY, SHARES, FILL, PREEMPT, QUANTUM };

static int drf_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    return fair_setup(self, s,
                      &(struct fair_rules){.measure = FAIR_DOMINANT,
                                           .by = fair_by_of(v[BY].s),
                                           .fill = fair_fill_of(v[FILL].s),
                                           .preempt = fair_preempt_of(v[PREEMPT].s),
                                           .quantum_ns = v[QUANTUM].i,
                                           .shares_path = v[SHARES].s},
                      err);
}

static const struct param_spec drf_params[] = {
    [BY] = FAIR_PARAM_BY("user", "user|vc"), [SHARES] = FAIR_PARAM_SHARES,   [FILL] = FAIR_PARAM_FILL,
    [PREEMPT] = FAIR_PARAM_PREEMPT("never"), [QUANTUM] = FAIR_PARAM_QUANTUM,
};

FAIR_POLICY(policy_drf, "drf", "Least dominant share of GPUs, CPU and memory first",
            "Ghodsi et al., NSDI'11 (dominant resource fairness), section 4, algorithm 1; weights: section 4.3",
            drf_params, drf_init);
