/* lines.h - things whose values move along straight lines, kept sorted although the lines cross.
 *
 *     value(q) = at * q + slope          q falls from round to round (a decaying usage), the same for all
 *
 *     value ^  \                         Lines of one slope never cross for q > 0, so those are kept in a sorted set;
 *           |   \____ slope 2            a question compares one head per slope.
 *           |  \_____ slope 1
 *           +-----------> time
 *
 * Values that stand still are the case of q = 1. How many slopes there are is for the caller to keep small.
 */
#ifndef POLICIES_LINES_H
#define POLICIES_LINES_H

#include "policies/jobset.h"

struct lines_slope {
    double slope;
    struct jobset ids; /* by `at`, then turn; the length is the id; never empty */
    uint32_t cursor;   /* of a walk from the top */
};

struct lines {
    struct lines_slope *slopes;
    uint32_t n, room;
};

/* Put in `id`, which is not there; no two have the same `turn`. Both numbers finite. False when memory is out. */
bool lines_insert(struct lines *l, struct jobset_pool *pool, double slope, double at, uint32_t turn, uint32_t id);

/* Take out what was put in with these very numbers. */
void lines_erase(struct lines *l, double slope, double at, uint32_t turn);

/* The id of least value, of equal ones that of the smallest turn, or JOBSET_NONE; its value and turn. O(slopes). */
uint32_t lines_first(const struct lines *l, double q, double *value, uint32_t *turn);

/* A walk from the greatest value down (of equal ones the largest turn first): begin, then next until JOBSET_NONE. The lines must not
 * change meanwhile. */
void lines_walk(struct lines *l);
uint32_t lines_walk_next(struct lines *l, double q, double *value);

#endif
