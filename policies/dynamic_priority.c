/* dynamic_priority.c - a priority of several factors that moves with time and load, as batch systems compute it.
 *
 *   points =   waiting    x hours without GPUs
 *            + importance x the job's priority
 *            + user       x the user's weight
 *            - demand     x GPUs / capacity
 *            - load       x GPUs / capacity x GPUs in use / capacity
 *
 * Most points first. Points are compared as waiting time that is worth as much, in ns (where waiting counts for nothing, at a point an
 * hour): those of the job and its user in one, those of demand and load in another, each rounded towards 0. GPUs in use are those held when
 * the round begins.
 *
 * Nothing is recomputed for it: waiting is a line that all jobs share, what is the job's own and the user's stands still,
 * and the factors of demand and load are the same for all jobs of one demand, so they are taken once a round for each demand. Running jobs
 * are not displaced.
 */
#include "policies/compose.h"
#include "policies/user_weights.h"

#include <string.h>

struct factors {
    double waiting, demand, load, importance, user;
    double ns_per_point; /* of the values: 1 ns of waiting is worth 1, where waiting counts */
    double *weight;      /* by user */
};

struct dynamic {
    struct compose c;
    struct factors factors;
};

static int64_t points_to_ns(const struct factors *f, double points)
{
    double ns = points * f->ns_per_point;
    return ns > 1e18 ? (int64_t)1e18 : ns < -1e18 ? (int64_t)-1e18 : (int64_t)ns;
}

static int64_t points_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    const struct factors *f = p->own;
    (void)is_running; /* never asked: nobody is displaced */
    int64_t own = points_to_ns(f, -f->importance * sched_priority(s, job) - f->user * f->weight[sched_user(s, job)]);
    return f->waiting > 0 ? own + (sched_now(s) - sched_queued_ns(s, job)) : own;
}

static int64_t points_slope(const struct order_params *p, bool is_running)
{
    const struct factors *f = p->own;
    return f->waiting > 0 && !is_running ? -1 : 0;
}

static int64_t demand_offset(const struct sched *s, uint32_t gpus, const struct order_params *p)
{
    const struct factors *f = p->own;
    double capacity = sched_capacity_gpus(s);
    if (capacity == 0)
        return 0;
    double used = (double)sched_held_gpus(s) / capacity;
    return points_to_ns(f, (f->demand + f->load * used) * gpus / capacity);
}

static const struct order_ops order_points = {.name = "dynamic_priority",
                                              .summary = "most points first",
                                              .source = "multifactor priority of batch systems",
                                              .key = points_key,
                                              .slope = points_slope,
                                              .offset = demand_offset};

enum param_of { WAITING, DEMAND, LOAD, IMPORTANCE, USER, WEIGHTS, FILL, OVERRUN };

static int dynamic_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct dynamic *d = self;
    struct factors *f = &d->factors;
    const char *fill = v[FILL].s;
    *f = (struct factors){.waiting = v[WAITING].f,
                          .demand = v[DEMAND].f,
                          .load = v[LOAD].f,
                          .importance = v[IMPORTANCE].f,
                          .user = v[USER].f};
    f->ns_per_point = 3600e9 / (f->waiting > 0 ? f->waiting : 1);
    int code = user_weights_load(&f->weight, s, v[WEIGHTS].s, err);
    if (code != BRAID_OK)
        return code;
    d->c.params.own = f;
    d->c.params.doubles = strcmp(v[OVERRUN].s, "double") == 0;
    return compose_setup(&d->c, s, &order_points,
                         strcmp(fill, "easy") == 0   ? FILL_EASY
                         : strcmp(fill, "skip") == 0 ? FILL_SKIP
                                                     : FILL_STRICT,
                         PREEMPT_NEVER, 0, err);
}

static const struct param_spec dynamic_params[] = {
    [WAITING] = {"waiting", PARAM_NUMBER, "1", 0, 1e6, "", NULL, "points for an hour of waiting"},
    [DEMAND] = {"demand", PARAM_NUMBER, "1", -1e6, 1e6, "", NULL,
                "points lost by a job of all GPUs, and in proportion by smaller ones; below 0: large jobs first"},
    [LOAD] = {"load", PARAM_NUMBER, "4", -1e6, 1e6, "", NULL,
              "the same again on a full cluster, nothing on an empty one"},
    [IMPORTANCE] = {"importance", PARAM_NUMBER, "1", -1e6, 1e6, "", NULL, "points for each unit of the job's priority"},
    [USER] = {"user", PARAM_NUMBER, "1", -1e6, 1e6, "", NULL, "points for each unit of the user's weight"},
    [WEIGHTS] = {"weights", PARAM_TEXT, "", 0, 0, "", NULL, USER_WEIGHTS_HELP},
    [FILL] = {"fill", PARAM_CHOICE, "skip", 0, 0, "", "strict|skip|easy",
              "what happens behind a job that does not fit"},
    [OVERRUN] = {"overrun", PARAM_CHOICE, "double", 0, 0, "", "double|now", OVERRUN_HELP " (fill: easy)"},
};

const struct policy_ops policy_dynamic_priority = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "dynamic_priority",
    .summary = "Most points first, for waiting, importance, user, demand and load",
    .source = "Slurm's multifactor priority (Yoo et al., JSSPP 2003)",
    .knows = KNOWS_ESTIMATE,
    .scope = SCOPE_VC,
    .params = dynamic_params,
    .n_params = sizeof dynamic_params / sizeof *dynamic_params,
    .state_size = sizeof(struct dynamic),
    .init = dynamic_init,
    .on_submit = compose_on_submit,
    .on_finish = compose_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = compose_schedule,
};
