/* Dumps of Slurm's accounting, `sacct -P` (docs/formats/slurm.md; https://slurm.schedmd.com/sacct.html): a header of field names, then a
 * record a job or job step, separated by `|` without any quoting.
 *
 * So a job's name may hold line ends and separators. A record goes on over the following lines until it has as many fields as the header;
 * surplus fields belong to the one column of free text, where there is one alone.
 *
 *     JobID|User|JobName|ReqTRES              header: 4 fields
 *     7|ann|train                             2 separators: goes on
 *     again|cpu=1,gres/gpu=2                  … ends here: JobName is "train\nagain"
 *     8|bob|a|b|gres/gpu=1                    5 fields: JobName is "a|b"
 */
#include "base/number.h"
#include "traces/job_end.h"
#include "traces/lines.h"
#include "traces/reader.h"
#include "traces/slurm_resources.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_LIMIT = 512, RECORD_LIMIT = 1 << 24 };

enum slurm_field {
    SLURM_OTHER,
    SLURM_JOB_ID,
    SLURM_JOB_ID_RAW,
    SLURM_USER,
    SLURM_ACCOUNT,
    SLURM_PARTITION,
    SLURM_JOB_NAME,
    SLURM_SUBMIT,
    SLURM_START,
    SLURM_END,
    SLURM_ELAPSED,
    SLURM_ELAPSED_RAW,
    SLURM_TIMELIMIT,
    SLURM_TIMELIMIT_RAW,
    SLURM_STATE,
    SLURM_REQUESTED,
    SLURM_ALLOCATED,
    SLURM_PRIORITY,
    SLURM_FIELDS
};

static const struct {
    const char *name;
    enum slurm_field field;
    bool is_free_text;
} names[] = {
    {"JobID", SLURM_JOB_ID, false},
    {"JobIDRaw", SLURM_JOB_ID_RAW, false},
    {"User", SLURM_USER, false},
    {"Account", SLURM_ACCOUNT, false},
    {"Partition", SLURM_PARTITION, false},
    {"JobName", SLURM_JOB_NAME, true},
    {"Submit", SLURM_SUBMIT, false},
    {"Start", SLURM_START, false},
    {"End", SLURM_END, false},
    {"Elapsed", SLURM_ELAPSED, false},
    {"ElapsedRaw", SLURM_ELAPSED_RAW, false},
    {"Timelimit", SLURM_TIMELIMIT, false},
    {"TimelimitRaw", SLURM_TIMELIMIT_RAW, false},
    {"State", SLURM_STATE, false},
    {"ReqTRES", SLURM_REQUESTED, false},
    {"AllocTRES", SLURM_ALLOCATED, false},
    {"Priority", SLURM_PRIORITY, false},
    {"Comment", SLURM_OTHER, true},
    {"AdminComment", SLURM_OTHER, true},
    {"SystemComment", SLURM_OTHER, true},
    {"Extra", SLURM_OTHER, true},
    {"SubmitLine", SLURM_OTHER, true},
    {"WorkDir", SLURM_OTHER, true},
    {"WCKey", SLURM_OTHER, true},
};

struct slurm {
    struct rows *rows;
    struct lines lines;
    uint32_t n_header;
    uint8_t fields[HEADER_LIMIT]; /* enum slurm_field by column */
    uint32_t free_text;           /* the one column of free text, or n_header */
    bool has[SLURM_FIELDS];
    char *record; /* the lines of the present record */
    size_t used, room, separators;
    uint64_t line, offset;
    struct trace_text values[SLURM_FIELDS];
    struct trace_row row;
    bool is_last; /* the record ends with the file, without a line end */
};

static bool is_text(struct trace_text f, const char *text)
{
    return strlen(text) == f.n && memcmp(f.at, text, f.n) == 0;
}

static bool starts_with(struct trace_text f, const char *text)
{
    return f.n >= strlen(text) && memcmp(f.at, text, strlen(text)) == 0;
}

static bool is_missing(struct trace_text f)
{
    return f.n == 0 || is_text(f, "Unknown") || is_text(f, "None") || is_text(f, "INVALID") || is_text(f, "N/A") ||
           is_text(f, "Invalid") || is_text(f, "(null)");
}

static size_t count_separators(const char *text, size_t n)
{
    size_t count = 0;
    for (const char *p = text, *end = text + n; (p = memchr(p, '|', (size_t)(end - p))) != NULL; p++)
        count++;
    return count;
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static const char *column_name(enum slurm_field field)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].field == field)
            return names[i].name;
    return "";
}

