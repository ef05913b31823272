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

/* Sizes and lengths by powers of two, for struct profile.bound. */
enum { PROFILE_SIZES = 33, PROFILE_LENGTHS = 64 };

struct profile {
    bool by_node;
    bool is_even;              /* all lines are of one size */
    uint32_t n_lines, largest; /* largest: GPUs of a line */
    struct profile_line *lines;
    uint32_t *by_size;            /* lines, the largest first */
    uint32_t *line_of, n_line_of; /* node -> line */
    uint64_t clock, freed;        /* counts changes; the latest of all lines' `freed` */
    /* While nothing is given back, nobody finds an earlier start than one who wanted no more for no longer: bound[i][k]
     * is the latest start found for jobs of at most 2^i GPUs and 2^k ns. All zero: nothing known. */
    int64_t (*bound)[PROFILE_LENGTHS];
    bool has_bounds;
    struct whole *whole; /* for jobs larger than a line: one a line (profile.c) */
    uint32_t *heap;
    struct share *shares; /* where the job of the last profile_find would be */
    uint32_t n_shares;
    struct place *places; /* room for a start on every line */
};

/* `by_node`: a line a node; else one line of the present capacity. Everything is free. False when memory is out. */
bool profile_init(struct profile *p, struct sched *s, bool by_node);

/* Everything is free again, to the present capacity; the clock and the marks stay. */
bool profile_reset(struct profile *p, struct sched *s);

/* The earliest start from now on of `gpus` for `length` (> 0), with p->shares; SCHED_NEVER: none. Among lines of the same start the one
 * with the least to spare, then the first. */
int64_t profile_find(struct profile *p, struct sched *s, uint32_t gpus, int64_t length_ns);

/* The same for a job that holds `own` (n_own) over [start, start + length): the earliest before `start`, beside all else. It was planned at
 * clock `since`: of lines not marked later it asks nothing (but a job larger than a line asks all). */
int64_t profile_find_earlier(struct profile *p, struct sched *s, const struct share *own, uint32_t n_own, uint32_t gpus,
                             int64_t start_ns, int64_t length_ns, uint64_t since);

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

/* Note that something was given back for good on these lines: others may use it. */
void profile_mark(struct profile *p, const struct share *shares, uint32_t n);

void profile_mark_all(struct profile *p);

/* Are the shares free over [from, to)? */
bool profile_is_free(const struct profile *p, const struct share *shares, uint32_t n, int64_t from_ns, int64_t to_ns);

#endif
