#include "output/export_batsim.h"

#include "output/export_number.h"
#include "output/export_table.h"
#include "output/report_config.h"
#include "output/report_stretch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8192 };

static const char header[] =
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
    "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
    "allocated_resources,consumed_energy,metadata\n";

/* Closed interval of GPU numbers. */
struct gpu_interval {
    uint64_t first, last;
};

enum number { JOB, GPUS, SUBMIT, START, END, QUEUED, RUN_TIME, PREEMPTIONS, MOVES, N_NUMBERS };
static const char *const number_names[N_NUMBERS] = {"job",    "gpus",     "submit",      "start", "end",
                                                    "queued", "run_time", "preemptions", "moves"};
enum text { ID, VC, USER, REASON, N_TEXTS };
static const char *const text_names[N_TEXTS] = {"id", "vc", "user", "reason"};

struct batsim {
    FILE *out;
    const char *workload;
    const struct stretches *stretches;
    struct node_bases bases;
    const struct report_column *numbers[N_NUMBERS], *texts[N_TEXTS], *status;
    double *values[N_NUMBERS];
    char *strings[N_TEXTS];
    int64_t *statuses;
    struct gpu_interval *intervals; /* scratch: as many as a stretch has spans */
    size_t n_intervals, room;
    uint64_t n_split, n_more_rows, n_shared; /* jobs of several rows, rows beyond one a job, jobs that shared GPUs */
    uint64_t n_never;                        /* left out: not yet submitted when the run was stopped */
};

static int order_intervals(const void *a, const void *b)
{
    const struct gpu_interval *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The canonical form: ascending, disjoint, neighbours merged: "0-3 8 10-11". */
static void print_intervals(FILE *out, struct gpu_interval *v, size_t n)
{
    qsort(v, n, sizeof *v, order_intervals);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && v[i].first <= v[kept - 1].last + 1)
            v[kept - 1].last = v[i].last > v[kept - 1].last ? v[i].last : v[kept - 1].last;
        else
            v[kept++] = v[i];
    }
    for (size_t i = 0; i < kept; i++) {
        fprintf(out, "%s%" PRIu64, i > 0 ? " " : "", v[i].first);
        if (v[i].last > v[i].first)
            fprintf(out, "-%" PRIu64, v[i].last);
    }
}

static bool gather_intervals(struct batsim *b, const struct stretch *stretch)
{
    b->n_intervals = 0;
    if (stretch == NULL || stretch->n_spans == 0)
        return true;
    if (stretch->n_spans > b->room) {
        struct gpu_interval *more = realloc(b->intervals, stretch->n_spans * sizeof *more);
        if (more == NULL)
            return false;
        b->intervals = more;
        b->room = stretch->n_spans;
    }
    for (uint32_t i = 0; i < stretch->n_spans; i++) {
        const struct stretch_span *span = &b->stretches->spans[stretch->first_span + i];
        uint64_t first = node_base(&b->bases, span->node) + span->gpu_first;
        b->intervals[b->n_intervals++] = (struct gpu_interval){first, first + span->gpu_count - 1};
    }
    return true;
}

static const char *final_state(const char *status, bool has_started, bool is_at_limit)
{
    static const struct {
        const char *status, *state;
    } states[] = {{"finished", "COMPLETED_SUCCESSFULLY"},
                  {"failed", "COMPLETED_FAILED"},
                  {"killed", "COMPLETED_KILLED"},
                  {"rejected", "REJECTED"}};
    if (is_at_limit)
        return "COMPLETED_WALLTIME_REACHED";
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(states[i].status, status) == 0)
            return states[i].state;
    return has_started ? "RUNNING" : "SUBMITTED";
}

static void put(FILE *out, double value)
{
    fputc(',', out);
    export_csv_number(out, value);
}

/* Times are whole nanoseconds in the simulation; so are their differences. */
static double between(double later, double earlier)
{
    return rint((later - earlier) * 1e9) / 1e9;
}

static const char *text_of(const struct batsim *b, enum text t, uint64_t i)
{
    return b->strings[t] + i * (b->texts[t]->width + 1);
}

/* One row: a job, or one of its stretches. */
struct batsim_row {
    uint64_t job;         /* in the block */
    uint64_t part, parts; /* from 0; 1 part: the whole job */
    double submit, start, end;
    const char *state;
    bool is_success, is_shared;
    const struct stretch *stretch; /* NULL: it never held GPUs */
};

/* "id", or "id#2" for the second stretch of a job. */
static bool print_row_id(struct batsim *b, const struct batsim_row *r)
{
    const char *id = text_of(b, ID, r->job);
    char *name;
    if (r->parts == 1) {
        export_csv_text(b->out, id);
        return true;
    }
    if (asprintf(&name, "%s#%" PRIu64, id, r->part + 1) < 0)
        return false;
    export_csv_text(b->out, name);
    free(name);
    return true;
}

