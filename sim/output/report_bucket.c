#include "output/report_bucket.h"

#include "base/names.h"
#include "output/metrics.h"
#include "output/report_config.h"
#include "output/report_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of /jobs that the metrics are made of. */
enum source { SUBMIT, START, END, QUEUED, JCT, WORK, PREEMPTIONS, MOVES, RESTARTS, N_SOURCES };
static const char *const source_names[N_SOURCES] = {"submit", "start",       "end",   "queued",  "jct",
                                                    "work",   "preemptions", "moves", "restarts"};

/* A metric is a statistic of a quantity of each job. */
enum quantity {
    Q_JCT,
    Q_WAIT,
    Q_QUEUED,
    Q_SLOWDOWN,
    Q_BOUNDED,
    Q_SATISFIED,
    Q_PREEMPTIONS,
    Q_MOVES,
    Q_RESTARTS,
    Q_COUNT
};
enum kind { S_MEAN, S_QUANTILE, S_SUM, S_MAKESPAN, S_COUNT_OF };
struct statistic {
    enum kind kind;
    double q; /* S_QUANTILE: from 0 to 1 */
};

static const struct bucket_metric {
    const char *name;
    enum quantity quantity;
    struct statistic statistic;
} bucket_metrics[] = {
    {"jct_mean", Q_JCT, {S_MEAN, 0}},
    {"jct_max", Q_JCT, {S_QUANTILE, 1}},
    {"wait_mean", Q_WAIT, {S_MEAN, 0}},
    {"queued_mean", Q_QUEUED, {S_MEAN, 0}},
    {"slowdown_mean", Q_SLOWDOWN, {S_MEAN, 0}},
    {"bounded_slowdown_mean", Q_BOUNDED, {S_MEAN, 0}},
    {"satisfied_rate", Q_SATISFIED, {S_MEAN, 0}},
    {"makespan", Q_JCT, {S_MAKESPAN, 0}},
    {"preemptions", Q_PREEMPTIONS, {S_SUM, 0}},
    {"moves", Q_MOVES, {S_SUM, 0}},
    {"restarts", Q_RESTARTS, {S_SUM, 0}},
    {"jobs", Q_COUNT, {S_COUNT_OF, 0}},
    {"finished", Q_COUNT, {S_COUNT_OF, 0}},
    {"unfinished", Q_COUNT, {S_COUNT_OF, 0}},
    {"rejected", Q_COUNT, {S_COUNT_OF, 0}},
    {"failed", Q_COUNT, {S_COUNT_OF, 0}},
    {"killed", Q_COUNT, {S_COUNT_OF, 0}},
    {"not_submitted", Q_COUNT, {S_COUNT_OF, 0}},
};
enum { N_BUCKET_METRICS = sizeof bucket_metrics / sizeof bucket_metrics[0] };

/* Of these a quantile may be asked by name (metrics_quantile). */
static const struct {
    const char *name;
    enum quantity quantity;
} quantile_names[] = {
    {"jct", Q_JCT}, {"wait", Q_WAIT}, {"queued", Q_QUEUED}, {"slowdown", Q_SLOWDOWN}, {"bounded_slowdown", Q_BOUNDED}};

enum { SATISFIED_SLOWDOWN = 2, BOUND_S = 10 }; /* docs/schema.md: satisfied_rate, bounded_slowdown_mean */

static bool metric_find(struct bucket_metric *out, const char *name)
{
    char quantity[METRIC_NAME_MAX];
    double q;
    for (int i = 0; i < N_BUCKET_METRICS; i++)
        if (strcmp(bucket_metrics[i].name, name) == 0) {
            *out = bucket_metrics[i];
            return true;
        }
    if (!metrics_quantile(name, quantity, &q))
        return false;
    for (size_t i = 0; i < sizeof quantile_names / sizeof quantile_names[0]; i++)
        if (strcmp(quantile_names[i].name, quantity) == 0) {
            *out = (struct bucket_metric){name, quantile_names[i].quantity, {S_QUANTILE, q}};
            return true;
        }
    return false;
}

bool bucket_has_metric(const char *metric)
{
    struct bucket_metric m;
    return metric_find(&m, metric);
}

