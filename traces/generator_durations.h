/* generator_durations.h - the durations of one class of sizes as a table of quantiles. Internal to traces/. */
#ifndef TRACES_GENERATOR_DURATIONS_H
#define TRACES_GENERATOR_DURATIONS_H

#include "traces/generator_profile.h"

#include <braid/error.h>

struct durations {
    uint32_t n;
    double *u, *log_s; /* n knots, ascending */
    uint32_t *guide;   /* the knot at or below each of equally spaced shares */
};

/* From the mixture or the knots of `c`; free with durations_fini, also after an error. BRAID_FAILED: memory is out. */
int durations_init(struct durations *d, const struct profile_class *c, double longest_s, struct error *err);
void durations_fini(struct durations *d);

/* The whole seconds that a share `u` (0 to 1) of the durations does not exceed. */
int64_t durations_at(const struct durations *d, double u);

#endif
