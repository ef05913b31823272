/* evq.h - the pending-event set: an implicit 4-ary heap of 128-bit keys.
 *
 *       key (compared as one unsigned integer, without branches)
 *      +----------------------+-------+----------+----------------+
 *      | time, ns (64 bits)   | class | (zero)   | handle (32)    |
 *      +----------------------+-------+----------+----------------+
 *
 * A handle names the event's subject (a job's completion, an instance's timer), so each handle has at most one
 * pending event and the key itself carries everything: events of one instant come out by class, then by handle, which
 * for jobs is the rank. A back index from handle to heap position lets events be moved and cancelled in O(log n).
 * The four children of a node share one cache line. Memory is reserved for all handles at once and touched only as far as
 * the heap grows.
 */
#ifndef ENGINE_EVQ_H
#define ENGINE_EVQ_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 evq_key; /* the one typedef: a scalar the language has no portable name for */

struct evq {
    evq_key *key; /* heap[0 .. n-1] */
    uint32_t *at; /* handle -> heap position + 1, 0: not pending */
    uint32_t n;
};

struct event {
    int64_t time_ns;
    uint32_t class, handle;
};

/* Room for handles 0 .. n_handles - 1; false when memory is out. */
bool evq_init(struct evq *q, uint32_t n_handles, struct arena *a);

/* Put or move the event of `handle` to `time_ns` >= 0 with `class` < 256. */
void evq_set(struct evq *q, uint32_t handle, int64_t time_ns, uint32_t class);

/* Forget the event of `handle`, if there is one. */
void evq_cancel(struct evq *q, uint32_t handle);

/* Take out the first event; the queue must not be empty. */
struct event evq_pop(struct evq *q);

static inline bool evq_is_empty(const struct evq *q)
{
    return q->n == 0;
}

static inline bool evq_is_pending(const struct evq *q, uint32_t handle)
{
    return q->at[handle] != 0;
}

/* Time of the first event; INT64_MAX when there is none. */
static inline int64_t evq_time(const struct evq *q)
{
    return q->n == 0 ? INT64_MAX : (int64_t)(uint64_t)(q->key[0] >> 64);
}

/* Class of the first event; the queue must not be empty. */
static inline uint32_t evq_class(const struct evq *q)
{
    return (uint32_t)((uint64_t)q->key[0] >> 56);
}

/* Handle of the first event; the queue must not be empty. */
static inline uint32_t evq_handle(const struct evq *q)
{
    return (uint32_t)q->key[0];
}

/* Heap order and back index agree everywhere (for tests and --check). */
bool evq_check(const struct evq *q, uint32_t n_handles);

#endif