static void bad_optional(struct slurm *s, enum slurm_field field)
{
    rows_blame(s->rows, ROW_BAD_OPTIONAL, &s->row, column_name(field), s->values[field]);
}

static void fault(struct slurm *s, enum trace_reason why)
{
    if (s->row.fault == ROW_FINE)
        s->row.fault = why;
}

/* The value that a job needs cannot be read. */
static void bad_value(struct slurm *s, enum trace_reason why, enum slurm_field field)
{
    if (s->row.fault != ROW_FINE)
        return;
    s->row.fault = why;
    s->row.fault_column = column_name(field);
    s->row.fault_value = s->values[field];
}

/* A date, or seconds since 1970 (SLURM_TIME_FORMAT=%s), which are as good as a date with a zone; false: neither. */
static bool parse_time(struct slurm *s, enum slurm_field field, int64_t *out)
{
    const struct trace_text f = s->values[field];
    bool is_date = memchr(f.at, '-', f.n) != NULL;
    bool ok =
        is_date ? number_parse_datetime(f.at, f.n, out) : number_parse_scaled(f.at, f.n, NS_PER_S, out) && *out >= 0;
    if (ok)
        s->row.zones |= !is_date || number_has_zone(f.at, f.n) ? ZONES_SAID : ZONES_ABSENT;
    else
        *out = WORKLOAD_ABSENT;
    return ok;
}

/* ---- a record becomes a row -------------------------------------------------------------------------------------- */

static void take_resources(struct slurm *s)
{
    struct trace_row *row = &s->row;
    struct slurm_resources asked = slurm_resources_parse(s->values[SLURM_REQUESTED]);
    struct slurm_resources got = slurm_resources_parse(s->values[SLURM_ALLOCATED]);
    if (asked.is_bad || got.is_bad) {
        bad_value(s, ROW_BAD_NUMBER, asked.is_bad ? SLURM_REQUESTED : SLURM_ALLOCATED);
        return;
    }
    if (asked.is_bad_optional || got.is_bad_optional)
        bad_optional(s, asked.is_bad_optional ? SLURM_REQUESTED : SLURM_ALLOCATED);
    bool is_asked = asked.gpus != WORKLOAD_ABSENT && asked.gpus > 0;
    bool is_got = got.gpus != WORKLOAD_ABSENT && got.gpus > 0;
    int64_t gpus = is_asked ? asked.gpus : is_got ? got.gpus : 0;
    if (__builtin_mul_overflow(gpus, 1000, &row->gpus_milli))
        bad_value(s, ROW_BAD_NUMBER, is_asked ? SLURM_REQUESTED : SLURM_ALLOCATED);
    if (!is_asked && is_got && s->has[SLURM_REQUESTED])
        rows_count(s->rows, ROW_ALLOCATED_AS_REQUESTED, 1, row->line, row->raw.at, row->raw.n);
    if (is_asked && is_got && asked.gpus != got.gpus)
        rows_count(s->rows, ROW_ALLOCATED_DIFFERS, 1, row->line, row->raw.at, row->raw.n);
    row->gpu_type = asked.type; /* the type of what it got is an outcome, not a wish */
    int64_t cpu_milli = asked.cpu_milli != WORKLOAD_ABSENT ? asked.cpu_milli : got.cpu_milli;
    if (cpu_milli > UINT32_MAX)
        bad_optional(s, asked.cpu_milli != WORKLOAD_ABSENT ? SLURM_REQUESTED : SLURM_ALLOCATED);
    else if (cpu_milli != WORKLOAD_ABSENT)
        row->cpu_milli = (uint32_t)cpu_milli;
    row->mem_kib = asked.mem_kib > 0 ? asked.mem_kib : got.mem_kib;
}

