/* time_window.c - arrivals are gathered for a window of time, then queue up in order.
 *
 *      a b   c |        d e |            the first arrival opens a window; when it closes, what it gathered is put in
 *   ---[-------)--------[---)---> t      order (shortest first, say) behind the batches before it, and may start
 *              `-> c a b    `-> e d
 *
 * A job never starts before its window closes. Who arrives at the instant of closing opens the next one. What happens behind a job that
 * does not fit is the fill (compose.h).
 */
#include "policies/compose.h"
#include "policies/instant.h"

#include <string.h>

struct time_window {
    struct compose c;
    const struct order_ops *inner;
    int64_t window_ns, closes_ns; /* closes_ns: of the newest window */
    uint32_t *gathered;           /* in order of arrival */
    uint32_t n, n_closed, room;   /* the first n_closed are of windows that have closed */
    struct jobset batch;
    uint32_t *place; /* by job: its position among all that were released */
    uint32_t n_released;
};

static int64_t place_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)s, (void)is_running;
    const struct time_window *t = p->own;
    return t->place[job];
}

static const struct order_ops order_place = {.name = "time_window",
                                             .summary = "batch after batch, in each in order",
                                             .source = "batching of arrivals",
                                             .key = place_key};

static void time_window_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct time_window *t = self;
    int64_t now = sched_now(s);
    if (t->n == t->room) {
        uint32_t room = t->room * 2 + 64;
        uint32_t *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return; /* the run ends with "out of memory" */
        if (t->n > 0)
            memcpy(grown, t->gathered, t->n * sizeof *grown);
        t->gathered = grown;
        t->room = room;
    }
    if (now >= t->closes_ns)
        t->n_closed = t->n;
    if (t->n == t->n_closed)
        t->closes_ns = instant_after(now, t->window_ns);
    t->gathered[t->n++] = job;
}

/* Jobs from..to-1 of those gathered queue up. All have the same slope, so their keys order them. */
static void release(struct time_window *t, struct sched *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        jobset_insert(&t->batch, t->inner->key(s, t->gathered[i], &t->c.params, false), t->gathered[i], 0);
    while (t->batch.first != JOBSET_NONE) {
        const struct jobset_node n = *jobset_node(&t->batch, t->batch.first);
        jobset_erase(&t->batch, n.key, n.job);
        t->place[n.job] = t->n_released++;
        compose_on_submit(&t->c, s, n.job);
    }
}

static void time_window_schedule(void *self, struct sched *s)
{
    struct time_window *t = self;
    uint32_t from = 0;
    if (t->n_closed > 0) {
        release(t, s, 0, t->n_closed);
        from = t->n_closed;
    }
    if (t->n > from && sched_now(s) >= t->closes_ns) {
        release(t, s, from, t->n);
        from = t->n;
    }
    if (from > 0 && t->n > from)
        memmove(t->gathered, t->gathered + from, (t->n - from) * sizeof *t->gathered);
    t->n -= from;
    t->n_closed = 0;
    if (t->n > 0)
        sched_wake_at(s, t->closes_ns);
    compose_schedule(&t->c, s);
}

enum param_of { WINDOW, ORDER, FILL, OVERRUN };

static int time_window_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct time_window *t = self;
    const char *fill = v[FILL].s;
    t->inner = order_find(v[ORDER].s);
    t->window_ns = v[WINDOW].i;
    t->place = sched_alloc(s, sched_n_jobs(s), sizeof *t->place);
    if (t->place == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    t->c.params.own = t;
    t->c.params.doubles = strcmp(v[OVERRUN].s, "double") == 0;
    if (t->inner == &order_random) {
        t->c.params.salt = sched_random(s) << 32;
        t->c.params.salt |= sched_random(s);
    }
    int code = compose_setup(&t->c, s, &order_place,
                             strcmp(fill, "easy") == 0   ? FILL_EASY
                             : strcmp(fill, "skip") == 0 ? FILL_SKIP
                                                         : FILL_STRICT,
                             PREEMPT_NEVER, 0, err);
    jobset_init(&t->batch, &t->c.pool);
    return code;
}

static const struct param_spec time_window_params[] = {
    [WINDOW] = {"window", PARAM_TIME, "10 min", 1e-9, 1e9, "s", NULL, "how long arrivals are gathered"},
    [ORDER] = {"order", PARAM_CHOICE, "sjf", 0, 0, "", "edf|fifo|least_laxity|ljf|priority|qssf|random|sjf|smallest",
               "who comes first among the jobs of a window"},
    [FILL] = {"fill", PARAM_CHOICE, "skip", 0, 0, "", "strict|skip|easy",
              "what happens behind a job that does not fit"},
    [OVERRUN] = {"overrun", PARAM_CHOICE, "double", 0, 0, "", "double|now", OVERRUN_HELP " (fill: easy)"},
};

const struct policy_ops policy_time_window = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "time_window",
    .summary = "Arrivals are gathered for a window of time and ordered inside it",
    .source = "batching of arrivals, as periodic schedulers do",
    .knows = KNOWS_ESTIMATE | KNOWS_DEADLINE,
    .scope = SCOPE_VC,
    .params = time_window_params,
    .n_params = sizeof time_window_params / sizeof *time_window_params,
    .state_size = sizeof(struct time_window),
    .init = time_window_init,
    .on_submit = time_window_on_submit,
    .on_finish = compose_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = time_window_schedule,
};
