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
static size_t lay(struct matching *m, uint32_t n, uint32_t n_classes, char *base)
{
    size_t used = 0, nodes = n + n / 2 + 1, blossoms = nodes - n;
    struct matching t = {.n = n, .n_classes = n_classes, .n_nodes = (uint32_t)nodes};
    (void)take(&used, sizeof t);
#define TABLE(name, count)                                                                                             \
    size_t name##_at = take(&used, (count) * sizeof *t.name);                                                          \
    t.name = base != NULL ? (void *)(base + name##_at) : NULL
    TABLE(class_of, n);
    TABLE(doubled, (size_t)n_classes * n);
    TABLE(doubled_from, (size_t)n_classes * n);
    TABLE(dual, nodes);
    TABLE(least, nodes);
    TABLE(bar, nodes);
    TABLE(best, nodes);
    TABLE(who, nodes);
    TABLE(from, nodes);
    TABLE(top, nodes);
    TABLE(match, nodes);
    TABLE(parent, nodes);
    TABLE(visited, nodes);
    TABLE(offered, nodes);
    TABLE(is_kept, nodes);
    TABLE(label, nodes);
    TABLE(outer, n / 64 + 1);
    TABLE(queue, nodes * 2);
    TABLE(last_look, n_classes);
    TABLE(looks, nodes * 2);
    TABLE(tops, blossoms);
    TABLE(stack, nodes * 3);
    TABLE(own, nodes * 2);
    TABLE(tight, n);
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

size_t matching_memory_classes(uint32_t n, uint32_t n_classes)
{
    return lay(NULL, n, n_classes, NULL);
}

size_t matching_memory(uint32_t n)
{
    return matching_memory_classes(n, n);
}

/* ---- one phase ------------------------------------------------------------------------------------- */

/* A tight edge from an outer top. True: there is one pair more. */
bool matching_grow(struct matching *m, struct edge e)
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

/* By how much the duals can move. */
static double step_of(const struct matching *m)
{
    const double *least = m->least;
    const int8_t *label = m->label;
    double free = INFINITY, outer = INFINITY, inner = INFINITY;
    for (uint32_t i = 0; i < m->n_top_blossoms; i++)
        if (label[m->tops[i]] == INNER)
            inner = least_of(m->dual[m->tops[i]], inner);
    for (uint32_t x = 0, end = m->n_tops; x < end; x++) { /* inner tops, and nodes that are none, want nothing */
        double its = least[x] > -INFINITY ? least[x] : INFINITY;
        outer = least_of(label[x] == OUTER ? its : INFINITY, outer);
        free = least_of(label[x] == OUTER ? INFINITY : its, free);
    }
    return least_of(least_of(inner, outer) / 2, free);
}

/* Move the duals by d; false where that is less than doubles can tell. */
static bool duals_move(struct matching *m, double d)
{
    bool has_moved = false;
    const double by[] = {[FREE + 1] = 0, [OUTER + 1] = -d, [INNER + 1] = d};
    const int8_t *label = m->label;
    double *dual = m->dual;
    for (uint32_t u = 0, n = m->n; u < n; u++) {
        double before = dual[u];
        dual[u] = before + by[label[m->top[u]] + 1];
        has_moved |= dual[u] != before;
    }
    for (uint32_t i = 0; i < m->n_top_blossoms; i++) {
        uint32_t b = m->tops[i];
        double before = dual[b];
        dual[b] = before - by[label[b] + 1] * 2;
        has_moved |= dual[b] != before;
    }
    m->n_tight = 0;
    for (uint32_t x = 0, n = m->n; x < n; x++) {
        uint32_t from = m->from[x];
        if (from == NONE)
            continue; /* those that are no tops, too */
        double its = dual[from] + dual[x] - column_of(m, x)[from];
        set_least(m, x, from, its);
        if (its <= 0)
            m->tight[m->n_tight++] = x;
    }
    for (uint32_t i = 0; i < m->n_top_blossoms; i++) {
        uint32_t b = m->tops[i], from = m->from[b];
        if (from != NONE)
            set_least(m, b, from, slack(m, turned(*kept(m, b, from))));
    }
    return has_moved;
}

/* True: there is one pair more. */
static bool look_at_tightest(struct matching *m, uint32_t x, double tight)
{
    uint32_t from = m->from[x];
    return is_top(m, x) && from != NONE && m->top[from] != x && m->least[x] <= tight &&
           matching_grow(m, edge_of(m, from, x));
}

/* Edges that the step made tight. For a step too small to take `tight` is above 0. Blossoms made here under a new number are not looked at
 * here. */
static bool look_at_least(struct matching *m, double tight)
{
    uint32_t end = m->n_tops, n = tight > 0 ? m->n : m->n_tight;
    for (uint32_t i = 0; i < n; i++)
        if (look_at_tightest(m, tight > 0 ? i : m->tight[i], tight))
            return true;
    for (uint32_t x = m->n; x < end; x++)
        if (look_at_tightest(m, x, tight))
            return true;
    return false;
}

/* One pair more; false: the matching is the heaviest. */
static bool phase(struct matching *m)
{
    bool has_root = false;
    m->head = m->tail = 0;
    m->n_top_blossoms = 0;
    memset(m->label, FREE, m->n_tops);
    memset(m->outer, 0, (m->n / 64 + 1) * sizeof *m->outer);
    for (uint32_t x = 0; x < m->n_tops; x++) {
        if (!is_top(m, x)) {
            want_none(m, x);
            continue;
        }
        want(m, x);
        if (is_blossom(m, x))
            tops_add(m, x);
        if (m->match[x] == NONE) {
            m->label[x] = OUTER;
            matching_queue(m, x);
            has_root = true;
        }
    }
    while (has_root && !m->is_lost) {
        matching_forget_looks(m);
        while (m->head < m->tail && !m->is_lost) {
            uint32_t u = m->queue[m->head++];
            if (m->label[m->top[u]] != INNER && matching_look_around(m, u))
                return true;
        }
        if (m->is_lost)
            return false;
        double d = step_of(m), smallest = INFINITY;
        for (uint32_t at = 0; at < m->n; at += 64)
            for (uint64_t bits = m->outer[at / 64]; bits != 0; bits &= bits - 1)
                smallest = least_of(m->dual[at + (uint32_t)__builtin_ctzll(bits)], smallest);
        if (smallest <= d || smallest - d <= STOP_WITHIN * smallest) {
            (void)duals_move(m, least_of(smallest, d));
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

/* The rows of weights by class and vertex; the largest weight of an edge. */
static double rows_fill(struct matching *m)
{
    uint32_t *count = m->last_look; /* room */
    double largest = 0;
    m->is_complete = true;
    memset(count, 0, m->n_classes * sizeof *count);
    for (uint32_t u = 0; u < m->n; u++)
        count[m->class_of[u]]++;
    for (uint32_t a = 0; a < m->n_classes; a++) {
        const double *w = m->w + (size_t)a * m->n_classes;
        double *row = m->doubled + (size_t)a * m->n, *column = m->doubled_from + (size_t)a * m->n;
        for (uint32_t b = 0; b < m->n_classes; b++) {
            if (count[a] == 0 || count[b] == 0 || (a == b && count[a] == 1))
                continue; /* no edge is of these classes */
            largest = w[b] > largest ? w[b] : largest;
            m->is_complete &= w[b] > 0;
        }
        for (uint32_t v = 0; v < m->n && count[a] > 0; v++) {
            double to = w[m->class_of[v]], from = m->w[(size_t)m->class_of[v] * m->n_classes + a];
            row[v] = to > 0 ? to * 2 : -INFINITY;
            column[v] = from > 0 ? from * 2 : -INFINITY;
        }
    }
    return largest;
}

static bool solve(uint32_t n, const uint32_t *class_of, uint32_t n_classes, const double *weights, uint32_t *mate,
                  void *memory, bool is_released)
{
    require(n <= MATCHING_VERTICES_MAX && n_classes <= n, "%u vertices, %u classes", n, n_classes);
    struct matching *m = memory;
    lay(m, n, n_classes, memory);
    m->w = weights;
    m->n_tops = n;
    m->is_released = is_released;
    memset(m->visited, 0, m->n_nodes * sizeof *m->visited);
    memset(m->offered, 0, m->n_nodes * sizeof *m->offered);
    memset(m->parent, 0, m->n_nodes * sizeof *m->parent);
    for (uint32_t u = 0; u < n; u++)
        m->class_of[u] = (uint16_t)(class_of != NULL ? class_of[u] : u);
    double largest = rows_fill(m);
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

void matching_solve_classes(uint32_t n, const uint32_t *class_of, uint32_t n_classes, const double *weights,
                            uint32_t *mate, void *memory)
{
    bool is_whole = solve(n, class_of, n_classes, weights, mate, memory, false);
    require(is_whole, "the search for a matching over %u vertices lost its way", n);
}

void matching_solve(uint32_t n, const double *weights, uint32_t *mate, void *memory)
{
    matching_solve_classes(n, NULL, n, weights, mate, memory);
}

bool matching_solve_released(uint32_t n, const uint32_t *class_of, uint32_t n_classes, const double *weights,
                             uint32_t *mate, void *memory)
{
    return solve(n, class_of, n_classes, weights, mate, memory, true);
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
