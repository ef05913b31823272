#include "traces/rows.h"

#include "base/number.h"
#include "base/text.h"
#include "traces/columns.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *advice;
    bool is_dropped;
} reasons[ROW_REASONS] = {
    [ROW_SHORT] = {"short_row", "fewer fields than the header has columns; is the file cut short?", true},
    [ROW_BAD_DATE] = {"bad_date", "a time that a job needs cannot be read; write YYYY-MM-DD HH:MM:SS", true},
    [ROW_BAD_NUMBER] = {"bad_number", "a number that a job needs cannot be read or is out of range", true},
    [ROW_NO_SUBMIT] = {"no_submit", "no time of submission", true},
    [ROW_NEGATIVE_SUBMIT] = {"negative_submit", "submitted before the trace's own time 0", true},
    [ROW_NO_GPUS] = {"no_gpus", "asks for no GPU, or the trace does not say for how many; only GPU jobs are simulated",
                     true},
    [ROW_NEGATIVE_GPUS] = {"negative_gpus", "a negative number of GPUs", true},
    [ROW_FRACTIONAL_GPUS] = {"fractional_gpus", "a part of a GPU; jobs hold whole GPUs", true},
    [ROW_NO_DURATION] = {"no_duration", "no duration, and not both a start and an end to tell it from", true},
    [ROW_NEGATIVE_DURATION] = {"negative_duration", "a duration below zero", true},
    [ROW_END_BEFORE_START] = {"end_before_start", "ends before it starts", true},
    [ROW_TOO_LARGE] = {"too_large", "its end, or its GPUs times duration, is beyond 292 years", true},
    [ROW_AMBIGUOUS_FIELDS] = {"ambiguous_fields",
                              "more fields than the header, and no telling which one has a separator inside; quote it",
                              true},
    [ROW_MIXED_ZONES] = {"mixed_zones",
                         "times with a zone (Z, +08:00) and without one are mixed; give all of them the same zone",
                         true},
    [ROW_LONG_TEXT] = {"long_text", "an id or name of more than 4096 bytes; is a quote or a line end missing?", true},
    [ROW_REQUEUED] = {"requeued",
                      "a run of a job that then went back to the queue; its last run has a record of its own", true},
    [ROW_NEVER_STARTED] = {"never_started", "waiting or cancelled before it ran; it has no run time", true},
    [ROW_STILL_RUNNING] = {"still_running", "was running when the trace was taken; its run time is not known", true},
    [ROW_JOB_STEP] = {"job_step", "steps of jobs (123.batch), which are no jobs", true},
    [ROW_PARTIAL_EXECUTION] = {"partial_execution",
                               "a part of a checkpointed job (status 2, 3, 4), whose whole is a row of its own", true},
    [ROW_OTHER_RECORD] = {"other_record", "records of another kind than the end of a job, which alone has its run time",
                          true},
    [ROW_OTHER_RUN] = {"other_run", "of another run than the first row; export one alone: braid export --run", true},
    [ROW_FAILED_OR_KILLED] = {"failed_or_killed", "recorded as failed or killed; trace.failed: run keeps it", true},
    [ROW_OUTSIDE_WINDOW] = {"outside_window", "submitted outside trace.window", true},
    [ROW_OTHER_VC] = {"other_vc", "of a virtual cluster that trace.vcs does not name", true},
    [ROW_BEYOND_LIMIT] = {"beyond_limit", "behind the first trace.jobs jobs", true},
    [ROW_BLANK_LINE] = {"blank_line", "lines without text, skipped; they are not rows", false},
    [ROW_UNKNOWN_COLUMN] = {"unknown_column", "columns that the format does not have, ignored", false},
    [ROW_NO_LINE_END] = {"no_line_end",
                         "the last line has no end, so its last value may be cut off; is the file whole?", false},
    [ROW_EXTRA_FIELDS] = {"extra_fields", "empty fields beyond the columns of the header, ignored", false},
    [ROW_BAD_OPTIONAL] = {"bad_optional", "a value that a job can do without cannot be read; taken as missing", false},
    [ROW_UNKNOWN_STATUS] = {"unknown_status", "a status that the format does not have; taken as unknown", false},
    [ROW_START_BEFORE_SUBMIT] = {"start_before_submit", "the recorded start is before the submission", false},
    [ROW_DURATION_DIFFERS] = {"duration_differs", "the duration is not end - start; the duration is taken", false},
    [ROW_ATTEMPT_WITHOUT_TIMES] = {"attempt_without_times", "an attempt without both its times adds nothing to the sum",
                                   false},
    [ROW_PROCESSORS_AS_GPUS] = {"processors_as_gpus", "the format knows no GPUs: each processor is taken as one GPU",
                                false},
    [ROW_ALLOCATED_AS_REQUESTED] = {"allocated_as_requested", "no GPUs requested on record; those allocated are taken",
                                    false},
    [ROW_ALLOCATED_DIFFERS] = {"allocated_differs", "the allocated GPUs are not those requested; the request is taken",
                               false},
    [ROW_DEPENDENCY_IGNORED] = {"dependency_ignored",
                                "follows another job; its submission is taken as recorded, whatever that one does",
                                false},
    [ROW_FRACTION_ROUNDED_UP] = {"fraction_rounded_up",
                                 "asks for a part of each of its GPUs and holds them whole; gpu_milli has the part",
                                 false},
    [ROW_LENGTH_FROM_TABLE] = {"length_from_table",
                               "the trace has no durations; taken from the table of applications (trace.applications)",
                               false},
    [ROW_SEVERAL_DEADLINES] = {"several_deadlines", "a list of deadlines; the first is taken", false},
    [ROW_JOINED] = {"joined", "submission and user are those of the table of jobs beside the file", false},
    [ROW_NOT_JOINED] = {"not_joined", "not in the table of jobs beside the file; submitted when it started", false},
    [ROW_NOT_UTF8] = {"not_utf8", "a name that is not UTF-8, read as Latin-1", false},
    [ROW_CONTROL_CHARACTERS] = {"control_characters", "a name with a line end, tab or escape code, read as blanks",
                                false},
    [ROW_LARGE_MEMORY] = {"large_memory", "more than 4 TiB of memory a GPU, beyond any node; is it in another unit?",
                          false},
    [ROW_UNIX_SECONDS] = {"unix_seconds",
                          "submissions look like seconds since 1970; written as dates they would be known as such",
                          false},
    [ROW_LONG_SPAN] = {"long_span", "first and last submission are over 20 years apart; are times in another unit?",
                       false},
    [ROW_DUPLICATE_ID] = {"duplicate_id", "an id that another job has as well; both are kept", false},
    [ROW_DUPLICATE_ROW] = {"duplicate_row", "the same row as another one; both are kept", false},
};
_Static_assert(ROW_REASONS - 1 <= TRACE_COUNTS_MAX, "a report has a place for every reason");

