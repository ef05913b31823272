/* The Standard Workload Format of HPC logs, version 2.2 (docs/formats/swf.md;
 * https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): a line a job, 18 numbers between blanks, `;` before comments.
 *
 * The format knows processors and no GPUs: each processor is taken as one GPU, counted under processors_as_gpus. The wait (field 3) is what
 * another scheduler made of the job: it tells the recorded start and nothing else.
 */
#include "base/number.h"
#include "traces/lines.h"
#include "traces/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Fields by the numbers that the format gives them. */
enum {
    FIELD_ID = 1,
    FIELD_SUBMIT,
    FIELD_WAIT,
    FIELD_RUN_TIME,
    FIELD_ALLOCATED,
    FIELD_CPU_TIME,
    FIELD_USED_MEMORY,
    FIELD_REQUESTED,
    FIELD_REQUESTED_TIME,
    FIELD_REQUESTED_MEMORY,
    FIELD_STATUS,
    FIELD_USER,
    FIELD_GROUP,
    FIELD_EXECUTABLE,
    FIELD_QUEUE,
    FIELD_PARTITION,
    FIELD_PRECEDING,
    FIELD_THINK_TIME,
    FIELDS = FIELD_THINK_TIME
};

static const char *const field_names[FIELDS + 1] = {
    "",
    "1 (job number)",
    "2 (submit time)",
    "3 (wait time)",
    "4 (run time)",
    "5 (allocated processors)",
    "6 (CPU time)",
    "7 (used memory)",
    "8 (requested processors)",
    "9 (requested time)",
    "10 (requested memory)",
    "11 (status)",
    "12 (user)",
    "13 (group)",
    "14 (executable)",
    "15 (queue)",
    "16 (partition)",
    "17 (preceding job)",
    "18 (think time)",
};

enum {
    STATUS_FAILED = 0,
    STATUS_COMPLETED,
    STATUS_CONTINUED,
    STATUS_LAST_COMPLETED,
    STATUS_LAST_FAILED,
    STATUS_CANCELLED
};

#define LATEST_START_S INT64_C(7258118400) /* 2200-01-01: the dates that braid reads end here */

