#include "tests/engine/naive.h"

#include <stdlib.h>
#include <string.h>

static const int64_t SECOND = 1000000000;

const char *const naive_order_names[N_ORDERS] = {"fifo",     "sjf",         "ljf",  "smallest",
                                                 "srtf",     "srsf",        "qssf", "longest_waiting",
                                                 "priority", "round_robin", "las",  "random"};
const char *const naive_fill_names[N_FILLS] = {"strict", "skip", "easy"};
const char *const naive_preempt_names[N_PREEMPTS] = {"never", "when_better", "quantum"};
const char *const naive_placement_names[N_PLACEMENTS] = {"consolidate", "first_fit", "best_fit",    "worst_fit",
                                                         "spread",      "count",     "round_robin", "least_loaded",
                                                         "rack_local",  "yarn"};

enum { NOWHERE, WAITING, RUNNING, GONE };

struct state {
    int is; /* NOWHERE … GONE */
    int64_t start, end, held, overhead, work;
    int64_t overhead_left;
    int64_t in_queue_since;
    int64_t value_at, value_then; /* srtf, srsf: what remained at `value_at` */
    int64_t safe_from;            /* quantum: when it got its GPUs */
    bool is_open;                 /* running and may be displaced */
    int64_t predicted_end;        /* easy, running */
    uint32_t preemptions, moves, restarts;
    uint64_t started_as; /* how many starts there were before: the latest gives way first */
    enum naive_status status;
    const char *reason;
    bool has_failed; /* in this round */
};

struct world {
    const struct naive_case *c;
    int64_t now;
    int owner[NAIVE_NODES][NAIVE_GPUS]; /* a job, or -1 */
    struct state jobs[NAIVE_JOBS];
    uint32_t first_node[NAIVE_VCS], end_node[NAIVE_VCS], quota[NAIVE_VCS];
    uint32_t cursor[NAIVE_NODES]; /* placement round_robin: of the partition that begins with this node */
    int64_t alarm[NAIVE_VCS];
    bool is_asked[NAIVE_VCS];
    uint64_t n_starts;
    /* as it was when the queue in hand was asked */
    struct state before[NAIVE_JOBS];
    int owner_before[NAIVE_NODES][NAIVE_GPUS];
};

static uint32_t n_queues(const struct world *w)
{
    return w->c->n_vcs == 0 ? 1 : w->c->n_vcs;
}

static int queue_of(const struct world *w, uint32_t j)
{
    return w->c->n_vcs == 0 ? 0 : w->c->jobs[j].vc;
}

/* ---- GPUs ---------------------------------------------------------------------------------------- */

static uint32_t free_on(const struct world *w, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < w->c->gpus[node]; g++)
        n += w->owner[node][g] < 0;
    return n;
}

static uint32_t held_by(const struct world *w, int vc)
{
    uint32_t n = 0;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            n += w->owner[node][g] >= 0 && queue_of(w, (uint32_t)w->owner[node][g]) == vc;
    return n;
}

static uint32_t quota_left(const struct world *w, int vc)
{
    if (w->c->n_vcs == 0 || !w->c->vcs[vc].is_quota)
        return UINT32_MAX;
    uint32_t held = held_by(w, vc);
    return w->quota[vc] > held ? w->quota[vc] - held : 0;
}

/* GPUs that a queue may still take when `free` are free on each node. */
static uint32_t free_for(const struct world *w, int vc, const uint32_t free[NAIVE_NODES])
{
    uint32_t sum = 0, left = quota_left(w, vc);
    for (uint32_t node = w->first_node[vc]; node < w->end_node[vc]; node++)
        sum += free[node];
    return left < sum ? left : sum;
}

static void free_now(const struct world *w, uint32_t free[NAIVE_NODES])
{
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        free[node] = free_on(w, node);
}

static void give_back(struct world *w, uint32_t j)
{
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            if (w->owner[node][g] == (int)j)
                w->owner[node][g] = -1;
}

/* ---- placement: how many GPUs of each node, 0 / 1 whether there is a place ------------------------------ */

static bool is_pool(enum naive_placement p)
{
    return p == N_SPREAD || p == N_COUNT;
}

