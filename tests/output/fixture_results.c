#include "fixture_results.h"

#include "output/report_stats.h"

#include <hdf5.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char config_text[] = "name: fixture\n"
                                  "cluster:\n  nodes:\n    - {count: 2, gpus: 4, gpu: v100}\n"
                                  "measure: {from: start, to: end, warm_up: 0 s}\n"
                                  "output: {jobs: true}\n";

void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.schema = RESULTS_SCHEMA};
    for (int t = 0; t < RESULTS_TABLES; t++) {
        const struct table_spec *spec = results_table(t);
        for (uint32_t c = 0; c < spec->n_columns; c++)
            f->tables[t].columns[f->tables[t].n_columns++] = spec->columns[c];
    }
    size_t n;
    const struct metric_info *metrics = metrics_table(&n);
    for (size_t m = 0; m < n; m++)
        f->tables[RESULTS_SUMMARY].columns[f->tables[RESULTS_SUMMARY].n_columns++] =
            (struct column_spec){.name = metrics[m].name, .type = COLUMN_F64, .unit = metrics[m].unit};
}

void fixture_fini(struct fixture *f)
{
    for (int t = 0; t < RESULTS_TABLES; t++) {
        for (uint32_t i = 0; i < f->tables[t].rows * f->tables[t].n_columns; i++)
            free(f->tables[t].cells[i].text);
        free(f->tables[t].cells);
    }
}

void fixture_sweep(struct fixture *f, const char *key)
{
    struct fixture_table *t = &f->tables[RESULTS_RUNS];
    int slot = 0;
    while (f->sweep_names[slot][0] != '\0')
        slot++;
    snprintf(f->sweep_names[slot], sizeof f->sweep_names[slot], "%s%s", RESULTS_SWEEP_PREFIX, key);
    t->columns[t->n_columns++] = (struct column_spec){.name = f->sweep_names[slot], .type = COLUMN_TEXT, .unit = ""};
}

static struct fixture_cell *cell_of(struct fixture *f, int table, const char *column)
{
    struct fixture_table *t = &f->tables[table];
    for (uint32_t c = 0; c < t->n_columns; c++)
        if (strcmp(t->columns[c].name, column) == 0)
            return &t->cells[(t->rows - 1) * t->n_columns + c];
    fprintf(stderr, "fixture: no column %s/%s\n", results_table(table)->name, column);
    abort();
}

static const struct column_spec *spec_of(const struct fixture *f, int table, const char *column)
{
    const struct fixture_table *t = &f->tables[table];
    for (uint32_t c = 0; c < t->n_columns; c++)
        if (strcmp(t->columns[c].name, column) == 0)
            return &t->columns[c];
    return NULL;
}

void fixture_text(struct fixture *f, int table, const char *column, const char *text)
{
    struct fixture_cell *cell = cell_of(f, table, column);
    const struct column_spec *c = spec_of(f, table, column);
    if (c->type == COLUMN_ENUM) {
        for (uint32_t i = 0; i < c->n_members; i++)
            if (strcmp(c->members[i], text) == 0)
                cell->number = i;
        return;
    }
    free(cell->text);
    cell->text = strdup(text);
}

void fixture_number(struct fixture *f, int table, const char *column, double number)
{
    cell_of(f, table, column)->number = number;
}

static double number_of(struct fixture *f, int table, uint32_t row, const char *column)
{
    const struct fixture_table *t = &f->tables[table];
    return t->cells[row * t->n_columns + (uint32_t)(spec_of(f, table, column) - t->columns)].number;
}

/* A new last row: numbers 0, texts "", the `run` of the present run. */
static void add_row(struct fixture *f, int table)
{
    struct fixture_table *t = &f->tables[table];
    if (t->rows == t->room) {
        t->room = t->room == 0 ? 32 : 2 * t->room;
        t->cells = realloc(t->cells, sizeof *t->cells * t->room * t->n_columns);
    }
    memset(&t->cells[t->rows * t->n_columns], 0, sizeof *t->cells * t->n_columns);
    t->rows++;
    if (table != RESULTS_RUNS && table != RESULTS_ALLOCS)
        fixture_text(f, table, "run", cell_of(f, RESULTS_RUNS, "run")->text);
    if (results_count_column(table) != NULL)
        cell_of(f, RESULTS_RUNS, results_count_column(table))->number++;
}

