/* case.h - a small run made of bytes: a cluster, virtual clusters, a policy with its parameters, jobs; and what must hold of its result. */
#ifndef TESTS_FUZZ_CASE_H
#define TESTS_FUZZ_CASE_H

#include "bytes.h"

#include "engine/run.h"

#define CASE_S INT64_C(1000000000) /* a second in ns */

enum { CASE_JOBS = 48, CASE_GROUPS = 3, CASE_VCS = 4, CASE_CHANGES = 6, CASE_PARAMS = 32, CASE_LIST = 6 };

struct fuzz_job {
    int64_t submit_ns, duration_ns, estimate_ns, start_ns; /* WORKLOAD_ABSENT: none */
    uint32_t gpus, cpu_milli, vc, user, gpu_type, model;
    uint64_t mem_kib;
    double priority;
};

/* Large: have it static. */
struct fuzz_case {
    struct fuzz_job jobs[CASE_JOBS];
    uint32_t n_jobs;
    struct node_group_spec groups[CASE_GROUPS];
    struct vc_spec vcs[CASE_VCS];
    struct vc_change changes[CASE_VCS][CASE_CHANGES];
    struct cluster_spec cluster;
    union param params[CASE_PARAMS], placement_params[CASE_PARAMS];
    double lists[2 * CASE_PARAMS][CASE_LIST];
    uint32_t n_lists;
    struct overhead_row rows[2][3];
    struct run_spec spec;
    struct workload w;
    struct run_result r;
    struct error err;
    int code;
    bool may_stay; /* jobs may be left without a stop: a quota that ends too small */
};

/* Two nodes of four GPUs, fifo, consolidate, no jobs. */
void case_init(struct fuzz_case *c);
void case_fini(struct fuzz_case *c);

/* A policy, a placement with the defaults of its parameters; and a parameter by name, to be changed. */
void case_policy(struct fuzz_case *c, const struct policy_ops *ops);
void case_placement(struct fuzz_case *c, const struct placement_ops *ops);
union param *case_param(struct fuzz_case *c, const char *name);

/* Parts of a case from bytes. `is_whole`: times in whole seconds. */
void case_take_cluster(struct fuzz_case *c, struct bytes *b, bool with_vcs, bool is_whole);
void case_take_params(struct fuzz_case *c, struct bytes *b, const struct param_spec *specs, size_t n, union param *v);
void case_take_model(struct fuzz_case *c, struct bytes *b);
void case_take_jobs(struct fuzz_case *c, struct bytes *b, bool is_whole);

/* The jobs become a workload; run it; see whether the result is sound; run it again without checks and see whether that is the same. */
void case_prepare(struct fuzz_case *c);
void case_run_once(struct fuzz_case *c);
void case_check(struct fuzz_case *c);
void case_check_again(struct fuzz_case *c);

#endif
