/* models.h - the table of all comparisons with theory: which model, under which policy, how long, what theory says of it, and how
 * narrow the interval must be.
 */
#ifndef TESTS_THEORY_MODELS_H
#define TESTS_THEORY_MODELS_H

#include "tests/theory/queue.h"

struct model_part {
    enum measure measure;
    double (*exact)(const struct queue *q);
    double tolerance; /* bound of the half-width, relative to the exact value */
};

struct model {
    const char *name; /* several entries, one behind the other, may share one: the same model at other loads */
    struct queue q;
    struct model_part parts[2]; /* up to the first without `exact` */
    bool has_control;           /* MEASURE_WORK serves as a control variate */
    /* Half of q.value, a quantum: the same workloads are run with both, and the linear term of the quantum's effect is taken out
     * (Richardson), because theory speaks of the limit. NULL: none. */
    const char *half_value;
};

extern const struct model models[];
extern const uint32_t n_models;

/* What a measure is called: "mean wait". MEASURE_WORK is never reported. */
const char *measure_text(enum measure m);

/* Comparisons in the whole table. */
uint32_t models_family(void);

/* Run one entry, `stretch` as in struct queue (0: nothing planted), and make the interval of each part. */
void model_measure(const struct model *m, double stretch, struct interval out[2]);

/* Run all entries of a name and compare: the closed form lies in the interval, the interval is as narrow as the table asks, and the
 * batches are as good as independent. Each comparison appends the line `theory MODEL QUANTITY LOAD EXACT MEAN HALF-WIDTH TOLERANCE`,
 * tabs between, to the file $BRAID_REPORT, where that is set. */
void models_check(const char *name);

/* Append a line of tab-separated words to $BRAID_REPORT, where that is set. */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
