/* remarks.h - what a user should know of an experiment and that no number says: one line each, told in one place.
 *
 *   a check ──remarks_add──▶ remarks of a run ──remarks_take──▶ remarks of the experiment ──remarks_write──▶ stderr
 *
 * A remark has a kind, a short name that is the same for all remarks of one sort ("forgotten_jobs", "unknown_vc:debug"). A sweep makes the
 * same remark for many runs: of each kind the one of the first run is told, with the number of the others. So the lines depend neither on
 * threads nor on the order in which runs end. The text says what is the case and, where something can be done, what to do; it begins in
 * lower case and has no stop at its end.
 */
#ifndef EXPERIMENT_REMARKS_H
#define EXPERIMENT_REMARKS_H

#include "experiment/experiment.h"

#include <stdio.h>

enum { REMARK_OF_ALL = UINT32_MAX }; /* of the experiment, not of a run */

struct remark {
    char *kind, *text;
    uint32_t run;    /* index of the first run that it was made for, or REMARK_OF_ALL */
    uint32_t n_runs; /* how many it was made for */
};

/* Zeroed is empty. Not to be used by several threads at once. */
struct remarks {
    struct remark *v; /* in order of their first run, then as they were made */
    uint32_t n, room;
    bool is_short; /* memory ran out: some are missing */
};

void remarks_fini(struct remarks *r);

/* Remark something of run number `run`. Of one kind and run the first remark counts. */
void remarks_add(struct remarks *r, const char *kind, uint32_t run, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Add those of `from`, which stays as it is. */
void remarks_take(struct remarks *r, const struct remarks *from);

/* All texts in one, "; " between them, as /runs has it. To free; NULL when memory is out. */
char *remarks_text(const struct remarks *r);

/* A line each: "TITLE OF THE RUN: TEXT (so in 12 of 100 runs)". The title is left out where there is one run. */
void remarks_each(const struct remarks *r, const struct experiment *x, void (*each)(void *self, const char *line),
                  void *self);

/* The same to `out`, "braid: remark: " before each. */
void remarks_write(const struct remarks *r, const struct experiment *x, FILE *out);

#endif
