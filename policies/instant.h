/* instant.h - sums of times that stop where time ends, after 292 years, instead of wrapping round. */
#ifndef POLICIES_INSTANT_H
#define POLICIES_INSTANT_H

#include <braid/policy.h>

/* `length` >= 0 after `t` >= 0, at most SCHED_NEVER. */
static inline int64_t instant_after(int64_t t, int64_t length)
{
    return length < SCHED_NEVER - t ? t + length : SCHED_NEVER;
}

#endif
