/* plot.h - figures of a results file, drawn by gnuplot as an external program.
 *
 *     runs ──by swept values──▶ combinations ──by policy──▶ curves ──script and data files──▶ gnuplot ──checked, renamed──▶ DIR/NAME.png
 *
 * A combination is one set of values of the swept keys other than policy and seed: it has figures of its own, whose file names say
 * which ("jct_cdf-trace.load=0.7.png"; where a name had to be changed or cut, with digits of a hash, so that no figure takes another's
 * place). Runs of one policy that differ in the seed are pooled in distributions and averaged in
 * bars (95 % t interval); figures over time show the first seed and say so.
 */
#ifndef OUTPUT_PLOT_H
#define OUTPUT_PLOT_H

#include "output/plot_set.h"

struct plot_options {
    const char *dir;            /* made when absent */
    const char *const *figures; /* names; none: all that the file has the tables for */
    uint32_t n_figures;
    const char *type;           /* "png", "pdf", "svg" */
    const char *const *metrics; /* of bars, up to 4; none: the usual ones */
    uint32_t n_metrics;
    const char *baseline;      /* label of the policy that bars_normalized compares with; NULL: the first */
    struct plot_window window; /* of the Gantt charts, if it is set */
};

/* What became of the figures; texts belong to the report. */
struct plot_report {
    uint32_t n_drawn, n_remarks;
    const char **drawn;   /* paths */
    const char **remarks; /* "utilization: there are no rows in /series; …" */
    struct arena arena;
};

/* Name and one-line description of figure i; NULL after the last. */
struct plot_figure_info {
    const char *name, *help;
};
const struct plot_figure_info *plot_figure_at(size_t i);

/* Draw. BRAID_BAD_INPUT: an unknown figure or type, or no figure could be drawn at all (the message says why the first one could not).
 * BRAID_FAILED: no gnuplot, the folder cannot be written, or gnuplot failed for a figure; the others are drawn, and remarks tell of further
 * failures. `out` is valid in every case; plot_report_fini. */
int plot_file(struct plot_report *out, const struct report_file *f, const struct plot_options *o, struct error *err);
void plot_report_fini(struct plot_report *r);

#endif
