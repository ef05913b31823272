#include "traces/table.h"

#include "base/number.h"
#include "traces/csv_values.h"
#include "traces/table_json.h"
#include "traces/table_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 900 };

/* A table of text being read: which field each wanted column is. */
struct reading {
    struct table_text text;
    uint32_t *at; /* by wanted column */
    uint32_t n_columns;
    struct csv_field *fields;
};

static int no_memory(const char *path, struct error *err)
{
    return error_at(err, BRAID_FAILED, path, 0, 0, "out of memory");
}

static bool is_number(const char *text, uint32_t *out)
{
    uint64_t v;
    if (!number_parse_u64(text, strlen(text), &v) || v == 0 || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

static bool has_header(const struct table_spec *spec)
{
    uint32_t ignored;
    if (spec->header != NULL && strcmp(spec->header, "auto") != 0)
        return strcmp(spec->header, "true") == 0;
    for (uint32_t w = 0; w < spec->n_wanted; w++)
        if (!is_number(spec->wanted[w], &ignored))
            return true;
    return spec->n_wanted == 0;
}

static int unknown_column(const struct reading *r, const char *name, const char *path, struct error *err)
{
    char list[LISTED] = "";
    for (uint32_t i = 0; i < r->text.n_fields; i++) {
        struct csv_field f = csv_trimmed(r->text.fields[i]);
        size_t used = strlen(list);
        if (used + 80 < sizeof list)
            snprintf(list + used, sizeof list - used, "%s%.*s", i > 0 ? ", " : "", (int)(f.n < 60 ? f.n : 60), f.text);
    }
    return error_at(err, BRAID_BAD_INPUT, path, (int)r->text.line, 0,
                    "no column is called '%.60s', which trace.columns names; between '%s' the header has %s", name,
                    r->text.separator, list);
}

/* Find the wanted columns in the header. */
static int find_columns(struct reading *r, const struct table_spec *spec, const char *path, struct error *err)
{
    r->n_columns = r->text.n_fields;
    for (uint32_t w = 0; w < spec->n_wanted; w++) {
        r->at[w] = UINT32_MAX;
        for (uint32_t i = 0; i < r->text.n_fields; i++) {
            if (!csv_is_text(csv_trimmed(r->text.fields[i]), spec->wanted[w]))
                continue;
            if (r->at[w] != UINT32_MAX)
                return error_at(
                    err, BRAID_BAD_INPUT, path, (int)r->text.line, 0,
                    "the header has the column '%.60s' twice; name its columns by number with header: false",
                    spec->wanted[w]);
            r->at[w] = i;
        }
        if (r->at[w] == UINT32_MAX)
            return unknown_column(r, spec->wanted[w], path, err);
    }
    return BRAID_OK;
}

/* Without a header the columns are numbered. */
static int number_columns(struct reading *r, const struct table_spec *spec, const char *path, struct error *err)
{
    r->n_columns = r->text.n_fields;
    for (uint32_t w = 0; w < spec->n_wanted; w++) {
        if (!is_number(spec->wanted[w], &r->at[w]))
            return error_at(err, BRAID_BAD_INPUT, path, 0, 0,
                            "without a header columns are named by their numbers from 1, not '%.60s'", spec->wanted[w]);
        if (r->at[w] > r->n_columns)
            return error_at(err, BRAID_BAD_INPUT, path, (int)r->text.line, 0,
                            "trace.columns names column %u, but the first row has %u between '%s'", r->at[w],
                            r->n_columns, r->text.separator);
        r->at[w]--;
    }
    return BRAID_OK;
}

static int pass_row(struct table_reader *t, struct reading *r, struct error *err)
{
    const struct table_text *x = &r->text;
    for (uint32_t w = 0; w < t->spec->n_wanted; w++)
        r->fields[w] = r->at[w] < x->n_fields ? csv_trimmed(x->fields[r->at[w]]) : (struct csv_field){"", 0};
    bool is_cut_used = x->shape == TABLE_FIXED; /* nobody knows how many columns are lost */
    for (uint32_t w = 0; w < t->spec->n_wanted && x->is_cut; w++)
        is_cut_used |= r->at[w] + 1 == x->n_fields;
    uint32_t n = x->n_fields;
    while (n > r->n_columns && csv_trimmed(x->fields[n - 1]).n == 0)
        n--; /* a separator at the end of the line */
    const struct table_row row = {
        .line = x->line,
        .offset = x->offset,
        .text = x->row,
        .n = x->row_n,
        .fields = r->fields,
        .is_cut = x->is_cut,
        .is_cut_used = is_cut_used,
        .fault = n < r->n_columns   ? TABLE_ROW_SHORT
                 : n > r->n_columns ? TABLE_ROW_LONG
                                    : TABLE_ROW_FINE,
    };
    return t->row(t->self, &row, err);
}

static int read_text(struct table_reader *t, struct reading *r, struct source *source, const char *path,
                     struct error *err)
{
    const struct table_spec *spec = t->spec;
    bool has_row, is_headed = has_header(spec);
    int code = table_text_open(&r->text, source, spec->separator, spec->wanted, spec->n_wanted, err);
    r->text.skips_comments = !is_headed;
    if (code == BRAID_OK)
        code = table_text_next(&r->text, &has_row, err);
    if (code != BRAID_OK)
        return code;
    if (!has_row)
        return error_at(err, BRAID_BAD_INPUT, path, 0, 0, "is empty; a table has %sa row a job",
                        is_headed ? "a header and " : "");
    code = is_headed ? find_columns(r, spec, path, err) : number_columns(r, spec, path, err);
    if (code == BRAID_OK)
        code = t->begin(t->self, r->text.shape, true, err);
    if (code == BRAID_OK && !is_headed)
        code = pass_row(t, r, err);
    if (code == BRAID_OK && r->text.shape == TABLE_FIXED && is_headed)
        code = table_text_next(&r->text, &has_row, err); /* the dashes */
    while (code == BRAID_OK) {
        code = table_text_next(&r->text, &has_row, err);
        if (code != BRAID_OK || !has_row)
            break;
        code = pass_row(t, r, err);
    }
    t->blank_lines = r->text.blank_lines;
    t->first_blank_line = r->text.first_blank_line;
    return code;
}

int table_read(struct table_reader *t, struct source *source, const char *path, struct error *err)
{
    bool is_json = false;
    int code = table_is_json(source, &is_json, err);
    if (code != BRAID_OK)
        return code;
    if (is_json)
        return table_json_read(t, source, path, err);
    struct reading r = {.at = calloc((size_t)t->spec->n_wanted + 1, sizeof *r.at),
                        .fields = calloc((size_t)t->spec->n_wanted + 1, sizeof *r.fields)};
    code = r.at == NULL || r.fields == NULL ? no_memory(path, err) : read_text(t, &r, source, path, err);
    table_text_close(&r.text);
    free(r.at);
    free(r.fields);
    return code;
}

/* ---- a look at the beginning ------------------------------------------------------------------------------------------- */

static void peek_row(char (*out)[TABLE_PEEK_TEXT], const struct table_text *x, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < x->n_fields; i++) {
        struct csv_field f = csv_trimmed(x->fields[i]);
        snprintf(out[i], TABLE_PEEK_TEXT, "%.*s", (int)(f.n < TABLE_PEEK_TEXT ? f.n : TABLE_PEEK_TEXT - 1), f.text);
    }
}

/* A header has no field that is a number or a date, and none that is empty but the first. */
static bool looks_like_header(const struct table_text *x)
{
    for (uint32_t i = 0; i < x->n_fields; i++) {
        struct csv_field f = csv_trimmed(x->fields[i]);
        if (f.n == 0 && i > 0)
            return false;
        if (f.n > 0 && f.text[0] >= '0' && f.text[0] <= '9')
            return false;
    }
    return x->n_fields > 1;
}

int table_peek(struct table_peek *out, struct source *source, const char *path, struct error *err)
{
    struct table_text x = {0};
    bool is_json = false, has_row = false;
    memset(out, 0, sizeof *out);
    int code = table_is_json(source, &is_json, err);
    if (code != BRAID_OK)
        return code;
    out->has_header = true;
    out->shape = TABLE_JSON;
    out->separator = "auto";
    if (is_json)
        return table_json_peek(out, source, err);
    code = table_text_open(&x, source, NULL, NULL, 0, err);
    if (code == BRAID_OK)
        code = table_text_next(&x, &has_row, err);
    if (code == BRAID_OK && !has_row)
        code = error_at(err, BRAID_BAD_INPUT, path, 0, 0, "is empty; a table has a header and a row a job");
    if (code == BRAID_OK) {
        out->shape = x.shape;
        out->separator = x.separator;
        out->has_header = looks_like_header(&x);
        out->n_columns = x.n_fields < TABLE_PEEK_COLUMNS ? x.n_fields : TABLE_PEEK_COLUMNS;
        if (out->has_header)
            peek_row(out->names, &x, out->n_columns);
        for (uint32_t i = 0; i < out->n_columns && !out->has_header; i++)
            snprintf(out->names[i], TABLE_PEEK_TEXT, "%u", i + 1);
        if (!out->has_header)
            peek_row(out->values[out->n_rows++], &x, out->n_columns);
        if (out->has_header && x.shape == TABLE_FIXED)
            code = table_text_next(&x, &has_row, err);
    }
    while (code == BRAID_OK && has_row && out->n_rows < TABLE_PEEK_ROWS) {
        code = table_text_next(&x, &has_row, err);
        if (code == BRAID_OK && has_row)
            peek_row(out->values[out->n_rows++], &x, out->n_columns);
    }
    table_text_close(&x);
    return code;
}