void fixture_run(struct fixture *f, const char *id, const char *label, unsigned seed)
{
    if (f->tables[RESULTS_RUNS].rows > 0 && !f->is_summary_kept)
        fixture_summarize(f);
    add_row(f, RESULTS_RUNS);
    char full[17];
    size_t n = strlen(id) < 16 ? strlen(id) : 16;
    memset(full, '0', 16);
    memcpy(full, id, n);
    full[16] = '\0';
    fixture_text(f, RESULTS_RUNS, "run", full);
    fixture_text(f, RESULTS_RUNS, "name", "fixture");
    fixture_text(f, RESULTS_RUNS, "label", label);
    fixture_text(f, RESULTS_RUNS, "config", config_text);
    fixture_text(f, RESULTS_RUNS, "trace_digest", "5f2d8a7c1b3e9f00aa");
    fixture_text(f, RESULTS_RUNS, "digest", full);
    fixture_number(f, RESULTS_RUNS, "seed", seed);
    if (spec_of(f, RESULTS_RUNS, RESULTS_SWEEP_PREFIX "policy") != NULL)
        fixture_text(f, RESULTS_RUNS, RESULTS_SWEEP_PREFIX "policy", label);
    for (int t = 0; t < RESULTS_TABLES; t++)
        if (results_begin_column(t) != NULL)
            fixture_number(f, RESULTS_RUNS, results_begin_column(t), f->tables[t].rows);
    add_row(f, RESULTS_SUMMARY);
    for (uint32_t c = 0; c < f->tables[RESULTS_SUMMARY].n_columns; c++)
        if (f->tables[RESULTS_SUMMARY].columns[c].type == COLUMN_F64)
            fixture_number(f, RESULTS_SUMMARY, f->tables[RESULTS_SUMMARY].columns[c].name, NAN);
}

void fixture_job(struct fixture *f, const char *id, unsigned gpus, double submit, double start, double end)
{
    add_row(f, RESULTS_JOBS);
    bool is_rejected = start < 0, is_finished = !is_rejected && end >= 0;
    double run = is_finished ? end - start : 0;
    fixture_number(f, RESULTS_JOBS, "job", cell_of(f, RESULTS_RUNS, "jobs_count")->number - 1);
    fixture_text(f, RESULTS_JOBS, "id", id);
    fixture_text(f, RESULTS_JOBS, "user", gpus > 1 ? "ann" : "bob");
    fixture_text(f, RESULTS_JOBS, "vc", gpus > 1 ? "large" : "small");
    fixture_number(f, RESULTS_JOBS, "gpus", gpus);
    fixture_number(f, RESULTS_JOBS, "submit", submit);
    fixture_number(f, RESULTS_JOBS, "start", is_rejected ? NAN : start);
    fixture_number(f, RESULTS_JOBS, "end", end < 0 ? NAN : end);
    fixture_number(f, RESULTS_JOBS, "queued", is_finished ? start - submit : 0);
    fixture_number(f, RESULTS_JOBS, "run_time", run);
    fixture_number(f, RESULTS_JOBS, "jct", is_finished ? end - submit : NAN);
    fixture_number(f, RESULTS_JOBS, "work", run);
    fixture_number(f, RESULTS_JOBS, "gpu_time", run * gpus);
    fixture_text(f, RESULTS_JOBS, "status", is_rejected ? "rejected" : is_finished ? "finished" : "unfinished");
    fixture_text(f, RESULTS_JOBS, "reason", is_rejected ? "too_large_for_vc" : "");
    fixture_text(f, RESULTS_JOBS, "trace_status", "passed");
}

void fixture_series(struct fixture *f, double time, const char *scope, const char *name, double value)
{
    add_row(f, RESULTS_SERIES);
    fixture_number(f, RESULTS_SERIES, "time", time);
    fixture_text(f, RESULTS_SERIES, "scope", scope);
    fixture_text(f, RESULTS_SERIES, "name", name);
    fixture_number(f, RESULTS_SERIES, "value", value);
}

