#include "output/report_diff.h"

#include "output/report_stretch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_column_names[DIFF_COLUMNS] = {"status",   "start", "end",         "queued", "run_time",
                                                     "overhead", "lost",  "preemptions", "moves",  "restarts"};
enum { STATUS, START, END, FIRST_LENGTH /* what follows are lengths of time and counts */ };
enum { BLOCK = 65536 };

/* A window on one run's jobs: rows [from, from + count) of the run. */
struct side {
    const struct report_file *file;
    const struct report_run *run;
    struct report_table t;
    const struct report_column *id, *status;
    uint64_t n, from, count;
    char *ids;
    double *values[DIFF_COLUMNS]; /* status as its code */
    double *submit, *gpus;
    uint64_t *order; /* by id, then rank; NULL while both runs have their jobs in the same order */
};

static const char *id_at(const struct side *s, uint64_t row)
{
    return s->ids + (row - s->from) * (s->id->width + 1);
}

static void side_close(struct side *s)
{
    free(s->ids);
    for (int i = 0; i < DIFF_COLUMNS; i++)
        free(s->values[i]);
    free(s->submit);
    free(s->gpus);
    free(s->order);
    report_table_close(&s->t);
}

static int side_open(struct side *s, const struct report_file *f, const struct report_run *run, struct error *err)
{
    *s = (struct side){.file = f, .run = run, .n = run->tables[RESULTS_JOBS].count};
    if (s->n == 0)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                        "run %s has no rows in /jobs; run again with 'output: {jobs: true}'", run->id);
    int code = report_table_open(&s->t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK)
        return code;
    s->id = report_column_need(&s->t, "id", err);
    s->status = s->id == NULL ? NULL : report_column_need(&s->t, "status", err);
    if (s->status == NULL)
        code = err->code;
    if (code != BRAID_OK)
        report_table_close(&s->t);
    return code;
}

/* Memory for a window of `count` rows. */
static int side_alloc(struct side *s, uint64_t count, struct error *err)
{
    bool ok = (s->ids = malloc(count * (s->id->width + 1))) != NULL;
    for (int i = 0; i < DIFF_COLUMNS; i++)
        ok = (s->values[i] = malloc(count * sizeof(double))) != NULL && ok;
    ok = (s->submit = malloc(count * sizeof(double))) != NULL && ok;
    ok = (s->gpus = malloc(count * sizeof(double))) != NULL && ok;
    return ok ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory for %llu jobs", (unsigned long long)count);
}

static int read_column(const struct side *s, const char *name, double *out, struct error *err)
{
    const struct report_column *c = report_column_need(&s->t, name, err);
    if (c == NULL)
        return err->code;
    return report_read_f64(&s->t, c, s->run->tables[RESULTS_JOBS].begin + s->from, s->count, out, err);
}

static int side_read(struct side *s, uint64_t from, uint64_t count, struct error *err)
{
    s->from = from;
    s->count = count;
    int code = report_read_text(&s->t, s->id, s->run->tables[RESULTS_JOBS].begin + from, count, s->ids, err);
    for (int i = 0; code == BRAID_OK && i < DIFF_COLUMNS; i++)
        code = read_column(s, diff_column_names[i], s->values[i], err);
    if (code == BRAID_OK)
        code = read_column(s, "submit", s->submit, err);
    if (code == BRAID_OK)
        code = read_column(s, "gpus", s->gpus, err);
    return code;
}

/* ---- one pair of jobs ------------------------------------------------------------------------- */

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void describe(struct diff_job *out, const struct side s[2], const uint64_t row[2], uint64_t occurrence)
{
    *out = (struct diff_job){.occurrence = occurrence};
    snprintf(out->id, sizeof out->id, "%s", id_at(&s[0], row[0]));
    out->gpus = (uint32_t)s[0].gpus[row[0] - s[0].from];
    out->submit_s = s[0].submit[row[0] - s[0].from];
    for (int i = 0; i < 2; i++) {
        uint64_t at = row[i] - s[i].from;
        out->start_s[i] = s[i].values[START][at];
        out->end_s[i] = s[i].values[END][at];
        out->status[i] = report_enum_text(s[i].status, (int64_t)s[i].values[STATUS][at]);
    }
}

static double size_of(double a, double b)
{
    return is_same(a, b) ? 0 : isnan(a) || isnan(b) ? INFINITY : fabs(a - b);
}