static bool print_row(struct batsim *b, const struct batsim_row *r, double requested_s)
{
    uint64_t i = r->job;
    double execution = between(r->end, r->start), turnaround = between(r->end, r->submit);
    if (!print_row_id(b, r))
        return false;
    fputc(',', b->out);
    export_csv_text(b->out, b->workload);
    fputc(',', b->out);
    export_csv_text(b->out, text_of(b, ID, i));
    put(b->out, r->submit);
    put(b->out, b->values[GPUS][i]);
    put(b->out, requested_s);
    fprintf(b->out, ",%d,%s", r->is_success, r->state);
    put(b->out, r->start);
    put(b->out, execution);
    put(b->out, r->end);
    put(b->out, between(r->start, r->submit));
    put(b->out, turnaround);
    put(b->out, execution == 0 ? INFINITY : turnaround / execution);
    fputc(',', b->out);
    if (!gather_intervals(b, r->stretch))
        return false;
    print_intervals(b->out, b->intervals, b->n_intervals);
    char metadata[1100];
    int n = snprintf(metadata, sizeof metadata, "vc:%.400s user:%.400s preemptions:%.0f moves:%.0f", text_of(b, VC, i),
                     text_of(b, USER, i), b->values[PREEMPTIONS][i], b->values[MOVES][i]);
    if (r->parts > 1)
        n += snprintf(metadata + n, sizeof metadata - (size_t)n, " part:%" PRIu64 "/%" PRIu64, r->part + 1, r->parts);
    if (r->is_shared)
        snprintf(metadata + n, sizeof metadata - (size_t)n, " shared:1");
    fputs(",-1,", b->out);
    export_csv_text(b->out, metadata);
    fputc('\n', b->out);
    return true;
}

/* Does an unfinished job wait at the end of the run, after it lost its GPUs? Then its waiting is more than the gaps before its stretches. */
static bool waits_at_end(const struct batsim *b, uint64_t i, const struct stretch *v, uint64_t n)
{
    double waited = 0, since = b->values[SUBMIT][i];
    for (uint64_t k = 0; k < n; k++) {
        waited += v[k].begin_s - since;
        since = v[k].end_s;
    }
    return n > 0 && b->values[QUEUED][i] > waited + 1e-6;
}

/* A row a stretch: each begins where the one before it ended, so that the waiting times of a job's rows add up to all its waiting. */
static bool print_job(struct batsim *b, uint64_t i)
{
    const char *status = report_enum_text(b->status, b->statuses[i]);
    const struct stretches *s = b->stretches;
    uint64_t rank = (uint64_t)b->values[JOB][i], n = rank < s->n_jobs ? s->at[rank + 1] - s->at[rank] : 0;
    const struct stretch *v = n > 0 ? &s->v[s->at[rank]] : NULL;
    if (strcmp(text_of(b, REASON, i), "not_submitted") == 0) {
        b->n_never++;
        return true;
    }
    bool is_rejected = strcmp(status, "rejected") == 0, is_unfinished = strcmp(status, "unfinished") == 0;
    bool is_at_limit = strcmp(status, "killed") == 0 && strcmp(text_of(b, REASON, i), "estimate_exceeded") == 0;
    bool is_shared = false;
    for (uint64_t k = 0; k < n; k++)
        is_shared = is_shared || v[k].is_shared;
    struct batsim_row r = {.job = i, .parts = n > 1 ? n : 1, .submit = b->values[SUBMIT][i]};
    if (is_unfinished && waits_at_end(b, i, v, n))
        r.parts = n + 1;
    b->n_shared += is_shared;
    b->n_split += r.parts > 1;
    b->n_more_rows += r.parts - 1;
    for (r.part = 0; r.part < r.parts; r.part++) {
        bool is_last = r.part + 1 == r.parts;
        r.stretch = r.part < n ? &v[r.part] : NULL;
        if (r.parts == 1)
            r.start = is_rejected ? NAN : b->values[START][i];
        else
            r.start = r.stretch != NULL ? r.stretch->begin_s : NAN;
        if (!is_last)
            r.end = r.stretch->end_s;
        else
            r.end = is_rejected || is_unfinished ? NAN : b->values[END][i];
        r.state = is_last ? final_state(status, !isnan(r.start), is_at_limit) : "COMPLETED_KILLED";
        r.is_success = is_last && strcmp(status, "finished") == 0;
        r.is_shared = r.stretch != NULL && r.stretch->is_shared;
        if (!print_row(b, &r, is_at_limit ? b->values[RUN_TIME][i] : -1))
            return false;
        r.submit = r.end;
    }
    return true;
}