void fixture_segment(struct fixture *f, unsigned job, double begin, double end, const char *kind, unsigned node,
                     unsigned gpu_first, unsigned gpu_count)
{
    add_row(f, RESULTS_SEGMENTS);
    fixture_number(f, RESULTS_SEGMENTS, "job", job);
    fixture_number(f, RESULTS_SEGMENTS, "begin", begin);
    fixture_number(f, RESULTS_SEGMENTS, "end", end);
    fixture_text(f, RESULTS_SEGMENTS, "kind", kind);
    fixture_number(f, RESULTS_SEGMENTS, "rate", strcmp(kind, "run") == 0);
    fixture_number(f, RESULTS_SEGMENTS, "group", -1);
    if (gpu_count > 0)
        fixture_alloc(f, node, gpu_first, gpu_count);
}

void fixture_alloc(struct fixture *f, unsigned node, unsigned gpu_first, unsigned gpu_count)
{
    add_row(f, RESULTS_ALLOCS);
    fixture_number(f, RESULTS_ALLOCS, "segment", f->tables[RESULTS_SEGMENTS].rows - 1);
    fixture_number(f, RESULTS_ALLOCS, "node", node);
    fixture_number(f, RESULTS_ALLOCS, "gpu_first", gpu_first);
    fixture_number(f, RESULTS_ALLOCS, "gpu_count", gpu_count);
    fixture_number(f, RESULTS_ALLOCS, "share", 1);
}

void fixture_event(struct fixture *f, double time, const char *event, long job, const char *why)
{
    add_row(f, RESULTS_EVENTS);
    fixture_number(f, RESULTS_EVENTS, "time", time);
    fixture_text(f, RESULTS_EVENTS, "event", event);
    fixture_number(f, RESULTS_EVENTS, "job", (double)job);
    fixture_text(f, RESULTS_EVENTS, "why", why);
}

void fixture_summarize(struct fixture *f)
{
    static const char *const names[] = {"finished", "unfinished", "rejected", "failed", "killed", "not_submitted"};
    struct fixture_table *jobs = &f->tables[RESULTS_JOBS];
    uint32_t begin = (uint32_t)cell_of(f, RESULTS_RUNS, "jobs_begin")->number;
    size_t n = 0;
    double *jct = malloc(sizeof *jct * (jobs->rows + 1)), *wait = malloc(sizeof *wait * (jobs->rows + 1));
    double counts[6] = {0}, first = INFINITY, last = -INFINITY;
    for (uint32_t r = begin; r < jobs->rows; r++) {
        int status = (int)number_of(f, RESULTS_JOBS, r, "status");
        counts[status]++;
        first = fmin(first, number_of(f, RESULTS_JOBS, r, "submit"));
        if (status != 0)
            continue;
        last = fmax(last, number_of(f, RESULTS_JOBS, r, "end"));
        jct[n] = number_of(f, RESULTS_JOBS, r, "jct");
        wait[n++] = number_of(f, RESULTS_JOBS, r, "start") - number_of(f, RESULTS_JOBS, r, "submit");
    }
    stats_sort(jct, n);
    fixture_number(f, RESULTS_SUMMARY, "jobs", jobs->rows - begin);
    for (int i = 0; i < 6; i++)
        fixture_number(f, RESULTS_SUMMARY, names[i], counts[i]);
    fixture_number(f, RESULTS_SUMMARY, "jct_mean", stats_mean(jct, n).mean);
    fixture_number(f, RESULTS_SUMMARY, "jct_p50", stats_quantile(jct, n, 0.5));
    fixture_number(f, RESULTS_SUMMARY, "jct_p99", stats_quantile(jct, n, 0.99));
    fixture_number(f, RESULTS_SUMMARY, "wait_mean", stats_mean(wait, n).mean);
    fixture_number(f, RESULTS_SUMMARY, "makespan", n > 0 ? last - first : NAN);
    free(jct);
    free(wait);
}

/* ---- to HDF5 ---------------------------------------------------------------------------------- */

static bool write_text_attribute(hid_t at, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return ok;
}

static hid_t type_of(const struct column_spec *c, size_t width)
{
    hid_t type;
    switch (c->type) {
    case COLUMN_TEXT:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, width);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        H5Tset_cset(type, H5T_CSET_UTF8);
        return type;
    case COLUMN_ENUM:
        type = H5Tenum_create(H5T_STD_U8LE);
        for (uint32_t i = 0; i < c->n_members; i++) {
            uint8_t value = (uint8_t)i;
            H5Tenum_insert(type, c->members[i], &value);
        }
        return type;
    case COLUMN_F64:
        return H5Tcopy(H5T_IEEE_F64LE);
    case COLUMN_I64:
        return H5Tcopy(H5T_STD_I64LE);
    case COLUMN_U64:
        return H5Tcopy(H5T_STD_U64LE);
    case COLUMN_U32:
        break;
    }
    return H5Tcopy(H5T_STD_U32LE);
}

