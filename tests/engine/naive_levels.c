/* Queues that jobs move between, written from the heads of policies/tiresias.c and policies/mlfq.c. */
#include "tests/engine/naive_rules.h"

#include <math.h>

static const int64_t SECOND = 1000000000;

/* ---- tiresias: own = two thresholds (0: none), 1 for service in GPU time, promote ----------------------- */

enum { LIMIT_0, LIMIT_1, BY_GPUS, PROMOTE, WITHIN };

static const char *const withins[] = {"running", "entry", "submit"};

static const int64_t LEVEL = 10000000000000000, WAITS = 4000000000000000;

static void tiresias_roll(struct naive_case *c, struct naive_dice *d)
{
    static const double promote[] = {0, 0.3, 1, 2.5};
    bool is_long = c->n_jobs > 6;
    c->fill = N_SKIP;
    c->preempt = N_WHEN_BETTER;
    c->own[LIMIT_0] = 1 + (double)naive_roll(d, is_long ? 100 : 10);
    c->own[LIMIT_1] = naive_roll(d, 3) == 0 ? 0 : c->own[LIMIT_0] + 1 + (double)naive_roll(d, is_long ? 200 : 20);
    c->own[BY_GPUS] = (double)naive_roll(d, 2);
    c->own[PROMOTE] = promote[naive_roll(d, 4)];
    c->own[WITHIN] = (double)naive_roll(d, 3);
    if (c->own[PROMOTE] > 0) /* else jobs may keep each other from ever doing anything */
        c->restart_overhead = 0;
}

static void tiresias_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_list(t, "thresholds", &c->own[LIMIT_0], 2);
    naive_param_number(t, "promote", c->own[PROMOTE]);
    case_param(t, "within", withins[(int)c->own[WITHIN]]);
    case_param(t, "service", c->own[BY_GPUS] > 0 ? "gpu_time" : "time");
}

/* Time on GPUs at which a job leaves its queue; INT64_MAX: never. */
static int64_t time_of_queue(const struct world *w, uint32_t j)
{
    const struct naive_mark *m = &w->marks[j];
    int64_t rate = w->c->own[BY_GPUS] > 0 ? w->c->jobs[j].gpus : 1;
    if (m->level > LIMIT_1 || w->c->own[LIMIT_0 + m->level] == 0)
        return INT64_MAX;
    int64_t limit = (int64_t)w->c->own[LIMIT_0 + m->level] * SECOND;
    return (limit + rate - 1) / rate;
}

/* Waiting after which a job goes back to the first queue; INT64_MAX: it does not. */
static int64_t patience(const struct world *w, uint32_t j)
{
    const struct naive_mark *m = &w->marks[j];
    if (w->c->own[PROMOTE] == 0 || m->level == 0 || m->executed == 0)
        return INT64_MAX;
    return (int64_t)ceil(w->c->own[PROMOTE] * (double)m->executed);
}

/* Who has waited for long enough returns to the first queue now. */
static void promote(struct world *w, uint32_t j, int64_t now)
{
    struct naive_mark *m = &w->marks[j];
    if (w->jobs[j].is == WAITING && m->waited >= patience(w, j))
        *m = (struct naive_mark){.entered = now, .is_known = true};
}

static void tiresias_enter(struct world *w, uint32_t j)
{
    if (!w->marks[j].is_known)
        w->marks[j] = (struct naive_mark){.entered = w->now, .is_known = true};
}

static void tiresias_pass(struct world *w, int64_t ns)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct naive_mark *m = &w->marks[j];
        if (w->jobs[j].is == RUNNING)
            m->executed += ns;
        while (w->jobs[j].is == RUNNING && m->executed >= time_of_queue(w, j)) {
            m->level++;
            m->entered = w->now + ns;
        }
        promote(w, j, w->now);
        if (w->jobs[j].is == WAITING && m->executed > 0)
            m->waited += ns;
        promote(w, j, w->now + ns);
    }
}

static void tiresias_round(struct world *w, int queue)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (naive_queue_of(w, j) == queue)
            promote(w, j, w->now);
}

static int64_t tiresias_value(struct world *w, uint32_t j, bool is_running)
{
    const struct naive_mark *m = &w->marks[j];
    int within = (int)w->c->own[WITHIN];
    return m->level * LEVEL + (within > 0 || is_running ? 0 : WAITS) +
           (within == 2 ? w->c->jobs[j].submit : m->entered);
}

