/* job.h - the job table: what the engine knows of each job, one record a rank.
 *
 *            submit            start                finish
 *    (none) -------> QUEUED ----------> RUNNING -----------> DONE
 *                     |  ^                |  |
 *             reject  |  +----------------+  | kill
 *                     v   preempt, requeue   v
 *                    DONE                   DONE
 *
 * Times are ns from time 0. `work` is a double that counts nanoseconds at rate 1, so that rate-1 arithmetic is exact.
 */
#ifndef ENGINE_JOB_H
#define ENGINE_JOB_H

#include <stdint.h>

enum job_state { JOB_NONE, JOB_QUEUED, JOB_RUNNING, JOB_DONE };

/* What became of a job (an HDF5 enum of the same names and numbers). */
enum job_status {
    STATUS_FINISHED,
    STATUS_UNFINISHED, /* submitted, but not at its end when the run ended */
    STATUS_REJECTED,
    STATUS_FAILED,
    STATUS_KILLED,
    STATUS_NOT_SUBMITTED, /* the run was ended by `stop` before it came */
    JOB_STATUSES
};
const char *job_status_text(enum job_status s);

struct job {
    int64_t start_ns;    /* first start; -1: never */
    int64_t end_ns; /* end, rejection or, for unfinished jobs, the end of the run; -1 before, and never submitted */
    int64_t since_ns;    /* when it entered its present state */
    int64_t run_ns;      /* time it held GPUs, up to since_ns; at the end: all = productive + overhead + lost */
    int64_t overhead_ns; /* part of run_ns spent on starts, restarts and moves */
    int64_t lost_ns;     /* part of run_ns whose work was lost */
    int64_t gpu_ns;      /* integral of GPUs held */
    double work_done, work_checkpointed; /* ns at rate 1; the job is done at duration */
    double rate;         /* of work while running */
    int64_t overhead_until_ns; /* running: when work begins */
    uint32_t alloc;      /* cluster handle, ALLOC_NONE */
    uint32_t demand;     /* index of its distinct demand */
    uint32_t preemptions, moves, restarts;
    uint16_t instance;   /* of the policy */
    uint8_t state;       /* enum job_state */
    uint8_t status;      /* enum job_status, once DONE */
    const char *reason;  /* literal: why rejected, killed, unfinished; "" */
    uint64_t word;       /* the policy's own */
    uint32_t staged;     /* 1 + index of its record in the round's staged verbs; 0: none */
    uint32_t run_prev, run_next; /* the running jobs of an instance, in order of start */
};

/* GPU-time in ns: exact, but beyond 292 GPU-years, which the integer does not hold. */
static inline double job_gpu_ns(const struct job *j, uint32_t gpus)
{
    return j->gpu_ns < INT64_MAX ? (double)j->gpu_ns : (double)j->run_ns * gpus;
}

#define JOB_NIL UINT32_MAX /* no job: ends of the running list */

#endif
