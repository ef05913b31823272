#include "policies/matching.h"

#include "base/check.h"
#include "policies/matching_state.h"

#include <string.h>

static const double STOP_WITHIN = 1e-5; /* the dual of the free vertices counts as used up within this */

/* ---- memory ---------------------------------------------------------------------------------------- */

static size_t take(size_t *used, size_t bytes)
{
    size_t at = *used;
    *used += (bytes + 15) / 16 * 16;
    return at;
}

/* Lay the tables out behind a struct matching; the bytes in all. */
static size_t lay(struct matching *m, uint32_t n, char *base)
{
    size_t used = 0, nodes = n + n / 2 + 1, blossoms = nodes - n;
    struct matching t = {.n = n, .n_nodes = (uint32_t)nodes};
    (void)take(&used, sizeof t);
#define TABLE(name, count)                                                                                             \
    size_t name##_at = take(&used, (count) * sizeof *t.name);                                                          \
    t.name = base != NULL ? (void *)(base + name##_at) : NULL
    TABLE(dual, nodes);
    TABLE(doubled, (size_t)n * n);
    TABLE(least, nodes);
    TABLE(bar, nodes);
    TABLE(best, nodes);
    TABLE(from, nodes);
    TABLE(top, nodes);
    TABLE(match, nodes);
    TABLE(parent, nodes);
    TABLE(visited, nodes);
    TABLE(offered, nodes);
    TABLE(is_kept, nodes);
    TABLE(label, nodes);
    TABLE(queue, nodes * 2);
    TABLE(stack, nodes);
    TABLE(other, nodes * 2);
    TABLE(edges, blossoms * nodes);
    TABLE(member_with, blossoms * n);
    TABLE(members, blossoms * n);
    TABLE(n_members, blossoms);
#undef TABLE
    if (m != NULL)
        *m = t;
    return used;
}

size_t matching_memory(uint32_t n)
{
    return lay(NULL, n, NULL);
}
/* ---- one phase ------------------------------------------------------------------------------------- */

/* A tight edge from an outer top. True: there is one pair more. */
static bool grow(struct matching *m, struct edge e)
{
    uint32_t x = m->top[e.u], y = m->top[e.v];
    if (m->label[y] == FREE) {
        uint32_t mate = m->top[m->match[y]];
        m->parent[y] = e.u;
        m->label[y] = INNER;
        want_none(m, y);
        want(m, mate);
        m->label[mate] = OUTER;
        matching_queue(m, mate);
    } else if (m->label[y] == OUTER) {
        uint32_t base = matching_ancestor(m, x, y);
        if (base == NONE) {
            matching_augment(m, x, y);
            matching_augment(m, y, x);
            return true;
        }
        matching_shrink(m, x, base, y);
    }
    return false;
}

/* Offer the edge from u to each blossom that has one of the vertices [begin, end). */
static void offer_blossoms(struct matching *m, uint32_t u, uint32_t begin, uint32_t end)
{
    const double *row = m->doubled + (size_t)u * m->n;
    if (!m->has_blossom)
        return;
    if (m->is_complete && begin == 0 && end == m->n) {
        for (uint32_t x = m->n; x < m->n_tops; x++)
            if (is_top(m, x) && x != m->top[u] && m->label[x] != INNER)
                offer(m, u, x, slack(m, edge_of(m, u, x)));
        return;
    }
    m->offer_stamp++;
    for (uint32_t v = begin; v < end; v++) {
        uint32_t x = m->top[v];
        if (!is_blossom(m, x) || m->offered[x] == m->offer_stamp || !(row[v] > 0) || x == m->top[u])
            continue;
        m->offered[x] = m->offer_stamp;
        if (m->label[x] != INNER)
            offer(m, u, x, slack(m, edge_of(m, u, x)));
    }
}

enum { WIDTH = 8 }; /* vertices looked at together */

typedef double pair_of_doubles __attribute__((vector_size(16)));
typedef long long pair_of_masks __attribute__((vector_size(16)));

static inline pair_of_doubles load(const double *at)
{
    pair_of_doubles v;
    memcpy(&v, at, sizeof v);
    return v;
}

/* Does one of the edges from u, of dual y, to the next vertices have a slack below the bar? */
static inline bool is_one_below(double y, const double *doubled, const double *dual, const double *bar)
{
    pair_of_masks found = {0, 0};
    uint64_t either[2];
    for (uint32_t i = 0; i < WIDTH; i += 2)
        found |= (pair_of_masks)((y + load(dual + i)) - load(doubled + i) < load(bar + i));
    memcpy(either, &found, sizeof either);
    return (either[0] | either[1]) != 0;
}

static bool look_around(struct matching *m, uint32_t u)
{
    const double *row = m->doubled + (size_t)u * m->n, *dual = m->dual, *bar = m->bar, y = m->dual[u];
    uint32_t n = m->n, begin = 0;
    for (uint32_t v = 0; v < n; v++) {
        while (v % WIDTH == 0 && v + WIDTH <= n && !is_one_below(y, row + v, dual + v, bar + v))
            v += WIDTH;
        if (v == n)
            break;
        double s = y + dual[v] - row[v];
        if (!(s < bar[v]))
            continue;
        uint32_t x = m->top[v];
        if (x == m->top[u] || m->label[x] == INNER)
            continue;
        if (s > 0) { /* then it is a top */
            set_least(m, v, u, s);
            continue;
        }
        offer_blossoms(m, u, begin, v); /* before the trees change */
        begin = v + 1;
        if (grow(m, (struct edge){(uint16_t)u, (uint16_t)v}))
            return true;
    }
    offer_blossoms(m, u, begin, n);
    return false;
}

/* By how much the duals can move. */
static double step_of(const struct matching *m)
{
    double d = INFINITY;
    for (uint32_t b = m->n; b < m->n_tops; b++)
        if (is_top(m, b) && m->label[b] == INNER)
            d = fmin(d, m->dual[b] / 2);
    for (uint32_t x = 0; x < m->n_tops; x++)
        if (is_top(m, x) && m->from[x] != NONE && m->label[x] != INNER)
            d = fmin(d, m->label[x] == FREE ? m->least[x] : m->least[x] / 2);
    return d;
}

/* Move the duals by d; false where that is less than doubles can tell. */
static bool duals_move(struct matching *m, double d)
{
    bool has_moved = false;
    for (uint32_t u = 0; u < m->n; u++) {
        double before = m->dual[u];
        int8_t label = m->label[m->top[u]];
        m->dual[u] = label == OUTER ? before - d : label == INNER ? before + d : before;
        has_moved |= m->dual[u] != before;
    }
    for (uint32_t b = m->n; b < m->n_tops; b++)
        if (is_top(m, b) && m->label[b] != FREE) {
            double before = m->dual[b];
            m->dual[b] += m->label[b] == OUTER ? d * 2 : -(d * 2);
            has_moved |= m->dual[b] != before;
        }
    for (uint32_t x = 0; x < m->n_tops; x++)
        if (is_top(m, x) && m->from[x] != NONE)
            set_least(m, x, m->from[x], slack(m, edge_of(m, m->from[x], x)));
    return has_moved;
}

/* Edges that the step made tight. `tight`: 0, but for steps too small to take. Blossoms made here are not looked at here. */
static bool look_at_least(struct matching *m, double tight)
{
    for (uint32_t x = 0, end = m->n_tops; x < end; x++)
        if (is_top(m, x) && m->from[x] != NONE && m->top[m->from[x]] != x && m->least[x] <= tight &&
            grow(m, edge_of(m, m->from[x], x)))
            return true;
    return false;
}

/* One pair more; false: the matching is the heaviest. */
static bool phase(struct matching *m)
{
    bool has_root = false;
    m->head = m->tail = 0;
    memset(m->label, FREE, m->n_tops);
    m->has_blossom = false;
    for (uint32_t x = 0; x < m->n_tops; x++) {
        if (!is_top(m, x)) {
            want_none(m, x);
            continue;
        }
        want(m, x);
        m->has_blossom |= is_blossom(m, x);
        if (m->match[x] == NONE) {
            m->label[x] = OUTER;
            matching_queue(m, x);
            has_root = true;
        }
    }
    while (has_root && !m->is_lost) {
        while (m->head < m->tail && !m->is_lost) {
            uint32_t u = m->queue[m->head++];
            if (m->label[m->top[u]] != INNER && look_around(m, u))
                return true;
        }
        if (m->is_lost)
            return false;
        double d = step_of(m), smallest = INFINITY;
        for (uint32_t u = 0; u < m->n; u++)
            if (m->label[m->top[u]] == OUTER)
                smallest = fmin(smallest, m->dual[u]);
        if (smallest <= d || smallest - d <= STOP_WITHIN * smallest) {
            (void)duals_move(m, fmin(smallest, d));
            return false;
        }
        m->head = m->tail = 0;
        double tight = duals_move(m, d) ? 0 : d * 2;
        if (look_at_least(m, tight))
            return true;
        for (uint32_t b = m->n; b < m->n_tops; b++)
            if (is_top(m, b) && m->label[b] == INNER && m->dual[b] <= 0)
                matching_open(m, b);
    }
    return false;
}

static bool solve(uint32_t n, const double *weights, uint32_t *mate, void *memory, bool is_released)
{
    require(n <= MATCHING_VERTICES_MAX, "%u vertices", n);
    struct matching *m = memory;
    lay(m, n, memory);
    m->w = weights;
    m->n_tops = n;
    m->is_released = is_released;
    memset(m->visited, 0, m->n_nodes * sizeof *m->visited);
    memset(m->offered, 0, m->n_nodes * sizeof *m->offered);
    memset(m->parent, 0, m->n_nodes * sizeof *m->parent);
    double largest = 0;
    uint64_t n_edges = 0;
    for (size_t i = 0; i < (size_t)n * n; i++) {
        largest = weights[i] > largest ? weights[i] : largest;
        n_edges += weights[i] > 0;
        m->doubled[i] = weights[i] > 0 ? weights[i] * 2 : -INFINITY;
    }
    m->is_complete = n_edges == (uint64_t)n * (n - 1);
    for (uint32_t x = 0; x < m->n_nodes; x++) {
        m->dual[x] = largest;
        m->top[x] = x < n ? x : NONE;
        m->match[x] = NONE;
    }
    while (phase(m))
        ;
    memcpy(mate, m->match, n * sizeof *mate);
    return !m->is_lost;
}

void matching_solve(uint32_t n, const double *weights, uint32_t *mate, void *memory)
{
    bool is_whole = solve(n, weights, mate, memory, false);
    require(is_whole, "the search for a matching over %u vertices lost its way", n);
}

bool matching_solve_released(uint32_t n, const double *weights, uint32_t *mate, void *memory)
{
    return solve(n, weights, mate, memory, true);
}

void matching_duals(uint32_t n, void *memory, double *y,
                    void (*each)(void *self, double z, const uint32_t *vertices, uint32_t n_vertices), void *self)
{
    struct matching *m = memory;
    memcpy(y, m->dual, n * sizeof *y);
    for (uint32_t b = n; b < m->n_tops && each != NULL; b++) {
        if (m->top[b] == NONE)
            continue;
        uint32_t k = 0;
        for (uint32_t u = 0; u < n; u++)
            if (member_with(m, b)[u] != UINT16_MAX)
                m->stack[k++] = u;
        each(self, m->dual[b], m->stack, k);
    }
}
