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

enum param_of { BY, SHARES, BORROW, FILL, PREEMPT, QUANTUM };

static int quota_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    if (!v[BORROW].b && v[SHARES].s[0] == '\0')
        return error_set(
            err, BRAID_BAD_INPUT,
            "borrow: false needs guarantees, else no job could start; name a file of shares, or leave it out");
    return fair_setup(self, s,
                      &(struct fair_rules){.measure = FAIR_GUARANTEE,
                                           .by = fair_by_of(v[BY].s),
                                           .fill = fair_fill_of(v[FILL].s),
                                           .preempt = fair_preempt_of(v[PREEMPT].s),
                                           .quantum_ns = v[QUANTUM].i,
                                           .may_borrow = v[BORROW].b,
                                           .shares_path = v[SHARES].s},
                      err);
}

static const struct param_spec quota_params[] = {
    [BY] = FAIR_PARAM_BY("vc", "user|vc|vc_user"),
    [SHARES] = FAIR_PARAM_SHARES,
    [BORROW] = {"borrow", PARAM_BOOL, "true", 0, 0, "", NULL,
                "whether one may hold more than its guarantee; false: jobs beyond it wait"},
    [FILL] = FAIR_PARAM_FILL,
    [PREEMPT] = FAIR_PARAM_PREEMPT("when_better"),
    [QUANTUM] = FAIR_PARAM_QUANTUM,
};

FAIR_POLICY(policy_quota, "quota", "Guaranteed GPUs, lent while idle and taken back by preemption",
            "Hadoop's Capacity Scheduler (guaranteed capacity, elasticity, preemption); Jeon et al., ATC'19 (quotas of "
            "virtual clusters)",
            quota_params, quota_init);
