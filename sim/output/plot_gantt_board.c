#include "output/plot_gantt.h"
#include "output/report_config.h"
#include "output/report_stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order_overheads(const void *a, const void *b)
{
    const struct overhead *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->begin_s < y->begin_s ? -1 : x->begin_s > y->begin_s;
}

int gantt_overheads_load(struct overheads *out, const struct report_file *f, const struct report_run *run,
                         struct arena *keep, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_SEGMENTS];
    struct report_table t;
    *out = (struct overheads){0};
    if (rows.count == 0)
        return BRAID_OK;
    int code = report_table_open(&t, f->file, f->path, "segments", err);
    if (code != BRAID_OK)
        return code;
    int64_t *job = report_load_i64(&t, "job", rows, keep, err);
    int64_t *kind = job == NULL ? NULL : report_load_i64(&t, "kind", rows, keep, err);
    double *begin = kind == NULL ? NULL : report_load_f64(&t, "begin", rows, keep, err);
    double *end = begin == NULL ? NULL : report_load_f64(&t, "end", rows, keep, err);
    out->v = ARENA_NEW(keep, struct overhead, rows.count);
    if (end == NULL)
        code = err->code;
    else if (out->v == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    int64_t overhead = code == BRAID_OK ? report_enum_value(report_column_find(&t, "kind"), "overhead") : -1;
    for (uint64_t i = 0; code == BRAID_OK && i < rows.count; i++)
        if (kind[i] == overhead)
            out->v[out->n++] = (struct overhead){(uint32_t)job[i], begin[i], end[i]};
    if (out->n > 1)
        qsort(out->v, out->n, sizeof *out->v, order_overheads);
    report_table_close(&t);
    return code;
}

uint64_t gantt_overhead_from(const struct overheads *o, uint32_t job, double from_s)
{
    uint64_t low = 0, high = o->n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (o->v[middle].job < job || (o->v[middle].job == job && o->v[middle].end_s <= from_s))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int gantt_jobs_load(struct gantt_jobs *j, const struct report_file *f, const struct report_run *run, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_JOBS];
    struct report_table t;
    int code = report_table_open(&t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *id = report_column_need(&t, "id", err);
    j->n = rows.count;
    j->stride = id == NULL ? 1 : id->width + 1;
    j->ids = ARENA_NEW(&j->arena, char, rows.count * j->stride);
    if (id == NULL)
        code = err->code;
    else if (j->ids == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    else
        code = report_read_text(&t, id, rows.begin, rows.count, j->ids, err);
    bool ok = code == BRAID_OK && (j->submit = report_load_f64(&t, "submit", rows, &j->arena, err)) != NULL &&
              (j->start = report_load_f64(&t, "start", rows, &j->arena, err)) != NULL &&
              (j->end = report_load_f64(&t, "end", rows, &j->arena, err)) != NULL &&
              (j->gpus = report_load_i64(&t, "gpus", rows, &j->arena, err)) != NULL &&
              (j->status = report_load_i64(&t, "status", rows, &j->arena, err)) != NULL;
    if (ok) {
        j->killed = report_enum_value(report_column_find(&t, "status"), "killed");
        j->failed = report_enum_value(report_column_find(&t, "status"), "failed");
    }
    report_table_close(&t);
    return ok ? BRAID_OK : code != BRAID_OK ? code : err->code;
}

const char *gantt_colour(uint64_t job)
{
    static const char *const tints[] = {"#8FC1E3", "#F2B27A", "#8FD3B6", "#E3B5D2",
                                        "#F5D58A", "#B9E0F7", "#C9C9C9", "#D9CF5C"};
    return tints[job % (sizeof tints / sizeof tints[0])];
}

void gantt_box(struct board *b, double from, double to, double bottom, double top, const char *colour, const char *id)
{
    FILE *gp = b->script->gp;
    bool is_thin = to - from < b->window / 400; /* a border would hide it */
    to = fmax(to, from + b->window / 1000);
    fprintf(gp,
            "set object %u rectangle from %.10g,%.10g to %.10g,%.10g fillcolor rgb '%s' fillstyle solid 1 %s linewidth "
            "0.5\n",
            ++b->n, from, bottom, to, top, colour, is_thin ? "noborder" : "border linecolor rgb '#ffffff'");
    if (id == NULL || to - from < b->window / LABEL_SHARE)
        return;
    size_t room = (size_t)((to - from) / b->window * 110);
    char shown[200];
    if (room < 2)
        return;
    plot_text_shorten(shown, sizeof shown, id, room < 36 ? room : 36);
    fprintf(gp, "set label %u ", b->n);
    plot_quote(b->script, shown);
    fprintf(gp, " at %.10g,%.10g center font ',8' textcolor '#222222' front\n", (from + to) / 2, (bottom + top) / 2);
}

void gantt_cross(struct board *b, double at, double y)
{
    fprintf(b->script->gp, "set label %u '×' at %.10g,%.10g center textcolor '#B00020' front\n", ++b->n, at, y);
}

bool gantt_was_cut_short(const struct gantt_jobs *j, uint64_t job)
{
    return job < j->n && (j->status[job] == j->killed || j->status[job] == j->failed);
}

const char *gantt_id(const struct gantt_jobs *j, uint64_t rank)
{
    return rank < j->n ? j->ids + rank * j->stride : "?";
}

int gantt_order_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
