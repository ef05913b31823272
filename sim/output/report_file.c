#include "output/report_file.h"

#include "output/results_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening, and what may be wrong with a file ----------------------------------------------- */

/* What HDF5 says of a failed open, sorted into what a user can do about it. */
struct open_failure {
    bool is_locked, is_truncated;
    char text[160];
};

static herr_t look_at_failure(unsigned n, const H5E_error2_t *e, void *data)
{
    struct open_failure *f = data;
    if (e->desc == NULL)
        return 0;
    f->is_locked = f->is_locked || strstr(e->desc, "unable to lock") != NULL;
    f->is_truncated = f->is_truncated || strstr(e->desc, "truncated") != NULL;
    if (n == 0)
        snprintf(f->text, sizeof f->text, "%.*s", (int)sizeof f->text - 1, e->desc);
    return 0;
}

static int open_hdf5(struct report_file *f, struct error *err)
{
    struct stat st;
    if (stat(f->path, &st) != 0)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                        "%s; a results file is made by 'braid run CONFIG.yaml -o OUT.h5'",
                        errno == ENOENT ? "no such file" : strerror(errno));
    if (S_ISDIR(st.st_mode))
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "this is a folder; name the results file (.h5) itself");
    if (access(f->path, R_OK) != 0)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "cannot be read: %s", strerror(errno));
    if (st.st_size == 0)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "the file is empty; run the experiment again");
    struct open_failure why = {0};
    htri_t is_hdf5 = 0;
    H5E_BEGIN_TRY
    {
        f->file = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
        if (f->file < 0) {
            H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look_at_failure, &why);
            is_hdf5 = H5Fis_hdf5(f->path);
        }
    }
    H5E_END_TRY;
    if (f->file >= 0)
        return BRAID_OK;
    if (why.is_locked)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                        "another program is writing to this file; wait until it has ended");
    if (why.is_truncated)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                        "the file is truncated: a copy was cut short; copy it or run the experiment again");
    if (is_hdf5 <= 0)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                        "not a results file (HDF5); give the .h5 file that 'braid run' wrote");
    return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "the file is damaged (%s); run the experiment again",
                    why.text);
}

static int check_schema(const struct report_file *f, struct error *err)
{
    int64_t schema = -1;
    H5E_BEGIN_TRY
    {
        hid_t attribute = H5Aexists(f->file, "schema") > 0 ? H5Aopen(f->file, "schema", H5P_DEFAULT) : -1;
        if (attribute >= 0) {
            if (H5Aread(attribute, H5T_NATIVE_INT64, &schema) < 0)
                schema = -1;
            H5Aclose(attribute);
        }
    }
    H5E_END_TRY;
    if (schema == RESULTS_SCHEMA)
        return BRAID_OK;
    if (schema < 0)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                        "an HDF5 file, but not a results file of braid (it has no attribute 'schema')");
    return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                    "written with schema %lld, but this braid reads schema %d; use the braid that wrote it",
                    (long long)schema, RESULTS_SCHEMA);
}

/* ---- the runs --------------------------------------------------------------------------------- */

