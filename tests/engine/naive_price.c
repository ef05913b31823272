/* naive_price.c - proportional_price where GPUs alone are limited, from the head of policies/proportional_price.c. */
#include "tests/engine/naive_shares.h"

#include <math.h>
#include <string.h>

static const double PRICE_LEAST = 1e-12;

struct tenant {
    bool is_in;      /* it had GPUs when the queue was last asked */
    bool is_paid;    /* while it has */
    bool is_out;     /* displaced in this round */
    uint64_t number; /* of its start */
};

static struct tenant tenants[NAIVE_JOBS];
static double price[NAIVE_VCS];
static bool has_price[NAIVE_VCS];
static int64_t next_period[NAIVE_VCS];
static uint64_t n_numbers;

static const struct naive_market *market_of(const struct world *w)
{
    return (const struct naive_market *)w->c->rules;
}

void naive_price_begin(struct world *w)
{
    naive_market_begin(w);
    memset(tenants, 0, sizeof tenants);
    memset(price, 0, sizeof price);
    memset(has_price, 0, sizeof has_price);
    memset(next_period, 0, sizeof next_period);
    n_numbers = 0;
}

static bool is_ours(const struct world *w, uint32_t j, int queue, int user)
{
    return naive_queue_of(w, j) == queue && (user < 0 || w->c->jobs[j].user == user);
}

static bool waits(const struct world *w, uint32_t j)
{
    return w->jobs[j].is == WAITING && !tenants[j].is_out;
}

static double cost(const struct world *w, uint32_t j, int queue)
{
    return price[queue] * w->c->jobs[j].gpus;
}

/* Of a user's jobs that have GPUs, those displaced in this round too. */
static double rent_of(const struct world *w, int queue, int user, bool is_paid)
{
    double sum = 0;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (is_ours(w, j, queue, user) && (w->jobs[j].is == RUNNING || tenants[j].is_out) &&
            tenants[j].is_paid == is_paid)
            sum += cost(w, j, queue);
    return sum;
}

static void settle_rents(const struct world *w, int queue)
{
    for (int u = 0; u < NAIVE_USERS; u++)
        *naive_rent(queue, u) = rent_of(w, queue, u, true);
}

static double means(const struct world *w, int queue, int user)
{
    return naive_income(w, user) + *naive_balance(queue, user) / ((double)market_of(w)->ahead / 1e9);
}

static bool is_within(double a, double b)
{
    return !naive_less(b, a, false);
}

static double supply_of(const struct world *w, int queue)
{
    uint32_t all = 0;
    for (uint32_t i = w->first_node[queue]; i < w->end_node[queue]; i++)
        all += w->c->gpus[i];
    return w->c->n_vcs > 0 && w->c->vcs[queue].is_quota && w->quota[queue] < all ? w->quota[queue] : all;
}

/* ---- a period -------------------------------------------------------------------------------------------------- */

/* GPUs that the user would rent at this price; its running jobs are paid as far as that goes. */
static double review(const struct world *w, int queue, int user)
{
    double have = means(w, queue, user), rent = 0, gpus = 0;
    bool can_pay = true, was_paid[NAIVE_JOBS];
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        was_paid[j] = tenants[j].is_paid;
    for (int pass = 0; pass < 2; pass++) { /* those that are paid for, then the others */
        uint64_t after = 0;
        for (;;) {
            int next = -1;
            for (uint32_t j = 0; j < w->c->n_jobs; j++)
                if (is_ours(w, j, queue, user) && w->jobs[j].is == RUNNING && was_paid[j] == (pass == 0) &&
                    tenants[j].number > after && (next < 0 || tenants[j].number < tenants[next].number))
                    next = (int)j;
            if (next < 0)
                break;
            after = tenants[next].number;
            can_pay = can_pay && is_within(rent + cost(w, (uint32_t)next, queue), have);
            tenants[next].is_paid = can_pay;
            rent += can_pay ? cost(w, (uint32_t)next, queue) : 0;
            gpus += can_pay ? w->c->jobs[next].gpus : 0;
        }
    }
    for (uint32_t j = 0; j < w->c->n_jobs && can_pay; j++) {
        if (!is_ours(w, j, queue, user) || !waits(w, j))
            continue;
        rent += cost(w, j, queue);
        can_pay = is_within(rent, have) && w->c->jobs[j].gpus <= supply_of(w, queue);
        gpus += can_pay ? w->c->jobs[j].gpus : 0;
    }
    return gpus;
}

