/* plot_curve.h - levels of the whole cluster over time: read from /series, drawn as steps, many of them as strips one below the other. */
#ifndef OUTPUT_PLOT_CURVE_H
#define OUTPUT_PLOT_CURVE_H

#include "output/plot_figures.h"

struct curve {
    double *time, *value; /* ends of the bins in s, and what they hold */
    size_t n, room;
};

/* Append the rows of scope "cluster" and name `wanted` to `c`; the caller frees with curve_fini, on errors as well. */
int curve_load(struct curve *c, const struct report_file *f, const struct report_run *run, const char *wanted,
               struct error *err);
void curve_fini(struct curve *c);

/* How curves are drawn: so many bins a point, over this time. */
struct curve_scale {
    size_t step;
    double last_s, shown_s;    /* end of the last bin; of the axis, not later */
    double bin_s, submitted_s; /* length of a bin; last submission, NaN: not known */
    struct time_unit unit;     /* of the axis */
};

/* Where the last jobs run on long after the last submission, the axis ends soon after that, and says so. */
struct curve_scale curve_scale_of(const struct curve *curves, uint32_t n, double submitted_s);

/* What a point is: "each point is the mean over 60 min", or of a level "the level every 60 min" or "each point is the mean of 6 levels, one
 * every 10 min". Returns `out`. */
const char *curve_says_point(const struct curve_scale *scale, bool is_mean, char *out, size_t size);

/* "; dashed: the last submission; …" */
void curve_says_cut(const struct curve_scale *scale, char *out, size_t size);

/* Means over `step` bins each as a data file of (time, value x factor), drawn as steps from the begin of the first bin; `name` receives the
 * file's name. False: there is nothing to draw. */
bool curve_write(struct plot_job *p, const struct curve *c, const struct curve_scale *scale, double factor,
                 char name[16]);

/* The axis of time, with a mark at the last submission; `strip_xlabel` is its label. */
void curve_time_axis(FILE *gp, const struct curve_scale *scale);

struct strip {
    const char *label, *colour;
    const struct curve *filled;  /* fractions, drawn as % */
    const struct curve *outline; /* NULL, or a grey line over them */
};

/* Fractions from 0 to 1: lines that fill the whole height hide each other. `height` is that of the canvas. */
void curve_draw_strips(struct plot_job *p, const struct strip *strips, uint32_t n, const struct curve_scale *scale,
                       double height);

#endif
