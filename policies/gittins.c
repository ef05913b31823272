/* gittins.c - the highest Gittins index first: who is likeliest to finish for the service it would take (gittins_index.h).
 *
 * A job's index depends on its attained service alone and is constant over steps of `delta` (0: steps that grow, and the best delta each time); a running job's value jumps at the
 * step's end (order.h). Jobs with a lower index are displaced, equal ones in order of submission; who does not fit is passed over.
 *
 * With `thresholds` jobs are first told apart by queue, as in tiresias.c: the queue of a job is the number of thresholds that its attained
 * service has reached, and the index is the order inside a queue (the Gittins variant of discretised 2D scheduling).
 *
 * The distribution comes from all jobs of the trace (an oracle on the distribution, not on any job, which is why the policy declares to
 * know durations), from a file, from a named law (gittins_law.h), or from the past: the service of the jobs that have ended so far in this
 * run, in the same queue, killed ones too. The past is looked at anew in the first round at or after each multiple of `refit` (there is one
 * at it if jobs wait and others have ended since), and then every job's index with it; before anything has ended all are equal.
 */
#include "policies/gittins.h"

#include "policies/instant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL_BIT = 60 };

/* A number whose order is the reverse of the index's (>= 0): its bits as an integer, negated, the last of them left out for whether the job
 * waits: of equal jobs the running one comes first. Below the number of the queue, where there are several, there is room for three
 * bits less. */
static int64_t key_of_index(double index, const struct order_params *p, uint32_t level, bool is_running)
{
    int64_t bits;
    memcpy(&bits, &index, sizeof bits);
    if (p->n_limits == 0)
        return -(bits & ~INT64_C(1)) + !is_running;
    return ((int64_t)level - (GITTINS_LIMITS_MAX + 1) / 2) * (INT64_C(1) << LEVEL_BIT) - (bits >> 3 & ~INT64_C(1)) +
           !is_running;
}

static int64_t index_jump(struct sched *s, uint32_t job, const struct order_params *p, struct order_mark *m,
                          bool is_running)
{
    const struct gittins_index *g = p->index;
    int64_t service = p->by_gpu_time ? sched_attained_gpu_ns(s, job) : sched_attained_ns(s, job);
    int64_t rate = p->by_gpu_time ? (int64_t)sched_gpus(s, job) : 1;
    int64_t step = gittins_index_step(g->delta, service), next = gittins_index_next(g, step), missing = INT64_MAX;
    uint32_t level = 0;
    while (level < p->n_limits && service >= p->limits[level])
        level++;
    m->key = key_of_index(gittins_index_at(g, step), p, level, is_running);
    if (next != INT64_MAX && gittins_index_begin(g->delta, next) != INT64_MAX)
        missing = gittins_index_begin(g->delta, next) - service;
    if (level < p->n_limits && p->limits[level] - service < missing)
        missing = p->limits[level] - service;
    if (!is_running || missing == INT64_MAX)
        return SCHED_NEVER;
    return instant_after(sched_now(s), missing / rate + (missing % rate != 0));
}

static const struct order_ops order_index = {
    .name = "gittins", .summary = "highest Gittins index first", .source = "Gittins, 1979", .jump = index_jump};

/* ---- where the distribution comes from --------------------------------------------------------------- */

static int limits_take(struct gittins *g, const union param *p, struct error *err)
{
    if (p->list.n > GITTINS_LIMITS_MAX)
        return error_set(err, BRAID_BAD_INPUT, "thresholds: %u values, at most %d", p->list.n, GITTINS_LIMITS_MAX);
    for (uint32_t i = 0; i < p->list.n; i++) {
        g->limits[i] = llrint(p->list.v[i] * 1e9);
        if (i > 0 && g->limits[i] <= g->limits[i - 1])
            return error_set(err, BRAID_BAD_INPUT, "thresholds must ascend, but %g follows %g", p->list.v[i],
                             p->list.v[i - 1]);
    }
    return BRAID_OK;
}

/* The law that `source` names; false: none. */
static bool find_law(const char *source, enum gittins_law_kind *out)
{
    static const char *const names[] = {[LAW_EXPONENTIAL] = "exponential",
                                        [LAW_LOGNORMAL] = "lognormal",
                                        [LAW_PARETO] = "pareto",
                                        [LAW_WEIBULL] = "weibull"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(source, names[i]) == 0) {
            *out = (enum gittins_law_kind)i;
            return true;
        }
    return false;
}

