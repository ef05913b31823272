/* fair.h - policies that give each user, virtual cluster or group its share (fair_tree.h keeps the books, shares.h reads the file).
 *
 * A round starts, again and again, the first job of who has least of what is due. Where a job finds no place,
 *
 *   fill     strict        nobody behind it starts in this round
 *            skip          what its owner has of its class (demand, virtual cluster) is passed over, until somebody was displaced
 *   preempt  never         running jobs run on; the shares come right as jobs end
 *            when_better   a job displaces running ones of whoever has more, the latest started first, if who gives is still not below who
 *                          receives; guarantees: if who receives stays within its own and who gives is above its own, at every level down to the job
 *            quantum       the same, but a running job is safe until it has held its GPUs for `quantum`
 *
 * Of whom: at each level from the root down, of siblings of the claimant's own branch, the one with the greatest value first. A
 * job that was displaced displaces nobody in the same round, so a round comes to an end. Who gave way for nothing stays, and of those whose GPUs
 * were not needed the last asked stays first.
 *
 * Of equal values who was served longest ago comes first, and gives last; who never was, in the order of the file of shares, then of names, users
 * inside virtual clusters in that of their first jobs.
 *
 * One instance rules the whole cluster. Over virtual clusters that are quotas (`vcs: {A: {gpus: N}}`) their quotas still bind, and over
 * partitions of nodes (`vcs: {A: {nodes: N}}`) no job gets a node of another: such a policy orders what waits, it cannot lend. To lend, leave `vcs`
 * out; the trace's virtual clusters then are names over shared nodes.
 *
 * Cost: a round looks at one head per class and slope (fair_tree.h). With preemption the search for jobs to displace may look at
 * all that run.
 */
#ifndef POLICIES_FAIR_H
#define POLICIES_FAIR_H

#include "policies/fair_tree.h"

enum fair_fill { FAIR_STRICT, FAIR_SKIP };
enum fair_preempt { FAIR_NEVER, FAIR_WHEN_BETTER, FAIR_QUANTUM };

struct fair_rules {
    enum fair_measure measure;
    enum fair_by by;
    enum fair_fill fill;
    enum fair_preempt preempt;
    int64_t quantum_ns;
    int64_t half_life_ns, ahead_ns; /* measure usage */
    bool may_borrow;                /* measure guarantee: hold more than it */
    const char *shares_path;
};

struct fair {
    struct fair_tree tree;
    struct fair_rules rules;
    struct jobset leased; /* quantum: running jobs that are still safe, by start */
    uint32_t *hidden;     /* bins set aside in this round */
    uint32_t n_hidden, hidden_room;
    uint32_t *victims;
    uint32_t victims_room;
    uint64_t *displaced_at; /* per job: the tick in which it was displaced */
    uint64_t *refused_at;   /* per demand: the last time that one was not allowed to give way, as n_asked counts */
    uint64_t n_asked;       /* nodes that were asked to give */
    struct room *room;
};

/* The state of a fair policy is a zeroed struct fair. */
int fair_setup(struct fair *f, struct sched *s, const struct fair_rules *rules, struct error *err);

void fair_on_submit(void *self, struct sched *s, uint32_t job);
void fair_on_finish(void *self, struct sched *s, uint32_t job);
void fair_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why);
void fair_on_capacity(void *self, struct sched *s);
void fair_schedule(void *self, struct sched *s);

/* ---- between fair.c and fair_displace.c ------------------------------------------------------------------ */

/* Start `job` and book it; a code of sched_start. */
int fair_start(struct fair *f, struct sched *s, uint32_t job);
/* A running job's books: it holds its GPUs and may be displaced (later, under quantum); no longer. */
void fair_enter(struct fair *f, struct sched *s, uint32_t job, int64_t since_ns);
void fair_leave(struct fair *f, struct sched *s, uint32_t job);
/* Make room for `job` by displacing others and start it; false: nothing has changed. */
bool fair_displace(struct fair *f, struct sched *s, uint32_t job);

/* ---- parameters that all of them have ---------------------------------------------------------------------- */

/* The first parameters of each; those of its own begin at FAIR_N_PARAMS. */
enum fair_param {
    FAIR_PARAM_BY,
    FAIR_PARAM_SHARES,
    FAIR_PARAM_FILL,
    FAIR_PARAM_PREEMPT,
    FAIR_PARAM_QUANTUM,
    FAIR_N_PARAMS
};

#define FAIR_PARAMS(by_, by_choices_, by_help_, preempt_)                                                              \
    [FAIR_PARAM_BY] = {"by", PARAM_CHOICE, by_, 0, 0, "", by_choices_, by_help_},                                      \
    [FAIR_PARAM_SHARES] =                                                                                              \
        {"shares",                                                                                                     \
         PARAM_PATH,                                                                                                   \
         "",                                                                                                           \
         0,                                                                                                            \
         0,                                                                                                            \
         "",                                                                                                           \
         NULL,                                                                                                         \
         "csv of who is entitled to what: name,parent,weight,guarantee (only name is needed); who is not "             \
         "in it has weight 1"},                                                                                        \
    [FAIR_PARAM_FILL] = {"fill", PARAM_CHOICE, "skip",        0,                                                       \
                         0,      "",           "strict|skip", "what happens behind a job that does not fit"},          \
    [FAIR_PARAM_PREEMPT] = {"preempt",                                                                                 \
                            PARAM_CHOICE,                                                                              \
                            preempt_,                                                                                  \
                            0,                                                                                         \
                            0,                                                                                         \
                            "",                                                                                        \
                            "never|when_better|quantum",                                                               \
                            "when a running job gives way to who has less"},                                           \
    [FAIR_PARAM_QUANTUM] = {"quantum", PARAM_TIME, "6 min", 1e-3,                                                      \
                            1e9,       "s",        NULL,    "time a started job is safe (preempt: quantum)"}

#define FAIR_BY_HELP "whose shares: users', or virtual clusters'"

/* What the parameters above say; the measure and the rest are the policy's own. */
struct fair_rules fair_rules_of(const union param *v);

#define FAIR_POLICY(id, name_, summary_, source_, params_, init_)                                                      \
    const struct policy_ops id = {.abi_version = BRAID_POLICY_ABI,                                                     \
                                  .size = sizeof(struct policy_ops),                                                   \
                                  .name = name_,                                                                       \
                                  .summary = summary_,                                                                 \
                                  .source = source_,                                                                   \
                                  .knows = KNOWS_NOTHING,                                                              \
                                  .scope = SCOPE_CLUSTER,                                                              \
                                  .params = params_,                                                                   \
                                  .n_params = sizeof params_ / sizeof *params_,                                        \
                                  .state_size = sizeof(struct fair),                                                   \
                                  .init = init_,                                                                       \
                                  .on_submit = fair_on_submit,                                                         \
                                  .on_finish = fair_on_finish,                                                         \
                                  .on_requeue = fair_on_requeue,                                                       \
                                  .on_capacity = fair_on_capacity,                                                     \
                                  .schedule = fair_schedule}

#endif
