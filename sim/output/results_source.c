#include "output/results_source.h"

#include "output/results_check.h"
#include "output/results_column.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int damaged(const struct results_source *s, const char *what, struct error *err)
{
    return error_at(err, BRAID_BAD_INPUT, s->path, 0, 0, "not a whole results file of schema %d: %s", RESULTS_SCHEMA,
                    what);
}

/* A dataset of one dimension: opened, with its length. */
static hid_t dataset_open(hid_t file, const char *table, const char *column, uint64_t *rows)
{
    char path[RESULTS_NAME_MAX + 64];
    snprintf(path, sizeof path, "/%s/%s", table, column);
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    hsize_t n = 0;
    bool ok = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, &n, NULL) == 1;
    if (space >= 0)
        H5Sclose(space);
    if (!ok && dataset >= 0)
        H5Dclose(dataset);
    *rows = n;
    return ok ? dataset : -1;
}

static bool column_is_there(hid_t file, const char *table, const char *column)
{
    uint64_t rows;
    H5E_BEGIN_TRY
    {
        hid_t dataset = dataset_open(file, table, column, &rows);
        if (dataset >= 0)
            H5Dclose(dataset);
        rows = dataset >= 0;
    }
    H5E_END_TRY
    return rows != 0;
}

/* What a column of a later version holds in a file that lacks it: NaN, -1, 0 or "". */
static void fill_late(const struct column_spec *column, size_t width, uint64_t n, void *out)
{
    size_t size = column_size(column, width);
    const double none = NAN;
    const int64_t unknown = -1;
    memset(out, 0, n * size);
    for (uint64_t i = 0; i < n && (column->type == COLUMN_F64 || column->type == COLUMN_I64); i++)
        memcpy((char *)out + i * size, column->type == COLUMN_F64 ? (const void *)&none : &unknown, size);
}

/* The first value that is no code of the enum, or `n`. */
static uint64_t first_bad_code(const struct column_spec *column, const void *values, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && (column->type != COLUMN_ENUM || ((const uint8_t *)values)[i] < column->n_members))
        i++;
    return i;
}

int results_source_read(const struct results_source *s, const char *table, const struct column_spec *column,
                        size_t width, uint64_t begin, uint64_t n, void *out, struct error *err)
{
    uint64_t rows;
    hsize_t at = begin, count = n;
    if (n == 0)
        return 0;
    if (column->is_late && !column_is_there(s->file, table, column->name)) {
        fill_late(column, width, n, out);
        return 0;
    }
    bool ok;
    H5E_BEGIN_TRY
    {
        hid_t dataset = dataset_open(s->file, table, column->name, &rows);
        hid_t type = column_type_create(column, width), memory = H5Screate_simple(1, &count, NULL);
        hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
        ok = dataset >= 0 && type >= 0 && memory >= 0 && space >= 0 && begin + n <= rows &&
             H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &count, NULL) >= 0 &&
             H5Dread(dataset, type, memory, space, H5P_DEFAULT, out) >= 0;
        if (space >= 0)
            H5Sclose(space);
        if (memory >= 0)
            H5Sclose(memory);
        if (type >= 0)
            H5Tclose(type);
        if (dataset >= 0)
            H5Dclose(dataset);
    }
    H5E_END_TRY
    char what[RESULTS_NAME_MAX + 96];
    uint64_t bad = ok ? first_bad_code(column, out, n) : n;
    if (ok && bad == n)
        return 0;
    snprintf(what, sizeof what, "column '%s' of table /%s cannot be read", column->name, table);
    if (ok)
        snprintf(what, sizeof what, "table /%s, column '%s': row %" PRIu64 " holds the code %u, which no value has",
                 table, column->name, begin + bad, ((const uint8_t *)out)[bad]);
    return damaged(s, what, err);
}

size_t results_source_width(const struct results_source *s, const char *table, const char *column)
{
    size_t width = 0;
    uint64_t rows;
    H5E_BEGIN_TRY
    {
        hid_t dataset = dataset_open(s->file, table, column, &rows);
        hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
        if (type >= 0) {
            width = H5Tget_size(type);
            H5Tclose(type);
        }
        if (dataset >= 0)
            H5Dclose(dataset);
    }
    H5E_END_TRY
    return width;
}

/* ---- opening ---- */