static bool write_column(const struct fixture_table *t, uint32_t c, hid_t group)
{
    const struct column_spec *spec = &t->columns[c];
    size_t width = 1;
    for (uint32_t r = 0; r < t->rows; r++) {
        const char *text = t->cells[r * t->n_columns + c].text;
        if (text != NULL && strlen(text) > width)
            width = strlen(text);
    }
    size_t size = column_size(spec, width);
    char *bytes = calloc(t->rows + 1, size);
    for (uint32_t r = 0; r < t->rows; r++) {
        const struct fixture_cell *cell = &t->cells[r * t->n_columns + c];
        char *to = bytes + r * size;
        if (spec->type == COLUMN_TEXT)
            memcpy(to, cell->text != NULL ? cell->text : "", cell->text != NULL ? strlen(cell->text) : 0);
        else if (spec->type == COLUMN_F64)
            memcpy(to, &cell->number, size);
        else {
            int64_t whole = (int64_t)cell->number;
            memcpy(to, &whole, size); /* little-endian hosts, as the types above */
        }
    }
    hsize_t rows[1] = {t->rows};
    hid_t space = H5Screate_simple(1, rows, NULL), type = type_of(spec, width);
    hid_t dataset = H5Dcreate2(group, spec->name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = dataset >= 0 && (t->rows == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0) &&
              write_text_attribute(dataset, "units", spec->unit);
    H5Dclose(dataset);
    H5Tclose(type);
    H5Sclose(space);
    free(bytes);
    return ok;
}

/* As if `output: {jobs: false}`. */
static void drop_jobs(struct fixture *f)
{
    struct fixture_table *jobs = &f->tables[RESULTS_JOBS], *runs = &f->tables[RESULTS_RUNS];
    for (uint32_t i = 0; i < jobs->rows * jobs->n_columns; i++)
        free(jobs->cells[i].text);
    jobs->rows = 0;
    for (uint32_t r = 0; r < runs->rows; r++)
        for (uint32_t c = 0; c < runs->n_columns; c++)
            if (strncmp(runs->columns[c].name, "jobs_", 5) == 0)
                runs->cells[r * runs->n_columns + c].number = 0;
}

bool fixture_write(struct fixture *f, const char *path)
{
    if (f->tables[RESULTS_RUNS].rows > 0 && !f->is_summary_kept)
        fixture_summarize(f);
    if (f->is_without_jobs)
        drop_jobs(f);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, "schema", H5T_STD_U32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = file >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT32, &f->schema) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    ok = ok && write_text_attribute(file, "producer", "braid fixture");
    hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_link_creation_order(plist, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    for (int t = 0; t < RESULTS_TABLES; t++) {
        hid_t group = H5Gcreate2(file, results_table(t)->name, H5P_DEFAULT, plist, H5P_DEFAULT);
        for (uint32_t c = 0; c < f->tables[t].n_columns; c++)
            ok = write_column(&f->tables[t], c, group) && ok;
        H5Gclose(group);
    }
    H5Pclose(plist);
    return H5Fclose(file) >= 0 && ok;
}

/* ---- surroundings ----------------------------------------------------------------------------- */

const char *fixture_make_dir(char *out, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(out, size, "%s/braid-report-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    return mkdtemp(out);
}

void fixture_remove_dir(const char *path)
{
    char command[512];
    snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -rf '%s'", path, path);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", path);
}

int fixture_braid(char *out, size_t size, const char *format, ...)
{
    char arguments[2048], command[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    const char *braid = getenv("BRAID");
    snprintf(command, sizeof command, "'%s' %s 2>&1", braid != NULL ? braid : "braid", arguments);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        return -1;
    size_t n = fread(out, 1, size - 1, pipe);
    out[n] = '\0';
    char rest[4096];
    while (fread(rest, 1, sizeof rest, pipe) > 0)
        ;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
