/* sharing.h - how fast jobs go that share their GPUs. The engine asks when the members of a group change; new physics is a new model,
 * never a branch in the engine.
 */
#ifndef MODEL_SHARING_H
#define MODEL_SHARING_H

#include <stdbool.h>
#include <stdint.h>

struct sharing_model {
    void *self; /* read only while runs use it: several may at once */
    uint32_t most; /* largest group, >= 2 */
    /* Work done a nanosecond by each of the jobs (ranks of the workload) when these `n` share a set of GPUs: in (0, 1], 1 = as fast as alone. */
    void (*rates)(void *self, const uint32_t *jobs, uint32_t n, double *out);
    /* NULL, or a literal: why these jobs cannot share GPUs of `gpu_memory_kib` each (0 = unlimited): no profile, not enough memory. */
    const char *(*refusal)(void *self, const uint32_t *jobs, uint32_t n, uint64_t gpu_memory_kib);
};

#endif
