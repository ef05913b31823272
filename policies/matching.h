/* matching.h - maximum-weight matching in a general graph, by blossoms (Edmonds; the O(n^3) form of Galil, Micali and Gabow).
 *
 * The weight, not the number of pairs, is made as large as possible. The primal-dual method keeps for every vertex a dual y and for every
 * blossom (an odd set of vertices, shrunk to one) a dual z >= 0, such that for each edge
 *
 *     y(u) + y(v) + sum of z over the blossoms that hold both u and v  >=  2 w(u, v)
 *
 * and grows the matching along edges where both sides are equal ("tight"). At the end unmatched vertices have y = 0 and every blossom of
 * k vertices with z > 0 holds (k - 1) / 2 pairs, which proves the optimum.
 *
 * Where several matchings have the largest weight, which one is found is fixed by the order of the search, and is that of the simulator
 * released with Muri: vertices in order of number, roots and new outer vertices in a queue, the lowest free number for a new blossom, the
 * first of several tightest edges. Doubles without a tolerance: an edge is tight when its slack, as computed, is not above zero.
 */
#ifndef POLICIES_MATCHING_H
#define POLICIES_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATCHING_VERTICES_MAX = 8192 };

#define MATCHING_NONE UINT32_MAX

/* Bytes of working memory for `n` vertices, about 21 n^2; and where they are of n_classes <= n classes, about 5 n^2 + 16 n n_classes. */
size_t matching_memory(uint32_t n);
size_t matching_memory_classes(uint32_t n, uint32_t n_classes);

/* `weights` is dense, n x n, row u holding w(u, v): an edge where it is above zero, and then above zero in w(v, u) too. The two should be
 * equal; a difference of rounding is harmless. mate[u] becomes the partner of u, or MATCHING_NONE. `memory` is of matching_memory(n)
 * bytes, aligned for doubles, not cleared. n <= MATCHING_VERTICES_MAX. */
void matching_solve(uint32_t n, const double *weights, uint32_t *mate, void *memory);

/* The same, and the same answer, where vertices are of n_classes <= n classes and an edge weighs what the classes of its ends say: `weights`
 * is n_classes x n_classes, w(a, a) between two of class a. A vertex is not looked at again all around when another of its class, and with
 * the same dual, has been: with few classes this is about twice as fast. class_of[u] < n_classes; NULL: each vertex is a class. `memory` is of
 * matching_memory_classes(n, n_classes) bytes. */
void matching_solve_classes(uint32_t n, const uint32_t *class_of, uint32_t n_classes, const double *weights,
                            uint32_t *mate, void *memory);

/* The same to the letter of the released simulator, where rounding can bring the two ends of a pair apart: mate[mate[u]] may be another than
 * u. False: the search has lost its way, and `mate` means nothing. */
bool matching_solve_released(uint32_t n, const uint32_t *class_of, uint32_t n_classes, const double *weights,
                             uint32_t *mate, void *memory);

/* What proves the optimum, read from the memory of a matching_solve that has just returned: y[u] for n vertices, and z and the vertices of
 * each blossom that is left. `each` may be NULL. */
void matching_duals(uint32_t n, void *memory, double *y,
                    void (*each)(void *self, double z, const uint32_t *vertices, uint32_t n_vertices), void *self);

#endif
