/* room.h - what if these jobs gave up their GPUs: would a job of so many GPUs fit? Asked one release at a time, each O(1).
 *
 * It follows the two rules of placement (sched_is_packed). Under PACKED a job of at most one node's GPUs needs a node with enough;
 * a larger one needs wholly free nodes, which this only counts: a true answer is then a good guess that a real
 * start must confirm (other GPU types, CPU or memory may still be in the way).
 */
#ifndef POLICIES_ROOM_H
#define POLICIES_ROOM_H

#include <braid/policy.h>

struct room {
    uint32_t n_nodes; /* of the table: largest node number + 1 */
    uint32_t *freed, *stamp; /* per node: GPUs freed in this question */
    uint32_t *touched, n_touched;
    uint32_t now_stamp;
    uint32_t largest; /* GPUs of the largest node in scope */
    uint32_t gpus;    /* wanted */
    uint64_t freed_all;
    uint64_t whole_gpus; /* on wholly free nodes so far */
    bool has_node;      /* some node freed so far has enough */
};

struct room *room_create(struct sched *s); /* NULL: memory is out */

/* Begin a question for a job of `gpus`. */
void room_begin(struct room *r, struct sched *s, uint32_t gpus);

/* The places of `job`, which runs, become free. */
void room_add(struct room *r, struct sched *s, uint32_t job);

/* Does it fit now? */
bool room_fits(const struct room *r, struct sched *s);

/* GPUs freed on `node` so far. */
uint32_t room_freed(const struct room *r, uint32_t node);

#endif
