/* themis_auction.c - GPUs whose leases are over are put up for auction among the jobs that are worst off.
 *
 *   rank     by rho as if the job had its GPUs from now on
 *   offer    to the worst-off part 1 - fairness of the jobs without a lease, at least one
 *   bid      how much better the job's rho is with GPUs than after one more lease without: (age + lease + remaining) / (age + remaining)
 *   win      partial_auction.h; with `payments` a winner's lease ends when it has kept its part of it
 *   rest     what is left over goes to the others, the worst off first (the paper: to any)
 *
 * Jobs are rigid here, so a bid is for all its GPUs or none; a place for a winner is not certain where nodes are fragmented. Each job is an
 * app of the paper. At most `BIDS_CELLS` GPUs times bidders are computed: beyond, the worst off bid.
 */
#include "policies/instant.h"
#include "policies/partial_auction.h"
#include "policies/themis.h"

#include <math.h>
#include <stdlib.h>

enum { BIDS_CELLS = 1 << 22 };

static const double LEAST_NS = 1e6; /* that a winner keeps: leases of nanoseconds make runs that never end */

static int64_t rank_new(const struct themis *t, const struct themis_job *j)
{
    (void)t;
    (void)j;
    return 0; /* between rounds: first come, behind those that the last one ranked */
}

/* By rho, the worst first. */
static int compare_worst(const void *a, const void *b)
{
    const struct themis_ranked *x = a, *y = b;
    if (x->rho > y->rho || x->rho < y->rho)
        return x->rho > y->rho ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* GPUs of the offer: free ones and those that are held without a lease. */
static uint32_t offered(const struct themis *t, struct sched *s)
{
    uint64_t sum = sched_free_gpus(s), capacity = sched_capacity_gpus(s);
    for (uint32_t k = 0; k < t->n_order; k++)
        sum += t->live[t->order[k]].is_running ? sched_gpus(s, t->live[t->order[k]].job) : 0;
    return (uint32_t)(sum < capacity ? sum : capacity);
}

static bool memory_grow(struct themis *t, struct sched *s, size_t room)
{
    if (room <= t->memory_room)
        return true;
    t->memory_room = room * 2;
    t->memory = sched_alloc(s, t->memory_room, sizeof *t->memory);
    return t->memory != NULL;
}

/* The number of bidders among the jobs in order; their bids are in t->bids. */
static uint32_t hold_auction(struct themis *t, struct sched *s, uint32_t gpus)
{
    double asked = ceil((1 - t->fairness) * t->n_order);
    uint32_t n = asked < 1 ? 1 : asked < t->n_order ? (uint32_t)asked : t->n_order;
    uint32_t most = BIDS_CELLS / (gpus + 1);
    uint64_t wanted = 0;
    n = n < most ? n : most > 0 ? most : 1;
    for (uint32_t k = 0; k < n; k++) {
        const struct finish_time *f = &t->f[t->order[k]];
        t->bids[k] = (struct auction_bid){.gpus = (uint32_t)f->gpus,
                                          .log_gain = log1p((double)t->term_ns / (f->age + f->remaining)),
                                          .wins = true,
                                          .keeps = 1};
        wanted += t->bids[k].gpus;
    }
    if (wanted > gpus && memory_grow(t, s, partial_auction_room(n, gpus)))
        partial_auction_solve(t->bids, n, gpus, t->memory);
    return n;
}

static void rank_jobs(struct themis *t, struct sched *s)
{
    for (uint32_t k = 0; k < t->n_order; k++)
        t->ranked[k] = (struct themis_ranked){
            .rho = finish_time_best(&t->f[t->order[k]]), .job = t->live[t->order[k]].job, .place = t->order[k]};
    qsort(t->ranked, t->n_order, sizeof *t->ranked, compare_worst);
    for (uint32_t k = 0; k < t->n_order; k++)
        t->order[k] = t->ranked[k].place;

    int64_t now = sched_now(s);
    uint32_t n_bids = hold_auction(t, s, offered(t, s));
    for (uint32_t k = 0; k < t->n_order; k++) {
        struct themis_job *j = &t->live[t->order[k]];
        bool wins = k < n_bids && t->bids[k].wins;
        j->key =
            wins ? (int64_t)k - 2 * (int64_t)t->n_order : (int64_t)k - (int64_t)t->n_order; /* all before newcomers */
        if (!wins || !t->has_payments)
            continue;
        double keeps = t->bids[k].keeps * (double)(j->lease_ns - now);
        int64_t end = instant_after(now, keeps < LEAST_NS ? (int64_t)LEAST_NS : (int64_t)keeps);
        j->lease_ns = end < j->lease_ns ? end : j->lease_ns;
    }
}

static const struct themis_rule rule = {rank_jobs, rank_new};

enum param_of { LEASE, FAIRNESS, PAYMENTS };

static int themis_auction_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct themis *t = self;
    t->fairness = v[FAIRNESS].f;
    t->has_payments = v[PAYMENTS].b;
    return themis_setup(t, s, &rule, v[LEASE].i, err);
}

static const struct param_spec themis_auction_params[] = {
    [LEASE] = THEMIS_PARAM_LEASE,
    [FAIRNESS] = {"fairness", PARAM_NUMBER, "0.8", 0, 1, "", NULL,
                  "the part of the jobs that is not asked; 1: only the worst off, 0: all"},
    [PAYMENTS] = {"payments", PARAM_BOOL, "true", 0, 0, "", NULL,
                  "whether winners give up part of their lease for what their win takes from others"},
};

THEMIS_POLICY(policy_themis_auction, "themis_auction",
              "Auctions of GPUs to the worst off in finish-time fairness, by leases",
              "Mahajan et al., NSDI'20 (Themis), sections 4 and 5", themis_auction_params, themis_auction_init);
