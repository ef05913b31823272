/* matching_blossom.c - what changes the trees: circles that are shrunk to a node and opened again, and augmenting. */
#include "policies/matching_state.h"

#include <string.h>

/* ---- nested nodes ---------------------------------------------------------------------------------- */

/* The members of a blossom behind the first n of m->other; how many there are now. */
static inline uint32_t list_members(struct matching *m, uint32_t blossom, uint32_t n)
{
    const uint16_t *members = members_of(m, blossom);
    uint32_t n_members = m->n_members[blossom - m->n];
    if (n + n_members > m->n_nodes * 2) {
        m->is_lost = true;
        return n;
    }
    for (uint32_t k = 0; k < n_members; k++)
        m->other[n + k] = members[k];
    return n + n_members;
}

uint32_t matching_vertices(struct matching *m, uint32_t node, uint32_t *out, uint32_t room)
{
    uint32_t *list = m->other, n = 0, found = 0;
    list[n++] = node;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = list[i];
        if (is_blossom(m, x)) {
            n = list_members(m, x, n);
            continue;
        }
        m->is_lost |= found == room;
        if (!m->is_lost)
            out[found++] = x;
    }
    return found;
}

void matching_queue(struct matching *m, uint32_t node)
{
    uint32_t *added = m->queue + m->tail;
    uint32_t n = matching_vertices(m, node, added, m->n_nodes * 2 - m->tail);
    for (uint32_t i = 0; i < n; i++)
        m->outer[added[i] / 64] |= UINT64_C(1) << added[i] % 64;
    m->tail += n;
}

static void set_top(struct matching *m, uint32_t node, uint32_t top)
{
    uint32_t *list = m->other, n = 0;
    list[n++] = node;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = list[i];
        m->top[x] = top;
        if (is_blossom(m, x))
            n = list_members(m, x, n);
    }
}

static void reverse(uint16_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint16_t t = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = t;
    }
}

/* The place of `member` in the circle of `b`, turned so that it is even: the way from the base to it alternates. */
static uint32_t even_place(struct matching *m, uint32_t b, uint32_t member)
{
    uint16_t *v = members_of(m, b);
    uint32_t n = m->n_members[b - m->n], at = 0;
    while (at < n && v[at] != member)
        at++;
    if (at == n) { /* the edge leads into no member */
        m->is_lost = true;
        return 0;
    }
    if (at % 2 == 0)
        return at;
    reverse(v + 1, n - 1);
    return n - at;
}

/* ---- augmenting ------------------------------------------------------------------------------------ */

/* Match node x along an edge to node y; inside a blossom the pairs move so that its base becomes the member at the edge. The member is
 * matched along the same edge, not along the one that was kept between it and y: where slacks differ by rounding alone that may be another, and
 * then the two ends would not agree. */
static void set_match(struct matching *m, uint32_t x, uint32_t y, struct edge e)
{
    for (;;) {
        m->match[x] = e.v;
        if (!is_blossom(m, x) || m->is_lost)
            return;
        uint32_t member = member_with(m, x)[e.u], place = even_place(m, x, member), n = m->n_members[x - m->n];
        uint16_t *v = members_of(m, x);
        if (m->is_lost)
            return;
        for (uint32_t i = 0; i < place; i++)
            set_match(m, v[i], v[i ^ 1], edge_of(m, v[i], v[i ^ 1]));
        reverse(v, place); /* rotate left by `place`, in three turns */
        reverse(v + place, n - place);
        reverse(v, n);
        x = member;
        if (m->is_released)
            e = edge_of(m, x, y);
    }
}

void matching_augment(struct matching *m, uint32_t x, uint32_t y)
{
    for (uint32_t steps = 0; !m->is_lost; steps++) {
        uint32_t mate = m->match[x];
        set_match(m, x, y, edge_of(m, x, y));
        if (mate == NONE)
            return;
        mate = m->top[mate];
        uint32_t up = m->top[m->parent[mate]];
        set_match(m, mate, up, edge_of(m, mate, up));
        x = up;
        y = mate;
        m->is_lost |= steps > m->n_nodes;
    }
}

