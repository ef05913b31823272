/* results_schema.h - the tables and columns of a results file, schema 1.
 *
 * One table of columns: the writer creates its datasets from it, the assembler moves rows by it, readers check a file
 * against it, and docs/schema.md is printed from it (`braid run --schema`).
 *
 *   /TABLE          a group; every dataset in it has one dimension and the same length
 *   /TABLE/COLUMN   attribute `units` (fixed-length text, "" = none)
 *   /               attributes `schema` (uint32, 1) and `producer` (fixed-length text)
 */
#ifndef OUTPUT_RESULTS_SCHEMA_H
#define OUTPUT_RESULTS_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RESULTS_SCHEMA = 1 };

/* In /runs, a text column a swept key: this and the dotted key ("sweep.trace.load"). They are not in the table. */
#define RESULTS_SWEEP_PREFIX "sweep."

/* The column of /runs that holds the place of a run in the order of its config. */
#define RESULTS_POSITION "position"

enum column_type {
    COLUMN_TEXT, /* fixed-length UTF-8, padded with '\0', as wide as the longest value (at least 1) */
    COLUMN_F64,
    COLUMN_I64,
    COLUMN_U64,
    COLUMN_U32,
    COLUMN_ENUM, /* HDF5 enum over uint8: members[i] has the value i */
};

enum results_table_id {
    RESULTS_RUNS,
    RESULTS_SUMMARY,
    RESULTS_JOBS,
    RESULTS_SERIES,
    RESULTS_SEGMENTS,
    RESULTS_ALLOCS,
    RESULTS_EVENTS,
    RESULTS_TABLES, /* their number, and "no table" */
};

struct column_spec {
    const char *name;
    enum column_type type;
    const char *unit; /* "" = none */
    const char *help;
    const char *const *members; /* COLUMN_ENUM */
    uint32_t n_members;
    bool is_packed;   /* stored in chunks with shuffle and deflate; else contiguous */
    bool is_late;     /* a file of an older version may lack it */
    uint32_t at_most; /* no value is larger; 0: any may be */
    int rows_of; /* enum results_table_id: the values are row numbers of that table in this file; else RESULTS_TABLES */
};

struct table_spec {
    const char *name; /* of the group, without '/' */
    const char *help;
    const struct column_spec *columns;
    uint32_t n_columns;
};

/* What became of a run: members of /runs/status. */
enum run_status { RUN_OK, RUN_FAILED, RUN_OVERLOADED };

/* All tables by enum results_table_id. /runs has also the swept keys, /summary the metrics (results_metric_column). */
const struct table_spec *results_table(int table);

/* The column of /runs of a swept key; its name is made in `name` ('/', which HDF5 keeps for itself, becomes '_'). */
enum { RESULTS_NAME_MAX = 256 };
struct column_spec results_sweep_column(const char *key, char name[RESULTS_NAME_MAX]);

/* The column of /summary of metrics_table()[metric]. */
struct column_spec results_metric_column(uint32_t metric);

/* The column of a table, or NULL. */
const struct column_spec *results_column(int table, const char *name);

/* Columns of /runs with the first row and the number of rows of a run in `table` ("jobs_begin", "jobs_count"); NULL for /runs and
 * /summary, where a run has one row. */
const char *results_begin_column(int table);
const char *results_count_column(int table);

/* Bytes of one value (`width`: of text). */
size_t column_size(const struct column_spec *c, size_t width);

/* docs/schema.md */
void results_schema_write_docs(FILE *out);

#endif