static void take_times(struct slurm *s)
{
    struct trace_row *row = &s->row;
    struct trace_text submit = s->values[SLURM_SUBMIT], start = s->values[SLURM_START], end = s->values[SLURM_END];
    struct trace_text elapsed = s->values[SLURM_ELAPSED], raw = s->values[SLURM_ELAPSED_RAW];
    if (!is_missing(submit) && !parse_time(s, SLURM_SUBMIT, &row->submit_ns))
        bad_value(s, ROW_BAD_DATE, SLURM_SUBMIT);
    if (!is_missing(start) && !parse_time(s, SLURM_START, &row->start_ns))
        bad_optional(s, SLURM_START);
    if (!is_missing(end) && !parse_time(s, SLURM_END, &row->end_ns))
        bad_optional(s, SLURM_END);
    bool is_good = true;
    if (!is_missing(raw))
        is_good = number_parse_scaled(raw.at, raw.n, NS_PER_S, &row->duration_ns);
    else if (!is_missing(elapsed))
        is_good = number_parse_span(elapsed.at, elapsed.n, &row->duration_ns);
    if (!is_good) {
        row->duration_ns = WORKLOAD_ABSENT;
        bad_value(s, ROW_BAD_NUMBER, !is_missing(raw) ? SLURM_ELAPSED_RAW : SLURM_ELAPSED);
    }
}

static void take_estimate(struct slurm *s)
{
    struct trace_text limit = s->values[SLURM_TIMELIMIT], raw = s->values[SLURM_TIMELIMIT_RAW];
    bool is_good = true;
    if (!is_missing(raw) && raw.at[0] >= '0' && raw.at[0] <= '9')
        is_good = number_parse_scaled(raw.at, raw.n, 60 * NS_PER_S, &s->row.estimate_ns);
    else if (!is_missing(limit) && !is_text(limit, "UNLIMITED") && !is_text(limit, "Partition_Limit"))
        is_good = number_parse_limit(limit.at, limit.n, &s->row.estimate_ns);
    if (is_good)
        return;
    s->row.estimate_ns = WORKLOAD_ABSENT;
    bad_optional(s, is_missing(raw) ? SLURM_TIMELIMIT : SLURM_TIMELIMIT_RAW);
}

/* "CANCELLED by 1000" is CANCELLED. A job that never ran, or runs still, has no run time that could be told. */
static void take_state(struct slurm *s)
{
    struct trace_row *row = &s->row;
    struct trace_text state = s->values[SLURM_STATE];
    const struct job_end found = job_end_find(state.at, state.n);
    row->status = found.status;
    bool is_unstarted = row->start_ns == WORKLOAD_ABSENT && s->has[SLURM_START];
    bool is_empty = row->duration_ns == 0 && s->has[SLURM_ALLOCATED] && s->values[SLURM_ALLOCATED].n == 0;
    bool is_requeued = is_text(state, "REQUEUED") && !is_unstarted && !is_empty && row->duration_ns > 0;
    if (is_requeued)
        fault(s, ROW_REQUEUED);
    else if (found.is_waiting || (row->status == TRACE_KILLED && (is_unstarted || is_empty)))
        fault(s, ROW_NEVER_STARTED);
    else if (found.is_running)
        fault(s, ROW_STILL_RUNNING);
    else if (!found.is_known && !is_missing(state))
        rows_blame(s->rows, ROW_UNKNOWN_STATUS, row, column_name(SLURM_STATE), s->values[SLURM_STATE]);
}

/* Fields of the record, the surplus given to the column of free text. */
static void split(struct slurm *s)
{
    size_t surplus = s->separators + 1 - s->n_header;
    const char *at = s->record, *end = s->record + s->used;
    memset(s->values, 0, sizeof s->values);
    for (uint32_t c = 0; c < s->n_header; c++) {
        const char *from = at, *stop = end;
        for (size_t more = c == s->free_text ? surplus + 1 : 1; more > 0; more--) {
            const char *bar = memchr(at, '|', (size_t)(end - at));
            stop = bar != NULL ? bar : end;
            at = bar != NULL ? bar + 1 : end;
        }
        if (s->fields[c] != SLURM_OTHER)
            s->values[s->fields[c]] = (struct trace_text){from, (size_t)(stop - from)};
    }
}

