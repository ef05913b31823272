/* scene.h - a random experiment as plain facts: the nodes, virtual clusters, jobs and settings that its files say. A seed gives the same scene
 * everywhere. What braid makes of the files is judged by the facts alone (check.h).
 */
#ifndef TESTS_RANDOM_SCENE_H
#define TESTS_RANDOM_SCENE_H

#include <braid/policy.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SCENE_JOBS = 80, SCENE_GROUPS = 3, SCENE_NODES = 12, SCENE_VCS = 4, SCENE_CHANGES = 5, SCENE_STAGES = 4 };
enum { SCENE_DEPENDS = 3, SCENE_STEPS = 4, SCENE_TEXT = 4096 };

#define SCENE_S INT64_C(1000000000) /* a second in ns */
#define SCENE_NONE INT64_C(-1)      /* the trace does not say */
#define SCENE_NEVER INT64_MAX

struct scene_job {
    char id[16];
    int64_t submit_ns, duration_ns;
    int64_t estimate_ns, deadline_ns, start_ns; /* SCENE_NONE */
    int64_t told_ns;                            /* of a file of estimates */
    uint32_t gpus, cpu_milli;
    uint64_t memory_kib, gpu_memory_kib;
    double priority;
    const char *vc, *user, *name, *model, *type; /* "": none */
    uint32_t status;                             /* as the column trace_status numbers them */
    int64_t iteration_ns, stage_ns[SCENE_STAGES];
    uint32_t depends[SCENE_DEPENDS], n_depends; /* jobs */
    bool is_left_out;                           /* of a case that is made smaller */
};

struct scene_group {
    uint32_t count, gpus, cpu_milli; /* 0: unlimited */
    uint64_t memory_kib, gpu_memory_kib;
    const char *type;
};

struct scene_change {
    int64_t at_ns;
    uint32_t gpus;
};

struct scene_vc {
    const char *name;
    bool is_quota, is_preempt;
    uint32_t amount; /* nodes, or GPUs */
    struct scene_change changes[SCENE_CHANGES];
    uint32_t n_changes;
};

/* One time, or steps by GPUs, perhaps from a file with steps of their own for one model. */
enum scene_form { SCENE_CONSTANT, SCENE_BY_GPUS, SCENE_TABLE };
struct scene_overhead {
    enum scene_form form;
    int64_t ns[SCENE_STEPS], own_ns[SCENE_STEPS];
    uint32_t gpus[SCENE_STEPS], n;
    const char *model; /* of own_ns; NULL: none */
};

enum scene_estimate { SCENE_EXACT, SCENE_TRACE, SCENE_NOISE, SCENE_USER_MEAN, SCENE_FILE };

struct scene {
    uint64_t seed;
    struct scene_group groups[SCENE_GROUPS];
    uint32_t n_groups, nodes_per_rack; /* 0: one rack */
    struct scene_vc vcs[SCENE_VCS];
    uint32_t n_vcs;
    struct scene_job jobs[SCENE_JOBS];
    uint32_t n_jobs;
    bool has_estimates, has_deadlines, has_starts, has_priorities, has_cpus, has_types, has_stages, has_depends;
    bool has_names, has_status, has_gpu_memory;

    const struct policy_ops *policy;
    const char *placement;
    char policy_text[SCENE_TEXT], placement_text[256]; /* YAML */
    char shares[1024], sample[1024];                   /* files that the policy names; "": none */
    bool is_fifo, fills_easy;                          /* policies whose promise can be checked, without other parts */

    enum scene_estimate estimate;
    bool kills; /* on_exceed */
    double sigma;
    struct scene_overhead start, restart;
    uint32_t group_jobs;                                    /* model.interleave.groups; 0: not said */
    const char *group_order, *fidelity, *kinds, *inflation; /* NULL: not said */
    double profile_error;
    int64_t from_ns, to_ns, warm_up_ns; /* measure; from SCENE_NONE: start; to SCENE_NEVER: end */
    int64_t stop_ns;                    /* SCENE_NEVER */
    uint32_t stop_queue;                /* UINT32_MAX */
    int64_t step_ns;                    /* of the series; 0: off */
    bool segments, events;
    uint32_t run_seed;
};

/* The scene of a seed. */
void scene_make(struct scene *s, uint64_t seed);

/* Its files into a folder that exists: c.yaml, trace.csv and what these name. False: the disk. */
bool scene_write(const struct scene *s, const char *folder);

/* For people who look at a finding: the config and the trace. */
void scene_print(const struct scene *s, FILE *out);

/* What of braid's features is in it, as words between commas: to be counted. */
void scene_features(const struct scene *s, char *out, size_t size);

/* ---- parts of the making ---- */

struct scene_dice {
    uint64_t state;
};

uint32_t scene_roll(struct scene_dice *d, uint32_t sides);
bool scene_chance(struct scene_dice *d, uint32_t percent);
double scene_real(struct scene_dice *d, double from, double to);
double scene_log(struct scene_dice *d, double from, double to); /* the logarithm is even; from > 0 */

/* The policy with its parameters, and the placement; `scale_s` is about how long jobs take. */
void scene_draw_policy(struct scene *s, struct scene_dice *d, double scale_s);

/* Text of a time in seconds, exact; of a number without exponent. Returns `out`. */
char *scene_seconds(int64_t ns, char out[32]);
char *scene_number(double v, char out[64]);

#endif