/* One text column of /runs as n_runs pointers; NULL with `err` filled. */
static const char **load_texts(struct report_file *f, const struct report_table *t, const struct report_column *c,
                               struct error *err)
{
    size_t stride = c->width + 1;
    char *bytes = ARENA_NEW(&f->arena, char, t->rows *stride);
    const char **out = ARENA_NEW(&f->arena, const char *, t->rows);
    if (bytes == NULL || out == NULL) {
        error_set(err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    if (report_read_text(t, c, 0, t->rows, bytes, err) != BRAID_OK)
        return NULL;
    for (uint64_t i = 0; i < t->rows; i++)
        out[i] = bytes + i * stride;
    return out;
}

static int load_run_texts(struct report_file *f, const struct report_table *t, struct error *err)
{
    static const char *const names[] = {"run", "name", "label", "trace_digest", "digest", "config", "output"};
    enum { N = sizeof names / sizeof names[0] };
    const char **texts[N];
    for (int i = 0; i < N; i++) {
        const struct report_column *c = report_column_need(t, names[i], err);
        texts[i] = c == NULL ? NULL : load_texts(f, t, c, err);
        if (texts[i] == NULL)
            return err->code;
    }
    for (uint32_t i = 0; i < f->n_runs; i++) {
        struct report_run *run = &f->runs[i];
        run->row = i;
        run->id = texts[0][i];
        run->name = texts[1][i];
        run->label = texts[2][i];
        run->trace_digest = texts[3][i];
        run->digest = texts[4][i];
        run->config = texts[5][i];
        run->output = texts[6][i];
        run->remarks = "";
    }
    const struct report_column *remarks = report_column_find(t, "remarks");
    const char **lines = remarks == NULL ? NULL : load_texts(f, t, remarks, err);
    if (remarks != NULL && lines == NULL)
        return err->code;
    for (uint32_t i = 0; remarks != NULL && i < f->n_runs; i++)
        f->runs[i].remarks = lines[i];
    return BRAID_OK;
}

static int load_run_numbers(struct report_file *f, const struct report_table *t, struct error *err)
{
    struct report_range all = {0, t->rows};
    int64_t *seed = report_load_i64(t, "seed", all, &f->arena, err);
    int64_t *origin = seed == NULL ? NULL : report_load_i64(t, "origin", all, &f->arena, err);
    const struct report_column *status = origin == NULL ? NULL : report_column_need(t, "status", err);
    if (status == NULL)
        return err->code;
    int64_t *status_code = report_load_i64(t, "status", all, &f->arena, err);
    if (status_code == NULL)
        return err->code;
    int64_t *position = NULL;
    if (report_column_find(t, RESULTS_POSITION) != NULL) {
        position = report_load_i64(t, RESULTS_POSITION, all, &f->arena, err);
        if (position == NULL)
            return err->code;
    }
    for (uint32_t i = 0; i < f->n_runs; i++) {
        f->runs[i].seed = (uint64_t)seed[i];
        snprintf(f->runs[i].seed_text, sizeof f->runs[i].seed_text, "%" PRIu64, f->runs[i].seed);
        f->runs[i].origin_s = origin[i];
        f->runs[i].position = position != NULL ? position[i] : -1;
        const char *text = report_enum_text(status, status_code[i]);
        f->runs[i].status = arena_text(&f->arena, text, strlen(text));
    }
    return BRAID_OK;
}

/* The rows of each run in each table; results_check has seen that they are there. */
static int load_run_ranges(struct report_file *f, const struct report_table *t, struct error *err)
{
    struct report_range all = {0, t->rows};
    for (int table = 0; table < RESULTS_TABLES; table++) {
        for (uint32_t i = 0; i < f->n_runs; i++)
            f->runs[i].tables[table] = (struct report_range){i, 1};
        if (results_begin_column(table) == NULL)
            continue;
        int64_t *begin = report_load_i64(t, results_begin_column(table), all, &f->arena, err);
        int64_t *count = begin == NULL ? NULL : report_load_i64(t, results_count_column(table), all, &f->arena, err);
        if (count == NULL)
            return err->code;
        for (uint32_t i = 0; i < f->n_runs; i++)
            f->runs[i].tables[table] = (struct report_range){(uint64_t)begin[i], (uint64_t)count[i]};
    }
    return BRAID_OK;
}

static int load_swept(struct report_file *f, const struct report_table *t, struct error *err)
{
    f->swept_keys = ARENA_NEW(&f->arena, const char *, t->n_columns);
    const char ***values = ARENA_NEW(&f->arena, const char **, t->n_columns);
    if (f->swept_keys == NULL || values == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const struct report_column *c = &t->columns[i];
        if (strncmp(c->name, RESULTS_SWEEP_PREFIX, strlen(RESULTS_SWEEP_PREFIX)) != 0 || c->type != REPORT_TEXT)
            continue;
        const char *key = c->name + strlen(RESULTS_SWEEP_PREFIX);
        f->swept_keys[f->n_swept] = arena_text(&f->arena, key, strlen(key));
        values[f->n_swept] = load_texts(f, t, c, err);
        if (values[f->n_swept++] == NULL)
            return err->code;
    }
    for (uint32_t i = 0; i < f->n_runs; i++) {
        f->runs[i].swept = ARENA_NEW(&f->arena, const char *, f->n_swept);
        if (f->runs[i].swept == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
        for (uint32_t k = 0; k < f->n_swept; k++)
            f->runs[i].swept[k] = values[k][i];
    }
    return BRAID_OK;
}

static int load_runs(struct report_file *f, struct error *err)
{
    struct report_table t;
    int code = report_table_open(&t, f->file, f->path, "runs", err);
    if (code != BRAID_OK)
        return code;
    if (t.rows > UINT32_MAX)
        code = error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "table /runs has more rows than there can be runs");
    if (code == BRAID_OK) {
        f->n_runs = (uint32_t)t.rows;
        f->runs = ARENA_NEW(&f->arena, struct report_run, t.rows);
        if (f->runs == NULL)
            code = error_set(err, BRAID_FAILED, "out of memory");
    }
    if (code == BRAID_OK)
        code = load_run_texts(f, &t, err);
    if (code == BRAID_OK)
        code = load_run_numbers(f, &t, err);
    if (code == BRAID_OK)
        code = load_run_ranges(f, &t, err);
    if (code == BRAID_OK)
        code = load_swept(f, &t, err);
    report_table_close(&t);
    return code;
}

int report_file_open(struct report_file *out, const char *path, struct error *err)
{
    *out = (struct report_file){.file = -1};
    arena_init(&out->arena);
    out->path = arena_text(&out->arena, path, strlen(path));
    int code = out->path == NULL ? error_set(err, BRAID_FAILED, "out of memory") : open_hdf5(out, err);
    if (code == BRAID_OK)
        code = check_schema(out, err);
    uint64_t rows[RESULTS_TABLES];
    if (code == BRAID_OK)
        code = results_check(out->file, out->path, rows, err);
    if (code == BRAID_OK)
        code = load_runs(out, err);
    if (code == BRAID_OK && out->arena.is_short)
        code = error_set(err, BRAID_FAILED, "out of memory");
    if (code != BRAID_OK)
        report_file_close(out);
    return code;
}

void report_file_close(struct report_file *f)
{
    if (f->file >= 0)
        H5Fclose(f->file);
    arena_fini(&f->arena);
    *f = (struct report_file){.file = -1};
}

/* ---- looking runs up -------------------------------------------------------------------------- */

/* Complain and list some runs: those that are named, or all. */
static int complain_about_run(const struct report_file *f, const char *what, const bool *is_named, struct error *err)
{
    char list[600];
    size_t used = 0;
    uint32_t shown = 0, n = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < f->n_runs; i++) {
        char title[96], line[128];
        if (is_named != NULL && !is_named[i])
            continue;
        n++;
        int length = snprintf(line, sizeof line, "%s%s (%s)", shown > 0 ? ", " : "", f->runs[i].id,
                              report_run_title(f, &f->runs[i], title, sizeof title));
        if (shown + 1 < n || shown == 16 || length < 0 || used + (size_t)length >= sizeof list)
            continue;
        memcpy(list + used, line, (size_t)length + 1);
        used += (size_t)length;
        shown++;
    }
    return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "%s; there are: %s%s", what,
                    list[0] != '\0' ? list : "no runs", shown < n ? ", …" : "");
}

