/* search.h - the frame of policies that look for an order of the waiting jobs: when to decide, over which jobs, towards what, and what
 * happens in between.
 *
 *     every `period`, once something can start      the first `window_jobs` waiting jobs, and up to `victims` running ones
 *              │                                                  │
 *              ▼                                                  ▼
 *       freeze (rollout.h) ──▶ seeds ──▶ solver ──▶ best order ──▶ plan: the order that is followed until the next decision
 *                                                    (after `latency`)
 *
 * Jobs that come in between take their place by the base order (search_queue.h). A decision is looked for only when it can matter: not while
 * nothing could start, nor for a single job, nor when a seed starts every job at once.
 *
 * Costs O(window x log) and the rollouts a decision; else a look at one head a demand a round, as in other policies.
 */
#ifndef POLICIES_SEARCH_H
#define POLICIES_SEARCH_H

#include "policies/search_lookout.h"
#include "policies/search_problem.h"
#include "policies/search_queue.h"

/* Parameters of every searching policy, in this order in `union param`; then come its own. */
enum search_param {
    SEARCH_PERIOD,
    SEARCH_WINDOW,
    SEARCH_TAIL,
    SEARCH_BUDGET,
    SEARCH_REFLEX,
    SEARCH_BASE,
    SEARCH_FILL,
    SEARCH_VICTIMS,
    SEARCH_JCT,
    SEARCH_WEIGHTED_JCT,
    SEARCH_MAKESPAN,
    SEARCH_UTILIZATION,
    SEARCH_FAIRNESS,
    SEARCH_DEADLINES,
    SEARCH_HORIZON,
    SEARCH_LOOKOUT,
    SEARCH_PAST,
    SEARCH_SCENARIOS,
    SEARCH_LATENCY,
    SEARCH_DETERMINISTIC,
    SEARCH_BUDGET_MS,
    SEARCH_N_PARAMS
};

#define SEARCH_PARAMS(budget_, horizon_)                                                                               \
    [SEARCH_PERIOD] = {"period", PARAM_TIME, "600 s", 0,                                                               \
                       1e9,      "s",        NULL,    "least time between decisions; 0: in every round"},              \
    [SEARCH_WINDOW] = {"window_jobs", PARAM_INT, "64", 2,                                                              \
                       4096,          "",        NULL, "waiting jobs that a decision orders: the first so many"},      \
    [SEARCH_TAIL] = {"tail", PARAM_INT,                                                                                \
                     "192",  0,                                                                                        \
                     2000,   "",                                                                                       \
                     NULL,   "waiting jobs behind the window that plans reckon with, together and in the base order"}, \
    [SEARCH_BUDGET] = {"budget", PARAM_INT, budget_, 1,                                                                \
                       100000,   "",        NULL,    "plans that a decision tries, seeds included"},                   \
    [SEARCH_REFLEX] =                                                                                                  \
        {"reflex",                                                                                                     \
         PARAM_INT,                                                                                                    \
         "12",                                                                                                         \
         0,                                                                                                            \
         1000,                                                                                                         \
         "",                                                                                                           \
         NULL,                                                                                                         \
         "seeds that are tried between decisions whenever jobs come or end while others wait (victims > 0); 0: none"}, \
    [SEARCH_BASE] = {"base",                                                                                           \
                     PARAM_CHOICE,                                                                                     \
                     "objective",                                                                                      \
                     0,                                                                                                \
                     0,                                                                                                \
                     "",                                                                                               \
                     "objective|fifo|sjf|srsf|smallest|smith|edf",                                                     \
                     "order of the jobs that no decision has ordered yet; objective: edf, smith (srsf by weight) or "  \
                     "srsf, by the largest weight"},                                                                   \
    [SEARCH_FILL] = {"fill",                                                                                           \
                     PARAM_CHOICE,                                                                                     \
                     "best",                                                                                           \
                     0,                                                                                                \
                     0,                                                                                                \
                     "",                                                                                               \
                     "skip|strict|best",                                                                               \
                     "whether jobs pass those that do not fit; best: as the better plan has it"},                      \
    [SEARCH_VICTIMS] = {"victims", PARAM_INT,                                                                          \
                        "0",       0,                                                                                  \
                        2048,      "",                                                                                 \
                        NULL,      "running jobs, those that end last, that a decision may preempt; 0: none ever"},    \
    [SEARCH_JCT] = {"jct", PARAM_NUMBER, "1", 0, 1e6, "", NULL, "weight of the mean completion time of the window"},   \
    [SEARCH_WEIGHTED_JCT] = {"weighted_jct",                                                                           \
                             PARAM_NUMBER,                                                                             \
                             "0",                                                                                      \
                             0,                                                                                        \
                             1e6,                                                                                      \
                             "",                                                                                       \
                             NULL,                                                                                     \
                             "weight of the same with 1 + priority as weights of jobs"},                               \
    [SEARCH_MAKESPAN] = {"makespan", PARAM_NUMBER, "0", 0, 1e6, "", NULL, "weight of the time until all have ended"},  \
    [SEARCH_UTILIZATION] = {"utilization", PARAM_NUMBER,                                                               \
                            "0",           0,                                                                          \
                            1e6,           "",                                                                         \
                            NULL,          "weight of the share of GPU time that is idle until then"},                 \
    [SEARCH_FAIRNESS] = {"fairness", PARAM_NUMBER, "0",  0,                                                            \
                         1e6,        "",           NULL, "weight of 1 - Jain's index of users' 1 / mean slowdown"},    \
    [SEARCH_DEADLINES] =                                                                                               \
        {"deadlines", PARAM_NUMBER, "0", 0, 1e6, "", NULL, "weight of the share of deadlines missed"},                 \
    [SEARCH_HORIZON] = {"horizon", PARAM_TIME,                                                                         \
                        horizon_,  0,                                                                                  \
                        1e9,       "s",                                                                                \
                        NULL,      "how far a plan is looked at; 0: until all jobs of the window have ended"},         \
    [SEARCH_LOOKOUT] = {"lookout",                                                                                     \
                        PARAM_TIME,                                                                                    \
                        "4 h",                                                                                         \
                        0,                                                                                             \
                        1e9,                                                                                           \
                        "s",                                                                                           \
                        NULL,                                                                                          \
                        "how far ahead arrivals are expected, for which long jobs may wait (victims: 0, "              \
                        "period > 0); 0: none"},                                                                       \
    [SEARCH_PAST] = {"past", PARAM_TIME, "4 h", 1,                                                                     \
                     1e9,    "s",        NULL,  "time back from now whose arrivals these are drawn from"},             \
    [SEARCH_SCENARIOS] = {"scenarios", PARAM_INT, "2", 1, 8, "", NULL, "draws of what may come"},                      \
    [SEARCH_LATENCY] = {"latency", PARAM_TIME, "0 s", 0,                                                               \
                        1e9,       "s",        NULL,  "simulated time from a decision to its effect"},                 \
    [SEARCH_DETERMINISTIC] = {"deterministic",                                                                         \
                              PARAM_BOOL,                                                                              \
                              "true",                                                                                  \
                              0,                                                                                       \
                              0,                                                                                       \
                              "",                                                                                      \
                              NULL,                                                                                    \
                              "false: results may depend on the machine, and are not reused by --resume"},             \
    [SEARCH_BUDGET_MS] = {                                                                                             \
        "budget_ms",                                                                                                   \
        PARAM_NUMBER,                                                                                                  \
        "0",                                                                                                           \
        0,                                                                                                             \
        1e6,                                                                                                           \
        "ms",                                                                                                          \
        NULL,                                                                                                          \
        "wall time of a decision beyond which no more plans are tried (deterministic: false); 0: no such limit"}

