/* report_bucket.h - the metrics of a part of a run's jobs: those of one virtual cluster, GPU size, user, status.
 *
 * Recomputed from /jobs with the definitions of /summary; jobs submitted outside the run's `measure` are left out as there.
 * Grouped by status, the means of failed and killed jobs are over those jobs, for else they would have none.
 */
#ifndef OUTPUT_REPORT_BUCKET_H
#define OUTPUT_REPORT_BUCKET_H

#include "output/report_sample.h"

/* One value of every job key, in the order of the keys, and the jobs that have it. */
struct bucket {
    const char **texts;
    double counts[SAMPLE_COUNTS];
    double *values; /* a metric each; NaN where it cannot be had from /jobs or means nothing */
};

struct buckets {
    uint32_t n;
    struct bucket *v; /* in order of first appearance */
};

/* The unit of a metric that buckets can compute, or NULL. */
const char *bucket_metric_unit(const char *metric);

/* Split the jobs of `run`; memory of `a`. */
int buckets_load(struct buckets *out, const struct report_file *f, const struct report_run *run,
                 const char *const *job_keys, uint32_t n_job_keys, const char *const *metrics, uint32_t n_metrics,
                 struct arena *a, struct error *err);

#endif
