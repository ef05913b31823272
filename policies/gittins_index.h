/* gittins_index.h - the Gittins index of a job of unknown length, from a sample of lengths.
 *
 * With D the service a job needs, `a` what it has attained and `delta` what it would be given next:
 *
 *      index(a) = P(D - a <= delta | D > a) / E(min(D - a, delta) | D > a)
 *               = #(a < D <= a + delta) / sum over D > a of min(D - a, delta)
 *
 * the chance to finish per unit of service spent (Gittins, 1979, for one fixed delta as in Gu et al., NSDI'19). It is taken at multiples of
 * delta and holds until the next: a = step x delta. A step in which nothing of the sample ends has index 0; so has what outlasts it.
 */
#ifndef POLICIES_GITTINS_INDEX_H
#define POLICIES_GITTINS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gittins_index {
    int64_t delta;
    size_t n;      /* steps in which something ends */
    int64_t *step; /* ascending */
    double *index; /* > 0, per unit of service */
};

/* From `values` (n of them, >= 0, in any order: they are sorted), delta > 0; zeros, which need no service, do not count. O(n log n). False
 * when memory is out. */
bool gittins_index_init(struct gittins_index *g, int64_t *values, size_t n, int64_t delta);
void gittins_index_fini(struct gittins_index *g);

/* The index at step `step` >= 0. O(log n). */
double gittins_index_at(const struct gittins_index *g, int64_t step);

/* The first later step whose index is another one; INT64_MAX: none. */
int64_t gittins_index_next(const struct gittins_index *g, int64_t step);

#endif
