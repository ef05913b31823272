/* outcome.h - one run computed: from its config to everything that is stored of it (for execute.c). */
#ifndef EXPERIMENT_OUTCOME_H
#define EXPERIMENT_OUTCOME_H

#include "experiment/parts.h"
#include "experiment/remarks.h"
#include "experiment/workload_cache.h"

struct outcome {
    const struct run_config *config;
    char id[RUN_ID_HEX + 1];         /* "" when its trace cannot be read */
    const struct stored_run *stored; /* it is stored already: nothing was computed */
    struct run_output output;
    struct error error; /* code 0: it went well */
    double wall_s, cpu_s;
    /* what `output` points to */
    const struct workload *base; /* from the cache, until outcome_fini */
    struct workload scaled;
    struct run_result result;
    struct recorder *recorder;
    struct remarks remarks; /* of this run alone; none when it was stored already or failed */
    char *remarks_text;
};

/* What all runs of an experiment have in common; read only. */
struct outcome_context {
    const struct experiment *x;
    struct workload_cache *cache;
    const struct parts *parts; /* where to look for stored runs; NULL: nowhere */
    bool check;
    uint32_t threads; /* lent to each run */
    bool is_alone;    /* no other run is computed at the same time: what the process costs is what the run does */
    const volatile int *cancel;
};

/* Compute `config`. Never fails as a call: `o->error` says how it went. HDF5 is not touched. `seat` (or NULL) says meanwhile what
 * is computed. */
struct run_seat;
void outcome_compute(struct outcome *o, const struct outcome_context *c, const struct run_config *config,
                     struct run_seat *seat);
void outcome_fini(struct outcome *o, const struct outcome_context *c);

/* Does `config` want another workload than the one that its trace gives? Then `out` becomes it, from `base`: with its
 * jobs where the routes of VCs want them, at its load or scale. */
bool outcome_scales(const struct run_config *config);
int outcome_scale(struct workload *out, const struct workload *base, const struct run_config *config,
                  struct error *err);

/* The engine's spec for a run. */
struct run_spec outcome_spec(const struct run_config *config, const struct workload *w, bool check,
                             const volatile int *cancel);

/* Would the run of `config` be refused before its first event? `base` is its trace before it is brought to a load. BRAID_OK, or the error. */
int outcome_try(const struct run_config *config, const struct workload *base, struct error *err);

/* outcome_remarks.c: what should be said of a run that went well. False: memory is out. */
bool outcome_remark(struct outcome *o);

#endif
