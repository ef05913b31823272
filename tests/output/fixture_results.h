/* fixture_results.h - small results files for tests, written straight by HDF5 from the column table of results_schema.c.
 *
 *     struct fixture f;  fixture_init(&f);
 *     fixture_run(&f, "00aa", "fifo", 1);           a run; the rows that follow belong to it
 *     fixture_job(&f, "j1", 2, 0, 10, 30);          id, GPUs, submit, start, end (s)
 *     fixture_number(&f, RESULTS_JOBS, "moves", 3); change a cell of the last row
 *     fixture_write(&f, path);
 *     fixture_fini(&f);
 *
 * Runs are to be added in order of id, as a real file has them.
 */
#ifndef TESTS_OUTPUT_FIXTURE_RESULTS_H
#define TESTS_OUTPUT_FIXTURE_RESULTS_H

#include "output/metrics.h"
#include "output/results_schema.h"

#include <stdbool.h>

enum { FIXTURE_COLUMNS = 64, FIXTURE_SWEPT = 4 };

struct fixture_cell {
    char *text;
    double number;
};

struct fixture_table {
    uint32_t n_columns, rows, room;
    struct column_spec columns[FIXTURE_COLUMNS];
    struct fixture_cell *cells; /* rows x n_columns */
};

struct fixture {
    struct fixture_table tables[RESULTS_TABLES];
    uint32_t schema;      /* RESULTS_SCHEMA unless changed */
    bool is_summary_kept; /* as the test filled it: fixture_write does not compute that of the last run */
    bool is_without_jobs; /* fixture_write leaves out the rows of /jobs */
    char sweep_names[FIXTURE_SWEPT][64];
};

void fixture_init(struct fixture *f);
void fixture_fini(struct fixture *f);

/* Declare a swept key; before the first run. */
void fixture_sweep(struct fixture *f, const char *key);

/* `id` is padded to 16 characters by zeros. */
void fixture_run(struct fixture *f, const char *id, const char *label, unsigned seed);

/* A finished job; `start` < 0: rejected at `end`; `end` < 0: unfinished. /summary of the run is kept in step. */
void fixture_job(struct fixture *f, const char *id, unsigned gpus, double submit, double start, double end);

void fixture_series(struct fixture *f, double time, const char *scope, const char *name, double value);

/* A segment of the job of rank `job` with one alloc. */
void fixture_segment(struct fixture *f, unsigned job, double begin, double end, const char *kind, unsigned node,
                     unsigned gpu_first, unsigned gpu_count);
void fixture_alloc(struct fixture *f, unsigned node, unsigned gpu_first,
                   unsigned gpu_count); /* one more of the last segment */
void fixture_event(struct fixture *f, double time, const char *event, long job, const char *why);

/* Change a cell of the last row of a table; an enum by its text. */
void fixture_text(struct fixture *f, int table, const char *column, const char *text);
void fixture_number(struct fixture *f, int table, const char *column, double number);

/* Fill the summary's means from the jobs of the last run (jobs, finished, …, jct_mean, jct_p50, jct_p99, wait_mean, makespan). Called by
 * fixture_run for the run before and by fixture_write. */
void fixture_summarize(struct fixture *f);

bool fixture_write(struct fixture *f, const char *path);

/* A folder of its own under TMPDIR or /tmp; remove it with fixture_remove_dir. */
const char *fixture_make_dir(char *out, size_t size);
void fixture_remove_dir(const char *path);

/* Run `$BRAID ARGS` through the shell with stdout and stderr into `out`; returns the exit status. */
int fixture_braid(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
