/* naive.h - a second simulator, as plain as can be, that the engine and the composed policies are held against.
 *
 * It steps through time second by second (up to the next instant where those are no whole seconds: naive_rules.is_fine), keeps who
 * holds each single GPU in an array and looks at everything each time. It shares no code with sim/ and policies/; what it follows are the
 * rules written in braid/policy.h, policies/compose.h, policies/order.h, the head of policies/compose_easy.c and cluster/placement.h. All
 * instants of a case (submissions, durations, overheads, quantum, changes of quota) are whole seconds; the unit of its clock is the
 * nanosecond all the same, for values one nanosecond apart decide.
 *
 * Where those rules leave a choice, this one is made:
 *   - which queues are asked at an instant: those with an event of their own (arrival, completion, change of quota, alarm), and those
 *     with jobs waiting over nodes on which GPUs came free;
 *   - srtf and srsf: the value of a running job is what remained when it was (re)started, or when its safe time was found
 *     over, less the time since: overhead that it pays meanwhile counts as if it were work;
 *   - quantum: that a job's safe time is over is found in the first round in which jobs wait;
 *   - who would displace others and cannot, however many give way, touches nobody;
 *   - where values jump (tiresias, mlfq, gittins) who is displaced goes to another place if it can, worse ones that were named giving
 *     way; else it counts as running, before its equals, until the round is over;
 *   - EASY's reservation and the reasons of rejections go by the rule of the placement: that yarn keeps to one rack is seen only by a start;
 *   - placements that draw: the reference takes the places that were drawn, and looks whether the rule allows them.
 * The named policies (naive_rules.h) have theirs in the heads of their sources.
 */
#ifndef TESTS_ENGINE_NAIVE_H
#define TESTS_ENGINE_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    NAIVE_JOBS = 64,
    NAIVE_NODES = 8,
    NAIVE_GPUS = 8,
    NAIVE_VCS = 4,
    NAIVE_CHANGES = 4,
    NAIVE_USERS = 3,
    NAIVE_OWN = 8,
    NAIVE_PICKS = 4096
};

/* The names are those of the parts of a policy and of the placement modules, in the same order as naive_*_names. */
enum naive_order {
    N_FIFO,
    N_SJF,
    N_LJF,
    N_SMALLEST,
    N_SRTF,
    N_SRSF,
    N_QSSF,
    N_LONGEST_WAITING,
    N_PRIORITY,
    N_ROUND_ROBIN,
    N_LAS,
    N_RANDOM,
    N_EDF,
    N_LEAST_LAXITY,
    N_RR_SJF,
    N_CRITICAL_PATH,
    N_ORDERS
};
enum naive_fill { N_STRICT, N_SKIP, N_EASY, N_FILLS };
enum naive_preempt { N_NEVER, N_WHEN_BETTER, N_QUANTUM, N_PREEMPTS };
enum naive_placement {
    N_CONSOLIDATE,
    N_FIRST_FIT,
    N_BEST_FIT,
    N_WORST_FIT,
    N_SPREAD,
    N_COUNT,
    N_TURNS, /* round_robin */
    N_LEAST_LOADED,
    N_RACK_LOCAL,
    N_YARN,     /* with nodes alike and no bounds of CPU and memory */
    N_WEIGHTED, /* weighted_round_robin */
    N_ANY,      /* random */
    N_POWER_OF_TWO,
    N_PLACEMENTS
};
extern const char *const naive_order_names[N_ORDERS], *const naive_fill_names[N_FILLS],
                                                          *const naive_preempt_names[N_PREEMPTS],
                                                              *const naive_placement_names[N_PLACEMENTS];

struct naive_case;
struct naive_dice; /* naive_match.h */
struct world;      /* naive_world.h */
struct test_case;

