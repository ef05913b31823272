/* conservative, written from the head of policies/conservative.c: the plan is a list of who holds what from when to when, and what is free at an
 * instant is summed over it. */
#include "tests/engine/naive_rules.h"

#include <string.h>

static const int64_t SECOND = 1000000000, NEVER = INT64_MAX;

enum { DEPTH };

static void plan_roll(struct naive_case *c, struct naive_dice *d)
{
    c->fill = N_SKIP;
    c->preempt = N_NEVER;
    c->own[DEPTH] = naive_roll(d, 2) == 0 ? 0 : 1 + (double)naive_roll(d, 4);
}

static void plan_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_number(t, "depth", c->own[DEPTH]);
}

/* ---- what is free ---------------------------------------------------------------------------------- */

static uint32_t all_gpus(const struct world *w, int queue)
{
    uint32_t n = 0;
    for (uint32_t node = w->first_node[queue]; node < w->end_node[queue]; node++)
        n += w->c->gpus[node];
    return n;
}

/* Does another queue use these nodes? */
static bool is_shared(const struct world *w, int queue)
{
    for (uint32_t v = 0; v < naive_n_queues(w); v++)
        if ((int)v != queue && w->first_node[v] == w->first_node[queue] && w->end_node[v] == w->end_node[queue])
            return true;
    return false;
}

/* Can types, CPU or memory keep a job from starting though there are GPUs enough? Asked of all jobs and nodes of the case. */
static bool is_more_than_gpus(const struct world *w)
{
    const struct naive_case *c = w->c;
    bool is_typed = false, is_more = false;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        is_typed |= c->type[i] != 0;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        for (uint32_t i = 0; i < c->n_nodes; i++) {
            const struct naive_job *job = &c->jobs[j];
            is_more |= is_typed && job->type != 0 && job->type != c->type[i];
            is_more |= c->cpu_milli[i] > 0 && job->cpu_milli > 0;
            is_more |= c->mem_kib[i] > 0 && job->mem_kib > 0;
        }
    return is_more;
}

/* Does the plan know nodes, or only how many GPUs there are? Where any GPUs will do it makes no difference unless more than GPUs counts. */
static bool is_by_node(const struct world *w, int queue)
{
    return !w->own[queue].is_counted && (!naive_is_pool(w->c->placement) || is_more_than_gpus(w));
}

static bool holds(const struct world *w, int queue, uint32_t j, int64_t t)
{
    const struct naive_plan *p = &w->plans[j];
    if (naive_queue_of(w, j) != queue)
        return false;
    if (w->jobs[j].is == RUNNING)
        return t < p->end;
    return w->jobs[j].is == WAITING && p->start != NEVER && p->start <= t && t < p->end;
}

enum { GPUS, CPU, MEMORY, KINDS };

/* What a job takes of each kind for a GPU. */
static int64_t each(const struct world *w, uint32_t j, int kind)
{
    const struct naive_job *job = &w->c->jobs[j];
    return kind == GPUS ? 1 : kind == CPU ? job->cpu_milli / job->gpus : (int64_t)(job->mem_kib / job->gpus);
}

/* At instant `t`, on a node or, by counting, at all (node 0 stands for it). */
static int64_t free_at(const struct world *w, int queue, uint32_t node, int kind, int64_t t)
{
    bool by_node = is_by_node(w, queue);
    int64_t n = !by_node       ? naive_capacity(w, queue)
                : kind == GPUS ? (int64_t)w->c->gpus[node]
                : kind == CPU  ? (int64_t)w->c->cpu_milli[node]
                               : (int64_t)w->c->mem_kib[node];
    if (kind != GPUS && (!by_node || n == 0))
        return NEVER; /* no bound */
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (holds(w, queue, j, t))
            n -= (by_node ? w->plans[j].take[node] : w->c->jobs[j].gpus) * each(w, j, kind);
    return n;
}

/* The fewest over [from, to). */
static int64_t least_free(const struct world *w, int queue, uint32_t node, int kind, int64_t from, int64_t to)
{
    int64_t least = free_at(w, queue, node, kind, from);
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        const struct naive_plan *p = &w->plans[j];
        if (naive_queue_of(w, j) != queue || w->jobs[j].is != WAITING || p->start == NEVER || p->start <= from ||
            p->start >= to)
            continue;
        int64_t n = free_at(w, queue, node, kind, p->start);
        least = n < least ? n : least;
    }
    return least;
}

