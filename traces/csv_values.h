/* csv_values.h - what a value of a csv column may look like: numbers, times, words for a missing one. */
#ifndef TRACES_CSV_VALUES_H
#define TRACES_CSV_VALUES_H

#include "traces/reader.h"

#include <string.h>

/* A column of a file that is used. */
struct csv_use {
    uint32_t at;      /* field of the row */
    const char *name; /* of the column, for messages */
    enum csv_field_of of;
    bool is_needed;
    int64_t unit;
};

struct csv_values {
    const struct csv_format *format;
    struct rows *rows; /* where remarks are counted */
    struct trace_row row;
    const struct csv_use *use; /* the value being looked at */
    struct csv_field field;
};

/* Lay `field` down in v->row. One that cannot be read is the row's fault where a job needs it, else it is missing, with a remark. */
void csv_take(struct csv_values *v, const struct csv_use *use, struct csv_field field);

/* The rows get the column that holds this. (csv_format.c) */
void csv_note_column(struct rows_columns *has, enum csv_field_of of);

/* Does it say that there is no value: empty, or a word such as "None" or "NaN"? */
bool csv_is_missing(struct csv_field f);

/* Without the blanks around it. */
static inline struct csv_field csv_trimmed(struct csv_field f)
{
    while (f.n > 0 && (f.text[0] == ' ' || f.text[0] == '\t')) {
        f.text++;
        f.n--;
    }
    while (f.n > 0 && (f.text[f.n - 1] == ' ' || f.text[f.n - 1] == '\t'))
        f.n--;
    return f;
}

static inline bool csv_is_text(struct csv_field f, const char *text)
{
    return strlen(text) == f.n && memcmp(f.text, text, f.n) == 0;
}

#endif
