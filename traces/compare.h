/* compare.h - two readings of a trace side by side: the same jobs, and where not, in which columns.
 *
 * Jobs are matched by id (the first of an id with the first, the second with the second, …) or by rank. A column that one of them lacks
 * counts as empty. Times are compared as dates where both have dates, else from time 0.
 */
#ifndef TRACES_COMPARE_H
#define TRACES_COMPARE_H

#include "traces/workload.h"

enum { COMPARE_COLUMNS = 32, COMPARE_VALUE = 64 };

struct compare_column {
    const char *name; /* as in braid csv, the times in seconds */
    uint32_t jobs;    /* matched jobs that differ in it */
    double largest;   /* the greatest difference, in its unit; NaN where the values are no numbers */
    uint32_t a, b;    /* ranks of the first such job, by rank in A */
};

struct comparison {
    bool is_by_rank;
    bool are_dated; /* times are compared as dates */
    uint32_t matched, differing, only_a, only_b;
    uint32_t first_only_a, first_only_b; /* ranks; NAMES_NONE: none */
    uint32_t first_a, first_b;           /* ranks of the first differing job, by rank in A; NAMES_NONE: none */
    uint32_t n_columns;
    struct compare_column columns[COMPARE_COLUMNS]; /* all, with jobs = 0 where nothing differs */
};

enum compare_by { COMPARE_BY_ANY, COMPARE_BY_ID, COMPARE_BY_RANK }; /* any: by id where one is in both, else by rank */

/* Compare `a` and `b`. BRAID_FAILED: memory is out. */
int trace_compare(struct comparison *out, const struct workload *a, const struct workload *b, enum compare_by by,
                  struct error *err);

/* Column `column` (an index into columns) of job `job` of `w` as text in `out`, "-" where it has none. */
const char *compare_value(const struct comparison *c, uint32_t column, const struct workload *w, uint32_t job,
                          char out[COMPARE_VALUE]);

#endif