static int no_memory(const struct rows *r, struct error *err)
{
    return error_at(err, BRAID_FAILED, r->path, 0, 0, "out of memory for %" PRIu32 " jobs", r->w.n_jobs);
}

/* Does the reader fill column `c`? The always-there columns that it lacks are made at the end. */
static bool is_filled(const struct rows *r, const struct column *c)
{
    if (c->at == offsetof(struct workload, user))
        return r->has.user;
    if (c->at == offsetof(struct workload, trace_status))
        return r->has.status;
    return column_is_wanted(c, &r->has.optional);
}

static bool grow_array(void **array, size_t count, size_t size)
{
    void *grown = realloc(*array, count * size);
    if (grown == NULL)
        return false;
    *array = grown;
    return true;
}

static bool rows_grow(struct rows *r)
{
    size_t n = r->capacity == 0 ? 1024 : (size_t)r->capacity * 2;
    if (n > UINT32_MAX)
        n = UINT32_MAX;
    size_t n_columns;
    const struct column *columns = columns_table(&n_columns);
    bool ok = true;
    for (size_t i = 0; i < n_columns && ok; i++) {
        if (!is_filled(r, &columns[i]))
            continue;
        void *array = column_get(&r->w, &columns[i]);
        ok = grow_array(&array, n, columns[i].size);
        column_set(&r->w, &columns[i], array);
    }
    void *array = r->order;
    if (ok && r->has.order && (ok = grow_array(&array, n, sizeof *r->order)))
        r->order = array;
    array = r->text_at;
    if (ok && r->has.text && (ok = grow_array(&array, n, sizeof *r->text_at)))
        r->text_at = array;
    array = r->depends_line;
    if (ok && r->has.optional.depends && (ok = grow_array(&array, n, sizeof *r->depends_line)))
        r->depends_line = array;
    array = r->w.id_at;
    if (ok && r->has.id && (ok = grow_array(&array, n + 1, sizeof *r->w.id_at)))
        r->w.id_at = array;
    if (ok)
        r->capacity = (uint32_t)n;
    return ok;
}

