#include "cluster/sheet.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

int sheet_out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "memory is out while the cluster's files are read");
}

int sheet_open(struct sheet *s, const char *path, const char *shown, struct arena *a, struct error *err)
{
    *s = (struct sheet){.shown = shown != NULL ? shown : path, .arena = a, .err = err};
    int status = source_open(&s->source, path, s->shown, err);
    if (status == BRAID_OK) {
        status = csv_init(&s->csv, &s->source, err);
        if (status != BRAID_OK)
            csv_fini(&s->csv);
    }
    if (status != BRAID_OK)
        source_close(&s->source);
    return status;
}

void sheet_close(struct sheet *s)
{
    csv_fini(&s->csv);
    source_close(&s->source);
}

/* Column of a field in its line, from 1; 0: unknown (a field with doubled quotes is a copy). */
static int field_col(const struct sheet *s, uint32_t field)
{
    const char *text = s->csv.fields[field].text;
    uintptr_t at = (uintptr_t)text, row = (uintptr_t)s->csv.row;
    return at >= row && at <= row + s->csv.row_n ? (int)(at - row) + 1 : 0;
}

struct csv_field sheet_field(const struct sheet *s, uint32_t field)
{
    struct csv_field f = s->csv.fields[field];
    while (f.n > 0 && (f.text[0] == ' ' || f.text[0] == '\t')) {
        f.text++;
        f.n--;
    }
    while (f.n > 0 && (f.text[f.n - 1] == ' ' || f.text[f.n - 1] == '\t'))
        f.n--;
    return f;
}

bool sheet_field_is(const struct sheet *s, uint32_t field, const char *name)
{
    struct csv_field f = sheet_field(s, field);
    return f.n == strlen(name) && memcmp(f.text, name, f.n) == 0;
}

bool sheet_header_is(const struct sheet *s, uint32_t field, const char *name)
{
    struct csv_field f = sheet_field(s, field);
    if (f.n != strlen(name))
        return false;
    for (size_t i = 0; i < f.n; i++) {
        char c = f.text[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != name[i])
            return false;
    }
    return true;
}

uint32_t sheet_header_find(const struct sheet *s, const char *name)
{
    for (uint32_t i = 0; i < s->csv.n_fields; i++)
        if (sheet_header_is(s, i, name))
            return i;
    return UINT32_MAX;
}

bool sheet_header_has(struct sheet *s, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if ((s->column[i] = sheet_header_find(s, names[i])) == UINT32_MAX)
            return false;
    return true;
}

int sheet_error(struct sheet *s, uint32_t field, const char *name, const char *wanted)
{
    struct csv_field f = sheet_field(s, field);
    int shown = f.n < 40 ? (int)f.n : 40;
    return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, field_col(s, field), "%s is '%.*s'; give %s",
                    name, shown, f.text, wanted);
}

int sheet_next(struct sheet *s, uint32_t n, bool *has_row)
{
    int status = csv_next(&s->csv, has_row, s->err);
    if (status != BRAID_OK || !*has_row)
        return status;
    for (uint32_t i = 0; i < n; i++)
        if (s->column[i] >= s->csv.n_fields)
            return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                            "the row has %u fields and column %u is needed; add the missing ones", s->csv.n_fields,
                            s->column[i] + 1);
    return BRAID_OK;
}

int sheet_number(struct sheet *s, uint32_t i, const char *name, int64_t scale, int64_t least, int64_t most,
                 int64_t *out)
{
    struct csv_field f = s->csv.fields[s->column[i]];
    bool is_number = scale == 1 ? number_parse_i64(f.text, f.n, out) : number_parse_scaled(f.text, f.n, scale, out);
    if (is_number && *out >= least * scale && *out <= most * scale)
        return BRAID_OK;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "a %s from %lld to %lld", scale == 1 ? "whole number" : "number", (long long)least,
             (long long)most);
    return sheet_error(s, s->column[i], name, wanted);
}

void *sheet_append(struct arena *a, void *list, uint32_t n, size_t size, const void *item)
{
    if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, …: full */
        void *grown = arena_alloc(a, n == 0 ? 1 : (size_t)n * 2, size);
        if (grown == NULL)
            return NULL;
        if (n > 0)
            memcpy(grown, list, n * size);
        list = grown;
    }
    memcpy((char *)list + n * size, item, size);
    return list;
}
