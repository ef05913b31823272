/* The metrics, from the rows of the jobs and their segments, by the words of docs/schema.md. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect(struct check *c, const char *name, double want)
{
    double is = books_metric(c->books, name);
    char kind[40];
    snprintf(kind, sizeof kind, "summary.%.30s", name);
    double loose = 1e-9 * fmax(fabs(want), 1) + (double)c->slack_ns * 1e-8;
    if (isnan(is) || isnan(want) ? isnan(is) != isnan(want) : fabs(is - want) > loose)
        check_fault(c, kind, "%.12g, not %.12g", is, want);
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static bool is_measured(const struct check *c, const struct life *l)
{
    const struct scene *s = c->scene;
    int64_t from = (s->from_ns != SCENE_NONE ? s->from_ns : c->first_ns) + s->warm_up_ns;
    return l->submit_ns >= from && (s->to_ns == SCENE_NEVER || l->submit_ns < s->to_ns);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between order statistics; x is sorted. */
static double quantile(const double *x, uint32_t n, double p)
{
    if (n == 0)
        return NAN;
    double at = p * (n - 1);
    uint32_t k = (uint32_t)at;
    return k + 1 < n ? x[k] + (at - k) * (x[k + 1] - x[k]) : x[n - 1];
}

/* ---- what the jobs say ---- */

static void status_check(struct check *c)
{
    static const char *const name[WAS_STATUSES] = {"finished", "unfinished", "rejected",
                                                   "failed",   "killed",     "not_submitted"};
    double of[WAS_STATUSES] = {0}, jobs = 0, preemptions = 0, moves = 0, restarts = 0;
    int64_t first = INT64_MAX, last = -1;
    for (uint32_t r = 0; r < c->n; r++) {
        const struct life *l = &c->lives[r];
        if (!is_measured(c, l))
            continue;
        jobs++;
        of[l->row->status]++;
        preemptions += (double)l->row->preemptions;
        moves += (double)l->row->moves;
        restarts += (double)l->row->restarts;
        first = l->submit_ns < first ? l->submit_ns : first;
        if ((l->row->status == WAS_FINISHED || l->row->status == WAS_KILLED) && l->end_ns > last)
            last = l->end_ns;
    }
    expect(c, "jobs", jobs);
    for (int k = 0; k < WAS_STATUSES; k++)
        expect(c, name[k], of[k]);
    expect(c, "preemptions", preemptions);
    expect(c, "moves", moves);
    expect(c, "restarts", restarts);
    expect(c, "success_rate", ratio(of[WAS_FINISHED], jobs - of[WAS_REJECTED] - of[WAS_NOT_SUBMITTED]));
    expect(c, "makespan", last >= 0 ? (double)(last - first) * 1e-9 : NAN);
}

static void times_check(struct check *c)
{
    double jct[SCENE_JOBS], wait[SCENE_JOBS], sum_jct = 0, sum_wait = 0, sum_queued = 0, slowdown = 0, bounded = 0;
    uint32_t n = 0, n_slow = 0, satisfied = 0;
    for (uint32_t r = 0; r < c->n; r++) {
        const struct life *l = &c->lives[r];
        if (!is_measured(c, l) || l->row->status != WAS_FINISHED)
            continue;
        int64_t took = l->end_ns - l->submit_ns, ideal = l->fact->duration_ns;
        jct[n] = (double)took * 1e-9;
        wait[n] = (double)(l->start_ns - l->submit_ns) * 1e-9;
        sum_jct += jct[n];
        sum_wait += wait[n];
        sum_queued += l->row->queued;
        if (ideal > 0) {
            slowdown += (double)took / (double)ideal;
            bounded += fmax(1, jct[n] / fmax((double)ideal * 1e-9, 10));
            n_slow++;
        }
        satisfied += (double)took <= 2 * (double)ideal;
        n++;
    }
    qsort(jct, n, sizeof *jct, compare);
    qsort(wait, n, sizeof *wait, compare);
    expect(c, "jct_mean", ratio(sum_jct, n));
    expect(c, "jct_p50", quantile(jct, n, 0.5));
    expect(c, "jct_p95", quantile(jct, n, 0.95));
    expect(c, "jct_p99", quantile(jct, n, 0.99));
    expect(c, "jct_max", n > 0 ? jct[n - 1] : NAN);
    expect(c, "wait_mean", ratio(sum_wait, n));
    expect(c, "wait_p50", quantile(wait, n, 0.5));
    expect(c, "wait_p95", quantile(wait, n, 0.95));
    expect(c, "wait_p99", quantile(wait, n, 0.99));
    expect(c, "queued_mean", ratio(sum_queued, n));
    expect(c, "slowdown_mean", ratio(slowdown, n_slow));
    expect(c, "bounded_slowdown_mean", ratio(bounded, n_slow));
    if (c->slack_ns == 0)
        expect(c, "satisfied_rate", ratio(satisfied, n));
}

