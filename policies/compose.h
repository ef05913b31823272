/* compose.h - policies made of parts: an order (order.h), a fill, a preemption rule, an admission. Most named policies are one of these.
 *
 *   fill     strict        the first job that does not fit holds back all behind it
 *            skip          jobs that fit pass those that do not
 *            easy          skip, but nobody delays the first job that does not fit: it holds a reservation of GPUs, their type, CPU and host
 *                          memory (compose_easy.c; Lifka, 1995; Mu'alem and Feitelson, 2001)
 *   preempt  never
 *            when_better   a queued job displaces running ones with a worse value, the worst first; one that turns out not to be
 *                          needed, best first, keeps its GPUs. Equal values displace nobody.
 *                          Where values jump (order.h) who is displaced goes to another place if it can, those that are worse giving
 *                          way, else it counts as running, before its equals, until the round is over.
 *            quantum       the same, but a running job is safe until it has held its GPUs for `quantum`; while jobs wait, the
 *                          order is looked at again every quantum
 *   overrun   double        a job that has used up its estimate is predicted to go on until the time that it has held GPUs has doubled since
 *                           then, but for a second at least; then until it has doubled again (sched_expected_ns)
 *             now           it is predicted to end in the next nanosecond, whenever it is looked at
 *                           Both count for the reservation of `fill: easy` and for the remaining time of srtf and srsf.
 *   admission all
 *            feasible      a job whose deadline cannot be met is rejected when it arrives (admission.h)
 *
 * The queue and the running jobs are kept by demand (GPUs, CPU, memory, type), each sorted (jobset.h): a round looks at one head a
 * demand, never at the whole queue. Once the head of a demand found no place, none behind it can.
 */
#ifndef POLICIES_COMPOSE_H
#define POLICIES_COMPOSE_H

#include "policies/jobset.h"
#include "policies/order.h"
#include "policies/victims.h"

enum fill { FILL_STRICT, FILL_SKIP, FILL_EASY };
enum preempt { PREEMPT_NEVER, PREEMPT_WHEN_BETTER, PREEMPT_QUANTUM };

/* The parameters of every composition, in this order in `union param`. */
enum compose_param {
    COMPOSE_ORDER,
    COMPOSE_FILL,
    COMPOSE_PREEMPT,
    COMPOSE_QUANTUM,
    COMPOSE_AGEING,
    COMPOSE_SERVICE,
    COMPOSE_WINDOW,
    COMPOSE_ADMISSION,
    COMPOSE_OVERRUN,
    COMPOSE_N_PARAMS
};

/* A job that is queued or running, where the order's values jump (order_ops.jump). */
struct compose_slot {
    struct order_mark mark;
    int64_t key;    /* in the set that the job is in */
    int64_t due_ns; /* next jump, SCHED_NEVER; its key in `due` */
    uint32_t next;  /* free slots: the next one */
};

/* All jobs of one distinct demand. */
struct compose_class {
    uint32_t gpus;
    int64_t queued_slope, running_slope;
    uint32_t weight; /* of values: the GPUs where the order counts by them, else 1 */
    int64_t offset;  /* of values, in this round (order_ops.offset) */
    struct jobset queued;  /* by key; length: predicted run time (fill easy) */
    struct jobset running; /* preemptible ones, by key (preempt not never) */
    bool is_closed;        /* its head found no place in this round */
    bool is_long_closed;   /* easy: no job that outlasts the reservation finds a place */
};

/* Through the running jobs of a class, from the worst on. */
struct compose_walk {
    int64_t value; /* of the job that it has come to */
    uint32_t node, job, class;
};

struct compose {
    const struct order_ops *order;
    struct order_params params;
    enum fill fill;
    enum preempt preempt;
    int64_t quantum_ns;

    struct jobset_pool pool;
    struct compose_class *classes;
    uint32_t n_classes, classes_room;
    uint32_t *class_of;   /* demand -> class + 1 */
    struct jobset leased; /* quantum: running jobs that are still safe, by the end of that */
    struct jobset by_end; /* easy: running jobs by predicted end */
    uint32_t n_queued;

    struct compose_slot *slots; /* order with jumps: a job's word is its slot; else it is the key in the job's set */
    uint32_t n_slots, slots_room, free_slot;
    struct jobset due;   /* by next jump */
    uint32_t *displaced; /* order with jumps: jobs that lost their GPUs in this round */
    uint32_t n_displaced, displaced_room;

    struct prospect *prospect; /* easy: what if running jobs had ended, and the place of the reservation (prospect.h) */
    struct admission *admission; /* feasible; NULL: all are accepted */
    struct victims victims;    /* preempt: of the job that displaces */
    struct compose_walk *walks; /* preempt: through the running jobs of each class that has any to displace */
    uint32_t n_walks;
    uint32_t *rekeyed, rekeyed_room;
};

/* For policies with an order of their own: `c` is zeroed but for c->params. An order with jumps goes with fill skip or strict and
 * preempt never or when_better. Non-zero: memory is out. */
