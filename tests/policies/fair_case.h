/* fair_case.h - what tests of fair policies share: files of shares, and who holds how much when. */
#ifndef TESTS_POLICIES_FAIR_CASE_H
#define TESTS_POLICIES_FAIR_CASE_H

#include "tests/engine/cases.h"

/* A file with this content; its path lives as long as the test (the file is gone when the test ends). */
const char *fair_file(const char *content);

/* GPUs that the jobs of `user` in `vc` hold at `at_s`, NULL: of any. Runs the case up to there, twice; at_s must not be an event, nor the
 * millisecond behind it hold one. */
double fair_held(struct test_case *c, const char *vc, const char *user, double at_s);

#endif
