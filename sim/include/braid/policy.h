/* policy.h - what a scheduling policy is and what it may do. Built-in policies and `.so` plugins use this header alone.
 *
 * The engine asks a policy once a *round*. All events of an instant (completions, faults, capacity changes,
 * arrivals, timers, in this order) are applied first, then `schedule` is called once for each instance whose virtual
 * cluster was touched. Inside `schedule` the verbs are *staged*: they act on the cluster at once, so that `probe` and
 * `start` see each other's effect, and are settled when `schedule` returns. A job that was preempted and started again on
 * the same GPUs in one round was never touched; on other GPUs it was moved once. A policy may therefore rebuild its
 * whole plan each round at no false cost. Outside `schedule` (in the other callbacks) a policy only keeps its own books.
 *
 * A job is a handle, 0 .. sched_n_jobs() - 1: its rank after sorting by submission. Ranks are the tie-break of
 * everything. Times are integer nanoseconds from time 0 of the trace; GPUs are whole numbers.
 *
 * What a policy may know is declared in `knows` and enforced: an accessor that was not declared returns
 * SCHED_E_UNDECLARED and leaves its output alone.
 */
#ifndef BRAID_POLICY_H
#define BRAID_POLICY_H

#include <braid/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define BRAID_POLICY_ABI 1u
#define SCHED_NEVER INT64_MAX /* an instant that does not come */

struct sched; /* one policy instance's window on the engine */

/* What a policy asks to know of the jobs (bits). Submission, demand, user, priority, attained service are always open. */
enum knows {
    KNOWS_NOTHING = 0,
    KNOWS_DURATION = 1, /* the true run time: for oracles only */
    KNOWS_ESTIMATE = 2, /* the run time as `estimate:` of the config gives it (default: exact) */
    KNOWS_PROFILE = 4,  /* stage times of an iteration */
    KNOWS_DEADLINE = 8,
    KNOWS_RECORD = 16, /* the trace's own start times (for `recorded`) */
};

/* Whether each virtual cluster has an instance of its own or one instance rules them all. */
enum scope { SCOPE_VC, SCOPE_CLUSTER };

/* Why a job came back to the queue. */
enum cause {
    CAUSE_PREEMPTED, /* by this policy's own verb */
    CAUSE_CAPACITY,  /* the quota of its virtual cluster shrank (`shrink: preempt`) */
    CAUSE_FAULT,
};

/* Results of accessors and verbs. */
enum sched_code {
    SCHED_OK = 0,
    SCHED_E_NO_FIT,     /* not enough free capacity, or none in the shape that the placement wants */
    SCHED_E_STATE,      /* the job is not in a state for this verb (start of a running job, …) */
    SCHED_E_SCOPE,      /* the job or node does not belong to this instance */
    SCHED_E_UNDECLARED, /* not in `knows` */
    SCHED_E_ABSENT,     /* the trace does not say */
    SCHED_E_TIME,       /* wake_at in the past or present */
    SCHED_E_CALL,       /* a verb outside `schedule` */
    SCHED_E_ARGUMENT,   /* a malformed list of GPUs */
};
const char *sched_code_text(int code);

/* ---- parameters: a typed table from which the config is checked and docs are made ------------------- */

enum param_type {
    PARAM_INT,     /* .i */
    PARAM_NUMBER,  /* .f */
    PARAM_TIME,    /* .i, nanoseconds; in YAML "30 s", a bare number is seconds; range in seconds */
    PARAM_BOOL,    /* .b */
    PARAM_TEXT,    /* .s */
    PARAM_CHOICE,  /* .s, one of `choices` ("a|b|c") */
    PARAM_NUMBERS, /* .list, ascending or not as `help` says; range for each */
    PARAM_PATH,    /* .s, a file beside the config; "" = none */
};

struct param_spec {
    const char *name;
    enum param_type type;
    const char *def;     /* the default as YAML text; NULL = required */
    double min, max;     /* inclusive; both 0 = no range */
    const char *unit;    /* "s", "GPU s", "" */
    const char *choices; /* PARAM_CHOICE only */
    const char *help;
};

union param {
    int64_t i;
    double f;
    bool b;
    const char *s;
    struct {
        const double *v;
        uint32_t n;
    } list;
};

/* ---- the policy ------------------------------------------------------------------------------- */

