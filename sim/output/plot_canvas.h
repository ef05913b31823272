/* plot_canvas.h - what all figures have in common: paper, colours, title, key and axes of time.
 *
 *     title                                     Measures are in units: a usual figure is 960 x 590 of them, and text of size 10
 *     subtitle                                  takes about 8 units a cell. What texts need is measured before anything is placed:
 *     note                                      a key of a few short names stands right of the plot, any other below it, in columns,
 *     ┌────────────────────┐ ─ fifo             and the picture grows by its height. The plot never gives way.
 *     │                    │ ─ srtf
 *     └────────────────────┘
 *     ─ fifo   ─ srtf   ─ las
 */
#ifndef OUTPUT_PLOT_CANVAS_H
#define OUTPUT_PLOT_CANVAS_H

#include "output/plot_gnuplot.h"

#include <stdint.h>

enum { CANVAS_WIDTH = 960, CANVAS_HEIGHT = 590 }; /* units */
#define CANVAS_CELL 0.80                          /* width of a cell, of a text of size 1 */

struct canvas {
    const char *type;        /* png, pdf, svg */
    const char *title;       /* what the figure shows */
    const char *subtitle;    /* what was run */
    const char *note;        /* what was cut or left out; "" */
    double width, height;    /* relative to the usual figure: 1, 1; canvas_begin adds what the key needs */
    const char *const *keys; /* names of the curves, by line style; NULL: no key */
    uint32_t n_keys;
    bool has_points; /* the key shows points, else lines */
};

/* The terminal, the title over two lines, a light grid, the key and the margins that it asks for. No text is read as markup. */
void canvas_begin(struct plot_script *s, struct canvas *c);

/* A text of a user in the place of the label of a tick at `at` of axis 'x' (slanting) or 'y': label no. CANVAS_TICKS + index of the script. */
enum { CANVAS_TICKS = 1000000 };
void canvas_tick(struct plot_script *s, char axis, uint32_t index, double at, const char *text, int size);

/* Line style `index` + 1 for curve `index`: Okabe-Ito's colours for the colour-blind, with dashes that tell repeated colours apart. */
void canvas_styles(FILE *gp, uint32_t n);
const char *canvas_colour(uint32_t index);

/* The unit in which times up to `largest_s` read best. */
struct time_unit {
    const char *name; /* "s", "min", "h", "d" */
    double seconds;
};
struct time_unit canvas_time_unit(double largest_s);

/* A logarithmic axis ('x' or 'y') of seconds from `low_s` to `high_s`, with ticks at 1 s, 10 s, 1 min, 10 min, 1 h … as many as have room
 * in a `share` of the usual width. */
void canvas_log_time(FILE *gp, char axis, double low_s, double high_s, double share);

#endif
