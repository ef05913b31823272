/* metrics.h - the numbers of /summary (definitions: docs/schema.md). Seconds; over finished jobs submitted inside `measure`;
 * what has no meaning is NaN. One table in metrics.c gives each metric its name, unit and definition.
 */
#ifndef OUTPUT_METRICS_H
#define OUTPUT_METRICS_H

#include "engine/run.h"

enum { METRICS_MAX = 64 };

struct metric_info {
    const char *name, *unit, *definition;
    bool is_count;    /* a whole number */
    int better;       /* -1: less is better, +1: more, 0: neither */
};

struct metrics {
    double value[METRICS_MAX]; /* by index into metrics_table() */
};

const struct metric_info *metrics_table(size_t *n);
int metrics_find(const char *name); /* index or -1 */

/* Compute all. Memory is taken and freed inside; BRAID_FAILED when out. */
int metrics_compute(struct metrics *m, const struct run_result *r, const struct workload *w, const struct measure_spec *measure,
                    struct error *err);

#endif
