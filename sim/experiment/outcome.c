#include "experiment/outcome.h"

#include "compat/compat.h"
#include "experiment/execute.h"
#include "experiment/load_capacity.h"
#include "experiment/routes.h"
#include "experiment/run_title.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double clock_s(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool outcome_scales(const struct run_config *config)
{
    return config->trace.load > 0 || config->trace.scale > 0 || routes_are_given(config);
}

static int bring_to_load(struct workload *out, const struct workload *base, const struct run_config *config,
                         struct error *err)
{
    if (config->trace.scale > 0)
        return trace_scale_rate(out, base, config->trace.scale, err);
    struct load_capacity *capacity = load_capacity_create(config, base, err);
    if (capacity == NULL)
        return err->code;
    struct trace_capacity view = load_capacity_view(capacity);
    int status = trace_scale(out, base, config->trace.load, config->trace.load_scope, &view, err);
    load_capacity_destroy(capacity);
    return status;
}

int outcome_scale(struct workload *out, const struct workload *base, const struct run_config *config, struct error *err)
{
    if (!routes_are_given(config))
        return bring_to_load(out, base, config, err);
    struct workload routed;
    int status = routes_apply(&routed, base, config, err);
    if (status == BRAID_OK && config->trace.load == 0 && config->trace.scale == 0) {
        *out = routed;
        return BRAID_OK;
    }
    if (status == BRAID_OK)
        status = bring_to_load(out, &routed, config, err);
    workload_fini(&routed);
    return status;
}

struct run_spec outcome_spec(const struct run_config *config, const struct workload *w, bool check,
                             const volatile int *cancel)
{
    return (struct run_spec){
        .workload = w,
        .cluster = &config->cluster,
        .policy = config->policy,
        .placement = config->placement,
        .estimate = config->estimate,
        .overhead = config->overhead,
        .measure = config->measure,
        .stop = config->stop,
        .seed = config->seed,
        .check = check,
        .cancel = cancel,
        .compat = compat_find(config->compat),
    };
}

static bool wants_recorder(const struct output_spec *o)
{
    return o->series_step_ns > 0 || o->segments || o->events;
}

/* Run with the model of jobs that share GPUs, and with what policies see of it. `r` NULL: only try. */
static int run_shared(struct run_result *r, struct run_spec *spec, const struct run_config *config, struct error *err)
{
    struct sharing_model *sharing = NULL;
    struct profile_view *seen = NULL;
    int status = sharing_create(&sharing, &config->sharing, spec->workload, err);
    if (status == 0)
        status = profile_view_create(&seen, config->profile_error, config->seed, &config->sharing, spec->workload, err);
    spec->sharing = sharing;
    spec->seen = seen;
    if (status == 0)
        status = r != NULL ? run(r, spec, err) : run_try(spec, err);
    profile_view_destroy(seen);
    sharing_destroy(sharing);
    return status;
}

/* Run, and all that is told from the run. Its workload is there. */
static int compute(struct outcome *o, const struct outcome_context *c)
{
    const struct run_config *config = o->config;
    struct run_output *out = &o->output;
    struct run_spec spec = outcome_spec(config, out->workload, c->check, c->cancel);
    spec.threads = c->threads;
    bool is_one = config->policy.ops->scope == SCOPE_CLUSTER || config->cluster.n_vcs == 0;
    uint32_t n_queues = is_one ? 1 : config->cluster.n_vcs;
    if (wants_recorder(&config->output)) {
        o->recorder = recorder_create(&config->output, n_queues, &o->error);
        if (o->recorder == NULL || recorder_follow(o->recorder, out->workload, &config->cluster, &o->error) != 0)
            return o->error.code;
        spec.watch = recorder_watch(o->recorder);
    }
    int status = run_shared(&o->result, &spec, config, &o->error);
    if (status != 0)
        return status;
    if (o->recorder != NULL && !recorder_finish(o->recorder, &o->result))
        return recorder_explain(o->recorder, &o->result, &o->error);
    if (!outcome_remark(o)) /* before there is a result: a run that failed has none */
        return error_set(&o->error, BRAID_FAILED, "out of memory");
    status = metrics_compute(&out->metrics, &o->result, out->workload, &config->measure, &o->error);
    if (status != 0)
        return status;
    out->result = &o->result;
    out->recorder = o->recorder;
    results_digest(&o->result, out->workload, out->digest);
    out->remarks = o->remarks_text;
    return 0;
}

/* A policy that may look at the clock may do otherwise next time: what is stored of it is not taken for what it would do. */
static bool is_repeatable(const struct run_config *config)
{
    const struct policy_spec *p = &config->policy;
    for (size_t i = 0; i < p->ops->n_params; i++)
        if (strcmp(p->ops->params[i].name, "deterministic") == 0 && p->ops->params[i].type == PARAM_BOOL)
            return p->params[i].b;
    return true;
}

