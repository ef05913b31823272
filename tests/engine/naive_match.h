/* naive_match.h - the engine against naive.c: random cases, and their comparison job by job */
#ifndef TESTS_ENGINE_NAIVE_MATCH_H
#define TESTS_ENGINE_NAIVE_MATCH_H

#include "tests/engine/naive.h"

/* ---- naive_cases.c ------------------------------------------------------------------------------------ */

/* Of tests/dice.h. */
struct naive_dice {
    uint64_t state;
};

/* From 0 to sides - 1. */
uint64_t naive_roll(struct naive_dice *d, uint64_t sides);

/* Whole seconds from low to high, in nanoseconds. */
int64_t naive_roll_s(struct naive_dice *d, int64_t low, int64_t high);

struct naive_size {
    uint32_t jobs, nodes_least, nodes_most, gpus_most;
    int64_t submit_s, duration_s;
    bool has_vcs; /* always two */
};

extern const struct naive_size naive_tiny, naive_middle;

/* Fill in all but the parts of the policy, the rules and the placement, which are read. */
void naive_roll_case(struct naive_case *c, const struct naive_size *z, struct naive_dice *d);

/* ---- naive_match.c ------------------------------------------------------------------------------------ */

/* Run a case in both; true when they agree on every job. `is_loud`: what differs is printed. */
bool naive_agree(const struct naive_case *asked, bool is_loud);

/* Drop jobs and changes of quota for as long as the two still differ: what is left is read more easily. */
void naive_shrink(struct naive_case *c);

#endif
