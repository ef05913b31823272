#include "traces/mapped.h"

#include "base/number.h"
#include "traces/csv_values.h"
#include "traces/slurm_resources.h"
#include "traces/table.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX, NAMES_MAX = MAPPING_TARGETS * 3 };

/* A source with its columns found: indices into the wanted names of the table. */
struct use {
    const struct mapping_target *target;
    const struct mapping_source *source;
    uint32_t column, from, to, times, plus; /* NONE: not given, or a number */
    int64_t times_milli;                    /* where `times` is a number */
    const struct mapping_unit *unit;
};

struct mapped {
    const struct trace_mapping *mapping;
    struct trace_input *in;
    void (*finish)(struct trace_row *row);
    const char *names[NAMES_MAX];
    uint32_t n_names;
    struct use uses[MAPPING_TARGETS];
    uint32_t n_uses;
    bool has_start;
    struct csv_values values; /* the present row, and the rows so far */
};

/* ---- what cannot be read ------------------------------------------------------------------------------------------------ */

static bool is_needed(const struct use *u)
{
    return u->target->of == OF_SUBMIT || u->target->of == OF_GPUS || u->target->of == OF_DURATION;
}

/* The value of `u` cannot be read: `f`, of the column `name`. */
static void blame_column(struct mapped *m, const struct use *u, const char *name, struct csv_field f,
                         enum trace_reason why)
{
    struct trace_row *row = &m->values.row;
    const struct trace_text value = {f.text, f.n};
    if (!is_needed(u)) {
        rows_blame(m->values.rows, ROW_BAD_OPTIONAL, row, name, value);
    } else if (row->fault == ROW_FINE) {
        row->fault = why;
        row->fault_column = name;
        row->fault_value = value;
    }
}

static void blame(struct mapped *m, const struct use *u, struct csv_field f, enum trace_reason why)
{
    blame_column(m, u, u->source->column != NULL ? u->source->column : u->target->name, f, why);
}

static bool is_missing(struct csv_field f)
{
    static const char *const words[] = {"Unknown",    "UNKNOWN",   "INVALID",   "Invalid",  "(null)",
                                        "\\N",        "NOT_SET",   "UNLIMITED", "INFINITE", "Partition_Limit",
                                        "4294967295", "4294967294" /* Slurm: no limit, not said */};
    if (csv_is_missing(f))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (csv_is_text(f, words[i]))
            return true;
    return false;
}

/* ---- values ----------------------------------------------------------------------------------------------------------- */

static bool is_date(struct csv_field f)
{
    return f.n >= 10 && f.text[4] == '-' && f.text[7] == '-';
}

/* A time: a date, or a number in the unit. A time since 1970 that is not above 0 is none. */
static bool parse_stamp(const struct use *u, struct csv_field f, int64_t *out, bool *is_dated, unsigned *zones)
{
    bool is_unix = u->unit->is_unix;
    *is_dated = is_date(f) || is_unix;
    if (is_date(f)) {
        *zones |= number_has_zone(f.text, f.n) ? ZONES_SAID : ZONES_ABSENT;
        return number_parse_datetime(f.text, f.n, out);
    }
    if (is_unix)
        *zones |= ZONES_SAID;
    if (!number_parse_scaled(f.text, f.n, u->unit->one, out))
        return false;
    if (is_unix && *out <= 0)
        *out = WORKLOAD_ABSENT;
    return true;
}

/* A span: a number in the unit, or "1-02:03:04". */
static bool parse_span(const struct use *u, struct csv_field f, int64_t *out)
{
    if (memchr(f.text, ':', f.n) != NULL || (f.n > 4 && memchr(f.text, 'd', f.n) != NULL))
        return number_parse_span(f.text, f.n, out);
    return number_parse_scaled(f.text, f.n, u->unit != NULL ? u->unit->one : NS_PER_S, out);
}

static struct csv_field field_of(const struct use *u, const struct table_row *row)
{
    if (u->source->constant != NULL)
        return (struct csv_field){u->source->constant, strlen(u->source->constant)};
    return u->column != NONE ? row->fields[u->column] : (struct csv_field){"", 0};
}