int rows_init(struct rows *r, const char *path, const struct rows_columns *has, bool is_strict, struct error *err)
{
    *r = (struct rows){.path = path, .has = *has, .is_strict = is_strict, .wording = r->wording};
    workload_init(&r->w);
    r->clean = malloc(ROWS_TEXT_LIMIT * TEXT_GROWTH + 1);
    if (r->clean == NULL || !rows_grow(r))
        return no_memory(r, err);
    if (r->has.id)
        r->w.id_at[0] = 0;
    return BRAID_OK;
}

void rows_fini(struct rows *r)
{
    workload_fini(&r->w);
    free(r->order);
    free(r->text_at);
    free(r->depends_line);
    free(r->clean);
    *r = (struct rows){0};
}

void row_clear(struct trace_row *row)
{
    *row = (struct trace_row){
        .submit_ns = WORKLOAD_ABSENT,
        .duration_ns = WORKLOAD_ABSENT,
        .start_ns = WORKLOAD_ABSENT,
        .end_ns = WORKLOAD_ABSENT,
        .estimate_ns = WORKLOAD_ABSENT,
        .deadline_ns = WORKLOAD_ABSENT,
        .order = WORKLOAD_ABSENT,
        .gpus_milli = WORKLOAD_ABSENT,
        .iterations = WORKLOAD_ABSENT,
        .iteration_ns = WORKLOAD_ABSENT,
        .stage_ns = {WORKLOAD_ABSENT, WORKLOAD_ABSENT, WORKLOAD_ABSENT, WORKLOAD_ABSENT},
        .gpu_type = {NULL, 0},
        .gpu_milli = 1000,
        .copies = WORKLOAD_ABSENT,
        .deadline_after_ns = WORKLOAD_ABSENT,
        .status = TRACE_UNKNOWN,
    };
}

void rows_count(struct rows *r, enum trace_reason why, uint64_t n, uint64_t line, const char *text, size_t length)
{
    bool is_first = r->counts[why].rows == 0;
    r->counts[why].rows += n;
    if (!is_first || n == 0)
        return;
    r->counts[why].line = line;
    text_clean(r->counts[why].example, sizeof r->counts[why].example, text, length);
}

static const char *advice_of(const struct rows *r, enum trace_reason why)
{
    for (const struct trace_wording *w = r->wording; w != NULL && w->why != ROW_FINE; w++)
        if (w->why == why)
            return w->advice;
    return reasons[why].advice;
}

static void count_column(struct rows *r, enum trace_reason why, const char *column, struct trace_text value,
                         uint64_t line)
{
    uint32_t c = 0;
    while (c < r->n_columns && (r->columns[c].why != why || strcmp(r->columns[c].column, column) != 0))
        c++;
    if (c == TRACE_COLUMN_COUNTS_MAX)
        return;
    if (c == r->n_columns) {
        r->n_columns++;
        r->columns[c].why = why;
        r->columns[c].line = line;
        snprintf(r->columns[c].column, sizeof r->columns[c].column, "%s", column);
        text_clean(r->columns[c].value, sizeof r->columns[c].value, value.at, value.n);
    }
    r->columns[c].rows++;
}

void rows_blame(struct rows *r, enum trace_reason why, const struct trace_row *row, const char *column,
                struct trace_text value)
{
    rows_count(r, why, 1, row->line, row->raw.at, row->raw.n);
    count_column(r, why, column, value, row->line);
}

