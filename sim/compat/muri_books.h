/* muri_books.h - what a run under the Muri simulator's rules leaves behind: the job table, totals, and what the watchers are told.
 *
 * There a scheduling pass empties the cluster and fills it again, and several jobs may share GPUs. So the driver says, once an event, who
 * runs now and where (the plan), and the books find out who started, went on, moved or was stopped:
 *
 *      books_at(t)  { books_interval }...  { books_finish | books_submit }...  books_plan()  { books_run }...  books_settle()
 *
 * Times come in seconds as doubles, as the simulator has them, and are kept in whole nanoseconds; they never go back, and no job starts before
 * it was submitted, though the simulator merges instants that differ by a billionth.
 */
#ifndef COMPAT_MURI_BOOKS_H
#define COMPAT_MURI_BOOKS_H

#include "base/arena.h"
#include "cluster/cluster.h"
#include "engine/run.h"

#define BOOKS_ALONE UINT32_MAX

/* Who runs, in one event: spans [at, at + n) of the plan's. */
struct books_seat {
    uint32_t job, group; /* a number that the members of a group have in common, or BOOKS_ALONE */
    uint32_t at, n;
    double rate; /* work a nanosecond */
};

struct books_plan {
    struct books_seat *seats; /* each running job once */
    struct span *spans;
    uint32_t n_seats, n_spans;
};

struct muri_books {
    const struct run_spec *spec;
    const struct workload *w;
    struct error *err;
    struct arena *results; /* becomes the result's */
    struct job *jobs;
    uint32_t n_nodes, n_gpus;
    const uint32_t *gpu_at;    /* by node: its first GPU, n_nodes + 1 of them */
    struct books_plan plan[2]; /* the one in force, and the one in the making */
    uint32_t in_force;
    uint32_t seats_room, spans_room;
    uint32_t *seat_of;  /* by job: its seat in the plan in force, UINT32_MAX */
    uint64_t *gpu_seen; /* by GPU: event at which it was last counted */
    uint32_t *node_used;
    uint64_t n_events;

    int64_t now_ns;
    uint32_t n_submitted, queued_jobs, running_jobs, used_gpus;
    uint64_t queued_gpus;
    bool has_window;
    unsigned __int128 allocated, capacity, free, useless; /* integrals, GPU-ns */
    double imbalance;
    struct run_totals totals;
};

/* For at most `n_running` jobs at a time that hold at most `n_spans` spans. Tables from `a`; free with books_fini. */
int books_init(struct muri_books *b, const struct run_spec *spec, const struct cluster *c, uint32_t n_running,
               uint32_t n_spans, struct arena *a, struct error *err);
void books_fini(struct muri_books *b);

/* The clock stands at `now_s`. False: the run ends here (its horizon, too long a queue, interrupted: err->code says). */
bool books_at(struct muri_books *b, double now_s);

/* A running job has had its GPUs since the last event, the first `overhead_s` of that time without progress. */
void books_interval(struct muri_books *b, uint32_t job, int64_t from_ns, double overhead_s);
void books_finish(struct muri_books *b, uint32_t job);
void books_submit(struct muri_books *b, uint32_t job);

/* A new plan; a job's seat. `spans` are copied: those of group-mates may be said each time. */
void books_plan(struct muri_books *b);
void books_run(struct muri_books *b, uint32_t job, const struct span *spans, uint32_t n_spans, uint32_t group,
               double rate);
void books_settle(struct muri_books *b);

/* Jobs that are left are unfinished. `done` gives the share of its iterations that each job has made. Fills `out`. */
int books_close(struct muri_books *b, const double *done, struct run_result *out);

#endif
