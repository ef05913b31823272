/* jobset.h - jobs in order of a key: what a policy keeps its queue and its running jobs in.
 *
 * A treap (a search tree by (key, job) that is a heap by a hash of the job) whose nodes are also linked in order, so that
 * first, last, next and previous cost one step. Each node carries a second number, `length`, and the least one below it: EASY asks for
 * the first job in order that is short enough. Insert, erase and the search by length cost O(log n) on average; memory grows with the
 * largest number held at once, not with the trace.
 *
 *            (key 5)                 order:  2 <-> 3 <-> 5 <-> 8 <-> 9
 *           /       \
 *       (key 3)   (key 9)
 *       /         /
 *   (key 2)   (key 8)
 */
#ifndef POLICIES_JOBSET_H
#define POLICIES_JOBSET_H

#include <braid/policy.h>

#define JOBSET_NONE UINT32_MAX

struct jobset_node {
    int64_t key, length, least; /* least: smallest length in this subtree */
    uint32_t job;
    uint32_t left, right, prev, next;
};

/* Nodes of all sets of one policy instance. */
struct jobset_pool {
    struct sched *s; /* gives memory */
    struct jobset_node *nodes;
    uint32_t room, used, free; /* free: list by `next` */
};

struct jobset {
    struct jobset_pool *pool;
    uint32_t root, first, last, count;
};

void jobset_pool_init(struct jobset_pool *pool, struct sched *s);
void jobset_init(struct jobset *set, struct jobset_pool *pool);

/* Put `job`, which is not in the set, at its place. False when memory is out. */
bool jobset_insert(struct jobset *set, int64_t key, uint32_t job, int64_t length);

/* Take out the job that was inserted with `key`; false when it is not there. */
bool jobset_erase(struct jobset *set, int64_t key, uint32_t job);

/* First node in order whose length is at most `length`, or JOBSET_NONE. */
uint32_t jobset_first_within(const struct jobset *set, int64_t length);

static inline const struct jobset_node *jobset_node(const struct jobset *set, uint32_t node)
{
    return &set->pool->nodes[node];
}

#endif
