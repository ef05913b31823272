/* Turns, batches and records, written from the heads of policies/weighted_round_robin.c, policies/time_window.c and policies/recorded.c. */
#include "tests/engine/naive_rules.h"

static const int64_t SECOND = 1000000000;

/* ---- weighted_round_robin: own = a weight for each user --------------------------------------------------- */

static void turns_roll(struct naive_case *c, struct naive_dice *d)
{
    static const double weights[] = {0.5, 1, 1, 2, 3.25};
    c->fill = N_SKIP;
    c->preempt = N_QUANTUM;
    for (uint32_t u = 0; u < NAIVE_USERS; u++)
        c->own[u] = weights[naive_roll(d, 5)];
    c->restart_overhead =
        c->restart_overhead >= c->quantum / 2 ? 0 : c->restart_overhead; /* slices must get somewhere */
}

static void users_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_weights(c, t, c->own);
    naive_param_s(t, "quantum", (double)c->quantum * 1e-9);
}

/* One more than that of its user's job before it, at least the present one. */
static void users_enter(struct world *w, uint32_t j)
{
    struct naive_own *o = &w->own[naive_queue_of(w, j)];
    int64_t *of_user = &o->user_turn[w->c->jobs[j].user], present = o->turn > 1 ? o->turn : 1;
    *of_user = *of_user + 1 > present ? *of_user + 1 : present;
    w->marks[j].turn = *of_user;
}

/* The present turn is the latest that anything was started in. */
static void users_starts(struct world *w, uint32_t j)
{
    struct naive_own *o = &w->own[naive_queue_of(w, j)];
    o->turn = w->marks[j].turn > o->turn ? w->marks[j].turn : o->turn;
}

static int64_t users_value(struct world *w, uint32_t j, bool is_running)
{
    return is_running ? INT64_MAX : w->marks[j].turn;
}

static int64_t users_slice(const struct world *w, uint32_t j)
{
    return (int64_t)(w->c->own[w->c->jobs[j].user] * (double)w->c->quantum);
}

const struct naive_rules naive_users_in_turn = {.policy = "weighted_round_robin",
                                                .params = users_params,
                                                .roll = turns_roll,
                                                .value = users_value,
                                                .enter = users_enter,
                                                .starts = users_starts,
                                                .slice = users_slice,
                                                .is_fine = true};

static void jobs_params(const struct naive_case *c, struct test_case *t)
{
    case_param(t, "by", "priority");
    naive_param_s(t, "quantum", (double)c->quantum * 1e-9);
}

static int64_t jobs_value(struct world *w, uint32_t j, bool is_running)
{
    return is_running ? INT64_MAX : w->jobs[j].in_queue_since;
}

static int64_t jobs_slice(const struct world *w, uint32_t j)
{
    double weight = w->c->jobs[j].priority < 1 ? 1 : w->c->jobs[j].priority;
    return (int64_t)(weight * (double)w->c->quantum);
}

const struct naive_rules naive_jobs_in_turn = {.policy = "weighted_round_robin",
                                               .params = jobs_params,
                                               .roll = turns_roll,
                                               .value = jobs_value,
                                               .slice = jobs_slice,
                                               .is_fine = true};

/* ---- time_window: own = window, number of the order, number of the fill ----------------------------------- */

enum { WINDOW, ORDER, FILL };

static const char *const batch_orders[] = {"edf", "fifo", "least_laxity", "ljf", "priority", "qssf", "sjf", "smallest"};

static void batch_roll(struct naive_case *c, struct naive_dice *d)
{
    c->own[WINDOW] = 1 + (double)naive_roll(d, c->n_jobs > 6 ? 30 : 6);
    c->own[ORDER] = (double)naive_roll(d, sizeof batch_orders / sizeof *batch_orders);
    c->fill = (enum naive_fill)naive_roll(d, N_FILLS);
    c->preempt = N_NEVER;
}

static void batch_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_s(t, "window", c->own[WINDOW]);
    case_param(t, "order", batch_orders[(int)c->own[ORDER]]);
    case_param(t, "fill", naive_fill_names[c->fill]);
}