struct swf {
    struct rows *rows;
    struct lines lines;
    int64_t unix_start_s; /* 0: the log counts from an unknown moment */
    struct trace_row row;
    struct trace_text fields[FIELDS + 1];
    size_t width; /* fields of a line: FIELDS, or more in a log that has columns of its own behind them */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cut a line into its fields; returns how many there are, of which the first FIELDS are kept at 1..FIELDS. */
static size_t cut(const char *text, size_t n, struct trace_text *fields)
{
    size_t count = 0;
    for (size_t i = 0; i < n;) {
        while (i < n && is_blank(text[i]))
            i++;
        size_t from = i;
        while (i < n && !is_blank(text[i]))
            i++;
        if (i > from && ++count <= FIELDS)
            fields[count] = (struct trace_text){text + from, i - from};
    }
    return count;
}

static bool is_unknown(struct trace_text f)
{
    int64_t milli;
    return number_parse_scaled(f.at, f.n, 1000, &milli) && milli == -1000;
}

/* A value that a job needs, times `scale`; -1 is unknown and leaves `*out` absent. */
static void take_needed(struct swf *s, int field, int64_t scale, int64_t *out)
{
    if (is_unknown(s->fields[field]))
        return;
    if (number_parse_scaled(s->fields[field].at, s->fields[field].n, scale, out) && *out != WORKLOAD_ABSENT)
        return;
    *out = WORKLOAD_ABSENT;
    if (s->row.fault != ROW_FINE)
        return;
    s->row.fault = ROW_BAD_NUMBER;
    s->row.fault_column = field_names[field];
    s->row.fault_value = s->fields[field];
}

static void bad_optional(struct swf *s, int field)
{
    rows_blame(s->rows, ROW_BAD_OPTIONAL, &s->row, field_names[field], s->fields[field]);
}

/* A value >= 0 that a job can do without. */
static bool take_optional(struct swf *s, int field, int64_t scale, int64_t *out)
{
    if (is_unknown(s->fields[field]))
        return false;
    if (number_parse_scaled(s->fields[field].at, s->fields[field].n, scale, out) && *out >= 0)
        return true;
    *out = WORKLOAD_ABSENT;
    bad_optional(s, field);
    return false;
}

static struct trace_text take_text(const struct swf *s, int field)
{
    return is_unknown(s->fields[field]) ? (struct trace_text){NULL, 0} : s->fields[field];
}

/* Requested processors (field 8), where the log has them, else those allocated (field 5). */
static void take_gpus(struct swf *s)
{
    int64_t requested = WORKLOAD_ABSENT;
    take_needed(s, FIELD_REQUESTED, 1000, &requested);
    if (requested != WORKLOAD_ABSENT && requested != 0) {
        s->row.gpus_milli = requested;
        return;
    }
    take_needed(s, FIELD_ALLOCATED, 1000, &s->row.gpus_milli);
    if (s->row.gpus_milli != WORKLOAD_ABSENT && s->row.gpus_milli != 0)
        rows_count(s->rows, ROW_ALLOCATED_AS_REQUESTED, 1, s->row.line, s->row.raw.at, s->row.raw.n);
}

/* Kilobytes a processor become those of the job. */
static void take_memory(struct swf *s)
{
    int64_t kib, total;
    if (!take_optional(s, FIELD_REQUESTED_MEMORY, 1, &kib))
        return;
    if (s->row.gpus_milli < 0 || __builtin_mul_overflow(kib, s->row.gpus_milli / 1000, &total))
        return;
    s->row.mem_kib = (uint64_t)total;
}

static void take_status(struct swf *s, int64_t code)
{
    switch (code) {
    case STATUS_COMPLETED:
        s->row.status = TRACE_PASSED;
        break;
    case STATUS_FAILED:
        s->row.status = TRACE_FAILED;
        break;
    case STATUS_CANCELLED:
        s->row.status = TRACE_KILLED;
        break;
    case -1:
        break;
    default:
        rows_blame(s->rows, ROW_UNKNOWN_STATUS, &s->row, field_names[FIELD_STATUS], s->fields[FIELD_STATUS]);
    }
}

/* A job that was cancelled while it waited, or failed before it had a processor: it has no run time, or one of 0, and was given none. */
static bool never_ran(const struct swf *s, int64_t status)
{
    int64_t allocated = 0;
    const struct trace_text f = s->fields[FIELD_ALLOCATED];
    bool is_told = !is_unknown(f) && number_parse_scaled(f.at, f.n, 1000, &allocated);
    bool has_run = s->row.duration_ns != WORKLOAD_ABSENT && s->row.duration_ns != 0;
    return !has_run && allocated <= 0 && (status == STATUS_CANCELLED || (status == STATUS_FAILED && is_told));
}

/* The request is taken, but another number was allocated. */
static bool allocated_differs(const struct swf *s)
{
    int64_t requested, allocated;
    const struct trace_text r = s->fields[FIELD_REQUESTED], a = s->fields[FIELD_ALLOCATED];
    return number_parse_scaled(r.at, r.n, 1000, &requested) && number_parse_scaled(a.at, a.n, 1000, &allocated) &&
           requested > 0 && allocated > 0 && requested != allocated;
}

static void take_row(struct swf *s)
{
    struct trace_row *row = &s->row;
    int64_t wait_ns, origin_ns = s->unix_start_s * NS_PER_S;
    row->id = s->fields[FIELD_ID];
    take_needed(s, FIELD_SUBMIT, NS_PER_S, &row->submit_ns);
    if (row->submit_ns != WORKLOAD_ABSENT && row->submit_ns < 0 && row->fault == ROW_FINE)
        row->fault = ROW_NEGATIVE_SUBMIT;
    if (row->submit_ns != WORKLOAD_ABSENT && __builtin_add_overflow(row->submit_ns, origin_ns, &row->submit_ns) &&
        row->fault == ROW_FINE)
        row->fault = ROW_TOO_LARGE;
    row->is_dated = s->unix_start_s != 0;
    take_gpus(s);
    take_needed(s, FIELD_RUN_TIME, NS_PER_S, &row->duration_ns);
    if (take_optional(s, FIELD_WAIT, NS_PER_S, &wait_ns) && row->submit_ns != WORKLOAD_ABSENT &&
        __builtin_add_overflow(row->submit_ns, wait_ns, &row->start_ns)) {
        row->start_ns = WORKLOAD_ABSENT;
        bad_optional(s, FIELD_WAIT);
    }
    take_optional(s, FIELD_REQUESTED_TIME, NS_PER_S, &row->estimate_ns);
    take_memory(s);
    row->user = take_text(s, FIELD_USER);
    row->name = take_text(s, FIELD_EXECUTABLE);
    row->vc = take_text(s, FIELD_PARTITION);
}

static int read_job(struct swf *s, struct error *err)
{
    struct trace_row *row = &s->row;
    row_clear(row);
    row->line = s->lines.number;
    row->offset = s->lines.offset;
    row->raw = (struct trace_text){s->lines.text, s->lines.n};
    size_t n = cut(s->lines.text, s->lines.n, s->fields);
    row->fault = rows_judge_fields(n, s->width, 0);
    if (row->fault != ROW_FINE) {
        row->is_dated = s->unix_start_s != 0;
        return rows_add(s->rows, row, err);
    }
    if (n > FIELDS)
        rows_count(s->rows, ROW_EXTRA_FIELDS, 1, row->line, row->raw.at, row->raw.n);
    if (s->lines.is_cut) { /* of the last fields none is used */
        int noted = rows_note_cut(s->rows, row, false, err);
        if (noted != BRAID_OK)
            return noted;
    }
    int64_t code = -1;
    if (!number_parse_i64(s->fields[FIELD_STATUS].at, s->fields[FIELD_STATUS].n, &code))
        bad_optional(s, FIELD_STATUS);
    if (code >= STATUS_CONTINUED && code <= STATUS_LAST_FAILED) {
        rows_skip(s->rows, ROW_PARTIAL_EXECUTION, row);
        return BRAID_OK;
    }
    take_row(s);
    take_status(s, code);
    if (row->fault == ROW_FINE && never_ran(s, code))
        row->fault = ROW_NEVER_STARTED;
    uint32_t kept = s->rows->w.n_jobs;
    int done = rows_add(s->rows, row, err);
    if (done == BRAID_OK && s->rows->w.n_jobs > kept) {
        rows_count(s->rows, ROW_PROCESSORS_AS_GPUS, 1, row->line, row->raw.at, row->raw.n);
        if (allocated_differs(s))
            rows_count(s->rows, ROW_ALLOCATED_DIFFERS, 1, row->line, row->raw.at, row->raw.n);
        if (!is_unknown(s->fields[FIELD_PRECEDING]))
            rows_count(s->rows, ROW_DEPENDENCY_IGNORED, 1, row->line, row->raw.at, row->raw.n);
    }
    return done;
}

/* "; UnixStartTime: 820454400" dates the log: submissions count from there. */
static int read_comment(struct swf *s, struct error *err)
{
    static const char key[] = "UnixStartTime";
    const char *text = s->lines.text, *end = text + s->lines.n;
    int64_t start_s;
    while (text < end && (*text == ';' || is_blank(*text)))
        text++;
    if ((size_t)(end - text) < sizeof key - 1 || strncasecmp(text, key, sizeof key - 1) != 0)
        return BRAID_OK;
    text += sizeof key - 1;
    while (text < end && is_blank(*text))
        text++;
    if (text == end || *text++ != ':')
        return BRAID_OK;
    size_t n = 0; /* words behind the number are a remark of the log's authors */
    while (text < end && is_blank(*text))
        text++;
    while (text + n < end && !is_blank(text[n]))
        n++;
    int line = s->lines.number > INT_MAX ? INT_MAX : (int)s->lines.number;
    if (!number_parse_i64(text, n, &start_s) || start_s < -1 || start_s > LATEST_START_S)
        return error_at(err, BRAID_BAD_INPUT, s->rows->path, line, 0,
                        "UnixStartTime is a number of seconds since 1970, or 0 when it is not known");
    if (start_s <= 0 || start_s == s->unix_start_s)
        return BRAID_OK;
    if (s->rows->n_read > 0)
        return error_at(
            err, BRAID_BAD_INPUT, s->rows->path, line, 0,
            "another UnixStartTime behind the first job; two logs in one file cannot be told apart: split them");
    s->unix_start_s = start_s;
    return BRAID_OK;
}

static int read_lines(struct swf *s, struct error *err)
{
    for (;;) {
        bool has_line;
        int code = lines_next(&s->lines, &has_line, err);
        if (code != BRAID_OK || !has_line)
            return code;
        size_t i = 0;
        while (i < s->lines.n && is_blank(s->lines.text[i]))
            i++;
        if (i == s->lines.n)
            rows_count(s->rows, ROW_BLANK_LINE, 1, s->lines.number, "", 0);
        else
            code = s->lines.text[i] == ';' ? read_comment(s, err) : read_job(s, err);
        if (code != BRAID_OK)
            return code;
    }
}

/* The fields of a line: more than FIELDS only where all of the lines that are at hand agree, and there are two or more. A single line that
 * has more may as well have a blank inside a number. */
static size_t usual_width(const struct lines *l)
{
    struct trace_text fields[FIELDS + 1];
    size_t width = 0, n_lines = 0;
    const char *at = l->buffer + l->at, *end = l->buffer + l->end;
    for (const char *feed; at < end && (feed = memchr(at, '\n', (size_t)(end - at))) != NULL; at = feed + 1) {
        size_t n = (size_t)(feed - at), i = 0;
        while (i < n && is_blank(at[i]))
            i++;
        if (i == n || at[i] == ';')
            continue;
        size_t count = cut(at, n, fields);
        if (n_lines++ > 0 && count != width)
            return FIELDS;
        width = count;
    }
    return n_lines > 1 && width > FIELDS ? width : FIELDS;
}

static int swf_read(struct trace_input *in, struct rows *out, struct error *err)
{
    static const struct rows_columns has = {
        .id = true,
        .user = true,
        .status = true,
        .text = true,
        .optional = {.start = true, .estimate = true, .memory = true, .name = true},
    };
    struct swf s = {.rows = out};
    int code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code != BRAID_OK)
        return code;
    code = lines_init(&s.lines, &in->source, err);
    if (code == BRAID_OK) {
        s.width = usual_width(&s.lines);
        code = read_lines(&s, err);
    }
    lines_fini(&s.lines);
    return code;
}