enum trace_reason rows_judge_fields(size_t n, size_t wanted, size_t n_empty)
{
    if (n < wanted)
        return ROW_SHORT;
    return n - wanted > n_empty ? ROW_AMBIGUOUS_FIELDS : ROW_FINE;
}

int rows_note_cut(struct rows *r, const struct trace_row *row, bool is_used, struct error *err)
{
    rows_count(r, ROW_NO_LINE_END, 1, row->line, row->raw.at, row->raw.n);
    r->is_cut_fault = is_used;
    if (!is_used || !r->is_strict)
        return BRAID_OK;
    return error_at(err, BRAID_BAD_INPUT, r->path, row->line > INT_MAX ? INT_MAX : (int)row->line, 0,
                    "%s: %s; end it with a line end, or read the trace without strict", reasons[ROW_NO_LINE_END].name,
                    advice_of(r, ROW_NO_LINE_END));
}

void rows_skip(struct rows *r, enum trace_reason why, const struct trace_row *row)
{
    r->n_read++;
    rows_count(r, why, 1, row->line, row->raw.at, row->raw.n);
}

static int drop(struct rows *r, const struct trace_row *row, enum trace_reason why, struct error *err)
{
    rows_count(r, why, 1, row->line, row->raw.at, row->raw.n);
    bool has_column = row->fault_column != NULL && why == row->fault;
    if (has_column)
        count_column(r, why, row->fault_column, row->fault_value, row->line);
    if (!r->is_strict)
        return BRAID_OK;
    char value[64] = "";
    if (has_column)
        text_clean(value, sizeof value, row->fault_value.at, row->fault_value.n);
    return error_at(err, BRAID_BAD_INPUT, r->path, row->line > INT_MAX ? INT_MAX : (int)row->line, 0,
                    "%s: %s%s%s%s%s%s; mend the row, or read the trace without strict", reasons[why].name,
                    has_column ? "column '" : "", has_column ? row->fault_column : "", has_column ? "' says '" : "",
                    value, has_column ? "': " : "", advice_of(r, why));
}

#define LARGE_MEMORY_KIB (UINT64_C(4) << 30) /* a GPU: 4 TiB */

static bool is_absent(int64_t v)
{
    return v == WORKLOAD_ABSENT;
}

/* The first reason that speaks against a row; its duration goes to `*duration_ns`. */
static enum trace_reason row_judge(const struct trace_row *row, int64_t *duration_ns)
{
    bool has_both = !is_absent(row->start_ns) && !is_absent(row->end_ns);
    int64_t end_ns, gpu_ns, span_ns = 0;
    if (row->fault != ROW_FINE)
        return row->fault;
    if (is_absent(row->submit_ns))
        return ROW_NO_SUBMIT;
    if (row->submit_ns < 0)
        return ROW_NEGATIVE_SUBMIT;
    if (is_absent(row->gpus_milli) || row->gpus_milli == 0)
        return ROW_NO_GPUS;
    if (row->gpus_milli < 0)
        return ROW_NEGATIVE_GPUS;
    if (row->gpus_milli % 1000 != 0)
        return ROW_FRACTIONAL_GPUS;
    if (row->gpus_milli / 1000 > UINT32_MAX - 1)
        return ROW_BAD_NUMBER;
    if (has_both && row->end_ns < row->start_ns)
        return ROW_END_BEFORE_START;
    if (is_absent(row->duration_ns) && !has_both)
        return ROW_NO_DURATION;
    if (has_both && __builtin_sub_overflow(row->end_ns, row->start_ns, &span_ns))
        return ROW_TOO_LARGE;
    *duration_ns = is_absent(row->duration_ns) ? span_ns : row->duration_ns;
    if (*duration_ns < 0)
        return ROW_NEGATIVE_DURATION;
    if (__builtin_add_overflow(row->submit_ns, *duration_ns, &end_ns) ||
        __builtin_mul_overflow(row->gpus_milli / 1000, *duration_ns, &gpu_ns))
        return ROW_TOO_LARGE;
    return ROW_FINE;
}

/* Names and ids do not begin or end with blanks, whatever the format: our csv would not give them back. */
static struct trace_text trimmed(struct trace_text t)
{
    while (t.n > 0 && (t.at[0] == ' ' || t.at[0] == '\t')) {
        t.at++;
        t.n--;
    }
    while (t.n > 0 && (t.at[t.n - 1] == ' ' || t.at[t.n - 1] == '\t'))
        t.n--;
    return t;
}

