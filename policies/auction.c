/* auction.c - free GPUs are sold by sealed bids, the price is what the others would have paid.
 *
 *   value of a job, per GPU    1 + waited / patience + importance x priority      (it grows at the same pace for all)
 *   bid of a user, per GPU     the value of its most valuable job that fits, at most its budget / the GPUs
 *
 * An auction is held as often as GPUs are free and somebody bids. Bids are taken from the highest down (ties: the earlier job); who still
 * fits wins. A winner pays, per GPU, the bid of the first of the others with whom it would no longer fit: the least bid with which it
 * would have won. Nobody there: the reserve. So a bid decides who wins, never what the winner pays, and to say something else than
 * the true value gains nothing (Lehmann, O'Callaghan and Shoham, J. ACM 49(5), 2002: greedy, critical payments; with one thing to sell it is
 * Vickrey's second price). A price is never above the bid, a bid never above the budget.
 *
 *   6 GPUs free      ann  4 GPUs, bids 5 each    wins; without her bob would come first, and beside his 3 she does not fit: pays 4 each
 *                    bob  3 GPUs, bids 4 each    2 are left: too few
 *                    cem  2 GPUs, bids 2 each    wins; without him ann would win as well and nobody else fit: pays the reserve
 *
 * Bids compete by counts of GPUs. Who fits by count and finds no place in the nodes that are left is struck off the list, and is nobody's price
 * from then on. What shapes the nodes have is not known before, so with shapes in play truth is only nearly the best.
 *
 * Each user bids for one job at a time: of its classes (demand, virtual cluster) it asks the most valuable job of each. Budgets come in
 * by weight (market.h). Nothing is preempted; a job pays once. A wide job can wait long while narrow ones pass it, as under fifo_skip.
 * An auction looks at the heads of all classes of all users who wait: that is what an auction is.
 */
#include "policies/instant.h"
#include "policies/jobset.h"
#include "policies/market.h"

#include <braid/error.h>
#include <stdlib.h>
#include <string.h>

/* The waiting jobs of one user and class. */
struct lot {
    struct jobset jobs; /* by when they would have been submitted without importance: the most valuable first */
    uint32_t user, class;
    uint32_t next;  /* of the same slot of the table */
    uint32_t place; /* in the list of lots that are not empty; LOT_NONE */
};

#define LOT_NONE UINT32_MAX

struct bid {
    double each; /* money a GPU */
    uint32_t user, job, gpus, lot;
    bool is_struck; /* the nodes had no shape for it */
};

struct auction {
    struct market market;
    struct jobset_pool pool;
    double importance, reserve, patience_s;
    int64_t patience_ns;
    struct lot *lots;
    uint32_t n_lots, lots_room;
    uint32_t *slots, n_slots; /* lots by hash of user and class; a power of two */
    uint32_t *open, n_open;   /* lots that are not empty */
    struct bid *bids;         /* one a user */
    uint32_t *bid_of;         /* by user: 1 + its bid in this auction */
    uint32_t *fits;           /* by class: 2 x tick + whether it fits in this auction */
    uint32_t tick;
    double last_price;
};

/* ---- lots ---- */

static uint32_t class_of(const struct sched *s, uint32_t job)
{
    return sched_demand(s, job) * sched_n_vcs(s) + sched_vc(s, job);
}

static bool lots_grow(struct auction *a, struct sched *s)
{
    uint32_t room = a->lots_room * 2 + 64, n_slots = room * 2;
    while (n_slots & (n_slots - 1))
        n_slots += n_slots & -n_slots;
    struct lot *lots = sched_alloc(s, room, sizeof *lots);
    uint32_t *slots = sched_alloc(s, n_slots, sizeof *slots), *open = sched_alloc(s, room, sizeof *open);
    if (lots == NULL || slots == NULL || open == NULL)
        return false;
    if (a->n_lots > 0)
        memcpy(lots, a->lots, a->n_lots * sizeof *lots);
    if (a->n_open > 0)
        memcpy(open, a->open, a->n_open * sizeof *open);
    for (uint32_t i = 0; i < n_slots; i++)
        slots[i] = LOT_NONE;
    for (uint32_t i = 0; i < a->n_lots; i++) {
        uint32_t slot = (lots[i].user * 0x9e3779b1u ^ lots[i].class * 0x85ebca77u) & (n_slots - 1);
        lots[i].next = slots[slot];
        slots[slot] = i;
    }
    a->lots = lots;
    a->lots_room = room;
    a->slots = slots;
    a->n_slots = n_slots;
    a->open = open;
    return true;
}

