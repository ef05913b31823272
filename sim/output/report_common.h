/* report_common.h - do two runs tell of the same jobs, and if not, what is there to compare?
 *
 * A policy that loses, rejects or leaves jobs unfinished has means over fewer, often easier jobs. Two runs are compared over what
 * finished in both:
 *
 *     run A  [x][x][ ][x]   finished                COMMON_SAME     the same jobs: compare as they are
 *     run B  [x][ ][x][x]                           COMMON_PARTLY   the metrics of jobs 0 and 3, anew from /jobs
 *                                                   COMMON_UNKNOWN  it cannot be told (`why`): nothing is compared
 *
 * Metrics that a lost job makes worse (metric_info.losses) are compared in any case.
 */
#ifndef OUTPUT_REPORT_COMMON_H
#define OUTPUT_REPORT_COMMON_H

#include "output/report_sample.h"

enum common_kind { COMMON_SAME, COMMON_PARTLY, COMMON_UNKNOWN };

struct common {
    enum common_kind kind;
    const char *why;  /* COMMON_UNKNOWN: the reason; a literal */
    double n_common;  /* COMMON_PARTLY: jobs (of the bucket) that count in both */
    double values[2]; /* of the metric that was asked for; NaN: it is not to be compared */
};

/* Pairs that were looked at before; memory of the arena that it is made with. */
struct common_cache {
    struct arena *arena;
    const struct sample_set *set;
    struct common_pair *first;
};

/* Metric `m` of the set for two samples of equal buckets. */
int common_values(struct common *out, struct common_cache *cache, const struct sample *const pair[2], uint32_t m,
                  struct error *err);

#endif
