/* sharing.h - how fast jobs go that share their GPUs. The engine asks when the members of a group change; new physics is a new model,
 * never a branch in the engine.
 */
#ifndef MODEL_SHARING_H
#define MODEL_SHARING_H

#include "model/interleave.h"
#include "traces/workload.h"

#include <braid/error.h>
#include <stdbool.h>
#include <stdint.h>

struct sharing_model {
    void *self;    /* of this run alone */
    uint32_t most; /* largest group, >= 2 */
    /* Work done a nanosecond by each of the jobs (ranks of the workload) when these `n` share a set of GPUs: in (0, 1], 1 = as fast as alone. */
    void (*rates)(void *self, const uint32_t *jobs, uint32_t n, double *out);
    /* NULL, or a literal: why these jobs cannot share GPUs of `gpu_memory_kib` each (0 = unlimited): no profile, not enough memory. */
    const char *(*refusal)(void *self, const uint32_t *jobs, uint32_t n, uint64_t gpu_memory_kib);
};

enum sharing_fidelity { SHARING_CLOSED, SHARING_STAGE };

/* `model: {fidelity: .., interleave: {...}}` of the config. */
struct sharing_spec {
    enum sharing_fidelity fidelity;
    uint32_t groups; /* largest group; 1: jobs never share GPUs */
    enum interleave_order order;
    uint32_t n_kinds;              /* kinds of resource that can be used at the same time; 0: each of the four is one */
    uint8_t kind[WORKLOAD_STAGES]; /* which of them storage, CPU, GPU and network count as: from 0, ascending without a gap */
    struct { /* of the period by number of jobs, from one job on; the last counts for larger groups; laid out as union param's list */
        const double *v;
        uint32_t n;
    } inflation;
};

/* The model of braided jobs for one run over `w` (which must outlive it), over storage, CPU, GPU and network, or fewer kinds: stages
 * that count as one kind are one stage, as long as they are together.
 *
 *   SHARING_CLOSED  every member makes one iteration a period of the group (interleave.h, INTERLEAVE_PHASES): job i goes at
 *                   iteration(i) / period
 *   SHARING_STAGE   the group is simulated stage by stage (stage_sim.h, STAGE_EXCLUSIVE): job i goes at iteration(i) / cycle(i), each at
 *                   its own. What an iteration takes beyond its stages is a gap
 *
 * The inflation lengthens periods and cycles alike; a rate is 1 at most, and that of a job alone.
 * A group has at most as many members as there are kinds. *out is NULL where that, or spec->groups, is 1. BRAID_FAILED: memory. Free with
 * sharing_destroy. */
int sharing_create(struct sharing_model **out, const struct sharing_spec *spec, const struct workload *w, struct error *err);
void sharing_destroy(struct sharing_model *m);

#endif