static void remark_if(struct rows *r, const struct trace_row *row, bool is_so, enum trace_reason why)
{
    if (is_so)
        rows_count(r, why, 1, row->line, row->raw.at, row->raw.n);
}

/* As it is stored: UTF-8 without control characters. Valid until the next call. */
static struct trace_text storable(struct rows *r, const struct trace_row *row, struct trace_text text)
{
    text = trimmed(text);
    unsigned flaws = text.n > 0 ? text_flaws(text.at, text.n) : TEXT_FINE;
    if (flaws == TEXT_FINE)
        return text;
    remark_if(r, row, (flaws & TEXT_NOT_UTF8) != 0, ROW_NOT_UTF8);
    remark_if(r, row, (flaws & TEXT_CONTROL) != 0, ROW_CONTROL_CHARACTERS);
    return trimmed(
        (struct trace_text){r->clean, text_clean(r->clean, ROWS_TEXT_LIMIT * TEXT_GROWTH + 1, text.at, text.n)});
}

static bool add_name(struct rows *r, const struct trace_row *row, struct names *n, uint32_t *column, uint32_t at,
                     struct trace_text text)
{
    if (column == NULL)
        return true;
    text = storable(r, row, text);
    if (at > 0) { /* neighbours often bear the same name */
        const char *last = names_text(n, column[at - 1]);
        if (strncmp(last, text.n > 0 ? text.at : "", text.n) == 0 && last[text.n] == '\0') {
            column[at] = column[at - 1];
            return true;
        }
    }
    column[at] = names_add(n, text.n > 0 ? text.at : "", text.n);
    return column[at] != NAMES_NONE;
}

static bool add_names(struct rows *r, const struct trace_row *row, uint32_t at)
{
    struct workload *w = &r->w;
    if (w->gpu_type != NULL) { /* no type wanted is not a name */
        struct trace_text type = storable(r, row, row->gpu_type);
        w->gpu_type[at] = type.n == 0 ? NAMES_NONE : names_add(&w->gpu_types, type.at, type.n);
        if (type.n > 0 && w->gpu_type[at] == NAMES_NONE)
            return false;
    }
    return add_name(r, row, &w->vcs, w->vc, at, row->vc) && add_name(r, row, &w->users, w->user, at, row->user) &&
           add_name(r, row, &w->names, w->name, at, row->name) &&
           add_name(r, row, &w->models, w->model, at, row->model) &&
           add_name(r, row, &w->depends_texts, w->depends, at, row->depends);
}

static bool add_id(struct rows *r, const struct trace_row *row, uint32_t at)
{
    if (!r->has.id)
        return true;
    const struct trace_text id = storable(r, row, row->id);
    if (r->w.id_text == NULL || r->id_room - r->id_used < id.n) { /* there even when all ids are empty */
        void *text = r->w.id_text;
        uint64_t room = (r->id_room + id.n) * 2 + 4096;
        if (!grow_array(&text, room, 1))
            return false;
        r->w.id_text = text;
        r->id_room = room;
    }
    if (id.n > 0)
        memcpy(r->w.id_text + r->id_used, id.at, id.n);
    r->id_used += id.n;
    r->w.id_at[at + 1] = r->id_used;
    return true;
}

