#include "output/report_sample.h"

#include "base/names.h"
#include "output/report_bucket.h"
#include "output/report_cost.h"
#include "output/report_order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const sample_count_names[SAMPLE_COUNTS] = {"jobs",   "finished", "unfinished",   "rejected",
                                                       "failed", "killed",   "not_submitted"};

static const char *const job_keys[] = {"vc", "gpus", "user", "status", "trace_status", "hour", "length"};
enum { N_JOB_KEYS = sizeof job_keys / sizeof job_keys[0] };

bool sample_is_job_key(const char *key)
{
    for (int i = 0; i < N_JOB_KEYS; i++)
        if (strcmp(job_keys[i], key) == 0)
            return true;
    return false;
}

int sample_compare_job_key(const char *key, const char *a, const char *b)
{
    int order = strcmp(key, "length") == 0 ? bucket_length_order(a) - bucket_length_order(b) : 0;
    return order != 0 ? order : report_value_compare(a, b);
}

bool key_is_replicate(const char *key)
{
    static const char *const names[] = {"seed", "trace.bootstrap", "trace.replicate"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(key, names[i], n) == 0 && (key[n] == '\0' || key[n] == '.'))
            return true;
    }
    return false;
}

/* A metric that no table has: name the nearest of those there are. */
static int unknown_metric(const struct report_table *summary, const struct report_cost *cost, const char *name,
                          bool by_jobs, struct error *err)
{
    const char *names[256];
    size_t n = 0;
    for (uint32_t i = 0; i < summary->n_columns && n < 200; i++)
        if (summary->columns[i].type != REPORT_TEXT && (!by_jobs || bucket_has_metric(summary->columns[i].name)))
            names[n++] = summary->columns[i].name;
    for (uint32_t i = 0; !by_jobs && i < cost->n_columns && n < 256; i++)
        names[n++] = cost->columns[i];
    if (by_jobs && report_column_find(summary, name) != NULL)
        return error_set(err, BRAID_BAD_INPUT,
                         "metric '%s' is known for whole runs only; leave out vc, gpus, user, status, hour and length "
                         "from --by",
                         name);
    const char *near = text_nearest(name, names, n);
    if (near != NULL)
        return error_set(err, BRAID_BAD_INPUT, "unknown metric '%s'; did you mean '%s'?", name, near);
    struct metric_info info;
    if (metrics_describe(&info, name) && info.over == METRIC_OVER_RUN)
        return error_at(err, BRAID_BAD_INPUT, summary->path, 0, 0,
                        "metric '%s' needs the file .cost.csv that 'braid run' writes beside the results", name);
    return error_set(err, BRAID_BAD_INPUT,
                     "unknown metric '%s'; use a column of /summary (see docs/schema.md), or a quantile such as "
                     "wait_p95, queued_p90, jct_p99.9, slowdown_p50",
                     name);
}

static uint32_t cost_column(const struct report_cost *cost, const char *name)
{
    uint32_t i = 0;
    while (i < cost->n_columns && strcmp(cost->columns[i], name) != 0)
        i++;
    return i;
}

/* Where the values of a metric come from. */
enum origin { FROM_NOWHERE, FROM_SUMMARY, FROM_JOBS, FROM_COSTS };

static enum origin origin_of(const struct sample_set *s, const struct report_table *summary,
                             const struct report_cost *cost, const char *name)
{
    const struct report_column *c = report_column_find(summary, name);
    if (s->n_job_keys > 0)
        return bucket_has_metric(name) ? FROM_JOBS : FROM_NOWHERE;
    if (c != NULL && c->type != REPORT_TEXT)
        return FROM_SUMMARY;
    if (cost_column(cost, name) < cost->n_columns)
        return FROM_COSTS;
    return bucket_has_metric(name) ? FROM_JOBS : FROM_NOWHERE;
}

