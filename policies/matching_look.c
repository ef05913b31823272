/* matching_look.c - looking for tight edges, and for the tightest to each top, from the outer vertices.
 *
 * A look at all edges of a vertex u is O(n). Vertices of one class with equal duals, "twins", have the same slacks, so that after u's look
 * a look of its twin t can find something new at few vertices only:
 *
 *     those of u's own top      u did not look there
 *     those that are outer since then, which are in the queue behind where its end was
 *
 * All others that are tight to u are inner, and stay that until the duals move, and no other slack is below the least one known, since u
 * has offered the same.
 */
#include "policies/matching_state.h"

#include <string.h>

/* Offer the edge from u to each blossom that has one of the vertices [begin, end). */
static void offer_blossoms(struct matching *m, uint32_t u, uint32_t begin, uint32_t end)
{
    const double *row = row_of(m, u);
    if (m->n_top_blossoms == 0)
        return;
    if (m->is_complete && begin == 0 && end == m->n) {
        for (uint32_t i = 0; i < m->n_top_blossoms; i++) {
            uint32_t x = m->tops[i];
            if (x != m->top[u] && m->label[x] != INNER)
                offer(m, u, x, slack(m, turned(*kept(m, x, u))));
        }
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

/* A look in hand. */
struct glance {
    uint32_t u, begin; /* blossoms have been offered the edges to the vertices before `begin` */
};

/* The edge to v, whose slack is below the bar. True: there is one pair more. */
static bool look_at(struct matching *m, struct glance *g, uint32_t v)
{
    double s = m->dual[g->u] + m->dual[v] - row_of(m, g->u)[v];
    uint32_t x = m->top[v];
    if (!(s < m->bar[v]) || x == m->top[g->u] || m->label[x] == INNER)
        return false;
    if (s > 0) { /* then it is a top */
        set_least(m, v, g->u, s);
        return false;
    }
    offer_blossoms(m, g->u, g->begin, v); /* before the trees change */
    g->begin = v + 1;
    return matching_grow(m, (struct edge){(uint16_t)g->u, (uint16_t)v});
}

static bool look_at_all(struct matching *m, uint32_t u)
{
    const double *row = row_of(m, u), *dual = m->dual, *bar = m->bar, y = m->dual[u];
    struct glance g = {.u = u};
    uint32_t n = m->n;
    for (uint32_t v = 0; v < n; v++) {
        while (v % WIDTH == 0 && v + WIDTH <= n && !is_one_below(y, row + v, dual + v, bar + v))
            v += WIDTH;
        if (v == n)
            break;
        if (y + dual[v] - row[v] < bar[v] && look_at(m, &g, v))
            return true;
    }
    offer_blossoms(m, u, g.begin, n);
    return false;
}

/* ---- twins ----------------------------------------------------------------------------------------- */

void matching_forget_looks(struct matching *m)
{
    m->n_looks = 0;
    memset(m->last_look, 0xff, m->n_classes * sizeof *m->last_look);
}

static void remember(struct matching *m, uint32_t u)
{
    uint32_t *last = &m->last_look[m->class_of[u]];
    m->looks[m->n_looks] = (struct look){m->dual[u], u, m->tail, *last};
    *last = m->n_looks++;
}

/* The look of a twin of u; NULL: there was none. */
static const struct look *twin_look(const struct matching *m, uint32_t u)
{
    for (uint32_t i = m->last_look[m->class_of[u]]; i != NONE; i = m->looks[i].before)
        if (m->looks[i].y == m->dual[u])
            return &m->looks[i];
    return NULL;
}

/* Of the vertices in `list` those whose edge from u may mean something, in order of number behind the first `n` of m->stack; how many. */
static uint32_t keep_telling(struct matching *m, uint32_t u, const uint32_t *list, uint32_t n_list, uint32_t n)
{
    const double *row = row_of(m, u), y = m->dual[u];
    for (uint32_t i = 0; i < n_list; i++) {
        uint32_t v = list[i], at = n;
        if (!(y + m->dual[v] - row[v] < m->bar[v]) || m->top[v] == m->top[u] || m->label[m->top[v]] == INNER)
            continue;
        for (; at > 0 && m->stack[at - 1] > v; at--)
            m->stack[at] = m->stack[at - 1];
        m->stack[at] = v;
        n++;
    }
    return n;
}

/* The look of u after its twin's. A vertex in hand twice does nothing the second time. */
static bool look_at_news(struct matching *m, uint32_t u, const struct look *twin)
{
    struct glance g = {.u = u};
    uint32_t n = 0;
    if (m->top[twin->u] != m->top[u]) {
        uint32_t n_own = matching_vertices(m, m->top[twin->u], m->own, m->n);
        n = keep_telling(m, u, m->own, n_own, n);
    }
    uint32_t *own = m->own, n_own = 0;
    for (uint32_t i = twin->tail; i < m->tail; i++)
        if (m->top[m->queue[i]] != m->top[twin->u])
            own[n_own++] = m->queue[i];
    n = keep_telling(m, u, own, n_own, n);
    for (uint32_t i = 0; i < n; i++)
        if (look_at(m, &g, m->stack[i]))
            return true;
    offer_blossoms(m, u, g.begin, m->n);
    return false;
}

bool matching_look_around(struct matching *m, uint32_t u)
{
    const struct look *twin = twin_look(m, u);
    if (twin != NULL && (m->tail - twin->tail) * 4 < m->n)
        return look_at_news(m, u, twin);
    remember(m, u);
    return look_at_all(m, u);
}

/* ---- a new top ------------------------------------------------------------------------------------- */

static void look_anew_at_vertex(struct matching *m, uint32_t x)
{
    const double *column = column_of(m, x), *dual = m->dual, y = dual[x];
    double least = INFINITY;
    uint32_t from = NONE;
    for (uint32_t at = 0; at < m->n; at += 64)
        for (uint64_t bits = m->outer[at / 64]; bits != 0; bits &= bits - 1) {
            uint32_t u = at + (uint32_t)__builtin_ctzll(bits);
            double its_slack = dual[u] + y - column[u];
            if (its_slack < least && m->top[u] != x) {
                least = its_slack;
                from = u;
            }
        }
    set_least(m, x, from, least);
}

static void look_anew_at_blossom(struct matching *m, uint32_t x)
{
    const struct edge *its = kept(m, x, 0); /* they go the other way */
    const double *dual = m->dual;
    double least = INFINITY;
    uint32_t from = NONE;
    for (uint32_t at = 0; at < m->n; at += 64)
        for (uint64_t bits = m->outer[at / 64]; bits != 0; bits &= bits - 1) {
            uint32_t u = at + (uint32_t)__builtin_ctzll(bits);
            if (m->top[u] == x)
                continue;
            struct edge e = {(uint16_t)u, its[u].u};
            double w = weight(m, e), its_slack = dual[u] + dual[e.v] - w * 2;
            if (w > 0 && its_slack < least) {
                least = its_slack;
                from = u;
            }
        }
    set_least(m, x, from, least);
}

void matching_look_anew(struct matching *m, uint32_t x)
{
    if (is_blossom(m, x))
        look_anew_at_blossom(m, x);
    else
        look_anew_at_vertex(m, x);
}
