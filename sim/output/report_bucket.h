/* report_bucket.h - the metrics of a part of a run's jobs: those of one virtual cluster, GPU size, user, status,
 * hour of the day or length, or all of them.
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

/* Can the metric be computed from /jobs? (What it is, says metrics_describe.) */
bool bucket_has_metric(const char *metric);

/* The place of a class of lengths (the key `length`), from 0; beyond all for another text. */
int bucket_length_order(const char *text);

/* What is wanted of a run. */
struct bucket_query {
    const char *const *job_keys;
    uint32_t n_job_keys; /* 0: all jobs are one bucket without texts */
    const char *const *metrics;
    uint32_t n_metrics;
    const bool *only; /* the jobs to look at, by row of the run; NULL: all */
};

/* Split the jobs of `run`; memory of `a`. */
int buckets_query(struct buckets *out, const struct report_file *f, const struct report_run *run,
                  const struct bucket_query *q, struct arena *a, struct error *err);
/* The same of all jobs. */
int buckets_load(struct buckets *out, const struct report_file *f, const struct report_run *run,
                 const char *const *job_keys, uint32_t n_job_keys, const char *const *metrics, uint32_t n_metrics,
                 struct arena *a, struct error *err);

/* The jobs of which the means of the query are made: a code by row of the run, 0 for those that do not count (outside `measure`, not
 * finished). Equal codes in two runs: the job counts in both, in the same way. NULL with `err` filled. */
uint8_t *bucket_counted_load(const struct report_file *f, const struct report_run *run, const struct bucket_query *q,
                             struct arena *a, struct error *err);

#endif
