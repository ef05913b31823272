/* reader.h - one reader a trace format: a file that ends in one const descriptor, listed in reader.c.
 *
 * Formats are told apart by content: the columns of the header, or the first character of JSON. Two shapes of reader exist: a csv one is
 * a table of columns that csv_format.c drives; another one brings its own `read`.
 */
#ifndef TRACES_READER_H
#define TRACES_READER_H

#include "traces/csv.h"
#include "traces/rows.h"
#include "traces/source.h"

/* An opened trace file. The source stands at its first byte for a reader that is no csv; else csv stands behind the header. */
struct trace_input {
    const char *path; /* as errors show it */
    struct source source;
    struct csv csv;
    bool is_strict;
    enum trace_failed failed;
};

/* What a column holds. The order in struct csv_format is the order in which values are looked at. */
enum csv_field_of {
    OF_NOTHING, /* known to the format, not used */
    OF_ID,
    OF_SUBMIT,
    OF_GPUS,
    OF_DURATION,
    OF_START,
    OF_END,
    OF_ESTIMATE,
    OF_DEADLINE,
    OF_VC,
    OF_USER,
    OF_NAME,
    OF_MODEL,
    OF_GPU_TYPE,
    OF_STATUS,
    OF_PRIORITY,
    OF_CPUS,
    OF_MEMORY,
    OF_ORDER,
    OF_ITERATIONS,
    OF_ITERATION_TIME,
    OF_STAGE_STORAGE,
    OF_STAGE_CPU,
    OF_STAGE_GPU,
    OF_STAGE_NETWORK
};

enum csv_need {
    COLUMN_OPTIONAL,
    COLUMN_TELLS,   /* the format is recognised by it, but can be read without it when `format` forces it */
    COLUMN_REQUIRED /* both */
};

struct csv_column {
    const char *name;
    enum csv_field_of of;
    enum csv_need need;
    int64_t unit_ns; /* of a time that is a plain number; dates are told by their shape */
};

struct csv_status {
    const char *text;
    enum trace_status status;
};

struct csv_format {
    const struct csv_column *columns;
    size_t n_columns;
    const struct csv_status *statuses;     /* ended by {NULL} */
    void (*finish)(struct trace_row *row); /* what follows from a row's values; may be NULL */
};

struct trace_reader {
    const char *name, *summary;
    const struct csv_format *csv;                                             /* NULL: `read` is used */
    int (*read)(struct trace_input *in, struct rows *out, struct error *err); /* `out` is empty, for rows_init */
};

/* All readers, ended by NULL; and one by name, or NULL. */
const struct trace_reader *const *reader_list(void);
const struct trace_reader *reader_find(const char *name);

/* Open `path`, choose the reader (`format` "auto" or NULL: by content) and read all rows into `out`. `*used` becomes the reader. `out`
 * and `in` are to be freed (rows_fini, reader_close) also after an error; `in` stays open so that rows can be looked up again. */
int reader_read(struct trace_input *in, const struct trace_spec *spec, struct rows *out,
                const struct trace_reader **used, struct error *err);
void reader_close(struct trace_input *in);

/* The shared driver of csv formats (csv_format.c). */
bool csv_format_matches(const struct csv_format *f, const struct csv *header);
int csv_format_read(const struct trace_reader *reader, struct trace_input *in, struct rows *out, struct error *err);

extern const struct trace_reader reader_braid, reader_helios, reader_muri, reader_philly_csv, reader_philly_json,
    reader_tiresias;

#endif
