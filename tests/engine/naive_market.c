/* naive_market.c - accounts that fill as time passes, and the auction, from what policies/market.h and policies/auction.c say. */
#include "tests/engine/naive_shares.h"

#include <math.h>
#include <string.h>

static double balance[NAIVE_VCS][NAIVE_USERS], rent[NAIVE_VCS][NAIVE_USERS];

static const struct naive_market *market_of(const struct world *w)
{
    return (const struct naive_market *)w->c->rules;
}

/* Money a second. */
double naive_income(const struct world *w, int user)
{
    return market_of(w)->income * market_of(w)->weight[user] / 3600;
}

static double limit_of(const struct world *w, int user)
{
    return naive_income(w, user) * ((double)market_of(w)->save / 1e9);
}

void naive_market_begin(struct world *w)
{
    for (int q = 0; q < NAIVE_VCS; q++)
        for (int u = 0; u < NAIVE_USERS; u++)
            balance[q][u] = limit_of(w, u);
    memset(rent, 0, sizeof rent);
}

void naive_market_pass(struct world *w, int64_t ns)
{
    for (int q = 0; q < NAIVE_VCS; q++)
        for (int u = 0; u < NAIVE_USERS; u++)
            balance[q][u] =
                fmin(limit_of(w, u), fmax(0, balance[q][u] + (naive_income(w, u) - rent[q][u]) * ((double)ns / 1e9)));
}

double *naive_balance(int queue, int user)
{
    return &balance[queue][user];
}

double *naive_rent(int queue, int user)
{
    return &rent[queue][user];
}

/* ---- the auction ------------------------------------------------------------------------------------------- */

struct offer {
    uint32_t job, gpus;
    double each;
    bool is_struck;
};

/* What a GPU is worth to a job. */
static double worth(const struct world *w, uint32_t j)
{
    const struct naive_job *job = &w->c->jobs[j];
    double waited = (double)(w->now - job->submit) / (double)market_of(w)->patience;
    return fmax(0, 1 + waited + market_of(w)->importance * job->priority);
}

static bool is_waiting(const struct world *w, uint32_t j, int queue)
{
    return w->jobs[j].is == WAITING && naive_queue_of(w, j) == queue;
}

/* The worth without its bottom: what tells which job of a user is the most valuable. */
static bool is_more(const struct world *w, uint32_t a, uint32_t b)
{
    const struct naive_job *x = &w->c->jobs[a], *y = &w->c->jobs[b];
    double per = (double)market_of(w)->patience * market_of(w)->importance;
    double since_x = (double)x->submit - per * x->priority, since_y = (double)y->submit - per * y->priority;
    return since_x != since_y ? since_x < since_y : a < b;
}

static double offered(const struct world *w, uint32_t j, int queue)
{
    double budget = balance[queue][w->c->jobs[j].user] / w->c->jobs[j].gpus;
    return naive_less(worth(w, j), budget, true) ? worth(w, j) : budget;
}

/* One a user: its most valuable job that fits and for which it can pay the reserve; the highest first. */
static uint32_t gather(struct world *w, int queue, struct offer out[NAIVE_USERS])
{
    uint32_t n = 0, free[NAIVE_NODES];
    naive_free_now(w, free);
    for (int u = 0; u < NAIVE_USERS; u++) {
        int best = -1;
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            if (is_waiting(w, j, queue) && w->c->jobs[j].user == u &&
                !naive_less(offered(w, j, queue), market_of(w)->reserve, false) &&
                naive_would_fit(w, queue, w->c->jobs[j].gpus, free) && (best < 0 || is_more(w, j, (uint32_t)best)))
                best = (int)j;
        if (best < 0)
            continue;
        struct offer o = {(uint32_t)best, w->c->jobs[best].gpus, offered(w, (uint32_t)best, queue), false};
        uint32_t k = n++;
        for (; k > 0 &&
               (naive_less(out[k - 1].each, o.each, true) || (out[k - 1].each == o.each && out[k - 1].job > o.job));
             k--)
            out[k] = out[k - 1];
        out[k] = o;
    }
    return n;
}

/* The first of the others with whom it would no longer fit sets the price. */
static double price_of(const struct world *w, const struct offer *offers, uint32_t n, uint32_t mine, uint32_t gpus)
{
    double reserve = market_of(w)->reserve;
    uint32_t left = gpus;
    for (uint32_t k = 0; k < n; k++) {
        if (k == mine || offers[k].is_struck || offers[k].gpus > left)
            continue;
        left -= offers[k].gpus;
        if (left < offers[mine].gpus)
            return fmax(reserve, fmin(offers[k].each, offers[mine].each));
    }
    return reserve;
}

static bool hold(struct world *w, int queue)
{
    struct offer offers[NAIVE_USERS];
    uint32_t free[NAIVE_NODES], n = gather(w, queue, offers);
    bool is_any = false;
    naive_free_now(w, free);
    uint32_t gpus = naive_free_for(w, queue, free), left = gpus;
    for (uint32_t k = 0; k < n; k++) {
        if (offers[k].gpus > left)
            continue;
        double price = price_of(w, offers, n, k, gpus);
        if (!naive_start(w, offers[k].job)) {
            offers[k].is_struck = true;
            continue;
        }
        double *mine = &balance[queue][w->c->jobs[offers[k].job].user];
        *mine -= fmin(*mine, price * offers[k].gpus);
        left -= offers[k].gpus;
        is_any = true;
    }
    return is_any;
}

/* When the first of those that wait can pay the reserve and is worth it; after the instant itself, by a microsecond. */
static void set_alarm(struct world *w, int queue)
{
    double reserve = market_of(w)->reserve;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (!is_waiting(w, j, queue))
            continue;
        int user = w->c->jobs[j].user;
        double lacks = reserve * w->c->jobs[j].gpus - balance[queue][user], wait = 0;
        if (lacks > 0)
            wait = lacks / naive_income(w, user);
        wait = fmax(wait, (reserve - worth(w, j)) * ((double)market_of(w)->patience / 1e9));
        if (wait <= 0)
            continue;
        int64_t at = w->now + (int64_t)(wait * 1e9) + 1000;
        if (fabs(wait * 1e9 - nearbyint(wait * 1e9)) < 1e-3)
            naive_close_mark(); /* the nanosecond may be the next one */
        w->alarm[queue] = at < w->alarm[queue] ? at : w->alarm[queue];
    }
}

void naive_auction_schedule(struct world *w, int queue)
{
    double reserve = market_of(w)->reserve;
    for (uint32_t j = 0; j < w->c->n_jobs && reserve > 0; j++) {
        struct state *s = &w->jobs[j];
        if (!is_waiting(w, j, queue) || reserve * w->c->jobs[j].gpus <= limit_of(w, w->c->jobs[j].user))
            continue;
        s->is = GONE;
        s->end = w->now;
        s->status = N_REJECTED;
        s->reason = "reserve_beyond_savings";
    }
    while (hold(w, queue))
        continue;
    if (reserve > 0)
        set_alarm(w, queue);
}
