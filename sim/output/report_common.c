#include "output/report_common.h"

#include "output/report_bucket.h"

#include <math.h>
#include <string.h>

struct common_pair {
    const struct report_run *runs[2];
    enum common_kind kind;
    const char *why;
    struct buckets sides[2]; /* COMMON_PARTLY */
    struct common_pair *next;
};

static bool is_whole(const struct sample *s)
{
    return s->counts[SAMPLE_FINISHED] == s->counts[SAMPLE_JOBS];
}

/* What the counts of two whole runs say, without a look at their jobs: COMMON_PARTLY where they leave it open. */
static enum common_kind kind_by_counts(const struct sample *const pair[2], bool has_jobs)
{
    const double *a = pair[0]->counts, *b = pair[1]->counts;
    if (is_whole(pair[0]) && is_whole(pair[1]))
        return COMMON_SAME;
    bool only_rejects = a[SAMPLE_FINISHED] + a[SAMPLE_REJECTED] == a[SAMPLE_JOBS] &&
                        b[SAMPLE_FINISHED] + b[SAMPLE_REJECTED] == b[SAMPLE_JOBS];
    if (!has_jobs && only_rejects && a[SAMPLE_JOBS] == b[SAMPLE_JOBS] && a[SAMPLE_REJECTED] == b[SAMPLE_REJECTED])
        return COMMON_SAME; /* jobs that no policy could have run */
    return has_jobs ? COMMON_PARTLY : COMMON_UNKNOWN;
}

/* The jobs that count in both runs, by row; equal in kind: `*differs` stays false. NULL with `err` filled. */
static bool *jobs_of_both(struct common_cache *c, const struct sample *const pair[2], const struct bucket_query *q,
                          bool *differs, struct error *err)
{
    uint64_t n = pair[0]->run->tables[RESULTS_JOBS].count;
    uint8_t *counted[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        counted[i] = bucket_counted_load(pair[i]->file, pair[i]->run, q, c->arena, err);
        if (counted[i] == NULL)
            return NULL;
    }
    bool *both = ARENA_NEW(c->arena, bool, n);
    if (both == NULL)
        error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t j = 0; both != NULL && j < n; j++) {
        both[j] = counted[0][j] != 0 && counted[0][j] == counted[1][j];
        *differs = *differs || counted[0][j] != counted[1][j];
    }
    return both;
}

static int pair_fill(struct common_pair *p, struct common_cache *c, const struct sample *const pair[2],
                     struct error *err)
{
    const struct sample_set *s = c->set;
    const struct report_run *a = pair[0]->run, *b = pair[1]->run;
    bool has_jobs = report_run_has(a, RESULTS_JOBS) && report_run_has(b, RESULTS_JOBS);
    p->kind = s->n_job_keys > 0 ? COMMON_PARTLY : kind_by_counts(pair, has_jobs);
    p->why = "the jobs are not stored (output: {jobs: true})";
    if (p->kind != COMMON_PARTLY)
        return BRAID_OK;
    if (strcmp(a->trace_digest, b->trace_digest) != 0 ||
        a->tables[RESULTS_JOBS].count != b->tables[RESULTS_JOBS].count) {
        p->kind = is_whole(pair[0]) && is_whole(pair[1]) ? COMMON_SAME : COMMON_UNKNOWN;
        p->why = "the traces differ";
        return BRAID_OK;
    }
    struct bucket_query q = {s->job_keys, s->n_job_keys, s->metrics, s->n_metrics, NULL};
    bool differs = false;
    q.only = jobs_of_both(c, pair, &q, &differs, err);
    int code = q.only == NULL ? err->code : BRAID_OK;
    p->kind = differs ? COMMON_PARTLY : COMMON_SAME;
    for (int i = 0; code == BRAID_OK && differs && i < 2; i++)
        code = buckets_query(&p->sides[i], pair[i]->file, pair[i]->run, &q, c->arena, err);
    return code;
}

static struct common_pair *pair_get(struct common_cache *c, const struct sample *const pair[2], struct error *err)
{
    for (struct common_pair *p = c->first; p != NULL; p = p->next)
        if (p->runs[0] == pair[0]->run && p->runs[1] == pair[1]->run)
            return p;
    struct common_pair *p = ARENA_NEW(c->arena, struct common_pair, 1);
    if (p == NULL) {
        error_set(err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    *p = (struct common_pair){.runs = {pair[0]->run, pair[1]->run}, .next = c->first};
    c->first = p;
    return pair_fill(p, c, pair, err) == BRAID_OK ? p : NULL;
}

static const struct bucket *bucket_find(const struct buckets *b, const struct sample *s, uint32_t n_keys)
{
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t k = 0;
        while (k < n_keys && strcmp(b->v[i].texts[k], s->bucket[k]) == 0)
            k++;
        if (k == n_keys)
            return &b->v[i];
    }
    return NULL;
}

/* A lost job makes the metric worse, so that it cannot flatter the policy that lost it. */
static bool counts_losses(const struct metric_info *info, const struct sample *const pair[2])
{
    return info->losses == METRIC_LOSSES_ALL || (info->losses == METRIC_LOSSES_UNFINISHED &&
                                                 pair[0]->counts[SAMPLE_REJECTED] == pair[1]->counts[SAMPLE_REJECTED]);
}

int common_values(struct common *out, struct common_cache *cache, const struct sample *const pair[2], uint32_t m,
                  struct error *err)
{
    const struct sample_set *s = cache->set;
    struct common_pair *p = pair_get(cache, pair, err);
    *out = (struct common){.values = {pair[0]->values[m], pair[1]->values[m]}};
    if (p == NULL)
        return err->code;
    out->kind = p->kind;
    out->why = p->why;
    if (p->kind == COMMON_SAME)
        return BRAID_OK;
    const struct bucket *sides[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        sides[i] = bucket_find(&p->sides[i], pair[i], s->n_job_keys);
    out->n_common = sides[0] != NULL ? sides[0]->counts[SAMPLE_JOBS] : 0;
    if (p->kind == COMMON_PARTLY && s->n_job_keys > 0 && sides[0] != NULL && sides[1] != NULL &&
        out->n_common == pair[0]->counts[SAMPLE_FINISHED] && out->n_common == pair[1]->counts[SAMPLE_FINISHED] &&
        is_whole(pair[0]) && is_whole(pair[1])) {
        out->kind = COMMON_SAME; /* what was lost is in other buckets */
        return BRAID_OK;
    }
    if (counts_losses(&s->infos[m], pair))
        return BRAID_OK;
    for (int i = 0; i < 2; i++)
        out->values[i] = sides[i] != NULL && bucket_has_metric(s->metrics[m]) ? sides[i]->values[m] : NAN;
    return BRAID_OK;
}
