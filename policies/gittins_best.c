/* gittins_best.c - the index for the best stretch of service, all later steps considered.
 *
 * With S(a) = P(D > a), E(a) = E(max(D - a, 0)), both up to one factor, and steps that begin at x(0) < x(1) < …:
 *
 *      index(s) = max over k > s of (S(x(s)) - S(x(k))) / (E(x(s)) - E(x(k)))
 *
 *      -S  ^            o---o        the steepest line from point s to one behind it: the first edge of the upper hull of
 *          |      o _ --             s and all behind it. From the last point to the first, each point is taken off the hull once
 *          |    / o                  at most: O(steps)
 *          |  s
 *          +---------------->  -E
 *
 * The last point is (0, 0): to the end, however long it takes.
 */
#include "policies/gittins_index.h"

#include "policies/gittins_law.h"

#include <stdlib.h>

struct curve {
    double tail[GITTINS_STEPS_MAX + 1], excess[GITTINS_STEPS_MAX + 1];
    uint32_t hull[GITTINS_STEPS_MAX + 1];
    uint32_t n; /* points before (0, 0): those at which something is left */
};

static double slope(const struct curve *c, uint32_t from, uint32_t to)
{
    double ends = c->tail[from] - c->tail[to], spent = c->excess[from] - c->excess[to];
    return ends > 0 && spent > 0 ? ends / spent : 0;
}

/* The index of every step of the curve, and the curve's end. */
static bool take(struct gittins_index *g, struct curve *c)
{
    uint32_t top = 0;
    g->n = c->n;
    g->step = malloc((g->n + 1) * sizeof *g->step);
    g->index = malloc((g->n + 1) * sizeof *g->index);
    if (g->step == NULL || g->index == NULL) {
        gittins_index_fini(g);
        return false;
    }
    c->tail[c->n] = c->excess[c->n] = 0;
    c->hull[top++] = c->n;
    for (uint32_t s = c->n; s-- > 0;) {
        while (top > 1 && slope(c, s, c->hull[top - 2]) >= slope(c, s, c->hull[top - 1]))
            top--;
        g->step[s] = s;
        g->index[s] = slope(c, s, c->hull[top - 1]);
        c->hull[top++] = s;
    }
    return true;
}

/* Of ascending values > 0: how many are above each step's begin, and by how much in all. */
static void from_values(struct curve *c, const int64_t *values, size_t n)
{
    unsigned __int128 sum = 0;
    size_t i = n;
    while (c->n < GITTINS_STEPS_MAX && n > 0 && gittins_index_begin(0, c->n) < values[n - 1])
        c->n++;
    for (uint32_t s = c->n; s-- > 0;) {
        int64_t begin = gittins_index_begin(0, s);
        for (; i > 0 && values[i - 1] > begin; i--)
            sum += (uint64_t)values[i - 1];
        c->tail[s] = (double)(n - i);
        c->excess[s] = (double)(sum - (unsigned __int128)(n - i) * (uint64_t)begin);
    }
}

static void from_law(struct curve *c, const struct gittins_law *law)
{
    for (; c->n < GITTINS_STEPS_MAX; c->n++) {
        int64_t begin = gittins_index_begin(0, c->n);
        double tail = gittins_law_tail(law, (double)begin), excess = gittins_law_excess(law, (double)begin);
        if (begin == INT64_MAX || !(tail > 0 && excess > 0))
            break;
        c->tail[c->n] = tail;
        c->excess[c->n] = excess;
    }
}

bool gittins_best_of_values(struct gittins_index *g, const int64_t *values, size_t n)
{
    struct curve *c = calloc(1, sizeof *c);
    if (c == NULL)
        return false;
    from_values(c, values, n);
    bool ok = take(g, c);
    free(c);
    return ok;
}

bool gittins_best_of_law(struct gittins_index *g, const struct gittins_law *law)
{
    struct curve *c = calloc(1, sizeof *c);
    if (c == NULL)
        return false;
    from_law(c, law);
    bool ok = take(g, c);
    free(c);
    return ok;
}
