/* experiment.h - a YAML config as a list of runs.
 *
 *   file ──libyaml──▶ tree with positions ──sweep──▶ a tree a run ──typed table──▶ struct run_config
 *
 * One typed table (config_keys.c) holds every key with type, default, range, unit and help; the checks, the defaults, the messages
 * and docs/config.md are made from it.
 */
#ifndef EXPERIMENT_EXPERIMENT_H
#define EXPERIMENT_EXPERIMENT_H

#include "engine/run.h"
#include "traces/trace.h"

enum series_switch { OUTPUT_OFF, OUTPUT_ON, OUTPUT_AUTO };

struct output_spec {
    enum series_switch jobs; /* auto: on up to 100 runs in the sweep */
    int64_t series_step_ns;  /* 0: off */
    bool segments;           /* also /allocs */
    bool events;             /* decision log, /events */
};

/* One swept key and its value in this run, as YAML text in one line. */
struct swept {
    const char *key, *value;
};

/* One run: everything that decides its result. All pointers belong to the experiment's arena. */
struct run_config {
    uint32_t index; /* in the order of the product */
    struct trace_spec trace;
    struct {
        const char *separator, *header, *unit;
    } table; /* trace.separator and the like, as they go into trace.mapping */
    struct cluster_spec cluster; /* loaded */
    struct policy_spec policy;
    struct placement_spec placement;
    struct estimate_spec estimate;
    struct overhead_spec overhead;
    struct sharing_spec sharing;
    double profile_error; /* model/profile_view.h */
    struct measure_spec measure;
    struct stop_spec stop;
    struct output_spec output;
    const char *compat; /* "none" */
    uint64_t seed;
    const struct swept *swept;
    uint32_t n_swept;
    const char *yaml;      /* the resolved config of this run (every key, canonical order, no output keys) */
    const char *trace_key; /* equal for runs that read the same workload before scaling */
    /* Text over which the run's id is taken, but for the trace digest: the resolved config with each file replaced by its
     * SHA-256 (so that a changed quota file is another run, and a moved one is not). */
    const char *identity;
};

/* More than this is an error: each run is kept as a value. */
enum { EXPERIMENT_RUNS_MAX = 100000 };

struct experiment {
    const char *name;
    const char *path; /* of the config */
    struct run_config *runs;
    uint32_t n_runs;
    const struct swept *axes; /* the swept keys in order, each with the number of its values as text */
    uint32_t n_axes;
    const char **inputs; /* the files that the config names, as they can be opened */
    uint32_t n_inputs;
    void **libraries; /* plugins that runs point into; closed by experiment_fini */
    uint32_t n_libraries;
    struct arena arena;
};

/* KEY=VALUE of `--set` (VALUE is YAML). */
struct config_override {
    const char *text;
};

/* Load and check everything, the files it names included (but not the trace). BRAID_BAD_INPUT with file, line and column. */
int experiment_load(struct experiment *x, const char *path, const struct config_override *sets, size_t n_sets,
                    struct error *err);
void experiment_fini(struct experiment *x);

/* docs/config.md from the typed table, to `out` (a FILE *). */
void config_write_docs(void *out);

#endif
