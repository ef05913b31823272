/* cmd_trace.h - the subcommands of `braid trace`, a file each; argv[0] is the subcommand's name. */
#ifndef CLI_CMD_TRACE_H
#define CLI_CMD_TRACE_H

#include "cli/cli.h"

#include "traces/trace.h"

#include <stdio.h>

int cmd_trace_info(int argc, char **argv);
int cmd_trace_check(int argc, char **argv);
int cmd_trace_guess(int argc, char **argv);
int cmd_trace_convert(int argc, char **argv);
int cmd_trace_sample(int argc, char **argv);
int cmd_trace_diff(int argc, char **argv);
int cmd_trace_generate(int argc, char **argv);
int cmd_trace_fit(int argc, char **argv);

/* What the user asked for, as text; NULL or false: not given. */
struct trace_arguments {
    struct trace_spec spec; /* how to read FILE */
    const char *paths[2];
    const char *format, *failed, *applications;      /* how to read: --format, --failed, --applications */
    bool strict;                                     /* --strict */
    const char *output, *to;                         /* -o, --to */
    const char *cluster, *gpus;                      /* --cluster, --gpus */
    const char *days, *vcs, *users, *seed, *length;  /* --days, --vcs, --users, --seed, --length */
    const char *by;                                  /* --by */
    const char *columns, *separator, *header, *unit; /* --columns, --separator, --header, --unit */
    bool bootstrap, same_weekday;                    /* --bootstrap, --same-weekday */
};

/* Options of the subcommands that read a trace: `takes` has a letter for each that this one understands (the table in cmd_trace_args.c),
 * `n_paths` files are wanted. Returns 0 to go on, else 1 + the exit status: after --help (printed from `help`) or wrong usage. */
int trace_arguments_read(struct trace_arguments *a, const char *takes, int n_paths, const char *help, int argc,
                         char **argv);

/* Load the FILE of `a` as its options say, by its columns where they are named. As trace_load. */
int trace_arguments_load(const struct trace_arguments *a, struct workload *w, struct error *err);

/* "rows read = kept + dropped", then a line a reason, to stdout. */
void trace_report_print(const struct trace_report *report, bool with_examples);

/* How many rows of these were dropped; ", …" as the end of a sentence on stderr. */
void trace_dropped_print(const struct trace_report *report);

/* The readers, a line each. */
void trace_formats_print(FILE *out);

/* Pictures of columns of numbers, as text to stdout (cmd_trace_picture.c). */
void picture_bars(const char *title, const char *const *labels, const uint64_t *counts, int n);
void picture_arrivals(const struct workload *w);  /* by hour, by weekday, over the whole span */
void picture_durations(const struct workload *w); /* by magnitude */

/* Waits, GPUs in use, limits and demand on record (cmd_trace_record.c), to stdout. `values` has room for one a job. False: memory is out. */
bool trace_record_print(const struct workload *w, double *values);

/* Offered load against the cluster of `a->cluster`, a config, or `a->gpus` GPUs (cmd_trace_load.c). */
int trace_load_print(const struct trace_arguments *a, const struct workload *w, struct error *err);

#endif
