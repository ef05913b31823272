/* bench_engine CONFIG [KEY=VALUE ...] - the engine alone: for each run of a config the workload is read and scaled first, then simulated
 * three times; the best CPU time counts. Prints jobs/s, ns an event and bytes of the job table a job.
 */
#include "experiment/execute.h"
#include "experiment/outcome.h"
#include "tests/bench/each_run.h"

#include <stdio.h>

static int bench_run(const struct run_config *config, struct error *err)
{
    enum { TRIALS = 3, LONG_S = 5 };
    struct workload w;
    struct run_result r;
    if (experiment_run_one(config, false, &w, &r, err) != BRAID_OK)
        return err->code;
    double best = 1e9;
    const struct run_spec spec = outcome_spec(config, &w, false, NULL);
    for (int i = 0; i < TRIALS; i++) {
        run_result_fini(&r);
        double from = cpu_process_s();
        if (run(&r, &spec, err) != BRAID_OK) {
            workload_fini(&w);
            return err->code;
        }
        double took = cpu_process_s() - from;
        best = took < best ? took : best;
        if (took > LONG_S)
            break;
    }
    uint32_t finished = 0;
    for (uint32_t j = 0; j < r.n_jobs; j++)
        finished += r.jobs[j].status == STATUS_FINISHED;
    printf("engine %-16s", config->policy.label);
    for (uint32_t i = 0; i < config->n_swept; i++)
        printf(" %s=%s", config->swept[i].key, config->swept[i].value);
    printf(" jobs %u finished %u events %llu rounds %llu cpu_s %.3f kjobs_per_s %.0f ns_per_event %.0f job_bytes %zu\n",
           r.n_jobs, finished, (unsigned long long)r.totals.events, (unsigned long long)r.totals.rounds, best,
           r.n_jobs / best * 1e-3, best * 1e9 / (double)r.totals.events, sizeof(struct job));
    fflush(stdout);
    run_result_fini(&r);
    workload_fini(&w);
    return 0;
}

int main(int argc, char **argv)
{
    return each_run(argc, argv, bench_run);
}
