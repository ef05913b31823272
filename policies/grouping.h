/* grouping.h - which jobs share GPUs, as a problem of counts: many jobs have the same profile, so that a group is known by how many it has
 * of each.
 *
 *   row   jobs that are alike: of one demand and one profile, `count` of them, each asking for `gpus` GPUs
 *   set   a group that could be: up to four jobs of rows of one demand, worth `value` as long as it holds its GPUs
 *   plan  how many copies of each set there are, so that each row's jobs are used up
 *
 * The best plan is the one of the largest total value among those that need no more GPUs than `capacity`; where there is none, among
 * those that need the fewest. Groups are worth no more than their members one by one, as a rule: it is the lack of GPUs that makes groups.
 *
 *   grouping_greedy    sets in order of what they lose for each GPU that they save, until that is enough; where GPUs are very short that
 *                      ends in pairs which nothing can be added to, so once more with the sets of three and more first, and of four; the best of
 *                      these plans. O(sets log sets)
 *   grouping_exact     dynamic programming over what is left of the rows                     small problems only
 *   grouping_relaxed   linear programming, rounded; as good as greedy at least, and comes with a bound  grows with rows, not with jobs
 */
#ifndef POLICIES_GROUPING_H
#define POLICIES_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GROUPING_MEMBERS = 4,
    GROUPING_ROWS_MAX = 1024,
    GROUPING_SETS_MAX = 32768,     /* above this a caller should not list them */
    GROUPING_STATES_MAX = 262144,  /* of grouping_exact: for each demand the product of (count + 1), times (jobs + 1) */
    GROUPING_SHARES_MAX = 1 << 20, /* of grouping_exact: (demands + 1) times the GPUs that all jobs ask for */
};

struct grouping_row {
    uint32_t demand; /* rows of one demand stand together */
    uint32_t gpus, count;
};

struct grouping_set {
    uint16_t rows[GROUPING_MEMBERS]; /* of one demand, ascending, repeated for several jobs of a row */
    uint16_t n;
    double value; /* >= 0 */
};

struct grouping {
    uint32_t n_rows, n_sets;
    const struct grouping_row *rows;
    const struct grouping_set *sets; /* the first n_rows are the rows' single jobs, in their order */
    uint64_t capacity;
};

/* GPUs that a plan needs, and its total value. */
uint64_t grouping_gpus(const struct grouping *g, const uint32_t *copies);
double grouping_value(const struct grouping *g, const uint32_t *copies);

/* Is plan a better than b: by GPUs above the capacity, then by value? */
bool grouping_is_better(const struct grouping *g, const uint32_t *a, const uint32_t *b);

/* How many copies of a set could be made of what is left of the rows. */
uint32_t grouping_copies_left(const struct grouping_set *set, const uint32_t *left);

/* Fill copies[n_sets]. False: memory is out (or, grouping_exact, the problem is too large: see the limits above); `copies` then means
 * nothing. */
bool grouping_greedy(const struct grouping *g, uint32_t *copies);
bool grouping_exact(const struct grouping *g, uint32_t *copies);
/* `*bound` (may be NULL): no plan that needs no more than the capacity is worth more; INFINITY when that is not known. */
bool grouping_relaxed(const struct grouping *g, uint32_t *copies, double *bound);

#endif
