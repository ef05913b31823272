#include "output/report_stretch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---------------------------------------------------------------------------------- */

static int order_stretches(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return x->end_s < y->end_s ? -1 : x->end_s > y->end_s;
}

static bool has_same_gpus(const struct stretches *s, const struct stretch *a, const struct stretches *t,
                          const struct stretch *b)
{
    if (s->spans == NULL || t->spans == NULL)
        return true;
    return a->n_spans == b->n_spans &&
           memcmp(&s->spans[a->first_span], &t->spans[b->first_span], a->n_spans * sizeof *s->spans) == 0;
}

/* /allocs come in order of segment; `first` is the row of /segments of v[0]. */
static int load_spans(struct stretches *out, const struct report_file *f, const struct report_run *run,
                      struct error *err)
{
    struct report_range rows = run->tables[RESULTS_ALLOCS];
    struct report_table t;
    if (rows.count == 0)
        return BRAID_OK;
    int code = report_table_open(&t, f->file, f->path, "allocs", err);
    if (code != BRAID_OK)
        return code;
    struct arena a;
    arena_init(&a);
    int64_t *segment = report_load_i64(&t, "segment", rows, &a, err);
    int64_t *node = segment == NULL ? NULL : report_load_i64(&t, "node", rows, &a, err);
    int64_t *first = node == NULL ? NULL : report_load_i64(&t, "gpu_first", rows, &a, err);
    int64_t *count = first == NULL ? NULL : report_load_i64(&t, "gpu_count", rows, &a, err);
    out->spans = ARENA_NEW(&out->arena, struct stretch_span, rows.count);
    if (count == NULL)
        code = err->code;
    else if (out->spans == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    uint64_t base = run->tables[RESULTS_SEGMENTS].begin;
    for (uint64_t i = 0; code == BRAID_OK && i < rows.count; i++) {
        uint64_t at = (uint64_t)segment[i] - base;
        if (at >= out->n) {
            code = error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "row %llu of /allocs names a segment of another run",
                            (unsigned long long)(rows.begin + i));
            break;
        }
        out->spans[i] = (struct stretch_span){(uint32_t)node[i], (uint32_t)first[i], (uint32_t)count[i]};
        if (out->v[at].n_spans++ == 0)
            out->v[at].first_span = (uint32_t)i;
    }
    arena_fini(&a);
    report_table_close(&t);
    return code;
}