static int record_end(struct slurm *s, struct error *err)
{
    struct trace_row *row = &s->row;
    row_clear(row);
    row->line = s->line;
    row->offset = s->offset;
    row->raw = (struct trace_text){s->record, s->used};
    row->is_dated = true;
    size_t n = s->separators + 1;
    row->fault = n > s->n_header && s->free_text < s->n_header ? ROW_FINE : rows_judge_fields(n, s->n_header, 0);
    if (row->fault != ROW_FINE)
        return rows_add(s->rows, row, err);
    if (s->is_last) {
        int code = rows_note_cut(s->rows, row, s->fields[s->n_header - 1] != SLURM_OTHER, err);
        if (code != BRAID_OK)
            return code;
    }
    split(s);
    struct trace_text id = s->values[s->has[SLURM_JOB_ID] ? SLURM_JOB_ID : SLURM_JOB_ID_RAW];
    if (memchr(id.at, '.', id.n) != NULL) {
        rows_skip(s->rows, ROW_JOB_STEP, row);
        return BRAID_OK;
    }
    struct trace_text partition = s->values[SLURM_PARTITION], priority = s->values[SLURM_PRIORITY];
    row->id = id;
    row->user = s->values[SLURM_USER];
    row->name = s->values[SLURM_JOB_NAME];
    row->vc = partition.n > 0 ? partition : s->values[SLURM_ACCOUNT];
    take_times(s);
    take_estimate(s);
    take_state(s);
    if (row->fault == ROW_FINE)
        take_resources(s);
    if (!is_missing(priority) && !number_parse_double(priority.at, priority.n, &row->priority))
        bad_optional(s, SLURM_PRIORITY);
    return rows_add(s->rows, row, err);
}

/* ---- records out of lines -------------------------------------------------------------------------------------------- */

static int record_add(struct slurm *s, struct error *err)
{
    size_t n = s->lines.n, needed = s->used + n + 1;
    int line = s->line > INT_MAX ? INT_MAX : (int)s->line;
    if (needed > RECORD_LIMIT)
        return error_at(err, BRAID_BAD_INPUT, s->rows->path, line, 0,
                        "a record of more than 16 MiB begins here; was the file made by 'sacct -P'?");
    if (needed > s->room) {
        char *grown = realloc(s->record, needed * 2);
        if (grown == NULL)
            return error_at(err, BRAID_FAILED, s->rows->path, line, 0, "out of memory for a record");
        s->record = grown;
        s->room = needed * 2;
    }
    if (s->used > 0)
        s->record[s->used++] = '\n';
    else {
        s->line = s->lines.number;
        s->offset = s->lines.offset;
    }
    memcpy(s->record + s->used, s->lines.text, n);
    s->used += n;
    s->separators += count_separators(s->lines.text, n);
    return BRAID_OK;
}

/* Does the present line begin another record although the one before it lacks fields? It does when it is whole by itself, and where ids
 * come first, begins with a digit. */
static bool is_new_record(const struct slurm *s)
{
    bool is_id_first = s->fields[0] == SLURM_JOB_ID || s->fields[0] == SLURM_JOB_ID_RAW;
    return count_separators(s->lines.text, s->lines.n) + 1 >= s->n_header &&
           (!is_id_first || (s->lines.text[0] >= '0' && s->lines.text[0] <= '9'));
}

static int flush(struct slurm *s, struct error *err)
{
    int code = s->used > 0 ? record_end(s, err) : BRAID_OK;
    s->used = s->separators = 0;
    return code;
}

static int read_records(struct slurm *s, struct error *err)
{
    for (;;) {
        bool has_line;
        int code = lines_next(&s->lines, &has_line, err);
        if (code != BRAID_OK || !has_line)
            return code == BRAID_OK ? flush(s, err) : code;
        if (s->used > 0 && is_new_record(s) && (code = flush(s, err)) != BRAID_OK)
            return code;
        if (s->used == 0 && s->lines.n == 0) {
            rows_count(s->rows, ROW_BLANK_LINE, 1, s->lines.number, "", 0);
            continue;
        }
        code = record_add(s, err);
        s->is_last = s->lines.is_cut;
        if (code == BRAID_OK && s->separators + 1 >= s->n_header)
            code = flush(s, err);
        if (code != BRAID_OK)
            return code;
    }
}

static int header_fault(const struct slurm *s, const char *what, struct error *err)
{
    return error_at(err, BRAID_BAD_INPUT, s->rows->path, (int)s->lines.number, 0,
                    "%s; make it with sacct -a -X -P -o "
                    "JobID,User,Account,Partition,JobName,Submit,Start,End,Elapsed,Timelimit,State,ReqTRES,AllocTRES",
                    what);
}

