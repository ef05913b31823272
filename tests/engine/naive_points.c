/* dynamic_priority, written from the head of policies/dynamic_priority.c. */
#include "tests/engine/naive_rules.h"

/* own = points for waiting, demand, load, importance, user; then a weight for each user */
enum { WAITING_FOR, DEMAND, LOAD, IMPORTANCE, USER, WEIGHT };

static void points_roll(struct naive_case *c, struct naive_dice *d)
{
    static const double hour[] = {0, 1, 360, 3600};
    for (uint32_t i = DEMAND; i <= USER; i++)
        c->own[i] = (double)naive_roll(d, 9) - 2;
    for (uint32_t i = WEIGHT; i < WEIGHT + NAIVE_USERS; i++)
        c->own[i] = 0.5 + (double)naive_roll(d, 4);
    c->own[WAITING_FOR] = hour[naive_roll(d, 4)];
    c->fill = (enum naive_fill)naive_roll(d, N_FILLS);
    c->preempt = N_NEVER;
}

static void points_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_number(t, "waiting", c->own[WAITING_FOR]);
    naive_param_number(t, "demand", c->own[DEMAND]);
    naive_param_number(t, "load", c->own[LOAD]);
    naive_param_number(t, "importance", c->own[IMPORTANCE]);
    naive_param_number(t, "user", c->own[USER]);
    naive_param_weights(c, t, &c->own[WEIGHT]);
    case_param(t, "fill", naive_fill_names[c->fill]);
}

/* GPUs that the queue's jobs held when the round began. */
static uint32_t held_then(const struct world *w, int queue)
{
    uint32_t n = 0;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            n += w->owner_before[node][g] >= 0 && naive_queue_of(w, (uint32_t)w->owner_before[node][g]) == queue;
    return n;
}

/* In nanoseconds of waiting; whole ones, as the policy's head says. */
static int64_t points_value(struct world *w, uint32_t j, bool is_running)
{
    const struct naive_job *job = &w->c->jobs[j];
    const double *own = w->c->own;
    int queue = naive_queue_of(w, j);
    uint32_t all = naive_capacity(w, queue);
    double ns = 3600e9 / (own[WAITING_FOR] > 0 ? own[WAITING_FOR] : 1);
    int64_t less = (int64_t)((-own[IMPORTANCE] * job->priority - own[USER] * own[WEIGHT + job->user]) * ns);
    int64_t waited = own[WAITING_FOR] > 0 ? w->now - job->submit - w->jobs[j].held : 0;
    (void)is_running;
    if (all > 0) {
        double used = (double)held_then(w, queue) / all;
        less += (int64_t)((own[DEMAND] + own[LOAD] * used) * job->gpus / all * ns);
    }
    return less - waited;
}

const struct naive_rules naive_dynamic_priority = {
    .policy = "dynamic_priority", .params = points_params, .roll = points_roll, .value = points_value};