/* Of the nodes with at least `gpus` free that are not taken, the one that the module likes best; -1: none. */
static int choose(struct world *w, int vc, const uint32_t *free, const uint32_t *take, uint32_t gpus, bool is_whole)
{
    int best = -1;
    uint32_t *cursor = &w->cursor[w->first_node[vc]];
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
        if (take[i] > 0 || free[i] < gpus || (is_whole && w->c->gpus[i] != gpus))
            continue;
        bool is_better = false;
        uint32_t b = (uint32_t)best;
        if (best < 0) {
            is_better = true;
        } else if (w->c->placement == N_TURNS) {
            is_better = b < *cursor && i >= *cursor;
        } else if (!is_whole) {
            switch (w->c->placement) {
            case N_CONSOLIDATE:
            case N_BEST_FIT:
            case N_RACK_LOCAL:
                is_better = free[i] < free[b];
                break;
            case N_WORST_FIT:
                is_better = free[i] > free[b];
                break;
            case N_LEAST_LOADED:
                is_better = free[i] * w->c->gpus[b] > free[b] * w->c->gpus[i];
                break;
            default:
                break;
            }
        }
        if (is_better)
            best = (int)i;
    }
    return best;
}

static bool place_packed(struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    uint32_t largest = 0, cursor = w->cursor[w->first_node[vc]];
    uint32_t missing = gpus;
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
        largest = w->c->gpus[i] > largest ? w->c->gpus[i] : largest;
    if (gpus > largest)
        for (uint32_t size = largest; size > 0; size--)
            while (size <= missing) {
                int node = choose(w, vc, free, take, size, true);
                if (node < 0)
                    break;
                take[node] = size;
                missing -= size;
                w->cursor[w->first_node[vc]] = (uint32_t)node + 1;
            }
    if (missing == 0)
        return true;
    int node = choose(w, vc, free, take, missing, false);
    if (node < 0) {
        w->cursor[w->first_node[vc]] = cursor; /* it did not come to anything */
        return false;
    }
    take[node] = missing;
    w->cursor[w->first_node[vc]] = (uint32_t)node + 1;
    return true;
}

static bool place_count(const struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
        take[i] = free[i] < gpus ? free[i] : gpus;
        gpus -= take[i];
    }
    return gpus == 0;
}

static bool place_spread(const struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    for (bool is_any = true; gpus > 0 && is_any;) {
        is_any = false;
        for (uint32_t f = NAIVE_GPUS; f > 0; f--)
            for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
                if (free[i] == f && take[i] < f && gpus > 0) {
                    take[i]++;
                    gpus--;
                    is_any = true;
                }
    }
    return gpus == 0;
}

static bool place(struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t take[NAIVE_NODES])
{
    memset(take, 0, NAIVE_NODES * sizeof *take);
    if (free_for(w, vc, free) < gpus)
        return false;
    if (w->c->placement == N_COUNT)
        return place_count(w, vc, gpus, free, take);
    if (w->c->placement == N_SPREAD)
        return place_spread(w, vc, gpus, free, take);
    return place_packed(w, vc, gpus, free, take);
}

/* Would it have a place, without moving the cursor? */
static bool would_fit(struct world *w, int vc, uint32_t gpus, const uint32_t *free)
{
    uint32_t take[NAIVE_NODES], cursor = w->cursor[w->first_node[vc]];
    bool fits = place(w, vc, gpus, free, take);
    w->cursor[w->first_node[vc]] = cursor;
    return fits;
}

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
        if (w->jobs[j].is == WAITING && queue_of(w, j) == vc && !w->jobs[j].has_failed &&
            (best < 0 || comes_before(w, j, (uint32_t)best)))
            best = (int)j;
    return best;
}

static bool is_any_waiting(const struct world *w, int vc)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == WAITING && queue_of(w, j) == vc)
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
    int vc = queue_of(w, j);
    bool is_any_new = false;
    for (uint32_t i = 0; i < w->c->n_jobs; i++)
        is_any_new |= queue_of(w, i) == vc && w->jobs[i].is == RUNNING && w->before[i].is != RUNNING;
    if (w->before[j].is != RUNNING || (is_any_new && quota_left(w, vc) < w->c->jobs[j].gpus))
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
    if (!place(w, queue_of(w, j), w->c->jobs[j].gpus, free, take))
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
    free_now(w, free);
    return start_within(w, j, free);
}

static void queue_again(struct world *w, uint32_t j)
{
    w->jobs[j].is = WAITING;
    w->jobs[j].in_queue_since = w->now;
}

/* Running jobs of a worse value give up their GPUs, the worst first, until `j` can be placed; then, the best first, each goes back
 * where it was if it can, else into the queue. */