/* Is the node of the type that job `j` asks for? Where no node has a type they do not matter. */
static bool is_of_type(const struct world *w, uint32_t j, uint32_t node)
{
    bool is_any = false;
    for (uint32_t i = 0; i < w->c->n_nodes; i++)
        is_any |= w->c->type[i] != 0;
    return !is_any || w->c->jobs[j].type == 0 || w->c->jobs[j].type == w->c->type[node];
}

/* GPUs of a node, up to `most`, that job `j` can have over [from, to), with what goes with them. */
static int64_t most_for(const struct world *w, int queue, uint32_t j, uint32_t node, int64_t most, int64_t from,
                        int64_t to)
{
    if (is_by_node(w, queue) && !is_of_type(w, j, node))
        return 0;
    for (int kind = GPUS; kind < KINDS; kind++) {
        int64_t least = least_free(w, queue, node, kind, from, to);
        if (least == NEVER || each(w, j, kind) == 0)
            continue;
        most = least <= 0 ? 0 : least / each(w, j, kind) < most ? least / each(w, j, kind) : most;
    }
    return most;
}

/* The node with the fewest GPUs to spare, the first of equals, that is not taken; -1: none. */
static int tightest(const struct world *w, int queue, uint32_t j, int64_t gpus, int64_t from, int64_t to,
                    const uint32_t *take)
{
    int best = -1;
    int64_t best_free = 0;
    for (uint32_t i = w->first_node[queue]; i < w->end_node[queue]; i++) {
        int64_t n = least_free(w, queue, i, GPUS, from, to);
        if (take[i] > 0 || most_for(w, queue, j, i, gpus, from, to) < gpus || (best >= 0 && n >= best_free))
            continue;
        best = (int)i;
        best_free = n;
    }
    return best;
}

/* Where a job would be over [from, to). */
static bool fits(const struct world *w, int queue, uint32_t j, int64_t from, int64_t to, uint32_t *take)
{
    uint32_t gpus = w->c->jobs[j].gpus, largest = 0, missing = gpus;
    memset(take, 0, NAIVE_NODES * sizeof *take);
    if (!is_by_node(w, queue))
        return gpus <= naive_capacity(w, queue) && least_free(w, queue, 0, GPUS, from, to) >= gpus;
    if (naive_is_pool(w->c->placement)) {
        for (uint32_t i = w->first_node[queue]; i < w->end_node[queue]; i++) {
            take[i] = (uint32_t)most_for(w, queue, j, i, missing, from, to);
            missing -= take[i];
        }
        return missing == 0;
    }
    for (uint32_t i = w->first_node[queue]; i < w->end_node[queue]; i++)
        if (is_of_type(w, j, i) && w->c->gpus[i] > largest)
            largest = w->c->gpus[i];
    for (uint32_t size = largest; size > 0 && gpus > largest; size--)
        for (uint32_t i = w->first_node[queue]; i < w->end_node[queue]; i++)
            if (w->c->gpus[i] == size && size <= missing && most_for(w, queue, j, i, size, from, to) == size) {
                take[i] = size;
                missing -= size;
            }
    int rest = missing > 0 ? tightest(w, queue, j, missing, from, to, take) : -1;
    if (rest >= 0) {
        take[rest] = missing;
        missing = 0;
    }
    return missing == 0;
}

/* The earliest start; before it something must end. */
static int64_t earliest(const struct world *w, int queue, uint32_t job, int64_t run, uint32_t *take)
{
    for (int64_t t = w->now;;) {
        int64_t next = NEVER;
        if (fits(w, queue, job, t, t + run, take))
            return t;
        for (uint32_t j = 0; j < w->c->n_jobs; j++) {
            const struct naive_plan *p = &w->plans[j];
            bool is_there = naive_queue_of(w, j) == queue &&
                            (w->jobs[j].is == RUNNING || (w->jobs[j].is == WAITING && p->start != NEVER));
            if (is_there && p->end > t && p->end < next)
                next = p->end;
        }
        if (next == NEVER)
            return NEVER;
        t = next;
    }
}

