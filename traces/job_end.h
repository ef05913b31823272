/* job_end.h - what logs call the end of a job: words of Slurm, PBS, LSF, Kubernetes, Philly, Helios and others, and numbers where it is
 * said whose numbers they are.
 */
#ifndef TRACES_JOB_END_H
#define TRACES_JOB_END_H

#include "traces/workload.h"

#include <stddef.h>

struct job_end {
    enum trace_status status;
    bool is_known;               /* the word or number has a meaning */
    bool is_waiting, is_running; /* when the log was taken: there is no run time */
};

/* Whose numbers. Without (JOB_CODES_NONE) a number has no meaning: 1 is "running" to Slurm and "completed" to SWF. */
enum job_codes {
    JOB_CODES_NONE,
    JOB_CODES_SLURM, /* enum job_states of slurm.h; bits above the lowest eight are flags */
    JOB_CODES_SWF,   /* 0 failed, 1 completed, 5 cancelled */
    JOB_CODES_EXIT   /* an exit status: 0 passed, else failed; "0:0" as sacct's ExitCode */
};

/* Of the first word of `text`, capitals or not; "CANCELLED by 1000" is cancelled and "CANCELLED+" is cut short by a column. */
struct job_end job_end_find(const char *text, size_t n);

/* Of a number. */
struct job_end job_end_of_code(enum job_codes codes, const char *text, size_t n);

#endif
