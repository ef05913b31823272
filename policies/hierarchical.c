/* hierarchical.c - organisations, virtual clusters, users: at each level of the tree the child with the least by weight comes first. What one
 * branch leaves unused goes to its siblings before it goes to cousins.
 */
#include "policies/fair.h"

#include <string.h>

enum param_of { MEASURE = FAIR_N_PARAMS, HALF_LIFE, AHEAD };

static enum fair_measure measure_of(const char *text)
{
    return strcmp(text, "usage") == 0 ? FAIR_USAGE : strcmp(text, "gpus") == 0 ? FAIR_GPUS : FAIR_DOMINANT;
}

static int hierarchical_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct fair_rules rules = fair_rules_of(v);
    rules.measure = measure_of(v[MEASURE].s);
    rules.half_life_ns = v[HALF_LIFE].i;
    rules.ahead_ns = v[AHEAD].i;
    return fair_setup(self, s, &rules, err);
}

static const struct param_spec hierarchical_params[] = {
    FAIR_PARAMS("vc_user", "user|vc|vc_user",
                "the leaves: users, virtual clusters, or the users of each virtual cluster", "never"),
    [MEASURE] = {"measure", PARAM_CHOICE, "gpus", 0, 0, "", "usage|gpus|dominant",
                 "what counts: decayed usage (as fair_share), GPUs held (max_min), dominant share (drf)"},
    [HALF_LIFE] = {"half_life", PARAM_TIME, "7 d", 1e-3, 1e9, "s", NULL,
                   "after this time a GPU-hour used counts half (measure: usage)"},
    [AHEAD] = {"ahead", PARAM_TIME, "10 min", 0, 1e9, "s", NULL,
               "what a running job will use in this time counts already (measure: usage)"},
};

FAIR_POLICY(
    policy_hierarchical, "hierarchical",
    "Shares at every level: groups, virtual clusters, users; of equal ones who was served longest ago, then by name",
    "Bhattacharya et al., SoCC'13 (hierarchical scheduling); Hadoop's Fair Scheduler", hierarchical_params,
    hierarchical_init);