static bool is_free(const struct world *w, int queue, const struct naive_plan *p, uint32_t j, int64_t from, int64_t to)
{
    if (from >= to)
        return true;
    if (!is_by_node(w, queue))
        return least_free(w, queue, 0, GPUS, from, to) >= w->c->jobs[j].gpus;
    for (uint32_t i = w->first_node[queue]; i < w->end_node[queue]; i++)
        for (int kind = GPUS; kind < KINDS; kind++)
            if (p->take[i] > 0 && least_free(w, queue, i, kind, from, to) < p->take[i] * each(w, j, kind))
                return false;
    return true;
}

/* ---- reservations ---------------------------------------------------------------------------------- */

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t n_reserved(const struct world *w, int queue)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        n += naive_queue_of(w, j) == queue && w->jobs[j].is == WAITING && w->plans[j].start != NEVER;
    return n;
}

static bool has_depth(const struct world *w, int queue)
{
    return w->c->own[DEPTH] == 0 || n_reserved(w, queue) < w->c->own[DEPTH];
}

static bool is_queued(const struct world *w, int queue, uint32_t j)
{
    return naive_queue_of(w, j) == queue && w->jobs[j].is == WAITING;
}

static int64_t run_left(const struct world *w, uint32_t j)
{
    bool runs = w->jobs[j].is == RUNNING;
    return naive_expected(w, j) + (runs ? w->jobs[j].overhead_left : naive_overhead_next(w, j));
}

/* Of a job that has been due and found no place: at least as long as that, and a second. */
static int64_t as_blocked(const struct world *w, const struct naive_plan *p, int64_t length)
{
    return p->blocked == NEVER ? length : longer(length, longer(SECOND, w->now - p->blocked));
}

static void plan_job(struct world *w, int queue, uint32_t j)
{
    struct naive_plan *p = &w->plans[j];
    int64_t run = run_left(w, j);
    run = as_blocked(w, p, run);
    p->start = NEVER;
    p->start = earliest(w, queue, j, run, p->take);
    p->end = p->start == NEVER ? NEVER : p->start + run;
}

static void replan(struct world *w, int queue)
{
    struct naive_own *o = &w->own[queue];
    bool is_anew = o->must_replan_all;
    struct naive_plan old[NAIVE_JOBS];
    memcpy(old, w->plans, sizeof old);
    o->must_replan = o->must_replan_all = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (is_queued(w, queue, j))
            w->plans[j].start = NEVER;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct naive_plan *p = &w->plans[j];
        if (!is_queued(w, queue, j))
            continue;
        if (p->is_fresh)
            return;
        if (!has_depth(w, queue)) {
            p->is_fresh = true;
            continue;
        }
        bool was_anew = is_anew;
        is_anew |= old[j].start == NEVER || !is_free(w, queue, p, j, old[j].start, old[j].end);
        o->may_compress |= is_anew && !was_anew;
        if (is_anew)
            plan_job(w, queue, j);
        else
            *p = old[j];
    }
}

static bool advance(struct world *w, int queue, uint32_t j)
{
    struct naive_plan *p = &w->plans[j], old = *p;
    if (p->start == NEVER || p->start <= w->now)
        return false;
    p->start = NEVER;
    p->start = earliest(w, queue, j, old.end - old.start, p->take);
    p->end = p->start + (old.end - old.start);
    if (p->start < old.start)
        return true;
    *p = old;
    return false;
}

/* Until nobody moves. */
static void compress(struct world *w, int queue)
{
    w->own[queue].may_compress = false;
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        for (uint32_t j = 0; j < w->c->n_jobs; j++) {
            if (!is_queued(w, queue, j))
                continue;
            if (w->plans[j].is_fresh)
                break;
            has_moved |= advance(w, queue, j);
        }
    }
}

/* ---- what did not go as planned ---------------------------------------------------------------------- */

static void extend(struct world *w, int queue, uint32_t j, int64_t end)
{
    struct naive_plan *p = &w->plans[j];
    w->own[queue].must_replan |= !is_free(w, queue, p, j, longer(p->end, w->now), end);
    p->end = end;
}

static void extend_all(struct world *w, int queue)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        const struct naive_plan *p = &w->plans[j];
        if (naive_queue_of(w, j) != queue || w->jobs[j].is != RUNNING || p->end > w->now)
            continue;
        extend(w, queue, j, w->now + run_left(w, j));
    }
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct naive_plan *p = &w->plans[j];
        if (!is_queued(w, queue, j) || p->start >= w->now)
            continue;
        p->blocked = p->blocked == NEVER ? p->start : p->blocked;
        extend(w, queue, j, w->now + as_blocked(w, p, p->end - p->start));
        p->start = w->now;
    }
}

