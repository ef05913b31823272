/* run.h - run(spec) -> result: one simulation as a value. Nothing is shared and nothing is global; several may run at
 * once on several threads over the same read-only workload.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "cluster/placement.h"
#include "engine/job.h"
#include "model/overhead.h"
#include "model/profile_view.h"
#include "model/sharing.h"
#include "traces/workload.h"

#include <braid/policy.h>

enum estimate_source { ESTIMATE_EXACT, ESTIMATE_TRACE, ESTIMATE_NOISE, ESTIMATE_USER_MEAN, ESTIMATE_FILE };
enum estimate_exceed { ESTIMATE_RUN_ON, ESTIMATE_KILL };

struct estimate_spec {
    enum estimate_source source;
    double sigma;     /* noise: estimate = duration * exp(sigma * N(0, 1)) */
    const char *path; /* file: csv with columns id, estimate (seconds) */
    const char *path_shown;
    enum estimate_exceed on_exceed; /* kill: a job ends with status killed when its run time reaches the estimate */
};

/* A policy as the config names it, its parameters in the order of ops->params. */
struct policy_spec {
    const struct policy_ops *ops;
    const union param *params;
    const char *label; /* what tables and figures call it; default: the name */
    void *library;     /* the plugin's dlopen handle, or NULL */
};

#define RUN_NO_LIMIT INT64_MAX

struct stop_spec {
    int64_t at_ns;  /* horizon; RUN_NO_LIMIT */
    uint32_t queue; /* stop when more jobs than this wait; UINT32_MAX: never */
};

/* Metrics count jobs submitted in [from + warm_up, to). */
struct measure_spec {
    int64_t from_ns, to_ns, warm_up_ns; /* from: default first submission; to: RUN_NO_LIMIT */
    bool has_from;
};

/* Watchers of a run; each may be NULL. Called in the order of simulated time; they must not touch the run. */
enum segment_kind { SEGMENT_OVERHEAD, SEGMENT_RUN, SEGMENT_QUEUED };

enum decision_kind {
    DECISION_SUBMIT,
    DECISION_START,
    DECISION_RESUME,
    DECISION_PREEMPT,
    DECISION_MOVE,
    DECISION_REJECT,
    DECISION_FINISH,
    DECISION_KILL,
    DECISION_REQUEUE,
    DECISION_CAPACITY /* job = UINT32_MAX */
};
const char *decision_kind_text(enum decision_kind k);

/* The state of one queue (policy instance, i.e. VC) after an instant.
 *
 * What a virtual cluster may use is its quota; under `shrink: drain` it may hold more than a quota that shrank, and then it has what it
 * holds: max(quota, held). Several that share nodes have together no more than the nodes. So nothing is ever used by more than 1. */
struct run_levels {
    uint32_t queued_jobs, running_jobs;
    uint32_t allocated_gpus, capacity_gpus;
    uint64_t all_capacity_gpus; /* of all queues together */
    uint64_t queued_gpus;       /* demand of the queued jobs */
};

struct run_watch {
    void *self;
    /* `group`: number of the group that the job shares its GPUs with, UINT32_MAX when it is alone. */
    void (*segment)(void *self, uint32_t job, int64_t begin_ns, int64_t end_ns, enum segment_kind kind, double rate,
                    uint32_t group, const struct span *spans, uint32_t n_spans);
    void (*decision)(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc, const char *why);
    void (*levels)(void *self, int64_t at_ns, uint32_t instance, const struct run_levels *levels);
    /* A number of the policy's own: sched_observe. `name` is the policy's. */
    void (*observe)(void *self, int64_t at_ns, uint32_t instance, const char *name, double value);
};

enum { KNOWS_BITS = 8 };

struct compat_ops; /* compat/compat.h */

