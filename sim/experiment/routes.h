/* routes.h - jobs go to the first virtual cluster, in the order of the config, whose `jobs` they match; the others to the one that the trace names. */
#ifndef EXPERIMENT_ROUTES_H
#define EXPERIMENT_ROUTES_H

#include "experiment/experiment.h"

/* Does any VC of the config say which jobs it takes? */
bool routes_are_given(const struct run_config *config);

/* `out` becomes `w` with the VCs of its jobs as the routes say. Free with workload_fini. BRAID_FAILED when memory is out. */
int routes_apply(struct workload *out, const struct workload *w, const struct run_config *config, struct error *err);

#endif
