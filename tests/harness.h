/* harness.h - small cases for tests of engine and policies, built in memory and run with --check on. */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include "engine/run.h"
#include "policies/registry.h"

/* How many random cases: a tenth under the address sanitizer, which is there for bad memory, not for bad answers, and five times as slow. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CASES(n) (((n) + 9) / 10)
#endif
#endif
#if !defined CASES && defined __SANITIZE_ADDRESS__
#define CASES(n) (((n) + 9) / 10)
#elif !defined CASES
#define CASES(n) (n)
#endif

#define S INT64_C(1000000000) /* one second in ns */

enum { CASE_JOBS = 4096, CASE_GROUPS = 8, CASE_VCS = 8 };

struct case_job {
    int64_t submit_ns, duration_ns;
    uint32_t gpus;
    const char *vc, *user;
    double priority;
    int64_t estimate_ns, recorded_start_ns;          /* WORKLOAD_ABSENT: none */
    int64_t deadline_ns;                             /* WORKLOAD_ABSENT: none */
    int64_t iteration_ns, stage_ns[WORKLOAD_STAGES]; /* 0: none */
    uint32_t cpu_milli;                              /* of the whole job; 0: not said */
    uint64_t mem_kib;
    uint64_t gpu_mem_kib; /* of each GPU; 0: not said */
    const char *gpu_type; /* NULL: any */
    const char *depends;  /* numbers of jobs, separated by ';'; NULL: none */
    const char *name;     /* what the user calls it; NULL: nothing */
};

struct test_case {
    struct case_job jobs[CASE_JOBS];
    uint32_t n_jobs;
    struct node_group_spec groups[CASE_GROUPS];
    struct vc_spec vcs[CASE_VCS];
    struct cluster_spec cluster;
    struct run_spec spec;
    union param params[32], placement_params[32];
    struct sharing_spec sharing; /* groups > 1: the sharing model of the run */
    struct workload w;
    struct run_result r;
    struct error err;
};

/* A zeroed case with `nodes` nodes of `gpus` GPUs, policy fifo, placement consolidate. Freed by case_destroy. */
struct test_case *case_create(uint32_t nodes, uint32_t gpus);
void case_destroy(struct test_case *c);

/* A job in seconds; jobs must be added in order of submission (or call case_sort before the run). Returns its number. */
uint32_t case_job(struct test_case *c, double submit_s, double duration_s, uint32_t gpus);

/* Sort the jobs by submission, stably. */
void case_sort(struct test_case *c);

/* Does the policy take cases of any size and kind? `optimal` refuses large ones, and those of which counts of GPUs do not tell all. */
bool case_any_size(const struct policy_ops *ops);

/* Choose a policy with its defaults, then set parameters by name, text as in YAML. Asserts that they exist. */
void case_policy(struct test_case *c, const char *name);
bool case_has_param(const struct test_case *c, const char *name);

/* For loops over all policies: those that search try few plans, enough to differ and quick. */
void case_policy_quick(struct test_case *c, const char *name);

void case_param(struct test_case *c, const char *name, const char *value);
void case_placement(struct test_case *c, const char *name);

/* Run; the result is in c->r. case_run asserts success; case_try returns the code. */
int case_try(struct test_case *c);
void case_run(struct test_case *c);

double case_start_s(const struct test_case *c, uint32_t job);
double case_end_s(const struct test_case *c, uint32_t job);

#endif