static void add_values(struct rows *r, const struct trace_row *row, uint32_t at, int64_t duration_ns)
{
    struct workload *w = &r->w;
    w->submit_ns[at] = row->submit_ns;
    w->duration_ns[at] = duration_ns;
    w->gpus[at] = (uint32_t)(row->gpus_milli / 1000);
    if (w->trace_status != NULL)
        w->trace_status[at] = (uint8_t)row->status;
    if (w->start_ns != NULL)
        w->start_ns[at] = row->start_ns;
    if (w->estimate_ns != NULL)
        w->estimate_ns[at] = row->estimate_ns > 0 ? row->estimate_ns : WORKLOAD_ABSENT; /* 0 is none, in every log */
    if (w->deadline_ns != NULL)
        w->deadline_ns[at] = row->deadline_ns;
    if (w->priority != NULL)
        w->priority[at] = row->priority;
    if (w->cpu_milli != NULL)
        w->cpu_milli[at] = row->cpu_milli;
    if (w->mem_kib != NULL)
        w->mem_kib[at] = row->mem_kib;
    if (w->gpu_mem_kib != NULL)
        w->gpu_mem_kib[at] = row->gpu_mem_kib;
    if (w->gpu_milli != NULL)
        w->gpu_milli[at] = row->gpu_milli;
    if (w->batch != NULL)
        w->batch[at] = row->batch;
    if (w->iterations != NULL) {
        w->iterations[at] = row->iterations;
        w->iteration_ns[at] = row->iteration_ns;
    }
    for (int s = 0; s < WORKLOAD_STAGES && w->stage_ns[0] != NULL; s++)
        w->stage_ns[s][at] = is_absent(row->stage_ns[s]) ? 0 : row->stage_ns[s];
    if (r->order != NULL)
        r->order[at] = is_absent(row->order) ? INT64_MAX : row->order;
    if (r->text_at != NULL)
        r->text_at[at] = row->offset;
    if (r->depends_line != NULL)
        r->depends_line[at] = row->line;
}

static void remark(struct rows *r, const struct trace_row *row, int64_t duration_ns)
{
    remark_if(r, row, row->gpu_milli < 1000, ROW_FRACTION_ROUNDED_UP);
    remark_if(r, row, row->is_from_table, ROW_LENGTH_FROM_TABLE);
    remark_if(r, row, row->has_several_deadlines, ROW_SEVERAL_DEADLINES);
    remark_if(r, row, row->is_joined, ROW_JOINED);
    remark_if(r, row, row->is_not_joined, ROW_NOT_JOINED);
    remark_if(r, row, row->mem_kib / (uint64_t)(row->gpus_milli / 1000) > LARGE_MEMORY_KIB, ROW_LARGE_MEMORY);
    if (is_absent(row->start_ns))
        return;
    if (row->start_ns < row->submit_ns)
        rows_count(r, ROW_START_BEFORE_SUBMIT, 1, row->line, row->raw.at, row->raw.n);
    if (is_absent(row->end_ns) || is_absent(row->duration_ns))
        return;
    int64_t difference = row->end_ns - row->start_ns - duration_ns;
    if (difference >= NS_PER_S || difference <= -NS_PER_S)
        rows_count(r, ROW_DURATION_DIFFERS, 1, row->line, row->raw.at, row->raw.n);
}

/* Too long for an id or name? A list of dependencies may be long, as long as it need not be cleaned. */
static bool has_long_text(const struct trace_row *row)
{
    const struct trace_text texts[] = {row->id, row->vc, row->user, row->name, row->model, row->gpu_type};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].n > ROWS_TEXT_LIMIT / TEXT_GROWTH &&
            (texts[i].n > ROWS_TEXT_LIMIT || (text_flaws(texts[i].at, texts[i].n) & TEXT_NOT_UTF8) != 0))
            return true;
    return row->depends.n > ROWS_TEXT_LIMIT && text_flaws(row->depends.at, row->depends.n) != TEXT_FINE;
}

int rows_add(struct rows *r, const struct trace_row *row, struct error *err)
{
    int64_t duration_ns = 0;
    r->n_read++;
    enum trace_reason why = row_judge(row, &duration_ns);
    if (why == ROW_FINE && (row->zones | r->zones) == (ZONES_ABSENT | ZONES_SAID))
        why = ROW_MIXED_ZONES;
    if (why == ROW_FINE && has_long_text(row))
        why = ROW_LONG_TEXT;
    if (why != ROW_FINE)
        return drop(r, row, why, err);
    uint32_t at = r->w.n_jobs;
    int line = row->line > INT_MAX ? INT_MAX : (int)row->line;
    if (at > 0 && row->is_dated != r->is_dated)
        return error_at(err, BRAID_BAD_INPUT, r->path, line, 0,
                        "the submission is a %s, those above it are %s; a trace has one or the other",
                        row->is_dated ? "date" : "plain number", r->is_dated ? "dates" : "plain numbers");
    if (at >= UINT32_MAX - 2)
        return error_at(err, BRAID_BAD_INPUT, r->path, line, 0, "more than %" PRIu32 " jobs; cut the trace into parts",
                        UINT32_MAX - 2);
    r->is_dated = row->is_dated;
    r->zones |= row->zones;
    if (at == r->capacity && !rows_grow(r))
        return no_memory(r, err);
    if (!add_names(r, row, at) || !add_id(r, row, at))
        return no_memory(r, err);
    add_values(r, row, at, duration_ns);
    remark(r, row, duration_ns);
    r->w.n_jobs++;
    return BRAID_OK;
}

