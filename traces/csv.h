/* csv.h - rows and fields of comma-separated text (or tab-separated, …), streaming: no allocation per row, any length of row or field.
 *
 * Understood: a byte order mark, CRLF, a last line without its end, quoted fields with commas, doubled quotes and line ends inside.
 * Blank lines are skipped and counted. An error with the line: a NUL byte, a quote that is never closed, text behind a closing quote.
 *
 *      buffer  [ ...rows done... | at: this row ........ | bytes not looked at yet | zeros ]
 *                                                        ^ end of what is read      ^ 64 zeros stop the search
 */
#ifndef TRACES_CSV_H
#define TRACES_CSV_H

#include "traces/source.h"

#include <stdint.h>

struct csv_field {
    const char *text; /* not ended by '\0' */
    size_t n;
};

struct csv {
    struct source *source; /* not owned */
    char delimiter;        /* between fields; ',' unless set after csv_init */
    char *buffer;
    size_t capacity, at, end;
    bool is_last; /* the source has no more */
    struct csv_field *fields;
    uint32_t n_fields, fields_capacity;
    char *scratch; /* fields that had doubled quotes */
    size_t scratch_capacity;
    uint64_t line, next_line;   /* of the present row, from 1 */
    uint64_t offset, at_offset; /* of the present row and of `at` in the stream */
    const char *row;            /* the present row as it stands in the file, without its line end */
    size_t row_n;
    bool
        is_cut; /* the present row ends with the file, without a line end or a closing quote: its last field may be cut short */
    uint64_t blank_lines, first_blank_line;
};

/* Begin; `source` stands at its first byte. Free with csv_fini, also after an error. */
int csv_init(struct csv *c, struct source *source, struct error *err);
void csv_fini(struct csv *c);

/* The next row that is not blank: fields[0..n_fields), valid until the next call. `*has_row` false: the end. */
int csv_next(struct csv *c, bool *has_row, struct error *err);

#endif
