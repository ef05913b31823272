/* rank.h - the order of jobs: by submission, the trace's `order` column, id in natural order, then the whole row.
 *
 * Most rows are told apart by their submission; only those that tie are compared any further, and only those that tie in all but the
 * text have their text read again from the source. So the text of a trace is never held in memory.
 */
#ifndef TRACES_RANK_H
#define TRACES_RANK_H

#include "traces/rows.h"
#include "traces/source.h"

/* Put the rows `pick[0..n)` of `r` (distinct, ascending) in rank order. `source` is where they were read from, NULL where there is none
 * (a generated workload). Rows that are equal to another one are counted in `r` as duplicate_row. */
int rank_rows(struct rows *r, struct source *source, uint32_t *pick, uint32_t n, struct error *err);

/* Count ids that an earlier job of `w` (in rank order) has as well, as duplicate_id. */
int rank_count_duplicate_ids(struct rows *r, const struct workload *w, struct error *err);

/* out[i] becomes the stable ascending order of keys[0..n): keys[out[0]] <= keys[out[1]] … false: memory is out. */
bool rank_order(const int64_t *keys, uint32_t *out, uint32_t n);

#endif