enum { ID_PREFIX_MIN = 4 };

/* The value that a key has in a run: its label, its seed or a swept value. NULL: the file does not know the key. */
static const char *value_of(const struct report_file *f, const struct report_run *run, const char *key, size_t n)
{
    if (n == strlen("policy") && strncmp(key, "policy", n) == 0)
        return run->label;
    if (n == strlen("seed") && strncmp(key, "seed", n) == 0)
        return run->seed_text;
    for (uint32_t k = 0; k < f->n_swept; k++)
        if (strlen(f->swept_keys[k]) == n && strncmp(f->swept_keys[k], key, n) == 0)
            return run->swept[k];
    return NULL;
}

/* One word of "srtf, seed=2, trace.load=0.9": a label or KEY=VALUE. */
static bool word_names(const struct report_file *f, const struct report_run *run, const char *word, size_t n)
{
    if (strlen(run->label) == n && strncmp(run->label, word, n) == 0)
        return true;
    const char *equals = memchr(word, '=', n);
    const char *value = equals == NULL ? NULL : value_of(f, run, word, (size_t)(equals - word));
    size_t length = equals == NULL ? 0 : n - (size_t)(equals + 1 - word);
    return value != NULL && strlen(value) == length && strncmp(value, equals + 1, length) == 0;
}

