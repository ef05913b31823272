/* report_stretch.h - compares when, and on which GPUs, the jobs of two runs held GPUs (for report_diff).
 *
 * The stretches of a job are its segments that hold GPUs, in order of time; those that follow each other on the same GPUs are one
 * (overhead, then progress). Kept in memory for both runs; off where one of them did not store /segments.
 */
#ifndef OUTPUT_REPORT_STRETCH_H
#define OUTPUT_REPORT_STRETCH_H

#include "output/report_diff.h"

struct stretch {
    uint32_t job;
    double begin_s, end_s;
    uint32_t first_span, n_spans; /* into spans */
    bool is_shared;               /* at some time in a group, with which it shared its GPUs */
};

struct stretch_span {
    uint32_t node, gpu_first, gpu_count;
};

struct stretches {
    uint64_t n;
    struct stretch *v;          /* by job, then begin */
    struct stretch_span *spans; /* NULL when /allocs are not stored */
    uint64_t n_jobs;
    uint64_t *at; /* n_jobs + 1: those of job j are v[at[j]] .. v[at[j + 1]] */
    struct arena arena;
};

/* Load those of one run. `out->n` is 0 when the run has no segments. */
int stretches_load(struct stretches *out, const struct report_file *f, const struct report_run *run, struct error *err);
void stretches_fini(struct stretches *s);

struct stretch_diff {
    bool is_on;
    const struct report_file *files[2];
    const struct report_run *runs[2];
    struct stretches sides[2];
    uint64_t n_other_stretches, n_other_gpus;
};

int stretch_diff_init(struct stretch_diff *d, const struct report_file *fa, const struct report_run *ra,
                      const struct report_file *fb, const struct report_run *rb, struct error *err);
void stretch_diff_fini(struct stretch_diff *d);
void stretch_reset(struct stretch_diff *d); /* forget the counts */

/* Compare the stretches of one pair of jobs (their ranks); returns the first moment at which they part, or NaN. `is_counted`: the pair
 * differs anyway and is not to be counted again. */
double stretch_compare(struct stretch_diff *d, const uint64_t rank[2], bool is_counted);

/* Say more of a parting than /jobs tells: the GPUs, preemptions, and what /events gives as the reason. */
int stretch_explain(struct stretch_diff *d, struct diff_parting *p, struct error *err);

#endif
