/* naive.h - a second simulator, as plain as can be, that the engine and the composed policies are held against.
 *
 * It steps through time second by second, keeps who holds each single GPU in an array and looks at everything each time. It
 * shares no code with sim/ and policies/; what it follows are the rules written in braid/policy.h, policies/compose.h, policies/order.h,
 * the head of policies/compose_easy.c and cluster/placement.h. All instants of a case (submissions, durations, overheads, quantum, changes
 * of quota) are whole seconds; the unit of its clock is the nanosecond all the same, for values one nanosecond apart decide.
 *
 * Where those rules leave a choice, this one is made:
 *   - which queues are asked at an instant: those with an event of their own (arrival, completion, change of quota, alarm), and those
 *     with jobs waiting over nodes on which GPUs came free;
 *   - srtf and srsf: the value of a running job is what remained when it was (re)started, or when its safe time was found
 *     over, less the time since: overhead that it pays meanwhile counts as if it were work;
 *   - quantum: that a job's safe time is over is found in the first round in which jobs wait.
 */
#ifndef TESTS_ENGINE_NAIVE_H
#define TESTS_ENGINE_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAIVE_JOBS = 64, NAIVE_NODES = 8, NAIVE_GPUS = 8, NAIVE_VCS = 4, NAIVE_CHANGES = 4, NAIVE_USERS = 3 };

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
    N_RACK_LOCAL, /* with a single rack */
    N_YARN,       /* with a single rack, nodes alike and no bounds of CPU and memory */
    N_PLACEMENTS
};
extern const char *const naive_order_names[N_ORDERS], *const naive_fill_names[N_FILLS],
                                                          *const naive_preempt_names[N_PREEMPTS],
                                                              *const naive_placement_names[N_PLACEMENTS];

struct naive_case;
struct world; /* naive_world.h */
struct test_case;

/* A named policy that is no composition of the parts above. */
struct naive_rules {
    const char *policy;
    void (*params)(const struct naive_case *c, struct test_case *t); /* NULL: its defaults */
    void (*schedule)(struct world *w, int vc);                       /* what naive_schedule does for a composition */
};

enum naive_status { N_FINISHED, N_UNFINISHED, N_REJECTED, N_KILLED };

/* Times in nanoseconds, whole seconds. */
struct naive_job {
    int64_t submit, duration, estimate;
    int64_t dice; /* order random: its value */
    uint32_t gpus;
    int vc;           /* -1: one that is not listed */
    int user;         /* 0 … NAIVE_USERS - 1 */
    int64_t deadline; /* -1: none */
    double priority;
};

struct naive_vc {
    bool is_quota, gives_way; /* gives_way: shrink: preempt */
    uint32_t amount;          /* nodes, or GPUs at first */
    uint32_t n_changes;
    int64_t change_at[NAIVE_CHANGES]; /* after the first submission */
    uint32_t change_to[NAIVE_CHANGES];
};

struct naive_case {
    uint32_t n_nodes, gpus[NAIVE_NODES];
    uint32_t n_vcs; /* 0: one queue over all */
    struct naive_vc vcs[NAIVE_VCS];
    uint32_t n_jobs;
    struct naive_job jobs[NAIVE_JOBS]; /* by rank */
    const struct naive_rules *rules;   /* NULL: order, fill and preempt */
    enum naive_order order;
    enum naive_fill fill;
    enum naive_preempt preempt;
    enum naive_placement placement;
    int64_t quantum, ageing, start_overhead, restart_overhead;
    bool by_gpu_time, kills; /* kills: estimate.on_exceed: kill */
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
