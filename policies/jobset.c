#include "policies/jobset.h"

#include <string.h>

void jobset_pool_init(struct jobset_pool *pool, struct sched *s)
{
    *pool = (struct jobset_pool){.s = s, .free = JOBSET_NONE};
}

void jobset_init(struct jobset *set, struct jobset_pool *pool)
{
    *set = (struct jobset){pool, JOBSET_NONE, JOBSET_NONE, JOBSET_NONE, 0};
}

/* Heap order of the treap: a hash of the job number, so the shape depends on nothing else. */
static inline uint32_t weight(uint32_t job)
{
    uint32_t h = job * 0x9e3779b1u;
    h ^= h >> 15;
    h *= 0x85ebca77u;
    return h ^ (h >> 13);
}

static inline bool before(int64_t key_a, uint32_t job_a, int64_t key_b, uint32_t job_b)
{
    return key_a != key_b ? key_a < key_b : job_a < job_b;
}

static inline int64_t least_of(const struct jobset_node *nodes, uint32_t i)
{
    return i == JOBSET_NONE ? INT64_MAX : nodes[i].least;
}

static inline void refresh(struct jobset_node *nodes, uint32_t i)
{
    int64_t l = least_of(nodes, nodes[i].left), r = least_of(nodes, nodes[i].right);
    int64_t least = nodes[i].length;
    least = l < least ? l : least;
    nodes[i].least = r < least ? r : least;
}

static uint32_t take_node(struct jobset_pool *pool)
{
    if (pool->free != JOBSET_NONE) {
        uint32_t i = pool->free;
        pool->free = pool->nodes[i].next;
        return i;
    }
    if (pool->used == pool->room) {
        uint32_t room = pool->room * 2 + 64;
        struct jobset_node *grown = sched_alloc(pool->s, room, sizeof *grown);
        if (grown == NULL)
            return JOBSET_NONE;
        if (pool->used > 0)
            memcpy(grown, pool->nodes, pool->used * sizeof *grown);
        pool->nodes = grown;
        pool->room = room;
    }
    return pool->used++;
}

/* Cut the tree at (key, job): what lies before goes to *left, the rest to *right. */
static void split(struct jobset_node *nodes, uint32_t tree, int64_t key, uint32_t job, uint32_t *left, uint32_t *right)
{
    /* top-down; the sums of the nodes on the path are mended on the way back, hence the small stack */
    enum { DEPTH = 128 };
    uint32_t path[DEPTH];
    int depth = 0;
    while (tree != JOBSET_NONE) {
        if (depth < DEPTH)
            path[depth++] = tree;
        if (before(nodes[tree].key, nodes[tree].job, key, job)) {
            *left = tree;
            left = &nodes[tree].right;
            tree = *left;
        } else {
            *right = tree;
            right = &nodes[tree].left;
            tree = *right;
        }
    }
    *left = *right = JOBSET_NONE;
    while (depth > 0)
        refresh(nodes, path[--depth]);
}

static uint32_t join(struct jobset_node *nodes, uint32_t a, uint32_t b)
{
    enum { DEPTH = 128 };
    uint32_t path[DEPTH], root = JOBSET_NONE, *hole = &root;
    int depth = 0;
    while (a != JOBSET_NONE && b != JOBSET_NONE) {
        if (weight(nodes[a].job) > weight(nodes[b].job)) {
            *hole = a;
            hole = &nodes[a].right;
            if (depth < DEPTH)
                path[depth++] = a;
            a = *hole;
        } else {
            *hole = b;
            hole = &nodes[b].left;
            if (depth < DEPTH)
                path[depth++] = b;
            b = *hole;
        }
    }
    *hole = a != JOBSET_NONE ? a : b;
    while (depth > 0)
        refresh(nodes, path[--depth]);
    return root;
}

bool jobset_insert(struct jobset *set, int64_t key, uint32_t job, int64_t length)
{
    uint32_t i = take_node(set->pool);
    if (i == JOBSET_NONE)
        return false;
    struct jobset_node *nodes = set->pool->nodes;
    nodes[i] = (struct jobset_node){key, length, length, job, JOBSET_NONE, JOBSET_NONE, JOBSET_NONE, JOBSET_NONE};
    uint32_t *hole = &set->root, prev = JOBSET_NONE, next = JOBSET_NONE, w = weight(job);
    while (*hole != JOBSET_NONE && weight(nodes[*hole].job) >= w) {
        struct jobset_node *n = &nodes[*hole];
        if (length < n->least)
            n->least = length;
        if (before(n->key, n->job, key, job)) {
            prev = *hole;
            hole = &n->right;
        } else {
            next = *hole;
            hole = &n->left;
        }
    }
    uint32_t below = *hole;
    *hole = i;
    /* the neighbours in order may lie in the subtree that is cut open */
    for (uint32_t t = below; t != JOBSET_NONE;) {
        if (before(nodes[t].key, nodes[t].job, key, job)) {
            prev = t;
            t = nodes[t].right;
        } else {
            next = t;
            t = nodes[t].left;
        }
    }
    split(nodes, below, key, job, &nodes[i].left, &nodes[i].right);
    refresh(nodes, i);
    nodes[i].prev = prev;
    nodes[i].next = next;
    if (prev != JOBSET_NONE)
        nodes[prev].next = i;
    else
        set->first = i;
    if (next != JOBSET_NONE)
        nodes[next].prev = i;
    else
        set->last = i;
    set->count++;
    return true;
}

bool jobset_erase(struct jobset *set, int64_t key, uint32_t job)
{
    enum { DEPTH = 128 };
    struct jobset_node *nodes = set->pool->nodes;
    uint32_t path[DEPTH], *hole = &set->root;
    int depth = 0;
    while (*hole != JOBSET_NONE && (nodes[*hole].key != key || nodes[*hole].job != job)) {
        struct jobset_node *n = &nodes[*hole];
        if (depth < DEPTH)
            path[depth++] = *hole;
        hole = before(n->key, n->job, key, job) ? &n->right : &n->left;
    }
    uint32_t i = *hole;
    if (i == JOBSET_NONE)
        return false;
    *hole = join(nodes, nodes[i].left, nodes[i].right);
    while (depth > 0)
        refresh(nodes, path[--depth]);
    uint32_t prev = nodes[i].prev, next = nodes[i].next;
    if (prev != JOBSET_NONE)
        nodes[prev].next = next;
    else
        set->first = next;
    if (next != JOBSET_NONE)
        nodes[next].prev = prev;
    else
        set->last = prev;
    nodes[i].next = set->pool->free;
    set->pool->free = i;
    set->count--;
    return true;
}

uint32_t jobset_first_within(const struct jobset *set, int64_t length)
{
    const struct jobset_node *nodes = set->pool->nodes;
    uint32_t t = set->root;
    if (t == JOBSET_NONE || nodes[t].least > length)
        return JOBSET_NONE;
    for (;;) { /* invariant: some node of t's subtree is within */
        if (least_of(nodes, nodes[t].left) <= length)
            t = nodes[t].left;
        else if (nodes[t].length <= length)
            return t;
        else
            t = nodes[t].right;
    }
}
