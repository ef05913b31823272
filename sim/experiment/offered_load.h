/* offered_load.h - the GPU time that jobs ask for between first and last submission, over what a cluster has in that time: for the cluster,
 * each VC of the trace and each type of GPU. Above 1 a queue grows as long as jobs come. Jobs that the run would reject are no load. */
#ifndef EXPERIMENT_OFFERED_LOAD_H
#define EXPERIMENT_OFFERED_LOAD_H

#include "experiment/experiment.h"

struct load_row {
    const char *name; /* the workload's, or a literal */
    uint32_t jobs, rejected;
    double gpus, gpu_ns; /* sums over the jobs that are not rejected */
    double capacity_gpu_ns;
};

struct offered_load {
    double span_ns; /* 0: all jobs are submitted at one instant, and no load can be told */
    struct load_row all;
    struct load_row *vcs; /* by VC of the workload; none where the config has no VCs */
    uint32_t n_vcs;
    struct load_row
        *types; /* by type of the workload, then "any": jobs that name none, over all GPUs; none without types */
    uint32_t n_types;
};

/* For the cluster and placement of `config`; names are those of `w`. Free with offered_load_fini. */
int offered_load_init(struct offered_load *out, const struct run_config *config, const struct workload *w,
                      struct error *err);
void offered_load_fini(struct offered_load *l);

/* gpu_ns / capacity_gpu_ns; 0 where there is no capacity. */
double load_row_load(const struct load_row *r);

#endif
