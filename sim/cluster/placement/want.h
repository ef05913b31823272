/* want.h - what placement modules share: which nodes will do, scans over them, and the PACKED rule around a module's choice.
 *
 * A `want` describes the nodes that will do for one place: enough visible free GPUs of the right type, CPU and memory where these
 * bind, not taken before by the same job. The scans walk the sets of free counts, so they are near flat in the number of
 * nodes unless CPU or memory bind and many nodes lack them.
 */
#ifndef CLUSTER_PLACEMENT_WANT_H
#define CLUSTER_PLACEMENT_WANT_H

#include "cluster/cluster_state.h"
#include "cluster/placement.h"

/* Marks of the nodes that the job in hand has taken; the first member of the state of every PACKED module. */
struct packed {
    uint32_t *stamp; /* a node: the round in which it was taken */
    uint32_t round;
};

struct want {
    const struct cluster *c;
    const struct partition *q;
    const struct demand *d;
    const struct packed *taken; /* NULL: the job has no place yet */
    uint32_t gpus;              /* of this place */
    bool is_whole;              /* only wholly free nodes of exactly this size */
    bool is_bounded;            /* CPU or memory bind somewhere in the partition */
};

/* Will this node do? (Its GPU type and pool are not looked at: want_has_pool.) */
bool want_accepts(const struct want *w, uint32_t node);
bool want_has_pool(const struct want *w, uint32_t pool);

/* Lowest node >= from of `pool` with exactly `free` visible free GPUs that will do; of all pools with any sufficient count.
 * NODESET_NONE: none. */
uint32_t want_lowest_at(const struct want *w, uint32_t pool, uint32_t free, uint32_t from);
uint32_t want_lowest(const struct want *w, uint32_t from);
/* Lowest node >= from of one pool that will do. */
uint32_t want_lowest_in(const struct want *w, uint32_t pool, uint32_t from);

/* The node with the fewest sufficient (the most) free GPUs, lowest number on ties. */
uint32_t want_tightest(const struct want *w);
uint32_t want_roomiest(const struct want *w);

/* How many nodes will do, counted up to `enough`. */
uint32_t want_count(const struct want *w, uint32_t enough);

/* One of them, each with the same probability; NODESET_NONE: none. Draws from `rng` only when there is one. */
uint32_t want_draw(const struct want *w, gsl_rng *rng);

/* A module's choice of one node out of those that will do. */
typedef uint32_t (*want_choose)(void *self, const struct want *w, gsl_rng *rng);

int packed_init(void *self, const struct cluster *c, const union param *v, struct arena *a, struct error *err);

/* The PACKED rule: `one` chooses the node of a small job and the last node of a large one; `whole` the wholly free ones (NULL: lowest
 * numbers first). `self` begins with a struct packed. */
uint32_t packed_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d, gsl_rng *rng,
                     struct place *out, uint32_t room, want_choose one, want_choose whole);

/* < 0: node `a` has a smaller share of its GPUs allocated or reserved than `b`; 0: the same. Both have GPUs. */
int node_compare_load(const struct cluster *c, uint32_t a, uint32_t b);

/* The most GPUs (up to `gpus`) that CPU and memory of a node let the job take there. */
uint32_t node_gpus_within(const struct cluster *c, const struct demand *d, uint32_t node, uint32_t gpus);

#endif
