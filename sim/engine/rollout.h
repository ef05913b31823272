/* rollout.h - what would become of the waiting jobs if they were started in a given order?
 *
 * A rollout is a copy of what the engine knows at one instant: who holds what of the partition, when each running job will end as the
 * policy may predict it (sched_expected_run_ns: one beyond its estimate goes on until its time has doubled), quota, and a window of jobs. A *plan* is an order of the window. The rollout starts its jobs as a
 * policy would that follows this order, by the placement rule of the run, goes to the next predicted end, starts more, and so on until
 * all have started; no quota changes meanwhile, and nothing arrives but what the caller expects. When nothing else does and estimates are
 * exact, this is what the engine does, job for job.
 *
 *   strict   the first job of the order that finds no place holds back all behind it
 *   skip     jobs that find a place pass those that do not
 *
 * Running jobs may be in the window, too ("victims"). Where they stand in the order decides whether they keep their GPUs: going down the
 * order with the GPUs of all victims free, a victim whose own GPUs are still left keeps them and never stops; the others are preempted,
 * pay a restart and may start again from one nanosecond later on.
 *
 * Jobs that are expected to arrive may stand in a plan, too: copies of jobs that came before. They take their place from the instant of their
 * arrival on. And a plan may hold back what stands at its end until a given instant, though there were room: for what is yet to come.
 *
 * Placement: `count` is a number; `consolidate`, `best_fit`, `first_fit` and `worst_fit` without bounds of CPU and memory are sets of nodes by
 * free GPUs (rollout_levels.h), copied by one memcpy; all others ask the module itself on a copy of the cluster with an undo log
 * (rollout_shadow.h).
 *
 * A lane is the room that one thread needs. It remembers the plan before: a new one that begins alike goes on from the last
 * checkpoint before they part, with the same result to the last bit.
 */
#ifndef ENGINE_ROLLOUT_H
#define ENGINE_ROLLOUT_H

#include <braid/policy.h>

enum { ROLLOUT_MOST = 1 << 15 }; /* jobs in a window */

/* What a plan comes to. Times in seconds. A term counts the jobs of the plan; with a horizon, time after it does not count. */
struct rollout_terms {
    double jct_s;          /* mean of end - submit */
    double weighted_jct_s; /* the same, by the jobs' weights */
    double makespan_s;     /* last end of the plan - now */
    double idle;           /* share of the GPU time up to then that nobody of this queue uses, 0..1 */
    double unfairness;     /* 1 - Jain's index over users of 1 / mean slowdown, 0..1 */
    double miss_rate;      /* jobs that end after their deadlines / jobs that have one */
    uint32_t n_later;      /* jobs that do not run from the first instant on, those expected aside */
};

/* Weights of the terms, >= 0; a score is their sum and the less the better. */
struct rollout_weights {
    double jct, weighted_jct, makespan, idle, unfairness, misses;
};

double rollout_score(const struct rollout_terms *t, const struct rollout_weights *w);

/* An order of `n` different jobs of the window, by their index in it: those that wait, then the victims, then what is expected. */
struct rollout_plan {
    const uint16_t *order;
    uint32_t n;
    bool is_strict;
    uint32_t n_held;                     /* the last so many of the order start at hold_ns at the soonest */
    uint32_t first_expected, n_expected; /* all expected jobs of the plan: so many of the window's from this one on */
};

/* A job that may come. */
struct rollout_expected {
    uint32_t like;    /* a job that has been submitted: the same demand, estimate, user, and time to its deadline */
    int64_t after_ns; /* from now; ascending within a plan */
};

/* What is copied. Memory is the caller's. */
struct rollout_window {
    const uint32_t *jobs; /* n_queued jobs that wait, then n_victims that run and may be preempted */
    uint32_t n_queued, n_victims;
    const double *weights; /* of each, expected ones last, for weighted_jct_s; NULL: 1 */
    const struct rollout_expected *expected;
    uint32_t n_expected;
    int64_t hold_ns;     /* after now: what plans hold back may start from then on */
    int64_t horizon_ns;  /* time ends so long after now; 0: when all jobs have ended */
    bool wants_fairness; /* unfairness is computed (else it is 0) */
};

/* Stop a plan as soon as its score must exceed `score`; NULL where a plan is wanted whole. */
struct rollout_limit {
    const struct rollout_weights *weights;
    double score;
};

struct rollout;
struct rollout_lane;

/* Room for windows of up to `most` jobs and `most_expected` more that may come, for an instance that rules one virtual cluster. NULL: memory is
 * out. rollout_destroy in `fini`. */
struct rollout *rollout_create(struct sched *s, uint32_t most, uint32_t most_expected);
void rollout_destroy(struct rollout *r);

/* Copy the present state; called in `schedule` before any verb. The policy must know ESTIMATE; deadlines count where it knows DEADLINE.
 * False: memory is out, and the run is going to fail with that. Costs O(running jobs + nodes + window). */
bool rollout_freeze(struct rollout *r, struct sched *s, const struct rollout_window *w);

/* Roll one plan out. Returns how many of its jobs had been started when the limit was passed (terms are then unset), or UINT32_MAX when it
 * was not. Costs O(plan + events x distinct demands). */
#define ROLLOUT_WHOLE UINT32_MAX
uint32_t rollout_run(struct rollout_lane *lane, const struct rollout_plan *plan, const struct rollout_limit *limit,
                     struct rollout_terms *out);

/* Of the last plan of a lane: instants of start and end by index in the window, SCHED_NEVER where it does not come. A victim that keeps its
 * GPUs starts now, one that is preempted later. */
const int64_t *rollout_starts(const struct rollout_lane *lane);
const int64_t *rollout_ends(const struct rollout_lane *lane);

/* Do task(self, lane, i) for i in 0 .. n-1 on the threads that the executor lends to the run (run_spec.threads). A task writes only
 * what belongs to i: then the result does not depend on the number of threads. False: memory ran out, and the run is going to fail. */
typedef void (*rollout_task)(void *self, struct rollout_lane *lane, uint32_t i);
bool rollout_parallel(struct rollout *r, uint32_t n, rollout_task task, void *self);

/* Room for one plan, the caller's own. */
uint16_t *rollout_scratch(struct rollout_lane *lane);

/* The lane for work outside rollout_parallel. */
struct rollout_lane *rollout_lane(struct rollout *r);

/* Jobs placed by all lanes so far, those taken over from checkpoints not counted. */
uint64_t rollout_placements(const struct rollout *r);

#endif