/* All words of `text`, which are parted by commas outside brackets, name the run. */
static bool words_name(const struct report_file *f, const struct report_run *run, const char *text)
{
    for (const char *begin = text;;) {
        int depth = 0;
        size_t n = 0;
        while (begin[n] != '\0' && (begin[n] != ',' || depth > 0)) {
            depth += begin[n] == '{' || begin[n] == '[' ? 1 : begin[n] == '}' || begin[n] == ']' ? -1 : 0;
            n++;
        }
        size_t blanks = strspn(begin, " "), end = n;
        while (end > blanks && begin[end - 1] == ' ')
            end--;
        if (blanks >= end || !word_names(f, run, begin + blanks, end - blanks))
            return false;
        if (begin[n] == '\0')
            return true;
        begin += n + 1;
    }
}

/* How a text may name a run, the surest way first. */
enum way { BY_ID, BY_LABEL, BY_WORDS, N_WAYS };

static bool is_named(const struct report_file *f, const struct report_run *run, const char *text, enum way way)
{
    size_t n = strlen(text);
    switch (way) {
    case BY_ID:
        return n >= ID_PREFIX_MIN && strncmp(run->id, text, n) == 0;
    case BY_LABEL:
        return strcmp(run->label, text) == 0;
    default:
        return words_name(f, run, text);
    }
}

const struct report_run *report_run_find(const struct report_file *f, const char *text, struct error *err)
{
    char what[240];
    if (text == NULL) {
        if (f->n_runs == 1)
            return &f->runs[0];
        complain_about_run(f, "one run is wanted: name it with --run", NULL, err);
        return NULL;
    }
    bool *named = calloc((size_t)f->n_runs + 1, sizeof *named);
    const struct report_run *found = NULL;
    uint32_t n = 0;
    if (named == NULL) {
        error_set(err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    for (int way = BY_ID; way < N_WAYS && n == 0; way++)
        for (uint32_t i = 0; i < f->n_runs; i++)
            if ((named[i] = is_named(f, &f->runs[i], text, (enum way)way))) {
                found = &f->runs[i];
                n++;
            }
    snprintf(what, sizeof what, "no run '%.80s' in this file", text);
    if (n > 1)
        snprintf(what, sizeof what,
                 "'%.80s' names %u runs: give the id, or more of label, seed and swept values "
                 "('srtf, seed=1')",
                 text, n);
    if (n != 1)
        complain_about_run(f, what, n > 1 ? named : NULL, err);
    free(named);
    return n == 1 ? found : NULL;
}

const char *report_run_swept(const struct report_file *f, const struct report_run *run, const char *key)
{
    for (uint32_t k = 0; k < f->n_swept; k++)
        if (strcmp(f->swept_keys[k], key) == 0)
            return run->swept[k];
    return "";
}

const char *report_run_title(const struct report_file *f, const struct report_run *run, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", run->label);
    size_t used = n < 0 ? size : (size_t)n;
    for (uint32_t k = 0; k < f->n_swept && used < size; k++) {
        if (strcmp(f->swept_keys[k], "policy") == 0 || run->swept[k][0] == '\0')
            continue;
        n = snprintf(out + used, size - used, ", %s %s", f->swept_keys[k], run->swept[k]);
        used += n < 0 ? size : (size_t)n;
    }
    return out;
}

bool report_run_has(const struct report_run *run, int table)
{
    return run->tables[table].count > 0;
}

bool report_run_kept(const struct report_run *run, int table)
{
    const char *owner = table == RESULTS_ALLOCS ? "segments" : results_table(table)->name;
    return report_run_has(run, table) || strstr(run->output, owner) != NULL;
}