/* All that is read of one run; freed when its buckets are made. */
struct job_columns {
    uint64_t n;
    double *source[N_SOURCES];
    uint8_t *count;   /* which of SAMPLE_FINISHED … each job counts as */
    bool *is_inside;  /* of `measure` */
    uint32_t *bucket; /* of each job */
    bool by_status;
    struct arena arena;
};

static double quantity_of(const struct job_columns *c, enum quantity q, uint64_t j)
{
    double work = c->source[WORK][j], jct = c->source[JCT][j];
    switch (q) {
    case Q_JCT:
        return jct;
    case Q_WAIT:
        return c->source[START][j] - c->source[SUBMIT][j];
    case Q_QUEUED:
        return c->source[QUEUED][j];
    case Q_SLOWDOWN:
        return work > 0 ? jct / work : NAN;
    case Q_BOUNDED:
        return work > 0 ? fmax(1.0, jct / fmax(work, BOUND_S)) : NAN;
    case Q_SATISFIED:
        return jct <= SATISFIED_SLOWDOWN * work;
    case Q_PREEMPTIONS:
        return c->source[PREEMPTIONS][j];
    case Q_MOVES:
        return c->source[MOVES][j];
    case Q_RESTARTS:
        return c->source[RESTARTS][j];
    case Q_COUNT:
        break;
    }
    return NAN;
}

/* Means are over finished jobs; a bucket that holds one status alone is over its own. */
static bool is_counted(const struct job_columns *c, uint64_t j)
{
    return c->count[j] == SAMPLE_FINISHED ||
           (c->by_status && (c->count[j] == SAMPLE_FAILED || c->count[j] == SAMPLE_KILLED));
}

static double statistic_of(struct statistic s, double *values, size_t n)
{
    double sum = 0;
    if (s.kind == S_QUANTILE) {
        stats_sort(values, n);
        return stats_quantile(values, n, s.q);
    }
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return s.kind == S_SUM ? sum : n > 0 ? sum / (double)n : NAN;
}

static double makespan_of(const struct job_columns *c, const uint64_t *jobs, size_t n)
{
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        first = fmin(first, c->source[SUBMIT][jobs[i]]);
        uint8_t count = c->count[jobs[i]];
        if (count == SAMPLE_FINISHED || count == SAMPLE_FAILED || count == SAMPLE_KILLED)
            last = fmax(last, c->source[END][jobs[i]]);
    }
    return isfinite(first) && isfinite(last) ? last - first : NAN;
}

/* `jobs`: those of this bucket. `room`: as many doubles. */
static double metric_value(const struct job_columns *c, const struct bucket *b, const char *name, const uint64_t *jobs,
                           size_t n, double *room)
{
    struct bucket_metric m;
    if (!metric_find(&m, name))
        return NAN;
    if (m.statistic.kind == S_COUNT_OF) {
        for (int i = 0; i < SAMPLE_COUNTS; i++)
            if (strcmp(name, sample_count_names[i]) == 0)
                return b->counts[i];
    }
    if (m.statistic.kind == S_MAKESPAN)
        return makespan_of(c, jobs, n);
    size_t n_values = 0;
    bool of_all = m.statistic.kind == S_SUM;
    for (size_t i = 0; i < n; i++) {
        if (!of_all && !is_counted(c, jobs[i]))
            continue;
        double value = quantity_of(c, m.quantity, jobs[i]);
        if (!isnan(value))
            room[n_values++] = value;
    }
    return statistic_of(m.statistic, room, n_values);
}

static int load_status(struct job_columns *c, const struct report_table *t, struct report_range rows, struct error *err)
{
    const struct report_column *status = report_column_need(t, "status", err);
    int64_t *codes = status == NULL ? NULL : report_load_i64(t, "status", rows, &c->arena, err);
    c->count = ARENA_NEW(&c->arena, uint8_t, rows.count);
    if (codes == NULL)
        return err->code;
    if (c->count == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t j = 0; j < rows.count; j++) {
        const char *text = report_enum_text(status, codes[j]);
        c->count[j] = SAMPLE_JOBS;
        for (int i = SAMPLE_FINISHED; i < SAMPLE_COUNTS; i++)
            if (strcmp(text, sample_count_names[i]) == 0)
                c->count[j] = (uint8_t)i;
    }
    return BRAID_OK;
}

