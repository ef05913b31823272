/* muri_group.h - groups of jobs of one size, and how they are formed. */
#ifndef COMPAT_MURI_GROUP_H
#define COMPAT_MURI_GROUP_H

#include "compat/muri_run.h"

struct muri_group {
    uint32_t jobs[MURI_GROUP_MAX];
    uint32_t n, gpus;
    double key;
};

struct muri_class {
    uint32_t profiles[MURI_GROUP_MAX];
    uint32_t n;
};

struct muri_pair_weight {
    uint32_t u, v; /* classes; UINT32_MAX: free */
    double weight;
};

/* A bucket: the candidates of one size, in order; then its groups. */
struct muri_bucket {
    uint32_t gpus;
    uint32_t *jobs;
    uint32_t n_jobs, n_candidates, n_seen, n_slots;
    struct muri_group *groups, *next;
    uint32_t n_groups, room;
};

struct muri_grouping {
    struct interleave policy, best; /* periods as the policy arranges stages, and in the best arrangement */
    uint32_t *profile;              /* by job */
    double *profile_sum_s;          /* by profile: its stages */
    uint32_t group_most;
    bool has_matching, is_worst;

    struct muri_bucket buckets[MURI_SIZES]; /* by log2 of the GPUs */
    uint32_t order[MURI_SIZES], n_buckets;  /* those with jobs, by first appearance */
    uint64_t required;                      /* GPUs that the groups want */

    struct muri_group *formed; /* all buckets' groups, then those that run */
    uint32_t n_formed, formed_room;
    struct muri_sort_item *order_of, *spare; /* of `formed` */
    uint32_t *group_of;                      /* by job: in `formed`; UINT32_MAX */
    uint32_t *span_at, *n_spans;             /* by job: where it is placed; 0: it is not */
    struct span *spans;

    /* muri_pairs.c */
    struct muri_class *classes;
    uint32_t n_classes, classes_room;
    uint32_t *class_slots, n_class_slots;
    struct muri_pair_weight *pairs;
    uint32_t n_pairs, pairs_room;
    uint32_t *local_of;      /* by class: its number in the bucket in hand */
    uint32_t *locals;        /* the classes of the bucket in hand */
    uint32_t *local_classes; /* by its groups: place in `locals` */
    double *local_weights;
    size_t local_weights_room, memory_room;
    uint32_t *mate;
    void *memory;
    uint32_t n_most; /* groups for which there is room */
};

/* The period of a group under the policy's arrangement, seconds. */
double muri_group_period(struct muri_grouping *g, const struct muri_group *group);

/* Rounds of pairs, until the groups need no more than the cluster's GPUs or no more rounds are due. False: memory is out. */
bool muri_pairs_form(struct muri *m, struct muri_grouping *g);
void muri_pairs_fini(struct muri_grouping *g);

#endif
