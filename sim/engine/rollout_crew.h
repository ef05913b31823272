/* rollout_crew.h - helpers for short batches of independent work inside one run.
 *
 *     caller    post ── takes items ── takes items ── waits for those that are at an item ──▶ goes on
 *     helper           wakes ── takes items ──┘ (or comes too late: nobody waits for it)
 *
 * OpenMP's barriers wait for every thread of a team; where other programs hold the processors, a batch of a millisecond then takes as long as
 * the slowest of them takes to come back. Here a helper that has not begun is not waited for, so many threads are never much slower than one.
 *
 * Items are taken one by one from a counter. What an item does must depend on its number alone.
 */
#ifndef ENGINE_ROLLOUT_CREW_H
#define ENGINE_ROLLOUT_CREW_H

#include <stdbool.h>
#include <stdint.h>

struct crew;

/* `worker` 0 is the caller, 1 .. n-1 are the helpers; no two items are done by one worker at the same time. */
typedef void (*crew_item)(void *self, uint32_t worker, uint32_t item);

/* A caller and n - 1 helpers, n >= 2; fewer where the system gives no more threads. NULL: memory is out. */
struct crew *crew_create(uint32_t n);
void crew_destroy(struct crew *c);

/* Do items 0 .. n-1; returns when all are done. Not from within an item. */
void crew_run(struct crew *c, uint32_t n, crew_item item, void *self);

#endif
