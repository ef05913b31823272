#include "tests/engine/naive_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t NO_DEADLINE = INT64_C(1) << 61;

/* ---- values -------------------------------------------------------------------------------------- */

int64_t naive_remaining(const struct world *w, uint32_t j)
{
    int64_t left = w->c->jobs[j].estimate - w->jobs[j].work;
    return left < 1 ? 1 : left;
}

/* Where the estimate is used up: until the time on GPUs has doubled since then, at least a second; and again. */
int64_t naive_expected(const struct world *w, uint32_t j)
{
    const struct state *s = &w->jobs[j];
    int64_t beyond = s->work - w->c->jobs[j].estimate;
    if (beyond < 0)
        return -beyond;
    int64_t until = s->held - beyond;
    while (until <= s->held)
        until += until > 1000000000 ? until : 1000000000;
    return until - s->held;
}

/* By the rule of the case. */
static int64_t predicted(const struct world *w, uint32_t j)
{
    return w->c->ends_now ? naive_remaining(w, j) : naive_expected(w, j);
}

/* The longest chain of estimates that begins with the job. */
static int64_t chain(const struct world *w, uint32_t j)
{
    int64_t longest = 0;
    for (uint32_t i = j + 1; i < w->c->n_jobs; i++)
        if (w->c->jobs[i].waits_for == (int)j + 1) {
            int64_t ns = chain(w, i);
            longest = ns > longest ? ns : longest;
        }
    return longest + w->c->jobs[j].estimate;
}

/* The smallest comes first. `is_running`: its value among the running. */
static int64_t value(struct world *w, uint32_t j, bool is_running)
{
    const struct naive_job *job = &w->c->jobs[j];
    const struct state *s = &w->jobs[j];
    int64_t gpus = job->gpus, waited = w->now - job->submit - s->held;
    bool is_by_rule = w->c->order == N_SRTF || w->c->order == N_SRSF;
    int64_t left = is_running   ? s->value_then - (w->now - s->value_at)
                   : is_by_rule ? predicted(w, j)
                                : naive_remaining(w, j);
    if (w->c->rules != NULL && w->c->rules->value != NULL)
        return w->c->rules->value(w, j, is_running || s->is_displaced);
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
    case N_EDF:
        return job->deadline < 0 ? NO_DEADLINE : job->deadline;
    case N_LEAST_LAXITY:
        if (job->deadline < 0)
            return is_running ? NO_DEADLINE : NO_DEADLINE + 1;
        return is_running ? job->deadline - s->value_then - s->value_at : job->deadline - left - w->now;
    case N_RR_SJF:
        return is_running ? INT64_MAX : w->place[j];
    case N_CRITICAL_PATH:
        return -chain(w, j);
    case N_ORDERS:
        break;
    }
    abort();
}

static bool is_hidden(const struct world *w, uint32_t j)
{
    return w->c->rules != NULL && w->c->rules->is_hidden != NULL && w->c->rules->is_hidden(w, j);
}

static bool comes_before(struct world *w, uint32_t a, uint32_t b)
{
    int64_t x = value(w, a, false), y = value(w, b, false);
    return x != y ? x < y : a < b;
}

/* The first in order of those that wait and have not failed in this round; -1: none. */
static int first_waiting(struct world *w, int vc)
{
    int best = -1;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == WAITING && naive_queue_of(w, j) == vc && !w->jobs[j].has_failed && !is_hidden(w, j) &&
            (best < 0 || comes_before(w, j, (uint32_t)best)))
            best = (int)j;
    return best;
}

bool naive_is_any_waiting(const struct world *w, int vc)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == WAITING && naive_queue_of(w, j) == vc)
            return true;
    return false;
}

/* ---- verbs ---------------------------------------------------------------------------------------- */

int64_t naive_overhead_next(const struct world *w, uint32_t j)
{
    return w->jobs[j].start < 0 ? w->c->start_overhead : w->c->restart_overhead;
}

/* On the nodes where it was when the round began there is CPU and memory for it. */
static bool has_bounds_again(struct world *w, uint32_t j)
{
    bool is_room = true;
    w->placing = (int)j + 1;
    for (uint32_t node = 0; node < w->c->n_nodes; node++) {
        uint32_t gpus = 0;
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            gpus += w->owner_before[node][g] == (int)j;
        is_room &= naive_within(w, node, gpus) == gpus;
    }
    w->placing = 0;
    return is_room;
}

