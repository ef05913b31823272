/* inside.h - work on a part of a policy inside a run: there it gets its memory, the jobs and the clock. */
#ifndef TESTS_POLICIES_INSIDE_H
#define TESTS_POLICIES_INSIDE_H

#include "tests/harness.h"

/* What is done to the part; `self` is zeroed and lives as long as the run. */
struct inside {
    uint32_t knows; /* enum knows bits */
    enum scope scope;
    size_t size; /* of self */
    void (*begin)(void *self, struct sched *s);
    void (*round)(void *self, struct sched *s); /* at each instant at which something happens; NULL: nothing is done */
    void (*end)(void *self);                    /* NULL: nothing is done */
};

/* Run `c` with that as its policy. */
void inside_run(struct test_case *c, const struct inside *what);

#endif