static void take_stamp(struct mapped *m, const struct use *u, const struct table_row *row, int64_t *out)
{
    struct csv_field f = field_of(u, row);
    struct trace_row *r = &m->values.row;
    int64_t at, span = 0;
    bool is_dated;
    if (is_missing(f))
        return;
    if (!parse_stamp(u, f, &at, &is_dated, &r->zones)) {
        blame(m, u, f, is_date(f) || memchr(f.text, ':', f.n) != NULL ? ROW_BAD_DATE : ROW_BAD_NUMBER);
        return;
    }
    if (at == WORKLOAD_ABSENT)
        return;
    if (u->target->of == OF_SUBMIT)
        r->is_dated = is_dated;
    if (is_dated != r->is_dated) {
        blame(m, u, f, ROW_BAD_DATE);
        return;
    }
    if (u->plus != NONE) {
        struct use span_use = *u;
        if (u->unit->is_unix)
            span_use.unit = NULL;
        f = row->fields[u->plus];
        if (is_missing(f))
            return;
        if (!parse_span(&span_use, f, &span) || __builtin_add_overflow(at, span, &at)) {
            blame_column(m, u, u->source->plus, f, ROW_BAD_NUMBER);
            return;
        }
    }
    *out = at;
}

/* `value` times the other column or number of `u`; false: that one cannot be read. *is_known false: it is not said. */
static bool multiply(const struct use *u, const struct table_row *row, int64_t *value, bool *is_known)
{
    int64_t milli = u->times_milli;
    *is_known = true;
    if (u->source->times == NULL)
        return true;
    if (u->times != NONE) {
        *is_known = !is_missing(row->fields[u->times]);
        if (!*is_known)
            return true;
        if (!number_parse_scaled(row->fields[u->times].text, row->fields[u->times].n, 1000, &milli))
            return false;
    }
    __extension__ typedef __int128 wide;
    wide product = (wide)*value * milli;
    product += product < 0 ? -500 : 500;
    product /= 1000;
    if (product > INT64_MAX || product < -INT64_MAX)
        return false;
    *value = (int64_t)product;
    return true;
}

static void take_difference(struct mapped *m, const struct use *u, const struct table_row *row, int64_t *out)
{
    struct csv_field from = row->fields[u->from], to = row->fields[u->to];
    int64_t begin, end;
    bool begin_is_date, end_is_date;
    if (is_missing(from) || is_missing(to))
        return;
    if (!parse_stamp(u, from, &begin, &begin_is_date, &m->values.row.zones)) {
        blame_column(m, u, u->source->from, from, ROW_BAD_DATE);
        return;
    }
    if (!parse_stamp(u, to, &end, &end_is_date, &m->values.row.zones) || begin_is_date != end_is_date) {
        blame_column(m, u, u->source->to, to, ROW_BAD_DATE);
        return;
    }
    if (begin == WORKLOAD_ABSENT || end == WORKLOAD_ABSENT)
        return;
    if (end < begin && is_needed(u) && m->values.row.fault == ROW_FINE)
        m->values.row.fault = ROW_END_BEFORE_START;
    else if (end < begin || __builtin_sub_overflow(end, begin, out))
        blame_column(m, u, u->source->to, to, ROW_BAD_NUMBER);
}

static void take_span(struct mapped *m, const struct use *u, const struct table_row *row, int64_t *out)
{
    int64_t span;
    bool is_known;
    if (u->from != NONE) {
        take_difference(m, u, row, out);
        return;
    }
    struct csv_field f = field_of(u, row);
    if (is_missing(f))
        return;
    if (!parse_span(u, f, &span) || !multiply(u, row, &span, &is_known) || span == WORKLOAD_ABSENT ||
        (span < 0 && u->target->of != OF_DURATION)) /* a run time below 0 has a reason of its own */
        blame(m, u, f, ROW_BAD_NUMBER);
    else if (is_known)
        *out = span;
}

/* An amount of a resource, `one` for each, picked out of a list and multiplied as the source says. *is_known false: not said. */
static bool parse_amount(const struct use *u, const struct table_row *row, int64_t one, int64_t *out, bool *is_known)
{
    struct csv_field f = field_of(u, row);
    *is_known = false;
    if (is_missing(f))
        return true;
    if (u->source->tres.n == 0) {
        if (!number_parse_scaled(f.text, f.n, one, out))
            return false;
    } else {
        *out = 0;
        if (f.text[f.n - 1] == '+') /* cut short by the width of a column */
            return false;
        for (uint32_t i = 0; i < u->source->tres.n; i++) {
            struct resource_amount a = resource_find((struct trace_text){f.text, f.n}, u->source->tres.v[i], one);
            if (a.is_bad)
                return false;
            *out = a.sum;
            if (a.is_named)
                break;
        }
    }
    return multiply(u, row, out, is_known);
}