/* It ran when the round began, and all GPUs that it had then are free again. Its quota must allow it, unless no job was started in
 * the round: a quota that shrank by draining does not take GPUs away. */
bool naive_go_back(struct world *w, uint32_t j)
{
    int vc = naive_vc_of(w, j);
    bool is_any_new = false;
    for (uint32_t i = 0; i < w->c->n_jobs; i++)
        is_any_new |= naive_vc_of(w, i) == vc && w->jobs[i].is == RUNNING && w->before[i].is != RUNNING;
    if (w->before[j].is != RUNNING || (is_any_new && naive_quota_left(w, vc) < w->c->jobs[j].gpus))
        return false;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            if (w->owner_before[node][g] == (int)j && w->owner[node][g] >= 0)
                return false;
    if (!has_bounds_again(w, j))
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

/* srtf, srsf, least_laxity: what remains, as its value begins with when it gets GPUs. */
static int64_t value_then(const struct world *w, uint32_t j)
{
    return w->c->order == N_SRTF || w->c->order == N_SRSF ? predicted(w, j) : naive_remaining(w, j);
}

void naive_start_at(struct world *w, uint32_t j, const uint32_t place[NAIVE_NODES])
{
    uint32_t take[NAIVE_NODES];
    memcpy(take, place, sizeof take);
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node] && take[node] > 0; g++)
            if (w->owner[node][g] < 0) {
                w->owner[node][g] = (int)j;
                take[node]--;
            }
    struct state *s = &w->jobs[j];
    s->is = RUNNING;
    s->value_at = w->now;
    s->value_then = value_then(w, j);
    s->safe_from = w->now;
    s->is_open = w->c->preempt == N_WHEN_BETTER;
    s->predicted_end = w->now + naive_overhead_next(w, j) + predicted(w, j);
    s->estimated_end = w->now + naive_overhead_next(w, j) + naive_remaining(w, j);
    s->started_as = ++w->n_starts;
}

/* Give a waiting job a place where `free` GPUs are open to it. */
static bool start_within(struct world *w, uint32_t j, const uint32_t free[NAIVE_NODES])
{
    uint32_t take[NAIVE_NODES];
    w->placing = (int)j + 1;
    bool fits = naive_place(w, naive_vc_of(w, j), w->c->jobs[j].gpus, free, take);
    w->placing = 0;
    if (!fits)
        return false;
    naive_start_at(w, j, take);
    return true;
}

/* It takes its turn: on the GPUs that it had when the round began, or where the placement puts it. Either way nobody displaces it again
 * in this round under `quantum`. */
bool naive_start(struct world *w, uint32_t j)
{
    uint32_t free[NAIVE_NODES];
    bool tells = w->c->rules != NULL && w->c->rules->starts != NULL;
    if (naive_go_back(w, j)) {
        w->jobs[j].is_open = w->c->preempt == N_WHEN_BETTER;
        w->jobs[j].value_at = w->now;
        w->jobs[j].value_then = value_then(w, j);
        if (tells)
            w->c->rules->starts(w, j);
        return true;
    }
    naive_free_now(w, free);
    if (!start_within(w, j, free))
        return false;
    if (tells)
        w->c->rules->starts(w, j);
    return true;
}

void naive_queue_again(struct world *w, uint32_t j)
{
    struct state *s = &w->jobs[j];
    s->is = WAITING;
    s->in_queue_since = w->now;
    if (w->c->rules != NULL && w->c->rules->enter != NULL)
        w->c->rules->enter(w, j);
    if (w->c->order != N_RR_SJF)
        return;
    int64_t window = w->now / w->c->window, last = w->turn[j];
    if (last >= 0)
        window = !s->is_open ? last : window > last ? window : last + 1;
    w->turn[j] = window;
    w->place[j] = (window << 42) + naive_remaining(w, j);
}

/* Running jobs of a worse value give up their GPUs, the worst first, until `j` can be placed; then, the best first, each goes back
 * where it was if it can, where values jump to another place, else into the queue. When all of them are not enough, nobody was touched. */
