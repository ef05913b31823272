#include "model/overhead.h"

#include "base/number.h"
#include "traces/csv.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN_GPUS, COLUMN_MODEL, COLUMN_OVERHEAD, N_COLUMNS };

struct table {
    struct overhead_row *rows; /* on the heap while it grows */
    uint32_t n, capacity;
    int column[N_COLUMNS]; /* field number, -1: the table lacks it */
    const char *shown;
    struct arena *arena;
};

/* Find the columns by name; spaces around names do not count. */
static int read_header(struct table *t, const struct csv *csv, struct error *err)
{
    static const char *const names[N_COLUMNS] = {"gpus", "model", "overhead"};
    for (int c = 0; c < N_COLUMNS; c++)
        t->column[c] = -1;
    for (uint32_t i = 0; i < csv->n_fields; i++) {
        struct csv_field field = csv->fields[i];
        while (field.n > 0 && field.text[0] == ' ') {
            field.text++;
            field.n--;
        }
        while (field.n > 0 && field.text[field.n - 1] == ' ')
            field.n--;
        for (int c = 0; c < N_COLUMNS; c++) {
            if (field.n != strlen(names[c]) || memcmp(field.text, names[c], field.n) != 0)
                continue;
            if (t->column[c] >= 0)
                return error_at(err, BRAID_BAD_INPUT, t->shown, (int)csv->line, 0, "column '%s' stands twice",
                                names[c]);
            t->column[c] = (int)i;
        }
    }
    if (t->column[COLUMN_GPUS] < 0 || t->column[COLUMN_OVERHEAD] < 0)
        return error_at(err, BRAID_BAD_INPUT, t->shown, (int)csv->line, 0,
                        "a table of overheads begins with a row of column names, among them gpus and overhead (and "
                        "perhaps model)");
    return BRAID_OK;
}