static void take_gpus(struct mapped *m, const struct use *u, const struct table_row *row)
{
    int64_t milli;
    bool is_known;
    if (u->unit != NULL && strcmp(u->unit->name, "percent") == 0) {
        const struct csv_use percent = {
            .name = u->source->column != NULL ? u->source->column : "gpus", .of = OF_GPU_PERCENT, .is_needed = true};
        csv_take(&m->values, &percent, field_of(u, row));
        return;
    }
    if (!parse_amount(u, row, u->unit != NULL ? u->unit->one : 1000, &milli, &is_known) || milli == WORKLOAD_ABSENT)
        blame(m, u, field_of(u, row), ROW_BAD_NUMBER);
    else if (is_known)
        m->values.row.gpus_milli = milli;
}

static void take_cpus(struct mapped *m, const struct use *u, const struct table_row *row)
{
    int64_t milli = 0;
    bool is_known;
    if (!parse_amount(u, row, u->unit != NULL ? u->unit->one : 1000, &milli, &is_known) ||
        (is_known && (milli < 0 || milli > UINT32_MAX)))
        blame(m, u, field_of(u, row), ROW_BAD_NUMBER);
    else if (is_known)
        m->values.row.cpu_milli = (uint32_t)milli;
}

/* "64 GB", "64G" as Slurm writes it, or a number in the unit. */
static bool parse_size(const struct use *u, struct csv_field f, uint64_t *out_kib)
{
    int64_t bytes;
    if (f.n > 0 && (f.text[f.n - 1] < '0' || f.text[f.n - 1] > '9'))
        return number_parse_size(f.text, f.n, out_kib) || slurm_memory_parse((struct trace_text){f.text, f.n}, out_kib);
    if (!number_parse_scaled(f.text, f.n, u->unit != NULL ? u->unit->one : 1, &bytes) || bytes < 0)
        return false;
    *out_kib = (uint64_t)bytes / 1024;
    return true;
}

static void take_size(struct mapped *m, const struct use *u, const struct table_row *row, uint64_t *out_kib)
{
    struct csv_field f = field_of(u, row);
    uint64_t kib = 0;
    bool is_known;
    if (is_missing(f))
        return;
    if (u->source->tres.n > 0) {
        struct resource_amount a = {.is_named = false};
        for (uint32_t i = 0; i < u->source->tres.n && !a.is_named; i++)
            a = resource_find((struct trace_text){f.text, f.n}, u->source->tres.v[i], 1);
        if (!a.is_named)
            return;
        f = (struct csv_field){a.text.at, a.text.n};
    }
    bool is_good = parse_size(u, f, &kib) && kib <= INT64_MAX;
    int64_t product = (int64_t)kib;
    if (!is_good || !multiply(u, row, &product, &is_known) || product < 0)
        blame(m, u, f, ROW_BAD_NUMBER);
    else if (is_known)
        *out_kib = (uint64_t)product;
}

static bool is_one_of(struct csv_field f, const struct mapping_texts *texts)
{
    for (uint32_t i = 0; i < texts->n; i++)
        if (csv_is_text(f, texts->v[i]))
            return true;
    return false;
}

static void take_status(struct mapped *m, const struct use *u, const struct table_row *row)
{
    struct csv_field f = field_of(u, row);
    struct trace_row *r = &m->values.row;
    const struct mapping_source *s = u->source;
    struct job_end state = {.is_known = true, .status = TRACE_UNKNOWN};
    if (is_one_of(f, &s->passed))
        state.status = TRACE_PASSED;
    else if (is_one_of(f, &s->failed))
        state.status = TRACE_FAILED;
    else if (is_one_of(f, &s->killed))
        state.status = TRACE_KILLED;
    else if (s->codes != JOB_CODES_NONE && f.n > 0 && (f.text[0] == '-' || (f.text[0] >= '0' && f.text[0] <= '9')))
        state = job_end_of_code((enum job_codes)s->codes, f.text, f.n);
    else if (!csv_is_missing(f))
        state = job_end_find(f.text, f.n);
    r->status = state.status;
    bool is_unstarted = m->has_start && r->start_ns == WORKLOAD_ABSENT && r->duration_ns <= 0;
    if (r->fault == ROW_FINE && (state.is_waiting || (state.status == TRACE_KILLED && is_unstarted)))
        r->fault = ROW_NEVER_STARTED;
    else if (r->fault == ROW_FINE && state.is_running)
        r->fault = ROW_STILL_RUNNING;
    else if (!state.is_known)
        rows_blame(m->values.rows, ROW_UNKNOWN_STATUS, r, s->column != NULL ? s->column : "status",
                   (struct trace_text){f.text, f.n});
}

