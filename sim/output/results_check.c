#include "output/results_check.h"

#include "output/metrics.h"
#include "output/report_table.h"

#include <inttypes.h>
#include <string.h>

/* Deflate makes at most one byte of 1,032. */
enum { DEFLATE_BEST = 1032 };

static int wrong(const char *path, const char *table, const char *column, const char *what, struct error *err)
{
    return error_at(err, BRAID_BAD_INPUT, path, 0, 0,
                    "table /%s, column '%s': %s; the file is damaged or was changed: run the experiment again", table,
                    column, what);
}

/* ---- one column ------------------------------------------------------------------------------- */

static bool type_agrees(const struct report_column *c, const struct column_spec *spec)
{
    static const enum report_type types[] = {
        [COLUMN_TEXT] = REPORT_TEXT, [COLUMN_F64] = REPORT_REAL, [COLUMN_I64] = REPORT_INT,
        [COLUMN_U64] = REPORT_UINT,  [COLUMN_U32] = REPORT_UINT, [COLUMN_ENUM] = REPORT_ENUM,
    };
    return c->type == types[spec->type] && (spec->type == COLUMN_TEXT || c->size == column_size(spec, 0));
}

/* The codes are those of the schema, or the first of them: a file of an older version may lack the last. */
static bool codes_agree(const struct report_column *c, const struct column_spec *spec)
{
    for (uint32_t i = 0; i < c->n_members; i++) {
        int64_t value = c->member_values[i];
        if (value < 0 || value >= spec->n_members || strcmp(spec->members[value], c->members[i]) != 0)
            return false;
    }
    return c->n_members > 0;
}

/* Are there as many bytes as so many values take? A length that is only declared costs a file nothing, and a reader all its memory. */
static bool values_are_there(const struct report_table *t, const struct report_column *c)
{
    if (t->rows == 0)
        return true;
    hid_t properties = H5Dget_create_plist(c->dataset);
    H5D_layout_t layout = properties < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(properties);
    bool is_inside = layout != H5D_LAYOUT_ERROR && layout != H5D_VIRTUAL && H5Pget_external_count(properties) == 0;
    if (properties >= 0)
        H5Pclose(properties);
    hsize_t stored = is_inside ? H5Dget_storage_size(c->dataset) : 0;
    hsize_t least = t->rows / (layout == H5D_CHUNKED ? DEFLATE_BEST : 1); /* values, then bytes */
    return stored > 0 && least <= stored / c->size + (layout == H5D_CHUNKED);
}

static const char *column_fault(const struct report_column *c, const struct column_spec *spec)
{
    if (!type_agrees(c, spec))
        return "it has another type than the schema says";
    if (spec->type == COLUMN_ENUM && !codes_agree(c, spec))
        return "its codes are not those of the schema";
    if (strcmp(c->units, spec->unit) != 0)
        return "its unit is not that of the schema";
    return NULL;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static int table_check(const struct report_table *t, int table, struct error *err)
{
    const struct table_spec *spec = results_table(table);
    size_t n_metrics = 0;
    if (table == RESULTS_SUMMARY)
        metrics_table(&n_metrics);
    for (uint32_t i = 0; i < spec->n_columns + n_metrics; i++) {
        struct column_spec c = i < spec->n_columns ? spec->columns[i] : results_metric_column(i - spec->n_columns);
        const struct report_column *column = report_column_find(t, c.name);
        if (column == NULL && c.is_late)
            continue;
        const char *fault = column == NULL ? "it is not there" : column_fault(column, &c);
        if (fault != NULL)
            return wrong(t->path, t->name, c.name, fault, err);
    }
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const struct report_column *c = &t->columns[i];
        bool is_sweep =
            table == RESULTS_RUNS && strncmp(c->name, RESULTS_SWEEP_PREFIX, strlen(RESULTS_SWEEP_PREFIX)) == 0;
        if (is_sweep && c->type != REPORT_TEXT)
            return wrong(t->path, t->name, c->name, "a swept key is text", err);
        if (!values_are_there(t, c))
            return wrong(t->path, t->name, c->name, "fewer values are in the file than its length says", err);
    }
    return BRAID_OK;
}

/* Groups that no version of this schema writes. */
struct listing {
    const char *path;
    struct error *err;
};

