/* naive_world.h - what the parts of the reference simulator share: its world, and the functions between
 *
 *   naive.c        events, the clock
 *   naive_round.c  a round of one queue: order, displacing, EASY
 *   naive_place.c  GPUs and placement
 */
#ifndef TESTS_ENGINE_NAIVE_WORLD_H
#define TESTS_ENGINE_NAIVE_WORLD_H

#include "tests/engine/naive.h"

enum { NOWHERE, WAITING, RUNNING, GONE };

struct state {
    int is; /* NOWHERE … GONE */
    int64_t start, end, held, overhead, work;
    int64_t overhead_left;
    int64_t in_queue_since;
    int64_t value_at, value_then; /* srtf, srsf: what remained at `value_at` */
    int64_t safe_from;            /* quantum: when it got its GPUs */
    bool is_open;                 /* running and may be displaced */
    int64_t predicted_end;        /* easy, running */
    uint32_t preemptions, moves, restarts;
    uint64_t started_as; /* how many starts there were before: the latest gives way first */
    enum naive_status status;
    const char *reason;
    bool has_failed; /* in this round */
};

struct world {
    const struct naive_case *c;
    int64_t now;
    int owner[NAIVE_NODES][NAIVE_GPUS]; /* a job, or -1 */
    struct state jobs[NAIVE_JOBS];
    uint32_t first_node[NAIVE_VCS], end_node[NAIVE_VCS], quota[NAIVE_VCS];
    uint32_t cursor[NAIVE_NODES]; /* placement round_robin: of the partition that begins with this node */
    int64_t alarm[NAIVE_VCS];
    bool is_asked[NAIVE_VCS];
    uint64_t n_starts;
    /* as it was when the queue in hand was asked */
    struct state before[NAIVE_JOBS];
    int owner_before[NAIVE_NODES][NAIVE_GPUS];
};

static inline uint32_t naive_n_queues(const struct world *w)
{
    return w->c->n_vcs == 0 ? 1 : w->c->n_vcs;
}

static inline int naive_queue_of(const struct world *w, uint32_t j)
{
    return w->c->n_vcs == 0 ? 0 : w->c->jobs[j].vc;
}

/* ---- naive_place.c ------------------------------------------------------------------------------------ */

uint32_t naive_held_by(const struct world *w, int vc);
uint32_t naive_quota_left(const struct world *w, int vc);
/* GPUs that a queue may still take when `free` are free on each node. */
uint32_t naive_free_for(const struct world *w, int vc, const uint32_t free[NAIVE_NODES]);
void naive_free_now(const struct world *w, uint32_t free[NAIVE_NODES]);
void naive_give_back(struct world *w, uint32_t j);
bool naive_is_pool(enum naive_placement p);
bool naive_place(struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t take[NAIVE_NODES]);
/* Would it have a place, without moving the cursor? */
bool naive_would_fit(struct world *w, int vc, uint32_t gpus, const uint32_t *free);

/* ---- naive_round.c ------------------------------------------------------------------------------------ */

void naive_queue_again(struct world *w, uint32_t j);
/* GPUs came free on the nodes of `vc`: every queue over them with jobs waiting is asked. */
void naive_ask_sharers(struct world *w, int vc, bool is_asked[NAIVE_VCS]);
void naive_schedule(struct world *w, int vc);
/* What became of the jobs of a queue in this round. */
void naive_settle(struct world *w, int vc, bool asked_next[NAIVE_VCS]);

#endif