static void tell(const struct batsim *b, struct export_notes *notes)
{
    notes->n = 0;
    if (b->n_split > 0)
        snprintf(notes->text[notes->n++], sizeof notes->text[0],
                 "the format has no preemption: jobs that were preempted or moved (%" PRIu64
                 ") have a row for each time they held GPUs, ID#1, ID#2, ... (%" PRIu64
                 " rows more than jobs); all but the last are COMPLETED_KILLED",
                 b->n_split, b->n_more_rows);
    if (b->n_never > 0)
        snprintf(notes->text[notes->n++], sizeof notes->text[0],
                 "jobs that were not yet submitted when the run was stopped (%" PRIu64 ") are left out", b->n_never);
    if (b->n_shared > 0)
        snprintf(notes->text[notes->n++], sizeof notes->text[0],
                 "the format has no sharing: rows of jobs that shared their GPUs (%" PRIu64
                 " jobs; 'shared:1' in the metadata) overlap and add up to more than the cluster has",
                 b->n_shared);
}

static int open_columns(struct batsim *b, const struct report_table *t, struct error *err)
{
    bool ok = true;
    b->status = report_column_need(t, "status", err);
    if (b->status == NULL)
        return err->code;
    for (int i = 0; i < N_NUMBERS; i++) {
        b->numbers[i] = report_column_need(t, number_names[i], err);
        if (b->numbers[i] == NULL)
            return err->code;
        ok = (b->values[i] = malloc(BLOCK * sizeof(double))) != NULL && ok;
    }
    for (int i = 0; i < N_TEXTS; i++) {
        b->texts[i] = report_column_need(t, text_names[i], err);
        if (b->texts[i] == NULL)
            return err->code;
        ok = (b->strings[i] = malloc(BLOCK * (b->texts[i]->width + 1))) != NULL && ok;
    }
    ok = (b->statuses = malloc(BLOCK * sizeof *b->statuses)) != NULL && ok;
    return ok ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static void close_columns(struct batsim *b)
{
    for (int i = 0; i < N_NUMBERS; i++)
        free(b->values[i]);
    for (int i = 0; i < N_TEXTS; i++)
        free(b->strings[i]);
    free(b->statuses);
    free(b->intervals);
}

static int print_jobs(struct batsim *b, const struct report_table *t, struct report_range rows, struct error *err)
{
    int code = BRAID_OK;
    fputs(header, b->out);
    for (uint64_t from = 0; code == BRAID_OK && from < rows.count; from += BLOCK) {
        uint64_t count = rows.count - from < BLOCK ? rows.count - from : BLOCK, at = rows.begin + from;
        code = report_read_i64(t, b->status, at, count, b->statuses, err);
        for (int i = 0; code == BRAID_OK && i < N_NUMBERS; i++)
            code = report_read_f64(t, b->numbers[i], at, count, b->values[i], err);
        for (int i = 0; code == BRAID_OK && i < N_TEXTS; i++)
            code = report_read_text(t, b->texts[i], at, count, b->strings[i], err);
        for (uint64_t i = 0; code == BRAID_OK && i < count; i++)
            if (!print_job(b, i))
                code = error_set(err, BRAID_FAILED, "out of memory");
    }
    return code;
}

static uint64_t widest_node(const struct stretches *s, uint64_t n_spans)
{
    uint64_t widest = 1;
    for (uint64_t i = 0; s->spans != NULL && i < n_spans; i++) {
        uint64_t end = (uint64_t)s->spans[i].gpu_first + s->spans[i].gpu_count;
        widest = end > widest ? end : widest;
    }
    return widest;
}

int export_batsim(FILE *out, const struct report_file *f, const struct report_run *run, struct export_notes *notes,
                  struct error *err)
{
    struct report_range rows = run->tables[RESULTS_JOBS];
    if (rows.count == 0)
        return export_no_rows(f, run, RESULTS_JOBS, err);
    struct stretches stretches;
    struct report_table t;
    int code = stretches_load(&stretches, f, run, err);
    if (code != BRAID_OK)
        return code;
    code = report_table_open(&t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK) {
        stretches_fini(&stretches);
        return code;
    }
    struct batsim b = {.out = out, .workload = run->name, .stretches = &stretches};
    report_config_bases(&b.bases, run, widest_node(&stretches, run->tables[RESULTS_ALLOCS].count));
    code = open_columns(&b, &t, err);
    if (code == BRAID_OK && !report_run_kept(run, RESULTS_SEGMENTS))
        code = export_no_rows(f, run, RESULTS_SEGMENTS, err);
    if (code == BRAID_OK)
        code = print_jobs(&b, &t, rows, err);
    tell(&b, notes);
    close_columns(&b);
    report_table_close(&t);
    stretches_fini(&stretches);
    return code;
}
