/* profile.h - what will be free where, and when and where a job would fit: the plan of `conservative` (conservative.c).
 *
 *      line 0 (node 3)  ####____######___       a line: a node, or one for all GPUs. It has a timeline (timeline.h) of its GPUs
 *      line 1 (node 4)  ##____####_______       and, where CPU or host memory can be in the way of a job, one of each.
 *      line 2 (node 7)  ___######________
 *                       now ------------> t
 *
 *   PROFILE_PACKED  a job of at most the largest line's GPUs takes one line, a larger one wholly free lines and one for the rest
 *   PROFILE_POOL    any lines, as much of each as its GPUs, CPU and memory allow, the first ones first
 *   PROFILE_COUNT   one line for all GPUs of the instance: no nodes, no CPU, memory or GPU types
 *
 * A job uses only lines of its GPU type; the largest line is that among them (cluster/placement.h has the same two rules).
 */
#ifndef POLICIES_PROFILE_H
#define POLICIES_PROFILE_H

#include "policies/need.h"
#include "policies/timeline.h"

enum profile_rule { PROFILE_PACKED, PROFILE_POOL, PROFILE_COUNT };

/* A share of one line. */
struct share {
    uint32_t line;
    uint32_t gpus;
    int64_t host[2]; /* CPU (1/1000 cores) and memory (KiB) */
};

struct profile_line {
    struct timeline
        time[NEED_KINDS]; /* of what is without bound, or of no interest to any job, nothing is kept */
    bool is_kept[NEED_KINDS];
    uint32_t node, gpus, type;
    uint64_t freed; /* the clock when it was last marked */
};

/* Sizes and lengths by powers of two, for the bounds. */
enum { PROFILE_SIZES = 33, PROFILE_LENGTHS = 64 };

/* Bounds of one distinct need. */
struct need_bounds {
    uint64_t clock; /* they hold while profile.freed is this */
    int64_t latest[PROFILE_LENGTHS];
};

struct profile {
    enum profile_rule rule;
    bool is_plain;             /* GPUs alone decide: no types, CPU or memory */
    bool is_even;              /* all lines are of one size */
    uint32_t n_lines, largest; /* largest: GPUs of a line */
    struct profile_line *lines;
    uint32_t *by_size;            /* lines, the largest first */
    uint32_t *line_of, n_line_of; /* node -> line */
    uint64_t clock, freed;        /* counts changes; the latest of all lines' `freed` */
    /* While nothing is given back, nobody finds an earlier start than one who wanted no more for no longer: bound[i][k]
     * is the latest start found for jobs of at most 2^i GPUs and 2^k ns; where more than GPUs counts, by distinct need. */
    int64_t (*bound)[PROFILE_LENGTHS];
    bool has_bounds;
    struct need_bounds **of_need;
    uint32_t n_needs;
    struct whole *whole; /* for jobs larger than a line: one a line (profile.c) */
    uint32_t *heap;
    struct share *shares; /* where the job of the last profile_find would be */
    uint32_t n_shares;
    struct place *places; /* room for a start on every line */
};

/* What `job` asks for. */
struct need profile_need(const struct profile *p, const struct sched *s, uint32_t job);

/* Everything is free. False when memory is out. */
bool profile_init(struct profile *p, struct sched *s, enum profile_rule rule);

/* Everything is free again, to the present capacity; the clock and the marks stay. */
bool profile_reset(struct profile *p, struct sched *s);

/* The earliest start from now on for `length` (> 0), with p->shares; SCHED_NEVER: none. Packed: among lines of the same start the one
 * with the fewest GPUs to spare, then the first. */
int64_t profile_find(struct profile *p, struct sched *s, const struct need *need, int64_t length_ns);

/* The same for a job that holds `own` (n_own) over [start, start + length): the earliest before `start`, beside all else. It was planned at
 * clock `since`: of lines not marked later it asks nothing (but a job that may take several asks all). */
int64_t profile_find_earlier(struct profile *p, struct sched *s, const struct share *own, uint32_t n_own,
                             const struct need *need, int64_t start_ns, int64_t length_ns, uint64_t since);

/* Could anything have become possible for a job after `since`? */
static inline bool profile_is_freed(const struct profile *p, uint64_t since)
{
    return p->freed > since;
}

/* The share of `gpus` GPUs of a line, behind `before` on other lines. */
struct share profile_share(const struct need *need, uint32_t line, uint32_t before, uint32_t gpus);

/* Take the shares away over [from, to), or give them back. False when memory is out. */
bool profile_take(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                  int64_t to_ns);
bool profile_give(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                  int64_t to_ns);

/* Note that something was given back for good on these lines: others may use it. */
void profile_mark(struct profile *p, const struct share *shares, uint32_t n);

/* Are the shares free over [from, to)? */
bool profile_is_free(const struct profile *p, const struct share *shares, uint32_t n, int64_t from_ns, int64_t to_ns);

#endif
