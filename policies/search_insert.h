/* search_insert.h - building and bettering an order by insertions: for greedy_insert, and where the planner gives up exactness. */
#ifndef POLICIES_SEARCH_INSERT_H
#define POLICIES_SEARCH_INSERT_H

#include "policies/search.h"

enum { INSERTION_PLACES = 64 }; /* tried at once: a longer order is tried at so many places, evenly spread */

struct insertion {
    uint16_t *start, *partial, *out; /* orders */
    struct search_candidate try[INSERTION_PLACES];
    double *keys;
    uint32_t taken_out;
};

/* Room for orders of up to `most`; false: memory is out. */
bool insertion_init(struct insertion *x, struct sched *s, uint32_t most, uint32_t taken_out);

/* From nothing: by service, the most first, each at its best place among those before. Takes at most half of the budget that is left (the
 * places tried get fewer). */
void insertion_build(struct insertion *x, struct search_problem *p);

/* From the best: take `taken_out` drawn jobs out and put each back at its best place, until the budget is spent. */
void insertion_iterate(struct insertion *x, struct search_problem *p);

#endif