static bool displace(struct world *w, uint32_t j)
{
    int vc = queue_of(w, j);
    int64_t mine = value(w, j, false);
    uint32_t out[NAIVE_JOBS], n = 0;
    bool is_in = false;
    while (!is_in) {
        int worst = -1;
        for (uint32_t i = 0; i < w->c->n_jobs; i++) {
            if (w->jobs[i].is != RUNNING || !w->jobs[i].is_open || queue_of(w, i) != vc || value(w, i, true) <= mine)
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
        give_back(w, (uint32_t)worst);
        is_in = start(w, j);
    }
    while (n > 0) {
        uint32_t i = out[--n];
        w->jobs[i].is = WAITING;
        if (!go_back(w, i))
            queue_again(w, i);
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
    int vc = queue_of(w, head);
    uint32_t gpus = w->c->jobs[head].gpus;
    uint32_t free[NAIVE_NODES], then[NAIVE_NODES], hold[NAIVE_NODES] = {0};
    int64_t shadow = -1;
    free_now(w, free);
    memcpy(then, free, sizeof then);
    struct world trial = *w; /* in which the running jobs end one after the other */
    while (shadow < 0) {
        int64_t next = -1;
        for (uint32_t i = 0; i < w->c->n_jobs; i++)
            if (trial.jobs[i].is == RUNNING && queue_of(w, i) == vc) {
                int64_t end = trial.jobs[i].predicted_end > w->now ? trial.jobs[i].predicted_end : w->now + 1;
                next = next < 0 || end < next ? end : next;
            }
        if (next < 0)
            break;
        for (uint32_t i = 0; i < w->c->n_jobs; i++)
            if (trial.jobs[i].is == RUNNING && queue_of(w, i) == vc && trial.jobs[i].predicted_end <= next) {
                trial.jobs[i].is = GONE;
                give_back(&trial, i);
            }
        free_now(&trial, then);
        if (would_fit(&trial, vc, gpus, then))
            shadow = next;
    }
    int64_t extra = shadow < 0 ? 0 : (int64_t)free_for(&trial, vc, then) - gpus; /* over at the shadow */
    bool has_nodes = shadow >= 0 && !is_pool(w->c->placement);
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
        free_now(w, free);
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

static void schedule(struct world *w, int vc)
{
    const struct naive_case *c = w->c;
    if (!is_any_waiting(w, vc))
        return;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        s->has_failed = false;
        if (c->preempt == N_QUANTUM && s->is == RUNNING && queue_of(w, j) == vc && !s->is_open &&
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
            if (w->jobs[j].is == RUNNING && queue_of(w, j) == vc) {
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
static void ask_sharers(struct world *w, int vc, bool is_asked[NAIVE_VCS])
{
    for (uint32_t v = 0; v < n_queues(w); v++)
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
static void settle(struct world *w, int vc, bool asked_next[NAIVE_VCS])
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        bool ran = w->before[j].is == RUNNING, runs = s->is == RUNNING;
        if (queue_of(w, j) != vc || (!ran && !runs))
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
            ask_sharers(w, vc, asked_next);
    }
}

/* ---- events ---------------------------------------------------------------------------------------- */

static void leave(struct world *w, uint32_t j, enum naive_status status, const char *reason)
{
    struct state *s = &w->jobs[j];
    s->is = GONE;
    s->end = w->now;
    s->status = status;
    s->reason = reason;
}

static bool complete(struct world *w)
{
    bool is_any = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        if (s->is != RUNNING || s->overhead_left > 0)
            continue;
        bool is_done = s->work >= w->c->jobs[j].duration;
        bool is_over = w->c->kills && s->work >= w->c->jobs[j].estimate;
        if (!is_done && !is_over)
            continue;
        give_back(w, j);
        leave(w, j, is_done ? N_FINISHED : N_KILLED, is_done ? "" : "estimate_exceeded");
        w->is_asked[queue_of(w, j)] = true;
        ask_sharers(w, queue_of(w, j), w->is_asked);
        is_any = true;
    }
    return is_any;
}

static void change_quotas(struct world *w)
{
    for (uint32_t v = 0; v < w->c->n_vcs; v++)
        for (uint32_t i = 0; i < w->c->vcs[v].n_changes; i++) {
            if (w->c->vcs[v].change_at[i] != w->now)
                continue;
            w->quota[v] = w->c->vcs[v].change_to[i];
            w->is_asked[v] = true;
            while (w->c->vcs[v].gives_way && held_by(w, (int)v) > w->quota[v]) {
                int latest = -1;
                for (uint32_t j = 0; j < w->c->n_jobs; j++)
                    if (w->jobs[j].is == RUNNING && queue_of(w, j) == (int)v &&
                        (latest < 0 || w->jobs[j].started_as > w->jobs[latest].started_as))
                        latest = (int)j;
                give_back(w, (uint32_t)latest);
                queue_again(w, (uint32_t)latest);
                w->jobs[latest].preemptions++;
                ask_sharers(w, (int)v, w->is_asked);
            }
        }
}

/* Why a job could not run if it were alone with the largest quota that ever comes; NULL: it could. */
static const char *refusal(const struct world *w, uint32_t j)
{
    const struct naive_case *c = w->c;
    uint32_t gpus = c->jobs[j].gpus, all = 0;
    if (c->n_vcs > 0 && c->jobs[j].vc < 0)
        return "unknown_vc";
    for (uint32_t node = 0; node < c->n_nodes; node++)
        all += c->gpus[node];
    if (gpus > all)
        return "too_large_for_cluster";
    int vc = queue_of(w, j);
    const char *why = c->n_vcs > 0 ? "too_large_for_vc" : "too_large_for_cluster";
    static struct world empty;
    empty = *w;
    memset(empty.owner, 0xff, sizeof empty.owner);
    if (c->n_vcs > 0 && c->vcs[vc].is_quota) {
        empty.quota[vc] = c->vcs[vc].amount;
        for (uint32_t i = 0; i < c->vcs[vc].n_changes; i++)
            if (c->vcs[vc].change_to[i] > empty.quota[vc])
                empty.quota[vc] = c->vcs[vc].change_to[i];
    }
    uint32_t free[NAIVE_NODES];
    free_now(&empty, free);
    return would_fit(&empty, vc, gpus, free) ? NULL : why;
}

static void arrive(struct world *w)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (w->c->jobs[j].submit != w->now)
            continue;
        const char *why = refusal(w, j);
        if (why != NULL) {
            leave(w, j, N_REJECTED, why);
            continue;
        }
        queue_again(w, j);
        w->is_asked[queue_of(w, j)] = true;
    }
}

static void instant(struct world *w)
{
    for (bool is_first = true, is_any = true; is_any; is_first = false) {
        is_any = complete(w);
        if (is_first) {
            change_quotas(w);
            arrive(w);
            for (uint32_t v = 0; v < n_queues(w); v++)
                if (w->alarm[v] == w->now) {
                    w->alarm[v] = INT64_MAX;
                    w->is_asked[v] = true;
                }
        }
        bool asked[NAIVE_VCS];
        memcpy(asked, w->is_asked, sizeof asked);
        memset(w->is_asked, 0, sizeof w->is_asked);
        for (uint32_t v = 0; v < n_queues(w); v++) {
            if (!asked[v])
                continue;
            is_any = true;
            memcpy(w->before, w->jobs, sizeof w->jobs);
            memcpy(w->owner_before, w->owner, sizeof w->owner);
            schedule(w, (int)v);
            settle(w, (int)v, w->is_asked);
        }
    }
}

static void pass_a_second(struct world *w)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        if (s->is != RUNNING)
            continue;
        s->held += SECOND;
        if (s->overhead_left > 0) {
            s->overhead_left -= SECOND;
            s->overhead += SECOND;
        } else {
            s->work += SECOND;
        }
    }
    w->now += SECOND;
}

