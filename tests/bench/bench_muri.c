/* bench_muri CONFIG [KEY=VALUE ...] - what a decision of muri_s or muri_l costs: each run of a config once, its policy's `schedule` timed. Prints
 * the number of decisions, their mean and the worst CPU time; the same of full ones, where one demand has as many candidates as are looked at;
 * and the mean JCT that comes of it.
 */
#include "experiment/execute.h"
#include "policies/muri.h"
#include "tests/bench/each_run.h"

#include <stdio.h>

struct tally {
    uint32_t n;
    double sum_s, worst_s;
};

struct timed {
    struct muri muri; /* first: the policy takes it for its own */
    struct tally all, full;
};

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
    double from = cpu_thread_s();
    muri_schedule(self, s);
    double took = cpu_thread_s() - from;
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

static int bench_run(const struct run_config *config, struct error *err)
{
    struct workload w;
    struct run_result r;
    if (config->policy.ops->schedule != muri_schedule) {
        error_set(err, BRAID_BAD_INPUT, "the policy is %s; give muri_s or muri_l", config->policy.ops->name);
        return err->code;
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
    if (experiment_run_one(&timed, false, &w, &r, err) != BRAID_OK)
        return err->code;
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
    return each_run(argc, argv, bench_run);
}
