/* braid.c - the public library over experiment, run and metrics. */
#include <braid/braid.h>

#include "experiment/execute.h"
#include "output/metrics.h"

#include <math.h>
#include <stdlib.h>

struct braid_experiment {
    struct experiment x;
};

struct braid_result {
    struct workload workload;
    struct run_result result;
    struct metrics metrics;
};

int braid_open(struct braid_experiment **out, const char *path, const char *const *sets, size_t n_sets, struct error *err)
{
    *out = NULL;
    struct braid_experiment *x = calloc(1, sizeof *x);
    struct config_override *overrides = calloc(n_sets + 1, sizeof *overrides);
    int code = x == NULL || overrides == NULL ? error_set(err, BRAID_FAILED, "out of memory") : BRAID_OK;
    if (code == BRAID_OK) {
        for (size_t i = 0; i < n_sets; i++)
            overrides[i].text = sets[i];
        code = experiment_load(&x->x, path, overrides, n_sets, err);
    }
    free(overrides);
    if (code != BRAID_OK) {
        free(x);
        return code;
    }
    *out = x;
    return BRAID_OK;
}

void braid_close(struct braid_experiment *x)
{
    if (x != NULL)
        experiment_fini(&x->x);
    free(x);
}

uint32_t braid_n_runs(const struct braid_experiment *x)
{
    return x->x.n_runs;
}

const char *braid_label(const struct braid_experiment *x, uint32_t i)
{
    return x->x.runs[i].policy.label;
}

int braid_run(const struct braid_experiment *x, uint32_t i, struct braid_result **out, struct error *err)
{
    *out = NULL;
    if (i >= x->x.n_runs)
        return error_set(err, BRAID_BAD_INPUT, "the experiment has %u runs, counted from 0: there is no run %u", x->x.n_runs, i);
    struct braid_result *r = calloc(1, sizeof *r);
    if (r == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = experiment_run_one(&x->x.runs[i], false, &r->workload, &r->result, err);
    if (code != BRAID_OK) {
        free(r);
        return code;
    }
    code = metrics_compute(&r->metrics, &r->result, &r->workload, &x->x.runs[i].measure, err);
    if (code != BRAID_OK) {
        braid_result_free(r);
        return code;
    }
    *out = r;
    return BRAID_OK;
}

void braid_result_free(struct braid_result *r)
{
    if (r == NULL)
        return;
    run_result_fini(&r->result);
    workload_fini(&r->workload);
    free(r);
}

int braid_execute(const struct braid_experiment *x, const char *output, int threads, struct error *err)
{
    struct execute_report report = {0};
    const struct execute_options options = {.output = output, .threads = threads < 1 ? 1 : threads};
    return experiment_execute(&x->x, &options, &report, err);
}

uint32_t braid_n_jobs(const struct braid_result *r)
{
    return r->result.n_jobs;
}

struct braid_job braid_job(const struct braid_result *r, uint32_t i)
{
    const struct workload *w = &r->workload;
    const struct job *j = &r->result.jobs[i];
    return (struct braid_job){.id = w->id_text + w->id_at[i],
                              .id_length = (size_t)(w->id_at[i + 1] - w->id_at[i]),
                              .submit_ns = w->submit_ns[i],
                              .start_ns = j->start_ns,
                              .end_ns = j->end_ns,
                              .run_ns = j->run_ns,
                              .overhead_ns = j->overhead_ns,
                              .gpus = w->gpus[i],
                              .preemptions = j->preemptions,
                              .status = job_status_text(j->status),
                              .reason = j->reason};
}

double braid_metric(const struct braid_result *r, const char *name)
{
    int i = metrics_find(name);
    return i < 0 ? NAN : r->metrics.value[i];
}
