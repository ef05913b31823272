/* quota.c - guaranteed GPUs, lent while their owner does not need them.
 *
 *     held   |=== guaranteed ===|== borrowed ==|      who is below its guarantee comes first, the one with the smallest part of it filled;
 *                               ^ guarantee           then who borrows least by weight
 *
 * An owner whose waiting job fits within its guarantee takes GPUs back from whoever is above its own: the latest started jobs of the
 * greatest borrower. With `preempt: quantum` a borrower keeps them for `quantum` at least, so an owner waits that long at most, as far
 * as the guaranteed GPUs make up places for its jobs. A job that begins below the guarantee and reaches above it counts as borrowing. Guarantees are
 * in the file of shares; who has none there only borrows.
 */
#include "policies/fair.h"

enum param_of { BORROW = FAIR_N_PARAMS };

static int quota_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct fair_rules rules = fair_rules_of(v);
    rules.measure = FAIR_GUARANTEE;
    rules.may_borrow = v[BORROW].b;
    if (!rules.may_borrow && rules.shares_path[0] == '\0')
        return error_set(
            err, BRAID_BAD_INPUT,
            "borrow: false needs guarantees, else no job could start; name a file of shares, or leave it out");
    return fair_setup(self, s, &rules, err);
}

static const struct param_spec quota_params[] = {
    FAIR_PARAMS("vc", "user|vc|vc_user", FAIR_BY_HELP, "when_better"),
    [BORROW] = {"borrow", PARAM_BOOL, "true", 0, 0, "", NULL,
                "whether one may hold more than its guarantee; false: jobs beyond it wait"},
};

FAIR_POLICY(policy_quota, "quota",
            "Guaranteed GPUs, lent while idle and taken back by preemption; of equal ones who was served longest ago, "
            "then by name",
            "Hadoop's Capacity Scheduler (guaranteed capacity, elasticity, preemption); Jeon et al., ATC'19 (quotas of "
            "virtual clusters)",
            quota_params, quota_init);
