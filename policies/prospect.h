/* prospect.h - what if these jobs gave up all that they hold: would a job have a place, and which nodes would it take?
 *
 * Like room.h, which counts GPUs, but with everything that placement looks at: GPUs of the right type, CPU and host memory of each node, by the two
 * rules of placement (cluster/placement.h), and what the quota leaves. The answer is exact for an instance that rules one queue; what a
 * module refuses beyond its rule (yarn: jobs of several racks) it does not know.
 *
 * A question costs O(places) a release and, once as many GPUs are free as the job wants, O(nodes) (not so where GPUs alone decide and no quota binds,
 * but for jobs larger than a node).
 */
#ifndef POLICIES_PROSPECT_H
#define POLICIES_PROSPECT_H

#include "policies/need.h"

struct prospect_node {
    uint32_t stamp;            /* the question in which something was freed here */
    int64_t freed[NEED_KINDS]; /* in it */
};

/* A node that the job would take. */
struct prospect_place {
    uint32_t node;
    int64_t over[NEED_KINDS]; /* what it leaves of it; SCHED_UNLIMITED */
};

struct prospect {
    struct prospect_node *nodes; /* by number */
    uint32_t *by_size;           /* the nodes that the instance may use, the largest first, equal ones by number */
    uint32_t n_scope, largest;   /* largest: GPUs of one that serves the job */
    uint32_t now_stamp;
    struct need need;
    uint64_t freed_gpus, excess; /* excess: held beyond the quota: so many must come free before any can be had */
    uint32_t *touched, n_touched, all_gpus; /* touched: where something was freed in this question */
    bool is_plain;                          /* GPUs alone decide */
    bool is_packed, is_counted;
    bool is_only_touched; /* only a node where something was freed can be the place */
    uint64_t sum; /* GPUs that it may have (any GPUs will do), nodes that can take it, or GPUs of wholly free nodes */
    struct prospect_place *places;
    uint32_t n_places;
};

struct prospect *prospect_create(struct sched *s); /* NULL: memory is out */

/* Begin a question for `job`, which waits. No verb may be taken until its last prospect_fits. */
void prospect_begin(struct prospect *x, struct sched *s, uint32_t job);

/* All that `job`, which runs, holds becomes free. */
void prospect_add(struct prospect *x, struct sched *s, uint32_t job);

/* The same for one that has been started since prospect_fits said yes, and is taken to have ended by then. */
void prospect_ends(struct prospect *x, struct sched *s, uint32_t job);

/* Does it fit now? Where the placement packs, x->places are then the nodes that it would take: of a small job the one with the fewest GPUs, the lowest
 * number of equal ones; of a large one whole nodes, and that for the rest. */
bool prospect_fits(struct prospect *x, struct sched *s);

/* GPUs that the queue may have by now. */
uint64_t prospect_gpus(const struct prospect *x, struct sched *s);

/* When prospect_fits has said yes, any GPUs will do, the queue may have more by the GPUs of `job`, and that has been started since: would it still say
 * yes if that one goes on? If not, it must be taken back, and x->places are nodes for the first job, the lowest numbers first, of which `job` would
 * have to keep away. */
bool prospect_leaves(struct prospect *x, struct sched *s, uint32_t job);

#endif
