/* report_sample.h - what a comparison is made of: one sample a run, or one a run and bucket of its jobs.
 *
 * A sample knows the value of every *key* as text ("policy", "seed", a swept key, "vc", …) and a number for every wanted metric.
 * Metrics of whole runs come from /summary and OUT.cost.csv, quantiles that /summary lacks from /jobs; those of buckets are
 * recomputed from /jobs.
 */
#ifndef OUTPUT_REPORT_SAMPLE_H
#define OUTPUT_REPORT_SAMPLE_H

#include "output/metrics.h"
#include "output/report_file.h"

/* Counts that stand beside every mean. */
enum {
    SAMPLE_JOBS,
    SAMPLE_FINISHED,
    SAMPLE_UNFINISHED,
    SAMPLE_REJECTED,
    SAMPLE_FAILED,
    SAMPLE_KILLED,
    SAMPLE_NOT_SUBMITTED,
    SAMPLE_COUNTS
};
extern const char *const sample_count_names[SAMPLE_COUNTS];

struct sample {
    const struct report_file *file;
    const struct report_run *run;
    const char **bucket; /* one text a job key; NULL for a whole run */
    double counts[SAMPLE_COUNTS];
    double *values; /* n_metrics; NaN: has no meaning here */
};

struct sample_set {
    uint32_t n_samples;
    struct sample *samples;
    uint32_t n_job_keys;
    const char *const *job_keys; /* the caller's: "vc", "gpus", "user", "status", "trace_status", "hour", "length" */
    uint32_t n_metrics;
    const char *const *metrics; /* the caller's names */
    struct metric_info *infos;  /* what each is */
    struct arena arena;
};

/* Is `key` one by which the jobs of a run can be told apart? */
bool sample_is_job_key(const char *key);

/* The order of two values of a job key: ascending, lengths by time. 0 only for equal texts. */
int sample_compare_job_key(const char *key, const char *a, const char *b);

/* Does a key only repeat a run (seed, trace.bootstrap.…, trace.replicate)? Means over such keys alone have an interval of confidence. */
bool key_is_replicate(const char *key);

/* Load all runs of `files`, a run id once. With job keys, jobs must be stored in every file: BRAID_BAD_INPUT says how to store them. An
 * unknown metric is BRAID_BAD_INPUT with the nearest name. `out` is empty on error. */
int sample_set_load(struct sample_set *out, const struct report_file *files, size_t n_files,
                    const char *const *job_keys, uint32_t n_job_keys, const char *const *metrics, uint32_t n_metrics,
                    struct error *err);
void sample_set_fini(struct sample_set *s);

/* The key of the whole `policy` entry of a sweep: it tells policies of one label apart. */
#define SAMPLE_PARAMETERS "policy parameters"

/* The value of a key: "policy" (the label), SAMPLE_PARAMETERS, "seed", "experiment", "file", "run", a job key or a swept key; "" when it
 * has none. */
const char *sample_value(const struct sample_set *s, const struct sample *sample, const char *key);

#endif
