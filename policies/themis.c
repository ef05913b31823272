/* themis.c - the parts of time that make the worst finish-time fairness as good as can be, and leases that follow them.
 *
 * At each round finish_time.h gives every job its part x of the time. A job that waits is owed x for each second, one that runs pays a second for
 * it (its debt is never more than a lease); who is owed most by the end of the lease to come goes first. A job that came since the last round is
 * owed nothing yet; while GPUs are free it goes first as if it had been.
 */
#include "policies/themis.h"

static int64_t rank_new(const struct themis *t, const struct themis_job *j)
{
    return themis_key(j->credit + (double)t->term_ns);
}

static void rank_jobs(struct themis *t, struct sched *s)
{
    double capacity = sched_capacity_gpus(s);
    finish_time_solve(t->f, t->n_live, capacity > 0 ? capacity : 1);
    for (uint32_t i = 0; i < t->n_live; i++)
        t->live[i].x = t->f[i].x;
    for (uint32_t k = 0; k < t->n_order; k++) {
        struct themis_job *j = &t->live[t->order[k]];
        j->key = themis_key(j->credit + j->x * (double)t->term_ns);
    }
}

static const struct themis_rule rule = {rank_jobs, rank_new};

static int themis_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    return themis_setup(self, s, &rule, v[0].i, err);
}

static const struct param_spec themis_params[] = {THEMIS_PARAM_LEASE};

THEMIS_POLICY(
    policy_themis, "themis", "Smallest worst finish-time fairness, by leases",
    "Mahajan et al., NSDI'20 (Themis), section 3; as one optimisation: Narayanan et al., OSDI'20 (Gavel), section 4.2",
    themis_params, themis_init);
