/* order.h - the part of a composed policy that says who comes first.
 *
 * A job's value at time t is key + slope * t; the smallest value comes first, the rank breaks ties. The key is taken when the
 * job enters the queue or (re)starts and holds while it stays there. That is enough for every order here because jobs of one demand
 * (GPUs, CPU, memory, type) and one state (queued, running) share their slope: among themselves they never change places, so a
 * policy keeps them sorted and compares only the heads.
 */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include <braid/policy.h>

/* Parameters that orders may read; every composed policy has them all (policies/compose.h). */
struct order_params {
    int64_t ageing_ns;   /* priority: waiting time worth one point; 0: no ageing */
    bool by_gpu_time;    /* las: attained GPU-time, else time */
};

struct order_ops {
    const char *name, *summary, *source;
    uint32_t knows;
    /* Value of `job` at time 0 on the line it is on from now: queued, or running. */
    int64_t (*key)(struct sched *s, uint32_t job, const struct order_params *p, bool is_running);
    /* Change of value a nanosecond. NULL: 0 for all. */
    int64_t (*slope)(const struct order_params *p, uint32_t gpus, bool is_running);
};

/* All orders, ended by NULL; one by name, or NULL. */
const struct order_ops *const *order_list(void);
const struct order_ops *order_find(const char *name);

extern const struct order_ops order_fifo, order_sjf, order_ljf, order_smallest, order_srtf,
    order_srsf, order_qssf, order_longest_waiting, order_priority, order_round_robin, order_las, order_random;

#endif
