/* search_cases.h - small random cases for tests of searching policies, and a policy that asks the rollout and then follows its plan. */
#ifndef TESTS_POLICIES_SEARCH_CASES_H
#define TESTS_POLICIES_SEARCH_CASES_H

#include "policies/search.h"
#include "tests/harness.h"

/* xorshift: the same on every machine. */
uint32_t draw(uint64_t *state, uint32_t n);

/* `n` jobs at time 0, whose runs and demands are drawn; up to `most_gpus` GPUs. */
void draw_jobs(struct test_case *c, uint64_t *state, uint32_t n, uint32_t most_gpus);

/* Mean completion time of the case's run, in seconds. */
double mean_jct(const struct test_case *c);

#endif
