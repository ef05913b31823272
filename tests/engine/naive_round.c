#include "tests/engine/naive_world.h"

#include <stdlib.h>
#include <string.h>

/* ---- values -------------------------------------------------------------------------------------- */

static int64_t remaining(const struct world *w, uint32_t j)
{
    int64_t left = w->c->jobs[j].estimate - w->jobs[j].work;
    return left < 1 ? 1 : left;
}

/* The smallest comes first. `is_running`: its value among the running. */
static int64_t value(const struct world *w, uint32_t j, bool is_running)
{
    const struct naive_job *job = &w->c->jobs[j];
    const struct state *s = &w->jobs[j];
    int64_t gpus = job->gpus, waited = w->now - job->submit - s->held;
    int64_t left = is_running ? s->value_then - (w->now - s->value_at) : remaining(w, j);
    switch (w->c->order) {
    case N_FIFO:
        return job->submit;
    case N_SJF:
        return job->estimate;
    case N_LJF:
        return -job->estimate;
    case N_SMALLEST:
        return gpus;
    case N_SRTF:
        return left;
    case N_SRSF:
        return left * gpus;
    case N_QSSF:
        return job->estimate * gpus;
    case N_LONGEST_WAITING:
        return -waited;
    case N_PRIORITY:
        if (w->c->ageing == 0)
            return -(int64_t)(job->priority * 1e9);
        return -(int64_t)(job->priority * (double)w->c->ageing) - waited;
    case N_ROUND_ROBIN:
        return is_running ? w->now + 1 : s->in_queue_since;
    case N_LAS:
        return w->c->by_gpu_time ? s->held * gpus : s->held;
    case N_RANDOM:
        return job->dice;
    case N_ORDERS:
        break;
    }
    abort();
}

static bool comes_before(const struct world *w, uint32_t a, uint32_t b)
{
    int64_t x = value(w, a, false), y = value(w, b, false);
    return x != y ? x < y : a < b;
}

/* The first in order of those that wait and have not failed in this round; -1: none. */
static int first_waiting(const struct world *w, int vc)
{
    int best = -1;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == WAITING && naive_queue_of(w, j) == vc && !w->jobs[j].has_failed &&
            (best < 0 || comes_before(w, j, (uint32_t)best)))
            best = (int)j;
    return best;
}

static bool is_any_waiting(const struct world *w, int vc)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == WAITING && naive_queue_of(w, j) == vc)
            return true;
    return false;
}

/* ---- verbs ---------------------------------------------------------------------------------------- */

static int64_t overhead_next(const struct world *w, uint32_t j)
{
    return w->jobs[j].start < 0 ? w->c->start_overhead : w->c->restart_overhead;
}

/* It ran when the round began, and all GPUs that it had then are free again. Its quota must allow it, unless no job was started in
 * the round: a quota that shrank by draining does not take GPUs away. */
static bool go_back(struct world *w, uint32_t j)
{
    int vc = naive_queue_of(w, j);
    bool is_any_new = false;
    for (uint32_t i = 0; i < w->c->n_jobs; i++)
        is_any_new |= naive_queue_of(w, i) == vc && w->jobs[i].is == RUNNING && w->before[i].is != RUNNING;
    if (w->before[j].is != RUNNING || (is_any_new && naive_quota_left(w, vc) < w->c->jobs[j].gpus))
        return false;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            if (w->owner_before[node][g] == (int)j && w->owner[node][g] >= 0)
                return false;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            if (w->owner_before[node][g] == (int)j)
                w->owner[node][g] = (int)j;
    struct state *s = &w->jobs[j];
    bool has_failed = s->has_failed;
    *s = w->before[j]; /* it was never touched */
    s->has_failed = has_failed;
    return true;
}

/* Give a waiting job a place where `free` GPUs are open to it. */
static bool start_within(struct world *w, uint32_t j, const uint32_t free[NAIVE_NODES])
{
    uint32_t take[NAIVE_NODES];
    if (!naive_place(w, naive_queue_of(w, j), w->c->jobs[j].gpus, free, take))
        return false;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node] && take[node] > 0; g++)
            if (w->owner[node][g] < 0) {
                w->owner[node][g] = (int)j;
                take[node]--;
            }
    struct state *s = &w->jobs[j];
    s->is = RUNNING;
    s->value_at = w->now;
    s->value_then = remaining(w, j);
    s->safe_from = w->now;
    s->is_open = w->c->preempt == N_WHEN_BETTER;
    s->predicted_end = w->now + overhead_next(w, j) + remaining(w, j);
    s->started_as = ++w->n_starts;
    return true;
}

