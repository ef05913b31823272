/* losses.h - what of a workload a file format has no place for, so that a conversion can say so. */
#ifndef TRACES_LOSSES_H
#define TRACES_LOSSES_H

#include "traces/workload.h"

enum { LOSSES_MAX = 32 };

struct losses {
    uint32_t n;
    struct {
        const char *what; /* a literal: "deadline", … */
        uint32_t jobs;    /* how many it concerns, > 0 */
    } all[LOSSES_MAX];
};

/* Note that `jobs` jobs lose `what`; 0 is no loss. */
void losses_add(struct losses *l, const char *what, uint32_t jobs);

/* Note each column of `w` that says something of a job and is not among `kept` (names of columns as in braid csv, ended by NULL). */
void losses_add_columns(struct losses *l, const struct workload *w, const char *const *kept);

#endif
