/* slurm_resources.h - texts that list resources: Slurm's trackable ones ("cpu=8,gres/gpu:a100=2,mem=64G", by name or by number "1=8,4=1"),
 * and generic ones ("gpu:a100:4(S:0-1)", "gres:gpu:2").
 */
#ifndef TRACES_SLURM_RESOURCES_H
#define TRACES_SLURM_RESOURCES_H

#include "traces/rows.h"

/* What a list of trackable resources by name says. Absent values are WORKLOAD_ABSENT, memory 0. */
struct slurm_resources {
    int64_t gpus;           /* WORKLOAD_ABSENT: none named */
    struct trace_text type; /* of its GPUs, when all are of one named type */
    int64_t cpu_milli;
    uint64_t mem_kib;
    bool is_bad;          /* the GPUs cannot be read */
    bool is_bad_optional; /* something else cannot, and is absent */
};
struct slurm_resources slurm_resources_parse(struct trace_text list);

/* "64G": binary units as Slurm counts them, mebibytes without one. */
bool slurm_memory_parse(struct trace_text text, uint64_t *out_kib);

/* How much of the resource `name` the list has: "gres/gpu" (or its parts by type, where the total is not named), "gpu", "cpu", "1002".
 * `amount` is its value as text where it stands once; `sum` the whole times `scale`. */
struct resource_amount {
    bool is_named, is_bad;
    int64_t sum;
    struct trace_text type; /* of one type alone, else empty */
    struct trace_text text; /* of the last entry */
};
struct resource_amount resource_find(struct trace_text list, const char *name, int64_t scale);

#endif