/* A named policy that is no composition of the parts above. */
struct naive_rules {
    const char *policy;
    void (*params)(const struct naive_case *c, struct test_case *t); /* NULL: its defaults */
    void (*schedule)(struct world *w, int vc);                       /* what naive_schedule does for a composition */
    bool is_one;                                                     /* one queue over all virtual clusters */
    void (*roll)(struct naive_case *c, struct naive_dice *d);        /* parameters of its own; NULL: none */
    void (*begin)(struct world *w); /* before anything happens; NULL: nothing to be done */
    /* For one that is a composition with a rule of its own, by naive_schedule, each where it is needed: */
    int64_t (*value)(struct world *w, uint32_t j, bool is_running); /* the smallest comes first */
    bool is_composition;                                            /* of the parts above, by another name */
    bool
        jumps; /* values stand still but jump: who is displaced may go elsewhere, and counts as running until the round is over */
    bool is_fine; /* its instants are no whole seconds: time passes up to whatever happens next */
    int64_t (*slice)(const struct world *w, uint32_t j);  /* time that a started job is safe, instead of the quantum */
    void (*enter)(struct world *w, uint32_t j);           /* it enters the queue */
    void (*starts)(struct world *w, uint32_t j);          /* it was given GPUs, be it those it had */
    void (*round)(struct world *w, int queue);            /* a round is about to begin */
    void (*pass)(struct world *w, int64_t ns);            /* time is about to pass */
    int64_t (*next)(const struct world *w, int queue);    /* when to ask again while jobs wait; INT64_MAX: never */
    bool (*is_hidden)(const struct world *w, uint32_t j); /* it waits, but is not yet in the queue */
    void (*capacity)(struct world *w, int queue);         /* a quota has changed */
    void (*ends)(struct world *w, uint32_t j);            /* a running job has ended */
};

enum naive_status { N_FINISHED, N_UNFINISHED, N_REJECTED, N_KILLED };

/* Times in nanoseconds, whole seconds. */
struct naive_job {
    int64_t submit, duration, estimate;
    int64_t dice; /* order random: its value */
    uint32_t gpus;
    int vc;             /* -1: one that is not listed */
    int user;           /* 0 … NAIVE_USERS - 1 */
    uint32_t cpu_milli; /* of the whole job, as is … */
    uint64_t mem_kib;   /* … this: both the same for each GPU, exactly */
    uint32_t type;      /* of GPUs; 0: any */
    int64_t deadline;   /* -1: none */
    int waits_for;      /* 1 + an earlier job that must finish first; 0: none */
    int64_t recorded;   /* start in the trace; -1: none */
    double priority;
};

struct naive_vc {
    bool is_quota, gives_way; /* gives_way: shrink: preempt */
    uint32_t amount;          /* nodes, or GPUs at first */
    uint32_t n_changes;
    int64_t change_at[NAIVE_CHANGES]; /* after the first submission */
    uint32_t change_to[NAIVE_CHANGES];
};

/* A place that a module drew: as it came out of the engine. */
struct naive_pick {
    uint32_t gpus, take[NAIVE_NODES];
};

struct naive_case {
    uint32_t n_nodes, gpus[NAIVE_NODES];
    uint32_t cpu_milli[NAIVE_NODES]; /* 0: no bound; nor is there where it is never reached */
    uint64_t mem_kib[NAIVE_NODES];
    uint32_t type[NAIVE_NODES]; /* of GPUs; 0: without a name */
    uint32_t n_vcs;             /* 0: one queue over all */
    struct naive_vc vcs[NAIVE_VCS];
    uint32_t n_jobs;
    struct naive_job jobs[NAIVE_JOBS]; /* by rank */
    const struct naive_rules *rules;   /* NULL: order, fill and preempt */
    enum naive_order order;
    enum naive_fill fill;
    enum naive_preempt preempt;
    enum naive_placement placement;
    int64_t quantum, ageing, start_overhead, restart_overhead;
    int64_t window;                 /* order rr_sjf */
    uint32_t nodes_per_rack;        /* 0: one rack */
    uint32_t draws;                 /* placement power_of_two */
    double own[NAIVE_OWN];          /* parameters of the rules */
    const struct naive_pick *picks; /* placements that draw */
    uint32_t n_picks;
    bool is_told;              /* what happens is printed */
    bool has_bounds;           /* CPU and memory bind */
    bool has_types;            /* of GPUs */
    bool ends_now;             /* overrun: now, else double */
    bool has_chains;           /* some jobs wait for others */
    bool may_admit, admission; /* feasible; may: whether cases are rolled with it */
    bool by_gpu_time, kills;   /* kills: estimate.on_exceed: kill */
};

struct naive_result {
    int64_t start, end; /* -1: never; the end of an unfinished job is not told */
    int64_t run, overhead;
    uint32_t preemptions, moves, restarts;
    enum naive_status status;
    const char *reason;
};

void naive_run(const struct naive_case *c, struct naive_result *out);

#endif
