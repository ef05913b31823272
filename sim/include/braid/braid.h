/* braid.h - the public C library: an experiment from a YAML config, its runs one by one or all into a results file.
 *
 *     struct braid_experiment *x;
 *     struct braid_result *r;
 *     struct error err;
 *     if (braid_open(&x, "philly.yaml", NULL, 0, &err) != BRAID_OK) ...
 *     if (braid_run(x, 0, &r, &err) == BRAID_OK) {
 *         printf("%s: mean JCT %.0f s\n", braid_label(x, 0), braid_metric(r, "jct_mean"));
 *         braid_result_free(r);
 *     }
 *     braid_close(x);
 *
 * Nothing is global: any number of experiments may be open, and braid_run may be called from several threads on one of them.
 * The library prints nothing and never exits. Times are integer nanoseconds from time 0 of the trace.
 */
#ifndef BRAID_BRAID_H
#define BRAID_BRAID_H

#include <braid/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

const char *braid_version(void);

struct braid_experiment; /* opaque */
struct braid_result;     /* opaque */

/* Load and check the config at `path`; `sets` are `n_sets` texts "KEY=VALUE" laid over it (NULL when none). On BRAID_OK *out is the
 * caller's (braid_close). BRAID_BAD_INPUT: `err` has file, line and column. BRAID_FAILED: memory. */
int braid_open(struct braid_experiment **out, const char *path, const char *const *sets, size_t n_sets, struct error *err);
void braid_close(struct braid_experiment *x);

/* The runs that its sweep expands to, and what run `i` (0 .. braid_n_runs - 1) is called: its policy's label. */
uint32_t braid_n_runs(const struct braid_experiment *x);
const char *braid_label(const struct braid_experiment *x, uint32_t i);

/* Simulate run `i` in memory. On BRAID_OK *out is the caller's (braid_result_free). BRAID_BAD_INPUT: the trace or the cluster; BRAID_FAILED:
 * memory, or a policy that breaks a rule. */
int braid_run(const struct braid_experiment *x, uint32_t i, struct braid_result **out, struct error *err);
void braid_result_free(struct braid_result *r);

/* Simulate all runs on `threads` threads and store them at `output` (HDF5, docs/schema.md): the file is whole or not there. */
int braid_execute(const struct braid_experiment *x, const char *output, int threads, struct error *err);

/* What became of one job; times are -1 where they never came. */
struct braid_job {
    const char *id; /* `id_length` bytes, without '\0'; lives as long as the result */
    size_t id_length;
    int64_t submit_ns, start_ns, end_ns;
    int64_t run_ns, overhead_ns;
    uint32_t gpus, preemptions;
    const char *status, *reason; /* "finished", "rejected", … and why; literals */
};

uint32_t braid_n_jobs(const struct braid_result *r);
/* Job of rank `i` (0 .. braid_n_jobs - 1). */
struct braid_job braid_job(const struct braid_result *r, uint32_t i);

/* A column of /summary by name ("jct_mean", seconds; docs/schema.md); NaN for what has no meaning and for unknown names. */
double braid_metric(const struct braid_result *r, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
