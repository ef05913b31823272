/* sim.h - the inside of one run, shared by the files of this room and by nobody else.
 *
 *   run.c       set-up, the clock, rounds
 *   events.c    what completions, capacity changes, arrivals and timers do
 *   stage.c     the verbs of a policy: staged, then settled
 *   hold.c      who shares which GPUs: jobs alone, and groups
 *   sched.c     the accessors of a policy
 *   estimate.c  what a policy may know of a job's length
 *   totals.c    integrals over time
 *   limits.c    the most GPUs that can be held at once
 *   counts.c    what counts of GPUs do not tell
 *   stuck.c     policies that get nowhere
 *   depend.c    jobs that wait for other jobs
 *   books.c     --check
 *
 * Order of one instant:
 *
 *   | round | class        | order inside a class | applied by       |
 *   |-------|--------------|----------------------|------------------|
 *   |   any | 0 completion | rank                 | event_completion |
 *   |   any | 1 fault      | node                 | (to come)        |
 *   | first | 2 capacity   | virtual cluster      | event_capacity   |
 *   | first | 3 arrival    | rank                 | event_arrival    |
 *   |   any | 4 timer      | instance             | event_timer      |
 *
 * then each touched instance is asked once, in order of instance. What that makes at the same instant (a zero-length job) is
 * the next round.
 */
#ifndef ENGINE_SIM_H
#define ENGINE_SIM_H

#include "base/arena.h"
#include "engine/evq.h"
#include "engine/hold.h"
#include "engine/run.h"

#include <gsl/gsl_rng.h>

enum event_class { EVENT_COMPLETION, EVENT_FAULT, EVENT_CAPACITY, EVENT_ARRIVAL, EVENT_TIMER };

enum { WHY_MAX = 160 };

/* What the verbs of this round did to one job so far; its present staged state is in the job table. */
struct staged {
    uint32_t job;
    uint32_t old_alloc; /* its handle before the round when it was running, else ALLOC_NONE */
    bool was_running;
    char *why; /* WHY_MAX bytes when decisions are watched, else NULL */
};

struct reservation {
    uint32_t node, gpus, cpu_milli;
    uint64_t mem_kib;
};

/* One policy instance: a virtual cluster's queue, or the one over all. */
struct sched {
    struct sim *sim;
    void *self;
    const char *name;
    uint32_t index;
    uint32_t vc;        /* of the cluster; NAMES_NONE when it rules all */
    uint32_t partition; /* of its VC; NAMES_NONE when it rules all */
    gsl_rng *rng, *placement_rng;
    int64_t wake_ns; /* pending timer, SCHED_NEVER */
    uint32_t queued_jobs, running_jobs;
    uint64_t queued_gpus;
    uint32_t running_first, running_last;
    bool is_touched, in_schedule;
    bool is_blocked; /* in the last round a start or probe failed for want of room */
    struct reservation *reserved;
    uint32_t n_reserved, reserved_room;
    char because[WHY_MAX];
};

struct capacity_change {
    int64_t at_ns;
    uint32_t vc, gpus;
};

/* Sums of GPU-ns; 128 bits hold 10^5 GPUs over 10^5 years. */
struct totals_state {
    int64_t at_ns; /* integrated up to here */
    unsigned __int128 allocated, capacity, free, useless;
    double imbalance, imbalance_span;
    double imbalance_now; /* sd/mean at present */
    bool is_idle;         /* nothing allocated at present */
    uint64_t allocated_gpus, capacity_gpus, free_gpus, useless_gpus; /* at present */
    bool has_window;
};

/* Instants in a row at which nothing happened but that the policy woke itself. */
struct idle {
    uint64_t n, done; /* done: what had happened by then, as a count */
    int64_t since_ns;
};

#define DEPEND_FAILED UINT32_MAX

/* Jobs that must have finished before others (depend.c). All NULL where the workload has no dependencies. */
struct sim_depend {
    uint32_t *missing;      /* per job: predecessors that have not finished; DEPEND_FAILED: one never will */
    uint32_t *first, *next; /* successors */
    uint32_t *order;        /* all jobs, predecessors first */
    int64_t *chain_ns;      /* per job, once somebody asked */
};

