/* report_cost.h - what the simulator itself cost: OUT.cost.csv beside OUT.h5, a row a run. */
#ifndef OUTPUT_REPORT_COST_H
#define OUTPUT_REPORT_COST_H

#include "output/report_file.h"

struct report_cost {
    uint32_t n_columns; /* without `run` */
    const char **columns;
    double *values; /* n_runs of the file x n_columns; NaN: not said */
    struct arena arena;
};

/* A file that is not there, or a run that it lacks, is no error: there are no columns, or NaN. BRAID_BAD_INPUT with the line for a file that
 * is not such a table. `out` is empty on error. */
int report_cost_load(struct report_cost *out, const struct report_file *f, struct error *err);
void report_cost_fini(struct report_cost *c);

/* The unit that the name of a cost column ends in ("wall_s": "s"), or "". */
const char *report_cost_unit(const char *column);

#endif
