/* The driver of the csv formats: a format is a table of columns, read by name; csv_values.c decides what a value may look like. */
#include "traces/csv_values.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The names of a file's columns: its first row, or what the layout says they are. */
struct header {
    struct csv_field *names;
    uint32_t n;
};

struct reading {
    struct trace_input *in;
    struct header header;
    struct csv_use *uses;
    uint32_t n_uses,
        n_fields; /* a row has so many fields, as the header has names (those at its end that are empty left out) */
    struct csv_values values; /* the present row, the layout, the rows so far */
};

/* ---- the header ---------------------------------------------------------------------------------------------- */

static uint32_t header_find(const struct header *header, const char *name)
{
    for (uint32_t i = 0; i < header->n; i++)
        if (csv_is_text(csv_trimmed(header->names[i]), name))
            return i;
    return UINT32_MAX;
}

const struct csv_format *csv_format_match(const struct csv_format *f, const struct csv *csv)
{
    const struct header header = {csv->fields, csv->n_fields};
    for (; f != NULL; f = f->next) {
        bool is_it = f->header == NULL || f->is_row(csv->row, csv->row_n);
        for (size_t c = 0; c < f->n_columns && f->header == NULL && is_it; c++)
            is_it = f->columns[c].need == COLUMN_OPTIONAL || header_find(&header, f->columns[c].name) != UINT32_MAX;
        if (is_it)
            break;
    }
    return f;
}

/* The names of the columns, and whether the row that csv stands behind is a job's already. */
static bool read_names(struct reading *r)
{
    const char *fixed = r->values.format->header;
    struct csv *csv = &r->in->csv;
    uint32_t n = csv->n_fields;
    if (fixed != NULL) {
        n = 1;
        for (const char *p = fixed; (p = strchr(p, ',')) != NULL; p++)
            n++;
    }
    r->header.names = calloc((size_t)n + 1, sizeof *r->header.names);
    if (r->header.names == NULL)
        return false;
    r->header.n = n;
    for (uint32_t i = 0; i < n; i++) {
        r->header.names[i] = fixed != NULL ? (struct csv_field){fixed, strcspn(fixed, ",")} : csv->fields[i];
        fixed = fixed != NULL ? fixed + strcspn(fixed, ",") + 1 : NULL;
    }
    r->n_fields = n;
    while (r->n_fields > 1 && csv_trimmed(r->header.names[r->n_fields - 1]).n == 0)
        r->n_fields--;
    return true;
}

static bool is_known(const struct csv_format *f, struct csv_field name)
{
    for (size_t c = 0; c < f->n_columns; c++)
        if (csv_is_text(name, f->columns[c].name))
            return true;
    return false;
}

static int check_header(const struct reading *r, const char *reader, struct error *err)
{
    const struct csv_format *f = r->values.format;
    const struct header *header = &r->header;
    const struct csv *csv = &r->in->csv;
    int line = (int)csv->line;
    for (size_t c = 0; c < f->n_columns; c++)
        if (f->columns[c].need == COLUMN_REQUIRED && header_find(header, f->columns[c].name) == UINT32_MAX)
            return error_at(err, BRAID_BAD_INPUT, r->in->path, line, 0,
                            "format %s needs a column '%s', which the header lacks: %.*s", reader, f->columns[c].name,
                            (int)(csv->row_n < 300 ? csv->row_n : 300), csv->row);
    for (uint32_t i = 0; i < header->n; i++) {
        struct csv_field name = csv_trimmed(header->names[i]);
        for (uint32_t j = 0; j < i && name.n > 0 && is_known(f, name); j++) {
            struct csv_field other = csv_trimmed(header->names[j]);
            if (other.n == name.n && memcmp(other.text, name.text, name.n) == 0)
                return error_at(err, BRAID_BAD_INPUT, r->in->path, line, 0, "the header has the column '%.*s' twice",
                                (int)(name.n < 100 ? name.n : 100), name.text);
        }
    }
    return BRAID_OK;
}

void csv_note_column(struct rows_columns *has, enum csv_field_of of)
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
    case OF_DEADLINES:
    case OF_SLO:
        has->optional.deadline = true;
        break;
    case OF_USER:
        has->user = true;
        break;
    case OF_NAME:
        has->optional.name = true;
        break;
    case OF_DEPENDS:
        has->optional.depends = true;
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
    case OF_GPU_MEMORY:
        has->optional.gpu_memory = true;
        break;
    case OF_MEMORY:
        has->optional.memory = true;
        break;
    case OF_GPU_MILLI:
    case OF_GPU_PERCENT:
        has->optional.gpu_milli = true;
        break;
    case OF_BATCH:
        has->optional.batch = true;
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
    const struct csv_format *f = r->values.format;
    r->uses = calloc(f->n_columns, sizeof *r->uses);
    if (r->uses == NULL)
        return error_at(err, BRAID_FAILED, r->in->path, 0, 0, "out of memory");
    for (size_t c = 0; c < f->n_columns; c++) {
        const struct csv_column *column = &f->columns[c];
        uint32_t at = header_find(&r->header, column->name);
        if (at == UINT32_MAX || column->of == OF_NOTHING)
            continue;
        bool is_needed = column->need == COLUMN_REQUIRED;
        r->uses[r->n_uses++] = (struct csv_use){
            .at = at, .name = column->name, .of = column->of, .is_needed = is_needed, .unit = column->unit};
        csv_note_column(has, column->of);
    }
    return BRAID_OK;
}

static void remark_unknown_columns(struct reading *r)
{
    for (uint32_t i = 0; i < r->header.n; i++) {
        struct csv_field name = csv_trimmed(r->header.names[i]);
        if (!is_known(r->values.format, name))
            rows_count(r->values.rows, ROW_UNKNOWN_COLUMN, 1, r->in->csv.line, name.text, name.n);
    }
}

