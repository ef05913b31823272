/* recorder.h - keeps what a run tells its watchers: series on a fixed step, segments with their GPUs, the decision log.
 *
 * Series: counts at the end of a bin, utilisations averaged over it (of GPUs as they are allocated; and of each kind of resource as it
 * works, where the trace has stage times); what the policy tells of itself, at the end of a bin; scope "cluster" and each VC by name.
 * Tables grow in memory and are written by results_write_part.
 */
#ifndef OUTPUT_RECORDER_H
#define OUTPUT_RECORDER_H

#include "engine/run.h"

enum { SERIES_ROWS_MAX = 50000000 }; /* of /series, of one run */

struct output_spec;
struct recorder; /* opaque here; tables in recorder.c are reached by results_write.c through recorder_tables.h */

/* NULL with `err` filled when memory is out. `n_instances` queues. */
struct recorder *recorder_create(const struct output_spec *what, uint32_t n_instances, struct error *err);
void recorder_destroy(struct recorder *r);

/* Another limit for the rows of /series than SERIES_ROWS_MAX. Before the run. */
void recorder_limit(struct recorder *r, uint64_t rows_max);

/* Let the series tell what the resources work, too. Nothing happens where the series are off or the trace has no stage times. Before
 * recorder_watch; `w` must outlive the recorder. BRAID_FAILED: memory. */
int recorder_follow(struct recorder *r, const struct workload *w, const struct cluster_spec *cluster,
                    struct error *err);

/* The watcher to put into run_spec.watch (callbacks are NULL for what is off). */
struct run_watch recorder_watch(struct recorder *r);

/* Close open bins after the run; false when memory ran out at any time, or when the series passed their limit. */
bool recorder_finish(struct recorder *r, const struct run_result *result);

/* Why recorder_finish said false: BRAID_FAILED for memory; BRAID_BAD_INPUT for a step that is too short for this run, with the number of
 * steps and the shortest step that does. */
int recorder_explain(const struct recorder *r, const struct run_result *result, struct error *err);

#endif