/* The config asked to leave it out. */
static bool is_asked_for(enum trace_reason why)
{
    return why == ROW_FAILED_OR_KILLED || why == ROW_OUTSIDE_WINDOW || why == ROW_OTHER_VC || why == ROW_BEYOND_LIMIT;
}

/* What the row itself is to blame for, as opposed to what the config asked for or the format brings along. */
static bool is_fault(const struct rows *r, enum trace_reason why)
{
    if (why == ROW_NO_LINE_END)
        return r->is_cut_fault;
    return reasons[why].is_dropped && !is_asked_for(why) && why != ROW_JOB_STEP && why != ROW_PARTIAL_EXECUTION &&
           why != ROW_OTHER_RECORD;
}

/* A row that is no GPU job of its own, as opposed to a job that is lost. */
static bool is_no_job(enum trace_reason why)
{
    return why == ROW_NO_GPUS || why == ROW_REQUEUED || why == ROW_JOB_STEP || why == ROW_PARTIAL_EXECUTION ||
           why == ROW_OTHER_RECORD || why == ROW_OTHER_RUN;
}

void rows_report(const struct rows *r, struct trace_report *report)
{
    report->rows_read = r->n_read;
    report->n_counts = 0;
    for (int why = ROW_FINE + 1; why < ROW_REASONS; why++) {
        if (r->counts[why].rows == 0)
            continue;
        struct trace_count *c = &report->counts[report->n_counts++];
        *c = (struct trace_count){.reason = reasons[why].name,
                                  .advice = advice_of(r, (enum trace_reason)why),
                                  .is_dropped = reasons[why].is_dropped,
                                  .is_fault = is_fault(r, (enum trace_reason)why),
                                  .is_no_job = is_no_job((enum trace_reason)why),
                                  .is_asked_for = is_asked_for((enum trace_reason)why),
                                  .rows = r->counts[why].rows,
                                  .example_line = r->counts[why].line};
        memcpy(c->example, r->counts[why].example, sizeof c->example);
    }
    report->n_columns = r->n_columns;
    for (uint32_t i = 0; i < r->n_columns; i++) {
        struct trace_column_count *c = &report->columns[i];
        *c = (struct trace_column_count){
            .reason = reasons[r->columns[i].why].name, .rows = r->columns[i].rows, .line = r->columns[i].line};
        memcpy(c->column, r->columns[i].column, sizeof c->column);
        memcpy(c->value, r->columns[i].value, sizeof c->value);
    }
}

const char *trace_value_hint(const char *value)
{
    size_t digits = strspn(value, "0123456789"), n = strlen(value);
    if (digits == n && n >= 13 && n <= 19)
        return n < 16   ? "milliseconds since 1970? write seconds"
               : n < 19 ? "microseconds since 1970? write seconds"
                        : "nanoseconds since 1970? write seconds";
    if (digits > 0 && digits < n && value[digits] == ',')
        return "a comma in a number? write a point, and nothing between thousands";
    if (digits > 0 && (value[digits] == '/' || (value[digits] == '.' && strchr(value + digits + 1, '.') != NULL)))
        return "a date? write YYYY-MM-DD HH:MM:SS";
    if (digits > 0 && (value[digits] == ':' || value[digits] == '-') && strchr(value, ':') != NULL)
        return "a span of hours and minutes? write one number";
    if (digits > 0 && digits < n && ((value[digits] >= 'a' && value[digits] <= 'z') || value[digits] == ' '))
        return "a unit behind the number? write the number alone";
    return "";
}
