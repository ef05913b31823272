/* Orders that neither look at service times nor interrupt jobs. */
#include "tests/theory/formula.h"

#include <criterion/criterion.h>

static void compare_wait(const char *model, const struct queue *q, double tolerance)
{
    struct queue_result r;
    queue_run(&r, q);
    compare(model, "mean wait", q->load, q->servers == 1 ? mg1_wait(q->service, q->load) : mmc_wait(q->servers, q->load),
            &r.samples[MEASURE_WAIT], tolerance);
    if (q->service == SERVICE_EXPONENTIAL)
        compare(model, "probability of waiting", q->load, erlang_c(q->servers, q->load), &r.samples[MEASURE_WAITED],
                tolerance);
}

Test(theory, mm1_waits_as_theory_says)
{
    struct queue q = {.servers = 1, .policy = "fifo", .batches = 20, .batch_jobs = 20000, .seed = 11};
    q.load = 0.5, q.runs = 3;
    compare_wait("M/M/1 fifo", &q, 0.02);
    q.load = 0.7, q.runs = 7;
    compare_wait("M/M/1 fifo", &q, 0.02);
    q.load = 0.9, q.runs = 8;
    compare_wait("M/M/1 fifo", &q, 0.06);
}

Test(theory, mmc_waits_as_erlang_says)
{
    struct queue q = {.servers = 4, .policy = "fifo", .batches = 20, .batch_jobs = 20000, .seed = 12};
    q.load = 0.7, q.runs = 9;
    compare_wait("M/M/4 fifo", &q, 0.02);
    q.load = 0.9, q.runs = 8;
    compare_wait("M/M/4 fifo", &q, 0.06);
    q.servers = 16, q.load = 0.9, q.runs = 8;
    compare_wait("M/M/16 fifo", &q, 0.06);
}

Test(theory, mg1_waits_as_pollaczek_and_khinchine_say)
{
    struct queue q = {.service = SERVICE_DETERMINISTIC, .servers = 1, .policy = "fifo", .batches = 20, .batch_jobs = 20000};
    q.seed = 13;
    q.load = 0.5, q.runs = 2;
    compare_wait("M/D/1 fifo", &q, 0.02);
    q.load = 0.7, q.runs = 3;
    compare_wait("M/D/1 fifo", &q, 0.02);
    q.load = 0.9, q.runs = 4;
    compare_wait("M/D/1 fifo", &q, 0.06);
    q.service = SERVICE_LOGNORMAL, q.seed = 14;
    q.load = 0.5, q.runs = 10;
    compare_wait("M/LN/1 fifo", &q, 0.02);
    q.load = 0.7, q.runs = 16;
    compare_wait("M/LN/1 fifo", &q, 0.02);
    q.load = 0.9, q.runs = 8;
    compare_wait("M/LN/1 fifo", &q, 0.10);
}

Test(theory, random_order_waits_as_long_as_fifo)
{
    const struct queue q = {.servers = 1, .policy = "random", .load = 0.7, .runs = 7, .batches = 20, .batch_jobs = 20000, .seed = 15};
    compare_wait("M/M/1 random", &q, 0.02);
}