uint32_t matching_ancestor(struct matching *m, uint32_t x, uint32_t y)
{
    m->stamp++;
    while (x != NONE || y != NONE) {
        if (x != NONE) {
            if (m->visited[x] == m->stamp)
                return x;
            m->visited[x] = m->stamp;
            x = m->match[x];
            if (x != NONE)
                x = m->top[m->parent[m->top[x]]];
        }
        uint32_t t = x;
        x = y;
        y = t;
    }
    return NONE;
}

/* ---- blossoms -------------------------------------------------------------------------------------- */

/* The tightest edge from the members of a blossom to each node is kept: of several the first member's. One of weight 0, which is none, is
 * beaten by any. To a vertex x it is from who[x] to x. */

/* To the vertices, from a member that is one itself; where all are joined, so that there is no edge of weight 0. */
static void compare_from_vertex(struct matching *m, uint32_t member)
{
    const double *dual = m->dual, *row = row_of(m, member);
    const double y = dual[member];
    double *best = m->best;
    int64_t *who = m->who;
    for (uint32_t x = 0, n = m->n; x < n; x++) {
        double slack = y + dual[x] - row[x];
        bool is_better = slack < best[x];
        best[x] = is_better ? slack : best[x];
        who[x] = is_better ? (int64_t)member : who[x];
    }
}

/* The same from a blossom, along the edges kept for it. */
static void compare_from_blossom(struct matching *m, uint32_t member)
{
    const struct edge *its = kept(m, member, 0);
    const double *dual = m->dual;
    double *best = m->best;
    int64_t *who = m->who;
    for (uint32_t x = 0, n = m->n; x < n; x++) {
        uint32_t u = its[x].u;
        double slack = dual[u] + dual[x] - row_of(m, u)[x];
        bool is_better = slack < best[x];
        best[x] = is_better ? slack : best[x];
        who[x] = is_better ? (int64_t)u : who[x];
    }
}

/* To all nodes from `begin` on. */
static void compare_nodes(struct matching *m, uint32_t member, struct edge *mine, uint32_t begin)
{
    const struct edge *its = is_blossom(m, member) ? kept(m, member, 0) : NULL;
    const bool *is_kept = m->is_kept;
    const double *dual = m->dual;
    double *best = m->best;
    for (uint32_t x = begin, end = m->n_tops; x < end; x++) {
        if (!is_kept[x])
            continue;
        struct edge e = its != NULL ? its[x] : edge_of(m, member, x);
        double w = weight(m, e), its_slack = dual[e.u] + dual[e.v] - w * 2;
        if (its_slack < best[x]) {
            mine[x] = e;
            m->who[x] = e.u;
            best[x] = w > 0 ? its_slack : INFINITY;
        }
    }
}

/* A vertex before it among the members has the same edges. */
static bool has_twin(const struct matching *m, const uint16_t *members, uint32_t place)
{
    for (uint32_t k = 0; k < place; k++)
        if (!is_blossom(m, members[k]) && m->class_of[members[k]] == m->class_of[members[place]] &&
            m->dual[members[k]] == m->dual[members[place]])
            return true;
    return false;
}

static void keep_edges(struct matching *m, uint32_t b)
{
    const uint16_t *members = members_of(m, b);
    struct edge *mine = kept(m, b, 0);
    for (uint32_t x = 0; x < m->n_tops; x++) {
        m->best[x] = INFINITY;
        m->who[x] = 0; /* for those inside, where nobody asks */
        m->is_kept[x] = m->top[x] != NONE && m->top[x] != b;
    }
    for (uint32_t k = 0; k < m->n_members[b - m->n]; k++) {
        if (m->is_complete && is_blossom(m, members[k]))
            compare_from_blossom(m, members[k]);
        else if (m->is_complete && !has_twin(m, members, k))
            compare_from_vertex(m, members[k]);
        compare_nodes(m, members[k], mine, m->is_complete ? m->n : 0);
    }
    for (uint32_t x = 0; x < m->n; x++)
        mine[x] = (struct edge){(uint16_t)m->who[x], (uint16_t)x};
    for (uint32_t x = m->n; x < m->n_tops; x++)
        if (m->is_kept[x])
            *kept(m, x, b) = turned(mine[x]);
}

