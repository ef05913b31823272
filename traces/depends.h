/* depends.h - which jobs must have finished before a job may start: from the texts of the workload's column `depends` to a graph.
 *
 * A text is a list of ids separated by `;` or blanks. Where several jobs have the id, the nearest earlier one in rank is meant, else the first
 * later one. An id that no job of the workload has was cut away with its job (by a window, a limit, a filter): it does not count.
 */
#ifndef TRACES_DEPENDS_H
#define TRACES_DEPENDS_H

#include "traces/rows.h"
#include "traces/workload.h"

/* The predecessors of job j are on[first[j] .. first[j + 1]); one that is named twice is there twice. */
struct depends {
    uint32_t *first, *on;
};

/* The graph of `w`, whose column `depends` is there; depends_fini frees. O(jobs + texts). False: memory is out, or more than 2^32 - 1 pairs. */
bool depends_build(struct depends *d, const struct workload *w);
void depends_fini(struct depends *d);

/* Fill order[0 .. n) with the jobs so that predecessors come first; returns n, or a job on a cycle (then `order` says nothing). UINT32_MAX:
 * memory is out. O(jobs + pairs). */
uint32_t depends_order(const struct depends *d, uint32_t n, uint32_t *order);

/* All rows as read, before any is cut away: an id that no row has, or a cycle, is BRAID_BAD_INPUT with the line. */
int depends_check(const struct rows *r, struct error *err);

/* Leave out of the texts the ids that no job of `w` has, so that what is written can be read again. False: memory is out. */
bool depends_prune(struct workload *w);

#endif
