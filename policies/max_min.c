/* max_min.c - what is held counts. With preemption and jobs of one GPU the result is the water-filling of GPUs over users. */
#include "policies/fair.h"

enum param_of { BY, SHARES, FILL, PREEMPT, QUANTUM };

static int max_min_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    return fair_setup(self, s,
                      &(struct fair_rules){.measure = FAIR_GPUS,
                                           .by = fair_by_of(v[BY].s),
                                           .fill = fair_fill_of(v[FILL].s),
                                           .preempt = fair_preempt_of(v[PREEMPT].s),
                                           .quantum_ns = v[QUANTUM].i,
                                           .shares_path = v[SHARES].s},
                      err);
}

static const struct param_spec max_min_params[] = {
    [BY] = FAIR_PARAM_BY("user", "user|vc"), [SHARES] = FAIR_PARAM_SHARES,   [FILL] = FAIR_PARAM_FILL,
    [PREEMPT] = FAIR_PARAM_PREEMPT("never"), [QUANTUM] = FAIR_PARAM_QUANTUM,
};

FAIR_POLICY(policy_max_min, "max_min", "Fewest GPUs held by weight first",
            "Bertsekas and Gallager, Data Networks, 1992, section 6.5.2 (max-min fairness by progressive filling)",
            max_min_params, max_min_init);
