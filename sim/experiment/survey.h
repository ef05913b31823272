/* survey.h - what a config leaves out of its trace, and the other way round: jobs that are rejected and why, VCs and nodes that nobody uses,
 * types of GPU that differ by case, loads above 1, jobs of the trace that could not be read. `braid run` says so of the runs it makes, `braid config check` before any is made. */
#ifndef EXPERIMENT_SURVEY_H
#define EXPERIMENT_SURVEY_H

#include "experiment/remarks.h"

/* Remarks on a run over the workload `w` (at its load). `result` NULL: before the run, with the rejections that can be foreseen. Nothing is
 * said of what cannot be told because memory is out (out->is_short). */
void survey_run(struct remarks *out, const struct run_config *config, const struct workload *w,
                const struct run_result *result);

/* Remarks on the sweep itself. */
void survey_sweep(struct remarks *out, const struct experiment *x);

/* Remarks on every run before it is made; traces are read for it, at most a few and none that is very long: then a remark says so, and also when
 * one cannot be read. With each trace its runs are set up as well: the error of the first that would be refused before its first event goes to
 * `err`, with the run and how many more; BRAID_OK when there is none. */
int survey_traces(struct remarks *out, const struct experiment *x, struct error *err);

#endif