static herr_t look_at_link(hid_t root, const char *name, const H5L_info_t *info, void *self)
{
    (void)root, (void)info;
    const struct listing *l = self;
    for (int t = 0; t < RESULTS_TABLES; t++)
        if (strcmp(results_table(t)->name, name) == 0)
            return 0;
    error_at(l->err, BRAID_BAD_INPUT, l->path, 0, 0,
             "/%s is no table of a results file of schema %d; keep what is not braid's in a file of its own", name,
             RESULTS_SCHEMA);
    return 1;
}

/* Rows of one table that runs say are theirs, against its length. */
static int ranges_check(const struct report_table *runs, int table, uint64_t rows, struct error *err)
{
    const char *name = results_begin_column(table);
    struct report_range all = {0, runs->rows};
    struct arena a;
    arena_init(&a);
    int64_t *begin = report_load_i64(runs, name, all, &a, err);
    int64_t *count = begin == NULL ? NULL : report_load_i64(runs, results_count_column(table), all, &a, err);
    int code = count == NULL ? err->code : BRAID_OK;
    for (uint64_t i = 0; code == BRAID_OK && i < runs->rows; i++)
        if (begin[i] < 0 || count[i] < 0 || (uint64_t)begin[i] > rows ||
            (uint64_t)count[i] > rows - (uint64_t)begin[i]) {
            char what[160];
            snprintf(what, sizeof what,
                     "rows %" PRId64 " to %" PRId64 " + %" PRId64 " are not all in /%s, which has %" PRIu64, begin[i],
                     begin[i], count[i], results_table(table)->name, rows);
            code = wrong(runs->path, runs->name, name, what, err);
        }
    arena_fini(&a);
    return code;
}

/* A row of /summary belongs to the run of the same row of /runs. */
static int summary_check(const struct report_table *runs, const struct report_table *summary, struct error *err)
{
    const struct report_column *a = report_column_find(runs, "run"), *b = report_column_find(summary, "run");
    if (runs->rows != summary->rows)
        return wrong(summary->path, summary->name, "run", "the table is not as long as /runs", err);
    struct arena arena;
    arena_init(&arena);
    char *x = ARENA_NEW(&arena, char, runs->rows *(a->width + 1)),
         *y = ARENA_NEW(&arena, char, runs->rows *(b->width + 1));
    int code = x == NULL || y == NULL ? error_set(err, BRAID_FAILED, "out of memory") : BRAID_OK;
    if (code == BRAID_OK)
        code = report_read_text(runs, a, 0, runs->rows, x, err);
    if (code == BRAID_OK)
        code = report_read_text(summary, b, 0, runs->rows, y, err);
    for (uint64_t i = 0; code == BRAID_OK && i < runs->rows; i++)
        if (strcmp(x + i * (a->width + 1), y + i * (b->width + 1)) != 0)
            code = wrong(summary->path, summary->name, "run", "its runs are not those of /runs in the same rows", err);
    arena_fini(&arena);
    return code;
}

static int root_check(hid_t file, const char *path, struct error *err)
{
    struct listing listing = {path, err};
    herr_t listed;
    H5E_BEGIN_TRY
    {
        listed = H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at_link, &listing);
    }
    H5E_END_TRY;
    if (listed < 0)
        return error_at(err, BRAID_BAD_INPUT, path, 0, 0, "its tables cannot be listed; run the experiment again");
    return listed > 0 ? err->code : BRAID_OK;
}

/* One table, against the schema and /runs (which stays open in `runs`). */
static int one_table(struct report_table *runs, hid_t file, const char *path, int table, uint64_t *rows,
                     struct error *err)
{
    struct report_table t;
    int code = report_table_open(&t, file, path, results_table(table)->name, err);
    if (code != BRAID_OK)
        return code;
    *rows = t.rows;
    H5E_BEGIN_TRY
    {
        code = table_check(&t, table, err);
    }
    H5E_END_TRY;
    if (code == BRAID_OK && table == RESULTS_SUMMARY)
        code = summary_check(runs, &t, err);
    if (code == BRAID_OK && results_begin_column(table) != NULL)
        code = ranges_check(runs, table, t.rows, err);
    if (code == BRAID_OK && table == RESULTS_RUNS)
        *runs = t;
    else
        report_table_close(&t);
    return code;
}

int results_check(hid_t file, const char *path, uint64_t rows[RESULTS_TABLES], struct error *err)
{
    struct report_table runs = {0};
    struct error inner = {0};
    int code = root_check(file, path, &inner);
    for (int t = 0; code == BRAID_OK && t < RESULTS_TABLES; t++)
        code = one_table(&runs, file, path, t, &rows[t], &inner);
    report_table_close(&runs);
    if (code != BRAID_OK && err != NULL)
        *err = inner;
    return code;
}
