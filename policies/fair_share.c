/* fair_share.c - what was used counts, the older the less. */
#include "policies/fair.h"

enum param_of { BY, SHARES, HALF_LIFE, AHEAD, FILL, PREEMPT, QUANTUM };

static int fair_share_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    return fair_setup(self, s,
                      &(struct fair_rules){.measure = FAIR_USAGE,
                                           .by = fair_by_of(v[BY].s),
                                           .fill = fair_fill_of(v[FILL].s),
                                           .preempt = fair_preempt_of(v[PREEMPT].s),
                                           .quantum_ns = v[QUANTUM].i,
                                           .half_life_ns = v[HALF_LIFE].i,
                                           .ahead_ns = v[AHEAD].i,
                                           .shares_path = v[SHARES].s},
                      err);
}

static const struct param_spec fair_share_params[] = {
    [BY] = FAIR_PARAM_BY("user", "user|vc"),
    [SHARES] = FAIR_PARAM_SHARES,
    [HALF_LIFE] = {"half_life", PARAM_TIME, "7 d", 1e-3, 1e9, "s", NULL, "after this time a GPU-hour used counts half"},
    [AHEAD] = {"ahead", PARAM_TIME, "10 min", 0, 1e9, "s", NULL,
               "what a running job will use in this time counts already, so that not one user gets all GPUs that come "
               "free at once"},
    [FILL] = FAIR_PARAM_FILL,
    [PREEMPT] = FAIR_PARAM_PREEMPT("never"),
    [QUANTUM] = FAIR_PARAM_QUANTUM,
};

FAIR_POLICY(policy_fair_share, "fair_share", "Least decayed usage by share first",
            "Kay and Lauder, 1988 (the fair share scheduler); Slurm's multifactor priority: PriorityDecayHalfLife",
            fair_share_params, fair_share_init);
