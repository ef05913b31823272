#include "traces/applications.h"

#include "base/number.h"
#include "traces/csv.h"
#include "traces/workload.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum field { FIELD_NAME, FIELD_GPUS, FIELD_BATCH, FIELD_SECONDS, FIELD_RATE, N_FIELDS };
static const char *const field_names[N_FIELDS] = {"application", "gpus", "batch_size", "seconds", "steps_per_s"};

struct reading {
    struct applications *to;
    struct csv csv;
    uint32_t at[N_FIELDS]; /* where each field is in a row; UINT32_MAX: it is not there */
    uint32_t n_columns;
    const char *shown;
    struct error *err;
};

static int line_of(const struct csv *c)
{
    return c->line > INT_MAX ? INT_MAX : (int)c->line;
}

static int no_memory(const struct reading *r)
{
    return error_at(r->err, BRAID_FAILED, r->shown, 0, 0, "out of memory for a table of applications");
}

static struct csv_field trimmed(struct csv_field f)
{
    while (f.n > 0 && (f.text[0] == ' ' || f.text[0] == '\t')) {
        f.text++;
        f.n--;
    }
    while (f.n > 0 && (f.text[f.n - 1] == ' ' || f.text[f.n - 1] == '\t'))
        f.n--;
    return f;
}

static int read_header(struct reading *r)
{
    bool has_row;
    int code = csv_next(&r->csv, &has_row, r->err);
    if (code != BRAID_OK)
        return code;
    for (int f = 0; f < N_FIELDS; f++)
        r->at[f] = UINT32_MAX;
    for (uint32_t i = 0; has_row && i < r->csv.n_fields; i++) {
        struct csv_field name = trimmed(r->csv.fields[i]);
        int f = 0;
        while (f < N_FIELDS && (strlen(field_names[f]) != name.n || memcmp(field_names[f], name.text, name.n) != 0))
            f++;
        if (f == N_FIELDS || r->at[f] != UINT32_MAX)
            return error_at(
                r->err, BRAID_BAD_INPUT, r->shown, line_of(&r->csv), 0,
                "column '%.*s' %s; a table of applications has application,gpus,batch_size,seconds,steps_per_s",
                (int)(name.n < 60 ? name.n : 60), name.text, f == N_FIELDS ? "is unknown" : "is there twice");
        r->at[f] = i;
    }
    r->n_columns = r->csv.n_fields;
    if (r->at[FIELD_NAME] == UINT32_MAX || (r->at[FIELD_SECONDS] == UINT32_MAX && r->at[FIELD_RATE] == UINT32_MAX))
        return error_at(r->err, BRAID_BAD_INPUT, r->shown, has_row ? line_of(&r->csv) : 0, 0,
                        "a table of applications begins with the header application,seconds (and gpus, batch_size, "
                        "steps_per_s where needed)");
    return BRAID_OK;
}

static struct csv_field field(const struct reading *r, enum field f)
{
    return r->at[f] < r->csv.n_fields ? trimmed(r->csv.fields[r->at[f]]) : (struct csv_field){"", 0};
}

static bool read_count(struct csv_field f, uint32_t *out)
{
    uint64_t v = 0;
    if (f.n > 0 && (!number_parse_u64(f.text, f.n, &v) || v == 0 || v > UINT32_MAX))
        return false;
    *out = (uint32_t)v;
    return true;
}

static bool read_amount(struct csv_field f, double *out)
{
    *out = 0;
    return f.n == 0 || (number_parse_double(f.text, f.n, out) && *out > 0);
}

static int add_row(struct reading *r)
{
    struct application row = {0};
    struct csv_field name = field(r, FIELD_NAME);
    int line = line_of(&r->csv);
    if (r->csv.n_fields != r->n_columns)
        return error_at(r->err, BRAID_BAD_INPUT, r->shown, line, 0,
                        "the row has %u fields and the header %u; is a comma missing, or one too many?", r->csv.n_fields,
                        r->n_columns);
    if (name.n == 0)
        return error_at(r->err, BRAID_BAD_INPUT, r->shown, line, 0, "the row names no application");
    if (!read_count(field(r, FIELD_GPUS), &row.gpus) || !read_count(field(r, FIELD_BATCH), &row.batch))
        return error_at(r->err, BRAID_BAD_INPUT, r->shown, line, 0,
                        "gpus and batch_size are whole numbers above 0, or empty for any");
    if (!read_amount(field(r, FIELD_SECONDS), &row.seconds) || !read_amount(field(r, FIELD_RATE), &row.steps_per_s) ||
        (row.seconds > 0) == (row.steps_per_s > 0))
        return error_at(r->err, BRAID_BAD_INPUT, r->shown, line, 0,
                        "each row has a number above 0 for one of seconds and steps_per_s");
    struct applications *a = r->to;
    if (a->n_rows == a->room) {
        uint32_t room = a->room * 2 + 16;
        struct application *grown = realloc(a->rows, room * sizeof *grown);
        if (grown == NULL)
            return no_memory(r);
        a->rows = grown;
        a->room = room;
    }
    uint32_t id = names_add(&a->names, name.text, name.n);
    if (id == NAMES_NONE)
        return no_memory(r);
    a->rows[a->n_rows++] = row;
    return BRAID_OK;
}

