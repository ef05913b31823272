/* The driver of the csv formats: a format is a table of columns, read by name; what a value may look like is decided here. */
#include "base/number.h"
#include "traces/reader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline struct csv_field trimmed(struct csv_field f)
{
    while (f.n > 0 && (f.text[0] == ' ' || f.text[0] == '\t')) {
        f.text++;
        f.n--;
    }
    while (f.n > 0 && (f.text[f.n - 1] == ' ' || f.text[f.n - 1] == '\t'))
        f.n--;
    return f;
}

static bool is_text(struct csv_field f, const char *text)
{
    return strlen(text) == f.n && memcmp(f.text, text, f.n) == 0;
}

static bool is_missing(struct csv_field f)
{
    static const char *const words[] = {"None", "none", "null", "NULL", "NaN", "nan", "NaT", "NA", "N/A", "n/a", "-"};
    if (f.n == 0)
        return true;
    if (f.text[0] >= '0' && f.text[0] <= '9')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_text(f, words[i]))
            return true;
    return false;
}

/* Most values have few digits, and a scale that takes every one of them to a whole number: those need no general parser. */
static bool parse_scaled(struct csv_field f, int64_t scale, int64_t *out)
{
    int64_t v = 0, unit = 0; /* unit: what the last digit counts for, once there was a point */
    if (f.n == 0 || f.n > 18)
        return number_parse_scaled(f.text, f.n, scale, out);
    for (size_t i = 0; i < f.n; i++) {
        unsigned digit = (unsigned)(unsigned char)f.text[i] - '0';
        bool is_point = f.text[i] == '.' && unit == 0 && f.n > 1;
        if (is_point) {
            unit = scale;
            continue;
        }
        if (digit > 9 || (unit != 0 && unit % 10 != 0))
            return number_parse_scaled(f.text, f.n, scale, out);
        v = v * 10 + (int64_t)digit;
        unit /= 10;
    }
    return !__builtin_mul_overflow(v, unit != 0 ? unit : scale, out);
}

static bool is_date(struct csv_field f)
{
    return f.n >= 10 && f.text[4] == '-' && f.text[7] == '-';
}

/* A column of this file that is used. */
struct use {
    uint32_t at; /* field of the row */
    enum csv_field_of of;
    bool is_needed;
    int64_t unit_ns;
};

struct reading {
    const struct csv_format *format;
    struct trace_input *in;
    struct rows *rows;
    struct use *uses;
    uint32_t n_uses, n_needed_fields, n_header;
    struct trace_row row;
};

static void optional_fault(struct reading *r)
{
    rows_count(r->rows, ROW_BAD_OPTIONAL, 1, r->row.line, r->row.raw.at, r->row.raw.n);
}

static void fault(struct reading *r, const struct use *u, enum trace_reason why)
{
    if (!u->is_needed)
        optional_fault(r);
    else if (r->row.fault == ROW_FINE)
        r->row.fault = why;
}

/* A time of the trace's clock: a date, or a number in the column's unit. The submission, which comes first, says which. */
static void take_time(struct reading *r, const struct use *u, struct csv_field f, int64_t *out)
{
    if (is_missing(f))
        return;
    bool dated = is_date(f);
    bool ok = dated ? number_parse_datetime(f.text, f.n, out) : parse_scaled(f, u->unit_ns, out);
    if (ok && u->of == OF_SUBMIT)
        r->row.is_dated = dated;
    if (ok && dated == r->row.is_dated)
        return;
    *out = WORKLOAD_ABSENT;
    fault(r, u, dated || memchr(f.text, ':', f.n) != NULL ? ROW_BAD_DATE : ROW_BAD_NUMBER);
}

static void take_number(struct reading *r, const struct use *u, struct csv_field f, int64_t scale, int64_t *out)
{
    if (is_missing(f) || (parse_scaled(f, scale, out) && *out != WORKLOAD_ABSENT))
        return;
    *out = WORKLOAD_ABSENT;
    fault(r, u, ROW_BAD_NUMBER);
}

static void refuse_negative(struct reading *r, const struct use *u, int64_t *out)
{
    if (*out == WORKLOAD_ABSENT || *out >= 0)
        return;
    *out = WORKLOAD_ABSENT;
    fault(r, u, ROW_BAD_NUMBER);
}

static void take_amount(struct reading *r, const struct use *u, struct csv_field f, int64_t *out)
{
    take_number(r, u, f, u->unit_ns, out);
    refuse_negative(r, u, out);
}

static void take_whole(struct reading *r, const struct use *u, struct csv_field f, int64_t *out)
{
    if (is_missing(f))
        return;
    int64_t milli;
    if (!parse_scaled(f, 1000, &milli) || milli % 1000 != 0)
        fault(r, u, ROW_BAD_NUMBER);
    else
        *out = milli / 1000;
}