static int64_t tiresias_next(const struct world *w, int queue)
{
    int64_t next = INT64_MAX;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        const struct naive_mark *m = &w->marks[j];
        if (naive_queue_of(w, j) != queue)
            continue;
        int64_t at = INT64_MAX;
        if (w->jobs[j].is == RUNNING && time_of_queue(w, j) < INT64_MAX)
            at = w->now + time_of_queue(w, j) - m->executed;
        if (w->jobs[j].is == WAITING && patience(w, j) < INT64_MAX)
            at = w->now + patience(w, j) - m->waited;
        next = at > w->now && at < next ? at : next;
    }
    return next;
}

const struct naive_rules naive_tiresias = {.policy = "tiresias",
                                           .params = tiresias_params,
                                           .roll = tiresias_roll,
                                           .value = tiresias_value,
                                           .enter = tiresias_enter,
                                           .round = tiresias_round,
                                           .pass = tiresias_pass,
                                           .next = tiresias_next,
                                           .jumps = true,
                                           .is_fine = true};

/* ---- mlfq: own = quanta of up to three levels (0: none), boost (0: never) ------------------------------- */

enum { QUANTUM_0, BOOST = 3, LEVELS_MOST = 3 };

static void mlfq_roll(struct naive_case *c, struct naive_dice *d)
{
    bool is_long = c->n_jobs > 6;
    uint64_t n = 1 + naive_roll(d, LEVELS_MOST);
    c->fill = N_SKIP;
    c->preempt = N_WHEN_BETTER;
    for (uint64_t i = 0; i < LEVELS_MOST; i++)
        c->own[QUANTUM_0 + i] = i < n ? 4 + (double)naive_roll(d, is_long ? 12 : 4) : 0;
    c->own[BOOST] = naive_roll(d, 2) == 0 ? 0 : 4 + (double)naive_roll(d, is_long ? 40 : 10);
}

static void mlfq_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_list(t, "quanta", &c->own[QUANTUM_0], LEVELS_MOST);
    naive_param_s(t, "boost", c->own[BOOST]);
}

static bool is_last_level(const struct world *w, uint32_t level)
{
    return level + 1 == LEVELS_MOST || w->c->own[QUANTUM_0 + level + 1] == 0;
}

static void mlfq_pass(struct world *w, int64_t ns)
{
    int64_t now = w->now + ns, boost = (int64_t)w->c->own[BOOST] * SECOND;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct naive_mark *m = &w->marks[j];
        if (w->jobs[j].is == RUNNING)
            m->executed += ns;
        if (w->jobs[j].is == RUNNING && m->executed == (int64_t)w->c->own[QUANTUM_0 + m->level] * SECOND) {
            m->level += !is_last_level(w, m->level);
            m->executed = 0;
            m->entered = now;
        }
        if (boost > 0 && now % boost == 0 && (w->jobs[j].is == RUNNING || w->jobs[j].is == WAITING) &&
            (m->level > 0 || m->executed > 0)) {
            m->level = 0;
            m->executed = 0;
            m->entered = now;
        }
    }
}

static int64_t mlfq_value(struct world *w, uint32_t j, bool is_running)
{
    const struct naive_mark *m = &w->marks[j];
    return m->level * LEVEL + 2 * m->entered + !is_running;
}

static int64_t mlfq_next(const struct world *w, int queue)
{
    int64_t next = INT64_MAX, boost = (int64_t)w->c->own[BOOST] * SECOND;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        const struct naive_mark *m = &w->marks[j];
        bool runs = w->jobs[j].is == RUNNING;
        if (naive_queue_of(w, j) != queue || (!runs && w->jobs[j].is != WAITING))
            continue;
        int64_t at = runs ? w->now + (int64_t)w->c->own[QUANTUM_0 + m->level] * SECOND - m->executed : INT64_MAX;
        next = at < next ? at : next;
        at = w->now + (boost > 0 ? boost - w->now % boost : 0);
        next = boost > 0 && at < next && (runs || m->level > 0 || m->executed > 0) ? at : next;
    }
    return next;
}

const struct naive_rules naive_mlfq = {.policy = "mlfq",
                                       .params = mlfq_params,
                                       .roll = mlfq_roll,
                                       .value = mlfq_value,
                                       .enter = tiresias_enter,
                                       .pass = mlfq_pass,
                                       .next = mlfq_next,
                                       .jumps = true};
