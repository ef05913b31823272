/* export_trace.h - a run as trace-event JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
 *
 * With /segments: a process a node, a thread a GPU, a slice for every stretch in which a job holds that GPU (`ph` X), named by the job.
 * Without: a process a virtual cluster, a thread a job, slices "queued" and "run". With /series: counters of the whole cluster
 * (`ph` C). Names of processes and threads are `ph` M. Times are microseconds from time 0.
 */
#ifndef OUTPUT_EXPORT_TRACE_H
#define OUTPUT_EXPORT_TRACE_H

#include "output/report_file.h"

#include <stdio.h>

/* Needs /jobs: BRAID_BAD_INPUT otherwise. */
int export_trace_events(FILE *out, const struct report_file *f, const struct report_run *run, struct error *err);

#endif
