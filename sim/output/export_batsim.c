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

enum number { JOB, GPUS, SUBMIT, START, END, PREEMPTIONS, MOVES, N_NUMBERS };
static const char *const number_names[N_NUMBERS] = {"job", "gpus", "submit", "start", "end", "preemptions", "moves"};
enum text { ID, VC, USER, N_TEXTS };
static const char *const text_names[N_TEXTS] = {"id", "vc", "user"};

struct batsim {
    FILE *out;
    const char *workload;
    const struct stretches *stretches;
    struct node_bases bases;
    const struct report_column *numbers[N_NUMBERS], *texts[N_TEXTS], *status;
    double *values[N_NUMBERS];
    char *strings[N_TEXTS];
    int64_t *statuses;
    struct gpu_interval *intervals; /* scratch: as many as a job has spans */
    size_t n_intervals, room;
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

static bool gather_intervals(struct batsim *b, uint64_t rank)
{
    const struct stretches *s = b->stretches;
    b->n_intervals = 0;
    if (rank >= s->n_jobs)
        return true;
    for (uint64_t k = s->at[rank]; k < s->at[rank + 1]; k++)
        for (uint32_t i = 0; i < s->v[k].n_spans; i++) {
            const struct stretch_span *span = &s->spans[s->v[k].first_span + i];
            if (b->n_intervals == b->room) {
                size_t room = b->room == 0 ? 64 : 2 * b->room;
                struct gpu_interval *more = realloc(b->intervals, room * sizeof *more);
                if (more == NULL)
                    return false;
                b->intervals = more;
                b->room = room;
            }
            uint64_t first = node_base(&b->bases, span->node) + span->gpu_first;
            b->intervals[b->n_intervals++] = (struct gpu_interval){first, first + span->gpu_count - 1};
        }
    return true;
}

static const char *final_state(const char *status, bool has_started)
{
    static const struct {
        const char *status, *state;
    } states[] = {{"finished", "COMPLETED_SUCCESSFULLY"},
                  {"failed", "COMPLETED_FAILED"},
                  {"killed", "COMPLETED_KILLED"},
                  {"rejected", "REJECTED"}};
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

static bool print_job(struct batsim *b, uint64_t i)
{
    const char *status = report_enum_text(b->status, b->statuses[i]), *id = text_of(b, ID, i);
    bool is_rejected = strcmp(status, "rejected") == 0;
    double submit = b->values[SUBMIT][i], start = is_rejected ? NAN : b->values[START][i];
    double end = is_rejected || strcmp(status, "unfinished") == 0 ? NAN : b->values[END][i];
    double execution = between(end, start), turnaround = between(end, submit);
    export_csv_text(b->out, id);
    fputc(',', b->out);
    export_csv_text(b->out, b->workload);
    fputc(',', b->out);
    export_csv_text(b->out, id);
    put(b->out, submit);
    put(b->out, b->values[GPUS][i]);
    fprintf(b->out, ",-1,%d,%s", strcmp(status, "finished") == 0, final_state(status, !isnan(start)));
    put(b->out, start);
    put(b->out, execution);
    put(b->out, end);
    put(b->out, between(start, submit));
    put(b->out, turnaround);
    put(b->out, execution == 0 ? INFINITY : turnaround / execution);
    fputc(',', b->out);
    if (!gather_intervals(b, (uint64_t)b->values[JOB][i]))
        return false;
    print_intervals(b->out, b->intervals, b->n_intervals);
    char metadata[1024];
    snprintf(metadata, sizeof metadata, "vc:%s user:%s preemptions:%.0f moves:%.0f", text_of(b, VC, i),
             text_of(b, USER, i), b->values[PREEMPTIONS][i], b->values[MOVES][i]);
    fputs(",-1,", b->out);
    export_csv_text(b->out, metadata);
    fputc('\n', b->out);
    return true;
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

int export_batsim(FILE *out, const struct report_file *f, const struct report_run *run, struct error *err)
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
    close_columns(&b);
    report_table_close(&t);
    stretches_fini(&stretches);
    return code;
}