/* Id, workload at its load; true when there is something to compute. */
static bool prepare(struct outcome *o, const struct outcome_context *c)
{
    const struct run_config *config = o->config;
    o->base = workload_cache_get(c->cache, config, &o->error);
    if (o->base == NULL)
        return false;
    results_run_id(config, o->base, o->id);
    memcpy(o->output.id, o->id, sizeof o->id);
    o->output.workload = o->base;
    if (c->parts != NULL && is_repeatable(config)) {
        uint8_t described[DIGEST_BYTES];
        results_describe(config, c->x->name, o->output.keeps_jobs, described);
        o->stored = parts_find(c->parts, o->id, described);
        if (o->stored != NULL)
            return false;
    }
    if (outcome_scales(config)) {
        if (outcome_scale(&o->scaled, o->base, config, &o->error) != 0)
            return false;
        o->output.workload = &o->scaled;
    }
    return true;
}

/* Take the seat, or say more of the run in it. */
static void seat_take(struct run_seat *seat, const struct experiment *x, const struct run_config *config,
                      const char *id)
{
    char title[400];
    const char *path = config->trace.path != NULL ? config->trace.path : "generated";
    if (seat == NULL)
        return;
    __atomic_store_n(&seat->is_taken, 0, __ATOMIC_SEQ_CST);
    seat->thread = pthread_self();
    snprintf(seat->text, sizeof seat->text, "%s%s(%s; trace %.300s)", id, id[0] != '\0' ? " " : "",
             run_title(x, config, title, sizeof title), path);
    __atomic_store_n(&seat->is_taken, 1, __ATOMIC_SEQ_CST);
}

static void seat_leave(struct run_seat *seat)
{
    if (seat != NULL)
        __atomic_store_n(&seat->is_taken, 0, __ATOMIC_SEQ_CST);
}

void outcome_compute(struct outcome *o, const struct outcome_context *c, const struct run_config *config,
                     struct run_seat *seat)
{
    *o = (struct outcome){.config = config};
    workload_init(&o->scaled);
    o->output.config = config;
    o->output.name = c->x->name;
    o->output.keeps_jobs = experiment_keeps_jobs(c->x, config);
    for (int i = 0; i < METRICS_MAX; i++)
        o->output.metrics.value[i] = NAN;
    clockid_t cpu_clock = c->is_alone ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID; /* with lent threads */
    double wall = clock_s(CLOCK_MONOTONIC), cpu = clock_s(cpu_clock);
    seat_take(seat, c->x, config, "");
    if (prepare(o, c)) {
        seat_take(seat, c->x, config, o->id);
        int status = compute(o, c);
        if (status != 0 && o->error.code == 0)
            o->error.code = status;
    }
    seat_leave(seat);
    o->output.message = o->error.message;
    o->wall_s = clock_s(CLOCK_MONOTONIC) - wall;
    o->cpu_s = clock_s(cpu_clock) - cpu;
}

void outcome_fini(struct outcome *o, const struct outcome_context *c)
{
    if (o->result.arena != NULL)
        run_result_fini(&o->result);
    recorder_destroy(o->recorder);
    remarks_fini(&o->remarks);
    free(o->remarks_text);
    workload_fini(&o->scaled);
    workload_cache_put(c->cache, o->config);
}

int outcome_try(const struct run_config *config, const struct workload *base, struct error *err)
{
    struct workload routed;
    workload_init(&routed);
    int status = BRAID_OK;
    const struct workload *w = base;
    if (routes_are_given(config)) {
        status = routes_apply(&routed, base, config, err);
        w = &routed;
    }
    if (status == BRAID_OK) {
        struct run_spec spec = outcome_spec(config, w, false, NULL);
        status = run_shared(NULL, &spec, config, err);
    }
    workload_fini(&routed);
    return status;
}

int experiment_run_one(const struct run_config *config, bool check, struct workload *w, struct run_result *r,
                       struct error *err)
{
    struct error local = {0};
    struct error *e = err != NULL ? err : &local;
    *r = (struct run_result){0};
    int status = trace_load(w, &config->trace, e);
    if (status != 0)
        return status;
    if (outcome_scales(config)) {
        struct workload scaled;
        workload_init(&scaled);
        status = outcome_scale(&scaled, w, config, e);
        workload_fini(w);
        if (status != 0) {
            workload_fini(&scaled);
            return status;
        }
        *w = scaled;
    }
    struct run_spec spec = outcome_spec(config, w, check, NULL);
    status = run_shared(r, &spec, config, e);
    if (status != 0)
        workload_fini(w);
    return status;
}
