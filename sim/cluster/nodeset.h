/* nodeset.h - a set of small integers 0..size-1 in 64-ary bit levels: insert, erase, first and next in O(log64 size).
 *
 *   level 1   [ 1 0 1 ... ]            bit w says whether word w of level 0 is not empty
 *   level 0   [01..] [00..] [10..]     bit i says whether i is in the set
 */
#ifndef CLUSTER_NODESET_H
#define CLUSTER_NODESET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define NODESET_NONE UINT32_MAX
enum { NODESET_LEVELS = 4 }; /* up to 64^4 members */

struct nodeset {
    uint64_t *level[NODESET_LEVELS];
    uint32_t n_levels;
    uint32_t size, count;
};

bool nodeset_init(struct nodeset *s, uint32_t size, struct arena *a); /* false: memory is out */
void nodeset_insert(struct nodeset *s, uint32_t i);                   /* i < size, absent */
void nodeset_erase(struct nodeset *s, uint32_t i);                    /* present */
bool nodeset_has(const struct nodeset *s, uint32_t i);
uint32_t nodeset_next(const struct nodeset *s, uint32_t from); /* smallest member >= from, or NODESET_NONE */

static inline uint32_t nodeset_first(const struct nodeset *s)
{
    return nodeset_next(s, 0);
}

#endif
