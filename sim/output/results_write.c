/* results_write.c - the part of one run: its tables, filled straight from the job table, the workload and the recorder.
 *
 * Every column has a filler here, found by the column's name: a number filler writes a slice of values, a text filler returns one value, so
 * that the same function measures the width and fills. A column of the schema without one cannot be written (asserted).
 */
#include "output/recorder_tables.h"
#include "output/results.h"
#include "output/results_writer.h"

#include "base/check.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What fillers read. */
struct source {
    const struct run_output *o;
    const struct workload *w;
    const struct job *jobs;
    struct recorder_tables recorded;
    uint64_t rows[RESULTS_TABLES];
    char trace_digest[DIGEST_HEX + 1];
    char output[128];
    char rows_dropped[64 * TRACE_COUNTS_MAX];
    const char **scopes; /* of the series: "cluster", then the queues */
};

struct filler {
    const char *column;
    void (*fill)(const struct source *s, uint64_t begin, uint32_t n, void *out);
    const char *(*text)(const struct source *s, uint64_t row, size_t *length);
};

/* Define fill_NAME: value `expression` of row `i` as `type`. */
#define FILL(name, type, expression)                                                                                   \
    static void fill_##name(const struct source *s, uint64_t begin, uint32_t n, void *out)                             \
    {                                                                                                                  \
        type *to = out;                                                                                                \
        (void)s;                                                                                                       \
        for (uint64_t i = begin; i < begin + n; i++)                                                                   \
            *to++ = (type)(expression);                                                                                \
    }
/* Define text_NAME: the text `expression` of row `i`. */
#define WORD(name, expression)                                                                                         \
    static const char *text_##name(const struct source *s, uint64_t i, size_t *length)                                 \
    {                                                                                                                  \
        (void)s, (void)i;                                                                                              \
        const char *text = (expression);                                                                               \
        *length = strlen(text);                                                                                        \
        return text;                                                                                                   \
    }

static double seconds(int64_t ns)
{
    return (double)ns / NS_PER_S;
}

/* ---- /runs and /summary ---- */

static enum run_status run_status(const struct run_output *o)
{
    return o->result == NULL ? RUN_FAILED : o->result->totals.is_overloaded ? RUN_OVERLOADED : RUN_OK;
}

WORD(run, s->o->id)
WORD(run_name, s->o->name)
WORD(label, s->o->config->policy.label)
WORD(config, s->o->config->yaml)
WORD(trace_digest, s->trace_digest)
WORD(trace_format, s->w->report.format)
WORD(rows_dropped, s->rows_dropped)
FILL(rows_read, int64_t, s->w->report.rows_read)
FILL(rows_kept, int64_t, s->w->report.rows_kept)
WORD(message, s->o->message != NULL ? s->o->message : "")
WORD(remarks, s->o->remarks != NULL ? s->o->remarks : "")
WORD(digest, s->o->digest)
WORD(output, s->output)
FILL(seed, uint64_t, s->o->config->seed)
FILL(origin, int64_t, s->w->has_origin ? s->w->origin_utc_s : s->w->offset_s)
FILL(run_status, uint8_t, run_status(s->o))
FILL(position, int64_t, s->o->config->index)
FILL(zero, int64_t, 0)
FILL(jobs_count, int64_t, s->rows[RESULTS_JOBS])
FILL(series_count, int64_t, s->rows[RESULTS_SERIES])
FILL(segments_count, int64_t, s->rows[RESULTS_SEGMENTS])
FILL(allocs_count, int64_t, s->rows[RESULTS_ALLOCS])
FILL(events_count, int64_t, s->rows[RESULTS_EVENTS])

