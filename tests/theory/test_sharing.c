/* Sharing: one GPU in turns (the limit of processor sharing), and more GPUs than anybody asks for (infinitely many servers). */
#include "tests/theory/formula.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

Test(theory, round_robin_tends_to_processor_sharing)
{
    struct queue q = {.servers = 1, .policy = "round_robin", .quantum = getenv("Q"), .batches = 20, .batch_jobs = 5000, .seed = 31};
    q.load = atof(getenv("LOAD")), q.runs = (uint32_t)atoi(getenv("RUNS"));
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"M/M/1 round_robin", "M/D/1 round_robin", "M/LN/1 round_robin"};
        q.service = (enum service)k;
        struct queue_result r;
        queue_run(&r, &q);
        compare(names[k], "mean response", q.load, mg1_sharing_response(q.load), &r.samples[MEASURE_RESPONSE], 0.02);
    }
}

Test(theory, without_a_queue_the_number_in_system_is_poisson)
{
    static const char *const names[] = {"M/M/inf", "M/D/inf", "M/LN/inf"};
    for (int k = 0; k < 3; k++) {
        struct queue q = {.service = (enum service)k, .servers = 256, .policy = "fifo", .load = 40.0 / 256, .runs = 2, .batches = 20, .batch_jobs = 20000, .seed = 32};
        struct queue_result r;
        queue_run(&r, &q);
        cr_expect_eq(r.waited, UINT64_C(0));
        double offered = q.load * q.servers;
        compare(names[k], "mean number in system", offered, mginf_number(offered), &r.samples[MEASURE_NUMBER], 0.01);
        compare(names[k], "mean of N (N - 1)", offered, mginf_number_squared(offered), &r.samples[MEASURE_NUMBER_SQUARED], 0.02);
    }
}
