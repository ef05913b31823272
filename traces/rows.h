/* rows.h - the rows of a trace as a reader hands them over, in the order of the file, and the count of those that are no job.
 *
 * A reader fills a struct trace_row with what the file says (absent values as WORKLOAD_ABSENT or empty text) and calls rows_add. What
 * makes a row a job is decided here, once for all formats: it needs a submission, GPUs and a duration.
 */
#ifndef TRACES_ROWS_H
#define TRACES_ROWS_H

#include "traces/trace.h"

/* Why a row is dropped, or kept with a remark. The table in rows.c has the names and advice. */
enum trace_reason {
    ROW_FINE,
    ROW_SHORT, /* dropped: from here … */
    ROW_BAD_DATE,
    ROW_BAD_NUMBER,
    ROW_NO_SUBMIT,
    ROW_NEGATIVE_SUBMIT,
    ROW_NO_GPUS,
    ROW_NEGATIVE_GPUS,
    ROW_FRACTIONAL_GPUS,
    ROW_NO_DURATION,
    ROW_NEGATIVE_DURATION,
    ROW_END_BEFORE_START,
    ROW_TOO_LARGE,
    ROW_AMBIGUOUS_FIELDS,
    ROW_MIXED_ZONES,
    ROW_LONG_TEXT,
    ROW_NEVER_STARTED,
    ROW_REQUEUED,
    ROW_STILL_RUNNING,
    ROW_JOB_STEP,
    ROW_PARTIAL_EXECUTION,
    ROW_OTHER_RECORD,
    ROW_OTHER_RUN,
    ROW_FAILED_OR_KILLED,
    ROW_OUTSIDE_WINDOW,
    ROW_OTHER_VC,
    ROW_BEYOND_LIMIT, /* … to here */
    ROW_BLANK_LINE,   /* remarks */
    ROW_NO_LINE_END,
    ROW_UNKNOWN_COLUMN,
    ROW_EXTRA_FIELDS,
    ROW_BAD_OPTIONAL,
    ROW_UNKNOWN_STATUS,
    ROW_START_BEFORE_SUBMIT,
    ROW_DURATION_DIFFERS,
    ROW_ATTEMPT_WITHOUT_TIMES,
    ROW_FRACTION_ROUNDED_UP,
    ROW_LENGTH_FROM_TABLE,
    ROW_SEVERAL_DEADLINES,
    ROW_JOINED,
    ROW_NOT_JOINED,
    ROW_PROCESSORS_AS_GPUS,
    ROW_ALLOCATED_AS_REQUESTED,
    ROW_ALLOCATED_DIFFERS,
    ROW_DEPENDENCY_IGNORED,
    ROW_NOT_UTF8,
    ROW_CONTROL_CHARACTERS,
    ROW_LARGE_MEMORY,
    ROW_UNIX_SECONDS,
    ROW_LONG_SPAN,
    ROW_DUPLICATE_ID,
    ROW_DUPLICATE_ROW,
    ROW_REASONS
};

struct trace_text {
    const char *at; /* not ended by '\0'; may be NULL when n is 0 */
    size_t n;
};

/* What a format's own words for a reason are, where those of the table in rows.c do not fit; a list of them ends with ROW_FINE. */
struct trace_wording {
    enum trace_reason why;
    const char *advice;
};

/* Zones of the dates in a row: bits. A trace has them or has none; a row that differs from those above it, or in itself, is dropped. */
enum trace_zones { ZONES_ABSENT = 1, ZONES_SAID = 2 };

enum { ROWS_TEXT_LIMIT = 4096 /* bytes of an id or a name, in every format */ };

