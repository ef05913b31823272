/* run_table.h - what `braid run` prints of a results file: a row a run. */
#ifndef CLI_RUN_TABLE_H
#define CLI_RUN_TABLE_H

#include "experiment/experiment.h"
#include "output/results.h"

/* Print the runs of `path` to stdout in the order of the sweep; ids[i] is the id of x->runs[i], "" when the run is not in the file. */
int run_table_print(const char *path, const struct experiment *x, const char (*ids)[RUN_ID_HEX + 1], struct error *err);

#endif
