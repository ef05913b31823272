/* bench_muri CONFIG [KEY=VALUE ...] - what a decision of muri_s or muri_l costs: each run of a config once, its policy's `schedule` timed. Prints
 * the number of decisions, their mean and the worst CPU time; the same of full ones, where one demand has as many candidates as are looked at;
 * and the mean JCT that comes of it.
 */
#include "experiment/execute.h"
#include "policies/muri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tally {
    uint32_t n;
    double sum_s, worst_s;
};

struct timed {
    struct muri muri; /* first: the policy takes it for its own */
    struct tally all, full;
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void tally_add(struct tally *t, double took)
{
    t->n++;
    t->sum_s += took;
    t->worst_s = took > t->worst_s ? took : t->worst_s;
}

static void timed_schedule(void *self, struct sched *s)
{
    struct timed *t = self;
    bool is_full = false;
    double from = cpu_s();
    muri_schedule(self, s);
    double took = cpu_s() - from;
    tally_add(&t->all, took);
    for (uint32_t b = 0; b < t->muri.n_buckets; b++)
        is_full |= t->muri.buckets[b].marked == t->muri.candidates;
    if (is_full)
        tally_add(&t->full, took);
}

static void tally_print(const char *what, const struct tally *t)
{
    printf(" %s %u ms_mean %.3f ms_worst %.3f", what, t->n, t->n > 0 ? t->sum_s / t->n * 1e3 : 0, t->worst_s * 1e3);
}

static void timed_fini(void *self)
{
    const struct timed *t = self;
    tally_print("decisions", &t->all);
    tally_print("full", &t->full);
}

static int fail(const struct error *err)
{
    char text[1200];
    fprintf(stderr, "bench_muri: %s\n", error_text(err, text, sizeof text));
    return 1;
}

static int bench_run(const struct run_config *config)
{
    struct error err = {0};
    struct workload w;
    struct run_result r;
    if (config->policy.ops->schedule != muri_schedule) {
        error_set(&err, BRAID_BAD_INPUT, "the policy is %s; give muri_s or muri_l", config->policy.ops->name);
        return fail(&err);
    }
    struct run_config timed = *config;
    struct policy_ops ops = *config->policy.ops;
    ops.schedule = timed_schedule;
    ops.fini = timed_fini;
    ops.state_size = sizeof(struct timed);
    timed.policy.ops = &ops;
    printf("muri %s", config->policy.label);
    for (uint32_t i = 0; i < config->n_swept; i++)
        printf(" %s=%s", config->swept[i].key, config->swept[i].value);
    if (experiment_run_one(&timed, false, &w, &r, &err) != BRAID_OK)
        return fail(&err);
    double sum = 0;
    for (uint32_t j = 0; j < r.n_jobs; j++)
        sum += (double)(r.jobs[j].end_ns - w.submit_ns[j]) * 1e-9;
    printf(" jct_mean_s %.0f\n", sum / r.n_jobs);
    fflush(stdout);
    run_result_fini(&r);
    workload_fini(&w);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_muri CONFIG.yaml [KEY=VALUE ...]\n");
        return 2;
    }
    struct experiment x;
    struct error err = {0};
    struct config_override *sets = calloc((size_t)argc, sizeof *sets);
    if (sets == NULL)
        return 1;
    for (int i = 2; i < argc; i++)
        sets[i - 2].text = argv[i];
    int code = experiment_load(&x, argv[1], sets, (size_t)argc - 2, &err);
    free(sets);
    if (code != BRAID_OK)
        return fail(&err);
    for (uint32_t i = 0; i < x.n_runs && code == 0; i++)
        code = bench_run(&x.runs[i]);
    experiment_fini(&x);
    return code;
}
