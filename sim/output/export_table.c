#include "output/export_table.h"

#include "output/export_json.h"
#include "output/export_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8192, MAX_COLUMNS = 256 };

/* A column and the block of it that is in memory. */
struct field {
    const struct report_table *table;
    const struct report_column *column;
    double *reals;
    int64_t *integers;
    char *texts;
};

struct exporter {
    FILE *out;
    enum export_format format;
    struct report_table tables[2];
    int n_tables;
    struct field fields[MAX_COLUMNS];
    uint32_t n_fields;
};

void export_csv_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void export_csv_number(FILE *out, double value)
{
    char text[EXPORT_NUMBER_MAX];
    if (!isnan(value))
        fputs(number_shortest(value, text), out);
}

int export_no_rows(const struct report_file *f, const struct report_run *run, int table, struct error *err)
{
    static const char *const keys[RESULTS_TABLES] = {
        [RESULTS_JOBS] = "'output: {jobs: true}'",       [RESULTS_SERIES] = "'output: {series: 10 min}'",
        [RESULTS_SEGMENTS] = "'output: {segments: on}'", [RESULTS_ALLOCS] = "'output: {segments: on}'",
        [RESULTS_EVENTS] = "'output: {events: on}'",
    };
    const char *name = results_table(table)->name;
    if (run == NULL)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "there are no rows in /%s; run again with %s", name,
                        keys[table] != NULL ? keys[table] : "at least one job");
    return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "run %s has no rows in /%s; run again with %s", run->id, name,
                    keys[table] != NULL ? keys[table] : "at least one job");
}

/* ---- fields ----------------------------------------------------------------------------------- */

static bool add_field(struct exporter *x, const struct report_table *t, const struct report_column *c)
{
    if (x->n_fields == MAX_COLUMNS)
        return true; /* no table is that wide */
    struct field *field = &x->fields[x->n_fields++];
    *field = (struct field){.table = t, .column = c};
    if (c->type == REPORT_TEXT)
        return (field->texts = malloc(BLOCK * (c->width + 1))) != NULL;
    if (c->type == REPORT_REAL)
        return (field->reals = malloc(BLOCK * sizeof *field->reals)) != NULL;
    return (field->integers = malloc(BLOCK * sizeof *field->integers)) != NULL;
}

/* Of /runs, what tells the runs of a summary apart. */
static bool is_of_summary(const char *name)
{
    static const char *const kept[] = {"run", "name", "label", "seed", "status"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strcmp(kept[i], name) == 0)
            return true;
    return strncmp(name, RESULTS_SWEEP_PREFIX, strlen(RESULTS_SWEEP_PREFIX)) == 0;
}

static int open_fields(struct exporter *x, const struct report_file *f, int table, struct error *err)
{
    int code = BRAID_OK;
    bool ok = true;
    if (table == RESULTS_SUMMARY) {
        code = report_table_open(&x->tables[0], f->file, f->path, "runs", err);
        if (code != BRAID_OK)
            return code;
        x->n_tables = 1;
        for (uint32_t i = 0; ok && i < x->tables[0].n_columns; i++)
            if (is_of_summary(x->tables[0].columns[i].name))
                ok = add_field(x, &x->tables[0], &x->tables[0].columns[i]);
    }
    struct report_table *t = &x->tables[x->n_tables];
    code = report_table_open(t, f->file, f->path, results_table(table)->name, err);
    if (code != BRAID_OK)
        return code;
    x->n_tables++;
    for (uint32_t i = 0; ok && i < t->n_columns; i++)
        if (table != RESULTS_SUMMARY || strcmp(t->columns[i].name, "run") != 0)
            ok = add_field(x, t, &t->columns[i]);
    return ok ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static void close_fields(struct exporter *x)
{
    for (uint32_t i = 0; i < x->n_fields; i++) {
        free(x->fields[i].reals);
        free(x->fields[i].integers);
        free(x->fields[i].texts);
    }
    for (int i = 0; i < x->n_tables; i++)
        report_table_close(&x->tables[i]);
}

static int read_block(struct exporter *x, uint64_t begin, uint64_t count, struct error *err)
{
    int code = BRAID_OK;
    for (uint32_t i = 0; code == BRAID_OK && i < x->n_fields; i++) {
        struct field *field = &x->fields[i];
        if (field->texts != NULL)
            code = report_read_text(field->table, field->column, begin, count, field->texts, err);
        else if (field->reals != NULL)
            code = report_read_f64(field->table, field->column, begin, count, field->reals, err);
        else
            code = report_read_i64(field->table, field->column, begin, count, field->integers, err);
    }
    return code;
}

static const char *text_of(const struct field *field, uint64_t i)
{
    return field->column->type == REPORT_ENUM ? report_enum_text(field->column, field->integers[i])
                                              : field->texts + i * (field->column->width + 1);
}

static bool is_text(const struct field *field)
{
    return field->column->type == REPORT_TEXT || field->column->type == REPORT_ENUM;
}

/* ---- csv -------------------------------------------------------------------------------------- */

static void write_csv_block(struct exporter *x, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < x->n_fields; k++) {
            const struct field *field = &x->fields[k];
            if (is_text(field))
                export_csv_text(x->out, text_of(field, i));
            else if (field->reals != NULL)
                export_csv_number(x->out, field->reals[i]);
            else if (field->column->type == REPORT_UINT)
                fprintf(x->out, "%" PRIu64, (uint64_t)field->integers[i]);
            else
                fprintf(x->out, "%" PRId64, field->integers[i]);
            fputc(k + 1 < x->n_fields ? ',' : '\n', x->out);
        }
}

