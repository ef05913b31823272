/* fit.h - a model for the generator measured from a trace, kept as YAML (docs/generator.md describes the file).
 *
 *     trace ──trace_load──▶ workload ──fit_measure──▶ profile ──fit_write──▶ MODEL.yaml ──fit_read──▶ profile ──▶ generator_make
 */
#ifndef TRACES_FIT_H
#define TRACES_FIT_H

#include "base/arena.h"
#include "traces/generator_profile.h"
#include "traces/workload.h"

/* Measure `w`; tables are from `a`. What the trace cannot tell (no names: repeats; no states) gets the values that docs/generator.md names.
 * BRAID_BAD_INPUT: no jobs, or more kinds of sizes or VCs than a model takes; BRAID_FAILED: memory is out. O(n log n). */
int fit_measure(struct profile *out, struct arena *a, const struct workload *w, struct error *err);

/* What the arrivals of a workload are like, one hour of the week after the other (relative), and how strongly they come together: the
 * variance of the jobs in ten minutes within an hour over their mean. 1 where that cannot be told. */
void fit_arrivals(const struct workload *w, double week_jobs[PROFILE_HOURS], double *dispersion);

/* Write `p` to `path`, whole or not at all; `source` is named in a comment. The bytes depend on the two alone. BRAID_FAILED: it cannot be
 * written. */
int fit_write(const struct profile *p, const char *source, const char *path, struct error *err);

/* Read a model; tables are from `a`. `shown` is the path for messages and must live as long. BRAID_BAD_INPUT with file, line and column: not
 * YAML, unknown or missing keys, numbers out of range or out of order; BRAID_FAILED: memory is out. */
int fit_read(struct profile *out, struct arena *a, const char *path, const char *shown, struct error *err);

#endif
