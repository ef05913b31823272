/* muri.h - multi-resource interleaving (Zhao et al., SIGCOMM'22, sections 4 and 5): jobs of equal demand are braided into groups whose
 * stages use different resources at the same time.
 *
 *   order      all jobs by the key: remaining GPU-service (muri_s) or attained GPU-service (muri_l), least first
 *   candidates on an empty cluster, each job in order that finds a place takes `group` jobs of its demand along
 *   grouping   while the candidates ask for more GPUs than there are: rounds of a maximum-weight matching of groups, a pair's weight the
 *              use that the group makes of the resources (the paper's interleaving efficiency); or, not of the paper, a plan over how many
 *              candidates there are of each profile (grouping.h)
 *   un-group   where the members together would do less work than one alone
 *   placement  groups in order of their best key; who ran keeps its GPUs where it can; then single jobs fill what is left
 *
 * The whole plan is made anew at each event, as the paper does: a round costs O(n log n) for n jobs and O(c^3) for the matching of c
 * candidates of one demand; greedy and by_profile depend on the number of profiles instead.
 */
#ifndef POLICIES_MURI_H
#define POLICIES_MURI_H

#include "policies/grouping.h"
#include "policies/muri_worth.h"

enum muri_param { MURI_MATCHING, MURI_GROUP, MURI_CANDIDATES, MURI_GROUPING, MURI_N_PARAMS };

enum muri_how { MURI_ROUNDS, MURI_GREEDY, MURI_EXACT, MURI_BY_PROFILE };

struct muri_job {
    int64_t key;
    uint32_t job, bucket;
};

/* The candidates of one demand: the first `marked` of its jobs in order. */
struct muri_bucket {
    uint32_t gpus, first, n, marked; /* first: of its jobs in muri.by_bucket */
    uint32_t demand;
    bool is_closed; /* its next job finds no place */
};

struct muri_group {
    uint32_t jobs[MURI_GROUP_MAX];
    uint32_t n;
    uint32_t bucket, kind;
    int64_t key; /* the best of its members' */
};

/* Candidates of one bucket and profile. */
struct muri_row {
    uint32_t profile;
    uint32_t
        at; /* in muri.groups: where to look for the next of them when they are dealt out; the first one at first */
    bool is_begun;
};

struct muri {
    bool by_remaining, has_matching;
    enum muri_how how;
    uint32_t group, candidates;
    struct muri_worth worth;
    uint32_t *profile; /* by place in `live` */
    uint32_t *live;    /* queued and running jobs; a job's word is its place here */
    uint32_t n_live, room;
    /* one plan's tables, as long as `room` */
    struct muri_job *order;
    uint32_t *by_bucket;
    struct muri_bucket *buckets;
    uint32_t *bucket_of; /* demand -> bucket + 1 */
    uint32_t n_buckets;
    struct muri_group *groups, *next;
    /* of one matching */
    uint32_t *mate, *class_of;
    uint32_t *kinds; /* by class */
    double *weights; /* by pair of classes */
    void *memory;
    uint32_t matching_room;
    size_t weights_room, memory_room;
    /* of one plan by counts (muri_counts.c) */
    struct muri_row *rows;
    struct grouping_row *problem_rows;
    struct grouping_set *sets;
    uint32_t *copies, sets_room;
};

/* m->groups from single candidates to groups of at most m->group while they require more GPUs than `capacity`; returns how many there
 * are. By rounds of matching, or without matching by neighbours. */
uint32_t muri_rounds(struct muri *m, struct sched *s, uint32_t n, uint64_t required, uint64_t capacity);

/* The same from m->groups of single candidates by m->how. False: they are too many, or too different, for it, or memory is out; m->groups is as it
 * was. */
bool muri_counts(struct muri *m, struct sched *s, uint32_t *n, uint64_t capacity);

/* All members of b behind those of a. */
void muri_merge(struct muri_group *a, const struct muri_group *b);

/* Work that the members together do in the time that one alone does one: the sum of their rates; 0 when they cannot share. */
double muri_group_speed(struct sched *s, const uint32_t *jobs, uint32_t n);

int muri_init(void *self, struct sched *s, const union param *v, struct error *err);
void muri_on_submit(void *self, struct sched *s, uint32_t job);
void muri_on_finish(void *self, struct sched *s, uint32_t job);
void muri_schedule(void *self, struct sched *s);

extern const struct param_spec muri_params[MURI_N_PARAMS];

#define MURI_POLICY(id, name_, summary_, knows_)                                                                       \
    const struct policy_ops id = {.abi_version = BRAID_POLICY_ABI,                                                     \
                                  .size = sizeof(struct policy_ops),                                                   \
                                  .name = name_,                                                                       \
                                  .summary = summary_,                                                                 \
                                  .source = "Zhao et al., SIGCOMM'22 (Muri), sections 4 and 5",                        \
                                  .knows = knows_,                                                                     \
                                  .scope = SCOPE_VC,                                                                   \
                                  .params = muri_params,                                                               \
                                  .n_params = MURI_N_PARAMS,                                                           \
                                  .state_size = sizeof(struct muri),                                                   \
                                  .init = muri_init,                                                                   \
                                  .on_submit = muri_on_submit,                                                         \
                                  .on_finish = muri_on_finish,                                                         \
                                  .schedule = muri_schedule}

#endif