static const struct filler runs_fillers[] = {
    {"run", .text = text_run},
    {"name", .text = text_run_name},
    {"label", .text = text_label},
    {"config", .text = text_config},
    {"trace_digest", .text = text_trace_digest},
    {"trace_format", .text = text_trace_format},
    {"rows_read", fill_rows_read},
    {"rows_kept", fill_rows_kept},
    {"rows_dropped", .text = text_rows_dropped},
    {"seed", fill_seed},
    {"origin", fill_origin},
    {"status", fill_run_status},
    {"message", .text = text_message},
    {"remarks", .text = text_remarks},
    {"digest", .text = text_digest},
    {"output", .text = text_output},
    {RESULTS_POSITION, fill_position},
    {"jobs_begin", fill_zero},
    {"jobs_count", fill_jobs_count},
    {"series_begin", fill_zero},
    {"series_count", fill_series_count},
    {"segments_begin", fill_zero},
    {"segments_count", fill_segments_count},
    {"allocs_begin", fill_zero},
    {"allocs_count", fill_allocs_count},
    {"events_begin", fill_zero},
    {"events_count", fill_events_count},
    {0},
};

static const struct filler summary_fillers[] = {{"run", .text = text_run}, {0}};

/* ---- /jobs ---- */

/* All time without GPUs up to the end of the job or of the run; a job that was not yet submitted then has none. */
static int64_t queued_ns(const struct source *s, uint64_t i)
{
    int64_t in_system = s->jobs[i].end_ns - s->w->submit_ns[i];
    return in_system > s->jobs[i].run_ns ? in_system - s->jobs[i].run_ns : 0;
}

static bool ran_to_an_end(const struct job *j)
{
    return j->status == STATUS_FINISHED || j->status == STATUS_FAILED || j->status == STATUS_KILLED;
}

static const char *text_id(const struct source *s, uint64_t i, size_t *length)
{
    *length = s->w->id_at[i + 1] - s->w->id_at[i];
    return s->w->id_text + s->w->id_at[i];
}
WORD(user, names_text(&s->w->users, s->w->user[i]))
WORD(vc, names_text(&s->w->vcs, s->w->vc[i]))
WORD(reason, s->jobs[i].reason != NULL ? s->jobs[i].reason : "")
FILL(rank, uint32_t, i)
FILL(gpus, uint32_t, s->w->gpus[i])
FILL(submit, double, seconds(s->w->submit_ns[i]))
FILL(start, double, s->jobs[i].start_ns < 0 ? NAN : seconds(s->jobs[i].start_ns))
FILL(end, double,
     s->jobs[i].status == STATUS_UNFINISHED || s->jobs[i].status == STATUS_NOT_SUBMITTED ? NAN
                                                                                         : seconds(s->jobs[i].end_ns))
FILL(queued, double, seconds(queued_ns(s, i)))
FILL(run_time, double, seconds(s->jobs[i].run_ns))
FILL(jct, double, ran_to_an_end(&s->jobs[i]) ? seconds(s->jobs[i].end_ns - s->w->submit_ns[i]) : NAN)
FILL(overhead, double, seconds(s->jobs[i].overhead_ns))
FILL(lost, double, seconds(s->jobs[i].lost_ns))
FILL(work, double, seconds(s->w->duration_ns[i]))
FILL(gpu_time, double, job_gpu_ns(&s->jobs[i], s->w->gpus[i]) / NS_PER_S)
FILL(preemptions, uint32_t, s->jobs[i].preemptions)
FILL(moves, uint32_t, s->jobs[i].moves)
FILL(restarts, uint32_t, s->jobs[i].restarts)
FILL(job_status, uint8_t, s->jobs[i].status)
FILL(trace_status, uint8_t, s->w->trace_status[i])

static const struct filler jobs_fillers[] = {
    {"run", .text = text_run},
    {"job", fill_rank},
    {"id", .text = text_id},
    {"user", .text = text_user},
    {"vc", .text = text_vc},
    {"gpus", fill_gpus},
    {"submit", fill_submit},
    {"start", fill_start},
    {"end", fill_end},
    {"queued", fill_queued},
    {"run_time", fill_run_time},
    {"jct", fill_jct},
    {"overhead", fill_overhead},
    {"lost", fill_lost},
    {"work", fill_work},
    {"gpu_time", fill_gpu_time},
    {"preemptions", fill_preemptions},
    {"moves", fill_moves},
    {"restarts", fill_restarts},
    {"status", fill_job_status},
    {"reason", .text = text_reason},
    {"trace_status", fill_trace_status},
    {0},
};

/* ---- /series: bins x scopes x names, unrolled; then what the policy told ---- */

static uint64_t n_levels(const struct source *s)
{
    return s->recorded.n_bins * s->recorded.n_scopes * s->recorded.n_names;
}

