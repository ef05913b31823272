#include "output/report_table.h"

#include "output/results_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fail(const struct report_table *t, struct error *err, const char *what, const char *column)
{
    return error_at(err, BRAID_BAD_INPUT, t->path, 0, 0,
                    "table /%s, column '%s': %s; the file is damaged or was not written by braid", t->name, column,
                    what);
}

static bool load_members(struct report_table *t, struct report_column *c, hid_t type)
{
    int n = H5Tget_nmembers(type);
    if (n < 0)
        return false;
    c->n_members = (uint32_t)n;
    c->members = ARENA_NEW(&t->arena, const char *, (size_t)n);
    c->member_values = ARENA_NEW(&t->arena, int64_t, (size_t)n);
    hid_t base = H5Tget_super(type);
    size_t width = base < 0 ? 0 : H5Tget_size(base);
    bool ok = c->members != NULL && c->member_values != NULL && width > 0 && width <= 8;
    for (int i = 0; ok && i < n; i++) {
        union {
            int64_t number;
            char bytes[8];
        } value = {0};
        char *name = H5Tget_member_name(type, (unsigned)i);
        c->members[i] = name != NULL ? arena_text(&t->arena, name, strlen(name)) : NULL;
        H5free_memory(name);
        ok = c->members[i] != NULL && H5Tget_member_value(type, (unsigned)i, value.bytes) >= 0 &&
             H5Tconvert(base, H5T_NATIVE_INT64, 1, value.bytes, NULL, H5P_DEFAULT) >= 0;
        c->member_values[i] = value.number;
    }
    if (base >= 0)
        H5Tclose(base);
    return ok;
}

static bool load_type(struct report_table *t, struct report_column *c)
{
    hid_t type = H5Dget_type(c->dataset);
    if (type < 0)
        return false;
    bool ok = true;
    c->size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        c->type = H5Tget_sign(type) == H5T_SGN_NONE ? REPORT_UINT : REPORT_INT;
        break;
    case H5T_FLOAT:
        c->type = REPORT_REAL;
        break;
    case H5T_ENUM:
        c->type = REPORT_ENUM;
        ok = load_members(t, c, type);
        break;
    case H5T_STRING:
        c->type = REPORT_TEXT;
        c->width = c->size;
        ok = H5Tis_variable_str(type) == 0 && c->width > 0;
        break;
    default:
        ok = false;
    }
    H5Tclose(type);
    return ok;
}

/* `units` is a fixed-length text attribute; a column without it has units "". */
static bool load_units(struct report_table *t, struct report_column *c)
{
    c->units = "";
    if (H5Aexists(c->dataset, "units") <= 0)
        return true;
    hid_t attribute = H5Aopen(c->dataset, "units", H5P_DEFAULT);
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    bool ok = false;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0) {
        char *text = NULL;
        ok = H5Aread(attribute, type, &text) >= 0 && text != NULL;
        c->units = ok ? arena_text(&t->arena, text, strlen(text)) : NULL;
        H5free_memory(text);
    } else if (type >= 0 && H5Tget_class(type) == H5T_STRING) {
        size_t width = H5Tget_size(type);
        char *text = ARENA_NEW(&t->arena, char, width + 1);
        ok = text != NULL && H5Aread(attribute, type, text) >= 0;
        c->units = text;
    }
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return ok && c->units != NULL;
}

static int load_column(struct report_table *t, struct report_column *c, hid_t group, const char *name,
                       struct error *err)
{
    c->name = name;
    c->dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (c->dataset < 0)
        return fail(t, err, "it cannot be opened", name);
    hid_t space = H5Dget_space(c->dataset);
    hssize_t rows = space < 0 || H5Sget_simple_extent_ndims(space) != 1 ? -1 : H5Sget_simple_extent_npoints(space);
    if (space >= 0)
        H5Sclose(space);
    if (rows < 0)
        return fail(t, err, "it is not a column of values", name);
    if (c == t->columns)
        t->rows = (uint64_t)rows;
    else if ((uint64_t)rows != t->rows)
        return fail(t, err, "its length is not that of the other columns", name);
    for (int table = 0; table < RESULTS_TABLES; table++)
        if (strcmp(results_table(table)->name, t->name) == 0 && results_column(table, name) != NULL)
            c->at_most = results_column(table, name)->at_most;
    if (!load_type(t, c))
        return fail(t, err, "it has a type that no column has", name);
    return load_units(t, c) ? BRAID_OK : fail(t, err, "its units cannot be read", name);
}

