/* report_table.h - slices of the tables of a results file.
 *
 * A table is a group of equal-length one-dimensional datasets, one a column, each with an attribute `units`. What columns there
 * are, of what type and unit, is taken from the file; everything is read by slices, so that a table may be larger than memory.
 */
#ifndef OUTPUT_REPORT_TABLE_H
#define OUTPUT_REPORT_TABLE_H

#include "base/arena.h"

#include <braid/error.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

enum report_type { REPORT_INT, REPORT_UINT, REPORT_REAL, REPORT_ENUM, REPORT_TEXT };

/* Rows of one table that belong to one run. */
struct report_range {
    uint64_t begin, count;
};

struct report_column {
    const char *name, *units;
    enum report_type type;
    size_t size;        /* bytes of a value as stored */
    size_t width;       /* REPORT_TEXT: bytes of a value as stored; report_read_text wants width + 1 for each */
    uint32_t at_most;   /* what the schema says that no whole number in it passes; 0: nothing */
    uint32_t n_members; /* REPORT_ENUM */
    const char **members;
    int64_t *member_values;
    hid_t dataset;
};

/* Columns come in the order of their making where the file keeps it, else by name. */
struct report_table {
    char name[64];
    const char *path; /* of the file, for messages */
    uint64_t rows;
    uint32_t n_columns;
    struct report_column *columns;
    struct arena arena;
};

/* Open a table by name ("jobs", "summary", "runs", …); close it before its file. `path` names the file in messages and is kept. */
int report_table_open(struct report_table *out, hid_t file, const char *path, const char *name, struct error *err);
void report_table_close(struct report_table *t);

/* NULL when there is no such column. */
const struct report_column *report_column_find(const struct report_table *t, const char *name);
/* As above, with `err` filled ("FILE: table /jobs lacks column 'x'; …"). */
const struct report_column *report_column_need(const struct report_table *t, const char *name, struct error *err);

/* The name of an enum value, "" for none. */
const char *report_enum_text(const struct report_column *c, int64_t value);
/* The value of an enum's name, or -1. */
int64_t report_enum_value(const struct report_column *c, const char *name);

/* Read rows [begin, begin + count) of a column. BRAID_BAD_INPUT when they are not in the table, cannot be read, hold a code that no
 * member of the enum has, or a number that is larger than the schema allows. */
int report_read_f64(const struct report_table *t, const struct report_column *c, uint64_t begin, uint64_t count,
                    double *out, struct error *err);
int report_read_i64(const struct report_table *t, const struct report_column *c, uint64_t begin, uint64_t count,
                    int64_t *out, struct error *err);
/* Row i is at out + i * (c->width + 1), ended by '\0'. */
int report_read_text(const struct report_table *t, const struct report_column *c, uint64_t begin, uint64_t count,
                     char *out, struct error *err);

/* By name, into memory of `a`: what most readers want of one run. NULL with `err` filled. */
double *report_load_f64(const struct report_table *t, const char *column, struct report_range rows, struct arena *a,
                        struct error *err);
int64_t *report_load_i64(const struct report_table *t, const char *column, struct report_range rows, struct arena *a,
                         struct error *err);

#endif
