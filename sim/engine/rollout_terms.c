/* rollout_terms.c - what a plan comes to: its terms, their bounds, their score. */
#include "engine/rollout_state.h"

#include <math.h>
#include <string.h>

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

double rollout_score(const struct rollout_terms *t, const struct rollout_weights *w)
{
    return w->jct * t->jct_s + w->weighted_jct * t->weighted_jct_s + w->makespan * t->makespan_s + w->idle * t->idle +
           w->unfairness * t->unfairness + w->misses * t->miss_rate;
}

void rest_add(struct rest *rest, const struct rollout *r, uint32_t index)
{
    rest->length_ns += (__int128)r->waited_ns[index] + r->run_ns[index];
    rest->earliest_ns += r->earliest_ns[index];
    rest->weight += r->weight[index];
    rest->weighted_s += r->weight[index] * (r->waited_s[index] + r->run_s[index]);
    rest->n_deadlines += r->deadline_ns[index] != SCHED_NEVER;
}

void rest_remove(struct rest *rest, const struct rollout *r, uint32_t index)
{
    rest->length_ns -= (__int128)r->waited_ns[index] + r->run_ns[index];
    rest->earliest_ns -= r->earliest_ns[index];
    rest->weight -= r->weight[index];
    rest->weighted_s -= r->weight[index] * (r->waited_s[index] + r->run_s[index]);
    rest->n_deadlines -= r->deadline_ns[index] != SCHED_NEVER;
}

/* No score of a plan that goes on from here is less (but for the rounding of sums). */
double lane_least_score(const struct rollout_lane *lane, const struct rollout_weights *w, uint32_t n)
{
    const struct rollout *r = lane->r;
    const struct sweep *at = &lane->at;
    double passed = seconds(at->now_ns - r->now_ns);
    __int128 starts_ns = (__int128)(at->now_ns - r->now_ns) * (n - at->n_started);
    __int128 rest_ns = (starts_ns > at->rest.earliest_ns ? starts_ns : at->rest.earliest_ns) + at->rest.length_ns;
    double jct = (double)(at->jct_ns + rest_ns) * 1e-9;
    double weighted = at->weighted_jct_s + at->rest.weight * passed + at->rest.weighted_s;
    double makespan = seconds(at->last_end_ns - r->now_ns);
    double missed = lane->n_deadlines > 0 ? (double)at->n_missed / lane->n_deadlines : 0;
    return (w->jct * jct + w->weighted_jct * weighted) / n + w->makespan * makespan + w->misses * missed;
}

/* Jain's index over users of 1 / mean slowdown. */
static double unfairness(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    double sum = 0, squares = 0;
    uint32_t n = 0;
    memset(lane->user_sum, 0, r->n_users * sizeof *lane->user_sum);
    memset(lane->user_n, 0, r->n_users * sizeof *lane->user_n);
    for (uint32_t i = 0; i < plan->n; i++) {
        uint32_t index = plan->order[i];
        int64_t end = lane->end_ns[index] < r->horizon_ns ? lane->end_ns[index] : r->horizon_ns;
        if (end == SCHED_NEVER)
            end = TIME_LAST;
        lane->user_sum[r->user[index]] += (seconds(end - r->now_ns) + r->waited_s[index]) / r->alone_s[index];
        lane->user_n[r->user[index]]++;
    }
    for (uint32_t u = 0; u < r->n_users; u++) {
        if (lane->user_n[u] == 0)
            continue;
        double x = lane->user_n[u] / lane->user_sum[u];
        sum += x;
        squares += x * x;
        n++;
    }
    return n > 0 && squares > 0 ? fmax(0.0, 1 - sum * sum / (n * squares)) : 0;
}

/* GPU seconds up to `until_ns` of jobs of this queue that are not in the window. */
static double others_busy_s(const struct rollout *r, int64_t until_ns)
{
    uint32_t low = 0, high = r->n_endings;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->endings[middle].end_ns <= until_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return r->busy_s[low] + r->busy_gpus[low] * seconds(until_ns - r->now_ns);
}

void lane_conclude(struct rollout_lane *lane, const struct rollout_plan *plan, struct rollout_terms *out)
{
    const struct rollout *r = lane->r;
    struct sweep *at = &lane->at;
    if (at->n_started < plan->n) { /* beyond the horizon, or never: nothing comes free for them */
        uint32_t rest = plan->n - at->n_started;
        int64_t counted = r->horizon_ns < SCHED_NEVER ? r->horizon_ns : at->now_ns;
        double until = seconds(counted - r->now_ns);
        bool has_horizon = r->horizon_ns < SCHED_NEVER;
        at->jct_ns += (__int128)(counted - r->now_ns) * rest + (has_horizon ? 0 : at->rest.length_ns);
        for (uint32_t i = 0; i < plan->n; i++) {
            uint32_t index = plan->order[i];
            if (lane->end_ns[index] != SCHED_NEVER || lane->start_ns[index] != SCHED_NEVER)
                continue;
            at->jct_ns += has_horizon ? r->waited_ns[index] : 0;
            at->weighted_jct_s += r->weight[index] * (until + r->waited_s[index] + (has_horizon ? 0 : r->run_s[index]));
            at->n_missed += r->deadline_ns[index] != SCHED_NEVER;
            at->n_later += index < r->n;
        }
        at->last_end_ns = counted > at->last_end_ns ? counted : at->last_end_ns;
    }
    double span = seconds(at->last_end_ns - r->now_ns), all = span * r->capacity_gpus;
    double busy = at->busy_s + others_busy_s(r, at->last_end_ns);
    *out = (struct rollout_terms){.jct_s = plan->n > 0 ? (double)at->jct_ns * 1e-9 / plan->n : 0,
                                  .weighted_jct_s = plan->n > 0 ? at->weighted_jct_s / plan->n : 0,
                                  .makespan_s = span,
                                  .idle = all > 0 ? fmax(0.0, 1 - busy / all) : 0,
                                  .unfairness = r->wants_fairness ? unfairness(lane, plan) : 0,
                                  .miss_rate = lane->n_deadlines > 0 ? (double)at->n_missed / lane->n_deadlines : 0,
                                  .n_later = at->n_later};
}
