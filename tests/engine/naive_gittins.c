/* gittins and gittins_past, written from the heads of policies/gittins.c and policies/gittins_index.h: the index by summing over the whole
 * sample whenever it is asked for. */
#include "tests/engine/naive_rules.h"

#include <string.h>

static const int64_t SECOND = 1000000000;

/* own = delta (s of service; 0: the best), 1 for service in GPU time, two thresholds (0: none), time between two looks at the past (0: the
 * sample is the whole trace) */
enum { DELTA, BY_GPUS, LIMIT_0, LIMIT_1, REFIT };

static void index_roll(struct naive_case *c, struct naive_dice *d)
{
    static const double deltas[] = {0, 0, 1, 2, 3, 7, 20};
    bool is_long = c->n_jobs > 6;
    c->fill = N_SKIP;
    c->preempt = N_WHEN_BETTER;
    c->own[DELTA] = deltas[naive_roll(d, 7)] * (is_long ? 3 : 1);
    c->own[BY_GPUS] = (double)naive_roll(d, 2);
    c->own[LIMIT_0] = naive_roll(d, 2) == 0 ? 0 : 1 + (double)naive_roll(d, is_long ? 60 : 8);
    c->own[LIMIT_1] = c->own[LIMIT_0] == 0 || naive_roll(d, 2) == 0
                          ? 0
                          : c->own[LIMIT_0] + 1 + (double)naive_roll(d, is_long ? 60 : 8);
    c->own[REFIT] = 0;
}

static void past_roll(struct naive_case *c, struct naive_dice *d)
{
    index_roll(c, d);
    c->own[REFIT] = 1 + (double)naive_roll(d, c->n_jobs > 6 ? 40 : 8);
}

static void index_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_number(t, "delta", c->own[DELTA]);
    case_param(t, "service", c->own[BY_GPUS] > 0 ? "gpu_time" : "time");
    naive_param_list(t, "thresholds", &c->own[LIMIT_0], 2);
    if (c->own[REFIT] > 0)
        naive_param_s(t, "refit", c->own[REFIT]);
}

static int64_t rate(const struct world *w, uint32_t j)
{
    return w->c->own[BY_GPUS] > 0 ? w->c->jobs[j].gpus : 1;
}

static int64_t service(const struct world *w, uint32_t j)
{
    return w->jobs[j].held * rate(w, j);
}

/* The i-th of the sample that the queue goes by; those of no length do not count. */
static uint32_t sample_size(const struct world *w, int queue)
{
    return w->c->own[REFIT] > 0 ? w->own[queue].n_fitted : w->c->n_jobs;
}

static int64_t sample_at(const struct world *w, int queue, uint32_t i)
{
    return w->c->own[REFIT] > 0 ? w->own[queue].past[i] : w->c->jobs[i].duration * rate(w, i);
}

/* How many are above `a`, and by how much in all but at most `most` each. */
static int64_t above(const struct world *w, int queue, int64_t a, int64_t most, int64_t *by)
{
    int64_t n = 0;
    *by = 0;
    for (uint32_t i = 0; i < sample_size(w, queue); i++) {
        int64_t over = sample_at(w, queue, i) - a;
        n += over > 0;
        *by += over <= 0 ? 0 : over < most ? over : most;
    }
    return n;
}

/* Where the step after the one that begins at `a` begins. */
static int64_t next_step(const struct world *w, int64_t a)
{
    int64_t size = 1;
    if (w->c->own[DELTA] > 0)
        return a + (int64_t)w->c->own[DELTA] * SECOND;
    while (size * 2 * 32 <= a / SECOND)
        size *= 2;
    return a + size * SECOND;
}

/* Where the step begins that `at` is in. */
static int64_t step_begin(const struct world *w, int64_t at)
{
    int64_t a = 0;
    while (next_step(w, a) <= at)
        a = next_step(w, a);
    return a;
}

