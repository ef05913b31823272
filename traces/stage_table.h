/* stage_table.h - stage times of networks from a table, for jobs whose trace has none (`trace.profiles`).
 *
 *     braid_profiles: 1
 *     source: where the numbers are from
 *     models:
 *       vgg16:
 *         bound: network            # storage, cpu, gpu or network: its class in a mix; left out: its longest stage on the fewest GPUs
 *         weight: 2                 # against other models, 1 when left out; 0: by name alone
 *         gpu_memory: 11 GiB        # of each GPU, when known
 *         source: of this model's numbers
 *         by_gpus:                  # ascending; a job takes the largest that is no larger than it, else the first
 *           1: {iteration: 107 ms, storage: 88 ms, cpu: 29 ms, gpu: 68 ms}
 *           2: {iteration: 191 ms, storage: 86 ms, cpu: 28 ms, gpu: 72 ms, network: 40 ms}
 *
 * A stage that is left out takes no time; an iteration that is left out takes as long as its stages together.
 */
#ifndef TRACES_STAGE_TABLE_H
#define TRACES_STAGE_TABLE_H

#include "base/arena.h"
#include "traces/workload.h"

#include <braid/error.h>

enum { STAGE_TABLE_MODELS_MAX = 10000, STAGE_TABLE_GPUS_MAX = 1 << 24 };

/* A stage or an iteration takes at most this many seconds. */
#define STAGE_TABLE_SECONDS_MAX 1000000

struct stage_entry_ns {
    uint32_t gpus;
    int64_t iteration_ns;              /* > 0 */
    int64_t stage_ns[WORKLOAD_STAGES]; /* >= 0, together > 0 */
};

struct stage_model {
    const char *name;
    uint32_t bound;       /* kind of resource: 0 storage .. 3 network */
    double weight;        /* >= 0 */
    uint64_t gpu_mem_kib; /* 0: not known */
    uint32_t n_entries;   /* >= 1, by GPUs */
    const struct stage_entry_ns *entries;
};

struct stage_table {
    uint32_t n_models;                /* >= 1 */
    const struct stage_model *models; /* in natural order of their names */
};

/* The kinds of resource by number, as tables and configs call them. */
extern const char *const stage_kind_names[WORKLOAD_STAGES];

/* Read a table; all of it is from `a`. `shown` is the path for messages and must live as long. BRAID_BAD_INPUT with file, line and column:
 * not YAML, unknown or missing keys, numbers out of range or out of order, no model with a weight; BRAID_FAILED: memory is out. */
int stage_table_read(struct stage_table *out, struct arena *a, const char *path, const char *shown, struct error *err);

/* The model of that name, or NULL. */
const struct stage_model *stage_table_find(const struct stage_table *t, const char *name);

/* What a job on `gpus` GPUs takes. */
const struct stage_entry_ns *stage_model_entry(const struct stage_model *m, uint32_t gpus);

#endif