static void deadlines_check(struct check *c)
{
    double due = 0, met = 0, finished = 0;
    for (uint32_t r = 0; r < c->n; r++) {
        const struct life *l = &c->lives[r];
        if (!is_measured(c, l) || !c->scene->has_deadlines || l->fact->deadline_ns == SCENE_NONE)
            continue;
        due++;
        if (l->row->status != WAS_FINISHED)
            continue;
        finished++;
        met += l->end_ns <= l->fact->deadline_ns - c->zero_ns;
    }
    expect(c, "deadline_miss_rate", ratio(finished - met, finished));
    expect(c, "deadline_met_rate", ratio(met, due));
}

static void jain_check(struct check *c)
{
    double sum = 0, squares = 0;
    uint32_t n = 0;
    for (uint32_t r = 0; r < c->n; r++) { /* each user at its first job */
        double slowdown = 0;
        uint32_t jobs = 0;
        bool is_first = true;
        for (uint32_t k = 0; k < r; k++)
            is_first &= strcmp(c->lives[k].fact->user, c->lives[r].fact->user) != 0;
        for (uint32_t k = r; is_first && k < c->n; k++) {
            const struct life *l = &c->lives[k];
            if (strcmp(l->fact->user, c->lives[r].fact->user) != 0 || l->row->status != WAS_FINISHED ||
                l->fact->duration_ns == 0 || !is_measured(c, l))
                continue;
            slowdown += (double)(l->end_ns - l->submit_ns) / (double)l->fact->duration_ns;
            jobs++;
        }
        if (jobs == 0)
            continue;
        sum += jobs / slowdown;
        squares += jobs / slowdown * jobs / slowdown;
        n++;
    }
    expect(c, "jain_index", n > 0 ? sum * sum / (n * squares) : NAN);
}

/* ---- what the GPUs say ---- */

struct integrals {
    const struct check *c;
    int64_t window_end_ns, last_end_ns;
    double held_window, capacity_window, held_makespan, capacity_makespan, imbalance, busy_ns;
};

static void span_take(void *self, int64_t begin_ns, int64_t end_ns, const struct levels *l)
{
    struct integrals *x = self;
    const int64_t until[2] = {x->window_end_ns, x->last_end_ns};
    for (int k = 0; k < 2; k++) {
        int64_t end = end_ns < until[k] ? end_ns : until[k];
        if (end <= begin_ns)
            continue;
        *(k == 0 ? &x->held_window : &x->held_makespan) += (double)(end - begin_ns) * (double)l->held_all;
        *(k == 0 ? &x->capacity_window : &x->capacity_makespan) += (double)(end - begin_ns) * (double)l->capacity_all;
    }
    uint32_t n = facts_nodes(x->c->scene);
    double mean = 0, variance = 0;
    for (uint32_t i = 0; i < n; i++)
        mean += (double)l->node_gpus[i] / n;
    for (uint32_t i = 0; i < n; i++)
        variance += ((double)l->node_gpus[i] - mean) * ((double)l->node_gpus[i] - mean) / n;
    if (l->held_all > 0) {
        x->imbalance += sqrt(variance) / mean * (double)(end_ns - begin_ns);
        x->busy_ns += (double)(end_ns - begin_ns);
    }
}

/* Time that the GPUs (or another resource) worked up to the last end, GPU ns. */
static double worked(const struct check *c, int resource, int64_t until_ns, bool by_stages)
{
    double sum = 0;
    for (size_t i = 0; i < c->n_stretches; i++) {
        const struct stretch *t = &c->stretches[i];
        const struct scene_job *f = c->lives[t->rank].fact;
        int64_t end = t->end_ns < until_ns ? t->end_ns : until_ns;
        if (t->kind != KIND_RUN || end <= t->begin_ns || (by_stages && f->iteration_ns <= 0))
            continue;
        double part = (double)(end - t->begin_ns) * f->gpus;
        sum += by_stages ? part * t->rate * (double)f->stage_ns[resource] / (double)f->iteration_ns : part;
    }
    return sum;
}

static double mean_users(const struct check *c);