static double index_at(const struct world *w, int queue, int64_t a)
{
    int64_t by, rest, n = above(w, queue, a, w->c->own[DELTA] > 0 ? next_step(w, a) - a : INT64_MAX, &by);
    if (n == 0)
        return 0;
    if (w->c->own[DELTA] > 0)
        return (double)(n - above(w, queue, next_step(w, a), INT64_MAX, &rest)) / (double)by;
    double best = (double)n / (double)by; /* to the end, however long it takes */
    for (int64_t b = next_step(w, a);; b = next_step(w, b)) {
        int64_t left = above(w, queue, b, INT64_MAX, &rest);
        if (left == 0)
            return best;
        double index = (double)(n - left) / (double)(by - rest);
        best = index > best ? index : best;
    }
}

static int64_t level(const struct world *w, int64_t at)
{
    int64_t n = 0;
    for (uint32_t i = LIMIT_0; i <= LIMIT_1; i++)
        n += w->c->own[i] > 0 && at >= (int64_t)w->c->own[i] * SECOND;
    return n;
}

/* Queue, then index, the highest first, then who runs. Indices are positive doubles, whose bits are in order. */
static int64_t index_value(struct world *w, uint32_t j, bool is_running)
{
    struct naive_mark *m = &w->marks[j]; /* what was found last, for it takes long */
    uint32_t n = sample_size(w, naive_queue_of(w, j));
    if (!m->is_known || m->executed != service(w, j) || m->level != n) {
        double index = index_at(w, naive_queue_of(w, j), step_begin(w, service(w, j)));
        int64_t bits;
        memcpy(&bits, &index, sizeof bits);
        *m = (struct naive_mark){.is_known = true, .executed = service(w, j), .level = n};
        m->turn = level(w, service(w, j)) * (INT64_C(1) << 61) - (bits / 16) * 2;
    }
    return m->turn + !is_running;
}

/* The next instant at which a running job's queue or index is another one, and at which there is something to learn. */
static int64_t index_next(const struct world *w, int queue)
{
    int64_t next = INT64_MAX;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (w->jobs[j].is != RUNNING || naive_queue_of(w, j) != queue)
            continue;
        int64_t now = service(w, j), a = step_begin(w, now), then = a, by;
        double index = index_at(w, queue, a);
        while (index_at(w, queue, then) == index && above(w, queue, then, INT64_MAX, &by) > 0)
            then = next_step(w, then);
        then = index_at(w, queue, then) == index ? INT64_MAX : then;
        for (uint32_t i = LIMIT_0; i <= LIMIT_1; i++) {
            int64_t limit = (int64_t)w->c->own[i] * SECOND;
            then = limit > now && limit < then ? limit : then;
        }
        if (then == INT64_MAX)
            continue;
        int64_t at = w->now + (then - now + rate(w, j) - 1) / rate(w, j);
        next = at < next ? at : next;
    }
    const struct naive_own *o = &w->own[queue];
    if (w->c->own[REFIT] > 0 && o->n_past > o->n_fitted && o->next_fit > w->now && o->next_fit < next)
        next = o->next_fit;
    return next;
}

static void past_ends(struct world *w, uint32_t j)
{
    struct naive_own *o = &w->own[naive_queue_of(w, j)];
    o->past[o->n_past++] = service(w, j);
}

/* Learn in the first round at or after each multiple. */
static void past_round(struct world *w, int queue)
{
    struct naive_own *o = &w->own[queue];
    int64_t refit = (int64_t)w->c->own[REFIT] * SECOND;
    if (w->now < (o->next_fit == 0 ? refit : o->next_fit))
        return;
    o->next_fit = (w->now / refit + 1) * refit;
    o->n_fitted = o->n_past;
}

static void past_begin(struct world *w)
{
    for (uint32_t v = 0; v < NAIVE_VCS; v++)
        w->own[v].next_fit = (int64_t)w->c->own[REFIT] * SECOND;
}

const struct naive_rules naive_gittins = {.policy = "gittins",
                                          .params = index_params,
                                          .roll = index_roll,
                                          .value = index_value,
                                          .next = index_next,
                                          .jumps = true,
                                          .is_fine = true};
const struct naive_rules naive_gittins_past = {.policy = "gittins_past",
                                               .params = index_params,
                                               .roll = past_roll,
                                               .begin = past_begin,
                                               .value = index_value,
                                               .ends = past_ends,
                                               .round = past_round,
                                               .next = index_next,
                                               .jumps = true,
                                               .is_fine = true};
