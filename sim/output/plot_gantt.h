/* plot_gantt.h - what gantt (GPUs over time) and gantt_jobs (jobs over time) share. */
#ifndef OUTPUT_PLOT_GANTT_H
#define OUTPUT_PLOT_GANTT_H

#include "output/plot_figures.h"

enum {
    GANTT_ROWS = 64,   /* GPUs or jobs */
    GANTT_BOXES = 600, /* in the window */
    LABEL_SHARE = 28,  /* a box at least this part of the window wide carries its job's id */
};

/* What both figures know of the jobs. */
struct gantt_jobs {
    uint64_t n;
    char *ids;
    size_t stride;
    double *submit, *start, *end;
    int64_t *gpus, *status;
    int64_t killed, failed; /* of `status` */
    struct arena arena;
};

/* Into an arena that is made; BRAID_OK or an error. */
int gantt_jobs_load(struct gantt_jobs *j, const struct report_file *f, const struct report_run *run, struct error *err);
const char *gantt_id(const struct gantt_jobs *j, uint64_t rank);

/* It ran, and did not end as the trace meant it to. */
bool gantt_was_cut_short(const struct gantt_jobs *j, uint64_t job);

/* Times in which a job held its GPUs without progress, by job and time. */
struct overhead {
    uint32_t job;
    double begin_s, end_s;
};

struct overheads {
    uint64_t n;
    struct overhead *v;
};

int gantt_overheads_load(struct overheads *out, const struct report_file *f, const struct report_run *run,
                         struct arena *keep, struct error *err);

/* The first overhead of `job` that ends behind `from_s`. */
uint64_t gantt_overhead_from(const struct overheads *o, uint32_t job, double from_s);

/* What is drawn on, and how. */
struct board {
    struct plot_script *script;
    uint32_t n;            /* objects and labels so far */
    double window, unit_s; /* width in units of time, and that unit */
};

#define GANTT_OVERHEAD_COLOUR "#6E6E6E"
const char *gantt_colour(uint64_t job); /* light tints, so that dark text is read on them */

/* A rectangle and, when it is wide enough, the id in it. Times are in units. */
void gantt_box(struct board *b, double from, double to, double bottom, double top, const char *colour, const char *id);
void gantt_cross(struct board *b, double at, double y);

int gantt_order_doubles(const void *a, const void *b); /* for qsort, ascending */

#endif