/* It takes its turn: on the GPUs that it had when the round began, or where the placement puts it. Either way nobody displaces it again
 * in this round under `quantum`. */
static bool start(struct world *w, uint32_t j)
{
    uint32_t free[NAIVE_NODES];
    if (go_back(w, j)) {
        w->jobs[j].is_open = w->c->preempt == N_WHEN_BETTER;
        w->jobs[j].value_at = w->now;
        w->jobs[j].value_then = remaining(w, j);
        return true;
    }
    naive_free_now(w, free);
    return start_within(w, j, free);
}

void naive_queue_again(struct world *w, uint32_t j)
{
    w->jobs[j].is = WAITING;
    w->jobs[j].in_queue_since = w->now;
}

/* Running jobs of a worse value give up their GPUs, the worst first, until `j` can be placed; then, the best first, each goes back
 * where it was if it can, else into the queue. */
static bool displace(struct world *w, uint32_t j)
{
    int vc = naive_queue_of(w, j);
    int64_t mine = value(w, j, false);
    uint32_t out[NAIVE_JOBS], n = 0;
    bool is_in = false;
    while (!is_in) {
        int worst = -1;
        for (uint32_t i = 0; i < w->c->n_jobs; i++) {
            if (w->jobs[i].is != RUNNING || !w->jobs[i].is_open || naive_queue_of(w, i) != vc ||
                value(w, i, true) <= mine)
                continue;
            bool is_out = false;
            for (uint32_t k = 0; k < n; k++)
                is_out |= out[k] == i;
            if (!is_out && (worst < 0 || value(w, i, true) >= value(w, (uint32_t)worst, true)))
                worst = (int)i;
        }
        if (worst < 0)
            break;
        out[n++] = (uint32_t)worst;
        naive_give_back(w, (uint32_t)worst);
        is_in = start(w, j);
    }
    while (n > 0) {
        uint32_t i = out[--n];
        w->jobs[i].is = WAITING;
        if (!go_back(w, i))
            naive_queue_again(w, i);
    }
    return is_in;
}

/* ---- EASY ---------------------------------------------------------------------------------------- */

static void hold_best_fit(const struct world *w, int vc, uint32_t gpus, const uint32_t *then, uint32_t *hold)
{
    int best = -1;
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
        if (hold[i] == 0 && then[i] >= gpus && (best < 0 || then[i] < then[best]))
            best = (int)i;
    if (best >= 0)
        hold[best] = gpus;
}

/* The head's nodes at the shadow, when `then` GPUs are free: the packed rule, best fit, lowest numbers first. */
static void reserve(const struct world *w, int vc, uint32_t gpus, const uint32_t *then, uint32_t *hold)
{
    uint32_t largest = 0;
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
        largest = w->c->gpus[i] > largest ? w->c->gpus[i] : largest;
    if (gpus > largest)
        for (uint32_t size = largest; size > 0; size--)
            for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
                if (hold[i] == 0 && w->c->gpus[i] == size && then[i] == size && size <= gpus) {
                    hold[i] = size;
                    gpus -= size;
                }
    if (gpus > 0)
        hold_best_fit(w, vc, gpus, then, hold);
}

static void backfill(struct world *w, uint32_t head)
{
    int vc = naive_queue_of(w, head);
    uint32_t gpus = w->c->jobs[head].gpus;
    uint32_t free[NAIVE_NODES], then[NAIVE_NODES], hold[NAIVE_NODES] = {0};
    int64_t shadow = -1;
    naive_free_now(w, free);
    memcpy(then, free, sizeof then);
    struct world trial = *w; /* in which the running jobs end one after the other */
    while (shadow < 0) {
        int64_t next = -1;
        for (uint32_t i = 0; i < w->c->n_jobs; i++)
            if (trial.jobs[i].is == RUNNING && naive_queue_of(w, i) == vc) {
                int64_t end = trial.jobs[i].predicted_end > w->now ? trial.jobs[i].predicted_end : w->now + 1;
                next = next < 0 || end < next ? end : next;
            }
        if (next < 0)
            break;
        for (uint32_t i = 0; i < w->c->n_jobs; i++)
            if (trial.jobs[i].is == RUNNING && naive_queue_of(w, i) == vc && trial.jobs[i].predicted_end <= next) {
                trial.jobs[i].is = GONE;
                naive_give_back(&trial, i);
            }
        naive_free_now(&trial, then);
        if (naive_would_fit(&trial, vc, gpus, then))
            shadow = next;
    }
    int64_t extra = shadow < 0 ? 0 : (int64_t)naive_free_for(&trial, vc, then) - gpus; /* over at the shadow */
    bool has_nodes = shadow >= 0 && !naive_is_pool(w->c->placement);
    if (has_nodes)
        reserve(w, vc, gpus, then, hold);
    w->jobs[head].has_failed = true;
    for (int j; (j = first_waiting(w, vc)) >= 0;) {
        int64_t length = overhead_next(w, (uint32_t)j) + remaining(w, (uint32_t)j);
        uint32_t want = w->c->jobs[j].gpus;
        w->jobs[j].has_failed = true;
        if (shadow < 0 || w->now + length <= shadow) {
            start(w, (uint32_t)j);
            continue;
        }
        if (want > extra)
            continue;
        naive_free_now(w, free);
        for (uint32_t i = 0; i < w->c->n_nodes && has_nodes; i++)
            if (hold[i] > 0 && free[i] > then[i] - hold[i])
                free[i] = then[i] - hold[i];
        if (!start_within(w, (uint32_t)j, free))
            continue;
        extra -= want;
        for (uint32_t i = 0; i < w->c->n_nodes; i++)
            for (uint32_t g = 0; g < w->c->gpus[i]; g++)
                if (w->owner[i][g] == j && hold[i] > 0)
                    then[i]--;
    }
}

