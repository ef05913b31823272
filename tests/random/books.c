#include "books.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { TEXT, LONG_TEXT, WHOLE, REAL };

struct column {
    const char *name;
    enum type type;
    size_t at; /* of the row */
};

#define COL(row, member, of)                                                                                           \
    {                                                                                                                  \
#member, of, offsetof(struct row, member)                                                                      \
    }

static const struct column run_columns[] = {
    {"run", TEXT, offsetof(struct books_run, id)},
    {"message", LONG_TEXT, offsetof(struct books_run, message)},
    {"rows_read", WHOLE, offsetof(struct books_run, rows_read)},
    {"rows_kept", WHOLE, offsetof(struct books_run, rows_kept)},
    {"seed", WHOLE, offsetof(struct books_run, seed)},
    {"status", WHOLE, offsetof(struct books_run, status)},
    {"jobs_count", WHOLE, offsetof(struct books_run, counts[0])},
    {"series_count", WHOLE, offsetof(struct books_run, counts[1])},
    {"segments_count", WHOLE, offsetof(struct books_run, counts[2])},
    {"allocs_count", WHOLE, offsetof(struct books_run, counts[3])},
    {"events_count", WHOLE, offsetof(struct books_run, counts[4])},
    {"jobs_begin", WHOLE, offsetof(struct books_run, begins[0])},
    {"series_begin", WHOLE, offsetof(struct books_run, begins[1])},
    {"segments_begin", WHOLE, offsetof(struct books_run, begins[2])},
    {"allocs_begin", WHOLE, offsetof(struct books_run, begins[3])},
    {"events_begin", WHOLE, offsetof(struct books_run, begins[4])},
};

#define JOB(member, of) COL(books_job, member, of)
static const struct column job_columns[] = {
    JOB(run, TEXT),       JOB(id, TEXT),           JOB(user, TEXT),     JOB(vc, TEXT),
    JOB(reason, TEXT),    JOB(job, WHOLE),         JOB(gpus, WHOLE),    JOB(moves, WHOLE),
    JOB(restarts, WHOLE), JOB(preemptions, WHOLE), JOB(status, WHOLE),  JOB(trace_status, WHOLE),
    JOB(submit, REAL),    JOB(start, REAL),        JOB(end, REAL),      JOB(queued, REAL),
    JOB(run_time, REAL),  JOB(jct, REAL),          JOB(overhead, REAL), JOB(lost, REAL),
    JOB(work, REAL),      JOB(gpu_time, REAL),
};

#define SERIES(member, of) COL(books_series, member, of)
static const struct column series_columns[] = {SERIES(run, TEXT), SERIES(scope, TEXT), SERIES(name, TEXT),
                                               SERIES(time, REAL), SERIES(value, REAL)};

#define SEGMENT(member, of) COL(books_segment, member, of)
static const struct column segment_columns[] = {SEGMENT(run, TEXT),    SEGMENT(job, WHOLE),  SEGMENT(kind, WHOLE),
                                                SEGMENT(group, WHOLE), SEGMENT(begin, REAL), SEGMENT(end, REAL),
                                                SEGMENT(rate, REAL)};

#define ALLOC(member, of) COL(books_alloc, member, of)
static const struct column alloc_columns[] = {ALLOC(segment, WHOLE), ALLOC(node, WHOLE), ALLOC(gpu_first, WHOLE),
                                              ALLOC(gpu_count, WHOLE), ALLOC(share, REAL)};

#define EVENT(member, of) COL(books_event_row, member, of)
static const struct column event_columns[] = {EVENT(run, TEXT),  EVENT(vc, TEXT),     EVENT(why, TEXT),
                                              EVENT(time, REAL), EVENT(event, WHOLE), EVENT(job, WHOLE)};

static bool fail(struct books *b, const char *what, const char *table, const char *column)
{
    snprintf(b->why, sizeof b->why, "%s: /%s/%s", what, table, column);
    return false;
}

static size_t column_size(hid_t file, const char *table, const char *column)
{
    char path[256];
    snprintf(path, sizeof path, "/%s/%s", table, column);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    if (set < 0)
        return 0;
    hid_t space = H5Dget_space(set);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    H5Dclose(set);
    return n > 0 ? (size_t)n : 0;
}

