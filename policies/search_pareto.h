/* search_pareto.h - points of which none is better in all: fronts, crowding, and which one to take (NSGA-II; Deb, Pratap, Agarwal,
 * Meyarivan, IEEE TEC 6(2), 2002). Every value is the less the better.
 */
#ifndef POLICIES_SEARCH_PARETO_H
#define POLICIES_SEARCH_PARETO_H

#include <stdbool.h>
#include <stdint.h>

enum { PARETO_VALUES = 6 };

enum pareto_choice {
    PARETO_NONE,
    PARETO_WEIGHTS, /* least sum of values */
    PARETO_KNEE,    /* nearest to the best of each value, each scaled to its range over the front */
};

struct pareto_point {
    double value[PARETO_VALUES];
    uint32_t n;      /* values; the same for all points */
    uint32_t front;  /* 0: no point is at least as good in all and better in one; 1: none but of front 0; … */
    double crowding; /* half the perimeter of the box between its neighbours in the front; infinite at its ends */
};

bool pareto_dominates(const struct pareto_point *a, const struct pareto_point *b);

/* Fill front and crowding of n points: O(values x n^2). */
void pareto_sort(struct pareto_point *p, uint32_t n);

/* A lower front, or the same and less crowded. */
bool pareto_is_before(const struct pareto_point *a, const struct pareto_point *b);

/* All points in that order, by index where equal. */
void pareto_order(const struct pareto_point *p, uint32_t n, uint32_t *out);

/* The index of the chosen point among those of front 0; n >= 1. */
uint32_t pareto_choose(const struct pareto_point *p, uint32_t n, enum pareto_choice choice);

#endif