static int load_segments(struct stretches *out, const struct report_file *f, const struct report_run *run,
                         struct error *err)
{
    struct report_range rows = run->tables[RESULTS_SEGMENTS];
    struct report_table t;
    int code = report_table_open(&t, f->file, f->path, "segments", err);
    if (code != BRAID_OK)
        return code;
    struct arena a;
    arena_init(&a);
    int64_t *job = report_load_i64(&t, "job", rows, &a, err);
    double *begin = job == NULL ? NULL : report_load_f64(&t, "begin", rows, &a, err);
    double *end = begin == NULL ? NULL : report_load_f64(&t, "end", rows, &a, err);
    int64_t *kind = end == NULL ? NULL : report_load_i64(&t, "kind", rows, &a, err);
    int64_t *group = kind == NULL ? NULL : report_load_i64(&t, "group", rows, &a, err);
    out->v = ARENA_NEW(&out->arena, struct stretch, rows.count);
    if (group == NULL)
        code = err->code;
    else if (out->v == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    const struct report_column *kinds = report_column_find(&t, "kind");
    int64_t queued = kinds == NULL ? -1 : report_enum_value(kinds, "queued");
    out->n = rows.count;
    for (uint64_t i = 0; code == BRAID_OK && i < rows.count; i++) {
        if (report_run_has(run, RESULTS_JOBS) && (uint64_t)job[i] >= run->tables[RESULTS_JOBS].count) {
            code = error_at(
                err, BRAID_BAD_INPUT, f->path, 0, 0,
                "table /segments, column 'job': row %llu names job %lld, which the run does not have; the file "
                "is damaged or was changed: run the experiment again",
                (unsigned long long)(rows.begin + i), (long long)job[i]);
            break;
        }
        out->v[i] =
            (struct stretch){.job = (uint32_t)job[i], .begin_s = begin[i], .end_s = end[i], .is_shared = group[i] >= 0};
        if (kind[i] == queued)
            out->v[i].job = UINT32_MAX; /* holds nothing: dropped below */
    }
    arena_fini(&a);
    report_table_close(&t);
    return code;
}

/* Sort, drop waiting, join what follows on the same GPUs, and index by job. */
static int arrange(struct stretches *s, struct error *err)
{
    qsort(s->v, s->n, sizeof *s->v, order_stretches);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < s->n && s->v[i].job != UINT32_MAX; i++) {
        struct stretch *last = kept > 0 ? &s->v[kept - 1] : NULL;
        if (last != NULL && last->job == s->v[i].job && last->end_s == s->v[i].begin_s &&
            has_same_gpus(s, last, s, &s->v[i])) {
            last->end_s = s->v[i].end_s;
            last->is_shared = last->is_shared || s->v[i].is_shared;
        } else
            s->v[kept++] = s->v[i];
    }
    s->n = kept;
    s->n_jobs = kept > 0 ? (uint64_t)s->v[kept - 1].job + 1 : 0;
    s->at = ARENA_NEW(&s->arena, uint64_t, s->n_jobs + 1);
    if (s->at == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    uint64_t at = 0;
    for (uint64_t j = 0; j <= s->n_jobs; j++) {
        while (at < kept && s->v[at].job < j)
            at++;
        s->at[j] = at;
    }
    return BRAID_OK;
}

int stretches_load(struct stretches *out, const struct report_file *f, const struct report_run *run, struct error *err)
{
    *out = (struct stretches){0};
    arena_init(&out->arena);
    if (!report_run_has(run, RESULTS_SEGMENTS))
        return BRAID_OK;
    int code = load_segments(out, f, run, err);
    if (code == BRAID_OK)
        code = load_spans(out, f, run, err);
    if (code == BRAID_OK)
        code = arrange(out, err);
    if (code != BRAID_OK)
        stretches_fini(out);
    return code;
}

void stretches_fini(struct stretches *s)
{
    arena_fini(&s->arena);
    *s = (struct stretches){0};
}

/* ---- comparing -------------------------------------------------------------------------------- */

int stretch_diff_init(struct stretch_diff *d, const struct report_file *fa, const struct report_run *ra,
                      const struct report_file *fb, const struct report_run *rb, struct error *err)
{
    *d = (struct stretch_diff){.files = {fa, fb}, .runs = {ra, rb}};
    d->is_on = report_run_has(ra, RESULTS_SEGMENTS) && report_run_has(rb, RESULTS_SEGMENTS);
    int code = BRAID_OK;
    for (int i = 0; code == BRAID_OK && d->is_on && i < 2; i++)
        code = stretches_load(&d->sides[i], d->files[i], d->runs[i], err);
    if (code != BRAID_OK)
        stretch_diff_fini(d);
    return code;
}

void stretch_diff_fini(struct stretch_diff *d)
{
    stretches_fini(&d->sides[0]);
    stretches_fini(&d->sides[1]);
}

void stretch_reset(struct stretch_diff *d)
{
    d->n_other_stretches = d->n_other_gpus = 0;
}

/* The stretches of a job: count, and the first. */
static uint64_t of_job(const struct stretches *s, uint64_t rank, const struct stretch **out)
{
    if (rank >= s->n_jobs)
        return 0;
    *out = s->v + s->at[rank];
    return s->at[rank + 1] - s->at[rank];
}

double stretch_compare(struct stretch_diff *d, const uint64_t rank[2], bool is_counted)
{
    if (!d->is_on)
        return NAN;
    const struct stretch *v[2] = {NULL, NULL};
    uint64_t n[2];
    for (int i = 0; i < 2; i++)
        n[i] = of_job(&d->sides[i], rank[i], &v[i]);
    uint64_t both = n[0] < n[1] ? n[0] : n[1];
    for (uint64_t k = 0; k < both; k++) {
        const struct stretch *a = &v[0][k], *b = &v[1][k];
        double at = NAN;
        bool is_place = false;
        if (a->begin_s != b->begin_s)
            at = fmin(a->begin_s, b->begin_s);
        else if ((is_place = !has_same_gpus(&d->sides[0], a, &d->sides[1], b)))
            at = a->begin_s;
        else if (a->end_s != b->end_s)
            at = fmin(a->end_s, b->end_s);
        if (isnan(at))
            continue;
        if (!is_counted && is_place)
            d->n_other_gpus++;
        else if (!is_counted)
            d->n_other_stretches++;
        return at;
    }
    if (n[0] == n[1])
        return NAN;
    if (!is_counted)
        d->n_other_stretches++;
    return n[0] > both ? v[0][both].begin_s : v[1][both].begin_s;
}

/* ---- explaining ------------------------------------------------------------------------------- */

/* "node 0 GPUs 0-3, node 1 GPU 0", as much as fits. */
static void say_gpus(char *out, size_t size, const struct stretches *s, const struct stretch *stretch)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; s->spans != NULL && i < stretch->n_spans; i++) {
        const struct stretch_span *p = &s->spans[stretch->first_span + i];
        char text[80];
        if (p->gpu_count == 1)
            snprintf(text, sizeof text, "%snode %u GPU %u", i > 0 ? ", " : " on ", p->node, p->gpu_first);
        else
            snprintf(text, sizeof text, "%snode %u GPUs %u-%u", i > 0 ? ", " : " on ", p->node, p->gpu_first,
                     p->gpu_first + p->gpu_count - 1);
        if (used + strlen(text) + 5 > size) {
            snprintf(out + used, size - used, ", …");
            return;
        }
        strcpy(out + used, text);
        used += strlen(text);
    }
}

