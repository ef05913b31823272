/* table_text.h - the rows of a table that is lines of text, whatever stands between its fields. For traces/table.c. */
#ifndef TRACES_TABLE_TEXT_H
#define TRACES_TABLE_TEXT_H

#include "traces/lines.h"
#include "traces/table.h"

struct table_text {
    enum table_shape shape;
    const char *separator; /* its name, as in trace.separator */
    bool skips_comments;   /* lines that begin with # or ; are no rows */
    struct csv csv;        /* TABLE_SEPARATED */
    struct lines lines;    /* the others */
    uint32_t *starts;      /* TABLE_FIXED: where each column begins; n_starts of them */
    uint32_t n_starts;

    /* the present row */
    struct csv_field *fields;
    uint32_t n_fields, capacity;
    uint64_t line, offset;
    const char *row;
    size_t row_n;
    bool is_cut; /* the last one, without a line end */
    uint64_t blank_lines, first_blank_line;
};

/* Does this begin with an object or array? The source is rewound. */
int table_is_json(struct source *source, bool *is_json, struct error *err);

/* Begin at the first row. `separator` NULL or "auto": the one by which most of `wanted` stand in the first line. Free with
 * table_text_close, also after an error. */
int table_text_open(struct table_text *t, struct source *source, const char *separator, const char *const *wanted,
                    uint32_t n_wanted, struct error *err);
void table_text_close(struct table_text *t);

/* The next row that is not blank. */
int table_text_next(struct table_text *t, bool *has_row, struct error *err);

#endif
