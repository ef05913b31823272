/* fair_tree.h - who has how much of what it is entitled to: the books of the fair policies (fair.h).
 *
 *                 root                      a node's value is what its jobs hold, or have used, by its weight; at each
 *               /      \                    level the child of least value comes first
 *            lab        plant
 *           /   \           \
 *       alice    bob       carol            leaves: users, virtual clusters, or users inside virtual clusters
 *
 *   measure    value of a node (the less, the sooner its jobs start)
 *   usage      GPU-time used, decayed by half every half-life, and `ahead` of what it holds now, / weight
 *   gpus       GPUs held / weight
 *   dominant   the largest of its parts of the cluster's GPUs, CPU and memory / weight
 *   guarantee  held / guarantee - 1 below the guarantee, (held - guarantee) / weight from there on
 *
 * Usage is never brought up to date by looking at users. With f(t) = 2^(t / half-life), a node that has held g GPUs since t0 has used
 *
 *     U(t) = past / f(t) + g * half-life / ln 2,     past = (U(t0) - g * half-life / ln 2) * f(t0)
 *
 * by t, where `past` changes only when g does. So every value is a line in 1 / f(t), and nodes with the same g / weight never change places
 * (lines.h).
 *
 * Jobs of one class (demand and virtual cluster) are alike for placement: where one finds no place, none does. A *bin* is what waits
 * of one class below one node: a leaf's jobs in order of rank, an inner node's children in order of value. The first job among the open classes
 * is found by walking down from the root, at each node over its bins. Starting or ending a job moves the nodes above it in the bins that they
 * are in: O(levels * bins * log children).
 */
#ifndef POLICIES_FAIR_TREE_H
#define POLICIES_FAIR_TREE_H

#include "policies/jobset.h"
#include "policies/lines.h"
#include "policies/shares.h"

enum fair_measure { FAIR_USAGE, FAIR_GPUS, FAIR_DOMINANT, FAIR_GUARANTEE };
enum fair_by { FAIR_BY_USER, FAIR_BY_VC, FAIR_BY_VC_USER };
enum { FAIR_GPU, FAIR_CPU, FAIR_MEMORY, FAIR_RESOURCES };

#define FAIR_NONE UINT32_MAX

struct fair_class {
    uint32_t gpus, demand, vc;
    uint32_t next_of_demand;
    bool is_full;   /* a start failed since GPUs were last freed in this round */
    bool is_closed; /* not looked at any more in this round */
};

struct fair_bin {
    uint32_t node, class;
    uint32_t next_of_node, up; /* up: the parent's bin of this class, FAIR_NONE until it is needed */
    bool is_active;            /* something is in it, and it is not hidden */
    bool is_hidden;
    struct jobset queue;   /* of a leaf: jobs by rank */
    struct lines children; /* of an inner node: those whose bin is active */
    uint64_t cached_at;    /* tick of … */
    uint32_t best;         /* … the child of least value */
    double best_value;
    uint32_t best_turn;
};

struct fair_node {
    uint32_t parent, first_bin;
    bool is_leaf;
    double weight;
    int64_t guarantee; /* GPUs */
    uint64_t held[FAIR_RESOURCES];
    double past; /* usage, ns GPUs * f */
    double slope, at;
    uint32_t turn;         /* when a job of it was last started: of equals who was served longest ago comes first */
    uint32_t n_running;    /* jobs below that may be displaced */
    struct jobset running; /* of a leaf: those, by start */
    struct lines rich;     /* of an inner node: children that have some */
    uint32_t vc, next_of_user;
};

struct fair_tree {
    enum fair_measure measure;
    enum fair_by by;
    struct shares shares;
    struct jobset_pool pool;
    bool is_even; /* all leaves are children of the root and have the weight 1 */

    struct fair_node *nodes; /* 0: the root, then the rows of the shares, then the rest as it comes */
    uint32_t n_nodes, nodes_room;
    struct fair_bin *bins;
    uint32_t n_bins, bins_room;
    struct fair_class *classes;
    uint32_t n_classes, classes_room;
    uint32_t *class_of_demand, *leaf_of_user,
        *node_of_vc; /* + 1; leaf_of_user: the first where users stand in virtual clusters */
    uint64_t capacity[FAIR_RESOURCES];
    uint32_t n_queued;
    uint32_t n_turns;

    int64_t half_life_ns, epoch_ns; /* f(epoch) = 1 */
    bool has_epoch;
    double worth, ahead; /* half-life / ln 2 and `ahead`, ns */
    double f, q;         /* f(now), 1 / f(now) */
    uint64_t tick;       /* counts the calls of fair_tree_clock */
};

/* `t` is zeroed but for measure, by, half_life_ns and ahead (> 0 and >= 0; measure usage). BRAID_BAD_INPUT: the file of
 * shares is wrong (shares_load), a user or virtual cluster that must be a leaf is a parent or stands in it twice, guarantees of children
 * exceed their parent's or the cluster's GPUs. */
int fair_tree_init(struct fair_tree *t, struct sched *s, const char *shares_path, struct error *err);

/* The present is now; call first in each callback. */
void fair_tree_clock(struct fair_tree *t, struct sched *s);

/* The cluster may have another size. */
void fair_tree_measure_capacity(struct fair_tree *t, struct sched *s);

/* The leaf that a job is booked on, FAIR_NONE: memory is out (so the run will end). */
uint32_t fair_tree_leaf(struct fair_tree *t, struct sched *s, uint32_t job);

/* A job waits, waits no longer. */
void fair_tree_enqueue(struct fair_tree *t, struct sched *s, uint32_t job);
void fair_tree_dequeue(struct fair_tree *t, struct sched *s, uint32_t job);

/* A job takes what it demands, gives it back; it was its owner's turn. */
void fair_tree_take(struct fair_tree *t, struct sched *s, uint32_t job);
void fair_tree_give(struct fair_tree *t, struct sched *s, uint32_t job);
void fair_tree_serve(struct fair_tree *t, struct sched *s, uint32_t job);

/* A job that runs since `since_ns` may be displaced, no longer; false: it was not among those. */
void fair_tree_expose(struct fair_tree *t, struct sched *s, uint32_t job, int64_t since_ns);
bool fair_tree_cover(struct fair_tree *t, struct sched *s, uint32_t job, int64_t since_ns);

/* The first job of all open classes and its class, JOBSET_NONE: none. */
uint32_t fair_tree_first(struct fair_tree *t, uint32_t *class);

/* The bin of what `leaf` has waiting of `class`; while it is hidden nothing in it is found. */
uint32_t fair_tree_bin(const struct fair_tree *t, uint32_t leaf, uint32_t class);
void fair_tree_hide(struct fair_tree *t, uint32_t bin);
void fair_tree_show(struct fair_tree *t, uint32_t bin);

/* The value of a node now, and what it would be if `job` came (+1) or went (-1). */
double fair_tree_value(const struct fair_tree *t, uint32_t node);
double fair_tree_value_with(const struct fair_tree *t, struct sched *s, uint32_t node, uint32_t job, int sign);

#endif
