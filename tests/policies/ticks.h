/* ticks.h - a naive simulator of preemptive policies, as an independent reference: second by second, over a pool of GPUs, with plain arrays.
 *
 * Every second: jobs that are done leave, others arrive, all values are taken anew, then GPUs are handed out from the best to the worst job, to
 * whoever fits. The best of two jobs with equal values is the one that runs, then the one of lower rank.
 */
#ifndef TESTS_POLICIES_TICKS_H
#define TESTS_POLICIES_TICKS_H

#include "tests/harness.h"

struct tick_job {
    int64_t submit, duration, gpus; /* s */
    int64_t start, end;             /* -1: not yet */
    int64_t executed, waited;       /* s; a rule may count them anew */
    int64_t attained;               /* s on GPUs in all */
    int64_t level, entered;         /* the rule's own */
    bool is_running;
    uint32_t preemptions;
};

struct tick_rule {
    void *self;
    /* Bring level and entered of a job that has arrived to second `t`. */
    void (*update)(void *self, struct tick_job *job, int64_t t);
    /* < 0: `a` before `b`; 0: it does not care. Asked before running and rank decide (first) and after running (then); may be NULL. */
    int (*first)(void *self, const struct tick_job *a, const struct tick_job *b);
    int (*then)(void *self, const struct tick_job *a, const struct tick_job *b);
};

enum { TICK_JOBS = 64 };

struct ticks {
    struct tick_job jobs[TICK_JOBS];
    uint32_t n;
    int64_t gpus;
};

void ticks_run(struct ticks *x, const struct tick_rule *rule);

/* A random case: 1 to TICK_JOBS jobs of 1, 2 or 4 GPUs on a pool of 8, from `seed`. */
void ticks_random(struct ticks *x, uint32_t seed, int64_t longest);

/* The same jobs under `c`'s policy with placement count: starts, ends and preemptions must agree. Destroys `c`. */
void ticks_compare(struct ticks *x, struct test_case *c, uint32_t seed);

#endif
