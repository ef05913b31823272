/* naive_themis.c - themis and themis_auction, from what policies/themis.h, themis.c, themis_auction.c, finish_time.h and partial_auction.h say.
 * Time that jobs are due and had is summed second by second.
 */
#include "tests/engine/naive_shares.h"

#include <math.h>
#include <string.h>

struct account {
    bool is_known;
    bool has_lease;
    int64_t lease_end;
    double key;       /* the smaller the sooner, of equal ones the earlier job */
    double x;         /* the part of time that it is due */
    double due, had;  /* since the last round */
    double credit;    /* of all rounds */
    double jobs_time; /* sum over seconds since the last round of the jobs in the queue */
    double seconds;   /* since the last round, ns */
    double ideal_done;
    double left; /* remaining at the last round */
};

static struct account accounts[NAIVE_JOBS];

static const struct naive_themis *themis_of(const struct world *w)
{
    return (const struct naive_themis *)w->c->rules;
}

void naive_themis_begin(struct world *w)
{
    (void)w;
    memset(accounts, 0, sizeof accounts);
}

static bool is_here(const struct world *w, uint32_t j, int queue)
{
    return naive_queue_of(w, j) == queue && (w->jobs[j].is == WAITING || w->jobs[j].is == RUNNING);
}

static uint32_t n_here(const struct world *w, int queue)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        n += is_here(w, j, queue);
    return n;
}

void naive_themis_pass(struct world *w, int64_t ns)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct account *a = &accounts[j];
        if (w->jobs[j].is != WAITING && w->jobs[j].is != RUNNING)
            continue;
        a->due += a->x * (double)ns;
        a->had += w->jobs[j].is == RUNNING ? (double)ns : 0;
        a->jobs_time += (double)n_here(w, naive_queue_of(w, j)) * (double)ns;
        a->seconds += (double)ns;
    }
}

static int64_t next_multiple(const struct world *w)
{
    int64_t lease = themis_of(w)->lease;
    return (w->now / lease + 1) * lease;
}

static double capacity_of(const struct world *w, int queue)
{
    uint32_t all = 0;
    for (uint32_t i = w->first_node[queue]; i < w->end_node[queue]; i++)
        all += w->c->gpus[i];
    return w->c->n_vcs > 0 && w->c->vcs[queue].is_quota && w->quota[queue] < all ? w->quota[queue] : all;
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* Those of `who`, sorted: the least key first. */
static uint32_t sorted(const bool who[NAIVE_JOBS], const struct world *w, uint32_t out[NAIVE_JOBS])
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (!who[j])
            continue;
        uint32_t k = n++;
        for (uint32_t i = 0; i < k; i++) {
            double apart = fabs(accounts[j].key - accounts[out[i]].key);
            if (!themis_of(w)->is_auction && apart > 0 &&
                apart < 2) /* of a nanosecond is what the policy's keys are made */
                naive_close_mark();
        }
        for (; k > 0 && accounts[j].key < accounts[out[k - 1]].key; k--)
            out[k] = out[k - 1];
        out[k] = j;
    }
    return n;
}

/* What a job is like in a round. */
struct view {
    double gpus, age, left, ideal;
};

static double stretch(double n_jobs, double gpus, double capacity)
{
    double longer = n_jobs * gpus / (capacity > 0 ? capacity : 1);
    return capacity > 0 && longer > 1 ? longer : 1;
}

static double part_for(const struct view *v, double rho)
{
    double time = rho * v->ideal - v->age;
    return time > v->left ? v->left / time : 1;
}

/* The parts of time that make the worst rho as good as can be: rho is searched for. */
static void find_parts(const struct view *views, const bool *who, uint32_t n, double capacity, double x[NAIVE_JOBS])
{
    double low = 0, high = 1;
    for (bool fits = false; !fits; high = fits ? high : high * 2) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += who[j] ? views[j].gpus * part_for(&views[j], high) : 0;
        fits = sum <= capacity;
    }
    for (int i = 0; i < 200; i++) {
        double rho = (low + high) / 2, sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += who[j] ? views[j].gpus * part_for(&views[j], rho) : 0;
        if (sum <= capacity)
            high = rho;
        else
            low = rho;
    }
    for (uint32_t j = 0; j < n; j++)
        x[j] = who[j] ? part_for(&views[j], high) : 1;
}

/* ---- the auction ----------------------------------------------------------------------------------------- */

