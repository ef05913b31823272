/* timeline.h - how much of one resource of a node (or of a pool) will be free, from now on: a step function in an array.
 *
 *      free ^        +-----------      a step holds from its instant to the next one's; the last holds for ever.
 *         8 |   +----+                 Steps that lie behind the present are skipped and their room reused;
 *         4 |---+                      neighbours that became equal are joined.
 *           +---+----+---------> t     Free may be negative (a quota that shrank under running jobs).
 *              now
 */
#ifndef POLICIES_TIMELINE_H
#define POLICIES_TIMELINE_H

#include <braid/policy.h>

struct timeline_step {
    int64_t at_ns;
    int64_t free;
};

struct timeline {
    struct timeline_step *steps; /* [first, n): ascending, neighbours differ */
    uint32_t first, n, room;
};

/* `free` for ever. False when memory (of the run, from `s`) is out. */
bool timeline_reset(struct timeline *t, struct sched *s, int64_t free);

/* Forget what lies before `now_ns`, of which nothing will be asked any more. */
void timeline_forget(struct timeline *t, int64_t now_ns);

/* Add `gpus` (negative: take away) over [from, to); `to` may be SCHED_NEVER. O(steps). False when memory is out. */
bool timeline_add(struct timeline *t, struct sched *s, int64_t from_ns, int64_t to_ns, int64_t gpus);

/* The earliest start in [from, latest] of `length` (> 0) with at least `gpus` free throughout, or SCHED_NEVER; *least: the fewest free in
 * that time. `*hint` is a step to begin at: 0, or what a call for the same `gpus` and `length` left, if the line did not change since and `from` is
 * not before what that call returned. */
int64_t timeline_fit(const struct timeline *t, int64_t gpus, int64_t length_ns, int64_t from_ns, int64_t latest_ns,
                     uint32_t *hint, int64_t *least);

/* The least free over [from, from + length); *until: the end of the last step of that time at which it is so little. */
int64_t timeline_least(const struct timeline *t, int64_t from_ns, int64_t length_ns, int64_t *until);

#endif