/* Comments, then a line of 18 numbers or more. */
static bool swf_is_content(const char *text, size_t n)
{
    struct trace_text fields[FIELDS + 1];
    bool has_comment = false;
    while (n > 0) {
        const char *feed = memchr(text, '\n', n);
        size_t length = feed != NULL ? (size_t)(feed - text) : n, i = 0;
        while (i < length && is_blank(text[i]))
            i++;
        if (i < length && text[i] != ';') {
            double number;
            size_t count = cut(text, length, fields);
            for (int f = 1; f <= FIELDS && count >= FIELDS; f++)
                if (!number_parse_double(fields[f].at, fields[f].n, &number))
                    return false;
            return count >= FIELDS;
        }
        has_comment |= i < length;
        text += length + (feed != NULL);
        n -= length + (feed != NULL);
    }
    return has_comment;
}

static const struct trace_wording wording[] = {
    {ROW_SHORT, "fewer than the 18 fields of the format; is the file cut short?"},
    {ROW_AMBIGUOUS_FIELDS,
     "more than the 18 fields of the format, unlike other lines; is there a blank inside a value?"},
    {ROW_EXTRA_FIELDS, "fields beyond the 18 of the format, in every line, ignored"},
    {ROW_NO_GPUS, "neither requested (field 8) nor allocated (field 5) processors"},
    {ROW_NO_DURATION, "no run time (field 4)"},
    {ROW_ALLOCATED_AS_REQUESTED, "no processors requested on record (field 8); those allocated (field 5) are taken"},
    {ROW_ALLOCATED_DIFFERS,
     "the allocated processors (field 5) are not those requested (field 8); the request is taken"},
    {ROW_LARGE_MEMORY, "more than 4 TiB of memory a processor; field 10 is in kilobytes a processor"},
    {ROW_UNIX_SECONDS, "submissions look like seconds since 1970; make field 2 count from the log's beginning and "
                       "name that in '; UnixStartTime:', then they are dates"},
    {ROW_FINE, NULL},
};

const struct trace_reader reader_swf = {
    .name = "swf",
    .is_content = swf_is_content,
    .summary =
        "Standard Workload Format of HPC logs: 18 numbers a job, comments behind ';' (a processor is taken as a GPU)",
    .read = swf_read,
    .wording = wording,
};
