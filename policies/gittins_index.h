/* gittins_index.h - the Gittins index of a job of unknown length, from a sample of lengths.
 *
 * With D the service a job needs, `a` what it has attained and `delta` what it would be given next:
 *
 *      index(a) = P(D - a <= delta | D > a) / E(min(D - a, delta) | D > a)
 *               = #(a < D <= a + delta) / sum over D > a of min(D - a, delta)
 *
 * the chance to finish per unit of service spent, for one fixed delta as in Gu et al., NSDI'19. It is taken at multiples of
 * delta and holds until the next: a = step x delta. A step in which nothing of the sample ends has index 0; so has what outlasts it.
 *
 * Gittins' own index (1979) is the greatest of these over all delta > 0, so it is above 0 as long as something of the sample is left. That is
 * what delta 0 stands for (gittins_best.c): steps of a second (of service), from 64 s on of the largest power of two that is no more than a
 * 32nd of the service, and the best over the ends of all later steps.
 */
#ifndef POLICIES_GITTINS_INDEX_H
#define POLICIES_GITTINS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GITTINS_STEPS_MAX = 1024 }; /* there are no more under delta 0 */

struct gittins_law;

struct gittins_index {
    int64_t delta; /* 0: the best */
    const struct gittins_law
        *law;      /* instead of a sample: a distribution by name, the caller's; there are no steps then */
    size_t n;      /* steps in which something ends */
    int64_t *step; /* ascending */
    double *index; /* > 0, per unit of service */
};

/* The step that service >= 0 is in, and the service at which a step begins (INT64_MAX: beyond the range). delta >= 0 as above. */
int64_t gittins_index_step(int64_t delta, int64_t service);
int64_t gittins_index_begin(int64_t delta, int64_t step);

/* From `values` (n of them, >= 0, in any order: they are sorted), delta >= 0; zeros, which need no service, do not count. O(n + k log k)
 * for the k that follow values in order. False when memory is out. */
bool gittins_index_init(struct gittins_index *g, int64_t *values, size_t n, int64_t delta);

/* Of a distribution by name, which must live as long. False when memory is out. */
bool gittins_index_init_law(struct gittins_index *g, const struct gittins_law *law, int64_t delta);
void gittins_index_fini(struct gittins_index *g);

/* The index at step `step` >= 0. O(log n). */
double gittins_index_at(const struct gittins_index *g, int64_t step);

/* The first later step whose index is another one; INT64_MAX: none. */
int64_t gittins_index_next(const struct gittins_index *g, int64_t step);

/* gittins_best.c: step and index under delta 0, from ascending values > 0 or from a law. False when memory is out. */
bool gittins_best_of_values(struct gittins_index *g, const int64_t *values, size_t n);
bool gittins_best_of_law(struct gittins_index *g, const struct gittins_law *law);

#endif
