#include "output/export_trace.h"

#include "base/names.h"
#include "output/export_json.h"
#include "output/export_table.h"
#include "output/report_series.h"

#include <inttypes.h>
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
    double *submit, *start, *end, *queued, *work;
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
              (j->end = report_load_f64(&t, "end", rows, &j->arena, err)) != NULL &&
              (j->queued = report_load_f64(&t, "queued", rows, &j->arena, err)) != NULL &&
              (j->work = report_load_f64(&t, "work", rows, &j->arena, err)) != NULL;
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

static int64_t ns_of(double seconds)
{
    return llrint(seconds * 1e9);
}

/* Microseconds with all three decimals: readers cut what is behind them, so a rounded number would make neighbours overlap. */
static void key_time(yajl_gen g, const char *key, int64_t ns)
{
    char text[40];
    int64_t whole = ns / 1000, part = ns % 1000;
    int n = snprintf(text, sizeof text, "%s%" PRId64 ".%03" PRId64, ns < 0 ? "-" : "", whole < 0 ? -whole : whole,
                     part < 0 ? -part : part);
    export_json_text(g, key);
    yajl_gen_number(g, text, (size_t)n);
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
    key_time(g, "ts", ns_of(begin_s));
    key_time(g, "dur", ns_of(end_s) - ns_of(begin_s));
    export_json_text(g, "args");
    yajl_gen_map_open(g);
    export_json_key_integer(g, "job", (int64_t)rank);
    export_json_key_text(g, "user", text_at(j->users, j->user_width, rank));
    export_json_key_text(g, "vc", text_at(j->vcs, j->vc_width, rank));
    export_json_key_integer(g, "gpus", j->gpus[rank]);
    export_json_key_text(g, "kind", category);
    export_json_key_number(g, "submit_s", j->submit[rank]);
    export_json_key_number(g, "queued_s", j->queued[rank]);
    export_json_key_number(g, "work_s", j->work[rank]);
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

/* ---- by node and GPU -------------------------------------------------------------------------- */

/* A stretch of one job on one GPU. */
struct piece {
    double begin_s, end_s;
    uint64_t gpu; /* node << 32 | GPU */
    uint32_t job, lane;
    uint8_t kind;
};

static int order_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    if (x->end_s != y->end_s)
        return x->end_s < y->end_s ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* Members of a group hold a GPU at the same time: each piece gets a lane of its GPU, its job's own where that is free. No two pieces of a
 * lane overlap, which is what a reader asks of the slices of one thread. Returns the number of lanes, 0 when memory is out. */
static uint32_t lanes_assign(struct piece *v, size_t n)
{
    struct lane {
        double until_s;
        uint32_t job;
    } *lanes = NULL;
    uint32_t most = 1, used = 0, room = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && v[i].gpu != v[i - 1].gpu)
            used = 0;
        uint32_t at = used;
        for (uint32_t k = used; k-- > 0;)
            if (lanes[k].until_s <= v[i].begin_s && (at == used || lanes[at].job != v[i].job))
                at = k;
        if (at == used) {
            if (used == room) {
                struct lane *more = realloc(lanes, (2 * room + 8) * sizeof *more);
                if (more == NULL) {
                    free(lanes);
                    return 0;
                }
                lanes = more;
                room = 2 * room + 8;
            }
            used++;
        }
        lanes[at] = (struct lane){v[i].end_s, v[i].job};
        v[i].lane = at;
        most = used > most ? used : most;
    }
    free(lanes);
    return most;
}

