/* export_batsim.h - the jobs of a run as Batsim's jobs.csv (its output-jobs documentation), which evalys and others read.
 *
 * | column | here |
 * | --- | --- |
 * | job_id, profile | the id as in the trace |
 * | workload_name | the experiment's name |
 * | requested_number_of_resources | GPUs |
 * | requested_time | -1: there is no wall-time limit |
 * | final_state | COMPLETED_SUCCESSFULLY, COMPLETED_FAILED, COMPLETED_KILLED, REJECTED; unfinished: RUNNING or SUBMITTED |
 * | execution_time | from first start to end, time preempted included, so that starting_time + it = finish_time |
 * | stretch | turnaround_time / execution_time, "inf" over 0 |
 * | allocated_resources | all GPUs that the job ever held, as canonical interval set over the whole cluster (node base + GPU) |
 * | consumed_energy | -1: not modelled |
 * | metadata | vc, user, preemptions and moves |
 *
 * Cells without a value are empty: rejected jobs have no times and no resources.
 */
#ifndef OUTPUT_EXPORT_BATSIM_H
#define OUTPUT_EXPORT_BATSIM_H

#include "output/report_file.h"

#include <stdio.h>

/* Needs /jobs, /segments and /allocs: BRAID_BAD_INPUT says which output to switch on. */
int export_batsim(FILE *out, const struct report_file *f, const struct report_run *run, struct error *err);

#endif