/* The names move while the table grows, so rows get them only at the end. Their ids are in order of appearance. */
static int read_rows(struct reading *r)
{
    uint32_t *ids = NULL, room = 0;
    int code = BRAID_OK;
    for (bool has_row = true; code == BRAID_OK;) {
        code = csv_next(&r->csv, &has_row, r->err);
        if (code != BRAID_OK || !has_row)
            break;
        code = add_row(r);
        if (code == BRAID_OK && r->to->n_rows > room) {
            uint32_t *grown = realloc(ids, (room = r->to->room) * sizeof *ids);
            if (grown == NULL)
                code = no_memory(r);
            else
                ids = grown;
        }
        if (code == BRAID_OK) {
            struct csv_field name = field(r, FIELD_NAME);
            ids[r->to->n_rows - 1] = names_find(&r->to->names, name.text, name.n);
        }
    }
    for (uint32_t i = 0; i < r->to->n_rows && code == BRAID_OK; i++)
        r->to->rows[i].name = names_text(&r->to->names, ids[i]);
    free(ids);
    return code;
}

int applications_init(struct applications *a, const struct application *defaults, const char *path, const char *shown,
                      struct error *err)
{
    *a = (struct applications){.defaults = defaults};
    names_init(&a->names);
    if (path == NULL)
        return BRAID_OK;
    struct source source;
    struct reading r = {.to = a, .shown = shown != NULL ? shown : path, .err = err};
    int code = source_open(&source, path, r.shown, err);
    if (code == BRAID_OK)
        code = csv_init(&r.csv, &source, err);
    if (code == BRAID_OK)
        code = read_header(&r);
    if (code == BRAID_OK)
        code = read_rows(&r);
    csv_fini(&r.csv);
    source_close(&source);
    return code;
}

void applications_fini(struct applications *a)
{
    free(a->rows);
    names_fini(&a->names);
    *a = (struct applications){0};
}

/* The row of `rows` that fits best, and NULL where none does. */
static const struct application *find(const struct application *rows, uint32_t n_rows, const char *name, size_t n,
                                      uint64_t gpus, uint32_t batch)
{
    const struct application *best = NULL;
    int best_fit = -1;
    for (uint32_t i = 0; i < n_rows; i++) {
        const struct application *a = &rows[i];
        if ((a->gpus != 0 && a->gpus != gpus) || (a->batch != 0 && a->batch != batch))
            continue;
        int fit = (a->gpus != 0 ? 2 : 0) + (a->batch != 0 ? 1 : 0);
        if (fit > best_fit && strncmp(a->name, name, n) == 0 && a->name[n] == '\0') {
            best = a;
            best_fit = fit;
        }
    }
    return best;
}

bool applications_length(const struct applications *a, const char *name, size_t n, uint64_t gpus, uint32_t batch,
                         int64_t steps, int64_t *ns)
{
    uint32_t n_defaults = 0;
    while (a->defaults != NULL && a->defaults[n_defaults].name != NULL)
        n_defaults++;
    const struct application *row = find(a->rows, a->n_rows, name, n, gpus, batch);
    if (row == NULL)
        row = find(a->defaults, n_defaults, name, n, gpus, batch);
    if (row == NULL || (row->seconds <= 0 && (steps == WORKLOAD_ABSENT || steps < 0)))
        return false;
    double length_s = row->seconds > 0 ? row->seconds : (double)steps / row->steps_per_s;
    if (length_s >= (double)INT64_MAX / (double)NS_PER_S)
        return false;
    *ns = (int64_t)round(length_s * (double)NS_PER_S);
    return true;
}
