/* need.h - what a job asks for, in all that placement looks at. */
#ifndef POLICIES_NEED_H
#define POLICIES_NEED_H

#include <braid/policy.h>

enum { NEED_GPUS, NEED_CPU, NEED_MEMORY, NEED_KINDS };

struct need {
    uint32_t gpus;
    uint32_t type;    /* of GPUs, SCHED_ANY_TYPE */
    uint32_t demand;  /* the same number for the same need, below sched_n_demands; UINT32_MAX: none is known */
    uint64_t host[2]; /* CPU (1/1000 cores) and memory (KiB) of the whole job */
};

static inline struct need need_of(const struct sched *s, uint32_t job)
{
    return (struct need){.gpus = sched_gpus(s, job),
                         .type = sched_gpu_type(s, job),
                         .demand = sched_demand(s, job),
                         .host = {sched_cpu_milli(s, job), sched_memory_kib(s, job)}};
}

/* Does a node of `gpus` GPUs of `type` serve it, if it is free? */
static inline bool need_is_served(const struct need *need, uint32_t gpus, uint32_t type)
{
    return gpus > 0 && (need->type == SCHED_ANY_TYPE || need->type == type);
}

/* The most GPUs, up to `most`, that it may have on a node where so much is free. */
static inline uint32_t need_within(const struct need *need, const int64_t free[NEED_KINDS], uint32_t most)
{
    uint32_t gpus = free[NEED_GPUS] <= 0 ? 0 : free[NEED_GPUS] < (int64_t)most ? (uint32_t)free[NEED_GPUS] : most;
    for (int k = 0; k < 2; k++) {
        int64_t left = free[NEED_CPU + k];
        gpus = sched_part_most(need->host[k], left > 0 ? (uint64_t)left : 0, gpus, need->gpus);
    }
    return gpus;
}

#endif
