/* Nodes are the vertices 0 .. n-1 and behind them, from n on, blossoms. The outermost blossom (or vertex) that holds a node is its top; the
 * search grows trees of tops:
 *
 *     OUTER   a root, or at an even distance from one       its vertices are looked at for tight edges
 *     INNER   at an odd distance, matched to an outer top
 *     FREE    not reached
 *
 * A tight edge from an outer top to
 *     a free top       takes it in as inner and its mate as outer;
 *     an outer top of the same tree closes an odd circle: a blossom;
 *     an outer top of another tree is an augmenting path: the phase ends with one pair more.
 * When no tight edge is left the duals move by the least amount that makes one, or that brings an inner blossom to z = 0, which is opened.
 *
 * Of the edges between a blossom and any other node one is kept, the tightest when the blossom was made. An edge is a pair of vertices.
 */
#include "policies/matching.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

#define NONE MATCHING_NONE

static const double TIGHT = 0x1p-1074;  /* the least number above zero: a slack is below it when it is not above zero */
static const double STOP_WITHIN = 1e-5; /* the dual of the free vertices counts as used up within this */

enum label { FREE = -1, OUTER = 0, INNER = 1 };

struct edge {
    uint16_t u, v;
};

struct matching {
    uint32_t n, n_nodes, n_tops; /* n_nodes: room; n_tops: numbers that have been in use */
    const double *w;
    double *dual;    /* y, and z of blossoms */
    double *doubled; /* n x n: 2 w, -INFINITY where there is no edge */
    double
        *least;  /* by node: slack of the edge in `from`; INFINITY: none yet; -INFINITY: none wanted, inner or no top */
    double *bar; /* by vertex: below this a slack is tight or less than `least` */
    double *best;      /* by node: room for slacks */
    uint32_t *from;    /* by top: the outer vertex with the tightest edge to it */
    uint32_t *top;     /* by node; NONE: a blossom number that is free */
    uint32_t *match;   /* by node: the vertex at the other end */
    uint32_t *parent;  /* by top: the vertex in the tree from which it was reached */
    uint32_t *visited; /* by top: stamp of the search for a common ancestor */
    bool *is_kept;     /* by node: room */
    int8_t *label;     /* by top */
    uint32_t *queue;   /* of vertices; each at most once a phase and again when its blossom opens */
    uint32_t head, tail;
    uint32_t *stack, *other; /* room for a circle, and for walking nested blossoms */
    uint32_t stamp, offer_stamp;
    uint32_t *offered; /* by top: stamp of the offer to a blossom */
    bool is_complete;  /* every two vertices have an edge */
    bool has_blossom;  /* one is a top */
    bool is_released;  /* as matching_solve_released */
    bool is_lost;      /* the trees have come apart: give up */
    /* of blossom b, at b - n */
    struct edge *edges;    /* n_nodes each: the kept edge to each node */
    uint16_t *member_with; /* n each: the member that holds a vertex, UINT16_MAX */
    uint16_t *members;     /* n each: the circle, its base first */
    uint32_t *n_members;
};

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

static bool is_top(const struct matching *m, uint32_t x)
{
    return m->top[x] == x;
}

/* ---- edges ----------------------------------------------------------------------------------------- */

static bool is_blossom(const struct matching *m, uint32_t node)
{
    return node >= m->n;
}

static struct edge *kept(const struct matching *m, uint32_t blossom, uint32_t node)
{
    return &m->edges[(size_t)(blossom - m->n) * m->n_nodes + node];
}

static uint16_t *members_of(const struct matching *m, uint32_t blossom)
{
    return &m->members[(size_t)(blossom - m->n) * m->n];
}

static uint16_t *member_with(const struct matching *m, uint32_t blossom)
{
    return &m->member_with[(size_t)(blossom - m->n) * m->n];
}

static struct edge turned(struct edge e)
{
    return (struct edge){e.v, e.u};
}

/* The edge between two nodes, from x to y. */
static struct edge edge_of(const struct matching *m, uint32_t x, uint32_t y)
{
    if (is_blossom(m, x))
        return *kept(m, x, y);
    if (!is_blossom(m, y))
        return (struct edge){(uint16_t)x, (uint16_t)y};
    return turned(*kept(m, y, x));
}

static double weight(const struct matching *m, struct edge e)
{
    return m->w[(size_t)e.u * m->n + e.v];
}

static double slack(const struct matching *m, struct edge e)
{
    return m->dual[e.u] + m->dual[e.v] - weight(m, e) * 2;
}

/* ---- the tightest edge to each top ----------------------------------------------------------------- */

static void set_least(struct matching *m, uint32_t x, uint32_t from, double its_slack)
{
    m->from[x] = from;
    m->least[x] = its_slack;
    m->bar[x] = its_slack > TIGHT ? its_slack : TIGHT;
}

static void offer(struct matching *m, uint32_t u, uint32_t x, double its_slack)
{
    if (its_slack < m->least[x])
        set_least(m, x, u, its_slack);
}

static void want(struct matching *m, uint32_t x)
{
    set_least(m, x, NONE, INFINITY);
}

static void want_none(struct matching *m, uint32_t x)
{
    set_least(m, x, NONE, -INFINITY);
}