struct policy_ops {
    uint32_t abi_version, size; /* BRAID_POLICY_ABI, sizeof(struct policy_ops): checked when loaded */
    const char *name, *summary, *source;
    uint32_t knows; /* enum knows bits */
    enum scope scope;
    const struct param_spec *params;
    size_t n_params;
    size_t state_size; /* bytes of `self`, zeroed; the engine owns the memory */
    /* v[i] is the value of params[i]; texts and lists live as long as the run. Non-zero: fill `err`, whose code is the run's. */
    int (*init)(void *self, struct sched *s, const union param *v, struct error *err);
    void (*fini)(void *self);                                  /* the callbacks from here on are optional, … */
    void (*on_submit)(void *self, struct sched *s, uint32_t job);  /* a job entered the queue */
    void (*on_finish)(void *self, struct sched *s, uint32_t job);  /* a running job ended; its GPUs are free */
    void (*on_requeue)(void *self, struct sched *s, uint32_t job, enum cause why);
    void (*on_capacity)(void *self, struct sched *s); /* nodes or quota came or went */
    void (*on_timer)(void *self, struct sched *s);    /* an instant asked for with wake_at has come */
    void (*schedule)(void *self, struct sched *s);    /* … but this one: once a round */
};

/* A plugin exports one function of this name: `const struct policy_ops *braid_policy(void);` */
#define BRAID_POLICY_SYMBOL "braid_policy"

/* ---- accessors --------------------------------------------------------------------------------- */

int64_t sched_now(const struct sched *s);
uint32_t sched_n_jobs(const struct sched *s); /* of the whole trace: for sizing tables */
uint64_t sched_random(struct sched *s);       /* 32 random bits of this instance's own stream */
void *sched_alloc(struct sched *s, size_t count, size_t size); /* zeroed memory of the run, never freed; NULL when out */

/* State of a job as the policy sees it. */
bool sched_is_queued(const struct sched *s, uint32_t job);
bool sched_is_running(const struct sched *s, uint32_t job);

int64_t sched_submit_ns(const struct sched *s, uint32_t job);
uint32_t sched_gpus(const struct sched *s, uint32_t job);
uint32_t sched_demand(const struct sched *s, uint32_t job); /* index of the job's distinct demand (GPUs, CPU, memory, type) */
uint32_t sched_n_demands(const struct sched *s);
uint32_t sched_vc(const struct sched *s, uint32_t job);
uint32_t sched_user(const struct sched *s, uint32_t job);
/* CPU (1/1000 cores) and host memory of the whole job; 0 where the trace does not say. */
uint32_t sched_cpu_milli(const struct sched *s, uint32_t job);
uint64_t sched_memory_kib(const struct sched *s, uint32_t job);
/* The users and virtual clusters of the trace, in natural order of their names, which live as long as the run. */
uint32_t sched_n_users(const struct sched *s);
uint32_t sched_n_vcs(const struct sched *s);
const char *sched_user_name(const struct sched *s, uint32_t user);
const char *sched_vc_name(const struct sched *s, uint32_t vc);
double sched_priority(const struct sched *s, uint32_t job); /* 0 where the trace has none */
int64_t sched_attained_ns(const struct sched *s, uint32_t job);        /* time it has held GPUs, now included */
int64_t sched_attained_gpu_ns(const struct sched *s, uint32_t job);    /* GPU-time held, now included */
int64_t sched_queued_ns(const struct sched *s, uint32_t job);          /* time without GPUs since submission */
int64_t sched_since_ns(const struct sched *s, uint32_t job); /* when it entered the queue, or got the GPUs that it holds */
uint32_t sched_starts(const struct sched *s, uint32_t job);  /* how often it was started or resumed */

/* Whole predicted run time alone, overhead not included (ESTIMATE); the true one (DURATION). */
int sched_estimate_ns(const struct sched *s, uint32_t job, int64_t *out);
int sched_duration_ns(const struct sched *s, uint32_t job, int64_t *out);
/* Predicted productive time that remains (ESTIMATE): estimate minus work done, at least 1 ns. */
int sched_remaining_ns(const struct sched *s, uint32_t job, int64_t *out);
/* Predicted time from now to its end if it runs on (running) or starts now (queued), overhead included (ESTIMATE). */
int sched_run_ns(const struct sched *s, uint32_t job, int64_t *out);
/* The same two for a job that may be beyond its estimate: where that is used up it is predicted to go on until the time that it has held GPUs has
 * doubled since then, but for a second at least; then until it has doubled again (ESTIMATE). */
int sched_expected_ns(const struct sched *s, uint32_t job, int64_t *out);     /* as sched_remaining_ns */
int sched_expected_run_ns(const struct sched *s, uint32_t job, int64_t *out); /* as sched_run_ns */
/* The longest chain of predicted run times alone that begins with `job` and goes on through jobs that depend on each other, its own
 * included (ESTIMATE); by the estimates as they are when any job's chain is asked for first. Without dependencies: its own. */