static int load_sources(struct job_columns *c, const struct report_table *t, struct report_range rows,
                        struct error *err)
{
    for (int i = 0; i < N_SOURCES; i++) {
        c->source[i] = report_load_f64(t, source_names[i], rows, &c->arena, err);
        if (c->source[i] == NULL)
            return err->code;
    }
    return load_status(c, t, rows, err);
}

/* ---- which bucket a job belongs to ------------------------------------------------------------ */

/* Separates the texts of a job's keys; no text of a trace holds it. */
enum { SEPARATOR = '\x1f', KEY_TEXT_MAX = 4096, BLOCK = 16384 };

/* Classes of ideal run time. */
static const struct {
    double below_s;
    const char *text;
} lengths[] = {{60, "0 s to 1 min"},     {600, "1 min to 10 min"}, {3600, "10 min to 1 h"},
               {6 * 3600, "1 h to 6 h"}, {86400, "6 h to 1 d"},    {INFINITY, "1 d and more"}};

static const char *length_text(double work_s)
{
    size_t i = 0;
    while (!(work_s < lengths[i].below_s) && i + 1 < sizeof lengths / sizeof lengths[0])
        i++;
    return lengths[i].text;
}

int bucket_length_order(const char *text)
{
    size_t i = 0;
    while (i < sizeof lengths / sizeof lengths[0] && strcmp(lengths[i].text, text) != 0)
        i++;
    return (int)i;
}

/* The hour of the day (UTC) in which a job was submitted, from 0 to 23; of a trace with relative times, of the days from time 0. */
static int hour_of(double submit_s, int64_t origin_s)
{
    int64_t second = (int64_t)floor(submit_s) + origin_s;
    return (int)(((second % 86400 + 86400) % 86400) / 3600);
}

/* A key that is no column of /jobs: made of one that is. */
static const char *derived_source(const char *key)
{
    return strcmp(key, "hour") == 0 ? "submit" : strcmp(key, "length") == 0 ? "work" : NULL;
}

/* A block of one column as numbers, reals or text. */
struct key_block {
    const struct report_column *column;
    int64_t *numbers;
    double *reals;
    char *texts;
};

static int key_block_read(struct key_block *b, const struct report_table *t, const char *key, uint64_t begin,
                          uint64_t count, struct error *err)
{
    const char *source = derived_source(key);
    *b = (struct key_block){.column = report_column_need(t, source != NULL ? source : key, err)};
    if (b->column == NULL)
        return err->code;
    if (source != NULL && (b->reals = malloc(count * sizeof *b->reals)) != NULL)
        return report_read_f64(t, b->column, begin, count, b->reals, err);
    if (source == NULL && b->column->type == REPORT_TEXT && (b->texts = malloc(count * (b->column->width + 1))) != NULL)
        return report_read_text(t, b->column, begin, count, b->texts, err);
    if (source == NULL && b->column->type != REPORT_TEXT && (b->numbers = malloc(count * sizeof *b->numbers)) != NULL)
        return report_read_i64(t, b->column, begin, count, b->numbers, err);
    return error_set(err, BRAID_FAILED, "out of memory");
}

static const char *key_block_text(const struct key_block *b, const char *key, int64_t origin_s, uint64_t i,
                                  char *room, size_t size)
{
    if (b->texts != NULL)
        return b->texts + i * (b->column->width + 1);
    if (b->reals != NULL && strcmp(key, "length") == 0)
        return length_text(b->reals[i]);
    if (b->numbers != NULL && b->column->type == REPORT_ENUM)
        return report_enum_text(b->column, b->numbers[i]);
    snprintf(room, size, "%lld",
             b->reals != NULL ? (long long)hour_of(b->reals[i], origin_s) : (long long)b->numbers[i]);
    return room;
}

/* Append the value of one key to the key texts of a block of jobs. */
static int append_key(const struct report_table *t, const struct report_run *run, const char *key, uint64_t begin,
                      uint64_t count, char *joined, size_t stride, struct error *err)
{
    struct key_block b;
    int code = key_block_read(&b, t, key, begin, count, err);
    for (uint64_t i = 0; code == BRAID_OK && i < count; i++) {
        char room[32], *to = joined + i * stride;
        size_t used = strlen(to);
        snprintf(to + used, stride - used, "%c%s", SEPARATOR,
                 key_block_text(&b, key, run->origin_s, i, room, sizeof room));
    }
    free(b.numbers);
    free(b.reals);
    free(b.texts);
    return code;
}