static bool is_larger(const struct diff_job *a, const struct diff_job *b)
{
    double ea = size_of(a->end_s[0], a->end_s[1]), eb = size_of(b->end_s[0], b->end_s[1]);
    if (ea != eb)
        return ea > eb;
    return size_of(a->start_s[0], a->start_s[1]) > size_of(b->start_s[0], b->start_s[1]);
}

/* Keep the largest few in order; equal ones stay in order of rank. */
static void keep_largest(struct diff *d, const struct diff_job *job)
{
    uint32_t at = d->n_largest;
    while (at > 0 && is_larger(job, &d->largest[at - 1]))
        at--;
    if (at == DIFF_LARGEST)
        return;
    uint32_t last = d->n_largest < DIFF_LARGEST ? d->n_largest++ : DIFF_LARGEST - 1;
    memmove(&d->largest[at + 1], &d->largest[at], (last - at) * sizeof *job);
    d->largest[at] = *job;
}

/* The earlier of two moments, of which one may be missing. */
static double earlier(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmin(a, b);
}

/* What one run does with a job at `at`, as far as /jobs tells. */
static void say_what(char *out, size_t size, const struct diff_job *job, int side, double at)
{
    double start = job->start_s[side], end = job->end_s[side];
    bool has_ended = strcmp(job->status[side], "unfinished") != 0 && strcmp(job->status[side], "not_submitted") != 0;
    if (strcmp(job->status[side], "rejected") == 0)
        snprintf(out, size, "rejects it at %.15g s", end);
    else if (isnan(start))
        snprintf(out, size, "never starts it");
    else if (start >= at)
        snprintf(out, size, "%s at %.15g s", start == at ? "starts it" : "keeps it queued and starts it", start);
    else if (has_ended && !isnan(end))
        snprintf(out, size, "%s at %.15g s (%s)", end == at ? "ends it" : "has it end", end, job->status[side]);
    else
        snprintf(out, size, "has not finished it when the run ends");
}

static void consider_parting(struct diff *d, const struct diff_job *job, const uint64_t row[2], double at)
{
    struct diff_parting *p = &d->parting;
    if (isnan(at) || (p->is_there && (p->at_s < at || (p->at_s == at && p->rank[0] <= row[0]))))
        return;
    *p = (struct diff_parting){.is_there = true, .at_s = at, .rank = {row[0], row[1]}, .job = *job};
    for (int i = 0; i < 2; i++)
        say_what(p->did[i], sizeof p->did[i], job, i, at);
}

static void add_means(struct diff *d, const struct side s[2], const uint64_t row[2])
{
    for (int i = 0; i < 2; i++)
        if ((int64_t)s[i].values[STATUS][row[i] - s[i].from] != report_enum_value(s[i].status, "finished"))
            return;
    d->n_finished++;
    for (int c = FIRST_LENGTH; c < DIFF_COLUMNS; c++)
        for (int i = 0; i < 2; i++)
            d->columns[c].sum[i] += s[i].values[c][row[i] - s[i].from];
}

double diff_mean(const struct diff *d, int column, int side)
{
    return column < FIRST_LENGTH || d->n_finished == 0 ? NAN : d->columns[column].sum[side] / (double)d->n_finished;
}

static bool compare_pair(struct diff *d, const struct side s[2], const uint64_t row[2], uint64_t occurrence)
{
    bool differs = false;
    add_means(d, s, row);
    for (int c = 0; c < DIFF_COLUMNS; c++) {
        double a = s[0].values[c][row[0] - s[0].from], b = s[1].values[c][row[1] - s[1].from];
        bool is_same_value = c == STATUS ? strcmp(report_enum_text(s[0].status, (int64_t)a),
                                                  report_enum_text(s[1].status, (int64_t)b)) == 0
                                         : is_same(a, b);
        if (is_same_value)
            continue;
        differs = true;
        struct diff_column *column = &d->columns[c];
        double size = c == STATUS ? 0 : fabs(a - b);
        if (column->n++ == 0 || isnan(column->largest) || size > column->largest) {
            if (column->job[0] == '\0' || !isnan(size)) {
                column->largest = size;
                snprintf(column->job, sizeof column->job, "%s", id_at(&s[0], row[0]));
            }
        }
    }
    if (!differs)
        return false;
    d->n_different++;
    struct diff_job job;
    describe(&job, s, row, occurrence);
    keep_largest(d, &job);
    double at = NAN;
    if (!is_same(job.start_s[0], job.start_s[1]))
        at = earlier(job.start_s[0], job.start_s[1]);
    if (strcmp(job.status[0], job.status[1]) != 0 || !is_same(job.end_s[0], job.end_s[1]))
        at = earlier(at, earlier(job.end_s[0], job.end_s[1]));
    consider_parting(d, &job, row, at);
    return true;
}

