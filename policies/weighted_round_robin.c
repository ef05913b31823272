/* weighted_round_robin.c - turns on the GPUs, in slices of time that are longer for who weighs more.
 *
 *   by user       In each round every user who waits has one turn: one of its jobs, its oldest in the queue, holds its GPUs for the user's
 *                 weight times the quantum, then goes to the end of the user's own jobs. So while users have jobs waiting they get time
 *                 in proportion to their weights, however many wait. Who has none left misses its turns, and when GPUs are
 *                 enough for several jobs of one user it may have more than its part.
 *   by priority   Each job has its turns, for its priority times the quantum; a priority below 1 counts as 1.
 *
 *      user a (weight 2)   aa    aa    aa          a job's round is one more than that of its user's job before it, at
 *      user b (weight 1)     b     b     b         least the present one: the latest that anything was started in
 *      round               1     2     3
 *
 * A slice may run longer while nobody wants the GPUs. Who does not fit is passed over. Shares are of time in turns: a turn on more GPUs is
 * more GPU-time.
 */
#include "policies/compose.h"
#include "policies/user_weights.h"

#include <string.h>

static const double LEAST_NS = 1e6; /* a slice; shorter ones make runs that never end */

struct turns {
    double *weight; /* by user */
    int64_t *round; /* by user: of its job that queued up last; 0: none yet */
    int64_t current;
};

struct weighted {
    struct compose c;
    struct turns turns;
};

static int64_t times_quantum(double weight, int64_t quantum_ns)
{
    double ns = weight * (double)quantum_ns;
    return ns < LEAST_NS ? (int64_t)LEAST_NS : ns < 9e18 ? (int64_t)ns : SCHED_NEVER;
}

static int64_t round_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    struct turns *t = p->own;
    if (is_running)
        return INT64_MAX;
    int64_t *round = &t->round[sched_user(s, job)];
    *round = *round < t->current ? t->current : *round + 1;
    return *round;
}

static int64_t user_slice(struct sched *s, uint32_t job, const struct order_params *p, int64_t quantum_ns)
{
    struct turns *t = p->own;
    int64_t round = (int64_t)*sched_word(s, job); /* the key that it had in the queue: compose.h */
    t->current = round > t->current && round != INT64_MAX ? round : t->current;
    return times_quantum(t->weight[sched_user(s, job)], quantum_ns);
}

static int64_t job_slice(struct sched *s, uint32_t job, const struct order_params *p, int64_t quantum_ns)
{
    (void)p;
    double weight = sched_priority(s, job);
    return times_quantum(weight > 1 ? weight : 1, quantum_ns);
}

static int64_t since_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? INT64_MAX : sched_since_ns(s, job);
}

static const struct order_ops order_users = {.name = "users_in_turn",
                                             .summary = "one job of each user a round",
                                             .source = "weighted round robin",
                                             .key = round_key,
                                             .slice = user_slice,
                                             .takes_turns = true};
static const struct order_ops order_jobs = {.name = "jobs_in_turn",
                                            .summary = "earliest in the queue first",
                                            .source = "weighted round robin",
                                            .key = since_key,
                                            .slice = job_slice,
                                            .takes_turns = true};

enum param_of { BY, WEIGHTS, QUANTUM };

static int weighted_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct weighted *w = self;
    bool by_user = strcmp(v[BY].s, "user") == 0;
    if (!by_user && v[WEIGHTS].s[0] != '\0')
        return error_set(err, BRAID_BAD_INPUT, "weights: are those of users; add by: user, or leave them out");
    int code = user_weights_load(&w->turns.weight, s, v[WEIGHTS].s, err);
    if (code != BRAID_OK)
        return code;
    w->turns.round = sched_alloc(s, sched_n_users(s), sizeof *w->turns.round);
    if (w->turns.round == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    w->turns.current = 1;
    w->c.params.own = &w->turns;
    return compose_setup(&w->c, s, by_user ? &order_users : &order_jobs, FILL_SKIP, PREEMPT_QUANTUM, v[QUANTUM].i, err);
}

static const struct param_spec weighted_params[] = {
    [BY] = {"by", PARAM_CHOICE, "user", 0, 0, "", "user|priority",
            "whose turn it is: each user's, weighted by `weights`, or each job's, weighted by its priority"},
    [WEIGHTS] = {"weights", PARAM_TEXT, "", 0, 0, "", NULL, USER_WEIGHTS_HELP},
    [QUANTUM] = {"quantum", PARAM_TIME, "6 min", 1e-3, 1e9, "s", NULL,
                 "slice of a weight of 1; no slice is shorter than 1 ms"},
};

const struct policy_ops policy_weighted_round_robin = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "weighted_round_robin",
    .summary = "Turns of users or jobs, in slices of time in proportion to their weights",
    .source = "weighted round robin (Katevenis et al., IEEE JSAC 9(8), 1991)",
    .knows = KNOWS_NOTHING,
    .scope = SCOPE_VC,
    .params = weighted_params,
    .n_params = sizeof weighted_params / sizeof *weighted_params,
    .state_size = sizeof(struct weighted),
    .init = weighted_init,
    .on_submit = compose_on_submit,
    .on_finish = compose_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = compose_schedule,
};