static void take_cpus(struct reading *r, struct csv_field f)
{
    int64_t milli = 0;
    if (is_missing(f))
        return;
    if (!parse_scaled(f, 1000, &milli) || milli < 0 || milli > UINT32_MAX)
        optional_fault(r);
    else
        r->row.cpu_milli = (uint32_t)milli;
}

static void take_status(struct reading *r, struct csv_field f)
{
    for (const struct csv_status *s = r->format->statuses; s != NULL && s->text != NULL; s++)
        if (is_text(f, s->text)) {
            r->row.status = s->status;
            return;
        }
    if (!is_missing(f))
        rows_count(r->rows, ROW_UNKNOWN_STATUS, 1, r->row.line, r->row.raw.at, r->row.raw.n);
}

static void take(struct reading *r, const struct use *u)
{
    struct trace_row *row = &r->row;
    struct csv_field f = trimmed(r->in->csv.fields[u->at]);
    struct trace_text text = {f.text, f.n};
    switch (u->of) {
    case OF_NOTHING:
        break;
    case OF_ID:
        row->id = text;
        break;
    case OF_SUBMIT:
        take_time(r, u, f, &row->submit_ns);
        break;
    case OF_START:
        take_time(r, u, f, &row->start_ns);
        break;
    case OF_END:
        take_time(r, u, f, &row->end_ns);
        break;
    case OF_DEADLINE:
        take_time(r, u, f, &row->deadline_ns);
        break;
    case OF_GPUS:
        take_number(r, u, f, 1000, &row->gpus_milli);
        break;
    case OF_DURATION:
        take_number(r, u, f, u->unit_ns, &row->duration_ns);
        break;
    case OF_ESTIMATE:
        take_amount(r, u, f, &row->estimate_ns);
        break;
    case OF_VC:
        row->vc = text;
        break;
    case OF_USER:
        row->user = text;
        break;
    case OF_NAME:
        row->name = text;
        break;
    case OF_MODEL:
        row->model = text;
        break;
    case OF_GPU_TYPE:
        row->gpu_type = text;
        break;
    case OF_STATUS:
        take_status(r, f);
        break;
    case OF_PRIORITY:
        if (!is_missing(f) && !number_parse_double(f.text, f.n, &row->priority))
            optional_fault(r);
        break;
    case OF_CPUS:
        take_cpus(r, f);
        break;
    case OF_MEMORY:
        if (!is_missing(f) && !number_parse_size(f.text, f.n, &row->mem_kib))
            optional_fault(r);
        break;
    case OF_ORDER:
        take_whole(r, u, f, &row->order);
        break;
    case OF_ITERATIONS:
        take_whole(r, u, f, &row->iterations);
        refuse_negative(r, u, &row->iterations);
        break;
    case OF_ITERATION_TIME:
        take_amount(r, u, f, &row->iteration_ns);
        break;
    case OF_STAGE_STORAGE:
    case OF_STAGE_CPU:
    case OF_STAGE_GPU:
    case OF_STAGE_NETWORK:
        take_amount(r, u, f, &row->stage_ns[u->of - OF_STAGE_STORAGE]);
        break;
    }
}

/* ---- the header ---------------------------------------------------------------------------------------------- */

static uint32_t header_find(const struct csv *header, const char *name)
{
    for (uint32_t i = 0; i < header->n_fields; i++)
        if (is_text(trimmed(header->fields[i]), name))
            return i;
    return UINT32_MAX;
}

bool csv_format_matches(const struct csv_format *f, const struct csv *header)
{
    for (size_t c = 0; c < f->n_columns; c++)
        if (f->columns[c].need != COLUMN_OPTIONAL && header_find(header, f->columns[c].name) == UINT32_MAX)
            return false;
    return true;
}

static bool is_known(const struct csv_format *f, struct csv_field name)
{
    for (size_t c = 0; c < f->n_columns; c++)
        if (is_text(name, f->columns[c].name))
            return true;
    return false;
}

static int check_header(const struct trace_reader *reader, struct trace_input *in, struct error *err)
{
    const struct csv_format *f = reader->csv;
    const struct csv *header = &in->csv;
    int line = (int)header->line;
    for (size_t c = 0; c < f->n_columns; c++)
        if (f->columns[c].need == COLUMN_REQUIRED && header_find(header, f->columns[c].name) == UINT32_MAX)
            return error_at(err, BRAID_BAD_INPUT, in->path, line, 0,
                            "format %s needs a column '%s', which the header lacks: %.*s", reader->name,
                            f->columns[c].name, (int)(header->row_n < 300 ? header->row_n : 300), header->row);
    for (uint32_t i = 0; i < header->n_fields; i++) {
        struct csv_field name = trimmed(header->fields[i]);
        for (uint32_t j = 0; j < i && name.n > 0 && is_known(f, name); j++) {
            struct csv_field other = trimmed(header->fields[j]);
            if (other.n == name.n && memcmp(other.text, name.text, name.n) == 0)
                return error_at(err, BRAID_BAD_INPUT, in->path, line, 0, "the header has the column '%.*s' twice",
                                (int)(name.n < 100 ? name.n : 100), name.text);
        }
    }
    return BRAID_OK;
}

