/* rollout_state.h - the inside of a rollout, shared by the files rollout*.c.
 *
 *   rollout.c         the copy of the engine's state, threads
 *   rollout_sweep.c   one plan: starts, ends, checkpoints
 *   rollout_terms.c   what it comes to
 *   rollout_levels.c  free GPUs as sets of nodes
 *   rollout_shadow.c  free GPUs as a copy of the cluster
 */
#ifndef ENGINE_ROLLOUT_STATE_H
#define ENGINE_ROLLOUT_STATE_H

#include "engine/rollout.h"
#include "engine/rollout_levels.h"
#include "engine/sim.h"

enum rollout_kind { ROLLOUT_COUNT, ROLLOUT_LEVELS, ROLLOUT_SHADOW };

enum { ROLLOUT_MARKS = 16 }; /* checkpoints of a lane */

/* Jobs of the window that ask the same; victims have classes of their own. */
struct rollout_class {
    uint32_t demand, gpus;
    uint32_t first, n; /* its part of a lane's class_list */
    bool is_victim;
    bool is_single; /* levels: one node is enough */
    uint64_t pools; /* levels: those that it may use */
};

/* GPUs that come free when jobs end that are not in the window. */
struct rollout_ending {
    int64_t end_ns;
    uint32_t gpus;
    bool is_ours; /* counts against our quota */
    uint32_t places_at, n_places;
    uint32_t job; /* under whose name they are held */
};

/* Sums over jobs of the plan that have not started. */
struct rest {
    __int128 length_ns;   /* waited so far and to run: exact, so that equal sums compare equal whatever their order */
    __int128 earliest_ns; /* from now until each could start if it were the only one */
    double weight, weighted_s;
    uint32_t n_deadlines;
};

struct rollout {
    struct sim *sim;
    struct arena *arena;                       /* of the run */
    uint32_t vc, partition, most, most_marked; /* marked: without those expected, of which checkpoints know nothing */

    /* ---- the copy: read only while plans are rolled out ---- */
    enum rollout_kind kind;
    bool has_levels;
    int64_t now_ns, horizon_ns; /* horizon: an instant, SCHED_NEVER */
    int64_t hold_ns;            /* an instant */
    uint32_t n, n_queued;       /* n: those expected not counted */
    uint32_t n_all;
    int64_t *arrival_ns; /* of those expected, by index - n */
    uint32_t *job;
    uint32_t *class_of;
    uint32_t *gpus;
    int64_t *run_ns;      /* if it is started: overhead and work */
    int64_t *keep_ns;     /* victims: instant of their end if they run on */
    int64_t *deadline_ns; /* SCHED_NEVER: none */
    int64_t *earliest_ns; /* after now: so many GPUs are not free before */
    int64_t *waited_ns;
    double *waited_s; /* now - submit */
    double *run_s, *weight, *alone_s;
    struct rest all; /* of the whole window */
    uint32_t *user;
    uint32_t *user_slot, *users_seen; /* while copying: user -> index + 1 */
    uint32_t n_users;
    bool wants_fairness;
    uint32_t *victim_at, *victim_n; /* into places */
    uint32_t *victims;              /* their ranks, ascending */
    struct rollout_class *classes;
    uint32_t n_classes;
    uint32_t *class_slot; /* by 2 x demand + is_victim: class + 1, only while freezing */
    struct rollout_ending *endings;
    uint32_t n_endings, endings_room;
    double *busy_s;    /* GPU seconds of our endings[0 .. i) up to their ends */
    double *busy_gpus; /* our GPUs of endings[i ..) */
    struct place *places;
    uint32_t n_places, places_room;
    uint32_t free_gpus, used_gpus, quota_gpus, capacity_gpus;
    uint32_t plan_places; /* places that all jobs of the window may need */
    struct levels levels;
    uint64_t *base;     /* levels */
    uint64_t version;   /* of the copy */
    const gsl_rng *rng; /* of the instance's placement */

    struct rollout_lane **lanes;
    uint32_t n_lanes;
};