/* The lot of a job, made when it is the first; LOT_NONE: memory is out. */
static uint32_t lot_of(struct auction *a, struct sched *s, uint32_t job)
{
    uint32_t user = sched_user(s, job), class = class_of(s, job);
    uint32_t hash = user * 0x9e3779b1u ^ class * 0x85ebca77u;
    if (a->n_lots == a->lots_room && !lots_grow(a, s))
        return LOT_NONE;
    uint32_t *slot = &a->slots[hash & (a->n_slots - 1)];
    for (uint32_t i = *slot; i != LOT_NONE; i = a->lots[i].next)
        if (a->lots[i].user == user && a->lots[i].class == class)
            return i;
    struct lot *lot = &a->lots[a->n_lots];
    *lot = (struct lot){.user = user, .class = class, .next = *slot, .place = LOT_NONE};
    jobset_init(&lot->jobs, &a->pool);
    *slot = a->n_lots;
    return a->n_lots++;
}

/* A job's value at `now` is 1 + (now - key) / patience. */
static int64_t key_of(const struct auction *a, const struct sched *s, uint32_t job)
{
    double ahead = a->importance * sched_priority(s, job) * (double)a->patience_ns;
    ahead = ahead > 4e18 ? 4e18 : ahead < -4e18 ? -4e18 : ahead;
    int64_t key;
    return __builtin_sub_overflow(sched_submit_ns(s, job), (int64_t)ahead, &key) ? INT64_MAX : key;
}

static void lot_push(struct auction *a, struct sched *s, uint32_t job)
{
    uint32_t i = lot_of(a, s, job);
    if (i == LOT_NONE || !jobset_insert(&a->lots[i].jobs, key_of(a, s, job), job, 0))
        return; /* memory is out: the run fails */
    if (a->lots[i].place == LOT_NONE) {
        a->lots[i].place = a->n_open;
        a->open[a->n_open++] = i;
    }
}

static void lot_take(struct auction *a, uint32_t i, int64_t key, uint32_t job)
{
    struct lot *lot = &a->lots[i];
    jobset_erase(&lot->jobs, key, job);
    if (lot->jobs.count > 0)
        return;
    uint32_t last = a->open[--a->n_open]; /* the order of the open lots decides nothing */
    a->open[lot->place] = last;
    a->lots[last].place = lot->place;
    lot->place = LOT_NONE;
}

/* ---- an auction ---- */

static double value_of(const struct auction *a, const struct sched *s, int64_t key)
{
    double value = 1 + (double)((__int128)sched_now(s) - key) * 1e-9 / a->patience_s;
    return value > 0 ? value : 0;
}

static bool class_fits(struct auction *a, struct sched *s, uint32_t class, uint32_t job)
{
    if (a->fits[class] >> 1 != a->tick)
        a->fits[class] = a->tick << 1 | (sched_probe(s, job) == SCHED_OK);
    return a->fits[class] & 1;
}

