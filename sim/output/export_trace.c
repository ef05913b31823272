#include "output/export_trace.h"

#include "base/names.h"
#include "output/export_json.h"
#include "output/export_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8192 };

/* What slices say of a job. */
struct trace_jobs {
    uint64_t n;
    char *ids, *users, *vcs;
    size_t id_width, user_width, vc_width;
    int64_t *gpus;
    double *submit, *start, *end;
    struct arena arena;
};

static const char *text_at(const char *texts, size_t width, uint64_t i)
{
    return texts + i * (width + 1);
}

static char *load_text(const struct report_table *t, const char *name, struct report_range rows, size_t *width,
                       struct arena *a, struct error *err)
{
    const struct report_column *c = report_column_need(t, name, err);
    if (c == NULL)
        return NULL;
    *width = c->width;
    char *out = ARENA_NEW(a, char, rows.count *(c->width + 1));
    if (out == NULL)
        error_set(err, BRAID_FAILED, "out of memory");
    else if (report_read_text(t, c, rows.begin, rows.count, out, err) != BRAID_OK)
        out = NULL;
    return out;
}

static int load_jobs(struct trace_jobs *j, const struct report_file *f, const struct report_run *run, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_JOBS];
    struct report_table t;
    int code = report_table_open(&t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK)
        return code;
    j->n = rows.count;
    bool ok = (j->ids = load_text(&t, "id", rows, &j->id_width, &j->arena, err)) != NULL &&
              (j->users = load_text(&t, "user", rows, &j->user_width, &j->arena, err)) != NULL &&
              (j->vcs = load_text(&t, "vc", rows, &j->vc_width, &j->arena, err)) != NULL &&
              (j->gpus = report_load_i64(&t, "gpus", rows, &j->arena, err)) != NULL &&
              (j->submit = report_load_f64(&t, "submit", rows, &j->arena, err)) != NULL &&
              (j->start = report_load_f64(&t, "start", rows, &j->arena, err)) != NULL &&
              (j->end = report_load_f64(&t, "end", rows, &j->arena, err)) != NULL;
    report_table_close(&t);
    return ok ? BRAID_OK : err->code;
}

/* ---- events ----------------------------------------------------------------------------------- */

