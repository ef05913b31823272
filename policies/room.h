/* room.h - what if these jobs gave up their GPUs: would a job of so many GPUs fit? Asked one release at a time, each O(1).
 *
 * It follows the two rules of placement (sched_is_packed). Under PACKED a job of at most one node's GPUs needs a node with enough; a
 * larger one needs wholly free nodes and one for the rest: nodes are counted by their free GPUs, once a question, when enough GPUs have come
 * free in all. By GPUs the answer is exact; other GPU types, CPU and memory it does not see, so that a real start must confirm it where
 * these count. Over several virtual clusters (sched_is_divided) it says yes as soon as enough GPUs are free in all.
 */
#ifndef POLICIES_ROOM_H
#define POLICIES_ROOM_H

#include <braid/policy.h>

struct room {
    uint32_t n_nodes;         /* of the table: largest node number + 1 */
    uint32_t *scope, n_scope; /* the nodes that the instance may use */
    uint32_t *freed, *stamp;  /* per node: GPUs freed in this question */
    uint32_t *touched, n_touched;
    uint32_t now_stamp;
    uint32_t *sizes, *whole, n_sizes; /* GPUs of a node, descending; how many of that size are wholly free */
    uint32_t *size_at;                /* per node: index into sizes */
    uint32_t *by_free;                /* how many nodes have so many free, once counted, for a job larger than a node */
    uint32_t largest;                 /* GPUs of the largest node in scope */
    uint32_t all_gpus;                /* of all nodes in scope */
    uint32_t gpus;                    /* wanted */
    uint64_t freed_all;
    uint32_t excess;   /* held beyond the quota: so many must come free before any can be had */
    bool is_packed;    /* the rule of placement */
    bool is_divided;   /* only a real start can tell: which nodes and what quota are the job's is not known here */
    bool is_bound;     /* a quota binds */
    bool is_plain;     /* GPUs alone decide whether a job can start */
    bool is_uncounted; /* the nodes must be looked at before the answer can be yes */
    bool had_node;     /* some node had enough before anything was freed; valid once room_fits said yes */
    uint32_t n_able;   /* how many have enough by now */
};

struct room *room_create(struct sched *s); /* NULL: memory is out */

/* Begin a question for a job of `gpus`. No verb may be taken until its last room_fits. */
void room_begin(struct room *r, struct sched *s, uint32_t gpus);

/* The places of `job`, which runs, become free. */
void room_add(struct room *r, struct sched *s, uint32_t job);

/* Does it fit now? */
bool room_fits(struct room *r, struct sched *s);

/* When room_fits has just said yes: does every placement have to take the same nodes, if the instance rules one queue? So it is where nodes are of
 * one size, no quota binds, and one node has enough, or just as many are wholly free as the job fills. */
bool room_is_settled(const struct room *r);

/* Then: does `job`, whose release was added, hold GPUs on one of those nodes? */
bool room_needs(const struct room *r, struct sched *s, uint32_t job);

/* GPUs that the queue may have by now. */
uint64_t room_gpus(const struct room *r, struct sched *s);

/* GPUs freed on `node` so far. */
uint32_t room_freed(const struct room *r, uint32_t node);

#endif
