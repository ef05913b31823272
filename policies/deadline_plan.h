/* deadline_plan.h - earliest deadline first over a number of GPUs, whoever fits: is every deadline met?
 *
 *   preempt never      who holds GPUs keeps them to its end; at each end the others are looked at in order
 *   else               GPUs are handed out anew at each end, by deadline; of equal ones first to those who go on, then by place
 *
 * Nothing arrives meanwhile. The plan is run until nobody with a deadline waits any more.
 */
#ifndef POLICIES_DEADLINE_PLAN_H
#define POLICIES_DEADLINE_PLAN_H

#include <braid/policy.h>

struct planned {
    int64_t deadline; /* SCHED_NEVER: none */
    int64_t left;     /* time for which GPUs are still needed, > 0 */
    int64_t end;      /* of who holds GPUs (the plan's own) */
    uint32_t gpus;
    bool is_on; /* holds GPUs now */
};

/* Bytes of working memory, aligned as for malloc, that a plan of `n` jobs needs. */
size_t deadline_plan_bytes(uint32_t n);

/* `jobs` in order of deadline; they are used up. O(n + (ends + starts) log n), and O(n) where all can run at once. */
bool deadline_plan_is_met(struct planned *jobs, uint32_t n, uint32_t gpus, int64_t now, bool can_preempt, void *memory);

#endif
