/* muri_worth.h - what groups are worth. That depends on the profiles of their members and their order alone, and a trace has some dozens of
 * profiles, so it is asked for once for each sequence of profiles ("kind of group") and kept.
 */
#ifndef POLICIES_MURI_WORTH_H
#define POLICIES_MURI_WORTH_H

#include <braid/policy.h>

enum { MURI_GROUP_MAX = 4 };

#define MURI_NONE UINT32_MAX

/* A kind of group: the numbers of its members' profiles; MURI_NONE behind them. */
struct muri_kind {
    uint32_t profiles[MURI_GROUP_MAX];
    double use; /* the mean use that it makes of the four resources (the paper's gamma); 0: it cannot share */
};

struct muri_profile {
    int64_t times[5]; /* iteration, stages */
    uint32_t job;     /* one that has it */
};

/* Tables in memory of the run, which grow by doubling; `slots` are by hash, MURI_NONE: free. */
struct muri_worth {
    struct muri_profile *profiles;
    struct muri_kind *kinds;
    uint32_t *profile_slots, *kind_slots;
    uint32_t n_profiles, profiles_room, n_kinds, kinds_room;
};

/* Before a decision: forget kinds when there are too many, as where each job has a profile of its own. Numbers of kinds mean nothing behind it. */
void muri_worth_tidy(struct muri_worth *w);

/* The number of the job's profile. MURI_NONE: it has none, or memory is out. */
uint32_t muri_profile_of(struct muri_worth *w, struct sched *s, uint32_t job);

/* The number of the kind of n <= MURI_GROUP_MAX profiles. MURI_NONE: memory is out, or one is MURI_NONE. */
uint32_t muri_kind_of(struct muri_worth *w, struct sched *s, const uint32_t *profiles, uint32_t n);

/* The kind of group b's members behind those of a, or MURI_NONE where that has more than `most` members. */
uint32_t muri_kind_together(struct muri_worth *w, struct sched *s, uint32_t a, uint32_t b, uint32_t most);

static inline uint32_t muri_kind_size(const struct muri_kind *k)
{
    uint32_t n = 0;
    while (n < MURI_GROUP_MAX && k->profiles[n] != MURI_NONE)
        n++;
    return n;
}

#endif