static void hold_period(const struct world *w, int queue)
{
    double wanted = 0, supply = supply_of(w, queue);
    for (int u = 0; u < NAIVE_USERS; u++)
        wanted += review(w, queue, u);
    if (supply <= 0)
        return;
    price[queue] *= 1 + market_of(w)->step * fmin(1, wanted / supply - 1);
    price[queue] = fmax(price[queue], PRICE_LEAST);
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

static bool start(struct world *w, uint32_t j, bool is_paid)
{
    if (!naive_start(w, j))
        return false;
    tenants[j] = (struct tenant){.is_in = true, .is_paid = is_paid, .number = ++n_numbers};
    return true;
}

/* Unpaid jobs that did not start at this very instant give way, the latest started first, until it fits; who is not in the way stays. */
static bool displace(struct world *w, int queue, uint32_t claimant)
{
    uint64_t before = UINT64_MAX;
    bool is_any = false, is_in = false;
    for (;;) {
        uint32_t free[NAIVE_NODES];
        int latest = -1;
        naive_free_now(w, free);
        if (naive_would_fit(w, naive_vc_of(w, claimant), w->c->jobs[claimant].gpus, free))
            break;
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            if (is_ours(w, j, queue, -1) && w->jobs[j].is == RUNNING && !tenants[j].is_paid &&
                tenants[j].number < before && w->jobs[j].safe_from < w->now &&
                (latest < 0 || tenants[j].number > tenants[latest].number))
                latest = (int)j;
        if (latest < 0)
            break;
        before = tenants[latest].number;
        naive_give_back(w, (uint32_t)latest);
        w->jobs[latest].is = WAITING;
        tenants[latest].is_out = true;
        is_any = true;
    }
    is_in = is_any && start(w, claimant, true);
    for (bool is_next = is_any; is_next;) {
        int latest = -1;
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            if (is_ours(w, j, queue, -1) && tenants[j].is_out && tenants[j].is_in &&
                (latest < 0 || tenants[j].number > tenants[latest].number))
                latest = (int)j;
        is_next = latest >= 0;
        if (!is_next)
            break;
        tenants[latest].is_in = false; /* looked at */
        if (naive_go_back(w, (uint32_t)latest))
            tenants[latest].is_out = false;
    }
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        tenants[j].is_in |= is_ours(w, j, queue, -1) && (tenants[j].is_out || w->jobs[j].is == RUNNING);
    return is_in;
}

/* One job at a time of the user who has most left for its weight. */
static void fill(struct world *w, int queue, bool is_paid, bool may_displace)
{
    bool is_done[NAIVE_USERS] = {0};
    for (;;) {
        int best = -1, job = -1;
        double most = 0;
        for (int u = 0; u < NAIVE_USERS; u++) {
            int first = -1;
            for (uint32_t j = w->c->n_jobs; j-- > 0;)
                first = is_ours(w, j, queue, u) && waits(w, j) ? (int)j : first;
            if (is_done[u] || first < 0)
                continue;
            double left = means(w, queue, u) - rent_of(w, queue, u, true) - (is_paid ? 0 : rent_of(w, queue, u, false));
            left /= market_of(w)->weight[u];
            if (best < 0 || naive_less(most, left, true) || (most == left && first < job)) {
                best = u;
                most = left;
                job = first;
            }
        }
        if (best < 0)
            return;
        uint32_t j = (uint32_t)job;
        bool can_pay = !is_paid || is_within(rent_of(w, queue, best, true) + cost(w, j, queue), means(w, queue, best));
        if (!can_pay || (!start(w, j, is_paid) && !(may_displace && displace(w, queue, j))))
            is_done[best] = true;
    }
}

static bool is_next_of_use(struct world *w, int queue)
{
    bool any_runs = false, any_waits = false, any_lacks = false;
    uint32_t free[NAIVE_NODES];
    naive_free_now(w, free);
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (!is_ours(w, j, queue, -1))
            continue;
        if (tenants[j].is_out)
            return true;
        any_runs |= w->jobs[j].is == RUNNING;
        any_waits |= waits(w, j);
    }
    for (int u = 0; u < NAIVE_USERS; u++)
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            if (is_ours(w, j, queue, u) && waits(w, j)) {
                any_lacks |= !is_within(cost(w, j, queue), means(w, queue, u)) &&
                             naive_would_fit(w, queue, w->c->jobs[j].gpus, free);
                break;
            }
    return any_runs ? any_waits : any_lacks && !market_of(w)->has_leftover;
}

void naive_price_schedule(struct world *w, int queue)
{
    const struct naive_market *m = market_of(w);
    bool is_period = w->now >= next_period[queue];
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (!is_ours(w, j, queue, -1) || !tenants[j].is_in || w->jobs[j].is == RUNNING)
            continue;
        tenants[j] = (struct tenant){0}; /* its quota took its GPUs */
        if (w->jobs[j].is == WAITING && !is_period && next_period[queue] < w->alarm[queue])
            w->alarm[queue] = next_period[queue];
    }
    if (!has_price[queue] && naive_is_any_waiting(w, queue) && supply_of(w, queue) > 0) {
        double income = 0;
        for (int u = 0; u < NAIVE_USERS; u++)
            for (uint32_t j = 0; j < w->c->n_jobs; j++)
                if (is_ours(w, j, queue, u) && waits(w, j)) {
                    income += naive_income(w, u);
                    break;
                }
        price[queue] = fmax(income / supply_of(w, queue), PRICE_LEAST);
        has_price[queue] = true;
    }
    if (is_period) {
        if (naive_is_any_waiting(w, queue))
            hold_period(w, queue);
        next_period[queue] = (w->now / m->period + 1) * m->period;
    }
    fill(w, queue, true, is_period && m->may_displace);
    if (m->has_leftover)
        fill(w, queue, false, false);
    settle_rents(w, queue);
    if (is_next_of_use(w, queue) && next_period[queue] < w->alarm[queue])
        w->alarm[queue] = next_period[queue];
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (tenants[j].is_out) {
            tenants[j] = (struct tenant){0};
            naive_queue_again(w, j);
        }
}
