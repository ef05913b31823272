/* metrics.h - the numbers of /summary (definitions: docs/schema.md). Seconds; over finished jobs submitted inside `measure`;
 * what has no meaning is NaN. One table in metrics.c gives each metric its name, unit and definition.
 */
#ifndef OUTPUT_METRICS_H
#define OUTPUT_METRICS_H

#include "engine/run.h"

enum { METRICS_MAX = 64, METRIC_NAME_MAX = 64 };

/* What a metric is taken over. */
enum metric_over {
    METRIC_OVER_FINISHED,    /* finished jobs submitted inside `measure` */
    METRIC_OVER_JOBS,        /* all jobs submitted inside `measure` */
    METRIC_OVER_SUBMISSIONS, /* the whole run from the first to the last submission */
    METRIC_OVER_MAKESPAN,    /* the whole run from the first submission to the last end */
    METRIC_OVER_RUN,         /* the whole run */
};

/* Which jobs that do not finish make a metric worse. It may be compared only between runs in which the others are the same. */
enum metric_losses { METRIC_LOSSES_NONE, METRIC_LOSSES_UNFINISHED /* not rejected ones */, METRIC_LOSSES_ALL };

struct metric_info {
    const char *name, *unit, *definition;
    bool is_count; /* a whole number */
    int better;    /* -1: less is better, +1: more, 0: neither */
    enum metric_over over;
    enum metric_losses losses;
};

struct metrics {
    double value[METRICS_MAX]; /* by index into metrics_table() */
};

const struct metric_info *metrics_table(size_t *n);
int metrics_find(const char *name); /* index or -1 */

const char *metrics_over_text(enum metric_over over); /* for people */

/* Is `name` a quantile of a quantity of each job ("wait_p95", "jct_p99.9"; of jct, wait, queued, slowdown and bounded_slowdown)? The
 * quantity, and the quantile from 0 to 1. */
bool metrics_quantile(const char *name, char quantity[METRIC_NAME_MAX], double *q);

/* All that is known of a metric by name: a column of /summary, a quantile, or a column of OUT.cost.csv (wall_s, cpu_s, …). False for another
 * name; `out` then has better -1. */
bool metrics_describe(struct metric_info *out, const char *name);

/* Compute all. Memory is taken and freed inside; BRAID_FAILED when out. */
int metrics_compute(struct metrics *m, const struct run_result *r, const struct workload *w,
                    const struct measure_spec *measure, struct error *err);

#endif