static void take_type(struct mapped *m, const struct use *u, const struct table_row *row)
{
    struct csv_field f = field_of(u, row);
    struct trace_text type = {f.text, csv_is_missing(f) ? 0 : f.n};
    for (uint32_t i = 0; i < u->source->tres.n; i++) {
        struct resource_amount a = resource_find((struct trace_text){f.text, f.n}, u->source->tres.v[i], 1);
        type = a.type;
        if (type.n > 0)
            break;
    }
    m->values.row.gpu_type = type;
}

static void take_text(struct mapped *m, const struct use *u, const struct table_row *row)
{
    struct csv_field f = field_of(u, row);
    const struct trace_text text = {f.text, f.n};
    struct trace_row *r = &m->values.row;
    switch (u->target->of) {
    case OF_ID:
        r->id = text;
        break;
    case OF_VC:
        r->vc = text;
        break;
    case OF_USER:
        r->user = text;
        break;
    case OF_NAME:
        r->name = text;
        break;
    case OF_MODEL:
        r->model = text;
        break;
    case OF_DEPENDS:
        r->depends = text;
        break;
    default:
        take_type(m, u, row);
    }
}

static int64_t *stamp_of(struct trace_row *r, int of)
{
    return of == OF_SUBMIT  ? &r->submit_ns
           : of == OF_START ? &r->start_ns
           : of == OF_END   ? &r->end_ns
                            : &r->deadline_ns;
}

static int64_t *span_of(struct trace_row *r, int of)
{
    return of == OF_DURATION         ? &r->duration_ns
           : of == OF_ESTIMATE       ? &r->estimate_ns
           : of == OF_ITERATION_TIME ? &r->iteration_ns
                                     : &r->stage_ns[of - OF_STAGE_STORAGE];
}

static void take(struct mapped *m, const struct use *u, const struct table_row *row)
{
    struct trace_row *r = &m->values.row;
    const char *name = u->source->column != NULL ? u->source->column : u->target->name;
    const struct csv_use plain = {.name = name, .of = (enum csv_field_of)u->target->of};
    switch (u->target->kind) {
    case MAPPING_TEXT:
        take_text(m, u, row);
        break;
    case MAPPING_STAMP:
        take_stamp(m, u, row, stamp_of(r, u->target->of));
        break;
    case MAPPING_SPAN:
        take_span(m, u, row, span_of(r, u->target->of));
        break;
    case MAPPING_GPUS:
        take_gpus(m, u, row);
        break;
    case MAPPING_CPUS:
        take_cpus(m, u, row);
        break;
    case MAPPING_SIZE:
        take_size(m, u, row, u->target->of == OF_MEMORY ? &r->mem_kib : &r->gpu_mem_kib);
        break;
    case MAPPING_PLAIN:
        csv_take(&m->values, &plain, field_of(u, row));
        break;
    case MAPPING_STATUS:
        take_status(m, u, row);
        break;
    }
}

/* ---- rows ------------------------------------------------------------------------------------------------------------- */

static int on_row(void *self, const struct table_row *row, struct error *err)
{
    struct mapped *m = self;
    struct trace_row *r = &m->values.row;
    row_clear(r);
    r->line = row->line;
    r->offset = row->offset;
    r->raw = (struct trace_text){row->text, row->n};
    r->fault = row->fault == TABLE_ROW_SHORT  ? ROW_SHORT
               : row->fault == TABLE_ROW_LONG ? ROW_AMBIGUOUS_FIELDS
                                              : ROW_FINE;
    if (row->is_cut && r->fault == ROW_FINE) {
        int code = rows_note_cut(m->values.rows, r, row->is_cut_used, err);
        if (code != BRAID_OK)
            return code;
    }
    bool is_ragged = r->fault != ROW_FINE;
    for (uint32_t i = 0; i < m->n_uses && !is_ragged; i++)
        take(m, &m->uses[i], row);
    if (r->fault == ROW_FINE && m->finish != NULL)
        m->finish(r);
    if (r->fault == ROW_JOB_STEP) {
        rows_skip(m->values.rows, ROW_JOB_STEP, r);
        return BRAID_OK;
    }
    return rows_add(m->values.rows, r, err);
}

static int on_begin(void *self, enum table_shape shape, bool has_text, struct error *err)
{
    struct mapped *m = self;
    struct rows_columns has = {.text = has_text};
    (void)shape;
    for (uint32_t i = 0; i < m->n_uses; i++) {
        const struct use *u = &m->uses[i];
        csv_note_column(&has, (enum csv_field_of)u->target->of);
        if (u->target->of == OF_GPUS && u->unit != NULL && strcmp(u->unit->name, "percent") == 0)
            has.optional.gpu_milli = true;
        m->has_start |= u->target->of == OF_START;
    }
    return rows_init(m->values.rows, m->in->path, &has, m->in->is_strict, err);
}