static int load_columns(struct report_table *t, hid_t group, struct error *err)
{
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0)
        return fail(t, err, "the group cannot be listed", "*");
    t->columns = ARENA_NEW(&t->arena, struct report_column, (size_t)info.nlinks);
    if (t->columns == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    hid_t plist = H5Gget_create_plist(group);
    unsigned order = 0;
    if (plist >= 0) {
        H5Pget_link_creation_order(plist, &order);
        H5Pclose(plist);
    }
    H5_index_t index = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    for (hsize_t i = 0; i < info.nlinks; i++) {
        ssize_t length = H5Lget_name_by_idx(group, ".", index, H5_ITER_INC, i, NULL, 0, H5P_DEFAULT);
        char *name = length < 0 ? NULL : ARENA_NEW(&t->arena, char, (size_t)length + 1);
        if (name == NULL ||
            H5Lget_name_by_idx(group, ".", index, H5_ITER_INC, i, name, (size_t)length + 1, H5P_DEFAULT) < 0)
            return fail(t, err, "the group cannot be listed", "*");
        t->columns[t->n_columns].dataset = -1;
        int code = load_column(t, &t->columns[t->n_columns++], group, name, err);
        if (code != BRAID_OK)
            return code;
    }
    return BRAID_OK;
}

int report_table_open(struct report_table *out, hid_t file, const char *path, const char *name, struct error *err)
{
    *out = (struct report_table){.path = path};
    arena_init(&out->arena);
    snprintf(out->name, sizeof out->name, "%s", name);
    hid_t group = -1;
    int code;
    H5E_BEGIN_TRY
    {
        group = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Gopen2(file, name, H5P_DEFAULT) : -1;
        if (group < 0)
            code = error_at(err, BRAID_BAD_INPUT, path, 0, 0, "there is no table /%s in this file", name);
        else
            code = load_columns(out, group, err);
        if (group >= 0)
            H5Gclose(group);
    }
    H5E_END_TRY;
    if (code == BRAID_OK && out->arena.is_short)
        code = error_set(err, BRAID_FAILED, "out of memory");
    if (code != BRAID_OK)
        report_table_close(out);
    return code;
}

void report_table_close(struct report_table *t)
{
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].dataset >= 0)
            H5Dclose(t->columns[i].dataset);
    arena_fini(&t->arena);
    *t = (struct report_table){0};
}

const struct report_column *report_column_find(const struct report_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return &t->columns[i];
    return NULL;
}

const struct report_column *report_column_need(const struct report_table *t, const char *name, struct error *err)
{
    const struct report_column *c = report_column_find(t, name);
    if (c == NULL)
        error_at(err, BRAID_BAD_INPUT, t->path, 0, 0,
                 "table /%s has no column '%s'; the file was written by another version of braid", t->name, name);
    return c;
}

const char *report_enum_text(const struct report_column *c, int64_t value)
{
    for (uint32_t i = 0; i < c->n_members; i++)
        if (c->member_values[i] == value)
            return c->members[i];
    return "";
}

int64_t report_enum_value(const struct report_column *c, const char *name)
{
    for (uint32_t i = 0; i < c->n_members; i++)
        if (strcmp(c->members[i], name) == 0)
            return c->member_values[i];
    return -1;
}

/* The one place that touches data: rows [begin, begin + count) as `memory_type`. */
static int read_slice(const struct report_table *t, const struct report_column *c, uint64_t begin, uint64_t count,
                      hid_t memory_type, void *out, struct error *err)
{
    if (begin > t->rows || count > t->rows - begin)
        return error_at(err, BRAID_BAD_INPUT, t->path, 0, 0,
                        "table /%s has %" PRIu64 " rows, but rows %" PRIu64 " to %" PRIu64
                        " are asked for; the file is damaged",
                        t->name, t->rows, begin, begin + count);
    if (count == 0)
        return BRAID_OK;
    hsize_t start[1] = {begin}, length[1] = {count};
    herr_t status = -1;
    H5E_BEGIN_TRY
    {
        hid_t file_space = H5Dget_space(c->dataset);
        hid_t memory_space = H5Screate_simple(1, length, NULL);
        if (file_space >= 0 && memory_space >= 0 &&
            H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, length, NULL) >= 0)
            status = H5Dread(c->dataset, memory_type, memory_space, file_space, H5P_DEFAULT, out);
        if (memory_space >= 0)
            H5Sclose(memory_space);
        if (file_space >= 0)
            H5Sclose(file_space);
    }
    H5E_END_TRY;
    return status >= 0 ? BRAID_OK : fail(t, err, "its values cannot be read", c->name);
}