/* ---- a round of one queue ------------------------------------------------------------------------- */

void naive_schedule(struct world *w, int vc)
{
    const struct naive_case *c = w->c;
    if (!is_any_waiting(w, vc))
        return;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        s->has_failed = false;
        if (c->preempt == N_QUANTUM && s->is == RUNNING && naive_queue_of(w, j) == vc && !s->is_open &&
            w->now - s->safe_from >= c->quantum) {
            s->is_open = true;
            s->value_at = w->now;
            s->value_then = remaining(w, j);
        }
    }
    memcpy(w->before, w->jobs, sizeof w->jobs);
    memcpy(w->owner_before, w->owner, sizeof w->owner);
    for (int head; (head = first_waiting(w, vc)) >= 0;) {
        if (start(w, (uint32_t)head) || (c->preempt != N_NEVER && displace(w, (uint32_t)head)))
            continue;
        w->jobs[head].has_failed = true;
        if (c->fill == N_EASY)
            backfill(w, (uint32_t)head);
        if (c->fill != N_SKIP)
            break;
    }
    if (c->preempt == N_QUANTUM && is_any_waiting(w, vc)) {
        int64_t at = (w->now / c->quantum + 1) * c->quantum;
        bool is_any_running = false;
        for (uint32_t j = 0; j < c->n_jobs; j++)
            if (w->jobs[j].is == RUNNING && naive_queue_of(w, j) == vc) {
                is_any_running = true;
                if (!w->jobs[j].is_open && w->jobs[j].safe_from + c->quantum < at &&
                    w->jobs[j].safe_from + c->quantum > w->now)
                    at = w->jobs[j].safe_from + c->quantum;
            }
        if (is_any_running && at < w->alarm[vc])
            w->alarm[vc] = at;
    }
}

/* GPUs came free on the nodes of `vc`: every queue over them with jobs waiting is asked. */
void naive_ask_sharers(struct world *w, int vc, bool is_asked[NAIVE_VCS])
{
    for (uint32_t v = 0; v < naive_n_queues(w); v++)
        if (w->first_node[v] == w->first_node[vc] && is_any_waiting(w, (int)v))
            is_asked[v] = true;
}

static bool same_gpus(const struct world *w, uint32_t j)
{
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            if ((w->owner[node][g] == (int)j) != (w->owner_before[node][g] == (int)j))
                return false;
    return true;
}

/* What became of the jobs of a queue in this round. */
void naive_settle(struct world *w, int vc, bool asked_next[NAIVE_VCS])
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        bool ran = w->before[j].is == RUNNING, runs = s->is == RUNNING;
        if (naive_queue_of(w, j) != vc || (!ran && !runs))
            continue;
        if (!ran) {
            s->overhead_left = overhead_next(w, j);
            s->restarts += s->start >= 0;
            s->start = s->start < 0 ? w->now : s->start;
        } else if (!runs) {
            s->preemptions++;
        } else if (!same_gpus(w, j)) {
            s->overhead_left = w->c->restart_overhead;
            s->started_as = w->before[j].started_as; /* a move is no start */
            s->moves++;
        }
        if (ran && (!runs || !same_gpus(w, j)) && w->c->n_vcs > 0 && w->c->vcs[vc].is_quota)
            naive_ask_sharers(w, vc, asked_next);
    }
}