/* ---- the mapping ------------------------------------------------------------------------------------------------------ */

static uint32_t want(struct mapped *m, const char *name)
{
    uint32_t i = 0;
    if (name == NULL)
        return NONE;
    while (i < m->n_names && strcmp(m->names[i], name) != 0)
        i++;
    if (i == m->n_names)
        m->names[m->n_names++] = name;
    return i;
}

static void add_use(struct mapped *m, uint32_t t)
{
    uint32_t n;
    const struct mapping_target *target = &mapping_targets(&n)[t];
    const struct mapping_source *s = &m->mapping->sources[t];
    static const char numbered[] = "column "; /* "column 3": where a number would be a factor */
    const char *unit = s->unit;
    if (unit == NULL && (target->kind == MAPPING_STAMP || target->kind == MAPPING_SPAN))
        unit = m->mapping->unit != NULL ? m->mapping->unit : "s";
    struct use u = {.target = target, .source = s, .times = NONE};
    bool is_named = s->times != NULL && strncmp(s->times, numbered, sizeof numbered - 1) == 0;
    if (is_named)
        u.times = want(m, s->times + sizeof numbered - 1);
    else if (s->times != NULL && !number_parse_scaled(s->times, strlen(s->times), 1000, &u.times_milli))
        u.times = want(m, s->times);
    u.column = want(m, s->column);
    u.from = want(m, s->from);
    u.to = want(m, s->to);
    u.plus = want(m, s->plus);
    u.unit = unit != NULL ? mapping_unit_find(unit) : NULL;
    if (target->kind == MAPPING_SPAN && s->from == NULL && u.unit != NULL && u.unit->is_unix)
        u.unit = mapping_unit_find("s"); /* the table's own clock is no unit of spans */
    m->uses[m->n_uses++] = u;
}

int mapped_read(struct trace_input *in, struct rows *out, const struct trace_mapping *m,
                void (*finish)(struct trace_row *row), struct error *err)
{
    int code = mapping_check(m, err);
    if (code != BRAID_OK)
        return code;
    struct mapped *x = calloc(1, sizeof *x);
    if (x == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    x->mapping = m;
    x->in = in;
    x->finish = finish;
    x->values.rows = out;
    uint32_t status = mapping_target_find("status");
    for (uint32_t t = 0; t < MAPPING_TARGETS; t++)
        if (m->is_given[t] && t != status)
            add_use(x, t);
    if (m->is_given[status]) /* the last: whether a job ever ran is seen from its times */
        add_use(x, status);
    const struct table_spec spec = {
        .separator = m->separator, .header = m->header, .wanted = x->names, .n_wanted = x->n_names};
    struct table_reader reader = {.spec = &spec, .self = x, .begin = on_begin, .row = on_row};
    code = table_read(&reader, &in->source, in->path, err);
    if (code == BRAID_OK)
        rows_count(out, ROW_BLANK_LINE, reader.blank_lines, reader.first_blank_line, "", 0);
    free(x);
    return code;
}

static bool has_column(const struct table_peek *k, const char *name)
{
    for (uint32_t c = 0; c < k->n_columns; c++)
        if (strcmp(k->names[c], name) == 0)
            return true;
    return false;
}

int mapped_read_found(struct trace_input *in, struct rows *out, const struct mapped_candidate *candidates, size_t n,
                      void (*finish)(struct trace_row *row), struct error *err)
{
    struct trace_mapping m = {.header = "auto"};
    struct table_peek *peek = calloc(1, sizeof *peek);
    if (peek == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    int code = table_peek(peek, &in->source, in->path, err);
    for (size_t i = 0; i < n && code == BRAID_OK; i++) {
        uint32_t t = mapping_target_find(candidates[i].target);
        if (m.is_given[t] || (!candidates[i].is_needed && !has_column(peek, candidates[i].source.column)))
            continue;
        m.is_given[t] = true;
        m.sources[t] = candidates[i].source;
    }
    m.separator = peek->separator;
    free(peek);
    if (code == BRAID_OK)
        code = source_rewind(&in->source, err);
    return code == BRAID_OK ? mapped_read(in, out, &m, finish, err) : code;
}

const struct trace_reader reader_columns = {
    .name = "columns",
    .summary = "any table, by trace.columns",
};
