/* plot_gnuplot.h - one gnuplot script with its data files in a folder of its own, run by gnuplot as an external program.
 *
 *     plot_script_init ──▶ write to s.gp; plot_data_open for each data file ──plot_script_run("DIR/x.png")──▶ plot_script_fini
 */
#ifndef OUTPUT_PLOT_GNUPLOT_H
#define OUTPUT_PLOT_GNUPLOT_H

#include "output/plot_text.h"

#include <braid/error.h>
#include <stdbool.h>
#include <stdio.h>

struct plot_script {
    char dir[256]; /* temporary, under TMPDIR or /tmp */
    FILE *gp;
    struct plot_fonts *fonts; /* the caller's; NULL: all characters can be drawn */
    int n_data;
    bool is_broken; /* a data file could not be written */
};

int plot_script_init(struct plot_script *s, struct plot_fonts *fonts, struct error *err);
void plot_script_fini(struct plot_script *s); /* removes the folder */

/* A new data file; `name` receives its name as the script is to quote it. NULL: it cannot be made (plot_script_run will say so). */
FILE *plot_data_open(struct plot_script *s, char name[16]);
void plot_data_close(struct plot_script *s, FILE *data);

/* Run gnuplot and put the picture to `path`, whole or not at all. The script writes to 'figure'. BRAID_FAILED: gnuplot is not there (how to
 * install it), ended with an error (its words), or left an empty picture. */
int plot_script_run(struct plot_script *s, const char *path, struct error *err);

/* A text of a user into the script (plot_text_quote). */
void plot_quote(struct plot_script *s, const char *text);

#endif