int sched_chain_ns(const struct sched *s, uint32_t job, int64_t *out);
int sched_recorded_start_ns(const struct sched *s, uint32_t job, int64_t *out); /* RECORD */
int sched_deadline_ns(const struct sched *s, uint32_t job, int64_t *out);       /* DEADLINE */

/* Stage times of one iteration alone (PROFILE): storage, CPU, GPU, network, ns; and the whole iteration; with the error of
 * `model: {profile_error: ..}`, as are the rates below. */
int sched_stages_ns(const struct sched *s, uint32_t job, int64_t *iteration, int64_t out[4]);
/* Work a ns that each of `n` jobs would do if they shared a set of GPUs, 1 = as fast as alone (PROFILE). SCHED_E_ABSENT: they cannot
 * share (no `model: {interleave: ..}`, no profile); SCHED_E_ARGUMENT: too many. Whether a set of GPUs has the memory for them only sched_join tells,
 * for that depends on which. */
int sched_group_rates(const struct sched *s, const uint32_t *jobs, uint32_t n, double *out);
/* The jobs on the same GPUs as running `job`, itself included: their number, and up to `room` of them in `out`. */
uint32_t sched_company(const struct sched *s, uint32_t job, uint32_t *out, uint32_t room);

/* A word of the policy's own per job (zero at first). A job belongs to one instance, so no other one writes it. */
uint64_t *sched_word(struct sched *s, uint32_t job);

/* ---- capacity ------------------------------------------------------------------------------- */

/* GPUs of this instance's scope: free (staged verbs and reservations included) and in all (a quota's present size). */
uint32_t sched_free_gpus(const struct sched *s);
uint32_t sched_capacity_gpus(const struct sched *s);
/* GPUs that its jobs hold (staged verbs included): more than the capacity after a quota shrank under `drain`. */
uint32_t sched_held_gpus(const struct sched *s);
/* CPU and host memory of all nodes of this instance's scope; 0 when any node's is unlimited. */
uint64_t sched_capacity_cpu_milli(const struct sched *s);
uint64_t sched_capacity_memory_kib(const struct sched *s);

/* What of this run a plan by run times and counts of free GPUs alone would miss, in words for a message ("dependencies"); NULL: nothing, given that
 * the placement takes any GPUs. That is: several virtual clusters, some that are not listed, quotas that change, dependencies, `on_exceed: kill`,
 * jobs that share GPUs, an end by `stop`, and GPU types, CPU or host memory that can refuse a job while there are GPUs enough. For policies that
 * plan a whole trace; O(demands x kinds of nodes). */
const char *sched_beyond_counts(const struct sched *s);

/* Do free GPUs alone tell whether a job can start, by the rule of the placement? Not so where GPU types, CPU or host memory can refuse a job while there are
 * GPUs enough, or where the placement module may refuse what its rule allows. O(demands x kinds of nodes). */
bool sched_gpus_decide(const struct sched *s);

/* Does this instance rule several virtual clusters, each with nodes or a quota of its own? Then what is free may be of no use to a job, because it is
 * another one's or the job's quota is used up. */
bool sched_is_divided(const struct sched *s);

/* A share of one node held by a job. */
struct place {
    uint32_t node, gpus;
};

/* Whether the placement packs: true: a job of at most one node's GPUs takes one node, a larger one takes wholly free nodes
 * and one rest; false: any free GPUs will do. */
bool sched_is_packed(const struct sched *s);
/* The nodes that this instance may use: their count and the i-th one's number (ascending). */
uint32_t sched_n_nodes(const struct sched *s);
uint32_t sched_node(const struct sched *s, uint32_t i);
uint32_t sched_node_gpus(const struct sched *s, uint32_t node);
uint32_t sched_node_free(const struct sched *s, uint32_t node);
/* GPU type of a node and that a job asks for: numbers that are equal for equal names. SCHED_ANY_TYPE: the job takes any, the node's has no name and
 * serves only such jobs. */
#define SCHED_ANY_TYPE UINT32_MAX
uint32_t sched_node_type(const struct sched *s, uint32_t node);
uint32_t sched_gpu_type(const struct sched *s, uint32_t job);
/* CPU (1/1000 cores) and host memory (KiB) of a node, in all and free (staged verbs and reservations included); SCHED_UNLIMITED: without bound.
 * A running job holds of each what sched_part says for its places, in their order. */
#define SCHED_UNLIMITED INT64_MAX
int64_t sched_node_cpu_milli(const struct sched *s, uint32_t node);
int64_t sched_node_memory_kib(const struct sched *s, uint32_t node);
int64_t sched_node_free_cpu_milli(const struct sched *s, uint32_t node);
int64_t sched_node_free_memory_kib(const struct sched *s, uint32_t node);
/* Does another instance use the same nodes (virtual clusters with quotas)? */
bool sched_shares_nodes(const struct sched *s);
/* Where a running job is: returns the number of places and points `*out` to them (valid until the next verb). */
uint32_t sched_places(const struct sched *s, uint32_t job, const struct place **out);