/* ---- pairing all jobs ------------------------------------------------------------------------- */

/* Both runs list the same ids in the same order: the usual case, read by blocks. */
static int compare_in_order(struct diff *d, struct side s[2], bool *is_in_order, struct stretch_diff *stretches,
                            struct error *err)
{
    uint64_t block = s[0].n < BLOCK ? s[0].n : BLOCK;
    int code = side_alloc(&s[0], block, err);
    if (code == BRAID_OK)
        code = side_alloc(&s[1], block, err);
    *is_in_order = true;
    for (uint64_t from = 0; code == BRAID_OK && from < s[0].n; from += block) {
        uint64_t count = s[0].n - from < block ? s[0].n - from : block;
        code = side_read(&s[0], from, count, err);
        if (code == BRAID_OK)
            code = side_read(&s[1], from, count, err);
        for (uint64_t i = from; code == BRAID_OK && i < from + count; i++) {
            uint64_t row[2] = {i, i};
            if (strcmp(id_at(&s[0], i), id_at(&s[1], i)) != 0) {
                *is_in_order = false;
                return BRAID_OK;
            }
            d->n_paired++;
            bool differs = compare_pair(d, s, row, 0);
            struct diff_job job;
            double at = stretch_compare(stretches, row, differs);
            if (!isnan(at)) {
                describe(&job, s, row, 0);
                consider_parting(d, &job, row, at);
            }
        }
    }
    return code;
}

static int order_by_id(const void *a, const void *b, void *data)
{
    const struct side *s = data;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    int order = strcmp(id_at(s, x), id_at(s, y));
    return order != 0 ? order : x < y ? -1 : x > y;
}

