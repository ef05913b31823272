/* plot_set.h - the runs of a file sorted for drawing: combinations of swept values, and in each the policies with their seeds. */
#ifndef OUTPUT_PLOT_SET_H
#define OUTPUT_PLOT_SET_H

#include "output/report_file.h"

struct plot_policy {
    const char *label;
    uint32_t n_runs;
    const struct report_run **runs; /* by seed */
};

struct plot_combo {
    const char *suffix; /* for file names: "" or "-trace.load=0.7" */
    const char *words;  /* for subtitles: "" or "trace.load 0.7" */
    uint32_t n_policies;
    struct plot_policy *policies; /* "fifo" first, then in natural order */
};

struct plot_set {
    const struct report_file *file;
    uint32_t n_combos;
    struct plot_combo *combos;
    struct arena arena;
};

/* Failed runs are left out. BRAID_FAILED when memory is out. */
int plot_set_init(struct plot_set *s, const struct report_file *f, struct error *err);
void plot_set_fini(struct plot_set *s);

/* "philly · trace 5f2d8a7c1b3e · 8 nodes x 8 v100 GPUs · trace.load 0.7 · seeds 1, 2, 3" into `out`. */
const char *plot_subtitle(const struct plot_combo *c, char *out, size_t size);

/* The same for figures of one policy's first run. */
const char *plot_run_subtitle(const struct plot_combo *c, const struct plot_policy *policy, char *out, size_t size);

#endif
