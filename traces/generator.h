/* generator.h - workloads that are made up, reproducibly, from a model's statistics.
 *
 * Every purpose (arrivals, sizes, durations, …) draws from its own stream (base/random.h), so that a change of one never shifts
 * another: the first 1,000 jobs of 2,000 are those of 1,000, other users do not change an arrival, and under another rate the same jobs come
 * in the same order. Only `burst` and `repeat` decide anew which job is which.
 */
#ifndef TRACES_GENERATOR_H
#define TRACES_GENERATOR_H

#include "traces/trace.h"

/* Fill `out` (initialised here; free with workload_fini) with spec->jobs jobs. Ids are their ranks; names that no job bears are left
 * out, so that a trace written and read again is the same workload. BRAID_BAD_INPUT: an unknown model, a number out of range, a
 * fault in the model's file (with its place), arrivals that leave the range of time; BRAID_FAILED: memory is out, and `out` is empty. */
int generator_make(struct workload *out, const struct generator_spec *spec, struct error *err);

/* Names of the models, NULL at the end. */
const char *const *generator_models(void);

/* A line about a model (for help texts), or NULL for an unknown one. */
const char *generator_summary(const char *model);

#endif