static size_t key_width(const struct report_table *t, const char *const *job_keys, uint32_t n_job_keys)
{
    size_t width = 1;
    for (uint32_t k = 0; k < n_job_keys; k++) {
        const struct report_column *c = report_column_find(t, job_keys[k]);
        width += 1 + (c != NULL && c->type == REPORT_TEXT ? c->width : 32);
    }
    return width < KEY_TEXT_MAX ? width : KEY_TEXT_MAX;
}

/* Number the distinct keys in order of appearance; c->bucket[j] is that of job j. */
static int assign_buckets(struct job_columns *c, struct names *keys, const struct report_table *t,
                          const struct report_run *run, const struct bucket_query *q, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_JOBS];
    size_t stride = key_width(t, q->job_keys, q->n_job_keys);
    char *joined = malloc(BLOCK * stride);
    c->bucket = ARENA_NEW(&c->arena, uint32_t, rows.count);
    int code = joined == NULL || c->bucket == NULL ? error_set(err, BRAID_FAILED, "out of memory") : BRAID_OK;
    for (uint64_t at = 0; code == BRAID_OK && at < rows.count; at += BLOCK) {
        uint64_t count = rows.count - at < BLOCK ? rows.count - at : BLOCK;
        for (uint64_t i = 0; i < count; i++)
            joined[i * stride] = '\0';
        for (uint32_t k = 0; code == BRAID_OK && k < q->n_job_keys; k++)
            code = append_key(t, run, q->job_keys[k], rows.begin + at, count, joined, stride, err);
        for (uint64_t i = 0; code == BRAID_OK && i < count; i++) {
            c->bucket[at + i] = names_add(keys, joined + i * stride, strlen(joined + i * stride));
            if (c->bucket[at + i] == NAMES_NONE)
                code = error_set(err, BRAID_FAILED, "out of memory");
        }
    }
    free(joined);
    return code;
}

/* "\x1fvc1\x1f8" into its texts. */
static bool split_key(struct bucket *b, const char *joined, uint32_t n_job_keys, struct arena *a)
{
    b->texts = ARENA_NEW(a, const char *, n_job_keys);
    for (uint32_t k = 0; b->texts != NULL && k < n_job_keys; k++) {
        const char *begin = strchr(joined, SEPARATOR);
        begin = begin == NULL ? joined + strlen(joined) : begin + 1;
        const char *end = strchr(begin, SEPARATOR);
        size_t n = end == NULL ? strlen(begin) : (size_t)(end - begin);
        b->texts[k] = arena_text(a, begin, n);
        if (b->texts[k] == NULL)
            return false;
        joined = begin + n;
    }
    return b->texts != NULL;
}

/* Job numbers sorted by bucket (counting sort); at[b] .. at[b + 1] are those of bucket b. */
static int fill_buckets(struct buckets *out, struct job_columns *c, const struct names *keys,
                        const struct bucket_query *q, struct arena *a, struct error *err)
{
    uint64_t *at = ARENA_NEW(&c->arena, uint64_t, (size_t)keys->count + 2);
    uint64_t *jobs = ARENA_NEW(&c->arena, uint64_t, c->n);
    double *room = ARENA_NEW(&c->arena, double, c->n);
    out->v = ARENA_NEW(a, struct bucket, keys->count);
    if (at == NULL || jobs == NULL || room == NULL || out->v == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t j = 0; j < c->n; j++)
        if (c->is_inside[j])
            at[c->bucket[j] + 2]++;
    for (uint32_t b = 0; b < keys->count; b++)
        at[b + 2] += at[b + 1];
    for (uint64_t j = 0; j < c->n; j++)
        if (c->is_inside[j])
            jobs[at[c->bucket[j] + 1]++] = j;
    for (uint32_t i = 0; i < keys->count; i++) {
        size_t n = (size_t)(at[i + 1] - at[i]);
        if (n == 0)
            continue;
        struct bucket *b = &out->v[out->n++];
        b->values = ARENA_NEW(a, double, q->n_metrics);
        if (b->values == NULL || !split_key(b, names_text(keys, i), q->n_job_keys, a))
            return error_set(err, BRAID_FAILED, "out of memory");
        b->counts[SAMPLE_JOBS] = (double)n;
        for (size_t k = 0; k < n; k++)
            if (c->count[jobs[at[i] + k]] != SAMPLE_JOBS)
                b->counts[c->count[jobs[at[i] + k]]]++;
        for (uint32_t m = 0; m < q->n_metrics; m++)
            b->values[m] = metric_value(c, b, q->metrics[m], jobs + at[i], n, room);
    }
    return BRAID_OK;
}

