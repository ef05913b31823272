/* search_order.h - orders of n things as arrays of their indexes, and what search does to them. Every operator turns a permutation into
 * a permutation.
 */
#ifndef POLICIES_SEARCH_ORDER_H
#define POLICIES_SEARCH_ORDER_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stdint.h>

/* Is `order` a permutation of 0..n-1? `seen`: n bytes of room. */
bool order_is_valid(const uint16_t *order, uint32_t n, uint8_t *seen);

void order_shuffle(uint16_t *order, uint32_t n, gsl_rng *rng);

/* Exchange the things at i and k. */
void order_swap(uint16_t *order, uint32_t i, uint32_t k);
/* Take the thing at `from` out and put it in at `to`; those between move up. */
void order_move(uint16_t *order, uint32_t from, uint32_t to);
/* Move `length` things from `from` on as one block so that it begins at `to`: from + length <= n, to + length <= n. */
void order_move_block(uint16_t *order, uint32_t from, uint32_t length, uint32_t to);

/* A random one of each kind; n >= 2. */
void order_mutate_swap(uint16_t *order, uint32_t n, gsl_rng *rng);
void order_mutate_insert(uint16_t *order, uint32_t n, gsl_rng *rng);
void order_mutate_block(uint16_t *order, uint32_t n, gsl_rng *rng);

/* Order crossover in its linear form (Davis, 1985; LOX: Falkenauer and Bouffouix, 1991): positions [begin, end) from `a`, the others from left
 * to right in the order in which `b` has what is missing. Places count here, so the fill does not go round as on a tour. `seen`: n
 * bytes of room. `out` is neither. */
void order_cross(uint16_t *out, const uint16_t *a, const uint16_t *b, uint32_t n, uint32_t begin, uint32_t end,
                 uint8_t *seen);

/* Ascending keys, the lower index first where they are equal. (Random keys: Bean, 1994.) NaN counts as the largest. */
void order_by_keys(uint16_t *order, const double *keys, uint32_t n);
void order_by_integers(uint16_t *order, const int64_t *keys, uint32_t n);

#endif
