/* workload_cache.h - each trace of an experiment is read once, however many runs use it, and freed after its last run. */
#ifndef EXPERIMENT_WORKLOAD_CACHE_H
#define EXPERIMENT_WORKLOAD_CACHE_H

#include "experiment/experiment.h"

struct workload_cache;

/* For the given runs (by trace_key). NULL when memory is out. */
struct workload_cache *workload_cache_create(const struct run_config *const *runs, uint32_t n_runs);
void workload_cache_destroy(struct workload_cache *c);

/* The workload of a run, before scaling; read by the first who asks while others who want the same wait. NULL with `err` filled when it
 * cannot be read (the next one who asks gets the same error). Thread-safe. Each run gets once and puts once. */
const struct workload *workload_cache_get(struct workload_cache *c, const struct run_config *run, struct error *err);
void workload_cache_put(struct workload_cache *c, const struct run_config *run);

#endif