struct sim {
    const struct run_spec *spec;
    const struct workload *w;
    struct cluster *cluster;
    const struct placement_ops *placement;
    void *placement_self;
    bool is_packed;
    const struct policy_ops *ops;
    struct arena arena; /* everything but the result */

    int64_t now_ns;
    struct job *jobs;
    struct evq events;
    uint32_t next_arrival;
    struct capacity_change *changes;
    uint32_t n_changes, next_change;

    struct demand *demands;
    uint32_t n_demands, demands_room;
    uint32_t *demand_slots;
    uint32_t n_demand_slots;
    const uint32_t *vc_of; /* workload VC -> cluster VC, NAMES_NONE: not listed */
    const char **never; /* [vc * n_demands + demand]: why it can never run; NULL: it can; `unknown` not computed */
    int64_t *estimate_ns; /* per job, or NULL: the true duration */
    struct user_means *user_means; /* source user_mean */
    struct sim_depend depend;

    struct sched *instances;
    uint32_t n_instances;
    uint32_t *touched; /* instances to ask in this round */
    uint32_t n_touched;
    uint32_t *asked; /* those asked in the last round */
    uint32_t n_asked;
    uint32_t *partition_first; /* instances of partition p: partition_instances[first[p] .. first[p+1]) */
    uint32_t *partition_instances;

    struct staged *staged;
    uint32_t n_staged, staged_room;
    struct hold *holds; /* by handle of the cluster */
    uint32_t holds_room, n_groups;
    uint32_t *dirty; /* holds whose members changed in this round */
    uint32_t n_dirty, dirty_room;
    struct place *places; /* room for one pick */
    uint32_t places_room;
    uint32_t *checked_nodes; /* --check: nodes touched since the last check */
    uint32_t n_checked, checked_room;

    uint64_t n_queued, n_running, n_done, n_arrived;
    uint64_t n_status[JOB_STATUSES];
    uint64_t last_full_check;
    struct crew *crew;    /* helpers of rollouts (rollout_crew.h); NULL while none is needed */
    uint32_t n_rollouts;
    struct idle idle;
    uint32_t n_fruitless; /* preemptions and moves in a row of jobs that had done nothing since their last start */

    struct totals_state state;
    struct run_totals totals;
    struct error *err; /* of the run; the first failure wins */
    bool has_failed;
};

/* The end of time: 292 years. What would come later comes then, and a run that gets there fails. */
#define TIME_LAST (INT64_MAX - 1)

static inline int64_t time_after(int64_t t, int64_t dt)
{
    int64_t sum;
    return __builtin_add_overflow(t, dt, &sum) || sum > TIME_LAST ? TIME_LAST : sum;
}

static inline uint32_t sim_gpus(const struct sim *sim, uint32_t job)
{
    return sim->w->gpus[job];
}

/* The cluster's VC of a job; it is listed (other jobs never reach an instance). */
static inline uint32_t sim_vc(const struct sim *sim, uint32_t job)
{
    return sim->vc_of[sim->w->vc[job]];
}

