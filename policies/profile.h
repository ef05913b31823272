/* profile.h - what will be free where, and when and where a job would fit: the plan of `conservative` (conservative.c).
 *
 *      line 0 (node 3)  ####____######___       a line: a node where the placement packs, or one for all GPUs
 *      line 1 (node 4)  ##____####_______       (timeline.h). A job of at most the largest line's GPUs takes one
 *      line 2 (node 7)  ___######________       line; a larger one wholly free lines and one for the rest.
 *                       now ------------> t
 *
 * It knows GPUs alone: GPU types, CPU and memory may still be in the way of a start.
 */
#ifndef POLICIES_PROFILE_H
#define POLICIES_PROFILE_H

#include "policies/timeline.h"

/* A share of one line. */
struct share {
    uint32_t line;
    uint32_t gpus;
};

struct profile_line {
    struct timeline time;
    uint32_t node, gpus;
    uint64_t freed; /* the clock when it was last marked */
};

struct profile {
    bool by_node;
    uint32_t n_lines, largest; /* largest: GPUs of a line */
    struct profile_line *lines;
    uint32_t *by_size;            /* lines, the largest first */
    uint32_t *line_of, n_line_of; /* node -> line */
    uint64_t clock, freed;        /* counts changes; the latest of all lines' `freed` */
    struct whole *whole;          /* for jobs larger than a line: one a line (profile.c) */
    uint32_t *heap;
    struct share *shares; /* where the job of the last profile_find would be */
    uint32_t n_shares;
    struct place *places; /* room for a start on every line */
};

/* `by_node`: a line a node; else one line of the present capacity. Everything is free. False when memory is out. */
bool profile_init(struct profile *p, struct sched *s, bool by_node);

/* Everything is free again, to the present capacity. */
bool profile_reset(struct profile *p, struct sched *s);

/* The earliest start in [now, latest] of `gpus` for `length` (> 0), with p->shares; SCHED_NEVER: none. Among lines of the same start the one
 * with the least to spare, then the first. Only lines marked after `since` (0: all) can serve a job that takes
 * one line; a larger one may use any. */
int64_t profile_find(struct profile *p, struct sched *s, uint32_t gpus, int64_t length_ns, int64_t latest_ns,
                     uint64_t since);

/* Could anything have become possible for a job after `since`? */
static inline bool profile_is_freed(const struct profile *p, uint64_t since)
{
    return p->freed > since;
}

/* Take the shares away over [from, to), or give them back. False when memory is out. */
bool profile_take(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                  int64_t to_ns);
bool profile_give(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                  int64_t to_ns);

/* Note that something was given back on these lines: others may use it (`since` of profile_find). */
void profile_mark(struct profile *p, const struct share *shares, uint32_t n);

/* Are the shares free over [from, to)? */
bool profile_is_free(const struct profile *p, const struct share *shares, uint32_t n, int64_t from_ns, int64_t to_ns);

#endif
