/* queue.h - queueing models run by the engine: Poisson arrivals, a distribution of service times, so many GPUs of which a job holds one.
 *
 * The workload is drawn in memory and handed to run(). Every run is watched, and must obey, exactly, in integer nanoseconds:
 *
 *   Little's law   the integral of the number of jobs queued = the sum of their queueing times, the same for running jobs and GPUs held
 *   no waste       no GPU is idle while a job waits
 *
 * The first batch of jobs is left out (warm-up), the rest is cut into batches of consecutive jobs, whose means over several runs are
 * the sample from which interval.h makes an interval.
 */
#ifndef TESTS_THEORY_QUEUE_H
#define TESTS_THEORY_QUEUE_H

#include "tests/harness.h"
#include "tests/theory/interval.h"

enum service {
    SERVICE_EXPONENTIAL,
    SERVICE_DETERMINISTIC,
    SERVICE_LOGNORMAL, /* squared coefficient of variation LOGNORMAL_SCV */
};
#define LOGNORMAL_SCV 1.5
#define SERVICE_MEAN_S 100.0

enum { RUN_JOBS = 420000 };

struct queue {
    const char *policy;
    enum service service;
    uint32_t servers;    /* GPUs: up to 8 on one node, else nodes of 8 */
    double load;         /* arrival rate * mean service time / servers */
    uint32_t runs;       /* independent ones, of RUN_JOBS jobs each */
    uint32_t batch_jobs; /* divides RUN_JOBS */
    uint32_t seed;
    const char *param, *value; /* one parameter of the policy, as in YAML; NULL: all have their defaults */
    double urgent;             /* share of jobs of priority 1, the others have 0 */
    double stretch; /* 0: none; else service times are multiplied by it after they were drawn: a planted error */
};

/* What is measured, a mean a batch; times in units of the mean service time. */
enum measure {
    MEASURE_RESPONSE, /* end - submit */
    MEASURE_WAIT,     /* first start - submit */
    MEASURE_WAITED,   /* 1 if it waited at all */
    MEASURE_WAIT_URGENT,
    MEASURE_WAIT_PATIENT,
    MEASURE_NUMBER, /* jobs in the system, over time (batches of equal time) */
    MEASURE_PAIRS,  /* N (N - 1), over time */
    MEASURE_WORK, /* one server: work found on arrival, by Lindley's recursion over what was drawn, not by the engine */
    N_MEASURES
};

struct queue_result {
    struct sample samples[N_MEASURES];
    uint64_t waited; /* jobs that did, warm-up included */
};

/* Run the model. Asserts that the engine succeeds, that every job finishes and that the exact laws hold. */
void queue_run(struct queue_result *out, const struct queue *q);

#endif