struct search;
/* Spend the budget of `p`. `self` is the policy's state, which begins with its struct search. */
typedef void (*search_solver)(void *self, struct search_problem *p);

struct search {
    search_solver solve;
    int64_t period_ns, latency_ns, horizon_ns;
    uint32_t window, tail, victims, budget, reflex;
    enum search_fill fill;
    struct rollout_weights wanted; /* as the config says */
    double budget_ms;

    struct jobset_pool pool;
    struct search_queue queue;
    struct jobset running; /* by end as predicted at the start; victims > 0 */
    struct search_problem problem;
    struct lookout lookout;
    uint32_t *jobs;     /* of the window, by index */
    int64_t *base_keys; /* of the same */
    double *weights, *service_s, *run_s;
    int64_t *keys;

    bool is_strict;  /* of the plan that is followed */
    int64_t next_ns; /* no decision before */
    bool is_pending; /* a decision waits for its latency */
    int64_t effect_ns;
    uint32_t *pending; /* its order: ranks */
    bool *is_given;    /* of those: a running job that gives up its GPUs */
    uint32_t n_pending;
    int64_t pending_gate;
    bool pending_is_strict;
    uint32_t *parked; /* preempted at parked_ns: may start again a nanosecond later */
    uint32_t n_parked;
    int64_t parked_ns;
};

/* The largest n of its problems. */
uint32_t search_most(const struct search *x);

/* In `init` of a policy whose state begins with `x`, `v` as in its parameters. Errors: BRAID_FAILED memory, BRAID_BAD_INPUT a clock without
 * `deterministic: false`, or an objective without weights. */
int search_init(struct search *x, struct sched *s, const union param *v, search_solver solve, struct error *err);

void search_fini(void *self);
void search_on_submit(void *self, struct sched *s, uint32_t job);
void search_on_finish(void *self, struct sched *s, uint32_t job);
void search_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why);
void search_schedule(void *self, struct sched *s);

#define SEARCH_POLICY(id, name_, summary_, source_, params_, state_, init_)                                            \
    SEARCH_POLICY_FINI(id, name_, summary_, source_, params_, state_, init_, search_fini)

#define SEARCH_POLICY_FINI(id, name_, summary_, source_, params_, state_, init_, fini_)                                \
    const struct policy_ops id = {.abi_version = BRAID_POLICY_ABI,                                                     \
                                  .size = sizeof(struct policy_ops),                                                   \
                                  .name = name_,                                                                       \
                                  .summary = summary_,                                                                 \
                                  .source = source_,                                                                   \
                                  .knows = KNOWS_ESTIMATE | KNOWS_DEADLINE,                                            \
                                  .scope = SCOPE_VC,                                                                   \
                                  .params = params_,                                                                   \
                                  .n_params = sizeof params_ / sizeof *params_,                                        \
                                  .state_size = sizeof(struct state_),                                                 \
                                  .init = init_,                                                                       \
                                  .fini = fini_,                                                                       \
                                  .on_submit = search_on_submit,                                                       \
                                  .on_finish = search_on_finish,                                                       \
                                  .on_requeue = search_on_requeue,                                                     \
                                  .schedule = search_schedule}

#endif
