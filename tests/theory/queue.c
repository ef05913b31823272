#include "tests/theory/queue.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

/* What is seen while a run goes on; 128 bits because the second moment overflows 64. */
struct watcher {
    __int128 queued_ns, running_ns, gpu_ns; /* integrals over time */
    uint64_t idle_while_waiting;            /* instants */
    int64_t at_ns;
    struct run_levels last;
    int64_t batch_ns, batch_end_ns; /* batches of equal time */
    uint32_t batch, last_batch;     /* the present one, from 0, the warm-up; the last one that counts */
    double number, pairs;           /* integrals over the present batch */
    struct queue_result *out;
};

static void watcher_close_batch(struct watcher *w)
{
    double length = (double)w->batch_ns;
    if (w->batch > 0 && w->batch <= w->last_batch) {
        sample_add(&w->out->samples[MEASURE_NUMBER], w->number / length);
        sample_add(&w->out->samples[MEASURE_PAIRS], w->pairs / length);
    }
    w->number = w->pairs = 0;
    w->batch++;
    w->batch_end_ns += w->batch_ns;
}

static void watcher_advance(struct watcher *w, int64_t to_ns)
{
    int64_t length = to_ns - w->at_ns;
    w->queued_ns += (__int128)length * w->last.queued_jobs;
    w->running_ns += (__int128)length * w->last.running_jobs;
    w->gpu_ns += (__int128)length * w->last.allocated_gpus;
    if (length > 0 && w->last.queued_jobs > 0 && w->last.allocated_gpus < w->last.capacity_gpus)
        w->idle_while_waiting++;
    double n = (double)w->last.queued_jobs + w->last.running_jobs;
    while (w->at_ns < to_ns) {
        int64_t until_ns = to_ns < w->batch_end_ns ? to_ns : w->batch_end_ns;
        w->number += n * (double)(until_ns - w->at_ns);
        w->pairs += n * (n - 1) * (double)(until_ns - w->at_ns);
        w->at_ns = until_ns;
        if (until_ns == w->batch_end_ns)
            watcher_close_batch(w);
    }
}

static void on_levels(void *self, int64_t at_ns, uint32_t instance, const struct run_levels *levels)
{
    struct watcher *w = self;
    cr_assert_eq(instance, 0u);
    watcher_advance(w, at_ns);
    w->last = *levels;
}

static double draw_service_s(const struct queue *q, gsl_rng *rng)
{
    switch (q->service) {
    case SERVICE_EXPONENTIAL:
        return gsl_ran_exponential(rng, SERVICE_MEAN_S);
    case SERVICE_LOGNORMAL: {
        double sigma2 = log(1 + LOGNORMAL_SCV);
        return gsl_ran_lognormal(rng, log(SERVICE_MEAN_S) - sigma2 / 2, sqrt(sigma2));
    }
    case SERVICE_DETERMINISTIC:
        break;
    }
    return SERVICE_MEAN_S;
}

static gsl_rng *rng_create(const struct queue *q, uint32_t run, uint32_t purpose)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert_not_null(rng);
    gsl_rng_set(rng, q->seed * 1000 + run * 10 + purpose);
    return rng;
}

/* Draw the jobs; `work_ns[j]` becomes the work that job j finds on arrival, had it one server alone. */
static void draw_workload(struct workload *w, double *work_ns, const struct queue *q, uint32_t run)
{
    struct error err = {0};
    const struct workload_columns want = {.priority = q->urgent > 0};
    workload_init(w);
    cr_assert_eq(workload_alloc(w, RUN_JOBS, &want, &err), BRAID_OK, "%s", err.message);
    gsl_rng *arrivals = rng_create(q, run, 0), *services = rng_create(q, run, 1), *classes = rng_create(q, run, 2);
    double mean_gap_s = SERVICE_MEAN_S / (q->load * q->servers), stretch = q->stretch > 0 ? q->stretch : 1;
    uint32_t vc = names_add(&w->vcs, "", 0), user = names_add(&w->users, "", 0);
    int64_t at_ns = 0;
    double work = 0;
    for (uint32_t j = 0; j < RUN_JOBS; j++) {
        double gap_s = gsl_ran_exponential(arrivals, mean_gap_s), service_s = draw_service_s(q, services);
        at_ns += llrint(gap_s * 1e9);
        w->submit_ns[j] = at_ns;
        w->duration_ns[j] = llrint(service_s * stretch * 1e9);
        w->gpus[j] = 1;
        w->vc[j] = vc;
        w->user[j] = user;
        if (want.priority)
            w->priority[j] = gsl_rng_uniform(classes) < q->urgent ? 1 : 0;
        work_ns[j] = fmax(0, work - gap_s * 1e9);
        work = work_ns[j] + service_s * 1e9;
    }
    gsl_rng_free(arrivals);
    gsl_rng_free(services);
    gsl_rng_free(classes);
}