static bool displace(struct world *w, uint32_t j)
{
    int vc = naive_queue_of(w, j);
    int64_t mine = value(w, j, false);
    uint32_t out[NAIVE_JOBS], n = 0;
    bool jumps = w->c->rules != NULL && w->c->rules->jumps;
    bool is_in = false;
    struct world as_it_was = *w;
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
        is_in = naive_start(w, j);
    }
    if (!is_in) {
        *w = as_it_was;
        return false;
    }
    while (n > 0) {
        uint32_t i = out[--n];
        w->jobs[i].is = WAITING;
        if (naive_go_back(w, i) || (jumps && naive_start(w, i)))
            continue;
        naive_queue_again(w, i);
        w->jobs[i].is_displaced = jumps;
    }
    return true;
}

/* ---- EASY ---------------------------------------------------------------------------------------- */

/* What the head holds of a node at the shadow, and what is over there for others. */
struct held {
    uint32_t gpus, over_gpus;
    uint64_t over[2]; /* CPU, memory */
};

static void hold(const struct world *then, uint32_t node, uint32_t free, uint32_t gpus, struct held *h)
{
    const struct naive_job *head = &then->c->jobs[then->placing - 1];
    h[node].gpus = gpus;
    h[node].over_gpus = free - gpus;
    h[node].over[0] = naive_left_on(then, node, false) - head->cpu_milli / head->gpus * gpus;
    h[node].over[1] = naive_left_on(then, node, true) - head->mem_kib / head->gpus * gpus;
}

/* The head's nodes in the world of the shadow: by the packed rule, best fit, lowest numbers first; of a pool each node's, in order. */
static void reserve(const struct world *then, int vc, uint32_t gpus, struct held *h)
{
    uint32_t free[NAIVE_NODES], largest = naive_largest(then, vc);
    int best = -1;
    memset(h, 0, NAIVE_NODES * sizeof *h);
    naive_free_now(then, free);
    bool is_pool = naive_is_pool(then->c->placement);
    for (uint32_t i = then->first_node[vc]; i < then->end_node[vc] && is_pool; i++) {
        uint32_t part = naive_within(then, i, free[i] < gpus ? free[i] : gpus);
        if (part > 0)
            hold(then, i, free[i], part, h);
        gpus -= part;
    }
    for (uint32_t size = largest; size > 0 && gpus > largest; size--)
        for (uint32_t i = then->first_node[vc]; i < then->end_node[vc]; i++)
            if (h[i].gpus == 0 && then->c->gpus[i] == size && free[i] == size && size <= gpus &&
                naive_within(then, i, size) == size) {
                hold(then, i, free[i], size, h);
                gpus -= size;
            }
    for (uint32_t i = then->first_node[vc]; i < then->end_node[vc] && gpus > 0; i++)
        if (h[i].gpus == 0 && free[i] >= gpus && naive_within(then, i, gpus) == gpus &&
            (best < 0 || free[i] < free[best]))
            best = (int)i;
    if (best >= 0)
        hold(then, (uint32_t)best, free[best], gpus, h);
}

/* Start a job beside what is held; `h` NULL: nothing is. */
static bool start_beside(struct world *w, uint32_t j, const struct held *h)
{
    uint32_t free[NAIVE_NODES];
    naive_free_now(w, free);
    for (uint32_t i = 0; i < w->c->n_nodes && h != NULL; i++) {
        uint64_t cpu = naive_left_on(w, i, false), memory = naive_left_on(w, i, true);
        if (h[i].gpus == 0)
            continue;
        free[i] = free[i] > h[i].over_gpus ? h[i].over_gpus : free[i];
        if (w->c->cpu_milli[i] > 0)
            w->hidden_cpu[i] = cpu > h[i].over[0] ? (uint32_t)(cpu - h[i].over[0]) : 0;
        if (w->c->mem_kib[i] > 0)
            w->hidden_memory[i] = memory > h[i].over[1] ? memory - h[i].over[1] : 0;
    }
    bool is_in = start_within(w, j, free);
    memset(w->hidden_cpu, 0, sizeof w->hidden_cpu);
    memset(w->hidden_memory, 0, sizeof w->hidden_memory);
    return is_in;
}