static int take_law(struct gittins *g, const struct gittins_spec *spec, int64_t delta, struct error *err)
{
    g->law.mean = spec->law.mean * 1e9;
    g->law.shape = spec->law.shape;
    if (!gittins_law_is_proper(&g->law))
        return error_set(err, BRAID_BAD_INPUT, "shape: %g is none of a %s distribution with a mean; give one above %d",
                         g->law.shape, spec->source, g->law.kind == LAW_PARETO);
    return gittins_index_init_law(&g->index, &g->law, delta) ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static int take_sample(struct gittins *g, struct sched *s, const struct gittins_spec *spec, int64_t delta,
                       struct error *err)
{
    struct gittins_sample x = {0};
    int code = BRAID_OK;
    if (strcmp(spec->source, "file") == 0)
        code = gittins_sample_file(&x, spec->file, err);
    else if (strcmp(spec->source, "trace") == 0)
        code = gittins_sample_trace(&x, s, spec->by_gpu_time, err);
    if (code == BRAID_OK && !gittins_index_init(&g->index, x.values, x.n, delta))
        code = error_set(err, BRAID_FAILED, "out of memory");
    free(x.values);
    return code;
}

int gittins_setup(struct gittins *g, struct sched *s, const struct gittins_spec *spec, struct error *err)
{
    bool is_file = strcmp(spec->source, "file") == 0;
    int64_t delta = llrint(spec->delta_s * 1e9);
    delta = delta == 0 && spec->delta_s > 0 ? 1 : delta;
    if (is_file != (spec->file[0] != '\0'))
        return error_set(err, BRAID_BAD_INPUT,
                         is_file ? "source: file needs the file's path; add file: PATH"
                                 : "file: is only read with source: file; add that, or leave it out");
    if (limits_take(g, spec->thresholds, err) != BRAID_OK)
        return BRAID_BAD_INPUT;
    int code =
        find_law(spec->source, &g->law.kind) ? take_law(g, spec, delta, err) : take_sample(g, s, spec, delta, err);
    if (strcmp(spec->source, "past") == 0)
        g->refit_ns = g->next_fit_ns = spec->refit_ns;
    g->c.params = (struct order_params){.by_gpu_time = spec->by_gpu_time,
                                        .limits = g->limits,
                                        .n_limits = spec->thresholds->list.n,
                                        .index = &g->index};
    if (code == BRAID_OK)
        code = compose_setup(&g->c, s, &order_index, FILL_SKIP, PREEMPT_WHEN_BETTER, 0, err);
    if (code != BRAID_OK)
        gittins_fini(g); /* else it is for policies whose init was good */
    return code;
}

void gittins_fini(void *self)
{
    struct gittins *g = self;
    gittins_index_fini(&g->index);
    free(g->past.values);
    g->past = (struct gittins_sample){0};
}

void gittins_on_finish(void *self, struct sched *s, uint32_t job)
{
    struct gittins *g = self;
    if (g->refit_ns > 0) /* out of memory: the past lacks a job */
        gittins_sample_push(&g->past,
                            g->c.params.by_gpu_time ? sched_attained_gpu_ns(s, job) : sched_attained_ns(s, job));
    compose_on_finish(&g->c, s, job);
}

/* Learn from those that ended since the last time, when it is time to. */
static void refit(struct gittins *g, struct sched *s)
{
    int64_t now = sched_now(s);
    struct gittins_index fresh;
    if (now < g->next_fit_ns)
        return;
    g->next_fit_ns = instant_after(now, g->refit_ns - now % g->refit_ns);
    if (g->past.n == g->n_fitted || !gittins_index_init(&fresh, g->past.values, g->past.n, g->index.delta))
        return; /* nothing new, or out of memory: what was learnt before holds */
    gittins_index_fini(&g->index);
    g->index = fresh;
    g->n_fitted = g->past.n;
    compose_rekey(&g->c, s);
}

void gittins_schedule(void *self, struct sched *s)
{
    struct gittins *g = self;
    if (g->refit_ns > 0)
        refit(g, s);
    compose_schedule(&g->c, s);
    if (g->past.n > g->n_fitted && g->c.n_queued > 0)
        sched_wake_at(s, g->next_fit_ns);
}

/* ---- the policy ----------------------------------------------------------------------------------- */

enum param_of { SOURCE, SAMPLE, DELTA, SERVICE, THRESHOLDS, MEAN, SHAPE, REFIT };

static int gittins_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    const struct gittins_spec spec = {.source = v[SOURCE].s,
                                      .file = v[SAMPLE].s,
                                      .law = {.mean = v[MEAN].f, .shape = v[SHAPE].f},
                                      .delta_s = v[DELTA].f,
                                      .by_gpu_time = strcmp(v[SERVICE].s, "gpu_time") == 0,
                                      .thresholds = &v[THRESHOLDS],
                                      .refit_ns = v[REFIT].i};
    return gittins_setup(self, s, &spec, err);
}

static const struct param_spec gittins_params[] = {
    [SOURCE] = {"source", PARAM_CHOICE, "trace", 0, 0, "", "trace|file|past|exponential|lognormal|pareto|weibull",
                "where the distribution of service comes from: all jobs of the trace (an oracle on the distribution), "
                "a file, the jobs that have ended so far, or a law"},
    [SAMPLE] = {"file", PARAM_PATH, "", 0, 0, "", NULL,
                "csv with the single column 'duration', service times in GPU s or s (source: file)"},
    [DELTA] = GITTINS_DELTA,
    [SERVICE] = GITTINS_SERVICE,
    [THRESHOLDS] = GITTINS_THRESHOLDS,
    [MEAN] = {"mean", PARAM_NUMBER, "10000", 1e-6, 9e9, "GPU s or s", NULL, "mean service (source: a law)"},
    [SHAPE] = {"shape", PARAM_NUMBER, "2", 0.01, 100, "", NULL,
               "lognormal: sigma; pareto: alpha, above 1; weibull: k (source: a law)"},
    [REFIT] = GITTINS_REFIT,
};

const struct policy_ops policy_gittins = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "gittins",
    .summary = "Highest Gittins index of attained service first, looking one delta ahead (0: as far as is best), preemptive",
    .source = "Gittins, 1979; Gu et al., NSDI'19 (Tiresias), section 3.3",
    .knows = KNOWS_DURATION,
    .scope = SCOPE_VC,
    .params = gittins_params,
    .n_params = sizeof gittins_params / sizeof *gittins_params,
    .state_size = sizeof(struct gittins),
    .init = gittins_init,
    .fini = gittins_fini,
    .on_submit = compose_on_submit,
    .on_finish = gittins_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = gittins_schedule,
};