/* What one row of the file says. Times in ns: dates from 1970 (UTC), else from the trace's own zero. */
struct trace_row {
    uint64_t line, offset;    /* where it begins; the offset only where the reader has `has_text` */
    struct trace_text raw;    /* its beginning, for examples */
    bool is_dated;            /* submit_ns, start_ns, end_ns and deadline_ns are dates */
    unsigned zones;           /* of its dates: enum trace_zones */
    enum trace_reason fault;  /* what the reader itself found wrong with a value that a job needs … */
    const char *fault_column; /* … and in which column (NULL: none in particular), where it said what */
    struct trace_text fault_value;
    struct trace_text id, vc, user, name, model, gpu_type, depends;
    int64_t submit_ns, duration_ns, start_ns, end_ns, estimate_ns, deadline_ns, order;
    int64_t gpus_milli;
    uint64_t gpu_mem_kib;
    uint32_t gpu_milli, batch;                                           /* gpu_milli: 1000 unless set */
    int64_t copies;                                                      /* what amounts of one are multiplied by */
    int64_t deadline_after_ns;                                           /* from the submission */
    double slo;                                                          /* deadline after so many run times; 0: none */
    bool is_best_effort;                                                 /* without a deadline, whatever else it says */
    bool is_from_table, has_several_deadlines, is_joined, is_not_joined; /* remarks on a row that is kept */
    int64_t iterations, iteration_ns, stage_ns[WORKLOAD_STAGES];
    double priority;
    uint32_t cpu_milli;
    uint64_t mem_kib;
    enum trace_status status;
};

/* The columns that a reader fills. */
struct rows_columns {
    struct workload_columns optional;
    bool id, user, status, order;
    bool text; /* rows have offsets into the source, at which their text can be read again */
};

struct rows {
    struct workload w; /* columns as read; n_jobs rows kept so far; absolute times; columns the format lacks are NULL */
    int64_t *order;    /* NULL where the trace has none */
    uint64_t *text_at; /* NULL without `text` */
    uint64_t *depends_line; /* line of each row, for errors in `depends`; NULL without that column */
    struct rows_columns has;
    uint32_t capacity;
    uint64_t id_used, id_room;
    bool is_dated, is_strict;
    const char *path; /* as errors show it */
    uint64_t n_read;
    unsigned zones;                      /* of the rows kept so far */
    bool is_cut_fault;                   /* ROW_NO_LINE_END concerns a value that is used */
    const struct trace_wording *wording; /* of the format; NULL: none. Kept by rows_init. */
    struct {
        uint64_t rows, line;
        char example[96];
    } counts[ROW_REASONS];
    struct {
        enum trace_reason why;
        uint64_t rows, line;
        char column[48], value[64];
    } columns[TRACE_COLUMN_COUNTS_MAX]; /* the counts of faults in a column, by column */
    uint32_t n_columns;
    char *clean; /* a text made fit for storing: base/text.h */
};

/* Begin with the columns `has`; rows_fini frees, also after an error. Of what was in `r` the wording stays. */
int rows_init(struct rows *r, const char *path, const struct rows_columns *has, bool is_strict, struct error *err);
void rows_fini(struct rows *r);

/* A row with nothing in it. */
void row_clear(struct trace_row *row);

/* Take a row: as a job, or counted under the first reason that speaks against it. BRAID_BAD_INPUT: a dropped row where the trace is
 * read strictly; dates and plain numbers mixed; more than UINT32_MAX - 2 rows. */
int rows_add(struct rows *r, const struct trace_row *row, struct error *err);

/* Take a row that is no job by the nature of the format (a job step, a part of a job that has a row of its own): read and dropped, and no
 * fault even where the trace is read strictly. */
void rows_skip(struct rows *r, enum trace_reason why, const struct trace_row *row);

/* Count `n` rows (or columns, or lines) under `why`; the first one's line and text are kept as the example. */
void rows_count(struct rows *r, enum trace_reason why, uint64_t n, uint64_t line, const char *text, size_t length);

/* Count `row` under the remark `why`, for what its column says. `column` is a literal. */
void rows_blame(struct rows *r, enum trace_reason why, const struct trace_row *row, const char *column,
                struct trace_text value);

/* What speaks against a row of `n` fields in a file whose rows have `wanted`: ROW_SHORT, or ROW_AMBIGUOUS_FIELDS, for then nobody knows
 * which value belongs where. `n_empty` of the fields beyond, at the end of the line, are empty: those do no harm. */
enum trace_reason rows_judge_fields(size_t n, size_t wanted, size_t n_empty);

/* Note that the last row, `row`, ends without a line end and not behind a quote either: its last value may be the beginning of a longer
 * one. Where that value is used, this is an error when the trace is read strictly. */
int rows_note_cut(struct rows *r, const struct trace_row *row, bool is_used, struct error *err);

/* The counts as a report (format and rows_kept are the caller's). */
void rows_report(const struct rows *r, struct trace_report *report);

#endif