static void gpus_check(struct check *c)
{
    struct integrals x = {.c = c, .window_end_ns = c->last_ns < c->end_ns ? c->last_ns : c->end_ns, .last_end_ns = -1};
    for (uint32_t r = 0; r < c->n; r++) {
        int64_t status = c->lives[r].row->status;
        if ((status == WAS_FINISHED || status == WAS_KILLED) && c->lives[r].end_ns > x.last_end_ns)
            x.last_end_ns = c->lives[r].end_ns;
    }
    for (size_t i = 0; i < c->n_stretches; i++) /* of jobs that are left, too */
        if (c->stretches[i].kind != KIND_QUEUED && c->stretches[i].end_ns > x.last_end_ns)
            x.last_end_ns = c->stretches[i].end_ns;
    levels_walk(c, c->first_ns, c->end_ns, span_take, &x);
    expect(c, "gpu_utilization", ratio(x.held_window, x.capacity_window));
    expect(c, "gpu_utilization_makespan", ratio(x.held_makespan, x.capacity_makespan));
    expect(c, "load_imbalance", ratio(x.imbalance, x.busy_ns));
    bool by_stages = false;
    for (int k = 0; c->scene->has_stages && k < SCENE_STAGES; k++)
        by_stages |= worked(c, k, INT64_MAX, true) > 0;
    double busy = ratio(worked(c, 2, x.last_end_ns, by_stages), x.capacity_makespan);
    bool is_shared = c->scene->group_jobs > 1 && !by_stages; /* nobody shares without stages */
    if (!is_shared)
        expect(c, "gpu_busy", busy);
    static const char *const name[] = {"storage_utilization", "cpu_utilization", "gpu_busy", "network_utilization"};
    for (int k = 0; k < SCENE_STAGES; k++)
        if (k != 2)
            expect(c, name[k], by_stages ? ratio(worked(c, k, x.last_end_ns, true), x.capacity_makespan) : NAN);

    double span = (double)(x.last_end_ns - c->first_ns),
           share = span > 0 ? x.capacity_makespan / span / mean_users(c) : NAN;
    double sum = 0, most = 0;
    uint32_t n = 0;
    for (uint32_t r = 0; r < c->n && share > 0; r++) {
        const struct life *l = &c->lives[r];
        if (l->row->status != WAS_FINISHED || l->fact->duration_ns == 0 || !is_measured(c, l))
            continue;
        double rho = (double)(l->end_ns - l->submit_ns) / (double)l->fact->duration_ns / fmax(1, l->fact->gpus / share);
        sum += rho;
        most = fmax(most, rho);
        n++;
    }
    expect(c, "ftf_mean", ratio(sum, n));
    expect(c, "ftf_max", n > 0 ? most : NAN);
}

/* The number of users with a job in the system, averaged over the time in which anyone has one. */
static double mean_users(const struct check *c)
{
    int64_t at[2 * SCENE_JOBS];
    size_t n = 0;
    for (uint32_t r = 0; r < c->n; r++) {
        const struct life *l = &c->lives[r];
        if (l->row->status == WAS_REJECTED || !l->is_submitted)
            continue;
        at[n++] = l->submit_ns;
        at[n++] = l->end_ns >= 0 ? l->end_ns : c->end_ns;
    }
    double users = 0, all = 0;
    for (size_t i = 0; i < n; i++) { /* from this instant to the next one */
        int64_t begin = at[i], end = INT64_MAX;
        bool is_again = false;
        for (size_t k = 0; k < n; k++) {
            is_again |= k < i && at[k] == begin;
            end = at[k] > begin && at[k] < end ? at[k] : end;
        }
        if (is_again || end == INT64_MAX)
            continue;
        const char *seen[SCENE_JOBS];
        uint32_t n_seen = 0;
        for (uint32_t r = 0; r < c->n; r++) {
            const struct life *l = &c->lives[r];
            int64_t until = l->end_ns >= 0 ? l->end_ns : c->end_ns;
            bool is_new = l->row->status != WAS_REJECTED && l->is_submitted && l->submit_ns <= begin && until > begin;
            for (uint32_t k = 0; k < n_seen; k++)
                is_new &= strcmp(seen[k], l->fact->user) != 0;
            if (is_new)
                seen[n_seen++] = l->fact->user;
        }
        users += n_seen * (double)(end - begin);
        all += n_seen > 0 ? (double)(end - begin) : 0;
    }
    return ratio(users, all);
}

/* What cannot be computed again from the file must at least make sense. */
static void ranges_check(struct check *c)
{
    static const char *const shares[] = {"gpu_utilization", "gpu_utilization_makespan", "fragmentation",
                                         "success_rate"};
    static const char *const gaps[] = {"gap_jct", "gap_makespan"};
    static const char *const none[] = {"memory_utilization", "energy_kwh", "cost"};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double v = books_metric(c->books, shares[i]);
        if (!isnan(v) && !(v >= 0 && v <= 1 + 1e-9))
            check_fault(c, "summary.range", "%s is %g", shares[i], v);
    }
    for (size_t i = 0; i < 2; i++)
        if (books_metric(c->books, gaps[i]) < 0)
            check_fault(c, "summary.gap", "%s is %.12g", gaps[i], books_metric(c->books, gaps[i]));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!isnan(books_metric(c->books, none[i])))
            check_fault(c, "summary.none", "%s is %g without a model of it", none[i], books_metric(c->books, none[i]));
    for (size_t i = 0; i < c->books->n_metrics; i++)
        if (isinf(c->books->value[i]))
            check_fault(c, "summary.range", "%s is infinite", c->books->metric[i]);
}

void check_summary(struct check *c)
{
    for (uint32_t r = 0; r < c->n; r++)
        if (c->lives[r].row->status < 0 || c->lives[r].row->status > WAS_KILLED)
            return; /* told already */
    status_check(c);
    times_check(c);
    deadlines_check(c);
    jain_check(c);
    gpus_check(c);
    ranges_check(c);
}