/* The best product of gains (as a sum of logarithms) of the first n bids within `left` GPUs, without bid `without`: all sets are tried; of equal ones
 * the one without the last bid is taken. */
static double best_set(const double *gain, const uint32_t *gpus, uint32_t n, uint32_t left, int without, bool *wins)
{
    if (n == 0)
        return 0;
    uint32_t last = n - 1;
    bool with_wins[NAIVE_JOBS] = {0}, out_wins[NAIVE_JOBS] = {0};
    double out = best_set(gain, gpus, last, left, without, out_wins), with = -1;
    if ((int)last != without && gpus[last] <= left)
        with = gain[last] + best_set(gain, gpus, last, left - gpus[last], without, with_wins);
    bool takes = with >= 0 && naive_less(out, with, false);
    memcpy(wins, takes ? with_wins : out_wins, sizeof with_wins);
    wins[last] = takes;
    return takes ? with : out;
}

static void hold_auction(struct world *w, int queue, const struct view *views, const bool *is_open)
{
    const struct naive_themis *t = themis_of(w);
    uint32_t order[NAIVE_JOBS], n = 0, gpus[NAIVE_JOBS];
    double gain[NAIVE_JOBS], rho[NAIVE_JOBS];
    bool wins[NAIVE_JOBS] = {0};
    double offered = 0, capacity = capacity_of(w, queue);
    uint32_t free[NAIVE_NODES], wanted = 0;
    naive_free_now(w, free);
    offered = naive_free_for(w, queue, free);
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (!is_open[j])
            continue;
        offered += w->jobs[j].is == RUNNING ? views[j].gpus : 0;
        rho[j] = (views[j].age + views[j].left) / views[j].ideal;
        uint32_t k = n++;
        for (; k > 0 && naive_less(rho[order[k - 1]], rho[j], true); k--)
            order[k] = order[k - 1];
        order[k] = j;
    }
    offered = offered < capacity ? offered : capacity;
    double asked = ceil((1 - t->fairness) * n);
    uint32_t n_asked = asked < 1 ? 1 : asked < n ? (uint32_t)asked : n;
    for (uint32_t k = 0; k < n_asked; k++) {
        const struct view *v = &views[order[k]];
        gpus[k] = (uint32_t)v->gpus;
        gain[k] = log1p((double)t->lease / (v->age + v->left));
        wanted += gpus[k];
        wins[k] = true;
    }
    bool is_scarce = wanted > offered;
    double all = is_scarce ? best_set(gain, gpus, n_asked, (uint32_t)offered, -1, wins) : 0;
    for (uint32_t k = 0; k < n; k++) {
        struct account *a = &accounts[order[k]];
        bool has_won = k < n_asked && wins[k];
        a->key = (double)k - (has_won ? 2 : 1) * (double)n;
        if (!has_won || !is_scarce || !t->has_payments)
            continue;
        bool others[NAIVE_JOBS] = {0};
        double lost = all - gain[k] - best_set(gain, gpus, n_asked, (uint32_t)offered, (int)k, others);
        double kept = (lost < -1e-12 ? exp(lost) : 1) * (double)(a->lease_end - w->now);
        int64_t end = w->now + (kept < 1e6 ? 1000000 : (int64_t)kept);
        a->lease_end = end < a->lease_end ? end : a->lease_end;
    }
}

/* ---- a round --------------------------------------------------------------------------------------------- */

static void take_all(struct world *w, const uint32_t *order, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (w->jobs[order[k]].is == RUNNING) {
            naive_give_back(w, order[k]);
            w->jobs[order[k]].is = WAITING;
        }
}

/* In order; who finds no place closes its demand. */
static bool start_all(struct world *w, const uint32_t *order, uint32_t n, const bool *wanted)
{
    bool is_closed[NAIVE_NODES * NAIVE_GPUS + 1] = {0}, all = true;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t gpus = w->c->jobs[order[k]].gpus;
        if ((wanted != NULL && !wanted[k]) || w->jobs[order[k]].is == RUNNING)
            continue;
        if (is_closed[gpus] || !naive_start(w, order[k])) {
            is_closed[gpus] = true;
            all = false;
        }
    }
    return all;
}

