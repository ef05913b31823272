/* victims.h - running jobs that may have to give up their GPUs to one that waits: named one by one, the first to go first, until it fits.
 *
 * While the answer is no (room.h) nobody is preempted. Once it is yes, often all nodes that the claimant must take are known, whatever the
 * placement: on nodes of one size, where no quota binds, the only node with enough GPUs, or just as many wholly free ones as it fills. Then
 * only those who hold GPUs there are preempted; what the others hold makes no difference, and they would all get it back.
 */
#ifndef POLICIES_VICTIMS_H
#define POLICIES_VICTIMS_H

#include "policies/room.h"

struct victim {
    uint32_t job;
    bool is_taken; /* preempted */
};

struct victims {
    struct room *room;
    struct victim *list; /* in the order in which they were named */
    uint32_t n, list_room;
    uint32_t claimant;
    const char *why;
    bool may_be_new;
    bool is_asking; /* nobody was preempted yet */
};

/* For an instance that rules one queue. `may_be_new`: jobs may be named that were started or moved at this very instant. False: memory is
 * out. */
bool victims_init(struct victims *v, struct sched *s, bool may_be_new);

/* Begin for `claimant`, which found no place. `why` is a literal, told of who is preempted with the claimant's number behind it. */
void victims_begin(struct victims *v, struct sched *s, uint32_t claimant, const char *why);

/* Name one more running job; true: GPUs were taken, so that a start of the claimant is worth a try; *is_short: memory is out. */
bool victims_add(struct victims *v, struct sched *s, uint32_t job, bool *is_short);

/* Preempt those of the first `n` who were named and hold their GPUs yet; false: there were none. */
bool victims_take(struct victims *v, struct sched *s, uint32_t n);

#endif
