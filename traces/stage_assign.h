/* stage_assign.h - jobs get the stage times of a table of profiles (stage_table.h): `trace: {profiles: {...}}`. */
#ifndef TRACES_STAGE_ASSIGN_H
#define TRACES_STAGE_ASSIGN_H

#include "traces/trace.h"

/* Give jobs of `w` (in rank order, names settled) iteration, stage times and iterations, as `spec` says; durations stay. A job whose trace
 * knows no GPU memory or no model gets those of the table too; a model that was drawn for all (STAGES_DRAWN) stands in place of the
 * trace's. The digest is made anew. Draws come from the stream (spec->seed, "profiles"), one a job in rank order, whether it is
 * needed or not; jobs of one user and one name, where the trace has names, share the draw of their first one.
 * BRAID_BAD_INPUT: a fault in the table (with its place), a mix that wants a class of which the table has no model; BRAID_FAILED: memory
 * is out. O(n log n). */
int stage_assign(struct workload *w, const struct stages_spec *spec, struct error *err);

#endif
