/* The levels over time, bin by bin: (begin, end], counts as they stand behind the instant at its end. */
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_COUNTS = 5, BINS_MOST = 2000 };
static const char *const COUNTS[N_COUNTS] = {"queued_jobs", "running_jobs", "allocated_gpus", "capacity_gpus",
                                             "queued_gpus"};
static const char *const RESOURCES[SCENE_STAGES] = {"storage_utilization", "cpu_utilization", "gpu_busy",
                                                    "network_utilization"};

struct bin {
    double count[SCENE_VCS + 2][N_COUNTS]; /* scope 0: the cluster */
    double held[SCENE_VCS + 2], capacity[SCENE_VCS + 2], worked[SCENE_VCS + 2][SCENE_STAGES];
    bool has_counts;
};

struct series {
    struct check *c;
    struct bin *bins;
    size_t n_bins;
    uint32_t n_scopes;
};

static void counts_set(struct series *x, struct bin *b, const struct levels *l)
{
    const struct scene *s = x->c->scene;
    memset(b->count, 0, sizeof b->count);
    b->has_counts = true;
    for (uint32_t v = 0; v < SCENE_VCS + 1; v++) {
        const double of[N_COUNTS] = {l->queued_jobs[v], l->running_jobs[v], (double)l->held_gpus[v],
                                     (double)l->capacity_gpus[v], (double)l->queued_gpus[v]};
        for (int k = 0; k < N_COUNTS; k++) {
            b->count[0][k] += of[k];
            if (v < s->n_vcs)
                b->count[1 + v][k] = of[k];
        }
    }
    b->count[0][3] = (double)l->capacity_all;
}

static void span_take(void *self, int64_t begin_ns, int64_t end_ns, const struct levels *l)
{
    struct series *x = self;
    int64_t step = x->c->scene->step_ns;
    for (size_t i = (size_t)(begin_ns / step); i < x->n_bins && (int64_t)i * step < end_ns; i++) {
        int64_t low = (int64_t)i * step, high = low + step;
        double part = (double)((high < end_ns ? high : end_ns) - (low > begin_ns ? low : begin_ns));
        x->bins[i].held[0] += part * (double)l->held_all;
        x->bins[i].capacity[0] += part * (double)l->capacity_all;
        for (uint32_t v = 0; v < x->c->scene->n_vcs; v++) {
            x->bins[i].held[1 + v] += part * (double)l->held_gpus[v];
            x->bins[i].capacity[1 + v] += part * (double)l->capacity_gpus[v];
        }
        if (high >= begin_ns && high < end_ns)
            counts_set(x, &x->bins[i], l);
    }
    if (begin_ns > 0 && begin_ns % step == 0) /* the instant is the end of the bin before it */
        counts_set(x, &x->bins[begin_ns / step - 1 < (int64_t)x->n_bins ? begin_ns / step - 1 : (int64_t)x->n_bins - 1],
                   l);
}

static void work_add(struct series *x)
{
    const struct check *c = x->c;
    int64_t step = c->scene->step_ns;
    for (size_t k = 0; k < c->n_stretches; k++) {
        const struct stretch *t = &c->stretches[k];
        const struct life *l = &c->lives[t->rank];
        if (t->kind != KIND_RUN || l->fact->iteration_ns <= 0)
            continue;
        for (size_t i = (size_t)(t->begin_ns / step); i < x->n_bins && (int64_t)i * step < t->end_ns; i++) {
            int64_t low = (int64_t)i * step, high = low + step;
            double part = (double)((high < t->end_ns ? high : t->end_ns) - (low > t->begin_ns ? low : t->begin_ns));
            for (int r = 0; r < SCENE_STAGES; r++) {
                double v =
                    part * t->rate * (double)l->fact->stage_ns[r] / (double)l->fact->iteration_ns * l->fact->gpus;
                x->bins[i].worked[0][r] += v;
                if (l->vc < c->scene->n_vcs)
                    x->bins[i].worked[1 + l->vc][r] += v;
            }
        }
    }
}

static uint32_t scope_find(const struct series *x, const char *name)
{
    if (strcmp(name, "cluster") == 0)
        return 0;
    for (uint32_t v = 0; v < x->c->scene->n_vcs; v++)
        if (strcmp(x->c->scene->vcs[v].name, name) == 0)
            return 1 + v;
    return UINT32_MAX;
}