/* ---- the rows --------------------------------------------------------------------------------------------------- */

/* A run time from the table of applications, where the row has none. */
static void take_length(struct reading *r)
{
    struct trace_row *row = &r->values.row;
    if (row->duration_ns != WORKLOAD_ABSENT || (row->start_ns != WORKLOAD_ABSENT && row->end_ns != WORKLOAD_ABSENT))
        return;
    row->is_from_table = row->gpus_milli > 0 && applications_length(&r->in->applications, row->model.at, row->model.n,
                                                                    (uint64_t)row->gpus_milli / 1000, row->batch,
                                                                    row->iterations, &row->duration_ns);
}

/* A deadline that is said as a span from the submission, or as a multiple of the run time. */
static void settle_deadline(struct trace_row *row)
{
    int64_t after_ns = row->deadline_after_ns;
    double slo_ns = row->slo > 0 && row->duration_ns > 0 ? row->slo * (double)row->duration_ns : 0;
    if (slo_ns >= 1 && slo_ns < (double)INT64_MAX)
        after_ns = (int64_t)slo_ns;
    if (after_ns != WORKLOAD_ABSENT && row->submit_ns != WORKLOAD_ABSENT &&
        __builtin_add_overflow(row->submit_ns, after_ns, &row->deadline_ns))
        row->deadline_ns = WORKLOAD_ABSENT;
    if (!row->is_best_effort)
        return;
    row->deadline_ns = WORKLOAD_ABSENT;
    row->has_several_deadlines = false;
}

/* Are there as many fields as columns? */
static enum trace_reason judge_fields(const struct reading *r)
{
    const struct csv *csv = &r->in->csv;
    uint32_t n_empty = 0;
    while (csv->n_fields - n_empty > r->n_fields && csv_trimmed(csv->fields[csv->n_fields - 1 - n_empty]).n == 0)
        n_empty++;
    enum trace_reason why = rows_judge_fields(csv->n_fields, r->n_fields, n_empty);
    if (why == ROW_FINE && csv->n_fields > r->header.n)
        rows_count(r->values.rows, ROW_EXTRA_FIELDS, 1, csv->line, csv->row, csv->row_n);
    return why;
}

static bool is_used(const struct reading *r, uint32_t field)
{
    for (uint32_t i = 0; i < r->n_uses; i++)
        if (r->uses[i].at == field)
            return true;
    return false;
}

static int read_row(struct reading *r, struct error *err)
{
    const struct csv *csv = &r->in->csv;
    row_clear(&r->values.row);
    r->values.row.line = csv->line;
    r->values.row.offset = csv->offset;
    r->values.row.raw = (struct trace_text){csv->row, csv->row_n};
    r->values.row.fault = judge_fields(r);
    bool is_ragged = r->values.row.fault != ROW_FINE;
    if (csv->is_cut && !is_ragged) {
        int code = rows_note_cut(r->values.rows, &r->values.row, is_used(r, csv->n_fields - 1), err);
        if (code != BRAID_OK)
            return code;
    }
    for (uint32_t i = 0; i < r->n_uses && !is_ragged; i++)
        if (r->uses[i].at < csv->n_fields)
            csv_take(&r->values, &r->uses[i], csv->fields[r->uses[i].at]);
    if (r->values.format->finish != NULL && r->values.row.fault == ROW_FINE)
        r->values.format->finish(&r->values.row, r->in);
    if (r->values.format->lengths != NULL)
        take_length(r);
    settle_deadline(&r->values.row);
    return rows_add(r->values.rows, &r->values.row, err);
}

static int read_rows(struct reading *r, struct error *err)
{
    bool has_row = true;
    int code =
        r->values.format->header != NULL ? read_row(r, err) : BRAID_OK; /* csv stands behind the first one already */
    while (code == BRAID_OK) {
        code = csv_next(&r->in->csv, &has_row, err);
        if (code != BRAID_OK || !has_row)
            break;
        code = read_row(r, err);
    }
    return code;
}

static int begin(struct reading *r, struct rows_columns *has, struct error *err)
{
    struct trace_input *in = r->in;
    int code = BRAID_OK;
    if (r->values.format->lengths != NULL)
        code = applications_init(&in->applications, r->values.format->lengths, in->applications_path,
                                 in->applications_shown, err);
    else if (in->applications_path != NULL)
        code = error_at(err, BRAID_BAD_INPUT, in->path, 0, 0,
                        "the trace has run times of its own; leave out trace.applications");
    return code == BRAID_OK && r->values.format->begin != NULL ? r->values.format->begin(in, has, err) : code;
}

int csv_format_read(const struct trace_reader *reader, struct trace_input *in, struct rows *out, struct error *err)
{
    struct reading r = {.in = in, .values = {.format = in->layout, .rows = out}};
    struct rows_columns has = {.text = true};
    int code = BRAID_OK;
    if (!read_names(&r))
        code = error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    if (code == BRAID_OK)
        code = check_header(&r, reader->name, err);
    if (code == BRAID_OK)
        code = map_columns(&r, &has, err);
    if (code == BRAID_OK)
        code = begin(&r, &has, err);
    if (code == BRAID_OK)
        code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code == BRAID_OK) {
        remark_unknown_columns(&r);
        code = read_rows(&r, err);
        rows_count(out, ROW_BLANK_LINE, in->csv.blank_lines, in->csv.first_blank_line, "", 0);
    }
    if (r.values.format->end != NULL)
        r.values.format->end(in);
    free(r.header.names);
    free(r.uses);
    return code;
}
