/* table.h - a table of any shape as rows of texts: what a mapping of columns reads.
 *
 *     separated   fields between , ; tab or :, quoted as in csv (traces/csv.h)
 *     bars        fields between |, never quoted, as sacct -P writes them
 *     blanks      fields between runs of blanks, as a table on a terminal
 *     fixed       columns of fixed width, told by a second line of dashes, as sacct and squeue write them
 *     JSON        an array of objects, an object with such an array, or objects one after the other; a value in an object inside is named
 *                 OUTER.INNER
 *
 * The shape is told by the content, the separator by which one finds the wanted names in the first line.
 */
#ifndef TRACES_TABLE_H
#define TRACES_TABLE_H

#include "traces/csv.h"

enum table_shape { TABLE_SEPARATED, TABLE_BARS, TABLE_BLANKS, TABLE_FIXED, TABLE_JSON };

/* How to read it. */
struct table_spec {
    const char *separator; /* as in trace.separator; NULL or "auto": told by the content */
    const char
        *header; /* "true", "false"; NULL or "auto": the first line is a header unless all wanted names are numbers */
    const char *const *wanted; /* names of columns, or, without a header, their numbers from 1 */
    uint32_t n_wanted;
};

enum table_fault { TABLE_ROW_FINE, TABLE_ROW_SHORT, TABLE_ROW_LONG };

/* One row: `fields[i]` is that of wanted[i], empty where it is not there. Valid during the call. */
struct table_row {
    uint64_t line, offset; /* the offset only where has_text */
    const char *text;      /* the row as it stands in the file; for JSON its first values */
    size_t n;
    const struct csv_field *fields;
    bool is_cut, is_cut_used; /* it ends without a line end; its last value is of a wanted column */
    enum table_fault fault;   /* fewer or more fields than the header has */
};

struct table_reader {
    const struct table_spec *spec;
    void *self;
    /* Once, before the first row: what the table is. */
    int (*begin)(void *self, enum table_shape shape, bool has_text, struct error *err);
    int (*row)(void *self, const struct table_row *row, struct error *err);
    uint64_t blank_lines, first_blank_line; /* out */
};

/* Read all rows. Errors: those of `begin` and `row`; BRAID_BAD_INPUT for a wanted column that is not there, with a list of those that are;
 * for what is no table. */
int table_read(struct table_reader *t, struct source *source, const char *path, struct error *err);

/* Look at the beginning: its shape, the separator ('\0': not separated) and the names of its columns, at most `room` of them, into `names`
 * (each at most 63 bytes long), and the texts of its first rows; for a proposal of a mapping. */
enum { TABLE_PEEK_COLUMNS = 160, TABLE_PEEK_ROWS = 40, TABLE_PEEK_TEXT = 80 };
struct table_peek {
    enum table_shape shape;
    const char *separator; /* as in trace.separator */
    bool has_header;
    uint32_t n_columns, n_rows;
    char names[TABLE_PEEK_COLUMNS][TABLE_PEEK_TEXT];
    char values[TABLE_PEEK_ROWS][TABLE_PEEK_COLUMNS][TABLE_PEEK_TEXT];
};
int table_peek(struct table_peek *out, struct source *source, const char *path, struct error *err);

#endif