/* Will anything happen again? */
static bool is_over(const struct world *w)
{
    bool is_waiting = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (w->jobs[j].is == NOWHERE || w->jobs[j].is == RUNNING)
            return false;
        is_waiting |= w->jobs[j].is == WAITING;
    }
    if (!is_waiting)
        return true;
    for (uint32_t v = 0; v < n_queues(w); v++) {
        if (w->alarm[v] != INT64_MAX)
            return false;
        for (uint32_t i = 0; v < w->c->n_vcs && i < w->c->vcs[v].n_changes; i++)
            if (w->c->vcs[v].change_at[i] > w->now)
                return false;
    }
    return true;
}

void naive_run(const struct naive_case *c, struct naive_result *out)
{
    static struct world w;
    w = (struct world){.c = c};
    memset(w.owner, 0xff, sizeof w.owner);
    uint32_t node = 0;
    for (uint32_t v = 0; v < c->n_vcs; v++)
        if (!c->vcs[v].is_quota) {
            w.first_node[v] = node;
            node += c->vcs[v].amount;
            w.end_node[v] = node;
        }
    for (uint32_t v = 0; v < n_queues(&w); v++) {
        w.alarm[v] = INT64_MAX;
        if (c->n_vcs == 0 || c->vcs[v].is_quota) {
            w.first_node[v] = node;
            w.end_node[v] = c->n_nodes;
            w.quota[v] = c->n_vcs == 0 ? UINT32_MAX : c->vcs[v].amount;
        }
    }
    for (uint32_t j = 0; j < c->n_jobs; j++)
        w.jobs[j] = (struct state){.start = -1, .end = -1, .reason = ""};
    for (instant(&w); !is_over(&w); instant(&w))
        pass_a_second(&w);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct state *s = &w.jobs[j];
        out[j] = (struct naive_result){s->start, s->end,      s->held,   s->overhead, s->preemptions,
                                       s->moves, s->restarts, s->status, s->reason};
        if (s->is == WAITING) {
            out[j].status = N_UNFINISHED;
            out[j].reason = "never_started";
        }
    }
}