/* Does the head have a place in the world of the shadow? */
static bool would_fit_then(struct world *then, int vc, uint32_t head)
{
    uint32_t free[NAIVE_NODES];
    naive_free_now(then, free);
    then->placing = (int)head + 1;
    return naive_would_fit_by_rule(then, vc, then->c->jobs[head].gpus, free);
}

/* A job that outlasts the shadow takes its place in that world, too. */
static void also_then(const struct world *w, struct world *then, uint32_t j)
{
    for (uint32_t i = 0; i < w->c->n_nodes; i++)
        for (uint32_t g = 0; g < w->c->gpus[i]; g++)
            if (w->owner[i][g] == (int)j)
                for (uint32_t k = 0; k < w->c->gpus[i]; k++)
                    if (then->owner[i][k] < 0) { /* which one does not matter */
                        then->owner[i][k] = (int)j;
                        break;
                    }
}

/* Where the module puts it, if the head is left a place by the rule of the placement; else beside nodes chosen for the head. */
static bool start_in_pool(struct world *w, struct world *then, int vc, uint32_t head, uint32_t j)
{
    struct held h[NAIVE_NODES];
    static struct world before, after;
    before = *w;
    if (start_beside(w, j, NULL)) {
        after = *then;
        also_then(w, &after, j);
        if (would_fit_then(&after, vc, head))
            return true;
        *w = before;
        reserve(then, vc, w->c->jobs[head].gpus, h);
        return start_beside(w, j, h);
    }
    return false;
}

static bool start_packed(struct world *w, struct held *h, uint32_t j)
{
    const struct naive_job *job = &w->c->jobs[j];
    if (!start_beside(w, j, h))
        return false;
    for (uint32_t i = 0; i < w->c->n_nodes; i++)
        for (uint32_t g = 0; g < w->c->gpus[i]; g++)
            if (w->owner[i][g] == (int)j && h[i].gpus > 0) {
                h[i].over_gpus--;
                h[i].over[0] -= job->cpu_milli / job->gpus;
                h[i].over[1] -= job->mem_kib / job->gpus;
            }
    return true;
}

static void backfill(struct world *w, uint32_t head)
{
    int vc = naive_queue_of(w, head);
    uint32_t gpus = w->c->jobs[head].gpus, free[NAIVE_NODES];
    int64_t shadow = -1;
    static struct world trial; /* in which the running jobs end one after the other */
    for (uint32_t i = 0; i < w->c->n_jobs; i++)
        if (w->jobs[i].is == RUNNING && naive_queue_of(w, i) == vc && w->jobs[i].predicted_end <= w->now &&
            !w->c->ends_now)
            w->jobs[i].predicted_end = w->now + w->jobs[i].overhead_left + naive_expected(w, i);
    trial = *w;
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
        if (would_fit_then(&trial, vc, head))
            shadow = next;
    }
    naive_free_now(&trial, free);
    int64_t over = shadow < 0 ? 0 : (int64_t)naive_free_for(&trial, vc, free) - gpus; /* GPUs, at the shadow */
    bool is_pool = naive_is_pool(w->c->placement);
    struct held h[NAIVE_NODES];
    if (shadow >= 0 && !is_pool)
        reserve(&trial, vc, gpus, h);
    w->jobs[head].has_failed = true;
    for (int j; (j = first_waiting(w, vc)) >= 0;) {
        int64_t length = naive_overhead_next(w, (uint32_t)j) + predicted(w, (uint32_t)j);
        uint32_t want = w->c->jobs[j].gpus;
        w->jobs[j].has_failed = true;
        if (shadow < 0 || w->now + length <= shadow) {
            naive_start(w, (uint32_t)j);
            continue;
        }
        if (want > over)
            continue;
        if (is_pool ? !start_in_pool(w, &trial, vc, head, (uint32_t)j) : !start_packed(w, h, (uint32_t)j))
            continue;
        over -= want;
        also_then(w, &trial, (uint32_t)j);
    }
}

/* ---- a round of one queue ------------------------------------------------------------------------- */

/* quantum: how long a started job is safe. */
static int64_t slice(const struct world *w, uint32_t j)
{
    return w->c->rules != NULL && w->c->rules->slice != NULL ? w->c->rules->slice(w, j) : w->c->quantum;
}

