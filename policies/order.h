/* order.h - the part of a composed policy that says who comes first.
 *
 * A job's value at time t is key + slope * t, for some orders times its GPUs; the smallest value comes first, the rank breaks
 * ties. The key is taken when the job enters the queue or (re)starts and holds while it stays there. That is enough for every
 * order here because jobs of one demand (GPUs, CPU, memory, type) and one state (queued, running) share their slope and their
 * GPUs: among themselves they never change places, so a policy keeps them sorted and compares only the heads.
 */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include <braid/policy.h>

struct gittins_index;

enum within { WITHIN_RUNNING, WITHIN_ENTRY, WITHIN_SUBMIT };

/* Parameters that orders may read. Every composition has the first two (policies/compose.h), a policy with an order of its own
 * the ones that it fills. */
struct order_params {
    int64_t ageing_ns;     /* priority: waiting time worth one point; 0: no ageing */
    bool doubles;          /* srtf, srsf, and fill easy: what remains of a job beyond its estimate (overrun: double), else nothing */
    bool by_gpu_time;      /* las, tiresias, gittins: attained GPU-time, else time */
    uint64_t salt;         /* random: drawn once an instance */
    const int64_t *limits; /* tiresias: service at which a job leaves queue i, ascending */
    uint32_t n_limits;
    double promote; /* tiresias: waiting time, in executed time, that brings a job back; 0: never */
    enum within within; /* tiresias: who comes first in a queue */
    const struct gittins_index *index;
    int64_t window_ns; /* rr_sjf: time over which jobs that enter the queue are told apart by length */
    uint32_t *turns;   /* rr_sjf (keeps_turns): by job, 1 + the window that it last joined; 0: none yet */
    void *own;         /* what an order of a policy's own keeps */
};

/* What an order whose values jump remembers of a job (order_ops.jump); zero when the job is submitted. */
struct order_mark {
    int64_t key;         /* the value that holds until the next jump */
    uint32_t level;      /* tiresias, mlfq: queue; gittins: steps of service behind it */
    int64_t entered_ns;  /* tiresias, mlfq: when it entered that queue */
    int64_t executed_ns; /* tiresias: time it had held GPUs when its service was last counted anew */
    int64_t queued_ns;   /* tiresias: time it had been without GPUs when it first ran after that */
    int64_t seen_ns;     /* mlfq: when this mark was last brought to the present; */
    bool is_known;       /* whether it ever was */
};

struct order_ops {
    const char *name, *summary, *source;
    uint32_t knows;
    /* Value of `job` at time 0 on the line it is on from now: queued, or running. */
    int64_t (*key)(struct sched *s, uint32_t job, const struct order_params *p, bool is_running);
    /* Change of value a nanosecond: -1, 0 or 1. NULL: 0 for all. */
    int64_t (*slope)(const struct order_params *p, bool is_running);
    /* Whether values count times the job's GPUs. They are multiplied when they are compared: GPUs times the clock would leave 64 bits when a
     * job of 2,048 GPUs meets the second month of a trace. NULL: no. */
    bool (*is_by_gpus)(const struct order_params *p);
    /* Instead of `key`, for orders whose values stand still but jump at instants that can be foretold: bring the mark, its key
     * included, to the present of a job that has been in this state (queued, running) since the last call or enters it now; return
     * the next instant at which its value changes if its state does not, SCHED_NEVER: none. */
    int64_t (*jump)(struct sched *s, uint32_t job, const struct order_params *p, struct order_mark *m, bool is_running);
    /* Added to the values of all jobs of `gpus` GPUs: asked once a round. NULL: 0. */
    int64_t (*offset)(const struct sched *s, uint32_t gpus, const struct order_params *p);
    /* preempt quantum: how long `job` is safe after a start, `quantum_ns` being the parameter. NULL: that long. */
    int64_t (*slice)(struct sched *s, uint32_t job, const struct order_params *p, int64_t quantum_ns);
    bool is_remaining; /* values are what remains of a job: while it runs its line comes to 0 at its predicted end */
    bool keeps_turns; /* order_params.turns is there, zero at first */
    bool takes_turns; /* a running job comes after all that wait: goes with preempt quantum, not with when_better */
};

/* All orders, ended by NULL; one by name, or NULL. */
const struct order_ops *const *order_list(void);
const struct order_ops *order_find(const char *name);

extern const struct order_ops order_fifo, order_sjf, order_ljf, order_smallest, order_srtf, order_srsf, order_qssf,
    order_longest_waiting, order_priority, order_round_robin, order_las, order_random, order_edf, order_least_laxity,
    order_rr_sjf, order_critical_path;

#endif