int compose_setup(struct compose *c, struct sched *s, const struct order_ops *order, enum fill fill,
                  enum preempt preempt, int64_t quantum_ns, struct error *err);

int compose_init(void *self, struct sched *s, const union param *v, struct error *err);
void compose_on_submit(void *self, struct sched *s, uint32_t job);
void compose_on_finish(void *self, struct sched *s, uint32_t job);
void compose_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why);
void compose_schedule(void *self, struct sched *s);

/* Take the values of all jobs anew, for an order (with jumps) whose rule has changed. O(jobs queued and running x log). */
void compose_rekey(struct compose *c, struct sched *s);

/* ---- between compose.c and compose_easy.c ---------------------------------------------------------- */

/* Class whose head comes first among those not closed, or NULL. */
struct compose_class *compose_first(struct compose *c, int64_t now);
int64_t compose_head_value(const struct compose_class *k, uint32_t node, int64_t now);
/* The verb start and the move between the sets; a code of sched_start. */
int compose_start(struct compose *c, struct sched *s, struct compose_class *k, uint32_t job);
/* The move alone: `job` has been started. */
void compose_started(struct compose *c, struct sched *s, struct compose_class *k, uint32_t job);
/* easy: the predicted end of running `job` is another one. */
void compose_set_end(struct compose *c, struct sched *s, uint32_t job, int64_t end_ns);
/* The head of `k` cannot start: start others that do not delay it. */
void compose_backfill(struct compose *c, struct sched *s, struct compose_class *k);

#define OVERRUN_HELP                                                                                                   \
    "a job that has used up its estimate is predicted to go on until its time on GPUs has doubled (at least 1 s), and "  \
    "so again and again, or to end now"

/* A named composition: one file, one descriptor. `knows` must cover the order and, for easy, ESTIMATE. */
#define COMPOSE_PARAMS(order_, fill_, preempt_, quantum_, ageing_, service_)                                           \
    {"order",                                                                                                          \
     PARAM_CHOICE,                                                                                                     \
     order_,                                                                                                           \
     0,                                                                                                                \
     0,                                                                                                                \
     "",                                                                                                               \
     "critical_path|edf|fifo|las|least_laxity|ljf|longest_waiting|priority|qssf|random|round_robin|rr_sjf|sjf|smallest|srsf|srtf",   \
     "who comes first"},                                                                                               \
        {"fill", PARAM_CHOICE, fill_, 0, 0, "", "strict|skip|easy", "what happens behind a job that does not fit"},    \
        {"preempt", PARAM_CHOICE, preempt_, 0, 0, "", "never|when_better|quantum", "when a running job gives way"},    \
        {"quantum", PARAM_TIME, quantum_, 1e-9, 1e9, "s", NULL, "time a started job is safe (preempt: quantum)"},      \
        {"ageing", PARAM_TIME, ageing_, 0,                                                                             \
         1e9,      "s",        NULL,    "waiting worth one point of priority; 0: none (order: priority)"},             \
        {"service", PARAM_CHOICE, service_, 0, 0, "", "gpu_time|time", "what attained service counts (order: las)"},   \
        {"window", PARAM_TIME, "1 h", 1,                                                                               \
         1e9,      "s",        NULL,  "time whose arrivals in the queue are ordered by length (order: rr_sjf)"},       \
    {                                                                                                                  \
        "admission", PARAM_CHOICE, "all", 0, 0, "", "all|feasible",                                                    \
            "feasible: reject at once a job whose deadline cannot be met beside those accepted"                        \
    },                                                                                                                 \
    {                                                                                                                  \
        "overrun", PARAM_CHOICE, "double", 0, 0, "", "double|now",                                                     \
            OVERRUN_HELP " (fill: easy; order: srtf, srsf)"                                                            \
    }

#define COMPOSED(id, name_, summary_, source_, knows_, order_, fill_, preempt_, quantum_, ageing_, service_)           \
    static const struct param_spec id##_params[COMPOSE_N_PARAMS] = {                                                   \
        COMPOSE_PARAMS(order_, fill_, preempt_, quantum_, ageing_, service_)};                                         \
    const struct policy_ops id = {.abi_version = BRAID_POLICY_ABI,                                                     \
                                  .size = sizeof(struct policy_ops),                                                   \
                                  .name = name_,                                                                       \
                                  .summary = summary_,                                                                 \
                                  .source = source_,                                                                   \
                                  .knows = knows_,                                                                     \
                                  .scope = SCOPE_VC,                                                                   \
                                  .params = id##_params,                                                               \
                                  .n_params = COMPOSE_N_PARAMS,                                                        \
                                  .state_size = sizeof(struct compose),                                                \
                                  .init = compose_init,                                                                \
                                  .on_submit = compose_on_submit,                                                      \
                                  .on_finish = compose_on_finish,                                                      \
                                  .on_requeue = compose_on_requeue,                                                    \
                                  .schedule = compose_schedule}

#endif