static void look_anew(struct matching *m, uint32_t x)
{
    const struct edge *its = is_blossom(m, x) ? kept(m, x, 0) : NULL;
    const double *dual = m->dual, *w = m->w;
    const uint32_t *top = m->top;
    size_t n = m->n;
    want(m, x);
    for (uint32_t u = 0; u < n; u++) {
        if (m->label[top[u]] != OUTER || top[u] == x)
            continue;
        uint32_t v = its != NULL ? its[u].u : x; /* its edges go the other way */
        double weight = w[u * n + v], its_slack = dual[u] + dual[v] - weight * 2;
        if (weight > 0 && its_slack < m->least[x])
            set_least(m, x, u, its_slack);
    }
}

/* ---- nested nodes ---------------------------------------------------------------------------------- */

/* The members of a blossom behind the first n of m->other; how many there are now. */
static uint32_t list_members(struct matching *m, uint32_t blossom, uint32_t n)
{
    m->is_lost |= n + m->n_members[blossom - m->n] > m->n_nodes * 2;
    for (uint32_t k = 0; k < m->n_members[blossom - m->n] && !m->is_lost; k++)
        m->other[n++] = members_of(m, blossom)[k];
    return n;
}

/* The vertices of a node, the shallow ones first, into the queue. */
static void queue_push(struct matching *m, uint32_t node)
{
    uint32_t *list = m->other, n = 0;
    list[n++] = node;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = list[i];
        if (!is_blossom(m, x)) {
            m->is_lost |= m->tail == m->n_nodes * 2;
            if (!m->is_lost)
                m->queue[m->tail++] = x;
            continue;
        }
        n = list_members(m, x, n);
    }
}

static void set_top(struct matching *m, uint32_t node, uint32_t top)
{
    uint32_t *list = m->other, n = 0;
    list[n++] = node;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = list[i];
        m->top[x] = top;
        want_none(m, x);
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

static void augment(struct matching *m, uint32_t x, uint32_t y)
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

/* The first top that the ways from x and y to their roots have in common; NONE: two trees. */
static uint32_t ancestor(struct matching *m, uint32_t x, uint32_t y)
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

/* Take the edges of a member where they beat the best so far. One to a node without an edge, of weight 0, is beaten by any. */
static void keep_better(struct matching *m, uint32_t member, struct edge *mine)
{
    const struct edge *its = is_blossom(m, member) ? kept(m, member, 0) : NULL;
    const double *dual = m->dual, *w = m->w;
    const bool *is_kept = m->is_kept;
    double *best = m->best;
    size_t n = m->n;
    for (uint32_t x = 0; x < m->n_tops; x++) {
        if (!is_kept[x])
            continue;
        struct edge e = its != NULL ? its[x] : edge_of(m, member, x);
        double weight = w[e.u * n + e.v], slack = dual[e.u] + dual[e.v] - weight * 2;
        if (slack < best[x]) {
            mine[x] = e;
            best[x] = weight > 0 ? slack : INFINITY;
        }
    }
}

static void keep_edges(struct matching *m, uint32_t b)
{
    const uint16_t *members = members_of(m, b);
    struct edge *mine = kept(m, b, 0);
    for (uint32_t x = 0; x < m->n_tops; x++) {
        m->best[x] = INFINITY;
        m->is_kept[x] = m->top[x] != NONE && m->top[x] != b;
    }
    for (uint32_t k = 0; k < m->n_members[b - m->n]; k++)
        keep_better(m, members[k], mine);
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
        queue_push(m, inner);
        x = m->top[m->parent[inner]];
    }
    return n;
}

static void blossom_make(struct matching *m, uint32_t x, uint32_t base, uint32_t y)
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
    m->has_blossom = true;
    m->match[b] = m->match[base];
    uint16_t *v = members_of(m, b);
    v[0] = (uint16_t)base;
    uint32_t n = 1 + arm(m, x, base, v + 1, m->n - 1);
    reverse(v + 1, n - 1);
    n += arm(m, y, base, v + n, m->n - n);
    m->n_members[b - m->n] = n;
    if (m->is_lost)
        return;
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
    look_anew(m, b);
}

/* An inner blossom whose z is used up: the even way through it from its entry to its base stays in the tree. */
static void blossom_open(struct matching *m, uint32_t b)
{
    uint16_t *v = members_of(m, b);
    uint32_t n = m->n_members[b - m->n];
    for (uint32_t k = 0; k < n; k++)
        set_top(m, v[k], v[k]);
    uint32_t entry = member_with(m, b)[edge_of(m, b, m->parent[b]).u], place = even_place(m, b, entry);
    if (m->is_lost)
        return;
    for (uint32_t k = 0; k < place; k += 2) {
        uint32_t inner = v[k], outer = v[k + 1];
        m->parent[inner] = edge_of(m, outer, inner).u;
        m->label[inner] = INNER;
        m->label[outer] = OUTER;
        want_none(m, inner);
        look_anew(m, outer);
        queue_push(m, outer);
    }
    m->label[entry] = INNER;
    want_none(m, entry);
    m->parent[entry] = m->parent[b];
    for (uint32_t k = place + 1; k < n; k++) {
        m->label[v[k]] = FREE;
        look_anew(m, v[k]);
    }
    m->top[b] = NONE;
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
        queue_push(m, mate);
    } else if (m->label[y] == OUTER) {
        uint32_t base = ancestor(m, x, y);
        if (base == NONE) {
            augment(m, x, y);
            augment(m, y, x);
            return true;
        }
        blossom_make(m, x, base, y);
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
            m->dual[b] += m->label[b] == OUTER ? d * 2 : -(d * 2);
            has_moved = true;
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
            queue_push(m, x);
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
                blossom_open(m, b);
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