static bool attributes_read(struct results_source *s, uint32_t *schema)
{
    hid_t a = H5Aopen(s->file, "schema", H5P_DEFAULT), b = H5Aopen(s->file, "producer", H5P_DEFAULT);
    const struct column_spec text = {.type = COLUMN_TEXT};
    hid_t type = column_type_create(&text, sizeof s->producer - 1);
    bool ok = a >= 0 && b >= 0 && type >= 0 && H5Aread(a, H5T_NATIVE_UINT32, schema) >= 0 &&
              H5Aread(b, type, s->producer) >= 0;
    if (a >= 0)
        H5Aclose(a);
    if (b >= 0)
        H5Aclose(b);
    if (type >= 0)
        H5Tclose(type);
    return ok;
}

static herr_t sweep_add(hid_t group, const char *name, const H5L_info_t *info, void *self)
{
    (void)group, (void)info;
    struct results_source *s = self;
    if (strncmp(name, RESULTS_SWEEP_PREFIX, strlen(RESULTS_SWEEP_PREFIX)) != 0 || strlen(name) >= RESULTS_NAME_MAX)
        return 0;
    char(*sweeps)[RESULTS_NAME_MAX] = realloc(s->sweeps, (s->n_sweeps + 1) * sizeof *sweeps);
    if (sweeps == NULL) {
        s->is_short = true;
        return -1;
    }
    s->sweeps = sweeps;
    strcpy(s->sweeps[s->n_sweeps++], name);
    return 0;
}

