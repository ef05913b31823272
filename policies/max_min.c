/* max_min.c - what is held counts. With preemption and jobs of one GPU the result is the water-filling of GPUs over users. */
#include "policies/fair.h"

static int max_min_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct fair_rules rules = fair_rules_of(v);
    rules.measure = FAIR_GPUS;
    return fair_setup(self, s, &rules, err);
}

static const struct param_spec max_min_params[] = {FAIR_PARAMS("user", "user|vc", FAIR_BY_HELP, "never")};

FAIR_POLICY(policy_max_min, "max_min",
            "Fewest GPUs held by weight first; of equal ones who was served longest ago, then by name",
            "Bertsekas and Gallager, Data Networks, 1992, section 6.5.2 (max-min fairness by progressive filling)",
            max_min_params, max_min_init);