static void write_csv_header(struct exporter *x, bool units)
{
    for (int line = 0; line < (units ? 2 : 1); line++)
        for (uint32_t k = 0; k < x->n_fields; k++) {
            export_csv_text(x->out, line == 0 ? x->fields[k].column->name : x->fields[k].column->units);
            fputc(k + 1 < x->n_fields ? ',' : '\n', x->out);
        }
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void write_json_header(struct exporter *x, yajl_gen g, const char *table)
{
    yajl_gen_map_open(g);
    export_json_key_text(g, "table", table);
    export_json_text(g, "units");
    yajl_gen_map_open(g);
    for (uint32_t k = 0; k < x->n_fields; k++)
        if (x->fields[k].column->units[0] != '\0')
            export_json_key_text(g, x->fields[k].column->name, x->fields[k].column->units);
    yajl_gen_map_close(g);
    export_json_text(g, "rows");
    yajl_gen_array_open(g);
}

static void write_json_block(struct exporter *x, yajl_gen g, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        export_json_line(x->out);
        yajl_gen_map_open(g);
        for (uint32_t k = 0; k < x->n_fields; k++) {
            const struct field *field = &x->fields[k];
            export_json_text(g, field->column->name);
            if (is_text(field))
                export_json_text(g, text_of(field, i));
            else if (field->reals != NULL)
                export_json_number(g, field->reals[i]);
            else
                export_json_integer(g, field->integers[i]);
        }
        yajl_gen_map_close(g);
    }
}

/* ---- all -------------------------------------------------------------------------------------- */

static int write_rows(struct exporter *x, struct report_range rows, const char *table, bool units, struct error *err)
{
    yajl_gen g = x->format == EXPORT_JSON ? export_json_create(x->out) : NULL;
    if (x->format == EXPORT_JSON && g == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    if (g != NULL)
        write_json_header(x, g, table);
    else
        write_csv_header(x, units);
    int code = BRAID_OK;
    for (uint64_t from = 0; code == BRAID_OK && from < rows.count && !ferror(x->out); from += BLOCK) {
        uint64_t count = rows.count - from < BLOCK ? rows.count - from : BLOCK;
        code = read_block(x, rows.begin + from, count, err);
        if (code != BRAID_OK)
            break;
        if (g != NULL)
            write_json_block(x, g, count);
        else
            write_csv_block(x, count);
    }
    if (g != NULL) {
        yajl_gen_array_close(g);
        yajl_gen_map_close(g);
        fputc('\n', x->out);
        yajl_gen_free(g);
    }
    return code;
}

int export_table(FILE *out, const struct report_file *f, int table, const struct report_run *run,
                 enum export_format format, bool units, struct error *err)
{
    struct exporter x = {.out = out, .format = format};
    int code = open_fields(&x, f, table, err);
    if (code == BRAID_OK) {
        struct report_range rows = {0, x.tables[x.n_tables - 1].rows};
        if (run != NULL)
            rows = run->tables[table];
        if (rows.count == 0 && table != RESULTS_SUMMARY)
            code = export_no_rows(f, run, table, err);
        else
            code = write_rows(&x, rows, results_table(table)->name, units, err);
    }
    close_fields(&x);
    return code;
}
