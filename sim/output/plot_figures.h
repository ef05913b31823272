/* plot_figures.h - the figures: each fills a script, or says in `remark` why there is nothing to draw. */
#ifndef OUTPUT_PLOT_FIGURES_H
#define OUTPUT_PLOT_FIGURES_H

#include "output/plot_canvas.h"
#include "output/plot_set.h"

struct plot_job {
    const struct report_file *file;
    const struct plot_combo *combo;
    const struct plot_policy *policy; /* figures of one run: its policy; else NULL */
    const char *type;
    const char *const *metrics; /* of bars; none: the usual ones */
    uint32_t n_metrics;
    uint32_t base;              /* of bars_normalized: index of a policy */
    struct plot_window *window; /* figures of one run */
    struct plot_script *script;
    char remark[300]; /* not empty: nothing was drawn */
};

/* Each returns BRAID_OK (look at `remark`) or an error. */
int plot_jct_cdf(struct plot_job *p, struct error *err);
int plot_wait_cdf(struct plot_job *p, struct error *err);
int plot_utilization(struct plot_job *p, struct error *err);
int plot_queue(struct plot_job *p, struct error *err);
int plot_bars(struct plot_job *p, struct error *err);
int plot_bars_normalized(struct plot_job *p, struct error *err);
int plot_jct_by_gpus(struct plot_job *p, struct error *err);
int plot_resources(struct plot_job *p, struct error *err);
int plot_gantt(struct plot_job *p, struct error *err);
int plot_gantt_jobs(struct plot_job *p, struct error *err);

#endif
