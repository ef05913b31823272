/* matching_state.h - the inside of policies/matching: the search's tables, its edges and slacks.
 *
 * Nodes are the vertices 0 .. n-1 and behind them, from n on, blossoms. The outermost blossom (or vertex) that holds a node is its top; the
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
#ifndef POLICIES_MATCHING_STATE_H
#define POLICIES_MATCHING_STATE_H

#include "policies/matching.h"

#include <math.h>

#define NONE MATCHING_NONE

/* The least number above zero: a slack is below it when it is not above zero. */
#define TIGHT 0x1p-1074

enum label { FREE = -1, OUTER = 0, INNER = 1 };

struct edge {
    uint16_t u, v;
};

/* One look at all edges of a vertex, for those like it that come after it (matching_look.c). */
struct look {
    double y;
    uint32_t u, tail, before; /* `tail` of the queue when it began; the look before it of the same class, NONE */
};

struct matching {
    uint32_t n, n_nodes, n_tops; /* n_nodes: room; n_tops: numbers that have been in use */
    uint32_t n_classes;
    const double *w;      /* by pair of classes */
    uint16_t *class_of;   /* by vertex */
    double *doubled;      /* by class and vertex: 2 w to it, -INFINITY where there is no edge */
    double *doubled_from; /* the same from it */
    double *dual;         /* y, and z of blossoms */
    double *least;        /* by node: slack of the edge in `from`; INFINITY: none yet; -INFINITY: none wanted */
    double *bar;          /* by vertex: below this a slack is tight or less than `least` */
    double *best;         /* by node: room for slacks, and for the members that have them */
    int64_t *who;
    uint32_t *from;    /* by top: the outer vertex with the tightest edge to it */
    uint32_t *top;     /* by node; NONE: a blossom number that is free */
    uint32_t *match;   /* by node: the vertex at the other end */
    uint32_t *parent;  /* by top: the vertex in the tree from which it was reached */
    uint32_t *visited; /* by top: stamp of the search for a common ancestor */
    bool *is_kept;     /* by node: room */
    int8_t *label;     /* by top */
    uint64_t *outer;   /* a bit a vertex: its top is outer */
    uint32_t *queue;   /* of vertices; each at most once a phase and again when its blossom opens */
    uint32_t head, tail;
    uint32_t *last_look; /* by class: the last of m->looks since the duals moved; NONE */
    struct look *looks;
    uint32_t n_looks;
    uint32_t *tops, n_top_blossoms; /* blossoms that are tops, in no order */
    uint32_t *stack, *other, *own;  /* room for vertices in hand, and for walking nested blossoms */
    uint32_t *tight, n_tight;       /* vertices to which the last step made an edge tight */
    uint32_t stamp, offer_stamp;
    uint32_t *offered; /* by top: stamp of the offer to a blossom */
    bool is_complete;  /* every two vertices have an edge */
    bool is_released;  /* as matching_solve_released */
    bool is_lost;      /* the trees have come apart: give up */
    /* of blossom b, at b - n */
    struct edge *edges;    /* n_nodes each: the kept edge to each node */
    uint16_t *member_with; /* n each: the member that holds a vertex, UINT16_MAX */
    uint16_t *members;     /* n each: the circle, its base first */
    uint32_t *n_members;
};

static inline bool is_top(const struct matching *m, uint32_t x)
{
    return m->top[x] == x;
}

/* ---- edges ----------------------------------------------------------------------------------------- */

static inline bool is_blossom(const struct matching *m, uint32_t node)
{
    return node >= m->n;
}

static inline struct edge *kept(const struct matching *m, uint32_t blossom, uint32_t node)
{
    return &m->edges[(size_t)(blossom - m->n) * m->n_nodes + node];
}

static inline uint16_t *members_of(const struct matching *m, uint32_t blossom)
{
    return &m->members[(size_t)(blossom - m->n) * m->n];
}

static inline uint16_t *member_with(const struct matching *m, uint32_t blossom)
{
    return &m->member_with[(size_t)(blossom - m->n) * m->n];
}