/* One column into the rows, cut to the room of the row where it is text. */
static bool column_read(struct books *b, hid_t file, const char *table, const struct column *c, size_t n, char *rows,
                        size_t stride)
{
    char path[256];
    snprintf(path, sizeof path, "/%s/%s", table, c->name);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    if (set < 0)
        return fail(b, "no such column", table, c->name);
    hid_t stored = H5Dget_type(set), type;
    size_t size = 8, room = c->type == TEXT ? BOOKS_TEXT : sizeof b->run.message;
    if (c->type == TEXT || c->type == LONG_TEXT) {
        type = H5Tcopy(stored);
        size = H5Tget_size(stored);
    } else {
        type = H5Tcopy(c->type == REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64);
    }
    char *values = calloc(n + 1, size + 1);
    bool good = column_size(file, table, c->name) == n &&
                (n == 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (size_t i = 0; i < n && good; i++) {
        char *to = rows + i * stride + c->at;
        if (c->type == TEXT || c->type == LONG_TEXT)
            memcpy(to, values + i * size, size < room ? size : room - 1);
        else
            memcpy(to, values + i * size, size);
    }
    free(values);
    H5Tclose(type);
    H5Tclose(stored);
    H5Dclose(set);
    return good || fail(b, "cannot be read, or is of another length", table, c->name);
}

static bool table_read(struct books *b, hid_t file, const char *table, const struct column *columns, size_t n_columns,
                       size_t stride, void **rows, size_t *n)
{
    *n = column_size(file, table, columns[0].name);
    *rows = calloc(*n + 1, stride);
    for (size_t i = 0; i < n_columns && *rows != NULL; i++)
        if (!column_read(b, file, table, &columns[i], *n, *rows, stride))
            return false;
    return *rows != NULL || fail(b, "out of memory", table, "");
}

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define TABLE(name, columns, row, member)                                                                              \
    table_read(b, file, name, columns, COUNT(columns), sizeof(struct row), (void **)&b->member, &b->n_##member)

static bool run_read(struct books *b, hid_t file)
{
    void *rows;
    size_t n;
    bool good = table_read(b, file, "runs", run_columns, COUNT(run_columns), sizeof(struct books_run), &rows, &n);
    b->n_runs = n;
    if (good && n == 1)
        memcpy(&b->run, rows, sizeof b->run);
    free(rows);
    return good && (n == 1 || fail(b, "not one run", "runs", "run"));
}

struct metric_visit {
    struct books *b;
    hid_t file;
    bool good;
};

static herr_t metric_read(hid_t group, const char *name, const H5L_info_t *info, void *self)
{
    struct metric_visit *v = self;
    struct books *b = v->b;
    (void)group, (void)info;
    double value = NAN;
    if (strcmp(name, "run") == 0)
        return 0;
    struct column c = {name, REAL, 0};
    if (b->n_metrics == BOOKS_METRICS || !column_read(b, v->file, "summary", &c, 1, (char *)&value, sizeof value)) {
        v->good = false;
        return 0;
    }
    snprintf(b->metric[b->n_metrics], BOOKS_TEXT, "%.63s", name);
    b->value[b->n_metrics++] = value;
    return 0;
}

static bool summary_read(struct books *b, hid_t file)
{
    struct metric_visit v = {b, file, true};
    struct column run = {"run", TEXT, 0};
    if (!column_read(b, file, "summary", &run, 1, b->summary_run, BOOKS_TEXT))
        return false;
    hid_t group = H5Gopen2(file, "/summary", H5P_DEFAULT);
    bool good = group >= 0 && H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, metric_read, &v) >= 0 && v.good;
    if (group >= 0)
        H5Gclose(group);
    return good || fail(b, "cannot be read", "summary", "");
}

bool books_read(struct books *b, const char *path)
{
    *b = (struct books){0};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return fail(b, "cannot be opened", path, "");
    bool good = run_read(b, file) && summary_read(b, file) && TABLE("jobs", job_columns, books_job, jobs) &&
                TABLE("series", series_columns, books_series, series) &&
                TABLE("segments", segment_columns, books_segment, segments) &&
                TABLE("allocs", alloc_columns, books_alloc, allocs) &&
                TABLE("events", event_columns, books_event_row, events);
    H5Fclose(file);
    return good;
}

void books_free(struct books *b)
{
    free(b->jobs);
    free(b->series);
    free(b->segments);
    free(b->allocs);
    free(b->events);
    *b = (struct books){0};
}

double books_metric(const struct books *b, const char *name)
{
    for (size_t i = 0; i < b->n_metrics; i++)
        if (strcmp(b->metric[i], name) == 0)
            return b->value[i];
    return NAN;
}

/* ---- damage ---- */

struct names_visit {
    char (*out)[BOOKS_TEXT];
    size_t n, room;
};

static herr_t name_take(hid_t group, const char *name, const H5L_info_t *info, void *self)
{
    struct names_visit *v = self;
    (void)group, (void)info;
    if (v->n < v->room)
        snprintf(v->out[v->n++], BOOKS_TEXT, "%.63s", name);
    return 0;
}

size_t books_columns(const char *path, const char *table, char (*out)[BOOKS_TEXT], size_t room)
{
    struct names_visit v = {out, 0, room};
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t group = file >= 0 ? H5Gopen2(file, table, H5P_DEFAULT) : -1;
    if (group >= 0) {
        H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, name_take, &v);
        H5Gclose(group);
    }
    if (file >= 0)
        H5Fclose(file);
    return v.n;
}

/* Another value of the same type: a number one more (NaN: 1), the first letter of a text another one. */
static void value_change(hid_t type, char *value, bool is_far)
{
    double real;
    if (H5Tget_class(type) == H5T_STRING) {
        value[0] = value[0] == 'x' ? 'y' : 'x';
    } else if (H5Tget_class(type) == H5T_FLOAT) {
        memcpy(&real, value, sizeof real);
        real = isnan(real) ? 1 : real * 1.25 + 1;
        memcpy(value, &real, sizeof real);
    } else {
        value[0] = (char)(is_far          ? value[0] ^ 0x80
                          : value[0] == 0 ? 1
                                          : value[0] - 1); /* the lowest byte; an enum stays among its codes */
    }
}

bool books_damage(const char *path, const char *table, const char *column, uint64_t row)
{
    char name[256];
    snprintf(name, sizeof name, "/%s/%s", table, column);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = file >= 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    bool good = false;
    if (set >= 0) {
        hid_t type = H5Dget_type(set), space = H5Dget_space(set);
        size_t size = H5Tget_size(type), n = (size_t)H5Sget_simple_extent_npoints(space);
        char *values = calloc(n + 1, size);
        if (row < n && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
            /* the next node or GPU may be free as well */
            bool is_far = strcmp(column, "gpu_first") == 0 || strcmp(column, "node") == 0;
            value_change(type, values + row * size, is_far);
            good = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
        }
        free(values);
        H5Sclose(space);
        H5Tclose(type);
        H5Dclose(set);
    }
    if (file >= 0)
        H5Fclose(file);
    return good;
}