/* Jobs of the plan that have been started, by end: a binary heap. */
struct rollout_run_end {
    int64_t end_ns;
    uint32_t index;
};

/* Where a sweep is. Copied whole into checkpoints. */
struct sweep {
    int64_t now_ns;
    uint32_t free_gpus, used_gpus;
    uint32_t next_ending; /* of the rollout's */
    uint32_t n_heap;
    uint32_t next;      /* strict: position in the order */
    uint32_t n_started; /* and victims that run on */
    uint32_t reach;     /* the last position that was started + 1 */
    uint32_t arrived;   /* of the plan's expected jobs */
    uint32_t n_places;
    uint32_t n_later, n_missed;
    uint32_t n_log; /* shadow */
    __int128 jct_ns;
    double weighted_jct_s, busy_s;
    int64_t last_end_ns;
    struct rest rest;
};

struct mark {
    struct sweep at;
    struct rollout_run_end *heap;
    uint32_t *taken; /* by class */
    uint64_t *state; /* levels */
    void *rng;       /* shadow */
};

/* The head of a class, in order of position. */
struct head {
    uint32_t position, class;
};

struct shadow; /* rollout_shadow.c */

struct rollout_lane {
    const struct rollout *r;
    struct arena arena; /* its own: lanes work at the same time */
    struct sweep at;
    int64_t *start_ns, *end_ns;
    struct rollout_run_end *heap;
    uint16_t *class_list; /* positions of each class's jobs, class by class */
    uint32_t *class_end;  /* behind its last in class_list */
    uint32_t *taken;
    struct head *heads;
    uint32_t n_heads;
    const struct place **where;
    uint32_t *where_n;
    struct place *places;
    uint32_t places_room;
    uint64_t *state;
    uint32_t state_room;          /* words */
    uint8_t *is_kept, *is_closed; /* victims; classes, while that is found out */
    double *user_sum;
    uint32_t *user_n;

    uint16_t *position;   /* in the plan, by index - n: of those expected */
    uint32_t n_deadlines; /* of the plan */

    uint16_t *scratch;
    uint16_t *last; /* the plan before */
    uint32_t n_last;
    uint32_t last_held;
    bool last_is_strict;
    uint64_t version;
    struct mark marks[ROLLOUT_MARKS];
    uint32_t n_marks, since_mark, stride;

    struct shadow *shadow;
    uint64_t n_placed;
    bool is_short;
};

/* rollout_terms.c */
void rest_add(struct rest *rest, const struct rollout *r, uint32_t index);
void rest_remove(struct rest *rest, const struct rollout *r, uint32_t index);
/* No score of a plan of `n` jobs that goes on from here is less (but for the rounding of sums). */
double lane_least_score(const struct rollout_lane *lane, const struct rollout_weights *w, uint32_t n);
void lane_conclude(struct rollout_lane *lane, const struct rollout_plan *plan, struct rollout_terms *out);

/* rollout_shadow.c; false: memory is out. */
bool shadow_prepare(struct rollout_lane *lane); /* take over the copy of the state */
void shadow_begin(struct rollout_lane *lane);   /* back to it */
bool shadow_take(struct rollout_lane *lane, uint32_t index);
bool shadow_keep(struct rollout_lane *lane, uint32_t victim); /* take a victim's own GPUs again, when they are left */
void shadow_give(struct rollout_lane *lane, uint32_t index);  /* of the plan */
void shadow_give_victim(struct rollout_lane *lane, uint32_t index);
void shadow_give_ending(struct rollout_lane *lane, uint32_t ending);
void shadow_undo(struct rollout_lane *lane, uint32_t n_log);
bool shadow_has_marks(const struct rollout_lane *lane); /* its state can be gone back to */
void shadow_save_rng(const struct rollout_lane *lane, void *to);
void shadow_load_rng(struct rollout_lane *lane, const void *from);
size_t shadow_rng_size(const struct rollout *r);
void shadow_fini(struct rollout_lane *lane);

#endif
