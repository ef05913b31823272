/* report_file.h - a results file opened for reading: its runs, and slices of its tables.
 *
 * The reporting side knows a results file by what the file itself says: tables are groups, columns are datasets with `units`, a
 * run owns the rows `<table>_begin` .. `<table>_begin + <table>_count` of each table. Only /runs is read when a file is opened;
 * everything else is read by slices, so that a table may be larger than memory.
 *
 *     report_file_open ──▶ runs[] ──report_table_open("jobs")──▶ columns ──report_read_*(column, begin, count)──▶ values
 */
#ifndef OUTPUT_REPORT_FILE_H
#define OUTPUT_REPORT_FILE_H

#include "output/report_table.h"
#include "output/results_schema.h"

struct report_run {
    const char *id, *name, *label; /* label: what the policy is called */
    const char *trace_digest, *digest, *status, *config;
    const char *output;  /* which tables were kept, by name */
    const char *remarks; /* "" where there are none */
    uint64_t seed;
    char seed_text[24];
    int64_t origin_s;     /* second that is time 0: UTC, or of the trace's own clock */
    int64_t position;     /* in the order of its config; -1: not known. See report_order.h */
    uint64_t row;         /* in /runs and /summary */
    const char **swept;   /* n_swept values of the file's swept keys, as YAML text; "" where the key does not apply */
    struct report_range tables[RESULTS_TABLES]; /* by enum results_table_id; a run has one row of /runs and /summary */
};

struct report_file {
    const char *path;
    hid_t file;
    uint32_t n_runs;
    struct report_run *runs; /* in the order of the file */
    uint32_t n_swept;
    const char **swept_keys; /* "policy", "trace.load", "seed" */
    struct arena arena;
};

/* Open read-only. BRAID_BAD_INPUT with the mend for: no such file, not HDF5, another schema, truncated or damaged, a part that is still
 * being written (locked). `out` is empty then. */
int report_file_open(struct report_file *out, const char *path, struct error *err);
void report_file_close(struct report_file *f);

/* The run whose id begins with `text` (at least 4 characters), or else whose label is `text`, or else of which all of the label, seed and
 * swept values in `text` hold ("srtf, seed=2, trace.load=0.9"); NULL with `err` filled when there is none or more than one, with a list of
 * those that it names. `text` NULL: the only run. */
const struct report_run *report_run_find(const struct report_file *f, const char *text, struct error *err);

/* The value of a swept key ("" when the file or the run lacks it). */
const char *report_run_swept(const struct report_file *f, const struct report_run *run, const char *key);

/* "fifo, trace.load 0.7, seed 1": label and swept values but `policy`, into `out`; returns `out`. */
const char *report_run_title(const struct report_file *f, const struct report_run *run, char *out, size_t size);

/* The rows of `run` in a table are there (the output was on and there is at least one row). */
bool report_run_has(const struct report_run *run, int table);

/* The output was on, though it may have no rows (nothing ran). */
bool report_run_kept(const struct report_run *run, int table);

#endif