/* Is `v` parts of `whole`, NaN where that is none? Times of segments are seconds in doubles, good to a nanosecond or so. */
static bool is_share(double v, double part, double whole)
{
    return whole > 0 ? fabs(v - part / whole) <= 1e-7 * fmax(1, fabs(v)) : isnan(v);
}

static void row_check(struct series *x, const struct books_series *row, uint32_t *n_seen)
{
    struct check *c = x->c;
    int64_t at = check_ns(row->time), step = c->scene->step_ns;
    uint32_t scope = scope_find(x, row->scope);
    bool is_stopped = c->scene->stop_ns != SCENE_NEVER || c->scene->stop_queue != UINT32_MAX;
    bool is_cut = is_stopped && at % step != 0 && at == c->end_ns; /* the last bin of a run that was stopped */
    size_t i = (size_t)(at / step) - !is_cut;
    if (scope == UINT32_MAX || (at % step != 0 && !is_cut) || i >= x->n_bins ||
        strcmp(row->run, c->books->run.id) != 0) {
        check_fault(c, at > 0 && i >= x->n_bins ? "series.beyond" : "series.row",
                    "%s of %s at %.9f s; steps of %.9f s, the run ends at %.9f s", row->name, row->scope, row->time,
                    (double)step * 1e-9, (double)c->end_ns * 1e-9);
        return;
    }
    const struct bin *b = &x->bins[i];
    bool is_whole = is_cut || (int64_t)(i + 1) * step + is_stopped <= c->end_ns;
    for (int k = 0; k < N_COUNTS; k++) {
        if (strcmp(row->name, COUNTS[k]) != 0)
            continue;
        char kind[40];
        snprintf(kind, sizeof kind, "series.%s", COUNTS[k]);
        (*n_seen)++;
        bool is_over = !is_whole && c->scene->stop_ns == SCENE_NEVER && c->scene->stop_queue == UINT32_MAX && k < 3;
        if (is_over && row->value != 0 && !c->is_left)
            check_fault(c, kind, "%s at %.9f s: %g behind the last end", row->scope, row->time, row->value);
        if (is_whole && b->has_counts && row->value != b->count[scope][k])
            check_fault(c, kind, "%s at %.9f s: %g, not %g", row->scope, row->time, row->value, b->count[scope][k]);
        return;
    }
    if (strcmp(row->name, "gpu_utilization") == 0) {
        (*n_seen)++;
        if (row->value > 1 + 1e-9 || row->value < 0)
            check_fault(c, "series.above_1", "%s at %.9f s: %g", row->scope, row->time, row->value);
        if (is_whole && at > c->first_ns && !is_share(row->value, b->held[scope], b->capacity[scope]))
            check_fault(c, "series.gpu_utilization", "%s at %.9f s: %.9g, not %.9g", row->scope, row->time, row->value,
                        b->held[scope] / b->capacity[scope]);
    }
    for (int r = 0; r < SCENE_STAGES && is_whole && c->scene->has_stages; r++)
        if (strcmp(row->name, RESOURCES[r]) == 0 && !is_share(row->value, b->worked[scope][r], b->capacity[scope]))
            check_fault(c, "series.resources", "%s of %s at %.9f s: %.9g, not %.9g", row->name, row->scope, row->time,
                        row->value, b->worked[scope][r] / b->capacity[scope]);
}

void check_series(struct check *c)
{
    const struct scene *s = c->scene;
    const struct books *b = c->books;
    if (s->step_ns == 0) {
        if (b->n_series > 0)
            check_fault(c, "series.row", "%zu rows, but the series are off", b->n_series);
        return;
    }
    struct series x = {.c = c, .n_bins = (size_t)((c->end_ns + s->step_ns - 1) / s->step_ns)};
    if (x.n_bins == 0 || x.n_bins > BINS_MOST || c->slack_ns > 0)
        return;
    x.bins = calloc(x.n_bins, sizeof *x.bins);
    levels_walk(c, c->first_ns, c->end_ns + 1, span_take, &x); /* before the first submission nothing is simulated */
    work_add(&x);
    uint32_t seen = 0;
    for (size_t i = 0; i < b->n_series; i++)
        row_check(&x, &b->series[i], &seen);
    bool is_one = s->n_vcs < 2 || s->policy->scope == SCOPE_CLUSTER;
    uint64_t want = (uint64_t)x.n_bins * (N_COUNTS + 1) * (is_one ? 1 : 1 + s->n_vcs);
    if (seen != want)
        check_fault(c, "series.rows", "%u rows of counts, not %" PRIu64 " in %zu bins", seen, want, x.n_bins);
    free(x.bins);
}