static void name_of(yajl_gen g, FILE *out, const char *what, int64_t pid, int64_t tid, const char *name)
{
    export_json_line(out);
    yajl_gen_map_open(g);
    export_json_key_text(g, "ph", "M");
    export_json_key_text(g, "name", what);
    export_json_key_integer(g, "pid", pid);
    export_json_key_integer(g, "tid", tid);
    export_json_text(g, "args");
    yajl_gen_map_open(g);
    export_json_key_text(g, "name", name);
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

static void slice(yajl_gen g, FILE *out, const struct trace_jobs *j, uint64_t rank, const char *name,
                  const char *category, int64_t pid, int64_t tid, double begin_s, double end_s)
{
    export_json_line(out);
    yajl_gen_map_open(g);
    export_json_key_text(g, "ph", "X");
    export_json_key_text(g, "name", name);
    export_json_key_text(g, "cat", category);
    export_json_key_integer(g, "pid", pid);
    export_json_key_integer(g, "tid", tid);
    export_json_key_number(g, "ts", begin_s * 1e6);
    export_json_key_number(g, "dur", (end_s - begin_s) * 1e6);
    export_json_text(g, "args");
    yajl_gen_map_open(g);
    export_json_key_integer(g, "job", (int64_t)rank);
    export_json_key_text(g, "user", text_at(j->users, j->user_width, rank));
    export_json_key_text(g, "vc", text_at(j->vcs, j->vc_width, rank));
    export_json_key_integer(g, "gpus", j->gpus[rank]);
    export_json_key_text(g, "kind", category);
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

/* ---- by node and GPU -------------------------------------------------------------------------- */

struct segment {
    int64_t job, kind;
    double begin_s, end_s;
};

/* Names every node and GPU that holds something, each once, as they come. */
struct gpu_names {
    uint64_t *seen; /* sorted: node << 32 | gpu + 1, node << 32 for the node itself */
    size_t n, room;
};

static bool gpu_is_new(struct gpu_names *names, uint64_t key, bool *ok)
{
    size_t low = 0, high = names->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (names->seen[middle] == key)
            return false;
        if (names->seen[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (names->n == names->room) {
        size_t room = names->room == 0 ? 256 : 2 * names->room;
        uint64_t *more = realloc(names->seen, room * sizeof *more);
        if (more == NULL) {
            *ok = false;
            return false;
        }
        names->seen = more;
        names->room = room;
    }
    memmove(names->seen + low + 1, names->seen + low, (names->n - low) * sizeof *names->seen);
    names->seen[low] = key;
    names->n++;
    return true;
}

static bool write_gpu_slices(yajl_gen g, FILE *out, const struct trace_jobs *j, const struct segment *s,
                             const char *kind, int64_t node, int64_t gpu_first, int64_t gpu_count,
                             struct gpu_names *names)
{
    bool ok = true;
    char text[64];
    if (gpu_is_new(names, (uint64_t)node << 32, &ok)) {
        snprintf(text, sizeof text, "node %lld", (long long)node);
        name_of(g, out, "process_name", node, 0, text);
    }
    for (int64_t gpu = gpu_first; gpu < gpu_first + gpu_count; gpu++) {
        if (gpu_is_new(names, (uint64_t)node << 32 | (uint64_t)(gpu + 1), &ok)) {
            snprintf(text, sizeof text, "GPU %lld", (long long)gpu);
            name_of(g, out, "thread_name", node, gpu, text);
        }
        slice(g, out, j, (uint64_t)s->job, text_at(j->ids, j->id_width, (uint64_t)s->job), kind, node, gpu, s->begin_s,
              s->end_s);
    }
    return ok;
}

static int write_segments(yajl_gen g, FILE *out, const struct trace_jobs *j, const struct report_file *f,
                          const struct report_run *run, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_SEGMENTS], alloc_rows = run->tables[RESULTS_ALLOCS];
    struct report_table segments, allocs;
    int code = report_table_open(&segments, f->file, f->path, "segments", err);
    if (code != BRAID_OK)
        return code;
    code = report_table_open(&allocs, f->file, f->path, "allocs", err);
    if (code != BRAID_OK) {
        report_table_close(&segments);
        return code;
    }
    struct arena a;
    struct gpu_names names = {0};
    int64_t *job = NULL, *kind = NULL, *of = NULL, *node = NULL, *first = NULL, *count = NULL;
    double *begin = NULL, *end = NULL;
    arena_init(&a);
    const struct report_column *kinds = report_column_need(&segments, "kind", err);
    bool ok = kinds != NULL && (job = report_load_i64(&segments, "job", rows, &a, err)) != NULL &&
              (kind = report_load_i64(&segments, "kind", rows, &a, err)) != NULL &&
              (begin = report_load_f64(&segments, "begin", rows, &a, err)) != NULL &&
              (end = report_load_f64(&segments, "end", rows, &a, err)) != NULL &&
              (of = report_load_i64(&allocs, "segment", alloc_rows, &a, err)) != NULL &&
              (node = report_load_i64(&allocs, "node", alloc_rows, &a, err)) != NULL &&
              (first = report_load_i64(&allocs, "gpu_first", alloc_rows, &a, err)) != NULL &&
              (count = report_load_i64(&allocs, "gpu_count", alloc_rows, &a, err)) != NULL;
    if (!ok)
        code = err->code;
    for (uint64_t i = 0; ok && code == BRAID_OK && i < alloc_rows.count && !ferror(out); i++) {
        uint64_t at = (uint64_t)of[i] - rows.begin;
        if (at >= rows.count || (uint64_t)job[at] >= j->n) {
            code = error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "row %llu of /allocs names a segment of another run",
                            (unsigned long long)(alloc_rows.begin + i));
            break;
        }
        struct segment s = {job[at], kind[at], begin[at], end[at]};
        if (!write_gpu_slices(g, out, j, &s, report_enum_text(kinds, s.kind), node[i], first[i], count[i], &names))
            code = error_set(err, BRAID_FAILED, "out of memory");
    }
    free(names.seen);
    arena_fini(&a);
    report_table_close(&allocs);
    report_table_close(&segments);
    return code;
}

/* ---- by virtual cluster and job ---------------------------------------------------------------- */

static int write_jobs(yajl_gen g, FILE *out, const struct trace_jobs *j, struct error *err)
{
    struct names vcs;
    int code = BRAID_OK;
    names_init(&vcs);
    for (uint64_t i = 0; code == BRAID_OK && i < j->n && !ferror(out); i++) {
        const char *vc = text_at(j->vcs, j->vc_width, i), *id = text_at(j->ids, j->id_width, i);
        uint32_t before = vcs.count, pid = names_add(&vcs, vc, strlen(vc));
        if (pid == NAMES_NONE) {
            code = error_set(err, BRAID_FAILED, "out of memory");
            break;
        }
        if (pid == before)
            name_of(g, out, "process_name", pid, 0, *vc != '\0' ? vc : "jobs");
        name_of(g, out, "thread_name", pid, (int64_t)i, id);
        if (isnan(j->start[i]))
            continue;
        slice(g, out, j, i, "queued", "queued", pid, (int64_t)i, j->submit[i], j->start[i]);
        if (!isnan(j->end[i]))
            slice(g, out, j, i, id, "run", pid, (int64_t)i, j->start[i], j->end[i]);
    }
    names_fini(&vcs);
    return code;
}

/* ---- counters ---------------------------------------------------------------------------------- */

enum { COUNTER_PID = 1000000 }; /* below all nodes */

static int write_counters(yajl_gen g, FILE *out, const struct report_file *f, const struct report_run *run,
                          struct error *err)
{
    struct report_range rows = run->tables[RESULTS_SERIES];
    struct report_table t;
    int code = report_table_open(&t, f->file, f->path, "series", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *time = report_column_need(&t, "time", err),
                               *scope = report_column_need(&t, "scope", err),
                               *name = report_column_need(&t, "name", err),
                               *value = report_column_need(&t, "value", err);
    if (time == NULL || scope == NULL || name == NULL || value == NULL) {
        report_table_close(&t);
        return err->code;
    }
    double *times = malloc(BLOCK * sizeof *times), *values = malloc(BLOCK * sizeof *values);
    char *scopes = malloc(BLOCK * (scope->width + 1)), *names = malloc(BLOCK * (name->width + 1));
    if (times == NULL || values == NULL || scopes == NULL || names == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    name_of(g, out, "process_name", COUNTER_PID, 0, "cluster");
    for (uint64_t from = 0; code == BRAID_OK && from < rows.count; from += BLOCK) {
        uint64_t count = rows.count - from < BLOCK ? rows.count - from : BLOCK, at = rows.begin + from;
        if ((code = report_read_f64(&t, time, at, count, times, err)) != BRAID_OK ||
            (code = report_read_f64(&t, value, at, count, values, err)) != BRAID_OK ||
            (code = report_read_text(&t, scope, at, count, scopes, err)) != BRAID_OK ||
            (code = report_read_text(&t, name, at, count, names, err)) != BRAID_OK)
            break;
        for (uint64_t i = 0; i < count; i++) {
            const char *series = text_at(names, name->width, i);
            if (strcmp(text_at(scopes, scope->width, i), "cluster") != 0 || !isfinite(values[i]))
                continue;
            export_json_line(out);
            yajl_gen_map_open(g);
            export_json_key_text(g, "ph", "C");
            export_json_key_text(g, "name", series);
            export_json_key_integer(g, "pid", COUNTER_PID);
            export_json_key_integer(g, "tid", 0);
            export_json_key_number(g, "ts", times[i] * 1e6);
            export_json_text(g, "args");
            yajl_gen_map_open(g);
            export_json_key_number(g, series, values[i]);
            yajl_gen_map_close(g);
            yajl_gen_map_close(g);
        }
    }
    free(times);
    free(values);
    free(scopes);
    free(names);
    report_table_close(&t);
    return code;
}

int export_trace_events(FILE *out, const struct report_file *f, const struct report_run *run, struct error *err)
{
    if (!report_run_has(run, RESULTS_JOBS))
        return export_no_rows(f, run, RESULTS_JOBS, err);
    struct trace_jobs jobs = {0};
    arena_init(&jobs.arena);
    int code = load_jobs(&jobs, f, run, err);
    yajl_gen g = code == BRAID_OK ? export_json_create(out) : NULL;
    if (code == BRAID_OK && g == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    if (g != NULL) {
        char title[200];
        yajl_gen_map_open(g);
        export_json_key_text(g, "displayTimeUnit", "ms");
        export_json_text(g, "otherData");
        yajl_gen_map_open(g);
        export_json_key_text(g, "experiment", run->name);
        export_json_key_text(g, "run", run->id);
        export_json_key_text(g, "what", report_run_title(f, run, title, sizeof title));
        export_json_key_text(g, "trace_digest", run->trace_digest);
        yajl_gen_map_close(g);
        export_json_text(g, "traceEvents");
        yajl_gen_array_open(g);
        if (report_run_has(run, RESULTS_ALLOCS))
            code = write_segments(g, out, &jobs, f, run, err);
        else
            code = write_jobs(g, out, &jobs, err);
        if (code == BRAID_OK && report_run_has(run, RESULTS_SERIES))
            code = write_counters(g, out, f, run, err);
        yajl_gen_array_close(g);
        yajl_gen_map_close(g);
        fputc('\n', out);
        yajl_gen_free(g);
    }
    arena_fini(&jobs.arena);
    return code;
}