static int mark_measured(struct job_columns *c, const struct report_file *f, const struct report_run *run,
                         struct error *err)
{
    struct measure_window window;
    int code = report_config_measure(&window, f, run, c->n > 0 ? c->source[SUBMIT][0] : 0, err);
    c->is_inside = ARENA_NEW(&c->arena, bool, c->n);
    if (code == BRAID_OK && c->is_inside == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t j = 0; code == BRAID_OK && j < c->n; j++)
        c->is_inside[j] = c->source[SUBMIT][j] >= window.from_s && c->source[SUBMIT][j] < window.to_s;
    return code;
}

static bool names_status(const struct bucket_query *q)
{
    for (uint32_t k = 0; k < q->n_job_keys; k++)
        if (strcmp(q->job_keys[k], "status") == 0)
            return true;
    return false;
}

/* What there is to know of the jobs of a run; the caller closes `t` and ends c->arena also after a failure. */
static int open_jobs(struct job_columns *c, struct report_table *t, const struct report_file *f,
                     const struct report_run *run, const struct bucket_query *q, struct error *err)
{
    *c = (struct job_columns){.n = run->tables[RESULTS_JOBS].count, .by_status = names_status(q)};
    arena_init(&c->arena);
    int code = report_table_open(t, f->file, f->path, "jobs", err);
    if (code == BRAID_OK)
        code = load_sources(c, t, run->tables[RESULTS_JOBS], err);
    if (code == BRAID_OK)
        code = mark_measured(c, f, run, err);
    return code;
}

int buckets_load(struct buckets *out, const struct report_file *f, const struct report_run *run,
                 const char *const *job_keys, uint32_t n_job_keys, const char *const *metrics, uint32_t n_metrics,
                 struct arena *a, struct error *err)
{
    const struct bucket_query q = {job_keys, n_job_keys, metrics, n_metrics, NULL};
    return buckets_query(out, f, run, &q, a, err);
}

int buckets_query(struct buckets *out, const struct report_file *f, const struct report_run *run,
                  const struct bucket_query *q, struct arena *a, struct error *err)
{
    *out = (struct buckets){0};
    if (run->tables[RESULTS_JOBS].count == 0)
        return BRAID_OK;
    struct report_table t = {0};
    struct job_columns c;
    struct names keys;
    names_init(&keys);
    int code = open_jobs(&c, &t, f, run, q, err);
    for (uint64_t j = 0; code == BRAID_OK && q->only != NULL && j < c.n; j++)
        c.is_inside[j] = c.is_inside[j] && q->only[j];
    if (code == BRAID_OK)
        code = assign_buckets(&c, &keys, &t, run, q, err);
    if (code == BRAID_OK)
        code = fill_buckets(out, &c, &keys, q, a, err);
    names_fini(&keys);
    arena_fini(&c.arena);
    report_table_close(&t);
    return code;
}

uint8_t *bucket_counted_load(const struct report_file *f, const struct report_run *run, const struct bucket_query *q,
                             struct arena *a, struct error *err)
{
    struct report_table t = {0};
    struct job_columns c;
    int code = open_jobs(&c, &t, f, run, q, err);
    uint8_t *out = code == BRAID_OK ? ARENA_NEW(a, uint8_t, c.n) : NULL;
    if (code == BRAID_OK && out == NULL)
        error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t j = 0; out != NULL && j < c.n; j++)
        out[j] = c.is_inside[j] && is_counted(&c, j) ? c.count[j] : 0;
    arena_fini(&c.arena);
    report_table_close(&t);
    return out;
}
