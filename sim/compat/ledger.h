/* ledger.h - what every driver keeps: the clock, the job table, who holds which GPUs, totals, and what the watchers are told.
 *
 * A driver decides; the ledger writes down. The order of one instant is
 *
 *      ledger_at(t)  { ledger_finish | ledger_submit | ledger_preempt | ledger_start }...  ledger_settle()
 *
 * and instants do not go back. ledger_close() counts what is left as unfinished and fills the result.
 */
#ifndef COMPAT_LEDGER_H
#define COMPAT_LEDGER_H

#include "base/arena.h"
#include "engine/run.h"

struct ledger_queue {
    const char *name;   /* of its virtual cluster, "" for the one over all */
    uint32_t partition; /* its nodes */
    uint32_t queued_jobs, running_jobs, allocated_gpus;
    uint64_t queued_gpus;
    bool is_touched;
};

struct ledger {
    const struct run_spec *spec;
    const struct workload *w;
    struct error *err;
    struct arena *results; /* becomes the result's */
    struct arena arena;    /* the rest, the driver's tables included */
    struct cluster *cluster;
    struct job *jobs;
    int64_t *debt_ns; /* overhead that a job has still to pay before its work goes on */
    struct ledger_queue *queues;
    uint32_t n_queues;
    struct place *places; /* room for one allocation */
    uint32_t places_room;

    int64_t now_ns;
    uint64_t instants;
    uint32_t n_submitted;
    bool has_failed; /* err says why */
    bool has_window;
    unsigned __int128 allocated, capacity, free, useless; /* integrals, GPU-ns */
    double imbalance;
    struct run_totals totals;
};

/* Begin; the jobs' own demands for CPU, memory and GPU type do not count. Free with ledger_fini, also after an error. */
int ledger_init(struct ledger *l, const struct run_spec *spec, struct error *err);
void ledger_fini(struct ledger *l);

/* The queue of a job; NAMES_NONE when the cluster does not list its virtual cluster. */
uint32_t ledger_queue_of(const struct ledger *l, uint32_t job);
uint32_t ledger_free_gpus(const struct ledger *l, uint32_t queue);

/* The clock stands at `at_ns` from now on. False: the run ends here (its horizon, too long a queue, interrupted, failed). */
bool ledger_at(struct ledger *l, int64_t at_ns);
/* The same for a peer that counts whole seconds; a second that 64 bits of nanoseconds cannot hold ends the run, without a horizon with an error. */
bool ledger_at_second(struct ledger *l, int64_t at_s);

/* The job enters its queue; false: it was rejected, for its virtual cluster is not listed. */
bool ledger_submit(struct ledger *l, uint32_t job);
/* It takes the GPUs of l->places[0..n). */
void ledger_start(struct ledger *l, uint32_t job, uint32_t n_places);
void ledger_preempt(struct ledger *l, uint32_t job);
/* Also of a job that waits, where a peer counts it as done all the same. */
void ledger_finish(struct ledger *l, uint32_t job);

/* All is said of this instant. */
void ledger_settle(struct ledger *l);

/* Jobs that are left are unfinished; `stuck` is the reason where the clock ran out of events for one that holds GPUs. Fills `out`. */
int ledger_close(struct ledger *l, struct run_result *out, const char *stuck);

/* The first free GPUs in order of node, `gpus` of them, into l->places; the number of places. There must be as many. */
uint32_t ledger_take_in_order(struct ledger *l, uint32_t queue, uint32_t gpus);

#endif
