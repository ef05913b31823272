/* export_trace.h - a run as trace-event JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
 *
 * With /segments: a process a node, a thread a GPU, a slice for every stretch in which a job holds that GPU (`ph` X), named by the job;
 * jobs that share a GPU have a thread each, so that the slices of a thread never overlap. Without: a process a virtual cluster, a thread
 * a job, slices "queued" and "first start to end". With /series: counters of the whole cluster (`ph` C), where a mean over a bin stands
 * at the bin's begin. Names of processes and threads are `ph` M. Times are microseconds from time 0 with three decimals: whole ns.
 */
#ifndef OUTPUT_EXPORT_TRACE_H
#define OUTPUT_EXPORT_TRACE_H

#include "output/export_notes.h"
#include "output/report_file.h"

#include <stdio.h>

/* Needs /jobs: BRAID_BAD_INPUT otherwise. `notes`: what is missing in the picture. */
int export_trace_events(FILE *out, const struct report_file *f, const struct report_run *run,
                        struct export_notes *notes, struct error *err);

#endif