static void count_only(struct world *w, int queue)
{
    if (!is_by_node(w, queue))
        return;
    w->own[queue].is_counted = true;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (is_queued(w, queue, j))
            w->plans[j].start = NEVER;
    w->own[queue].must_replan = w->own[queue].must_replan_all = true;
}

static bool start_as_planned(struct world *w, int queue, uint32_t j)
{
    const struct naive_plan *p = &w->plans[j];
    if (!is_by_node(w, queue))
        return naive_start(w, j);
    naive_start_at(w, j, p->take);
    return true;
}

static void start_due(struct world *w, int queue)
{
    bool is_seen[NAIVE_JOBS] = {0};
    for (;;) {
        int next = -1;
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            if (is_queued(w, queue, j) && !is_seen[j] && w->plans[j].start <= w->now &&
                (next < 0 || w->plans[j].start < w->plans[next].start))
                next = (int)j;
        if (next < 0)
            return;
        struct naive_plan *p = &w->plans[next];
        int64_t end = w->now + run_left(w, (uint32_t)next);
        is_seen[next] = true;
        if (!start_as_planned(w, queue, (uint32_t)next) || p->blocked == NEVER)
            continue;
        p->blocked = NEVER;
        if (end < p->end) {
            p->end = end;
            w->own[queue].may_compress = true;
        }
    }
}

/* ---- the rules ------------------------------------------------------------------------------------- */

static void plan_begin(struct world *w)
{
    for (uint32_t v = 0; v < naive_n_queues(w); v++)
        w->own[v].is_counted = naive_capacity(w, (int)v) != all_gpus(w, (int)v) || is_shared(w, (int)v);
}

/* It is new, or lost its GPUs to a quota that shrank. */
static void plan_enter(struct world *w, uint32_t j)
{
    struct naive_plan *p = &w->plans[j];
    int queue = naive_queue_of(w, j);
    bool is_new = w->jobs[j].start < 0;
    for (uint32_t i = 0; i < j; i++)
        is_new |= is_queued(w, queue, i) && w->plans[i].is_fresh;
    w->own[queue].may_compress |= w->jobs[j].start >= 0 && p->end > w->now;
    w->own[queue].must_replan |= w->jobs[j].start >= 0;
    p->is_fresh = is_new;
    p->start = p->end = p->blocked = NEVER;
}

static void plan_ends(struct world *w, uint32_t j)
{
    w->own[naive_queue_of(w, j)].may_compress |= w->plans[j].end > w->now;
}

static void plan_capacity(struct world *w, int queue)
{
    w->own[queue].must_replan = w->own[queue].must_replan_all = true;
    if (naive_capacity(w, queue) != all_gpus(w, queue))
        count_only(w, queue);
}

static bool is_any_fresh(const struct world *w, int queue)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (is_queued(w, queue, j) && w->plans[j].is_fresh)
            return true;
    return false;
}

static void plan_schedule(struct world *w, int queue)
{
    struct naive_own *o = &w->own[queue];
    extend_all(w, queue);
    do {
        if (o->must_replan)
            replan(w, queue);
        if (o->may_compress)
            compress(w, queue);
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            if (is_queued(w, queue, j) && w->plans[j].is_fresh && has_depth(w, queue)) {
                w->plans[j].is_fresh = false;
                plan_job(w, queue, j);
            }
        start_due(w, queue);
    } while (o->must_replan || o->may_compress || (is_any_fresh(w, queue) && has_depth(w, queue)));
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        int64_t at = NEVER;
        if (is_queued(w, queue, j))
            at = w->plans[j].start;
        else if (naive_queue_of(w, j) == queue && w->jobs[j].is == RUNNING && naive_is_any_waiting(w, queue))
            at = w->plans[j].end;
        if (at > w->now && at < w->alarm[queue])
            w->alarm[queue] = at;
    }
}

const struct naive_rules naive_conservative = {.policy = "conservative",
                                               .params = plan_params,
                                               .roll = plan_roll,
                                               .begin = plan_begin,
                                               .schedule = plan_schedule,
                                               .enter = plan_enter,
                                               .ends = plan_ends,
                                               .capacity = plan_capacity,
                                               .is_fine = true};
