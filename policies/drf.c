/* drf.c - of each user's parts of the GPUs, CPU and memory of the cluster the largest counts. A resource that some node has without limit is
 * nobody's dominant one.
 */
#include "policies/fair.h"

static int drf_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct fair_rules rules = fair_rules_of(v);
    rules.measure = FAIR_DOMINANT;
    return fair_setup(self, s, &rules, err);
}

static const struct param_spec drf_params[] = {FAIR_PARAMS("user", "user|vc", FAIR_BY_HELP, "never")};

FAIR_POLICY(
    policy_drf, "drf",
    "Least dominant share of GPUs, CPU and memory first; of equal ones who was served longest ago, then by name",
    "Ghodsi et al., NSDI'11 (dominant resource fairness), section 4, algorithm 1; weights: section 4.3", drf_params,
    drf_init);