/* The row of what the policy told, or NULL: a level. */
static const struct observed_row *observed_of(const struct source *s, uint64_t i)
{
    return i < n_levels(s) ? NULL : &s->recorded.observed[i - n_levels(s)];
}

static uint64_t series_bin(const struct source *s, uint64_t i)
{
    const struct observed_row *o = observed_of(s, i);
    return o != NULL ? o->bin : i / ((uint64_t)s->recorded.n_scopes * s->recorded.n_names);
}

static const char *series_name(const struct source *s, uint64_t i)
{
    const struct observed_row *o = observed_of(s, i);
    return o != NULL ? s->recorded.observed_names[o->name]
                     : series_name_text((enum series_name)(i % s->recorded.n_names));
}

static uint32_t series_scope(const struct source *s, uint64_t i)
{
    const struct observed_row *o = observed_of(s, i);
    return o != NULL ? o->scope : (uint32_t)(i / s->recorded.n_names % s->recorded.n_scopes);
}
WORD(scope, s->scopes[series_scope(s, i)])
WORD(series_name, series_name(s, i))
/* A cut run's last bin is shorter than a step. */
static int64_t series_time_ns(const struct source *s, uint64_t i)
{
    int64_t end_ns = (int64_t)(series_bin(s, i) + 1) * s->recorded.step_ns;
    return end_ns < s->recorded.end_ns ? end_ns : s->recorded.end_ns;
}
FILL(series_time, double, seconds(series_time_ns(s, i)))
FILL(value, double, observed_of(s, i) != NULL ? observed_of(s, i)->value : s->recorded.series[i])

static const struct filler series_fillers[] = {
    {"run", .text = text_run},          {"time", fill_series_time}, {"scope", .text = text_scope},
    {"name", .text = text_series_name}, {"value", fill_value},      {0},
};

/* ---- /segments, /allocs, /events ---- */

FILL(segment_job, uint32_t, s->recorded.segments[i].job)
FILL(begin, double, seconds(s->recorded.segments[i].begin_ns))
FILL(segment_end, double, seconds(s->recorded.segments[i].end_ns))
FILL(kind, uint8_t, s->recorded.segments[i].kind)
FILL(rate, double, s->recorded.segments[i].rate)
FILL(group, int64_t, s->recorded.segments[i].group == UINT32_MAX ? -1 : (int64_t)s->recorded.segments[i].group)
FILL(segment, int64_t, s->recorded.allocs[i].segment)
FILL(node, uint32_t, s->recorded.allocs[i].node)
FILL(gpu_first, uint32_t, s->recorded.allocs[i].gpu_first)
FILL(gpu_count, uint32_t, s->recorded.allocs[i].gpu_count)
FILL(share, double, 1)
FILL(event_time, double, seconds(s->recorded.events[i].at_ns))
FILL(event, uint8_t, s->recorded.events[i].kind)
FILL(event_job, int64_t, s->recorded.events[i].job == UINT32_MAX ? -1 : (int64_t)s->recorded.events[i].job)
WORD(event_vc, s->recorded.events[i].vc == NAMES_NONE ? "" : names_text(&s->w->vcs, s->recorded.events[i].vc))
WORD(why, s->recorded.why + s->recorded.events[i].why)

static const struct filler segments_fillers[] = {
    {"run", .text = text_run}, {"job", fill_segment_job}, {"begin", fill_begin}, {"end", fill_segment_end},
    {"kind", fill_kind},       {"rate", fill_rate},       {"group", fill_group}, {0},
};
static const struct filler allocs_fillers[] = {
    {"segment", fill_segment},     {"node", fill_node},   {"gpu_first", fill_gpu_first},
    {"gpu_count", fill_gpu_count}, {"share", fill_share}, {0},
};
static const struct filler events_fillers[] = {
    {"run", .text = text_run},
    {"time", fill_event_time},
    {"event", fill_event},
    {"job", fill_event_job},
    {"vc", .text = text_event_vc},
    {"why", .text = text_why},
    {0},
};