static void hold_round(struct world *w, int queue)
{
    struct view views[NAIVE_JOBS];
    bool here[NAIVE_JOBS], is_open[NAIVE_JOBS];
    double x[NAIVE_JOBS], capacity = capacity_of(w, queue);
    const struct naive_themis *t = themis_of(w);
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct account *a = &accounts[j];
        here[j] = is_here(w, j, queue);
        is_open[j] = here[j] && !a->has_lease;
        if (!here[j])
            continue;
        double gpus = w->c->jobs[j].gpus, left = (double)naive_remaining(w, j), done = a->left - left;
        a->credit += a->due - a->had;
        if (a->credit < -(double)t->lease)
            a->credit = -(double)t->lease;
        if (a->seconds > 0 && done > 0)
            a->ideal_done += done * stretch(a->jobs_time / a->seconds, gpus, capacity);
        a->left = left;
        a->due = a->had = a->jobs_time = a->seconds = 0;
        views[j] = (struct view){gpus, (double)(w->now - w->c->jobs[j].submit), left,
                                 a->ideal_done + left * stretch(n_here(w, queue), gpus, capacity)};
        if (is_open[j])
            a->lease_end = next_multiple(w);
    }
    if (t->is_auction) {
        hold_auction(w, queue, views, is_open);
    } else {
        find_parts(views, here, w->c->n_jobs, capacity > 0 ? capacity : 1, x);
        for (uint32_t j = 0; j < w->c->n_jobs; j++) {
            if (!here[j])
                continue;
            accounts[j].x = x[j];
            if (is_open[j])
                accounts[j].key = -(accounts[j].credit + x[j] * (double)t->lease);
        }
    }
    uint32_t order[NAIVE_JOBS], n = sorted(is_open, w, order);
    bool wanted[NAIVE_JOBS], is_new = false;
    take_all(w, order, n);
    start_all(w, order, n, NULL);
    for (uint32_t k = 0; k < n; k++) {
        wanted[k] = w->jobs[order[k]].is == RUNNING;
        is_new |= wanted[k] && w->before[order[k]].is != RUNNING;
    }
    if (is_new) {
        take_all(w, order, n);
        for (uint32_t k = 0; k < n; k++)
            if (wanted[k])
                naive_go_back(w, order[k]);
        if (!start_all(w, order, n, wanted)) {
            take_all(w, order, n);
            start_all(w, order, n, NULL);
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t j = order[k];
        if (w->jobs[j].is != RUNNING && !naive_go_back(w, j) && w->before[j].is == RUNNING)
            naive_queue_again(w, j);
        accounts[j].has_lease = w->jobs[j].is == RUNNING;
    }
}

static void fill(struct world *w, int queue)
{
    bool waits[NAIVE_JOBS];
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        waits[j] = w->jobs[j].is == WAITING && naive_queue_of(w, j) == queue;
    uint32_t order[NAIVE_JOBS], n = sorted(waits, w, order);
    start_all(w, order, n, NULL);
    for (uint32_t k = 0; k < n; k++)
        if (w->jobs[order[k]].is == RUNNING) {
            accounts[order[k]].has_lease = true;
            accounts[order[k]].lease_end = next_multiple(w);
        }
}

void naive_themis_schedule(struct world *w, int queue)
{
    const struct naive_themis *t = themis_of(w);
    bool is_over = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct account *a = &accounts[j];
        if (!is_here(w, j, queue))
            continue;
        if (!a->is_known) /* it has just come */
            *a = (struct account){.is_known = true,
                                  .x = 1,
                                  .left = (double)naive_remaining(w, j),
                                  .key = t->is_auction ? 0 : -(double)t->lease};
        if (w->jobs[j].is == WAITING && a->has_lease) { /* the quota took its GPUs */
            a->has_lease = false;
            a->key = t->is_auction ? 0 : -(a->credit + (double)t->lease);
        }
    }
    if (!naive_is_any_waiting(w, queue))
        return;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct account *a = &accounts[j];
        if (!is_here(w, j, queue) || !a->has_lease || a->lease_end > w->now)
            continue;
        a->has_lease = false;
        is_over = true;
    }
    if (is_over)
        hold_round(w, queue);
    else
        fill(w, queue);
    for (uint32_t j = 0; j < w->c->n_jobs && naive_is_any_waiting(w, queue); j++)
        if (is_here(w, j, queue) && accounts[j].has_lease && accounts[j].lease_end < w->alarm[queue])
            w->alarm[queue] = accounts[j].lease_end;
}
