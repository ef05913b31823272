/* interval.h - a sample of batch means and its confidence interval.
 *
 * All comparisons of this folder are one family: their intervals hold all at once with a probability of 99 % (Bonferroni). A right
 * engine is then accused by one choice of seeds in a hundred; the seeds are fixed.
 */
#ifndef TESTS_THEORY_INTERVAL_H
#define TESTS_THEORY_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#define FAMILY_CONFIDENCE 0.99

enum { SAMPLE_ROOM = 1024 };

struct sample {
    double mean[SAMPLE_ROOM]; /* of each batch */
    uint32_t n;
};

void sample_add(struct sample *s, double batch_mean);

struct interval {
    double mean, half_width;
    double correlation; /* of neighbouring batches: near 0 where batches are long enough */
};

/* Student's interval of the mean of `s` at the confidence that each of `family` comparisons needs. `control`, which may be NULL, is a
 * sample over the same batches of a quantity whose mean is known: by linear regression on it the part of the noise that the
 * two share is taken out (a control variate: Lavenberg and Welch, 1981). At least 10 batches. */
struct interval interval_of(const struct sample *s, const struct sample *control, double control_mean, uint32_t family);

bool interval_holds(const struct interval *i, double exact);

#endif
