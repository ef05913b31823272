/* themis.h - what the two policies of finish-time fairness share: leases and rounds.
 *
 *       |<----- lease ----->|<----- lease ----->|        leases end together, at multiples of the lease; so a job of many GPUs finds
 *     --+---+---------------+----+--------------+-->     them free at the same instant. A job that starts in between has what is left
 *      round fill          round fill          round     of it. (Payments of themis_auction are made in time: a winner's lease ends earlier,
 *                                                        and a round is held then)
 *
 *   round   some leases are over while jobs wait: the order of all jobs without a lease is made anew (the policy's `rank_jobs`), and who comes
 *           first gets the GPUs. Who can stay where it is stays; nobody moves unless the order cannot be served otherwise
 *   fill    GPUs are free between rounds: jobs that wait take them in the last round's order; who came since ranks as `rank_new` says.
 *           Who does not fit is passed over
 *
 * A round costs O(jobs log jobs), and what the policy adds; a fill looks at one head a demand.
 *
 * A job's ideal time is counted as it goes: what it did since the last round, and what remains, times max(1, N * gpus / capacity), with N
 * the jobs of the queue, running and waiting: their average since the last round, and their number now.
 */
#ifndef POLICIES_THEMIS_H
#define POLICIES_THEMIS_H

#include "policies/finish_time.h"
#include "policies/jobset.h"

struct themis_job {
    uint32_t job;
    bool is_running;     /* when the round began */
    bool has_lease;      /* it runs, and its lease is not over */
    int64_t lease_ns;    /* end of the lease that it has, or the one that the round would give it */
    int64_t key;         /* of it in the queue: the smaller the sooner */
    int64_t counted_ns;  /* up to then … */
    int64_t attained_ns; /* … it had had GPUs for so long, … */
    double remaining;    /* … this remained, and … */
    double ideal_done;   /* … what was done took so long on a 1/N part */
    double jobs_time;    /* t->jobs_time at that time */
    double credit;       /* themis: time it was due, less the time it had */
    double x;
};

/* A job of a round while they are put in order. */
struct themis_ranked {
    double rho; /* auction */
    int64_t key;
    uint32_t job, place;
};

struct themis_queue {
    struct jobset jobs; /* waiting, of one demand */
    bool is_closed;
};

struct themis;

struct themis_rule {
    /* Set key and lease_ns of the jobs without a lease, i of t->order[0 .. n_order); `t->f[i]` has what finish_time.h wants of it. */
    void (*rank_jobs)(struct themis *t, struct sched *s);
    /* Key of a job that enters the queue between rounds. */
    int64_t (*rank_new)(const struct themis *t, const struct themis_job *j);
};

struct themis {
    const struct themis_rule *rule;
    int64_t term_ns;         /* the lease */
    struct jobset_pool pool; /* jobsets of jobs */
    struct jobset leases;    /* running jobs by end of lease */
    struct themis_queue *queues;
    uint32_t *queue_of, n_queues, n_waiting; /* demand -> queue + 1 */
    struct themis_job *live;                 /* waiting and running; a job's word is its place */
    uint32_t n_live, room;
    double jobs_time; /* integral of n_live over time, up to … */
    int64_t jobs_time_ns;
    /* of a round, as long as `room` */
    uint32_t *order; /* places in live */
    uint32_t n_order;
    struct finish_time *f; /* by place in live */
    struct themis_ranked *ranked;
    bool *is_wanted;
    double fairness; /* auction: part of the jobs that are not asked */
    bool has_payments;
    struct auction_bid *bids;
    double *memory;
    size_t memory_room;
};

int themis_setup(struct themis *t, struct sched *s, const struct themis_rule *rule, int64_t lease_ns,
                 struct error *err);
void themis_on_submit(void *self, struct sched *s, uint32_t job);
void themis_on_finish(void *self, struct sched *s, uint32_t job);
void themis_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why);
void themis_schedule(void *self, struct sched *s);

/* When a lease that begins now ends. */
int64_t themis_lease_end(const struct themis *t, int64_t now_ns);

/* A key of the order of -value; beyond 292 years all are equal. */
int64_t themis_key(double value);

#define THEMIS_PARAM_LEASE                                                                                             \
    {                                                                                                                  \
        "lease", PARAM_TIME, "20 min", 1e-3, 1e9, "s", NULL,                                                           \
            "for how long a job has its GPUs before they are handed out again"                                         \
    }

#define THEMIS_POLICY(id, name_, summary_, source_, params_, init_)                                                    \
    const struct policy_ops id = {.abi_version = BRAID_POLICY_ABI,                                                     \
                                  .size = sizeof(struct policy_ops),                                                   \
                                  .name = name_,                                                                       \
                                  .summary = summary_,                                                                 \
                                  .source = source_,                                                                   \
                                  .knows = KNOWS_ESTIMATE,                                                             \
                                  .scope = SCOPE_VC,                                                                   \
                                  .params = params_,                                                                   \
                                  .n_params = sizeof params_ / sizeof *params_,                                        \
                                  .state_size = sizeof(struct themis),                                                 \
                                  .init = init_,                                                                       \
                                  .on_submit = themis_on_submit,                                                       \
                                  .on_finish = themis_on_finish,                                                       \
                                  .on_requeue = themis_on_requeue,                                                     \
                                  .schedule = themis_schedule}

#endif