/* One arm of the circle, from x up to the base, into v, where there is room; the inner ones become outer. */
static uint32_t arm(struct matching *m, uint32_t x, uint32_t base, uint16_t *v, uint32_t room)
{
    uint32_t n = 0;
    while (x != base) {
        m->is_lost |= m->match[x] == NONE || n + 2 > room;
        if (m->is_lost)
            return n;
        uint32_t inner = m->top[m->match[x]];
        v[n++] = (uint16_t)x;
        v[n++] = (uint16_t)inner;
        matching_queue(m, inner);
        x = m->top[m->parent[inner]];
    }
    return n;
}

void matching_shrink(struct matching *m, uint32_t x, uint32_t base, uint32_t y)
{
    uint32_t b = m->n;
    while (b < m->n_tops && m->top[b] != NONE)
        b++;
    m->is_lost |= b >= m->n_nodes;
    if (m->is_lost)
        return;
    m->n_tops = b == m->n_tops ? b + 1 : m->n_tops;
    m->dual[b] = 0;
    m->label[b] = OUTER;
    m->match[b] = m->match[base];
    uint16_t *v = members_of(m, b);
    v[0] = (uint16_t)base;
    uint32_t n = 1 + arm(m, x, base, v + 1, m->n - 1);
    reverse(v + 1, n - 1);
    n += arm(m, y, base, v + n, m->n - n);
    m->n_members[b - m->n] = n;
    if (m->is_lost)
        return;
    for (uint32_t k = 0; k < n; k++) {
        want_none(m, v[k]);
        if (is_blossom(m, v[k]))
            tops_drop(m, v[k]);
    }
    tops_add(m, b);
    set_top(m, b, b);
    keep_edges(m, b);
    uint16_t *with = member_with(m, b);
    memset(with, 0xff, m->n * sizeof *with);
    for (uint32_t k = 0; k < n; k++) {
        if (!is_blossom(m, v[k])) {
            with[v[k]] = v[k];
            continue;
        }
        const uint16_t *inside = member_with(m, v[k]);
        for (uint32_t u = 0; u < m->n; u++)
            if (inside[u] != UINT16_MAX)
                with[u] = v[k];
    }
    matching_look_anew(m, b);
}

void matching_open(struct matching *m, uint32_t b)
{
    uint16_t *v = members_of(m, b);
    uint32_t n = m->n_members[b - m->n];
    tops_drop(m, b);
    for (uint32_t k = 0; k < n; k++) {
        set_top(m, v[k], v[k]);
        if (is_blossom(m, v[k]))
            tops_add(m, v[k]);
    }
    uint32_t entry = member_with(m, b)[edge_of(m, b, m->parent[b]).u], place = even_place(m, b, entry);
    if (m->is_lost)
        return;
    for (uint32_t k = 0; k < place; k += 2) {
        uint32_t inner = v[k], outer = v[k + 1];
        m->parent[inner] = edge_of(m, outer, inner).u;
        m->label[inner] = INNER;
        m->label[outer] = OUTER;
        want_none(m, inner);
        matching_look_anew(m, outer);
        matching_queue(m, outer);
    }
    m->label[entry] = INNER;
    want_none(m, entry);
    m->parent[entry] = m->parent[b];
    for (uint32_t k = place + 1; k < n; k++) {
        m->label[v[k]] = FREE;
        matching_look_anew(m, v[k]);
    }
    m->top[b] = NONE;
}