static void write_pieces(yajl_gen g, FILE *out, const struct trace_jobs *j, const struct piece *v, size_t n,
                         uint32_t n_lanes, const struct report_column *kinds)
{
    char text[64];
    int64_t named_node = -1;
    for (size_t i = 0, begin = 0; i < n && !ferror(out); i++) {
        int64_t node = (int64_t)(v[i].gpu >> 32), gpu = (int64_t)(v[i].gpu & UINT32_MAX);
        if (node != named_node) {
            snprintf(text, sizeof text, "node %" PRId64, node);
            name_of(g, out, "process_name", node, 0, text);
            named_node = node;
        }
        begin = i > 0 && v[i].gpu == v[i - 1].gpu ? begin : i;
        if (begin == i) { /* name its threads */
            uint32_t last = 0;
            for (size_t k = i; k < n && v[k].gpu == v[i].gpu; k++)
                last = v[k].lane > last ? v[k].lane : last;
            for (uint32_t lane = 0; lane <= last; lane++) {
                if (lane == 0)
                    snprintf(text, sizeof text, "GPU %" PRId64, gpu);
                else
                    snprintf(text, sizeof text, "GPU %" PRId64 ", shared, job %u", gpu, lane + 1);
                name_of(g, out, "thread_name", node, gpu * n_lanes + lane, text);
            }
        }
        slice(g, out, j, v[i].job, text_at(j->ids, j->id_width, v[i].job), report_enum_text(kinds, v[i].kind), node,
              gpu * n_lanes + v[i].lane, v[i].begin_s, v[i].end_s);
    }
}

/* The rows of /segments and /allocs as pieces. */
struct piece_rows {
    int64_t *job, *kind, *of, *node, *first, *count;
    double *begin, *end;
};

static int make_pieces(struct piece **out, size_t *n, const struct piece_rows *r, const struct trace_jobs *j,
                       const struct report_file *f, const struct report_run *run, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_SEGMENTS], alloc_rows = run->tables[RESULTS_ALLOCS];
    size_t room = 0;
    *n = 0;
    for (uint64_t i = 0; i < alloc_rows.count; i++) {
        uint64_t at = (uint64_t)r->of[i] - rows.begin;
        if (at >= rows.count || (uint64_t)r->job[at] >= j->n)
            return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "row %llu of /allocs names a segment of another run",
                            (unsigned long long)(alloc_rows.begin + i));
        room += (uint64_t)r->count[i];
    }
    *out = malloc((room + 1) * sizeof **out);
    if (*out == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t i = 0; i < alloc_rows.count; i++) {
        uint64_t at = (uint64_t)r->of[i] - rows.begin;
        for (int64_t gpu = r->first[i]; gpu < r->first[i] + r->count[i]; gpu++)
            (*out)[(*n)++] = (struct piece){.begin_s = r->begin[at],
                                            .end_s = r->end[at],
                                            .gpu = (uint64_t)r->node[i] << 32 | (uint64_t)gpu,
                                            .job = (uint32_t)r->job[at],
                                            .kind = (uint8_t)r->kind[at]};
    }
    return BRAID_OK;
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
    struct piece_rows r = {0};
    struct piece *pieces = NULL;
    size_t n = 0;
    arena_init(&a);
    const struct report_column *kinds = report_column_need(&segments, "kind", err);
    bool ok = kinds != NULL && (r.job = report_load_i64(&segments, "job", rows, &a, err)) != NULL &&
              (r.kind = report_load_i64(&segments, "kind", rows, &a, err)) != NULL &&
              (r.begin = report_load_f64(&segments, "begin", rows, &a, err)) != NULL &&
              (r.end = report_load_f64(&segments, "end", rows, &a, err)) != NULL &&
              (r.of = report_load_i64(&allocs, "segment", alloc_rows, &a, err)) != NULL &&
              (r.node = report_load_i64(&allocs, "node", alloc_rows, &a, err)) != NULL &&
              (r.first = report_load_i64(&allocs, "gpu_first", alloc_rows, &a, err)) != NULL &&
              (r.count = report_load_i64(&allocs, "gpu_count", alloc_rows, &a, err)) != NULL;
    code = ok ? make_pieces(&pieces, &n, &r, j, f, run, err) : err->code;
    if (code == BRAID_OK) {
        qsort(pieces, n, sizeof *pieces, order_pieces);
        uint32_t n_lanes = lanes_assign(pieces, n);
        if (n_lanes == 0)
            code = error_set(err, BRAID_FAILED, "out of memory");
        else
            write_pieces(g, out, j, pieces, n, n_lanes, kinds);
    }
    free(pieces);
    arena_fini(&a);
    report_table_close(&allocs);
    report_table_close(&segments);
    return code;
}

/* ---- by virtual cluster and job ---------------------------------------------------------------- */