/* The run failed: remember the first reason. */
void sim_fail(struct sim *sim, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Ask `s` in this round. */
void sim_touch(struct sim *sim, struct sched *s);
/* Room came free in `partition`: touch every instance over it that has jobs waiting. */
void sim_touch_partition(struct sim *sim, uint32_t partition);

/* events.c */
void event_completion(struct sim *sim, uint32_t job);
void event_capacity(struct sim *sim, const struct capacity_change *change);
void event_arrival(struct sim *sim, uint32_t job);
void event_timer(struct sim *sim, uint32_t instance);
/* The work, time and GPU-time of a running job up to now; a segment ends here. */
void job_settle(struct sim *sim, uint32_t job);
/* Tell the watcher of the time that a queued job has waited since it entered the queue. */
void job_emit_queued(const struct sim *sim, uint32_t job);
/* A job leaves for good with `status`. */
void job_done(struct sim *sim, uint32_t job, enum job_status status, const char *reason);
/* The running jobs of an instance, in order of start (a move is none); kept when verbs are settled. */
void job_link(struct sched *s, struct job *jobs, uint32_t job);
void job_unlink(struct sched *s, struct job *jobs, uint32_t job);
/* When work of the present segment began or begins: at its start, or when the overhead is over. */
static inline int64_t job_work_from_ns(const struct job *j)
{
    return j->overhead_until_ns > j->since_ns ? j->overhead_until_ns : j->since_ns;
}

/* From now on a running job does `rate` ns of work a ns; a segment ends here when that is a change. */
void job_set_rate(struct sim *sim, uint32_t job, double rate);
/* When a running job will end: its work done, or its estimate used up under on_exceed: kill. */
int64_t job_end_ns(const struct sim *sim, uint32_t job);

/* stage.c: settle what `schedule` of `s` staged. */
void stage_settle(struct sim *sim, struct sched *s);
/* Take a running job from its GPUs outside `schedule` (quota shrank, fault). */
void stage_requeue(struct sim *sim, uint32_t job, enum cause why);

/* Would it fit where it might go, now? Counts nothing. */
bool stage_fits(struct sched *s, uint32_t job);

/* stuck.c: each fails the run when it goes nowhere. */
bool stuck_in_rounds(struct sim *sim, uint64_t rounds); /* so many at this instant */
void stuck_note_leave(struct sim *sim,
                      bool has_worked); /* a job lost its GPUs or was moved; had it done anything there? */
void stuck_look(struct sim *sim);       /* after an instant */
/* At the end, when nothing will ever happen again: how many jobs wait that would fit (totals.forgotten). O(jobs) */
void stuck_count_forgotten(struct sim *sim);

/* estimate.c */
int estimate_prepare(struct sim *sim, struct error *err);
void estimate_on_submit(struct sim *sim, uint32_t job);
void estimate_on_finish(struct sim *sim, uint32_t job);
static inline int64_t estimate_of(const struct sim *sim, uint32_t job)
{
    return sim->estimate_ns != NULL ? sim->estimate_ns[job] : sim->w->duration_ns[job];
}

/* depend.c */
int depend_prepare(struct sim *sim, struct error *err);
void depend_on_done(struct sim *sim, uint32_t job, enum job_status status); /* where there are dependencies */
int64_t depend_chain_ns(struct sim *sim, uint32_t job); /* the longest chain of estimates that begins with `job` */

/* totals.c */
void totals_begin(struct sim *sim);
/* `job` did `work` ns of work: the resources of its profile worked as long as an iteration says. */
void totals_work(struct sim *sim, uint32_t job, double work);
void totals_advance(struct sim *sim, int64_t to_ns); /* integrate the present levels up to `to_ns` */
void totals_update(struct sim *sim);                 /* take the levels after a change */
void totals_window(struct sim *sim);                 /* the last submission is now */
void totals_makespan(struct sim *sim);               /* a job ended now */
void totals_end(struct sim *sim);
/* What a virtual cluster, and all of them together, may use at present (run_levels). O(virtual clusters). */
uint64_t totals_vc_capacity_gpus(const struct sim *sim, uint32_t vc);
uint64_t totals_capacity_gpus(const struct sim *sim);

/* limits.c: false when memory is out. Before the first event. */
bool limits_fill(const struct sim *sim, struct run_limits *out, struct arena *results);

/* books.c: nodes of `handle` are to be checked after this instant; then the checks. */
void books_note(struct sim *sim, uint32_t handle);
void books_check(struct sim *sim);
void books_check_all(struct sim *sim);

static inline void sim_decision(const struct sim *sim, enum decision_kind kind, uint32_t job, const char *why)
{
    const struct run_watch *watch = &sim->spec->watch;
    if (watch->decision != NULL)
        watch->decision(watch->self, sim->now_ns, kind, job, job == JOB_NIL ? NAMES_NONE : sim->w->vc[job],
                        why != NULL ? why : "");
}

#endif
