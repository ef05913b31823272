#include "output/report_bucket.h"

#include "base/names.h"
#include "output/report_config.h"
#include "output/report_stats.h"

#include <gsl/gsl_statistics_double.h>
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
enum statistic { S_MEAN, S_P50, S_P95, S_P99, S_MAX, S_SUM, S_MAKESPAN, S_COUNT_OF };

static const struct bucket_metric {
    const char *name, *unit;
    enum quantity quantity;
    enum statistic statistic;
} bucket_metrics[] = {
    {"jct_mean", "s", Q_JCT, S_MEAN},
    {"jct_p50", "s", Q_JCT, S_P50},
    {"jct_p95", "s", Q_JCT, S_P95},
    {"jct_p99", "s", Q_JCT, S_P99},
    {"jct_max", "s", Q_JCT, S_MAX},
    {"wait_mean", "s", Q_WAIT, S_MEAN},
    {"wait_p50", "s", Q_WAIT, S_P50},
    {"wait_p99", "s", Q_WAIT, S_P99},
    {"queued_mean", "s", Q_QUEUED, S_MEAN},
    {"slowdown_mean", "", Q_SLOWDOWN, S_MEAN},
    {"bounded_slowdown_mean", "", Q_BOUNDED, S_MEAN},
    {"satisfied_rate", "fraction", Q_SATISFIED, S_MEAN},
    {"makespan", "s", Q_JCT, S_MAKESPAN},
    {"preemptions", "", Q_PREEMPTIONS, S_SUM},
    {"moves", "", Q_MOVES, S_SUM},
    {"restarts", "", Q_RESTARTS, S_SUM},
    {"jobs", "", Q_COUNT, S_COUNT_OF},
    {"finished", "", Q_COUNT, S_COUNT_OF},
    {"unfinished", "", Q_COUNT, S_COUNT_OF},
    {"rejected", "", Q_COUNT, S_COUNT_OF},
    {"failed", "", Q_COUNT, S_COUNT_OF},
    {"killed", "", Q_COUNT, S_COUNT_OF},
};
enum { N_BUCKET_METRICS = sizeof bucket_metrics / sizeof bucket_metrics[0] };

enum { SATISFIED_SLOWDOWN = 2, BOUND_S = 10 }; /* docs/schema.md: satisfied_rate, bounded_slowdown_mean */

static const struct bucket_metric *metric_find(const char *name)
{
    for (int i = 0; i < N_BUCKET_METRICS; i++)
        if (strcmp(bucket_metrics[i].name, name) == 0)
            return &bucket_metrics[i];
    return NULL;
}

