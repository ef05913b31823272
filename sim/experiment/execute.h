/* execute.h - runs an experiment's runs in parallel (OpenMP, one level), one thread writes HDF5.
 *
 * Workers take runs in order, share the read-only workload (read once for equal trace_key, freed after its last run) and hand
 * results to the writing thread over a bounded queue. SIGINT and SIGTERM (through `cancel`) stop soon; finished parts stay for
 * --resume. A lock on OUT.h5.parts/.lock keeps a second process away.
 */
#ifndef EXPERIMENT_EXECUTE_H
#define EXPERIMENT_EXECUTE_H

#include "experiment/experiment.h"

enum progress_mode { PROGRESS_AUTO, PROGRESS_QUIET, PROGRESS_BAR, PROGRESS_JSON };

struct execute_options {
    const char *output; /* path of the results file */
    int threads;        /* >= 1 */
    bool resume, check, fail_fast;
    uint32_t shard, n_shards; /* run index % n_shards == shard - 1; n_shards 0: all */
    enum progress_mode progress;
    const volatile int *cancel;
};

struct execute_report {
    uint32_t planned, reused, done, failed;
    bool was_interrupted, is_complete;
};

/* BRAID_OK when every planned run is in `output`; BRAID_FAILED when a run failed (the others are stored), was interrupted, or a file could
 * not be written; BRAID_BAD_INPUT for a bad trace. */
int experiment_execute(const struct experiment *x, const struct execute_options *o, struct execute_report *report, struct error *err);

/* One run without files: load and scale its workload, run, compute metrics. Used by execute, tests and bench. `w` and `r` are filled. */
int experiment_run_one(const struct run_config *config, bool check, struct workload *w, struct run_result *r, struct error *err);

#endif