struct run_spec {
    const struct workload *workload;    /* scaled; read only */
    const struct cluster_spec *cluster; /* loaded */
    struct policy_spec policy;
    struct placement_spec placement;
    struct estimate_spec estimate;
    struct overhead_spec overhead;       /* model: {start_overhead, restart_overhead} */
    const struct sharing_model *sharing; /* NULL: jobs never share GPUs */
    const struct profile_view *seen;     /* what policies see of the stage times; NULL: the truth */
    struct measure_spec measure;
    struct stop_spec stop;
    uint64_t seed;
    bool check; /* books after every event, everything every 4,096 events and at the end */
    struct run_watch watch;
    uint32_t threads; /* that the policy may use inside the run; 0 and 1: only the caller's. Changes no result */
    const volatile int *cancel;      /* non-zero: stop soon with BRAID_FAILED, "interrupted"; may be NULL */
    bool is_trial;                   /* set up and nothing more (run_try) */
    const struct compat_ops *compat; /* another simulator's semantics; NULL: the engine's own */
};

/* Integrals over simulated time that the metrics need; capacity as in run_levels. "window" is first to last submission, or to the moment at
 * which `stop` ended the run, if that was before; "makespan" is first submission to `used_until_ns`. No job does any work beyond it, so what
 * is summed over jobs is over the same time. */
struct run_totals {
    double capacity_gpu_ns_window, capacity_gpu_ns_makespan; /* over the VCs that the policy rules */
    double allocated_gpu_ns_window, allocated_gpu_ns_makespan;
    double useless_gpu_ns,
        free_gpu_ns;     /* fragmentation: free GPUs of queues whose head found no place; all free GPUs */
    double imbalance_ns; /* integral of sd/mean of GPUs allocated a node, while any is */
    double imbalance_span_ns;
    /* storage, CPU, GPU, network: time that each worked for jobs, x the GPUs of the job (every GPU brings its share of the other resources);
     * 0 where the trace has no stage times */
    double resource_gpu_ns[WORKLOAD_STAGES];
    uint64_t events, rounds, decisions, decision_ops; /* decision_ops: verbs and probes */
    int64_t first_submit_ns, last_submit_ns, last_end_ns;
    int64_t used_until_ns; /* the last end, or the last moment at which a job that has none held GPUs */
    int64_t stop_ns;       /* the last moment that was simulated */
    uint64_t forgotten;    /* jobs that still waited when nothing ran and nothing was to come, and that fitted */
    uint32_t
        undeclared[KNOWS_BITS]; /* how often the policy asked for what its `knows` does not declare, by bit of it */
    bool is_overloaded;         /* ended by stop.queue */
    bool is_cut;                /* ended by stop.queue or by stop.at: something was still to come */
};

/* How many GPUs jobs can hold at once, at the most, over the whole run: what lower bounds rest on. */
struct run_limits {
    bool are_known;               /* false: another simulator's semantics, and all else is empty */
    bool are_shared;              /* a sharing model let jobs share GPUs */
    uint32_t n_partitions, n_vcs; /* of the cluster */
    const uint32_t *partition_gpus;
    const uint32_t *vc_partition, *vc_gpus; /* by VC of the cluster: its nodes' partition, its largest quota */
    const uint32_t *vc_of;                  /* VC of the workload -> VC of the cluster; NAMES_NONE: not listed */
};

struct run_result {
    uint32_t n_jobs;
    struct job *jobs; /* by rank; owned by the result */
    uint32_t n_instances;
    const char **instance_names; /* VC name of each queue, "" for the one over all */
    struct run_totals totals;
    struct run_limits limits;
    bool
        has_element_quantiles; /* quantile p of n values is their element floor(p n), as in the Muri simulator; else between two */
    struct arena *arena; /* owner of everything; run_result_fini frees */
};

/* Simulate. Errors: BRAID_BAD_INPUT (the cluster or a policy refuses its parameters), BRAID_FAILED (memory, books that do not
 * balance under `check`, a policy that breaks a rule, interrupted). On error `out` is empty. */
int run(struct run_result *out, const struct run_spec *spec, struct error *err);

/* Would `run` refuse this before its first event? BRAID_OK, or the error that it would end with. O(jobs). Another simulator's semantics are not
 * looked at. */
int run_try(const struct run_spec *spec, struct error *err);
void run_result_fini(struct run_result *r);

#endif