static const struct filler *const fillers[RESULTS_TABLES] = {
    [RESULTS_RUNS] = runs_fillers,     [RESULTS_SUMMARY] = summary_fillers,   [RESULTS_JOBS] = jobs_fillers,
    [RESULTS_SERIES] = series_fillers, [RESULTS_SEGMENTS] = segments_fillers, [RESULTS_ALLOCS] = allocs_fillers,
    [RESULTS_EVENTS] = events_fillers,
};

static const struct filler *filler_find(int table, const char *column)
{
    const struct filler *f = fillers[table];
    while (f->column != NULL && strcmp(f->column, column) != 0)
        f++;
    require(f->column != NULL, "column %s has no filler", column);
    return f;
}

/* ---- writing ---- */

static size_t text_width(const struct source *s, const struct filler *f, uint64_t rows)
{
    size_t width = 1, n;
    for (uint64_t i = 0; i < rows; i++) {
        f->text(s, i, &n);
        width = n > width ? n : width;
    }
    return width;
}

static void text_fill(const struct source *s, const struct filler *f, uint64_t begin, uint32_t n, char *out,
                      size_t width)
{
    memset(out, 0, n * width);
    for (uint32_t i = 0; i < n; i++) {
        size_t length;
        const char *text = f->text(s, begin + i, &length);
        memcpy(out + i * width, text, length);
    }
}

/* The columns of one table of this run: those of the schema, then metrics or swept keys. */
struct plan {
    uint32_t n, n_schema;
    struct column_spec *columns;
    size_t *widths;
    const struct filler **fillers; /* of the columns of the schema */
    const struct swept **swept;    /* in order of their keys */
    char (*names)[RESULTS_NAME_MAX];
    size_t widest;
};

static void plan_fini(struct plan *p)
{
    free(p->columns);
    free(p->widths);
    free(p->fillers);
    free(p->swept);
    free(p->names);
}

static int compare_swept(const void *a, const void *b)
{
    return strcmp((*(const struct swept *const *)a)->key, (*(const struct swept *const *)b)->key);
}

static bool plan_init(struct plan *p, const struct source *s, int table)
{
    const struct table_spec *t = results_table(table);
    const struct run_config *config = s->o->config;
    uint32_t n_swept = table == RESULTS_RUNS ? config->n_swept : 0;
    size_t n_metrics = 0, length;
    if (table == RESULTS_SUMMARY)
        metrics_table(&n_metrics);
    size_t room = t->n_columns + n_metrics + n_swept;
    *p = (struct plan){.n_schema = t->n_columns, .n = (uint32_t)room, .widest = sizeof(double)};
    p->columns = calloc(room, sizeof *p->columns);
    p->widths = calloc(room, sizeof *p->widths);
    p->fillers = calloc(room, sizeof *p->fillers);
    p->swept = calloc((size_t)n_swept + 1, sizeof *p->swept);
    p->names = calloc((size_t)n_swept + 1, sizeof *p->names);
    if (p->columns == NULL || p->widths == NULL || p->fillers == NULL || p->swept == NULL || p->names == NULL) {
        plan_fini(p);
        return false;
    }
    for (uint32_t i = 0; i < n_swept; i++)
        p->swept[i] = &config->swept[i];
    if (n_swept > 1)
        qsort(p->swept, n_swept, sizeof *p->swept, compare_swept);
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t extra = i - t->n_columns;
        p->widths[i] = 1;
        if (i < t->n_columns) {
            p->columns[i] = t->columns[i];
            p->fillers[i] = filler_find(table, t->columns[i].name);
            if (t->columns[i].type == COLUMN_TEXT)
                p->widths[i] = text_width(s, p->fillers[i], s->rows[table]);
        } else if (table == RESULTS_SUMMARY) {
            p->columns[i] = results_metric_column(extra);
        } else {
            p->columns[i] = results_sweep_column(p->swept[extra]->key, p->names[extra]);
            length = strlen(p->swept[extra]->value);
            p->widths[i] = length > 0 ? length : 1;
        }
        p->widest = p->widths[i] > p->widest ? p->widths[i] : p->widest;
    }
    return true;
}