/* Inside a batch, the smallest first: as things are when the window closes. */
static double batch_key(const struct world *w, uint32_t j)
{
    const struct naive_job *job = &w->c->jobs[j];
    double deadline = job->deadline < 0 ? 1e18 : (double)job->deadline;
    switch ((int)w->c->own[ORDER]) {
    case 0:
        return deadline;
    case 1:
        return (double)job->submit;
    case 2:
        return deadline < 1e18 ? deadline - (double)naive_remaining(w, j) : deadline;
    case 3:
        return -(double)job->estimate;
    case 4:
        return -job->priority;
    case 5:
        return (double)job->estimate * job->gpus;
    case 6:
        return (double)job->estimate;
    default:
        return job->gpus;
    }
}

/* turn: 0: in the window, else its place among all that were released. entered: the end of its window. */
static void batch_enter(struct world *w, uint32_t j)
{
    struct naive_own *o = &w->own[naive_queue_of(w, j)];
    if (w->marks[j].is_known)
        return; /* it lost its GPUs to a quota that shrank: it keeps its place */
    if (w->now >= o->closes)
        o->closes = w->now + (int64_t)w->c->own[WINDOW] * SECOND;
    w->marks[j] = (struct naive_mark){.is_known = true, .entered = o->closes};
}

static void batch_round(struct world *w, int queue)
{
    for (;;) { /* the next to be released: of the earliest window that has closed, the first in order */
        int next = -1;
        for (uint32_t j = 0; j < w->c->n_jobs; j++) {
            const struct naive_mark *m = &w->marks[j], *n = &w->marks[next < 0 ? 0 : next];
            if (naive_queue_of(w, j) != queue || !m->is_known || m->turn > 0 || m->entered > w->now)
                continue;
            if (next < 0 || m->entered < n->entered ||
                (m->entered == n->entered && batch_key(w, j) < batch_key(w, (uint32_t)next)))
                next = (int)j;
        }
        if (next < 0)
            return;
        w->marks[next].turn = ++w->own[queue].n_released;
    }
}

static bool batch_is_hidden(const struct world *w, uint32_t j)
{
    return w->marks[j].turn == 0;
}

static int64_t batch_value(struct world *w, uint32_t j, bool is_running)
{
    (void)is_running;
    return w->marks[j].turn;
}

static int64_t batch_next(const struct world *w, int queue)
{
    return w->own[queue].closes > w->now ? w->own[queue].closes : INT64_MAX;
}

const struct naive_rules naive_time_window = {.policy = "time_window",
                                              .params = batch_params,
                                              .roll = batch_roll,
                                              .value = batch_value,
                                              .enter = batch_enter,
                                              .round = batch_round,
                                              .next = batch_next,
                                              .is_hidden = batch_is_hidden};

/* ---- recorded ------------------------------------------------------------------------------------------ */

static void record_roll(struct naive_case *c, struct naive_dice *d)
{
    (void)d;
    c->fill = N_SKIP;
    c->preempt = N_NEVER;
}

static int64_t due(const struct world *w, uint32_t j)
{
    const struct naive_job *job = &w->c->jobs[j];
    return job->recorded > job->submit ? job->recorded : job->submit;
}

static int64_t record_value(struct world *w, uint32_t j, bool is_running)
{
    (void)is_running;
    return due(w, j);
}

static bool record_is_hidden(const struct world *w, uint32_t j)
{
    return due(w, j) > w->now;
}

static int64_t record_next(const struct world *w, int queue)
{
    int64_t next = INT64_MAX;
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (naive_queue_of(w, j) == queue && w->jobs[j].is == WAITING && record_is_hidden(w, j) && due(w, j) < next)
            next = due(w, j);
    return next;
}

const struct naive_rules naive_recorded = {.policy = "recorded",
                                           .roll = record_roll,
                                           .value = record_value,
                                           .next = record_next,
                                           .is_hidden = record_is_hidden};
