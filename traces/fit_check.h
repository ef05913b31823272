/* fit_check.h - a fitted model against the trace that it was measured from: jobs are made once and set beside it. */
#ifndef TRACES_FIT_CHECK_H
#define TRACES_FIT_CHECK_H

#include "traces/generator_profile.h"
#include "traces/workload.h"

enum { FIT_CHECK_ROWS = 8, FIT_CHECK_JOBS = 100000 };

struct fit_check_row {
    const char *name, *unit;
    double trace,
        made; /* `trace` is NaN for a distance, which is `made`: 0 where nothing differs, 100 where all does */
    bool
        is_off; /* further from the trace than the page of the generator says that a model may be (docs/generator.md) */
};

struct fit_check {
    uint32_t jobs; /* that were made: as many as the trace has, at most FIT_CHECK_JOBS */
    uint32_t n;
    struct fit_check_row rows[FIT_CHECK_ROWS];
};

/* Make jobs by `p` with `seed` and compare them with those of `w`, from which it was measured. BRAID_FAILED: memory is out;
 * BRAID_BAD_INPUT: so many jobs at the model's rate leave the range of time. O(n log n). */
int fit_check(struct fit_check *out, const struct profile *p, const struct workload *w, uint64_t seed,
              struct error *err);

#endif