static bool is_code(const struct report_column *c, int64_t value)
{
    for (uint32_t i = 0; i < c->n_members; i++)
        if (c->member_values[i] == value)
            return true;
    return false;
}

static int no_code(const struct report_table *t, const struct report_column *c, uint64_t row, double value,
                   struct error *err)
{
    char what[96];
    snprintf(what, sizeof what, "row %" PRIu64 " holds the code %.0f, which no value has", row, value);
    return fail(t, err, what, c->name);
}

int report_read_f64(const struct report_table *t, const struct report_column *c, uint64_t begin, uint64_t count,
                    double *out, struct error *err)
{
    if (c->type == REPORT_TEXT)
        return fail(t, err, "it holds text where numbers are wanted", c->name);
    int code = read_slice(t, c, begin, count, H5T_NATIVE_DOUBLE, out, err);
    for (uint64_t i = 0; code == BRAID_OK && c->type == REPORT_ENUM && i < count; i++)
        if (!is_code(c, (int64_t)out[i]))
            code = no_code(t, c, begin + i, out[i], err);
    return code;
}

int report_read_i64(const struct report_table *t, const struct report_column *c, uint64_t begin, uint64_t count,
                    int64_t *out, struct error *err)
{
    if (c->type == REPORT_TEXT || c->type == REPORT_REAL)
        return fail(t, err, "it does not hold whole numbers", c->name);
    /* Full-range unsigned numbers (seeds) keep their bits. */
    int code = read_slice(t, c, begin, count, c->type == REPORT_UINT ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, out, err);
    for (uint64_t i = 0; code == BRAID_OK && c->type == REPORT_ENUM && i < count; i++)
        if (!is_code(c, out[i]))
            code = no_code(t, c, begin + i, (double)out[i], err);
    for (uint64_t i = 0; code == BRAID_OK && c->at_most > 0 && i < count; i++)
        if (out[i] > c->at_most) {
            char what[96];
            snprintf(what, sizeof what, "row %" PRIu64 " holds %lld, more than any has", begin + i, (long long)out[i]);
            code = fail(t, err, what, c->name);
        }
    return code;
}

int report_read_text(const struct report_table *t, const struct report_column *c, uint64_t begin, uint64_t count,
                     char *out, struct error *err)
{
    if (c->type != REPORT_TEXT)
        return fail(t, err, "it does not hold text", c->name);
    /* A copy of the stored type: HDF5 does not convert between character sets. */
    hid_t stored = H5Dget_type(c->dataset), type = stored < 0 ? -1 : H5Tcopy(stored);
    int code = BRAID_FAILED;
    if (type >= 0 && H5Tset_size(type, c->width + 1) >= 0 && H5Tset_strpad(type, H5T_STR_NULLTERM) >= 0)
        code = read_slice(t, c, begin, count, type, out, err);
    else
        error_set(err, BRAID_FAILED, "out of memory");
    if (type >= 0)
        H5Tclose(type);
    if (stored >= 0)
        H5Tclose(stored);
    return code;
}

double *report_load_f64(const struct report_table *t, const char *column, struct report_range rows, struct arena *a,
                        struct error *err)
{
    const struct report_column *c = report_column_need(t, column, err);
    if (c == NULL)
        return NULL;
    double *out = ARENA_NEW(a, double, rows.count);
    if (out == NULL)
        error_set(err, BRAID_FAILED, "out of memory");
    else if (report_read_f64(t, c, rows.begin, rows.count, out, err) != BRAID_OK)
        out = NULL;
    return out;
}

int64_t *report_load_i64(const struct report_table *t, const char *column, struct report_range rows, struct arena *a,
                         struct error *err)
{
    const struct report_column *c = report_column_need(t, column, err);
    if (c == NULL)
        return NULL;
    int64_t *out = ARENA_NEW(a, int64_t, rows.count);
    if (out == NULL)
        error_set(err, BRAID_FAILED, "out of memory");
    else if (report_read_i64(t, c, rows.begin, rows.count, out, err) != BRAID_OK)
        out = NULL;
    return out;
}
