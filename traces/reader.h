/* reader.h - one reader a trace format: a file that ends in one const descriptor, listed in reader.c.
 *
 * Formats are told apart by content: what the file begins with (is_content), else the columns of its header. Two shapes of reader exist:
 * a csv one is a table of columns that csv_format.c drives; another one brings its own `read`.
 */
#ifndef TRACES_READER_H
#define TRACES_READER_H

#include "traces/applications.h"
#include "traces/csv.h"
#include "traces/rows.h"
#include "traces/source.h"

/* An opened trace file. The source stands at its first byte for a reader that is no csv; else csv stands behind the header. */
struct trace_input {
    const char *path; /* as errors show it */
    const char *file; /* as it is opened */
    struct source source;
    struct csv csv;
    const struct csv_format *layout;                    /* of a csv: that one of the reader's which the file has */
    const char *applications_path, *applications_shown; /* a table of applications; NULL: none given */
    struct applications applications;                   /* opened for a layout with `lengths` */
    void *joined; /* what a layout's `begin` read beside the file; its `end` frees it */
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
    OF_DEPENDS, /* ids, separated by ';' or blanks: traces/depends.h */
    OF_MODEL,
    OF_GPU_TYPE,
    OF_STATUS,
    OF_PRIORITY,
    OF_CPUS,
    OF_MEMORY,
    OF_GPU_MEMORY,
    OF_GPU_MILLI,   /* share of each GPU in 1/1000 */
    OF_GPU_PERCENT, /* GPUs in 1/100, fractions told apart: gpus_milli and gpu_milli */
    OF_COPIES, /* nodes, workers or instances, of which GPUs, CPUs or memory are amounts of one: for the layout's `finish` */
    OF_BATCH,
    OF_DEADLINES,   /* spans from the submission, "159-189-229": the first */
    OF_SLO,         /* the deadline as a multiple of the run time; not above 0: none */
    OF_BEST_EFFORT, /* not 0: no deadline */
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
    int64_t
        unit; /* of a plain number. A time: ns (dates are told by their shape). CPUs: milli-CPUs, 0 = 1000. Memory: bytes, 0 = as
                   * number_parse_size has it. OF_START and OF_END: see `zero_is_missing` too. */
};

struct csv_status {
    const char *text;
    enum trace_status status;
};

struct csv_format {
    const struct csv_column *columns;
    size_t n_columns;
    const struct csv_status *statuses; /* ended by {NULL} */
    /* What follows from a row's values; may be NULL. Not called on a row that has a fault. */
    void (*finish)(struct trace_row *row, const struct trace_input *in);

    /* The rest is NULL, 0 or false for most. */
    const struct csv_format *next; /* another layout of the same reader */
    char delimiter;                /* 0: a comma */
    const char *header;            /* "a,b,c": the names that the file itself lacks, its first row being a job … */
    bool (*is_row)(const char *row, size_t n); /* … and whether that row is one of this layout */
    bool zero_is_missing;                      /* a start, end or submission of 0 is not known */
    const struct application *lengths; /* the run time of a row without one comes from a table, by default this one */
    /* Before the first row, to read what is joined from a file beside into `in->joined` or to add columns that `finish` fills; and at
     * the end, also after an error. May be NULL. */
    int (*begin)(struct trace_input *in, struct rows_columns *has, struct error *err);
    void (*end)(struct trace_input *in);
};

struct trace_reader {
    const char *name, *summary;
    /* Do these `n` bytes (blanks and a byte order mark left out) begin a file of this format? For formats that the columns of `csv` do not
     * tell; NULL: those do. */
    bool (*is_content)(const char *text, size_t n);
    const struct csv_format *csv;                                             /* NULL: `read` is used */
    int (*read)(struct trace_input *in, struct rows *out, struct error *err); /* `out` is empty, for rows_init */
    const struct trace_wording
        *wording; /* the format's own words for reasons, where the common ones do not fit; NULL: none */
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
/* The layout of `f` and those that follow it which `csv`, standing behind the first row, has; NULL: none. */
const struct csv_format *csv_format_match(const struct csv_format *f, const struct csv *csv);
int csv_format_read(const struct trace_reader *reader, struct trace_input *in, struct rows *out, struct error *err);

extern const struct trace_reader reader_batsim, reader_braid_jobs, reader_slurm, reader_swf;
extern const struct trace_reader reader_batsim_jobs, reader_pbs, reader_sge, reader_slurm_columns, reader_slurm_db,
    reader_slurm_json;
extern const struct trace_reader reader_acme, reader_braid, reader_chronus, reader_elasticflow, reader_gavel,
    reader_openb, reader_pai2020, reader_pollux, reader_helios, reader_muri, reader_philly_csv, reader_philly_json,
    reader_tiresias;

#endif
