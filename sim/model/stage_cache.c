#include "model/stage_cache.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MOST = 1 << 18 }; /* some 25 MB; a power of two */

#define NO_PROFILE UINT32_MAX

struct stage_entry {
    uint32_t key[STAGE_JOBS_MAX]; /* NO_PROFILE behind the members; all NO_PROFILE: free */
    double cycle_ns[STAGE_JOBS_MAX];
};

void stage_cache_init(struct stage_cache *c, const struct stage_rule *rule)
{
    *c = (struct stage_cache){.rule = *rule};
}

void stage_cache_fini(struct stage_cache *c)
{
    free(c->profiles);
    free(c->entries);
    *c = (struct stage_cache){0};
}

bool stage_cache_add(struct stage_cache *c, uint32_t number, const struct stage_job *job)
{
    if (number < c->n_profiles)
        return true;
    require(number == c->n_profiles, "profile %u comes after %u", number, c->n_profiles);
    if (c->n_profiles == c->profiles_room) {
        uint32_t room = c->profiles_room * 2 + 32;
        struct stage_job *grown = realloc(c->profiles, room * sizeof *grown);
        if (grown == NULL)
            return false;
        c->profiles = grown;
        c->profiles_room = room;
    }
    c->profiles[c->n_profiles++] = *job;
    return true;
}

static struct stage_entry *entry_at(struct stage_entry *entries, uint32_t room, const uint32_t *key)
{
    uint64_t h = 1;
    for (uint32_t i = 0; i < STAGE_JOBS_MAX && key[i] != NO_PROFILE; i++) {
        h = (h ^ key[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    uint32_t at = (uint32_t)h & (room - 1);
    while (entries[at].key[0] != NO_PROFILE && memcmp(entries[at].key, key, sizeof entries[at].key) != 0)
        at = (at + 1) & (room - 1);
    return &entries[at];
}

static bool entries_grow(struct stage_cache *c)
{
    uint32_t room = c->entries_room > 0 ? c->entries_room * 2 : 256;
    struct stage_entry *entries = room <= ENTRIES_MOST ? malloc(room * sizeof *entries) : NULL;
    if (entries == NULL)
        return false;
    memset(entries, 0xff, room * sizeof *entries);
    for (uint32_t i = 0; i < c->entries_room; i++)
        if (c->entries[i].key[0] != NO_PROFILE)
            *entry_at(entries, room, c->entries[i].key) = c->entries[i];
    free(c->entries);
    c->entries = entries;
    c->entries_room = room;
    return true;
}

static void simulate(struct stage_cache *c, const uint32_t *key, uint32_t n, double *cycle_ns)
{
    struct stage_job jobs[STAGE_JOBS_MAX];
    struct stage_steady steady;
    for (uint32_t i = 0; i < n; i++)
        jobs[i] = c->profiles[key[i]];
    stage_sim(&steady, &c->rule, jobs, n);
    memcpy(cycle_ns, steady.cycle_ns, sizeof steady.cycle_ns);
}

void stage_cache_cycles(struct stage_cache *c, const uint32_t *numbers, uint32_t n, double *cycle_ns)
{
    require(n >= 1 && n <= STAGE_JOBS_MAX, "a group of %u", n);
    uint32_t key[STAGE_JOBS_MAX], listed[STAGE_JOBS_MAX] = {0};
    memset(key, 0xff, sizeof key);
    for (uint32_t i = 0; i < n; i++) { /* sorted, unless their order matters */
        uint32_t k = i;
        for (; c->rule.order != INTERLEAVE_GIVEN && k > 0 && key[k - 1] > numbers[i]; k--) {
            key[k] = key[k - 1];
            listed[k] = listed[k - 1];
        }
        key[k] = numbers[i];
        listed[k] = i;
    }
    double cycles[STAGE_JOBS_MAX] = {0};
    struct stage_entry *e = c->entries_room > 0 ? entry_at(c->entries, c->entries_room, key) : NULL;
    if (e != NULL && e->key[0] != NO_PROFILE) {
        memcpy(cycles, e->cycle_ns, sizeof cycles);
    } else {
        simulate(c, key, n, cycles);
        if (c->n_entries * 2 >= c->entries_room)
            e = entries_grow(c) ? entry_at(c->entries, c->entries_room, key) : NULL;
        if (e != NULL) {
            memcpy(e->key, key, sizeof key);
            memcpy(e->cycle_ns, cycles, sizeof cycles);
            c->n_entries++;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        cycle_ns[listed[i]] = cycles[i];
}
