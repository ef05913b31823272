/* interval.h - a sample of batch means, its confidence interval, and the comparison with a closed form.
 *
 * All comparisons of this folder are one family: their intervals hold at once with a probability of 99 % (Bonferroni), so a right
 * engine is accused once in a hundred choices of seeds; the seeds are fixed.
 */
#ifndef TESTS_THEORY_INTERVAL_H
#define TESTS_THEORY_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/* At least as many as comparisons are made in all; scripts/validate counts them. */
enum { FAMILY_COMPARISONS = 64 };
#define FAMILY_CONFIDENCE 0.99

enum { SAMPLE_ROOM = 512 };

struct sample {
    double mean[SAMPLE_ROOM]; /* of each batch */
    uint32_t n;
};

void sample_add(struct sample *s, double batch_mean);

struct interval {
    double mean, half_width;
    double correlation; /* of neighbouring batches: near 0 where batches are long enough */
};

/* Student's interval at the family's confidence. At least 10 batches. */
struct interval interval_of(const struct sample *s);
bool interval_holds(const struct interval *i, double exact);

/* One comparison: `exact` lies in the interval, the interval is no wider than `tolerance` (half of it, relative to `exact`), and
 * the batches are as good as independent. Appends a line `theory TAB model TAB quantity TAB load TAB exact TAB mean TAB
 * half-width TAB tolerance TAB batches` to the file $BRAID_REPORT where that is set. */
void compare(const char *model, const char *quantity, double load, double exact, const struct sample *s, double tolerance);

/* Append a line of tab-separated words to $BRAID_REPORT, where that is set. */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