void naive_schedule(struct world *w, int vc)
{
    const struct naive_case *c = w->c;
    if (c->rules != NULL && c->rules->round != NULL)
        c->rules->round(w, vc);
    if (c->admission)
        naive_admit(w, vc);
    if (!naive_is_any_waiting(w, vc))
        return;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        s->has_failed = false;
        if (c->preempt == N_QUANTUM && s->is == RUNNING && naive_queue_of(w, j) == vc && !s->is_open &&
            w->now - s->safe_from >= slice(w, j)) {
            s->is_open = true;
            s->value_at = w->now;
            s->value_then = value_then(w, j);
        }
    }
    for (uint32_t j = 0; j < c->n_jobs; j++) { /* whose value has come to nothing: it is beyond its estimate */
        struct state *s = &w->jobs[j];
        bool is_by_rule = !c->ends_now && (c->order == N_SRTF || c->order == N_SRSF);
        if (is_by_rule && c->preempt != N_NEVER && s->is == RUNNING && s->is_open && naive_queue_of(w, j) == vc &&
            s->value_then - (w->now - s->value_at) <= 0) {
            s->value_at = w->now;
            s->value_then = predicted(w, j);
        }
    }
    memcpy(w->before, w->jobs, sizeof w->jobs);
    memcpy(w->owner_before, w->owner, sizeof w->owner);
    for (int head; (head = first_waiting(w, vc)) >= 0;) {
        if (naive_start(w, (uint32_t)head) || (c->preempt != N_NEVER && displace(w, (uint32_t)head)))
            continue;
        w->jobs[head].has_failed = true;
        if (c->fill == N_EASY)
            backfill(w, (uint32_t)head);
        if (c->fill != N_SKIP)
            break;
    }
    if (c->preempt == N_QUANTUM && naive_is_any_waiting(w, vc)) {
        int64_t at = (w->now / c->quantum + 1) * c->quantum;
        bool is_any_running = false;
        for (uint32_t j = 0; j < c->n_jobs; j++)
            if (w->jobs[j].is == RUNNING && naive_queue_of(w, j) == vc) {
                is_any_running = true;
                int64_t end = w->jobs[j].safe_from + slice(w, j);
                if (!w->jobs[j].is_open && end < at && end > w->now)
                    at = end;
            }
        if (is_any_running && at < w->alarm[vc])
            w->alarm[vc] = at;
    }
    for (uint32_t j = 0; j < c->n_jobs; j++)
        w->jobs[j].is_displaced = false;
    if (c->rules != NULL && c->rules->next != NULL && naive_is_any_waiting(w, vc)) {
        int64_t at = c->rules->next(w, vc);
        w->alarm[vc] = at < w->alarm[vc] ? at : w->alarm[vc];
    }
}

/* GPUs came free on the nodes of `vc`: every queue over them with jobs waiting is asked. */
void naive_ask_sharers(struct world *w, int vc, bool is_asked[NAIVE_VCS])
{
    if (naive_is_one_queue(w))
        return; /* it is asked already */
    for (uint32_t v = 0; v < naive_n_queues(w); v++)
        if (w->first_node[v] == w->first_node[vc] && naive_is_any_waiting(w, (int)v))
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

static void tell(const struct world *w, uint32_t j)
{
    fprintf(stderr, "  naive  %10.3f: job %u on", (double)w->now * 1e-9, j);
    for (uint32_t node = 0; node < w->c->n_nodes; node++) {
        uint32_t n = 0;
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            n += w->owner[node][g] == (int)j;
        if (n > 0)
            fprintf(stderr, " %u:%u", node, n);
    }
    fprintf(stderr, "\n");
}

/* What became of the jobs of a queue in this round. */
void naive_settle(struct world *w, int vc, bool asked_next[NAIVE_VCS])
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        bool ran = w->before[j].is == RUNNING, runs = s->is == RUNNING;
        if (naive_queue_of(w, j) != vc || (!ran && !runs))
            continue;
        if (w->c->is_told && (ran != runs || !same_gpus(w, j)))
            tell(w, j);
        if (!ran) {
            s->overhead_left = naive_overhead_next(w, j);
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
