/* plot_canvas.h - what all figures have in common: paper, colours, title and axes of time. */
#ifndef OUTPUT_PLOT_CANVAS_H
#define OUTPUT_PLOT_CANVAS_H

#include "output/plot_gnuplot.h"

#include <stdint.h>

struct canvas {
    const char *type;     /* png, pdf, svg */
    const char *title;    /* what the figure shows */
    const char *subtitle; /* what was run */
    const char *note;     /* what was cut or left out; "" */
    double width, height; /* relative to the usual figure: 1, 1 */
};

/* The terminal, the title over two lines, a light grid. No text is read as markup. */
void canvas_begin(FILE *gp, const struct canvas *c);

/* Line style `index` + 1 for curve `index`: Okabe-Ito's colours for the colour-blind, with dashes that tell repeated colours apart. */
void canvas_styles(FILE *gp, uint32_t n);
const char *canvas_colour(uint32_t index);

/* The key to the right of the plot, for `n` entries. */
void canvas_key(FILE *gp, uint32_t n);

/* The unit in which times up to `largest_s` read best. */
struct time_unit {
    const char *name; /* "s", "min", "h", "d" */
    double seconds;
};
struct time_unit canvas_time_unit(double largest_s);

/* A logarithmic axis ('x' or 'y') of seconds from `low_s` to `high_s`, with ticks at 1 s, 10 s, 1 min, 10 min, 1 h … */
void canvas_log_time(FILE *gp, char axis, double low_s, double high_s);

/* "fifo" → quoted title of a curve. */
void canvas_curve_title(FILE *gp, const char *label);

#endif