/* Sums over a batch of jobs. */
struct batch {
    double response, wait, waited, work;
    double class_wait[2], class_jobs[2];
};

static void batch_add(struct batch *b, const struct workload *w, const double *work_ns, const struct job *job,
                      uint32_t j)
{
    const double unit = SERVICE_MEAN_S * 1e9;
    b->work += work_ns[j] / unit;
    double wait = (double)(job->start_ns - w->submit_ns[j]) / unit;
    b->response += (double)(job->end_ns - w->submit_ns[j]) / unit;
    b->wait += wait;
    b->waited += job->start_ns > w->submit_ns[j];
    int urgent = w->priority != NULL && w->priority[j] > 0;
    b->class_wait[urgent] += wait;
    b->class_jobs[urgent]++;
}

static void batch_close(struct queue_result *out, const struct queue *q, const struct batch *b)
{
    double n = (double)q->batch_jobs;
    sample_add(&out->samples[MEASURE_RESPONSE], b->response / n);
    sample_add(&out->samples[MEASURE_WAIT], b->wait / n);
    sample_add(&out->samples[MEASURE_WAITED], b->waited / n);
    sample_add(&out->samples[MEASURE_WORK], b->work / n);
    if (q->urgent > 0) {
        sample_add(&out->samples[MEASURE_WAIT_PATIENT], b->class_wait[0] / b->class_jobs[0]);
        sample_add(&out->samples[MEASURE_WAIT_URGENT], b->class_wait[1] / b->class_jobs[1]);
    }
}

static void collect(struct queue_result *out, const struct queue *q, const struct workload *w, const double *work_ns,
                    const struct run_result *r, const struct watcher *seen)
{
    __int128 queued_ns = 0, running_ns = 0, gpu_ns = 0;
    struct batch batch = {0};
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        const struct job *job = &r->jobs[j];
        cr_assert_eq(job->status, STATUS_FINISHED);
        running_ns += job->run_ns;
        gpu_ns += job->gpu_ns;
        queued_ns += job->end_ns - w->submit_ns[j] - job->run_ns;
        out->waited += job->start_ns > w->submit_ns[j];
        if (j < q->batch_jobs)
            continue;
        batch_add(&batch, w, work_ns, job, j);
        if ((j + 1) % q->batch_jobs == 0) {
            batch_close(out, q, &batch);
            batch = (struct batch){0};
        }
    }
    cr_assert(seen->queued_ns == queued_ns, "Little's law: jobs queued over time");
    cr_assert(seen->running_ns == running_ns, "Little's law: jobs running over time");
    cr_assert(seen->gpu_ns == gpu_ns, "Little's law: GPUs held over time");
    cr_assert_eq(seen->last.queued_jobs + seen->last.running_jobs, 0u);
    cr_assert_eq(seen->idle_while_waiting, UINT64_C(0), "GPUs were idle while jobs waited");
}

static void run_once(struct queue_result *out, const struct queue *q, uint32_t run_number)
{
    bool is_small = q->servers <= 8;
    cr_assert(is_small || q->servers % 8 == 0);
    struct test_case *c = is_small ? case_create(1, q->servers) : case_create(q->servers / 8, 8);
    case_policy(c, q->policy);
    if (q->param != NULL)
        case_param(c, q->param, q->value);
    c->spec.check = false; /* the exact laws below are the check; the books of small cases are checked elsewhere */
    double *work_ns = malloc(RUN_JOBS * sizeof *work_ns);
    cr_assert(work_ns != NULL && RUN_JOBS % q->batch_jobs == 0);
    draw_workload(&c->w, work_ns, q, run_number);
    int64_t batch_ns = llrint(SERVICE_MEAN_S * 1e9 / (q->load * q->servers) * q->batch_jobs);
    struct watcher seen = {.out = out,
                           .batch_ns = batch_ns,
                           .batch_end_ns = batch_ns,
                           .last_batch = RUN_JOBS / q->batch_jobs - 2}; /* the last one may outlast the submissions */
    c->spec.watch = (struct run_watch){.self = &seen, .levels = on_levels};
    c->spec.workload = &c->w;
    int code = run(&c->r, &c->spec, &c->err);
    cr_assert_eq(code, BRAID_OK, "%s", c->err.message);
    collect(out, q, &c->w, work_ns, &c->r, &seen);
    free(work_ns);
    case_destroy(c);
}

void queue_run(struct queue_result *out, const struct queue *q)
{
    *out = (struct queue_result){0};
    for (uint32_t i = 0; i < q->runs; i++)
        run_once(out, q, i);
}