/* ---- verbs (only inside `schedule`) ----------------------------------------------------------- */

/* Would `job` start now? SCHED_OK or the code that start would return; nothing changes. */
int sched_probe(struct sched *s, uint32_t job);
/* Start a queued job where the placement module puts it; a job preempted in this round returns to its own GPUs when these are
 * still free. */
int sched_start(struct sched *s, uint32_t job);
/* Start on given nodes: `n` places, distinct nodes, GPUs adding up to the job's demand. */
int sched_start_at(struct sched *s, uint32_t job, const struct place *places, uint32_t n);
/* Start a queued job on the GPUs of running `with`: they, and whom `with` shares them with, are a group from then on and go as fast as the
 * sharing model of the run says. Both demand the same (GPUs, CPU, memory, type; CPU and host memory are counted once a group).
 * SCHED_E_ABSENT: the run has no sharing model; SCHED_E_NO_FIT: the group is full or its GPU memory is; SCHED_E_ARGUMENT: unlike demands. */
int sched_join(struct sched *s, uint32_t job, uint32_t with);
/* Start `n` queued jobs as one group: sched_start of the first, sched_join of the others; all or none. */
int sched_group(struct sched *s, const uint32_t *jobs, uint32_t n);
int sched_preempt(struct sched *s, uint32_t job);
/* Take back a preemption of this round: the job returns to its own GPUs when these are still free, else SCHED_E_NO_FIT. */
int sched_restore(struct sched *s, uint32_t job);
/* Move a running job to where the placement module puts it now, its own GPUs counting as free; staying there is no move. With any
 * other code than SCHED_OK it stays where it is. */
int sched_move(struct sched *s, uint32_t job);
/* Refuse a queued job for good; `reason` is a literal, kept in the results. */
int sched_reject(struct sched *s, uint32_t job, const char *reason);
/* Hold `gpus` free GPUs of a node back from start and probe until released or the round ends. */
int sched_reserve(struct sched *s, uint32_t node, uint32_t gpus);
/* The same, with so much of the node's free CPU and host memory. */
int sched_reserve_with(struct sched *s, uint32_t node, uint32_t gpus, int64_t cpu_milli, int64_t memory_kib);
void sched_release(struct sched *s); /* all that this instance reserved */
/* Ask again at `when_ns` > now (allowed in every callback). The earliest of several wins; each call to `schedule` clears none. */
int sched_wake_at(struct sched *s, int64_t when_ns);

/* Tell a number of the policy's own (a price, a budget), which holds from now until it is told again: nobody asks in between, so a balance that
 * flows stands still in the series from one round to the next. With `output: {series: ..}` it is in
 * /series at the end of each bin, under `name` and the scope of this instance; costs next to nothing otherwise. `name` is copied, up to 63 bytes of
 * it; the first 64 names of a run count, others are left out. Allowed in every callback but init. */
void sched_observe(struct sched *s, const char *name, double value);

/* Say why the next verb is taken (kept in the event log when it is on; costs nothing otherwise). */
void sched_because(struct sched *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- CPU and host memory of a job on several nodes ------------------------------------------------ */

__extension__ typedef unsigned __int128 sched_wide;

/* The share of a place with `gpus` GPUs, behind places with `before` GPUs, in `total` (CPU or memory) of a job of `of` GPUs: in
 * proportion, rounded so that the parts add up and what is left over goes to the first places. It never exceeds
 * sched_part_bound, whatever is before. */
static inline uint64_t sched_part(uint64_t total, uint32_t before, uint32_t gpus, uint32_t of)
{
    if (gpus == of)
        return total;
    sched_wide low = (sched_wide)total * before + of - 1;
    sched_wide high = (sched_wide)total * (before + gpus) + of - 1;
    return (uint64_t)(high / of) - (uint64_t)(low / of);
}

/* What a node must have free for such a place. */
static inline uint64_t sched_part_bound(uint64_t total, uint32_t gpus, uint32_t of)
{
    if (gpus == of)
        return total;
    return (uint64_t)(((sched_wide)total * gpus + of - 1) / of);
}

/* The most GPUs, up to `gpus`, whose part of `total` is within `free`: sched_part_bound(total, result, of) <= free. */
static inline uint32_t sched_part_most(uint64_t total, uint64_t free, uint32_t gpus, uint32_t of)
{
    if (total <= free) /* also: nothing demanded, or unlimited */
        return gpus;
    uint64_t most = (uint64_t)((sched_wide)free * of / total);
    return most < gpus ? (uint32_t)most : gpus;
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
