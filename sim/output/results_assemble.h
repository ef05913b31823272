/* results_assemble.h - results_assemble with a choice of runs, for the executor. */
#ifndef OUTPUT_RESULTS_ASSEMBLE_H
#define OUTPUT_RESULTS_ASSEMBLE_H

#include "output/results.h"

struct assemble_options {
    const char *const *only; /* ids to take, ascending; NULL: all */
    uint32_t n_only;
    const int64_t
        *positions; /* n_only places in the order of the config, -1: as the source says; NULL: all as it says */
    bool may_link;  /* the sources are ours alone: when one of them is the result already, it is linked, not copied */
};

int results_assemble_runs(const char *path, const char *const *sources, size_t n_sources,
                          const struct assemble_options *options, struct error *err);

#endif
