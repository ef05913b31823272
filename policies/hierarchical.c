/* hierarchical.c - organisations, virtual clusters, users: at each level of the tree the child with the least by weight comes first. What one
 * branch leaves unused goes to its siblings before it goes to cousins.
 */
#include "policies/fair.h"

#include <string.h>

enum param_of { MEASURE, BY, SHARES, HALF_LIFE, AHEAD, FILL, PREEMPT, QUANTUM };

static enum fair_measure measure_of(const char *text)
{
    return strcmp(text, "usage") == 0 ? FAIR_USAGE : strcmp(text, "gpus") == 0 ? FAIR_GPUS : FAIR_DOMINANT;
}

static int hierarchical_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    return fair_setup(self, s,
                      &(struct fair_rules){.measure = measure_of(v[MEASURE].s),
                                           .by = fair_by_of(v[BY].s),
                                           .fill = fair_fill_of(v[FILL].s),
                                           .preempt = fair_preempt_of(v[PREEMPT].s),
                                           .quantum_ns = v[QUANTUM].i,
                                           .half_life_ns = v[HALF_LIFE].i,
                                           .ahead_ns = v[AHEAD].i,
                                           .shares_path = v[SHARES].s},
                      err);
}

static const struct param_spec hierarchical_params[] = {
    [MEASURE] = {"measure", PARAM_CHOICE, "gpus", 0, 0, "", "usage|gpus|dominant",
                 "what counts: decayed usage (as fair_share), GPUs held (max_min), dominant share (drf)"},
    [BY] = {"by", PARAM_CHOICE, "vc_user", 0, 0, "", "user|vc|vc_user",
            "the leaves: users, virtual clusters, or the users of each virtual cluster"},
    [SHARES] = FAIR_PARAM_SHARES,
    [HALF_LIFE] = {"half_life", PARAM_TIME, "7 d", 1e-3, 1e9, "s", NULL,
                   "after this time a GPU-hour used counts half (measure: usage)"},
    [AHEAD] = {"ahead", PARAM_TIME, "10 min", 0, 1e9, "s", NULL,
               "what a running job will use in this time counts already (measure: usage)"},
    [FILL] = FAIR_PARAM_FILL,
    [PREEMPT] = FAIR_PARAM_PREEMPT("never"),
    [QUANTUM] = FAIR_PARAM_QUANTUM,
};

FAIR_POLICY(policy_hierarchical, "hierarchical", "Shares at every level: groups, virtual clusters, users",
            "Bhattacharya et al., SoCC'13 (hierarchical scheduling); Hadoop's Fair Scheduler", hierarchical_params,
            hierarchical_init);
