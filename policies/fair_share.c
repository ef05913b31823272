/* fair_share.c - what was used counts, the older the less. */
#include "policies/fair.h"

enum param_of { HALF_LIFE = FAIR_N_PARAMS, AHEAD };

static int fair_share_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct fair_rules rules = fair_rules_of(v);
    rules.measure = FAIR_USAGE;
    rules.half_life_ns = v[HALF_LIFE].i;
    rules.ahead_ns = v[AHEAD].i;
    return fair_setup(self, s, &rules, err);
}

static const struct param_spec fair_share_params[] = {
    FAIR_PARAMS("user", "user|vc", FAIR_BY_HELP, "never"),
    [HALF_LIFE] = {"half_life", PARAM_TIME, "7 d", 1e-3, 1e9, "s", NULL, "after this time a GPU-hour used counts half"},
    [AHEAD] = {"ahead", PARAM_TIME, "10 min", 0, 1e9, "s", NULL,
               "what a running job will use in this time counts already, so that not one user gets all GPUs that come "
               "free at once"},
};

FAIR_POLICY(policy_fair_share, "fair_share",
            "Least decayed usage by share first; of equal ones who was served longest ago, then by name",
            "Kay and Lauder, 1988 (the fair share scheduler); Slurm's multifactor priority: PriorityDecayHalfLife",
            fair_share_params, fair_share_init);
