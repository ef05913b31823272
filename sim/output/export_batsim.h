/* export_batsim.h - the jobs of a run as Batsim's jobs.csv (its output-jobs documentation), which evalys and others read.
 *
 * | column | here |
 * | --- | --- |
 * | job_id | the id as in the trace; ID#1, ID#2, ... where a job has several rows |
 * | profile | the id as in the trace |
 * | workload_name | the experiment's name |
 * | requested_number_of_resources | GPUs |
 * | requested_time | the run time at which a job was killed for reaching its estimate; else -1, as no other limit is known |
 * | final_state | COMPLETED_SUCCESSFULLY, COMPLETED_FAILED, COMPLETED_KILLED, COMPLETED_WALLTIME_REACHED (killed at its estimate),
 *   REJECTED; unfinished: RUNNING or SUBMITTED |
 * | starting_time, finish_time | when the job, or this stretch of it, held its GPUs |
 * | stretch | turnaround_time / execution_time, "inf" over 0 |
 * | allocated_resources | the GPUs, as canonical interval set over the whole cluster (node base + GPU) |
 * | consumed_energy | -1: not modelled |
 * | metadata | vc, user, preemptions and moves; part:2/3 of a job of several rows; shared:1 where GPUs were shared |
 *
 * Batsim has no preemption: a row holds one set of processors for all its time. A job that lost its GPUs, or changed them, has a row for
 * each time that it held some: submitted when it lost the ones before, and COMPLETED_KILLED but for the last. So no processor is
 * counted twice, execution times add up to the run time, and waiting times to the time queued. Jobs that share GPUs do overlap. Jobs that were not yet
 * submitted when the run was stopped have no row.
 *
 * Cells without a value are empty: rejected jobs have no times and no resources.
 */
#ifndef OUTPUT_EXPORT_BATSIM_H
#define OUTPUT_EXPORT_BATSIM_H

#include "output/export_notes.h"
#include "output/report_file.h"

#include <stdio.h>

/* Needs /jobs, /segments and /allocs: BRAID_BAD_INPUT says which output to switch on. `notes` tells by count what the format cannot hold. */
int export_batsim(FILE *out, const struct report_file *f, const struct report_run *run, struct export_notes *notes,
                  struct error *err);

#endif
