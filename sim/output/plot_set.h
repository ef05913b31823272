/* plot_set.h - the runs of a file sorted for drawing: combinations of swept values, and in each the policies with their seeds. */
#ifndef OUTPUT_PLOT_SET_H
#define OUTPUT_PLOT_SET_H

#include "output/report_file.h"

/* The window of time that the Gantt charts of one combination share, so that policies can be compared: set by the first that is drawn. */
struct plot_window {
    bool is_set;
    double from_s, to_s;
};

struct plot_policy {
    const char *label;
    uint32_t n_runs;
    const struct report_run **runs; /* by seed */
};

struct plot_combo {
    const char *suffix; /* for file names: "" or "-trace.load=0.7"; no two combinations have the same */
    const char *words;  /* for subtitles: "" or "trace.load 0.7" */
    uint32_t n_policies;
    struct plot_policy *policies; /* in the order of the config (report_order.h) */
    const char *const *labels;    /* theirs */
};

struct plot_set {
    const struct report_file *file;
    uint32_t n_combos;
    struct plot_combo *combos;
    uint32_t n_failed;                   /* runs that are left out */
    const struct report_run *one_failed; /* the first of them */
    struct arena arena;
};

/* Failed runs are left out. BRAID_FAILED when memory is out. */
int plot_set_init(struct plot_set *s, const struct report_file *f, struct error *err);
void plot_set_fini(struct plot_set *s);

/* "philly · trace philly.json · 8 nodes x 8 v100 GPUs · 1500 jobs · trace.load 0.7 · 5 seeds (5 traces)" into `out`. */
const char *plot_subtitle(const struct plot_combo *c, char *out, size_t size);

/* The time of the last submission of a run in s; NaN where its jobs are not stored. */
int plot_last_submission(const struct report_file *f, const struct report_run *run, double *out, struct error *err);

/* The same for figures of one policy's first run. */
const char *plot_run_subtitle(const struct plot_combo *c, const struct plot_policy *policy, char *out, size_t size);

#endif
