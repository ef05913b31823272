/* table.h - a small table for people and programs: aligned text, Markdown, LaTeX, CSV, JSON.
 *
 * Numbers are kept as they are (seconds, fractions); CSV and JSON print them so, under `name`. The formats for people choose a unit a
 * column (s, min, h, d by its largest value; % for fractions) and print it under the title; where times of a column lie more than 1,000 times apart, each
 * cell has its own unit. LaTeX tables need \usepackage{booktabs}.
 *
 *     struct table *t = table_create(columns, 2);
 *     table_text(t, "fifo"); table_number(t, 5400);    cell by cell, row after row
 *     table_print(t, TABLE_FORMAT_TEXT, stdout);
 *     table_destroy(t);
 */
#ifndef OUTPUT_TABLE_H
#define OUTPUT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_FORMAT_TEXT, TABLE_FORMAT_CSV, TABLE_FORMAT_JSON, TABLE_FORMAT_MD, TABLE_FORMAT_LATEX };

enum table_kind {
    TABLE_KIND_TEXT,     /* left-aligned */
    TABLE_KIND_COUNT,    /* a whole number */
    TABLE_KIND_NUMBER,   /* four significant digits */
    TABLE_KIND_SECONDS,  /* shown in s, min, h or d, one unit a column */
    TABLE_KIND_FRACTION, /* shown as % */
};

struct table_column {
    const char *name;  /* for programs */
    const char *title; /* for people; NULL: the name */
    enum table_kind kind;
    const char *unit; /* TABLE_KIND_NUMBER: shown under the title; NULL: none */
};

struct table;

/* "table", "text", "csv", "json", "md", "latex"; false for another word. */
bool table_format_parse(const char *word, enum table_format *out);

/* `columns` and the texts in it are copied. NULL when memory is out. */
struct table *table_create(const struct table_column *columns, uint32_t n_columns);
void table_destroy(struct table *t);

/* The next cell; after the last column comes the next row. Text is copied; in a text cell any kind of column may hold a remark.
 * NaN is nothing: "-" for people, empty in CSV, null in JSON. Memory that is out is remembered for table_print. */
void table_text(struct table *t, const char *text);
void table_number(struct table *t, double value);

/* A number with its interval (NaN: none): "17.8 ± 7.1", or "17.8 [3.0, 25.1]" where the number is not in the middle. Programs get the number. */
void table_interval(struct table *t, double value, double low, double high);

/* Was no cell ever put into it? */
bool table_is_empty(const struct table *t);

/* A rule above the next row (formats for people). */
void table_rule(struct table *t);

/* Write the whole rows. False when memory ran out while it was filled (nothing is written); errors of `out` are for the caller to see. */
bool table_print(const struct table *t, enum table_format format, FILE *out);

/* `value` in the unit that table_print would choose for it alone: "1.5 h"; returns `out`. */
const char *table_seconds_text(double value, char *out, size_t size);

#endif