/* Gather one bid a user: that of its most valuable job which fits and for which it can pay the reserve. */
static uint32_t gather(struct auction *a, struct sched *s)
{
    uint32_t n = 0, free_gpus = sched_free_gpus(s);
    a->tick++;
    for (uint32_t k = 0; k < a->n_open; k++) {
        const struct lot *lot = &a->lots[a->open[k]];
        const struct jobset_node *head = jobset_node(&lot->jobs, lot->jobs.first);
        uint32_t gpus = sched_gpus(s, head->job);
        double each = market_balance(&a->market, s, lot->user) / gpus, value = value_of(a, s, head->key);
        each = value < each ? value : each;
        if (gpus > free_gpus || each < a->reserve || !class_fits(a, s, lot->class, head->job))
            continue;
        uint32_t *mine = &a->bid_of[lot->user];
        struct bid bid = {each, lot->user, head->job, gpus, a->open[k], false};
        if (*mine == 0) {
            *mine = ++n;
            a->bids[n - 1] = bid;
            continue;
        }
        const struct bid *other = &a->bids[*mine - 1];
        int64_t other_key = key_of(a, s, other->job);
        if (head->key < other_key || (head->key == other_key && head->job < other->job))
            a->bids[*mine - 1] = bid;
    }
    for (uint32_t i = 0; i < n; i++)
        a->bid_of[a->bids[i].user] = 0;
    return n;
}

static int bid_compare(const void *a, const void *b)
{
    const struct bid *x = a, *y = b;
    if (x->each != y->each)
        return x->each > y->each ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* What bidder `k` of `n` (from the highest down) has to pay a GPU when `free_gpus` are sold: go through the others that are not struck as if it were
 * not there, until it would no longer fit. */
static double critical(const struct auction *a, uint32_t n, uint32_t k, uint32_t free_gpus)
{
    uint32_t left = free_gpus;
    for (uint32_t i = 0; i < n; i++) {
        if (i == k || a->bids[i].is_struck || a->bids[i].gpus > left)
            continue;
        left -= a->bids[i].gpus;
        if (left < a->bids[k].gpus) {
            double price = a->bids[i].each < a->bids[k].each ? a->bids[i].each : a->bids[k].each;
            return price > a->reserve ? price : a->reserve;
        }
    }
    return a->reserve;
}

/* Hold one; the number of jobs that were started. */
static uint32_t auction_hold(struct auction *a, struct sched *s)
{
    uint32_t free_gpus = sched_free_gpus(s), n = free_gpus > 0 ? gather(a, s) : 0, n_won = 0;
    if (n == 0)
        return 0;
    qsort(a->bids, n, sizeof *a->bids, bid_compare);
    for (uint32_t k = 0, left = free_gpus; k < n; k++) {
        struct bid *b = &a->bids[k];
        if (b->gpus > left)
            continue;
        double price = critical(a, n, k, free_gpus);
        sched_because(s, "bids %.6g a GPU, pays %.6g", b->each, price);
        if (sched_start(s, b->job) != SCHED_OK) {
            b->is_struck = true;
            continue;
        }
        left -= b->gpus;
        n_won++;
        market_pay(&a->market, s, b->user, price * b->gpus);
        a->last_price = price;
        lot_take(a, b->lot, key_of(a, s, b->job), b->job);
    }
    return n_won;
}

/* ---- callbacks ---- */

enum param_of { SHARES, INCOME, SAVE, PATIENCE, IMPORTANCE, RESERVE };

static int auction_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct auction *a = self;
    uint64_t classes = (uint64_t)sched_n_demands(s) * sched_n_vcs(s);
    int status = market_init(&a->market, s, v[SHARES].s, v[INCOME].f, v[SAVE].i, err);
    if (status != BRAID_OK)
        return status;
    a->patience_ns = v[PATIENCE].i;
    a->patience_s = (double)v[PATIENCE].i * 1e-9;
    a->importance = v[IMPORTANCE].f;
    a->reserve = v[RESERVE].f;
    jobset_pool_init(&a->pool, s);
    a->bids = sched_alloc(s, a->market.n_users, sizeof *a->bids);
    a->bid_of = sched_alloc(s, a->market.n_users, sizeof *a->bid_of);
    a->fits = classes <= UINT32_MAX ? sched_alloc(s, classes, sizeof *a->fits) : NULL;
    if (a->bids == NULL || a->bid_of == NULL || a->fits == NULL || !lots_grow(a, s))
        return error_set(err, BRAID_FAILED, "out of memory");
    return BRAID_OK;
}

