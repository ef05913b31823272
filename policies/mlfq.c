/* mlfq.c - multi-level feedback queue.
 *
 *   submit --> [ level 0 ] -- used up quantum 0 --> [ level 1 ] -- quantum 1 --> [ last level ] --+
 *                  ^                                     |                          |     ^       | used up: to its end
 *                  +---------------- boost --------------+--------------------------+     +-------+
 *
 * A job has the quantum of its level to spend, in time on GPUs, in one piece or in several. When it is spent the job enters the next level at
 * its end; in the last level, it goes to the end of that. Jobs of higher levels go first and displace running ones of lower levels; in a
 * level who entered earlier goes first, so a displaced job comes back to its place with the rest of its quantum. Who does not fit is passed
 * over. At each multiple of `boost` all jobs that are below level 0, or have spent a part of its quantum, enter level 0 anew, at its end:
 * nobody starves, and long jobs that turn interactive are noticed. A boost touches all those jobs at once, by its definition.
 *
 * The order is a value that jumps (order.h): of two jobs that entered at one instant the running one comes first, then the rank decides.
 *
 *      63     60 59                   1       0
 *     +---------+----------------------+-------+
 *     | level-8 | entered, ns (9 years)| waits |
 *     +---------+----------------------+-------+
 */
#include "policies/compose.h"
#include "policies/instant.h"

#include <math.h>

enum { LEVELS_MAX = 16, LEVEL_BIT = 60, BOOST_LEAST_NS = 1000000 };

static const int64_t LAST_ENTRY = (INT64_C(1) << (LEVEL_BIT - 1)) - 1;

struct levels {
    int64_t quantum[LEVELS_MAX];
    uint32_t n;
    int64_t boost_ns; /* 0: never */
};

struct mlfq {
    struct compose c;
    struct levels levels;
};

/* A boost since the mark was last seen, of a job that had spent something by then. */
static void boost(const struct levels *l, struct order_mark *m, int64_t now, int64_t attained, int64_t running_since)
{
    if (l->boost_ns == 0)
        return;
    int64_t at = now - now % l->boost_ns;
    if (at <= m->seen_ns)
        return;
    int64_t attained_then = attained - (now - (running_since > at ? running_since : at));
    if (m->level == 0 && attained_then == m->executed_ns)
        return;
    m->level = 0;
    m->entered_ns = at;
    m->executed_ns = attained_then;
}

/* Quanta that were spent up to now; the time on GPUs until the next one is. */
static int64_t spend(const struct levels *l, struct order_mark *m, int64_t now, int64_t attained)
{
    for (; m->level + 1 < l->n; m->level++) {
        int64_t quantum = l->quantum[m->level], rest = quantum - (attained - m->executed_ns);
        if (rest > 0)
            return rest;
        m->executed_ns += quantum;
        m->entered_ns = now + rest;
    }
    int64_t quantum = l->quantum[m->level], spent = attained - m->executed_ns;
    if (spent >= quantum) {
        m->executed_ns = attained - spent % quantum;
        m->entered_ns = now - spent % quantum;
    }
    return quantum - spent % quantum;
}

static int64_t level_jump(struct sched *s, uint32_t job, const struct order_params *p, struct order_mark *m,
                          bool is_running)
{
    const struct levels *l = p->own;
    int64_t now = sched_now(s), attained = sched_attained_ns(s, job), due = SCHED_NEVER;
    if (!m->is_known) {
        m->entered_ns = now;
        m->is_known = true;
    } else {
        boost(l, m, now, attained, is_running ? sched_since_ns(s, job) : now);
    }
    m->seen_ns = now;
    if (is_running)
        due = instant_after(now, spend(l, m, now, attained));
    if (l->boost_ns > 0 && (is_running || m->level > 0 || attained > m->executed_ns)) {
        int64_t next = instant_after(now, l->boost_ns - now % l->boost_ns);
        due = next < due ? next : due;
    }
    int64_t entered = m->entered_ns < LAST_ENTRY ? m->entered_ns : LAST_ENTRY;
    m->key = ((int64_t)m->level - LEVELS_MAX / 2) * (INT64_C(1) << LEVEL_BIT) + 2 * entered + !is_running;
    return due;
}

static const struct order_ops order_levels = {.name = "mlfq",
                                              .summary = "highest level first, in it the first who entered",
                                              .source = "Corbato et al., 1962",
                                              .jump = level_jump};

enum param_of { QUANTA, BOOST };

static int mlfq_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct mlfq *m = self;
    uint32_t n = v[QUANTA].list.n;
    if (n == 0 || n > LEVELS_MAX)
        return error_set(err, BRAID_BAD_INPUT, "quanta: %u values, but there are 1 to %d levels with one each", n,
                         LEVELS_MAX);
    for (uint32_t i = 0; i < n; i++)
        m->levels.quantum[i] = llrint(v[QUANTA].list.v[i] * 1e9);
    if (v[BOOST].i > 0 && v[BOOST].i < BOOST_LEAST_NS)
        return error_set(err, BRAID_BAD_INPUT, "boost: %lld ns is less than 1 ms; give more, or 0 for never",
                         (long long)v[BOOST].i);
    m->levels.n = n;
    m->levels.boost_ns = v[BOOST].i;
    m->c.params.own = &m->levels;
    return compose_setup(&m->c, s, &order_levels, FILL_SKIP, PREEMPT_WHEN_BETTER, 0, err);
}

static const struct param_spec mlfq_params[] = {
    [QUANTA] = {"quanta", PARAM_NUMBERS, "[360, 1440, 5760]", 1e-3, 1e9, "s", NULL,
                "time on GPUs that a job may spend in each level, from the highest on, at most 16"},
    [BOOST] = {"boost", PARAM_TIME, "1 d", 0, 1e9, "s", NULL,
               "all jobs return to the highest level at each multiple of this time, 1 ms or more; 0: never"},
};

const struct policy_ops policy_mlfq = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "mlfq",
    .summary = "Multi-level feedback queue with a quantum a level and boosts, preemptive",
    .source = "Corbato et al., AFIPS 1962; Arpaci-Dusseau, Operating Systems, chapter 8",
    .knows = KNOWS_NOTHING,
    .scope = SCOPE_VC,
    .params = mlfq_params,
    .n_params = sizeof mlfq_params / sizeof *mlfq_params,
    .state_size = sizeof(struct mlfq),
    .init = mlfq_init,
    .on_submit = compose_on_submit,
    .on_finish = compose_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = compose_schedule,
};