static int read_row(struct table *t, const struct csv *csv, struct error *err)
{
    enum { GPUS_MAX = 1 << 24 };
    static const int64_t most_ns = INT64_C(365) * 86400 * NS_PER_S;
    struct csv_field field[N_COLUMNS] = {0};
    struct overhead_row row = {0};
    uint64_t gpus;
    for (int c = 0; c < N_COLUMNS; c++) {
        if (t->column[c] >= (int)csv->n_fields)
            return error_at(err, BRAID_BAD_INPUT, t->shown, (int)csv->line, 0,
                            "the row has %u fields, fewer than the header", csv->n_fields);
        if (t->column[c] >= 0)
            field[c] = csv->fields[t->column[c]];
    }
    if (!number_parse_u64(field[COLUMN_GPUS].text, field[COLUMN_GPUS].n, &gpus) || gpus < 1 || gpus > GPUS_MAX)
        return error_at(err, BRAID_BAD_INPUT, t->shown, (int)csv->line, 0, "'%.*s' is no number of GPUs from 1 to %d",
                        (int)(field[COLUMN_GPUS].n < 60 ? field[COLUMN_GPUS].n : 60), field[COLUMN_GPUS].text,
                        GPUS_MAX);
    const struct csv_field *time = &field[COLUMN_OVERHEAD];
    if (!number_parse_scaled(time->text, time->n, NS_PER_S, &row.ns) || row.ns < 0 || row.ns > most_ns)
        return error_at(err, BRAID_BAD_INPUT, t->shown, (int)csv->line, 0,
                        "'%.*s' is no overhead in seconds, from 0 to a year", (int)(time->n < 60 ? time->n : 60),
                        time->text);
    row.gpus = (uint32_t)gpus;
    const struct csv_field *model = &field[COLUMN_MODEL];
    bool is_any = model->n == 0 || (model->n == 5 && memcmp(model->text, "other", 5) == 0);
    if (!is_any && (row.model = arena_text(t->arena, model->text, model->n)) == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    if (t->n == t->capacity) {
        uint32_t capacity = t->capacity * 2 + 64;
        struct overhead_row *grown = realloc(t->rows, capacity * sizeof *grown);
        if (grown == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
        t->rows = grown;
        t->capacity = capacity;
    }
    t->rows[t->n++] = row;
    return BRAID_OK;
}

static int compare_models(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int compare_rows(const void *a, const void *b)
{
    const struct overhead_row *x = a, *y = b;
    return x->gpus != y->gpus ? (x->gpus > y->gpus) - (x->gpus < y->gpus) : compare_models(x->model, y->model);
}

static int read_rows(struct table *t, struct csv *csv, struct error *err)
{
    bool has_row;
    int status = csv_next(csv, &has_row, err);
    if (status != BRAID_OK)
        return status;
    if (!has_row)
        return error_at(err, BRAID_BAD_INPUT, t->shown, 0, 0, "the table of overheads is empty");
    status = read_header(t, csv, err);
    while (status == BRAID_OK && (status = csv_next(csv, &has_row, err)) == BRAID_OK && has_row)
        status = read_row(t, csv, err);
    return status;
}

/* Order the rows, refuse what would be ambiguous, and see to it that every job finds one. */
static int check_rows(struct table *t, struct error *err)
{
    bool has_any = false;
    if (t->n > 0)
        qsort(t->rows, t->n, sizeof *t->rows, compare_rows);
    for (uint32_t i = 0; i < t->n; i++) {
        has_any |= t->rows[i].model == NULL;
        if (i > 0 && compare_rows(&t->rows[i - 1], &t->rows[i]) == 0)
            return error_at(err, BRAID_BAD_INPUT, t->shown, 0, 0, "two rows for %u GPUs and model '%s'; keep one",
                            t->rows[i].gpus, t->rows[i].model != NULL ? t->rows[i].model : "other");
    }
    if (!has_any)
        return error_at(
            err, BRAID_BAD_INPUT, t->shown, 0, 0,
            "the table of overheads has no rows for model 'other'; add them for the models that it does not name");
    return BRAID_OK;
}

int overhead_rule_load(struct overhead_rule *rule, struct arena *a, struct error *err)
{
    if (rule->table_path == NULL)
        return BRAID_OK;
    struct table t = {.shown = rule->table_shown != NULL ? rule->table_shown : rule->table_path, .arena = a};
    struct source source;
    struct csv csv;
    int status = source_open(&source, rule->table_path, t.shown, err);
    if (status == BRAID_OK) {
        status = csv_init(&csv, &source, err);
        if (status == BRAID_OK)
            status = read_rows(&t, &csv, err);
        csv_fini(&csv);
    }
    source_close(&source);
    if (status == BRAID_OK)
        status = check_rows(&t, err);
    if (status == BRAID_OK) {
        struct overhead_row *rows = ARENA_NEW(a, struct overhead_row, t.n);
        if (rows == NULL)
            status = error_set(err, BRAID_FAILED, "out of memory");
        else
            memcpy(rows, t.rows, t.n * sizeof *rows);
        rule->rows = rows;
        rule->n_rows = rows != NULL ? t.n : 0;
    }
    free(t.rows);
    return status;
}

/* Rows ascend in GPUs, so the last one seen that is not above `gpus` is the step; before any, the first one is. */
int64_t overhead_ns(const struct overhead_rule *rule, uint32_t gpus, const char *model)
{
    if (rule->n_rows == 0)
        return rule->constant_ns;
    const struct overhead_row *own = NULL, *any = NULL;
    for (uint32_t i = 0; i < rule->n_rows; i++) {
        const struct overhead_row *row = &rule->rows[i];
        if (row->model == NULL) {
            if (any == NULL || row->gpus <= gpus)
                any = row;
        } else if (model != NULL && (own == NULL || row->gpus <= gpus) && strcmp(row->model, model) == 0) {
            own = row;
        }
    }
    return own != NULL ? own->ns : any != NULL ? any->ns : rule->constant_ns;
}