static void note_column(struct rows_columns *has, enum csv_field_of of)
{
    switch (of) {
    case OF_ID:
        has->id = true;
        break;
    case OF_START:
        has->optional.start = true;
        break;
    case OF_ESTIMATE:
        has->optional.estimate = true;
        break;
    case OF_DEADLINE:
        has->optional.deadline = true;
        break;
    case OF_USER:
        has->user = true;
        break;
    case OF_NAME:
        has->optional.name = true;
        break;
    case OF_MODEL:
        has->optional.model = true;
        break;
    case OF_GPU_TYPE:
        has->optional.gpu_type = true;
        break;
    case OF_STATUS:
        has->status = true;
        break;
    case OF_PRIORITY:
        has->optional.priority = true;
        break;
    case OF_CPUS:
        has->optional.cpu = true;
        break;
    case OF_MEMORY:
        has->optional.memory = true;
        break;
    case OF_ORDER:
        has->order = true;
        break;
    case OF_ITERATIONS:
    case OF_ITERATION_TIME:
        has->optional.iterations = true;
        break;
    case OF_STAGE_STORAGE:
    case OF_STAGE_CPU:
    case OF_STAGE_GPU:
    case OF_STAGE_NETWORK:
        has->optional.stages = true;
        break;
    default:
        break;
    }
}

/* Which fields of a row are used, in the order of the format's table. */
static int map_columns(struct reading *r, struct rows_columns *has, struct error *err)
{
    const struct csv_format *f = r->format;
    r->uses = calloc(f->n_columns, sizeof *r->uses);
    if (r->uses == NULL)
        return error_at(err, BRAID_FAILED, r->in->path, 0, 0, "out of memory");
    for (size_t c = 0; c < f->n_columns; c++) {
        const struct csv_column *column = &f->columns[c];
        uint32_t at = header_find(&r->in->csv, column->name);
        if (at == UINT32_MAX || column->of == OF_NOTHING)
            continue;
        bool is_needed = column->need == COLUMN_REQUIRED;
        r->uses[r->n_uses++] =
            (struct use){.at = at, .of = column->of, .is_needed = is_needed, .unit_ns = column->unit_ns};
        if (is_needed && at >= r->n_needed_fields)
            r->n_needed_fields = at + 1;
        note_column(has, column->of);
    }
    r->n_header = r->in->csv.n_fields;
    return BRAID_OK;
}

static void remark_unknown_columns(struct reading *r)
{
    const struct csv *header = &r->in->csv;
    for (uint32_t i = 0; i < header->n_fields; i++) {
        struct csv_field name = trimmed(header->fields[i]);
        if (!is_known(r->format, name))
            rows_count(r->rows, ROW_UNKNOWN_COLUMN, 1, header->line, name.text, name.n);
    }
}

/* ---- the rows --------------------------------------------------------------------------------------------------- */

static int read_rows(struct reading *r, struct error *err)
{
    struct csv *csv = &r->in->csv;
    for (;;) {
        bool has_row;
        int code = csv_next(csv, &has_row, err);
        if (code != BRAID_OK || !has_row)
            return code;
        row_clear(&r->row);
        r->row.line = csv->line;
        r->row.offset = csv->offset;
        r->row.raw = (struct trace_text){csv->row, csv->row_n};
        if (csv->n_fields < r->n_needed_fields)
            r->row.fault = ROW_SHORT;
        if (csv->n_fields > r->n_header)
            rows_count(r->rows, ROW_EXTRA_FIELDS, 1, csv->line, csv->row, csv->row_n);
        for (uint32_t i = 0; i < r->n_uses; i++)
            if (r->uses[i].at < csv->n_fields)
                take(r, &r->uses[i]);
        if (r->format->finish != NULL && r->row.fault == ROW_FINE)
            r->format->finish(&r->row);
        code = rows_add(r->rows, &r->row, err);
        if (code != BRAID_OK)
            return code;
    }
}

int csv_format_read(const struct trace_reader *reader, struct trace_input *in, struct rows *out, struct error *err)
{
    struct reading r = {.format = reader->csv, .in = in, .rows = out};
    struct rows_columns has = {.text = true};
    int code = check_header(reader, in, err);
    if (code == BRAID_OK)
        code = map_columns(&r, &has, err);
    if (code == BRAID_OK)
        code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code == BRAID_OK) {
        remark_unknown_columns(&r);
        code = read_rows(&r, err);
        rows_count(out, ROW_BLANK_LINE, in->csv.blank_lines, in->csv.first_blank_line, "", 0);
    }
    free(r.uses);
    return code;
}