static void auction_on_submit(void *self, struct sched *s, uint32_t job)
{
    lot_push(self, s, job);
}

static void auction_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    (void)why; /* never its own hand: it bids again */
    lot_push(self, s, job);
}

/* When the first user can pay the reserve for a job that waits: nothing else may ever happen again. */
static void set_alarm(struct auction *a, struct sched *s)
{
    int64_t when = SCHED_NEVER;
    for (uint32_t k = 0; k < a->n_open; k++) {
        const struct lot *lot = &a->lots[a->open[k]];
        const struct jobset_node *head = jobset_node(&lot->jobs, lot->jobs.first);
        const struct account *account = &a->market.accounts[lot->user];
        double cost = a->reserve * sched_gpus(s, head->job), wait_s = 0, value = value_of(a, s, head->key);
        if (market_balance(&a->market, s, lot->user) < cost)
            wait_s = (cost - account->balance) / account->income;
        if (value < a->reserve && (a->reserve - value) * a->patience_s > wait_s)
            wait_s = (a->reserve - value) * a->patience_s;
        if (wait_s > 0 && wait_s < 9e9) {
            int64_t then = instant_after(sched_now(s), (int64_t)(wait_s * 1e9) + 1000);
            when = then < when ? then : when;
        }
    }
    if (when != SCHED_NEVER)
        sched_wake_at(s, when);
}

/* All jobs of a lot cost the same: those that their user can never save the reserve for are refused, or they would wait for ever. */
static void reject_hopeless(struct auction *a, struct sched *s)
{
    for (uint32_t k = a->n_open; k-- > 0;) { /* from behind: a lot that empties is replaced by the last one */
        uint32_t i = a->open[k];
        struct jobset *jobs = &a->lots[i].jobs;
        while (jobs->first != JOBSET_NONE) {
            const struct jobset_node head = *jobset_node(jobs, jobs->first);
            if (a->reserve * sched_gpus(s, head.job) <= a->market.accounts[a->lots[i].user].limit ||
                sched_reject(s, head.job, "reserve_beyond_savings") != SCHED_OK)
                break;
            lot_take(a, i, head.key, head.job);
        }
    }
}

static void auction_schedule(void *self, struct sched *s)
{
    struct auction *a = self;
    if (a->reserve > 0)
        reject_hopeless(a, s);
    while (a->n_open > 0 && auction_hold(a, s) > 0)
        ;
    if (a->reserve > 0)
        set_alarm(a, s);
    sched_observe(s, "price", a->last_price);
    market_observe(&a->market, s);
}

static const struct param_spec auction_params[] = {
    [SHARES] = MARKET_PARAM_SHARES,
    [INCOME] = MARKET_PARAM_INCOME,
    [SAVE] = MARKET_PARAM_SAVE,
    [PATIENCE] = {"patience", PARAM_TIME, "1 h", 1e-3, 1e9, "s", NULL,
                  "after waiting so long a GPU is worth one more to a job"},
    [IMPORTANCE] = {"importance", PARAM_NUMBER, "0", 0, 1e6, "", NULL,
                    "what a step of the trace's priority is worth, a GPU"},
    [RESERVE] = {"reserve", PARAM_NUMBER, "0", 0, 1e6, "", NULL,
                 "least price of a GPU; a job for which its user can never save that much is rejected "
                 "(reserve_beyond_savings)"},
};

const struct policy_ops policy_auction = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "auction",
    .summary = "Users bid for free GPUs by urgency and budget; the winner pays the second price",
    .source = "Vickrey, J. of Finance 16(1), 1961; Lehmann, O'Callaghan and Shoham, J. ACM 49(5), 2002, greedy with "
              "critical payments",
    .knows = KNOWS_NOTHING,
    .scope = SCOPE_VC,
    .params = auction_params,
    .n_params = sizeof auction_params / sizeof *auction_params,
    .state_size = sizeof(struct auction),
    .init = auction_init,
    .on_submit = auction_on_submit,
    .on_requeue = auction_on_requeue,
    .schedule = auction_schedule,
};
