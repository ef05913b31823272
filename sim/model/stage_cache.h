/* stage_cache.h - the steady states of groups (stage_sim.h) that were asked for before, under the numbers of their members' profiles. */
#ifndef MODEL_STAGE_CACHE_H
#define MODEL_STAGE_CACHE_H

#include "model/stage_sim.h"

struct stage_entry;

/* One a run. */
struct stage_cache {
    struct stage_rule rule;
    struct stage_job *profiles; /* by number */
    uint32_t n_profiles, profiles_room;
    struct stage_entry *entries;
    uint32_t n_entries, entries_room;
};

void stage_cache_init(struct stage_cache *c, const struct stage_rule *rule);
void stage_cache_fini(struct stage_cache *c);

/* Profile `number` is `job`: the next number, or one that was added before (and keeps what it is). False: memory is out. */
bool stage_cache_add(struct stage_cache *c, uint32_t number, const struct stage_job *job);

/* The mean time of an iteration of each member, as stage_sim.h has it; `numbers` were added, and equal profiles have equal numbers. Their order
 * matters under INTERLEAVE_GIVEN alone, else equal members have their cycles in the order in which they are listed. When memory is
 * out it is only simulated again. */
void stage_cache_cycles(struct stage_cache *c, const uint32_t *numbers, uint32_t n, double *cycle_ns);

#endif