static int load_sorted(struct side *s, struct error *err)
{
    free(s->ids);
    for (int i = 0; i < DIFF_COLUMNS; i++)
        free(s->values[i]);
    free(s->submit);
    free(s->gpus);
    int code = side_alloc(s, s->n, err);
    if (code == BRAID_OK)
        code = side_read(s, 0, s->n, err);
    s->order = malloc(s->n * sizeof *s->order);
    if (code == BRAID_OK && s->order == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory for %llu jobs", (unsigned long long)s->n);
    if (code != BRAID_OK)
        return code;
    for (uint64_t i = 0; i < s->n; i++)
        s->order[i] = i;
    qsort_r(s->order, s->n, sizeof *s->order, order_by_id, s);
    return BRAID_OK;
}

/* Merge the two sorted lists; within an id, the n-th meets the n-th. */
static int compare_by_id(struct diff *d, struct side s[2], struct stretch_diff *stretches, struct error *err)
{
    int code = load_sorted(&s[0], err);
    if (code == BRAID_OK)
        code = load_sorted(&s[1], err);
    uint64_t a = 0, b = 0, occurrence = 0;
    const char *before = NULL;
    while (code == BRAID_OK && (a < s[0].n || b < s[1].n)) {
        int order = a == s[0].n   ? 1
                    : b == s[1].n ? -1
                                  : strcmp(id_at(&s[0], s[0].order[a]), id_at(&s[1], s[1].order[b]));
        if (order != 0) {
            d->n_only[order < 0 ? 0 : 1]++;
            *(order < 0 ? &a : &b) += 1;
            continue;
        }
        uint64_t row[2] = {s[0].order[a++], s[1].order[b++]};
        const char *id = id_at(&s[0], row[0]);
        occurrence = before != NULL && strcmp(before, id) == 0 ? occurrence + 1 : 1;
        before = id;
        d->n_paired++;
        bool differs = compare_pair(d, s, row, occurrence > 1 ? occurrence : 0);
        double at = stretch_compare(stretches, row, differs);
        if (!isnan(at)) {
            struct diff_job job;
            describe(&job, s, row, occurrence > 1 ? occurrence : 0);
            consider_parting(d, &job, row, at);
        }
    }
    return code;
}

static int compare_jobs(struct diff *d, struct side s[2], struct stretch_diff *stretches, struct error *err)
{
    bool is_in_order = false;
    int code = BRAID_OK;
    if (s[0].n == s[1].n)
        code = compare_in_order(d, s, &is_in_order, stretches, err);
    if (code != BRAID_OK || is_in_order)
        return code;
    struct diff fresh = {.n_jobs = {s[0].n, s[1].n}, .has_segments = d->has_segments, .arena = d->arena};
    *d = fresh;
    stretch_reset(stretches);
    return compare_by_id(d, s, stretches, err);
}

int diff_runs(struct diff *out, const struct report_file *fa, const struct report_run *ra, const struct report_file *fb,
              const struct report_run *rb, struct error *err)
{
    struct side s[2];
    struct stretch_diff stretches;
    *out = (struct diff){0};
    arena_init(&out->arena);
    int code = side_open(&s[0], fa, ra, err);
    if (code != BRAID_OK)
        return code;
    code = side_open(&s[1], fb, rb, err);
    if (code != BRAID_OK) {
        side_close(&s[0]);
        return code;
    }
    out->n_jobs[0] = s[0].n;
    out->n_jobs[1] = s[1].n;
    code = stretch_diff_init(&stretches, fa, ra, fb, rb, err);
    if (code == BRAID_OK) {
        out->has_segments = stretches.is_on;
        code = compare_jobs(out, s, &stretches, err);
        out->n_other_stretches = stretches.n_other_stretches;
        out->n_other_gpus = stretches.n_other_gpus;
        if (code == BRAID_OK && out->parting.is_there)
            code = stretch_explain(&stretches, &out->parting, err);
        stretch_diff_fini(&stretches);
    }
    /* Texts of an enum live in the tables. */
    for (uint32_t i = 0; code == BRAID_OK && i <= out->n_largest; i++) {
        struct diff_job *job = i < out->n_largest ? &out->largest[i] : &out->parting.job;
        for (int k = 0; k < 2; k++) {
            const char *text = job->status[k] != NULL ? job->status[k] : "";
            job->status[k] = arena_text(&out->arena, text, strlen(text));
            if (job->status[k] == NULL)
                code = error_set(err, BRAID_FAILED, "out of memory");
        }
    }
    side_close(&s[0]);
    side_close(&s[1]);
    if (code != BRAID_OK)
        diff_fini(out);
    return code;
}

void diff_fini(struct diff *d)
{
    arena_fini(&d->arena);
    *d = (struct diff){0};
}

bool diff_is_equal(const struct diff *d)
{
    return d->n_different == 0 && d->n_only[0] == 0 && d->n_only[1] == 0 && d->n_other_stretches == 0 &&
           d->n_other_gpus == 0;
}

/* ---- pairing runs ----------------------------------------------------------------------------- */

static bool has_same_values(const struct report_file *f, const struct report_run *run, const struct report_file *g,
                            const struct report_run *other)
{
    if (strcmp(run->label, other->label) != 0 || run->seed != other->seed)
        return false;
    for (uint32_t k = 0; k < f->n_swept; k++)
        if (strcmp(f->swept_keys[k], "policy") != 0 &&
            strcmp(run->swept[k], report_run_swept(g, other, f->swept_keys[k])) != 0)
            return false;
    for (uint32_t k = 0; k < g->n_swept; k++)
        if (strcmp(g->swept_keys[k], "policy") != 0 &&
            strcmp(other->swept[k], report_run_swept(f, run, g->swept_keys[k])) != 0)
            return false;
    return true;
}

const struct report_run *diff_partner(const struct report_file *f, const struct report_run *run,
                                      const struct report_file *other)
{
    for (uint32_t i = 0; i < other->n_runs; i++)
        if (strcmp(other->runs[i].id, run->id) == 0)
            return &other->runs[i];
    const struct report_run *found = NULL;
    for (uint32_t i = 0; i < other->n_runs; i++)
        if (has_same_values(f, run, other, &other->runs[i])) {
            if (found != NULL)
                return NULL;
            found = &other->runs[i];
        }
    return found == NULL && f->n_runs == 1 && other->n_runs == 1 ? &other->runs[0] : found;
}
