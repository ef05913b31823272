/* mapped.h - a table read by a mapping of its columns (traces/mapping.h), for `trace.columns` and for readers whose files are such tables. */
#ifndef TRACES_MAPPED_H
#define TRACES_MAPPED_H

#include "traces/mapping.h"
#include "traces/reader.h"

/* Read `in`, whose source stands at its first byte, into `out`, which is empty. `finish` (may be NULL) sees each row that has no fault
 * before it is taken. Errors as those of a reader. */
int mapped_read(struct trace_input *in, struct rows *out, const struct trace_mapping *m,
                void (*finish)(struct trace_row *row), struct error *err);

/* What a trace read by trace.columns is said to be; not among those that are told by their content. */
extern const struct trace_reader reader_columns;

#endif
