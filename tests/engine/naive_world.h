/* naive_world.h - what the parts of the reference simulator share: its world, and the functions between
 *
 *   naive.c        events, the clock
 *   naive_round.c  a round of one queue: order, displacing, EASY
 *   naive_place.c  GPUs and placement
 */
#ifndef TESTS_ENGINE_NAIVE_WORLD_H
#define TESTS_ENGINE_NAIVE_WORLD_H

#include "tests/engine/naive.h"

#include <stddef.h>

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
    int64_t estimated_end;        /* the same by the estimate alone: admission */
    uint32_t preemptions, moves, restarts;
    uint64_t started_as; /* how many starts there were before: the latest gives way first */
    enum naive_status status;
    const char *reason;
    bool has_failed;   /* in this round */
    bool is_accepted;  /* admission: feasible */
    bool is_displaced; /* in this round, by rules with jumps */
};

/* What rules of a policy's own remember of a job, and of a queue. */
struct naive_mark {
    bool is_known;
    uint32_t level;
    int64_t entered, executed, waited;
    int64_t turn;
};

/* conservative: GPUs that are held for a queued job over [start, end), or by a running one to `end`. */
struct naive_plan {
    bool is_fresh;      /* not planned yet */
    int64_t start, end; /* INT64_MAX: it holds no reservation */
    int64_t blocked;    /* since when it has been due and found no place; INT64_MAX: it is not so */
    uint32_t take[NAIVE_NODES];
};

struct naive_own {
    int64_t turn, user_turn[NAIVE_USERS];
    int64_t closes, next_fit;
    uint32_t n_released, n_past, n_fitted;
    int64_t past[NAIVE_JOBS];
    bool is_counted, must_replan, must_replan_all, may_compress; /* conservative */
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
    int64_t turn[NAIVE_JOBS];    /* rr_sjf: the window that it joined last; -1: none */
    int64_t place[NAIVE_JOBS];   /* rr_sjf: its value in the queue */
    int64_t credit[NAIVE_NODES]; /* placement weighted_round_robin: of the pool that begins with this node */
    uint32_t next_in_pool[NAIVE_NODES];
    uint32_t n_picked;
    uint32_t hidden_cpu[NAIVE_NODES]; /* held back from the next start */
    uint64_t hidden_memory[NAIVE_NODES];
    int placing;      /* 1 + the job whose CPU and memory count; 0: GPUs alone */
    bool is_asking;   /* naive_would_fit */
    bool is_by_rule;  /* naive_would_fit_by_rule */
    bool breaks_rule; /* the engine's module drew a place that is none */
    struct naive_mark marks[NAIVE_JOBS];
    struct naive_own own[NAIVE_VCS];
    struct naive_plan plans[NAIVE_JOBS];
    /* as it was when the queue in hand was asked */
    struct state before[NAIVE_JOBS];
    int owner_before[NAIVE_NODES][NAIVE_GPUS];
};

static inline bool naive_is_one_queue(const struct world *w)
{
    return w->c->n_vcs == 0 || (w->c->rules != NULL && w->c->rules->is_one);
}

static inline uint32_t naive_n_queues(const struct world *w)
{
    return naive_is_one_queue(w) ? 1 : w->c->n_vcs;
}

/* Whose nodes and quota: the virtual cluster, 0 where there are none. */
static inline int naive_vc_of(const struct world *w, uint32_t j)
{
    return w->c->n_vcs == 0 ? 0 : w->c->jobs[j].vc;
}

/* Who decides: a queue a virtual cluster, or one over all. */
static inline int naive_queue_of(const struct world *w, uint32_t j)
{
    return naive_is_one_queue(w) ? 0 : w->c->jobs[j].vc;
}

/* ---- naive_place.c ------------------------------------------------------------------------------------ */

/* GPUs that a queue may use in all: of its nodes, at most its quota. */
uint32_t naive_capacity(const struct world *w, int vc);
uint32_t naive_held_by(const struct world *w, int vc);
uint32_t naive_quota_left(const struct world *w, int vc);
/* GPUs that a queue may still take when `free` are free on each node. */
uint32_t naive_free_for(const struct world *w, int vc, const uint32_t free[NAIVE_NODES]);
void naive_free_now(const struct world *w, uint32_t free[NAIVE_NODES]);
/* Of `gpus` GPUs of a node, those for which the CPU and memory that are free will do, when the job of number placing - 1 takes them. */
uint32_t naive_within(const struct world *w, uint32_t node, uint32_t gpus);
/* GPUs of the largest node of a queue that serves that job. */
uint32_t naive_largest(const struct world *w, int vc);
/* What is free of CPU or memory on a node. */
uint64_t naive_left_on(const struct world *w, uint32_t node, bool is_memory);
void naive_give_back(struct world *w, uint32_t j);
bool naive_is_pool(enum naive_placement p);
bool naive_place(struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t take[NAIVE_NODES]);
/* Would it have a place, without moving the cursor? */
bool naive_would_fit(struct world *w, int vc, uint32_t gpus, const uint32_t *free);
/* By the packed rule, though the module may refuse what that allows: yarn. */
bool naive_would_fit_by_rule(struct world *w, int vc, uint32_t gpus, const uint32_t *free);

/* ---- naive_round.c ------------------------------------------------------------------------------------ */

int64_t naive_overhead_next(const struct world *w, uint32_t j);
int64_t naive_remaining(const struct world *w, uint32_t j);
/* The same, by the rule for jobs beyond their estimates. */
int64_t naive_expected(const struct world *w, uint32_t j);
bool naive_is_any_waiting(const struct world *w, int queue);
/* Back to the GPUs that it had when the round began. */
bool naive_go_back(struct world *w, uint32_t j);
/* To those, or where the placement puts it; false: no place. */
bool naive_start(struct world *w, uint32_t j);
/* On so many GPUs of each node, which are free. */
void naive_start_at(struct world *w, uint32_t j, const uint32_t place[NAIVE_NODES]);
void naive_queue_again(struct world *w, uint32_t j);
/* naive_admission.c: decide about those that are new. */
void naive_admit(struct world *w, int queue);
/* naive.c: it is gone. */
void naive_leave(struct world *w, uint32_t j, enum naive_status status, const char *reason);
/* GPUs came free on the nodes of `vc`: every queue over them with jobs waiting is asked. */
void naive_ask_sharers(struct world *w, int vc, bool is_asked[NAIVE_VCS]);
void naive_schedule(struct world *w, int vc);
/* What became of the jobs of a queue in this round. */
void naive_settle(struct world *w, int vc, bool asked_next[NAIVE_VCS]);

#endif