/* `count` values of column `i` from row `begin`, in `slice` or elsewhere. */
static const void *plan_values(const struct plan *p, const struct source *s, uint32_t i, uint64_t begin, uint32_t count,
                               void *slice)
{
    uint32_t extra = i - p->n_schema;
    if (i < p->n_schema) {
        if (p->fillers[i]->text != NULL)
            text_fill(s, p->fillers[i], begin, count, slice, p->widths[i]);
        else
            p->fillers[i]->fill(s, begin, count, slice);
        return slice;
    }
    if (p->columns[i].type == COLUMN_F64)
        return &s->o->metrics.value[extra];
    memset(slice, 0, p->widths[i]);
    memcpy(slice, p->swept[extra]->value, strlen(p->swept[extra]->value));
    return slice;
}

static void table_write(struct results_writer *w, const struct source *s, int table)
{
    struct plan p;
    uint64_t rows = s->rows[table];
    if (!plan_init(&p, s, table)) {
        w->is_short = true;
        return;
    }
    void *slice = malloc((rows < WRITER_SLICE ? rows : WRITER_SLICE) * p.widest + 1);
    if (slice != NULL) {
        results_writer_table(w, results_table(table)->name, p.columns, p.widths, p.n, rows);
        for (uint64_t begin = 0; begin < rows && !results_writer_has_failed(w); begin += WRITER_SLICE) {
            uint32_t count = (uint32_t)(rows - begin < WRITER_SLICE ? rows - begin : WRITER_SLICE);
            for (uint32_t i = 0; i < p.n; i++)
                results_writer_push(w, i, plan_values(&p, s, i, begin, count, slice), count);
        }
        results_writer_end(w);
    }
    w->is_short |= slice == NULL;
    free(slice);
    plan_fini(&p);
}

static bool source_init(struct source *s, const struct run_output *o)
{
    *s = (struct source){.o = o, .w = o->workload, .rows = {[RESULTS_RUNS] = 1, [RESULTS_SUMMARY] = 1}};
    digest_hex(o->workload->digest, DIGEST_BYTES, s->trace_digest);
    results_output_text(&o->config->output, o->keeps_jobs, s->output, sizeof s->output);
    trace_dropped_text(&o->workload->report, s->rows_dropped, sizeof s->rows_dropped);
    if (o->result == NULL)
        return true;
    s->jobs = o->result->jobs;
    s->rows[RESULTS_JOBS] = o->keeps_jobs ? o->result->n_jobs : 0;
    if (o->recorder == NULL)
        return true;
    recorder_tables(o->recorder, &s->recorded);
    s->rows[RESULTS_SERIES] = n_levels(s) + s->recorded.n_observed;
    s->rows[RESULTS_SEGMENTS] = s->recorded.n_segments;
    s->rows[RESULTS_ALLOCS] = s->recorded.n_allocs;
    s->rows[RESULTS_EVENTS] = s->recorded.n_events;
    s->scopes = calloc((size_t)s->recorded.n_scopes + 1, sizeof *s->scopes);
    if (s->scopes == NULL)
        return false;
    s->scopes[0] = "cluster";
    for (uint32_t i = 1; i < s->recorded.n_scopes; i++)
        s->scopes[i] = i - 1 < o->result->n_instances ? o->result->instance_names[i - 1] : "";
    return true;
}

int results_write_part(const char *parts_dir, const struct run_output *o, struct error *err)
{
    if (mkdir(parts_dir, 0777) != 0 && errno != EEXIST) {
        char text[128];
        return error_at(err, BRAID_FAILED, parts_dir, 0, 0, "cannot make this folder: %s",
                        strerror_r(errno, text, sizeof text));
    }
    struct source s;
    char *path = NULL;
    int status = BRAID_FAILED;
    if (!source_init(&s, o) ||
        asprintf(&path, "%s/%s%s.h5", parts_dir, o->id, o->result == NULL ? ".failed" : "") < 0) {
        path = NULL;
        error_set(err, BRAID_FAILED, "out of memory");
        goto done;
    }
    struct results_writer w;
    status = results_writer_open(&w, path, err);
    if (status != 0)
        goto done;
    for (int t = 0; t < RESULTS_TABLES; t++)
        table_write(&w, &s, t);
    status = results_writer_commit(&w, err);
done:
    free(path);
    free(s.scopes);
    return status;
}