static inline struct edge turned(struct edge e)
{
    return (struct edge){e.v, e.u};
}

/* The edge between two nodes, from x to y. */
static inline struct edge edge_of(const struct matching *m, uint32_t x, uint32_t y)
{
    if (is_blossom(m, x))
        return *kept(m, x, y);
    if (!is_blossom(m, y))
        return (struct edge){(uint16_t)x, (uint16_t)y};
    return turned(*kept(m, y, x));
}

static inline double weight(const struct matching *m, struct edge e)
{
    return m->w[(size_t)m->class_of[e.u] * m->n_classes + m->class_of[e.v]];
}

static inline const double *row_of(const struct matching *m, uint32_t u)
{
    return m->doubled + (size_t)m->class_of[u] * m->n;
}

static inline const double *column_of(const struct matching *m, uint32_t u)
{
    return m->doubled_from + (size_t)m->class_of[u] * m->n;
}

static inline double slack(const struct matching *m, struct edge e)
{
    return m->dual[e.u] + m->dual[e.v] - weight(m, e) * 2;
}

static inline double least_of(double a, double b)
{
    return a < b ? a : b;
}

/* ---- the tightest edge to each top ----------------------------------------------------------------- */

static inline void set_least(struct matching *m, uint32_t x, uint32_t from, double its_slack)
{
    m->from[x] = from;
    m->least[x] = its_slack;
    m->bar[x] = its_slack > TIGHT ? its_slack : TIGHT;
}

static inline void offer(struct matching *m, uint32_t u, uint32_t x, double its_slack)
{
    if (its_slack < m->least[x])
        set_least(m, x, u, its_slack);
}

static inline void want(struct matching *m, uint32_t x)
{
    set_least(m, x, NONE, INFINITY);
}

static inline void want_none(struct matching *m, uint32_t x)
{
    set_least(m, x, NONE, -INFINITY);
}

/* The blossoms that are tops. */
static inline void tops_add(struct matching *m, uint32_t blossom)
{
    m->tops[m->n_top_blossoms++] = blossom;
}

static inline void tops_drop(struct matching *m, uint32_t blossom)
{
    uint32_t i = 0;
    while (m->tops[i] != blossom)
        i++;
    m->tops[i] = m->tops[--m->n_top_blossoms];
}

/* ---- matching_look.c ------------------------------------------------------------------------------- */

/* The duals have moved, or a phase begins: no look is worth anything any more. */
void matching_forget_looks(struct matching *m);
/* Look at the edges of vertex u of an outer top. True: there is one pair more. */
bool matching_look_around(struct matching *m, uint32_t u);
/* Look anew for the tightest edge from an outer vertex to top x. */
void matching_look_anew(struct matching *m, uint32_t x);

/* ---- matching.c ------------------------------------------------------------------------------------ */

/* A tight edge from an outer top. True: there is one pair more. */
bool matching_grow(struct matching *m, struct edge e);

/* ---- matching_blossom.c ---------------------------------------------------------------------------- */

/* The vertices of a node that becomes outer, the shallow ones first, into the queue. */
void matching_queue(struct matching *m, uint32_t node);
/* The vertices of a node into `out`, the shallow ones first, at most `room`; how many. */
uint32_t matching_vertices(struct matching *m, uint32_t node, uint32_t *out, uint32_t room);
/* Match x with y, and along the tree above x every other edge. */
void matching_augment(struct matching *m, uint32_t x, uint32_t y);
/* The first top that the ways from x and y to their roots have in common; NONE: two trees. */
uint32_t matching_ancestor(struct matching *m, uint32_t x, uint32_t y);
/* The circle from `base` over x and y becomes one outer node. */
void matching_shrink(struct matching *m, uint32_t x, uint32_t base, uint32_t y);
/* An inner blossom whose z is used up: the even way through it from its entry to its base stays in the tree. */
void matching_open(struct matching *m, uint32_t blossom);

#endif