/* One column of /runs into a field of every run. */
static int field_read(struct results_source *s, const char *column, size_t offset, size_t stride, struct error *err)
{
    const struct column_spec *c = results_column(RESULTS_RUNS, column);
    size_t size = column_size(c, stride - 1);
    uint8_t *values = calloc((size_t)s->n_runs + 1, size);
    if (values == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int status = results_source_read(s, "runs", c, stride - 1, 0, s->n_runs, values, err);
    for (uint32_t i = 0; status == 0 && i < s->n_runs; i++)
        memcpy((char *)&s->runs[i] + offset, values + i * size, size);
    free(values);
    return status;
}

static int runs_read(struct results_source *s, struct error *err)
{
    s->runs = calloc((size_t)s->n_runs + 1, sizeof *s->runs);
    if (s->runs == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int status = field_read(s, "run", offsetof(struct source_run, id), sizeof s->runs->id, err);
    if (status == 0)
        status = field_read(s, "digest", offsetof(struct source_run, digest), sizeof s->runs->digest, err);
    if (status == 0)
        status = field_read(s, "status", offsetof(struct source_run, status), 1 + 1, err);
    if (status == 0 && s->has_positions)
        status = field_read(s, RESULTS_POSITION, offsetof(struct source_run, position), 1, err);
    for (uint32_t i = 0; i < s->n_runs; i++) {
        if (!s->has_positions)
            s->runs[i].position = -1;
        s->runs[i].row = i;
        for (int t = RESULTS_RUNS; t <= RESULTS_SUMMARY; t++) {
            s->runs[i].begin[t] = i;
            s->runs[i].count[t] = 1;
        }
    }
    for (int t = RESULTS_JOBS; status == 0 && t < RESULTS_TABLES; t++) {
        size_t at = (size_t)t * sizeof(uint64_t);
        status = field_read(s, results_begin_column(t), offsetof(struct source_run, begin) + at, 1, err);
        if (status == 0)
            status = field_read(s, results_count_column(t), offsetof(struct source_run, count) + at, 1, err);
    }
    return status;
}

/* With `err`, BRAID_BAD_INPUT when the file is not there or no HDF5. */
int results_source_reopen(struct results_source *s, struct error *err)
{
    if (s->file >= 0)
        return 0;
    if (access(s->path, R_OK) != 0) {
        char text[128];
        return error_at(err, BRAID_BAD_INPUT, s->path, 0, 0, "cannot read: %s", strerror_r(errno, text, sizeof text));
    }
    H5E_BEGIN_TRY
    {
        s->file = H5Fopen(s->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    }
    H5E_END_TRY
    return s->file >= 0 ? 0 : damaged(s, "HDF5 cannot open it", err);
}

void results_source_close(struct results_source *s)
{
    if (s->file >= 0)
        H5Fclose(s->file);
    s->file = -1;
}

int results_source_open(struct results_source *s, const char *path, struct error *err)
{
    *s = (struct results_source){.path = path, .file = -1};
    int status = results_source_reopen(s, err);
    if (status != 0)
        return status;
    uint64_t rows[RESULTS_TABLES] = {0};
    const char *wrong = NULL;
    H5E_BEGIN_TRY
    {
        uint32_t schema = 0;
        if (!attributes_read(s, &schema))
            wrong = "the attributes 'schema' and 'producer' are not there";
        else if (schema != RESULTS_SCHEMA)
            wrong = "it has another schema";
        if (wrong == NULL)
            status = results_check(s->file, path, rows, err);
        hid_t group = wrong == NULL && status == 0 ? H5Gopen2(s->file, "/runs", H5P_DEFAULT) : -1;
        if (wrong == NULL && status == 0 &&
            (group < 0 || H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, sweep_add, s) < 0))
            wrong = "the columns of /runs cannot be listed";
        if (group >= 0)
            H5Gclose(group);
    }
    H5E_END_TRY
    s->n_runs = (uint32_t)rows[RESULTS_RUNS];
    s->has_positions = wrong == NULL && column_is_there(s->file, "runs", RESULTS_POSITION);
    if (s->is_short)
        status = error_set(err, BRAID_FAILED, "out of memory");
    else if (wrong != NULL)
        status = damaged(s, wrong, err);
    else if (status == 0)
        status = runs_read(s, err);
    if (status != 0)
        results_source_fini(s);
    return status;
}

void results_source_fini(struct results_source *s)
{
    results_source_close(s);
    free(s->runs);
    free(s->sweeps);
    *s = (struct results_source){.file = -1};
}

/* ---- what a row says of itself ---- */

static void add_text(struct digest *d, const char *text)
{
    digest_add_text(d, text, strlen(text));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

void results_describe(const struct run_config *config, const char *name, bool keeps_jobs, uint8_t out[DIGEST_BYTES])
{
    struct digest d;
    char output[128];
    digest_init(&d);
    add_text(&d, name);
    add_text(&d, config->policy.label);
    add_text(&d, config->yaml);
    add_text(&d, results_output_text(&config->output, keeps_jobs, output, sizeof output));
    char(*names)[RESULTS_NAME_MAX] = calloc((size_t)config->n_swept + 1, sizeof *names);
    for (uint32_t i = 0; names != NULL && i < config->n_swept; i++)
        results_sweep_column(config->swept[i].key, names[i]);
    if (names != NULL && config->n_swept > 1)
        qsort(names, config->n_swept, sizeof *names, compare_names);
    for (uint32_t i = 0; names != NULL && i < config->n_swept; i++)
        for (uint32_t k = 0; k < config->n_swept; k++) {
            char mine[RESULTS_NAME_MAX];
            results_sweep_column(config->swept[k].key, mine);
            if (strcmp(mine, names[i]) != 0 || config->swept[k].value[0] == '\0') /* "": it does not apply */
                continue;
            add_text(&d, names[i]);
            add_text(&d, config->swept[k].value);
        }
    free(names);
    digest_final(&d, out);
}

static int add_column(struct digest *d, const struct results_source *s, uint64_t row, const struct column_spec *column,
                      bool is_sweep, struct error *err)
{
    size_t width = results_source_width(s, "runs", column->name);
    char *text = calloc(width + 1, 1);
    if (text == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int status = results_source_read(s, "runs", column, width > 0 ? width : 1, row, 1, text, err);
    if (status == 0 && !(is_sweep && text[0] == '\0')) {
        if (is_sweep)
            add_text(d, column->name);
        add_text(d, text);
    }
    free(text);
    return status;
}

int results_source_describe(const struct results_source *s, uint64_t row, uint8_t out[DIGEST_BYTES], struct error *err)
{
    static const char *const described[] = {"name", "label", "config", "output"};
    struct digest d;
    digest_init(&d);
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof described / sizeof described[0]; i++)
        status = add_column(&d, s, row, results_column(RESULTS_RUNS, described[i]), false, err);
    for (uint32_t i = 0; status == 0 && i < s->n_sweeps; i++) {
        char name[RESULTS_NAME_MAX];
        const struct column_spec c = results_sweep_column(s->sweeps[i] + strlen(RESULTS_SWEEP_PREFIX), name);
        status = add_column(&d, s, row, &c, true, err);
    }
    digest_final(&d, out);
    return status;
}

bool results_has_part(const char *parts_dir, const char *id)
{
    char *path;
    struct results_source s;
    if (asprintf(&path, "%s/%s.h5", parts_dir, id) < 0)
        return false;
    bool has = results_source_open(&s, path, NULL) == 0;
    if (has) {
        has = s.n_runs == 1 && strcmp(s.runs[0].id, id) == 0 && s.runs[0].status != RUN_FAILED;
        results_source_fini(&s);
    }
    free(path);
    return has;
}
