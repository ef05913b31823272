/* run_title.h - what a run is called beside the others of its experiment. */
#ifndef EXPERIMENT_RUN_TITLE_H
#define EXPERIMENT_RUN_TITLE_H

#include "experiment/experiment.h"

/* Does swept key number `key` (not the policy, which has a label) tell runs apart? */
bool run_key_is_telling(const struct experiment *x, uint32_t key);

/* The label of a run with the swept keys that tell it from the others: "tiresias, trace.load 0.9, seed 2"; returns `out`. */
const char *run_title(const struct experiment *x, const struct run_config *run, char *out, size_t size);

#endif