/* What each metric is: from the table of metrics, else from the file. Also finds those that do not exist. */
static int load_infos(struct sample_set *s, const struct report_table *summary, const struct report_cost *cost,
                      struct error *err)
{
    for (uint32_t m = 0; m < s->n_metrics; m++) {
        const char *name = s->metrics[m];
        enum origin from = origin_of(s, summary, cost, name);
        if (from == FROM_NOWHERE)
            return unknown_metric(summary, cost, name, s->n_job_keys > 0, err);
        if (metrics_describe(&s->infos[m], name))
            continue;
        const char *unit = from == FROM_SUMMARY ? report_column_find(summary, name)->units : report_cost_unit(name);
        s->infos[m] = (struct metric_info){.name = name, .over = METRIC_OVER_RUN};
        s->infos[m].unit = arena_text(&s->arena, unit, strlen(unit));
        if (s->infos[m].unit == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
    }
    return BRAID_OK;
}

static bool is_known(const struct sample_set *s, const struct report_run *run)
{
    for (uint32_t i = 0; i < s->n_samples; i++)
        if (strcmp(s->samples[i].run->id, run->id) == 0)
            return true;
    return false;
}

static struct sample *add_sample(struct sample_set *s, const struct report_file *f, const struct report_run *run,
                                 uint32_t *room)
{
    if (s->n_samples == *room) {
        uint32_t wider = *room == 0 ? 64 : *room * 2;
        struct sample *more = ARENA_NEW(&s->arena, struct sample, wider);
        if (more == NULL)
            return NULL;
        if (s->n_samples > 0)
            memcpy(more, s->samples, s->n_samples * sizeof *more);
        s->samples = more;
        *room = wider;
    }
    struct sample *new = &s->samples[s->n_samples];
    *new = (struct sample){.file = f, .run = run};
    s->n_samples++;
    return new;
}

/* A column of /summary for the samples from `first` on; `m` counts the counts first, then the metrics. */
static void put_column(struct sample_set *s, uint32_t first, uint32_t m, const double *values, size_t rows,
                       size_t stride)
{
    for (uint32_t i = first; i < s->n_samples; i++) {
        uint64_t row = s->samples[i].run->row;
        double value = row < rows ? values[row * stride] : NAN;
        if (m < SAMPLE_COUNTS)
            s->samples[i].counts[m] = value;
        else
            s->samples[i].values[m - SAMPLE_COUNTS] = value;
    }
}

/* Values that /summary does not have and /jobs tells. */
static int fill_from_jobs(struct sample_set *s, uint32_t first, const char *metric, uint32_t m, struct error *err)
{
    const struct bucket_query q = {.metrics = &metric, .n_metrics = 1};
    int code = BRAID_OK;
    for (uint32_t i = first; code == BRAID_OK && i < s->n_samples; i++) {
        struct sample *sample = &s->samples[i];
        struct buckets b;
        if (!report_run_has(sample->run, RESULTS_JOBS))
            return error_at(
                err, BRAID_BAD_INPUT, sample->file->path, 0, 0,
                "run %s has no rows in /jobs, from which '%s' is made; run again with 'output: {jobs: true}'",
                sample->run->id, metric);
        code = buckets_query(&b, sample->file, sample->run, &q, &s->arena, err);
        sample->values[m] = code == BRAID_OK && b.n > 0 ? b.v[0].values[0] : NAN;
    }
    return code;
}

/* Values of whole runs: a column of /summary or of the costs at a time. */
static int fill_whole_runs(struct sample_set *s, uint32_t first, const struct report_table *summary,
                           const struct report_cost *cost, struct error *err)
{
    struct report_range all = {0, summary->rows};
    for (uint32_t m = 0; m < SAMPLE_COUNTS + s->n_metrics; m++) {
        const char *name = m < SAMPLE_COUNTS ? sample_count_names[m] : s->metrics[m - SAMPLE_COUNTS];
        enum origin from = m < SAMPLE_COUNTS ? FROM_SUMMARY : origin_of(s, summary, cost, name);
        if (m < SAMPLE_COUNTS && report_column_find(summary, name) == NULL)
            continue; /* a file of an older version: 0 */
        if (from == FROM_SUMMARY) {
            const double *column = report_load_f64(summary, name, all, &s->arena, err);
            if (column == NULL)
                return err->code;
            put_column(s, first, m, column, summary->rows, 1);
        } else if (from == FROM_COSTS) {
            put_column(s, first, m, cost->values + cost_column(cost, name), summary->rows, cost->n_columns);
        } else {
            int code = fill_from_jobs(s, first, name, m - SAMPLE_COUNTS, err);
            if (code != BRAID_OK)
                return code;
        }
    }
    return BRAID_OK;
}

static int add_buckets(struct sample_set *s, const struct report_file *f, const struct report_run *run, uint32_t *room,
                       struct error *err)
{
    if (!report_run_has(run, RESULTS_JOBS))
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0,
                        "run %s has no rows in /jobs, from which '%s' is made; run again with 'output: {jobs: true}'",
                        run->id, s->job_keys[0]);
    struct buckets b;
    const struct bucket_query q = {s->job_keys, s->n_job_keys, s->metrics, s->n_metrics, NULL};
    int code = buckets_query(&b, f, run, &q, &s->arena, err);
    for (uint32_t i = 0; code == BRAID_OK && i < b.n; i++) {
        struct sample *new = add_sample(s, f, run, room);
        if (new == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
        new->bucket = b.v[i].texts;
        new->values = b.v[i].values;
        memcpy(new->counts, b.v[i].counts, sizeof new->counts);
    }
    return code;
}

static int add_file(struct sample_set *s, const struct report_file *f, uint32_t *room, struct error *err)
{
    struct report_table summary;
    struct report_cost cost;
    int code = report_table_open(&summary, f->file, f->path, "summary", err);
    if (code != BRAID_OK)
        return code;
    code = report_cost_load(&cost, f, err);
    if (code == BRAID_OK)
        code = load_infos(s, &summary, &cost, err);
    uint32_t first = s->n_samples;
    for (uint32_t i = 0; code == BRAID_OK && i < f->n_runs; i++) {
        if (is_known(s, &f->runs[i]) || strcmp(f->runs[i].status, "failed") == 0)
            continue;
        if (s->n_job_keys > 0) {
            code = add_buckets(s, f, &f->runs[i], room, err);
            continue;
        }
        struct sample *new = add_sample(s, f, &f->runs[i], room);
        if (new == NULL || (new->values = ARENA_NEW(&s->arena, double, s->n_metrics)) == NULL)
            code = error_set(err, BRAID_FAILED, "out of memory");
    }
    if (code == BRAID_OK && s->n_job_keys == 0)
        code = fill_whole_runs(s, first, &summary, &cost, err);
    report_cost_fini(&cost);
    report_table_close(&summary);
    return code;
}

int sample_set_load(struct sample_set *out, const struct report_file *files, size_t n_files, const char *const *keys,
                    uint32_t n_keys, const char *const *metrics, uint32_t n_metrics, struct error *err)
{
    *out = (struct sample_set){.n_job_keys = n_keys, .job_keys = keys, .n_metrics = n_metrics, .metrics = metrics};
    arena_init(&out->arena);
    out->infos = ARENA_NEW(&out->arena, struct metric_info, n_metrics);
    int code = out->infos == NULL ? error_set(err, BRAID_FAILED, "out of memory") : BRAID_OK;
    uint32_t room = 0;
    for (size_t i = 0; code == BRAID_OK && i < n_files; i++)
        code = add_file(out, &files[i], &room, err);
    if (code != BRAID_OK)
        sample_set_fini(out);
    return code;
}

void sample_set_fini(struct sample_set *s)
{
    arena_fini(&s->arena);
    *s = (struct sample_set){0};
}

const char *sample_value(const struct sample_set *s, const struct sample *sample, const char *key)
{
    for (uint32_t k = 0; sample->bucket != NULL && k < s->n_job_keys; k++)
        if (strcmp(s->job_keys[k], key) == 0)
            return sample->bucket[k];
    if (strcmp(key, "policy") == 0)
        return sample->run->label;
    if (strcmp(key, "experiment") == 0)
        return sample->run->name;
    if (strcmp(key, "file") == 0)
        return sample->file->path;
    if (strcmp(key, "run") == 0)
        return sample->run->id;
    if (strcmp(key, "seed") == 0)
        return sample->run->seed_text;
    if (strcmp(key, SAMPLE_PARAMETERS) == 0)
        return report_run_swept(sample->file, sample->run, "policy");
    return report_run_swept(sample->file, sample->run, key);
}