const char *bucket_metric_unit(const char *metric)
{
    const struct bucket_metric *m = metric_find(metric);
    return m == NULL ? NULL : m->unit;
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
        return fmax(1.0, jct / fmax(work, BOUND_S));
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

static double statistic_of(enum statistic s, double *values, size_t n)
{
    double sum = 0;
    if (s == S_SUM) {
        for (size_t i = 0; i < n; i++)
            sum += values[i];
        return sum;
    }
    if (n == 0)
        return NAN;
    if (s == S_MEAN) {
        for (size_t i = 0; i < n; i++)
            sum += values[i];
        return sum / (double)n;
    }
    stats_sort(values, n);
    switch (s) {
    case S_P50:
        return stats_quantile(values, n, 0.50);
    case S_P95:
        return stats_quantile(values, n, 0.95);
    case S_P99:
        return stats_quantile(values, n, 0.99);
    default:
        return values[n - 1];
    }
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
    const struct bucket_metric *m = metric_find(name);
    if (m == NULL)
        return NAN;
    if (m->statistic == S_COUNT_OF) {
        for (int i = 0; i < SAMPLE_COUNTS; i++)
            if (strcmp(name, sample_count_names[i]) == 0)
                return b->counts[i];
    }
    if (m->statistic == S_MAKESPAN)
        return makespan_of(c, jobs, n);
    size_t n_values = 0;
    bool of_all = m->statistic == S_SUM;
    for (size_t i = 0; i < n; i++) {
        if (!of_all && !is_counted(c, jobs[i]))
            continue;
        double value = quantity_of(c, m->quantity, jobs[i]);
        if (!isnan(value))
            room[n_values++] = value;
    }
    return statistic_of(m->statistic, room, n_values);
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

/* The text of column `c` in row `i` of a block that was read as numbers or text. */
static const char *value_text(const struct report_column *c, const int64_t *numbers, const char *texts, uint64_t i,
                              char *room, size_t size)
{
    if (c->type == REPORT_TEXT)
        return texts + i * (c->width + 1);
    if (c->type == REPORT_ENUM)
        return report_enum_text(c, numbers[i]);
    snprintf(room, size, "%lld", (long long)numbers[i]);
    return room;
}

/* Append the value of one key to the key texts of a block of jobs. */
static int append_key(const struct report_table *t, const char *key, uint64_t begin, uint64_t count, char *joined,
                      size_t stride, struct error *err)
{
    const struct report_column *c = report_column_need(t, key, err);
    if (c == NULL)
        return err->code;
    int code;
    int64_t *numbers = NULL;
    char *texts = NULL;
    if (c->type == REPORT_TEXT) {
        texts = malloc(count * (c->width + 1));
        code = texts == NULL ? error_set(err, BRAID_FAILED, "out of memory")
                             : report_read_text(t, c, begin, count, texts, err);
    } else {
        numbers = malloc(count * sizeof *numbers);
        code = numbers == NULL ? error_set(err, BRAID_FAILED, "out of memory")
                               : report_read_i64(t, c, begin, count, numbers, err);
    }
    for (uint64_t i = 0; code == BRAID_OK && i < count; i++) {
        char room[32], *to = joined + i * stride;
        size_t used = strlen(to);
        snprintf(to + used, stride - used, "%c%s", SEPARATOR, value_text(c, numbers, texts, i, room, sizeof room));
    }
    free(numbers);
    free(texts);
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
                          struct report_range rows, const char *const *job_keys, uint32_t n_job_keys, struct error *err)
{
    size_t stride = key_width(t, job_keys, n_job_keys);
    char *joined = malloc(BLOCK * stride);
    c->bucket = ARENA_NEW(&c->arena, uint32_t, rows.count);
    int code = joined == NULL || c->bucket == NULL ? error_set(err, BRAID_FAILED, "out of memory") : BRAID_OK;
    for (uint64_t at = 0; code == BRAID_OK && at < rows.count; at += BLOCK) {
        uint64_t count = rows.count - at < BLOCK ? rows.count - at : BLOCK;
        for (uint64_t i = 0; i < count; i++)
            joined[i * stride] = '\0';
        for (uint32_t k = 0; code == BRAID_OK && k < n_job_keys; k++)
            code = append_key(t, job_keys[k], rows.begin + at, count, joined, stride, err);
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
static int fill_buckets(struct buckets *out, struct job_columns *c, const struct names *keys, uint32_t n_job_keys,
                        const char *const *metrics, uint32_t n_metrics, struct arena *a, struct error *err)
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
        b->values = ARENA_NEW(a, double, n_metrics);
        if (b->values == NULL || !split_key(b, names_text(keys, i), n_job_keys, a))
            return error_set(err, BRAID_FAILED, "out of memory");
        b->counts[SAMPLE_JOBS] = (double)n;
        for (size_t k = 0; k < n; k++)
            if (c->count[jobs[at[i] + k]] != SAMPLE_JOBS)
                b->counts[c->count[jobs[at[i] + k]]]++;
        for (uint32_t m = 0; m < n_metrics; m++)
            b->values[m] = metric_value(c, b, metrics[m], jobs + at[i], n, room);
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

int buckets_load(struct buckets *out, const struct report_file *f, const struct report_run *run,
                 const char *const *job_keys, uint32_t n_job_keys, const char *const *metrics, uint32_t n_metrics,
                 struct arena *a, struct error *err)
{
    *out = (struct buckets){0};
    struct report_range rows = run->tables[RESULTS_JOBS];
    if (rows.count == 0)
        return BRAID_OK;
    struct report_table t;
    int code = report_table_open(&t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK)
        return code;
    struct job_columns c = {.n = rows.count};
    struct names keys;
    arena_init(&c.arena);
    names_init(&keys);
    for (uint32_t k = 0; k < n_job_keys; k++)
        c.by_status = c.by_status || strcmp(job_keys[k], "status") == 0;
    code = load_sources(&c, &t, rows, err);
    if (code == BRAID_OK)
        code = mark_measured(&c, f, run, err);
    if (code == BRAID_OK)
        code = assign_buckets(&c, &keys, &t, rows, job_keys, n_job_keys, err);
    if (code == BRAID_OK)
        code = fill_buckets(out, &c, &keys, n_job_keys, metrics, n_metrics, a, err);
    names_fini(&keys);
    arena_fini(&c.arena);
    report_table_close(&t);
    return code;
}
