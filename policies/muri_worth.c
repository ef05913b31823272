#include "policies/muri_worth.h"

#include <string.h>

enum { KINDS_MANY = 1 << 19 };

void muri_worth_tidy(struct muri_worth *w)
{
    if (w->n_kinds < KINDS_MANY)
        return;
    w->n_kinds = 0;
    memset(w->kind_slots, 0xff, w->kinds_room * 2ull * sizeof *w->kind_slots);
}

static uint32_t hash(const uint32_t *words, uint32_t n)
{
    uint32_t h = 0;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ words[i]) * 2654435761u, h ^= h >> 13;
    return h;
}

/* ---- profiles -------------------------------------------------------------------------------------- */

static uint32_t *profile_slot(const struct muri_profile *profiles, uint32_t *slots, uint32_t n_slots,
                              const int64_t *times)
{
    uint32_t words[10];
    memcpy(words, times, sizeof words);
    for (uint32_t h = hash(words, 10);; h++) {
        uint32_t *slot = &slots[h & (n_slots - 1)];
        if (*slot == MURI_NONE || memcmp(profiles[*slot].times, times, sizeof profiles->times) == 0)
            return slot;
    }
}

static bool profiles_grow(struct muri_worth *w, struct sched *s)
{
    if (w->n_profiles < w->profiles_room)
        return true;
    uint32_t room = w->profiles_room > 0 ? w->profiles_room * 2 : 64;
    struct muri_profile *profiles = sched_alloc(s, room, sizeof *profiles);
    uint32_t *slots = sched_alloc(s, room * 2ull, sizeof *slots);
    if (profiles == NULL || slots == NULL)
        return false;
    if (w->n_profiles > 0)
        memcpy(profiles, w->profiles, w->n_profiles * sizeof *profiles);
    memset(slots, 0xff, room * 2ull * sizeof *slots);
    for (uint32_t i = 0; i < w->n_profiles; i++)
        *profile_slot(profiles, slots, room * 2, profiles[i].times) = i;
    w->profiles = profiles;
    w->profile_slots = slots;
    w->profiles_room = room;
    return true;
}

uint32_t muri_profile_of(struct muri_worth *w, struct sched *s, uint32_t job)
{
    struct muri_profile p = {.job = job};
    if (sched_stages_ns(s, job, &p.times[0], &p.times[1]) != SCHED_OK || !profiles_grow(w, s))
        return MURI_NONE;
    uint32_t *slot = profile_slot(w->profiles, w->profile_slots, w->profiles_room * 2, p.times);
    if (*slot == MURI_NONE) {
        *slot = w->n_profiles;
        w->profiles[w->n_profiles++] = p;
    }
    return *slot;
}

/* ---- kinds of groups ------------------------------------------------------------------------------- */

static uint32_t *kind_slot(const struct muri_kind *kinds, uint32_t *slots, uint32_t n_slots, const uint32_t *profiles)
{
    for (uint32_t h = hash(profiles, MURI_GROUP_MAX);; h++) {
        uint32_t *slot = &slots[h & (n_slots - 1)];
        if (*slot == MURI_NONE || memcmp(kinds[*slot].profiles, profiles, sizeof kinds->profiles) == 0)
            return slot;
    }
}

static bool kinds_grow(struct muri_worth *w, struct sched *s)
{
    if (w->n_kinds < w->kinds_room)
        return true;
    uint32_t room = w->kinds_room > 0 ? w->kinds_room * 2 : 1024;
    struct muri_kind *kinds = sched_alloc(s, room, sizeof *kinds);
    uint32_t *slots = sched_alloc(s, room * 2ull, sizeof *slots);
    if (kinds == NULL || slots == NULL)
        return false;
    if (w->n_kinds > 0)
        memcpy(kinds, w->kinds, w->n_kinds * sizeof *kinds);
    memset(slots, 0xff, room * 2ull * sizeof *slots);
    for (uint32_t i = 0; i < w->n_kinds; i++)
        *kind_slot(kinds, slots, room * 2, kinds[i].profiles) = i;
    w->kinds = kinds;
    w->kind_slots = slots;
    w->kinds_room = room;
    return true;
}

/* Stage time worked / (4 x period). */
static double use_of(const struct muri_worth *w, struct sched *s, const uint32_t *profiles, uint32_t n)
{
    double rates[MURI_GROUP_MAX], use = 0;
    uint32_t jobs[MURI_GROUP_MAX];
    for (uint32_t i = 0; i < n; i++)
        jobs[i] = w->profiles[profiles[i]].job;
    if (sched_group_rates(s, jobs, n, rates) != SCHED_OK)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t *t = w->profiles[profiles[i]].times;
        use += (double)(t[1] + t[2] + t[3] + t[4]) / (double)t[0] * rates[i];
    }
    return use / 4;
}

uint32_t muri_kind_of(struct muri_worth *w, struct sched *s, const uint32_t *profiles, uint32_t n)
{
    struct muri_kind kind;
    memset(kind.profiles, 0xff, sizeof kind.profiles);
    for (uint32_t i = 0; i < n; i++) {
        if (profiles[i] == MURI_NONE)
            return MURI_NONE;
        kind.profiles[i] = profiles[i];
    }
    if (!kinds_grow(w, s))
        return MURI_NONE;
    uint32_t *slot = kind_slot(w->kinds, w->kind_slots, w->kinds_room * 2, kind.profiles);
    if (*slot == MURI_NONE) {
        kind.use = use_of(w, s, kind.profiles, n);
        *slot = w->n_kinds;
        w->kinds[w->n_kinds++] = kind;
    }
    return *slot;
}

uint32_t muri_kind_together(struct muri_worth *w, struct sched *s, uint32_t a, uint32_t b, uint32_t most)
{
    uint32_t profiles[2 * MURI_GROUP_MAX], n_a, n_b;
    if (a == MURI_NONE || b == MURI_NONE)
        return MURI_NONE;
    n_a = muri_kind_size(&w->kinds[a]);
    n_b = muri_kind_size(&w->kinds[b]);
    if (n_a + n_b > most)
        return MURI_NONE;
    memcpy(profiles, w->kinds[a].profiles, n_a * sizeof *profiles);
    memcpy(profiles + n_a, w->kinds[b].profiles, n_b * sizeof *profiles);
    return muri_kind_of(w, s, profiles, n_a + n_b);
}
