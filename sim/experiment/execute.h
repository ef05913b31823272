/* execute.h - runs an experiment's runs in parallel (OpenMP; threads that no run needs are lent to policies), one thread writes HDF5.
 *
 *   worker 1 ─ get workload, scale, run, metrics ─┐
 *   worker 2 ─ …                                  ├──▶ bounded queue ──▶ thread 0: part, cost, progress ──▶ OUT.h5
 *   worker n ─ …                                 ─┘
 *
 * Workers take runs in order of their traces, share the read-only workload (read once for equal trace_key, freed after its last run) and
 * hand results to the writing thread. One worker is no thread at all. `cancel` stops soon; finished parts stay for --resume. A lock on
 * OUT.h5.parts/.lock keeps a second process away.
 *
 * What the file holds depends on the runs alone: not on the number of threads, nor on which runs were stored before.
 */
#ifndef EXPERIMENT_EXECUTE_H
#define EXPERIMENT_EXECUTE_H

#include "experiment/experiment.h"
#include "experiment/remarks.h"
#include "output/results.h"

#include <pthread.h>

/* How far it is; told by the calling thread at the start, after each run, several times a second in between when there are threads,
 * and at the end. */
struct execute_progress {
    uint32_t planned, reused, done, failed; /* done: computed now, without the failed ones */
    double elapsed_s, eta_s;                /* eta: NaN when it cannot be told yet */
    const struct run_config *run;           /* the run that has just ended, or NULL */
    const char *id;                         /* its id, or NULL */
    const char *message;                    /* why it failed, or NULL */
    bool is_end;
};

/* Which thread computes which run at present: for a message when the program crashes. A seat's text is whole while `is_taken`. */
struct run_seat {
    pthread_t thread;
    volatile int is_taken;
    char text[800]; /* "3f2a... (las, seed 2; trace t.csv)"; the id is there once the trace is read */
};

struct execute_options {
    const char *output; /* path of the results file; its folder exists */
    int threads;        /* >= 1 */
    bool resume, check, fail_fast;
    uint32_t shard, n_shards; /* run index % n_shards == shard - 1; n_shards 0: all */
    void (*progress)(void *self, const struct execute_progress *p); /* may be NULL */
    void *progress_self;
    const volatile int *cancel; /* may be NULL */
    struct run_seat *seats;     /* `threads` of them; may be NULL */
    struct remarks *remarks;    /* gets those of the runs that are computed now; may be NULL */
};

struct execute_report {
    uint32_t planned, reused, done, failed;
    char trace[512];      /* how the rows of the trace were accounted for, in words; "" when no run was computed */
    bool has_more_traces; /* that is the first of several */
    bool was_interrupted;
    bool is_written;  /* OUT.h5 is new */
    bool is_complete; /* and has every planned run, none failed */
};

/* BRAID_OK when every planned run is in `output`. BRAID_FAILED when a run failed (the file is written nevertheless, with rows that say so,
 * unless fail_fast or all of them failed), when it was interrupted (what is finished is kept beside for `resume`), or when a file could not be
 * written. BRAID_BAD_INPUT for a trace that cannot be read, an `output` that would replace the config or a file that it names or that is
 * no regular file, or when every run was refused as bad input. An earlier `output` stays as it was
 * unless the new one is complete. */
int experiment_execute(const struct experiment *x, const struct execute_options *o, struct execute_report *report,
                       struct error *err);

/* The runs of a shard in the order of the sweep, with their ids (which needs their traces to be read): `each` is called once a run. */
int experiment_list(const struct experiment *x, uint32_t shard, uint32_t n_shards,
                    void (*each)(void *self, const struct run_config *run, const char *id), void *self,
                    struct error *err);

/* Whether /jobs gets rows for the runs of an experiment (`output.jobs: auto`: up to 100 runs). */
bool experiment_keeps_jobs(const struct experiment *x, const struct run_config *run);

/* One run without files: load and scale its workload, run. Used by tests and bench. `w` and `r` are filled, and free on error. */
int experiment_run_one(const struct run_config *config, bool check, struct workload *w, struct run_result *r,
                       struct error *err);

#endif
