/* mapped.h - a table read by a mapping of its columns (traces/mapping.h), for `trace.columns` and for readers whose files are such tables. */
#ifndef TRACES_MAPPED_H
#define TRACES_MAPPED_H

#include "traces/mapping.h"
#include "traces/reader.h"

/* A column that a format may have for a target. */
struct mapped_candidate {
    const char *target;
    bool is_needed; /* else left out where the table has no such column */
    struct mapping_source source;
};

/* Read `in` by the first candidate of each target that its first rows have; as mapped_read. */
int mapped_read_found(struct trace_input *in, struct rows *out, const struct mapped_candidate *candidates, size_t n,
                      void (*finish)(struct trace_row *row), struct error *err);

/* Read `in`, whose source stands at its first byte, into `out`, which is empty. `finish` (may be NULL) sees each row that has no fault
 * before it is taken; one that it marks ROW_JOB_STEP is skipped. Errors as those of a reader. */
int mapped_read(struct trace_input *in, struct rows *out, const struct trace_mapping *m,
                void (*finish)(struct trace_row *row), struct error *err);

/* What a trace read by trace.columns is said to be; not among those that are told by their content. */
extern const struct trace_reader reader_columns;

#endif