static int write_jobs(yajl_gen g, FILE *out, const struct trace_jobs *j, struct export_notes *notes, struct error *err)
{
    struct names vcs;
    uint64_t n_open = 0;
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
        if (isnan(j->end[i]))
            n_open++;
        else
            slice(g, out, j, i, id, "first start to end", pid, (int64_t)i, j->start[i], j->end[i]);
    }
    names_fini(&vcs);
    snprintf(notes->text[notes->n++], sizeof notes->text[0],
             "segments are not stored, so each job is one slice from its first start to its end, times without GPUs in "
             "it; run again with 'output: {segments: on}' for a slice a stretch and GPU");
    if (n_open > 0)
        snprintf(notes->text[notes->n++], sizeof notes->text[0],
                 "jobs that started but did not end (%" PRIu64 ") have no slice", n_open);
    return code;
}

/* ---- counters ---------------------------------------------------------------------------------- */

enum { COUNTER_PID = 1000000 }; /* below all nodes */

static void counter(yajl_gen g, FILE *out, const char *series, double time_s, double value)
{
    export_json_line(out);
    yajl_gen_map_open(g);
    export_json_key_text(g, "ph", "C");
    export_json_key_text(g, "name", series);
    export_json_key_integer(g, "pid", COUNTER_PID);
    export_json_key_integer(g, "tid", 0);
    key_time(g, "ts", ns_of(time_s));
    export_json_text(g, "args");
    yajl_gen_map_open(g);
    export_json_key_number(g, series, value);
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

/* A counter holds from its moment on. A count at the end of a bin stands there; a mean over a bin stands at the bin's begin, and ends with
 * the last bin. */
struct counters {
    struct names names;
    double *until_s; /* end of the last bin, by name */
    size_t room;
};

static bool counter_put(yajl_gen g, FILE *out, struct counters *c, const char *series, double time_s, double value)
{
    uint32_t before = c->names.count, id = names_add(&c->names, series, strlen(series));
    if (id != NAMES_NONE && id >= c->room) {
        double *more = realloc(c->until_s, (2 * (size_t)id + 16) * sizeof *more);
        if (more == NULL)
            return false;
        c->until_s = more;
        c->room = 2 * (size_t)id + 16;
    }
    if (id == NAMES_NONE)
        return false;
    if (id == before)
        c->until_s[id] = 0; /* series begin at time 0 */
    if (isfinite(value))
        counter(g, out, series, series_is_mean(series) ? c->until_s[id] : time_s, value);
    c->until_s[id] = time_s;
    return true;
}

static void counters_end(yajl_gen g, FILE *out, struct counters *c)
{
    for (uint32_t i = 0; i < c->names.count; i++)
        if (series_is_mean(names_text(&c->names, i)))
            counter(g, out, names_text(&c->names, i), c->until_s[i], 0);
    names_fini(&c->names);
    free(c->until_s);
}

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
    struct counters c = {0};
    names_init(&c.names);
    name_of(g, out, "process_name", COUNTER_PID, 0, "cluster");
    for (uint64_t from = 0; code == BRAID_OK && from < rows.count; from += BLOCK) {
        uint64_t count = rows.count - from < BLOCK ? rows.count - from : BLOCK, at = rows.begin + from;
        if ((code = report_read_f64(&t, time, at, count, times, err)) != BRAID_OK ||
            (code = report_read_f64(&t, value, at, count, values, err)) != BRAID_OK ||
            (code = report_read_text(&t, scope, at, count, scopes, err)) != BRAID_OK ||
            (code = report_read_text(&t, name, at, count, names, err)) != BRAID_OK)
            break;
        for (uint64_t i = 0; code == BRAID_OK && i < count; i++)
            if (strcmp(text_at(scopes, scope->width, i), "cluster") == 0 &&
                !counter_put(g, out, &c, text_at(names, name->width, i), times[i], values[i]))
                code = error_set(err, BRAID_FAILED, "out of memory");
    }
    counters_end(g, out, &c);
    free(times);
    free(values);
    free(scopes);
    free(names);
    report_table_close(&t);
    return code;
}

int export_trace_events(FILE *out, const struct report_file *f, const struct report_run *run,
                        struct export_notes *notes, struct error *err)
{
    notes->n = 0;
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
            code = write_jobs(g, out, &jobs, notes, err);
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