static int read_header(struct slurm *s, struct rows_columns *has, struct error *err)
{
    bool has_line;
    int code;
    do
        code = lines_next(&s->lines, &has_line, err);
    while (code == BRAID_OK && has_line && s->lines.n == 0);
    if (code != BRAID_OK)
        return code;
    if (!has_line)
        return header_fault(s, "an empty file", err);
    const char *at = s->lines.text, *end = at + s->lines.n;
    uint32_t n_free = 0, free_text = 0;
    for (bool is_more = true; is_more; s->n_header++) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        struct trace_text name = {at, (size_t)((bar != NULL ? bar : end) - at)};
        is_more = bar != NULL;
        at = is_more ? bar + 1 : end;
        if (s->n_header == HEADER_LIMIT)
            return header_fault(s, "more than 512 columns", err);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (!is_text(name, names[i].name))
                continue;
            if (names[i].field != SLURM_OTHER && s->has[names[i].field])
                return error_at(err, BRAID_BAD_INPUT, s->rows->path, (int)s->lines.number, 0,
                                "the header has the column '%s' twice", names[i].name);
            s->fields[s->n_header] = (uint8_t)names[i].field;
            s->has[names[i].field] = names[i].field != SLURM_OTHER;
            n_free += names[i].is_free_text;
            free_text = names[i].is_free_text ? s->n_header : free_text;
        }
    }
    s->free_text = n_free == 1 ? free_text : s->n_header;
    if (count_separators(s->lines.text, s->lines.n) == 0)
        return header_fault(s, "the first line has no '|' between its fields", err);
    if (!(s->has[SLURM_JOB_ID] || s->has[SLURM_JOB_ID_RAW]) || !s->has[SLURM_SUBMIT])
        return header_fault(s, "the header lacks JobID or Submit", err);
    if (!s->has[SLURM_REQUESTED] && !s->has[SLURM_ALLOCATED])
        return header_fault(s, "the header has neither ReqTRES nor AllocTRES, which tell the GPUs", err);
    if (!s->has[SLURM_ELAPSED] && !s->has[SLURM_ELAPSED_RAW] && !(s->has[SLURM_START] && s->has[SLURM_END]))
        return header_fault(s, "the header has neither Elapsed nor both Start and End, which tell the run time", err);
    *has = (struct rows_columns){
        .id = true,
        .user = s->has[SLURM_USER],
        .status = s->has[SLURM_STATE],
        .text = true,
        .optional = {.start = s->has[SLURM_START],
                     .estimate = s->has[SLURM_TIMELIMIT] || s->has[SLURM_TIMELIMIT_RAW],
                     .name = s->has[SLURM_JOB_NAME],
                     .priority = s->has[SLURM_PRIORITY],
                     .cpu = true,
                     .memory = true,
                     .gpu_type = s->has[SLURM_REQUESTED]},
    };
    return BRAID_OK;
}

static int slurm_read(struct trace_input *in, struct rows *out, struct error *err)
{
    struct rows_columns has;
    struct slurm *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    s->rows = out;
    out->path = in->path; /* for errors in the header, before the rows begin */
    int code = lines_init(&s->lines, &in->source, err);
    if (code == BRAID_OK)
        code = read_header(s, &has, err);
    if (code == BRAID_OK)
        code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code == BRAID_OK)
        code = read_records(s, err);
    lines_fini(&s->lines);
    free(s->record);
    free(s);
    return code;
}

/* A first line with JobID between separators. */
static bool slurm_is_content(const char *text, size_t n)
{
    const char *feed = memchr(text, '\n', n);
    struct trace_text line = {text, feed != NULL ? (size_t)(feed - text) : n};
    bool has_id = false, has_bar = memchr(line.at, '|', line.n) != NULL;
    while (has_bar && line.n > 0) {
        const char *bar = memchr(line.at, '|', line.n);
        struct trace_text name = {line.at, bar != NULL ? (size_t)(bar - line.at) : line.n};
        has_id |= is_text(name, "JobID") || starts_with(name, "JobID\r") || is_text(name, "JobIDRaw");
        line.n -= name.n + (bar != NULL);
        line.at += name.n + (bar != NULL);
    }
    return has_id;
}

static const struct trace_wording wording[] = {
    {ROW_AMBIGUOUS_FIELDS, "a '|' inside a column of free text, and no telling in which of several; leave SubmitLine, "
                           "WorkDir and comments out of sacct -o"},
    {ROW_NO_DURATION, "no Elapsed, and not both Start and End to tell it from"},
    {ROW_NO_GPUS, "neither ReqTRES nor AllocTRES has a GPU (gres/gpu); only GPU jobs are simulated"},
    {ROW_FINE, NULL},
};

const struct trace_reader reader_slurm = {
    .name = "slurm",
    .is_content = slurm_is_content,
    .summary = "Slurm's accounting, sacct -P: JobID|User|Partition|Submit|Elapsed|State|ReqTRES|… (fields between '|')",
    .read = slurm_read,
    .wording = wording,
};
