#include "traces/columns.h"
#include "traces/rank.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last submission may move to here at most: half the clock's range is left for what waits. */
#define LATEST_NS (INT64_MAX / 2)

/* One scope: the whole cluster, or the jobs of one virtual cluster. */
struct scope_sum {
    uint32_t vc; /* NAMES_NONE: the cluster */
    bool is_used;
    int64_t first_ns, last_ns; /* submissions */
    double gpu_ns;             /* sum of GPUs x duration of the admissible jobs */
    int64_t new_last_ns;
};

static double capacity_until(const struct trace_capacity *c, const struct scope_sum *s, int64_t end_ns)
{
    return c->integral(c->self, s->vc, s->first_ns, end_ns);
}

/* Find where the last submission must lie for capacity up to there to be work / load: the integral never falls, so that a bisection in
 * whole nanoseconds meets it as exactly as time can be told, whatever the capacity does in between. */
static int find_last(struct scope_sum *s, const struct workload *w, double load, const struct trace_capacity *c,
                     struct error *err)
{
    s->new_last_ns = s->last_ns;
    if (!s->is_used || s->last_ns == s->first_ns || s->gpu_ns <= 0)
        return BRAID_OK;
    double wanted = s->gpu_ns / load;
    int64_t low = s->first_ns, high = s->first_ns, step = s->last_ns - s->first_ns;
    while (capacity_until(c, s, high) < wanted) {
        if (high == LATEST_NS)
            return error_set(err, BRAID_BAD_INPUT,
                             "load %g cannot be met%s%s: the capacity of 146 years is less than the jobs need for it",
                             load, s->vc != NAMES_NONE ? " in virtual cluster " : "",
                             s->vc != NAMES_NONE ? names_text(&w->vcs, s->vc) : "");
        low = high;
        high = step > LATEST_NS - high ? LATEST_NS : high + step;
        step = step > INT64_MAX / 2 ? INT64_MAX : step * 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (capacity_until(c, s, middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    s->new_last_ns = high > s->first_ns ? high : s->first_ns;
    return BRAID_OK;
}

static void add_job(struct scope_sum *s, const struct workload *w, uint32_t job, const struct trace_capacity *c)
{
    if (!s->is_used)
        s->first_ns = w->submit_ns[job];
    s->is_used = true;
    s->last_ns = w->submit_ns[job]; /* ranks ascend in submission */
    if (c->is_admissible == NULL || c->is_admissible(c->self, job))
        s->gpu_ns += (double)w->gpus[job] * (double)w->duration_ns[job];
}

/* (t - first) x (new span / old span) + first, in whole ns: it never reverses two jobs, and the last one meets the span exactly. */
static int64_t scaled(const struct scope_sum *s, int64_t t)
{
    int64_t span = s->last_ns - s->first_ns, new_span = s->new_last_ns - s->first_ns;
    if (span == 0 || span == new_span)
        return t;
    __int128 product = (__int128)(t - s->first_ns) * new_span + span / 2;
    return s->first_ns + (int64_t)(product / span);
}

static int find_scopes(struct scope_sum *sums, uint32_t n_sums, const struct workload *w, double load,
                       const struct trace_capacity *c, struct error *err)
{
    for (uint32_t i = 0; i < n_sums; i++)
        sums[i].vc = n_sums == 1 ? NAMES_NONE : i;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        add_job(&sums[n_sums == 1 ? 0 : w->vc[j]], w, j, c);
    int code = BRAID_OK;
    for (uint32_t i = 0; i < n_sums && code == BRAID_OK; i++)
        code = find_last(&sums[i], w, load, c, err);
    return code;
}

static void move_time(int64_t *times, uint32_t j, int64_t by_ns)
{
    if (times != NULL && times[j] != WORKLOAD_ABSENT && __builtin_add_overflow(times[j], by_ns, &times[j]))
        times[j] = by_ns > 0 ? INT64_MAX : INT64_MIN + 1;
}

/* `out` becomes `w` with each scope brought to its new span; one scope for all jobs, or one a virtual cluster. */
static int move_jobs(struct workload *out, const struct workload *w, const struct scope_sum *sums, bool is_by_vc,
                     struct error *err)
{
    uint32_t n = w->n_jobs;
    int64_t *submit_ns = malloc(((size_t)n + 1) * sizeof *submit_ns);
    uint32_t *pick = malloc(((size_t)n + 1) * sizeof *pick);
    int code = BRAID_OK;
    for (uint32_t j = 0; j < n && submit_ns != NULL; j++)
        submit_ns[j] = scaled(&sums[is_by_vc ? w->vc[j] : 0], w->submit_ns[j]);
    if (submit_ns == NULL || pick == NULL || !rank_order(submit_ns, pick, n))
        code = error_set(err, BRAID_FAILED, "out of memory for scaling %" PRIu32 " jobs", n);
    if (code == BRAID_OK)
        code = workload_select(out, w, pick, n, err);
    for (uint32_t j = 0; j < n && code == BRAID_OK; j++) {
        int64_t by_ns = submit_ns[pick[j]] - out->submit_ns[j];
        out->submit_ns[j] = submit_ns[pick[j]];
        move_time(out->start_ns, j, by_ns);
        move_time(out->deadline_ns, j, by_ns);
    }
    free(submit_ns);
    free(pick);
    return code;
}

int trace_scale(struct workload *out, const struct workload *w, double load, enum trace_load_scope scope,
                const struct trace_capacity *capacity, struct error *err)
{
    workload_init(out);
    if (!(load > 0) || load > 1e9)
        return error_set(err, BRAID_BAD_INPUT, "load must be above 0 and at most 1e9, not %g", load);
    bool is_by_vc = scope == TRACE_LOAD_VC && w->vcs.count > 1;
    uint32_t n_sums = is_by_vc ? w->vcs.count : 1;
    struct scope_sum *sums = calloc(n_sums, sizeof *sums);
    int code = sums == NULL ? error_set(err, BRAID_FAILED, "out of memory for scaling %" PRIu32 " jobs", w->n_jobs)
                            : find_scopes(sums, n_sums, w, load, capacity, err);
    if (code == BRAID_OK)
        code = move_jobs(out, w, sums, is_by_vc, err);
    free(sums);
    return code;
}

int trace_scale_rate(struct workload *out, const struct workload *w, double scale, struct error *err)
{
    workload_init(out);
    if (!(scale > 0) || scale > 1e9)
        return error_set(err, BRAID_BAD_INPUT, "scale must be above 0 and at most 1e9, not %g", scale);
    struct scope_sum all = {.vc = NAMES_NONE, .is_used = w->n_jobs > 0};
    if (w->n_jobs > 0) {
        all.first_ns = w->submit_ns[0];
        all.last_ns = w->submit_ns[w->n_jobs - 1];
        double span = (double)(all.last_ns - all.first_ns) / scale;
        if (span > (double)(LATEST_NS - all.first_ns))
            return error_set(err, BRAID_BAD_INPUT, "scale %g cannot be met: the last job would come after 146 years", scale);
        all.new_last_ns = all.first_ns + (int64_t)llround(span);
    }
    return move_jobs(out, w, &all, false, err);
}