/* What a side does with the job at the moment of parting; stays as it is when the stretches say nothing new. */
static void explain_side(const struct stretch_diff *d, struct diff_parting *p, int i)
{
    const struct stretch *v = NULL;
    uint64_t n = of_job(&d->sides[i], p->rank[i], &v);
    char gpus[100], *out = p->did[i];
    size_t size = sizeof p->did[i];
    for (uint64_t k = 0; k < n; k++) {
        say_gpus(gpus, sizeof gpus, &d->sides[i], &v[k]);
        bool is_last = k + 1 == n;
        if (v[k].begin_s == p->at_s)
            snprintf(out, size, "%s it%s",
                     k == 0                                    ? "starts"
                     : k > 0 && v[k - 1].end_s == v[k].begin_s ? "moves"
                                                               : "resumes",
                     gpus);
        else if (v[k].end_s == p->at_s && !is_last)
            snprintf(out, size, "takes its GPUs; it goes on at %.15g s", v[k + 1].begin_s);
        else if (v[k].begin_s < p->at_s && v[k].end_s > p->at_s)
            snprintf(out, size, "lets it run%s until %.15g s", gpus, v[k].end_s);
        else if (v[k].begin_s > p->at_s && (k == 0 || v[k - 1].end_s < p->at_s))
            snprintf(out, size, "keeps it queued until %.15g s", v[k].begin_s);
        else
            continue;
        return;
    }
}

/* The reason that the decision log gives for what happened to the job at that moment. */
static int find_why(const struct report_file *f, const struct report_run *run, double at_s, uint64_t rank, char *out,
                    size_t size, struct error *err)
{
    enum { BLOCK = 65536 };
    struct report_range rows = run->tables[RESULTS_EVENTS];
    struct report_table t;
    out[0] = '\0';
    if (rows.count == 0)
        return BRAID_OK;
    int code = report_table_open(&t, f->file, f->path, "events", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *time = report_column_need(&t, "time", err), *job = report_column_need(&t, "job", err),
                               *why = report_column_need(&t, "why", err);
    uint64_t block = rows.count < BLOCK ? rows.count : BLOCK;
    double *times = malloc(block * sizeof *times);
    int64_t *jobs = malloc(block * sizeof *jobs);
    char *text = why == NULL ? NULL : malloc(why->width + 1);
    if (time == NULL || job == NULL || why == NULL)
        code = err->code;
    else if (times == NULL || jobs == NULL || text == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t from = 0; code == BRAID_OK && from < rows.count; from += block) {
        uint64_t count = rows.count - from < block ? rows.count - from : block;
        code = report_read_f64(&t, time, rows.begin + from, count, times, err);
        if (code == BRAID_OK)
            code = report_read_i64(&t, job, rows.begin + from, count, jobs, err);
        for (uint64_t i = 0; code == BRAID_OK && i < count && times[i] <= at_s; i++) {
            if (times[i] != at_s || jobs[i] != (int64_t)rank)
                continue;
            code = report_read_text(&t, why, rows.begin + from + i, 1, text, err);
            if (code == BRAID_OK && text[0] != '\0')
                snprintf(out, size, "%s", text);
        }
        if (count > 0 && times[count - 1] > at_s)
            break;
    }
    free(times);
    free(jobs);
    free(text);
    report_table_close(&t);
    return code;
}

int stretch_explain(struct stretch_diff *d, struct diff_parting *p, struct error *err)
{
    int code = BRAID_OK;
    for (int i = 0; code == BRAID_OK && i < 2; i++) {
        if (d->is_on)
            explain_side(d, p, i);
        code = find_why(d->files[i], d->runs[i], p->at_s, p->rank[i], p->why[i], sizeof p->why[i], err);
    }
    return code;
}
