#include "output/report_compare.h"

#include "base/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usual_metrics[] = {"jct_mean",  "jct_p50",         "jct_p99",
                                            "wait_mean", "gpu_utilization", "makespan"};
/* Of a part of the jobs: utilisation and makespan belong to the whole cluster. */
static const char *const usual_job_metrics[] = {"jct_mean", "jct_p50", "jct_p99", "wait_mean"};

enum { MAX_KEYS = 64, MAX_WARNINGS = 16 };

static bool is_in(const char *const *list, uint32_t n, const char *text)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

static int natural(const char *a, const char *b)
{
    return text_compare_natural(a, strlen(a), b, strlen(b));
}

static void warn(struct compare *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void warn(struct compare *c, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || c->n_warnings == MAX_WARNINGS || is_in(c->warnings, c->n_warnings, text))
        return;
    const char *kept = arena_text(&c->arena, text, strlen(text));
    if (kept != NULL)
        c->warnings[c->n_warnings++] = kept;
}

/* ---- which keys ------------------------------------------------------------------------------- */

/* All keys that can tell runs apart: swept keys of any file but policy and seed. */
struct swept_keys {
    const char *keys[MAX_KEYS];
    uint32_t n;
};

static void collect_swept(struct swept_keys *out, const struct report_file *files, size_t n_files)
{
    for (size_t i = 0; i < n_files; i++)
        for (uint32_t k = 0; k < files[i].n_swept && out->n < MAX_KEYS; k++) {
            const char *key = files[i].swept_keys[k];
            if (strcmp(key, "policy") != 0 && strcmp(key, "seed") != 0 && !is_in(out->keys, out->n, key))
                out->keys[out->n++] = key;
        }
}

static bool is_run_key(const struct swept_keys *swept, const char *key)
{
    static const char *const fixed[] = {"policy", "seed", "experiment", "file", "run"};
    return is_in(fixed, sizeof fixed / sizeof fixed[0], key) || is_in(swept->keys, swept->n, key);
}

static int unknown_key(const struct swept_keys *swept, const char *key, struct error *err)
{
    const char *names[MAX_KEYS + 16] = {"vc",     "gpus", "user",       "status", "trace_status",
                                        "policy", "seed", "experiment", "file",   "run"};
    size_t n = 10;
    for (uint32_t i = 0; i < swept->n; i++)
        names[n++] = swept->keys[i];
    const char *near = text_nearest(key, names, n);
    if (near != NULL)
        return error_set(err, BRAID_BAD_INPUT, "--by: unknown key '%s'; did you mean '%s'?", key, near);
    return error_set(
        err, BRAID_BAD_INPUT,
        "--by: unknown key '%s'; use vc, gpus, user, status, trace_status, policy, seed, experiment, file, run or a "
        "swept key",
        key);
}

/* c->keys: "policy", then the run keys, then the job keys, which start at *n_run_keys. */
static int choose_keys(struct compare *c, const struct compare_options *o, const struct swept_keys *swept,
                       uint32_t *n_run_keys, struct error *err)
{
    c->keys = ARENA_NEW(&c->arena, const char *, (size_t)o->n_by + MAX_KEYS + 8);
    c->warnings = ARENA_NEW(&c->arena, const char *, MAX_WARNINGS);
    if (c->keys == NULL || c->warnings == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    c->keys[c->n_keys++] = "policy";
    bool says_runs = false;
    for (uint32_t i = 0; i < o->n_by; i++) {
        if (!sample_is_job_key(o->by[i]) && !is_run_key(swept, o->by[i]))
            return unknown_key(swept, o->by[i], err);
        says_runs = says_runs || !sample_is_job_key(o->by[i]);
        if (!sample_is_job_key(o->by[i]) && !is_in(c->keys, c->n_keys, o->by[i]))
            c->keys[c->n_keys++] = o->by[i];
    }
    for (uint32_t i = 0; !says_runs && i < swept->n; i++)
        c->keys[c->n_keys++] = swept->keys[i];
    *n_run_keys = c->n_keys;
    for (uint32_t i = 0; i < o->n_by; i++)
        if (sample_is_job_key(o->by[i]) && !is_in(c->keys + *n_run_keys, c->n_keys - *n_run_keys, o->by[i]))
            c->keys[c->n_keys++] = o->by[i];
    return BRAID_OK;
}

/* ---- groups ----------------------------------------------------------------------------------- */

/* A sample with its place in the order: groups are runs of equal keys. */
struct member {
    const struct compare *compare;
    const struct swept_keys *swept;
    const struct sample *sample;
};

static int compare_by_keys(const struct compare *c, const struct sample *a, const struct sample *b, bool with_policy)
{
    for (uint32_t k = 0; k < c->n_keys; k++) {
        if (!with_policy && (k == 0 || strcmp(c->keys[k], SAMPLE_PARAMETERS) == 0))
            continue;
        int order = natural(sample_value(&c->samples, a, c->keys[k]), sample_value(&c->samples, b, c->keys[k]));
        if (order != 0)
            return order;
    }
    return 0;
}

/* What pairs runs: the seed and every swept key that is not a key of the table. */
static int compare_by_rest(const struct compare *c, const struct swept_keys *swept, const struct sample *a,
                           const struct sample *b)
{
    for (uint32_t k = 0; k <= swept->n; k++) {
        const char *key = k < swept->n ? swept->keys[k] : "seed";
        int order = is_in(c->keys, c->n_keys, key)
                        ? 0
                        : natural(sample_value(&c->samples, a, key), sample_value(&c->samples, b, key));
        if (order != 0)
            return order;
    }
    return 0;
}

static int order_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const struct compare *c = x->compare;
    int order = compare_by_keys(c, x->sample, y->sample, false);
    if (order != 0)
        return order;
    const char *p = x->sample->run->label, *q = y->sample->run->label;
    if (c->baseline != NULL && (strcmp(p, c->baseline) == 0) != (strcmp(q, c->baseline) == 0))
        return strcmp(p, c->baseline) == 0 ? -1 : 1;
    order = natural(p, q);
    if (order == 0)
        order = compare_by_keys(c, x->sample, y->sample, true);
    if (order == 0)
        order = compare_by_rest(c, x->swept, x->sample, y->sample);
    return order != 0 ? order : strcmp(x->sample->run->id, y->sample->run->id);
}

/* Runs that agree in every key and in the seed are not repetitions: something else sets them apart, and becomes a key. */
static void tell_apart(struct compare *c, struct member *members, const struct swept_keys *swept, uint32_t *n_run_keys)
{
    static const char *const others[] = {SAMPLE_PARAMETERS, "experiment", "file", "run"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        bool clash = false, helps = false;
        qsort(members, c->samples.n_samples, sizeof *members, order_members);
        for (uint32_t m = 1; m < c->samples.n_samples; m++) {
            const struct sample *a = members[m - 1].sample, *b = members[m].sample;
            if (compare_by_keys(c, a, b, true) != 0 || compare_by_rest(c, swept, a, b) != 0)
                continue;
            clash = true;
            helps =
                helps || strcmp(sample_value(&c->samples, a, others[i]), sample_value(&c->samples, b, others[i])) != 0;
        }
        if (!clash)
            return;
        if (!helps || is_in(c->keys, c->n_keys, others[i]))
            continue;
        memmove(c->keys + *n_run_keys + 1, c->keys + *n_run_keys, (c->n_keys - *n_run_keys) * sizeof *c->keys);
        c->keys[(*n_run_keys)++] = others[i];
        c->n_keys++;
    }
    qsort(members, c->samples.n_samples, sizeof *members, order_members);
}

static int choose_baseline(struct compare *c, const struct compare_options *o, struct error *err)
{
    const char *first = NULL;
    char list[400] = "";
    for (uint32_t i = 0; i < c->samples.n_samples; i++) {
        const char *label = c->samples.samples[i].run->label;
        const char *wanted = o->baseline != NULL ? o->baseline : "fifo";
        if (strcmp(label, wanted) == 0) {
            c->baseline = label;
            return BRAID_OK;
        }
        if (first == NULL || natural(label, first) < 0)
            first = label;
        size_t used = strlen(list);
        if (strstr(list, label) == NULL && used + strlen(label) + 3 < sizeof list)
            snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", label);
    }
    if (o->baseline != NULL)
        return error_set(err, BRAID_BAD_INPUT, "--baseline: no run of policy '%s'; there are: %s", o->baseline, list);
    c->baseline = first;
    return BRAID_OK;
}

/* Pair each run of [begin, end) with the baseline's; `above` and `below` are filled for each metric in turn. */
static uint32_t pair_up(struct compare *c, const struct swept_keys *swept, const struct member *group, uint32_t n,
                        const struct member *base, uint32_t n_base, const struct sample **pairs)
{
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t b = 0; b < n_base; b++) {
            if (compare_by_rest(c, swept, group[i].sample, base[b].sample) != 0)
                continue;
            pairs[2 * n_pairs] = base[b].sample;
            pairs[2 * n_pairs + 1] = group[i].sample;
            n_pairs++;
            if (strcmp(base[b].sample->run->trace_digest, group[i].sample->run->trace_digest) != 0)
                warn(c,
                     "'%s' and '%s' did not run the same trace (digests %.12s and %.12s): the ratio compares different "
                     "jobs",
                     base[b].sample->run->label, group[i].sample->run->label, base[b].sample->run->trace_digest,
                     group[i].sample->run->trace_digest);
            break;
        }
    return n_pairs;
}

static int fill_group(struct compare *c, struct compare_group *g, const struct member *members, uint32_t n,
                      const struct sample *const *pairs, struct error *err)
{
    g->n_runs = n;
    g->values = ARENA_NEW(&c->arena, const char *, c->n_keys);
    g->cells = ARENA_NEW(&c->arena, struct compare_cell, c->n_metrics);
    double *values = malloc((2 * (size_t)n + 1) * sizeof *values);
    if (g->values == NULL || g->cells == NULL || values == NULL) {
        free(values);
        return error_set(err, BRAID_FAILED, "out of memory");
    }
    for (uint32_t k = 0; k < c->n_keys; k++)
        g->values[k] = sample_value(&c->samples, members[0].sample, c->keys[k]);
    g->is_baseline = strcmp(members[0].sample->run->label, c->baseline) == 0;
    for (int i = 0; i < SAMPLE_COUNTS; i++) {
        for (uint32_t s = 0; s < n; s++)
            values[s] = members[s].sample->counts[i];
        g->counts[i] = stats_mean(values, n).mean;
    }
    for (uint32_t m = 0; m < c->n_metrics; m++) {
        for (uint32_t s = 0; s < n; s++)
            values[s] = members[s].sample->values[m];
        g->cells[m].mean = stats_mean(values, n);
        for (uint32_t p = 0; p < g->n_pairs; p++) {
            values[p] = pairs[2 * p]->values[m];
            values[n + p] = pairs[2 * p + 1]->values[m];
        }
        g->cells[m].ratio = stats_ratio(values, values + n, g->n_pairs);
    }
    free(values);
    return BRAID_OK;
}

static int build_groups(struct compare *c, const struct member *members, const struct swept_keys *swept,
                        struct error *err)
{
    uint32_t n = c->samples.n_samples, base_begin = 0, base_end = 0;
    c->groups = ARENA_NEW(&c->arena, struct compare_group, n);
    const struct sample **pairs = ARENA_NEW(&c->arena, const struct sample *, 2 * (size_t)n);
    if (c->groups == NULL || pairs == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    for (uint32_t begin = 0, end; code == BRAID_OK && begin < n; begin = end) {
        for (end = begin + 1; end < n && compare_by_keys(c, members[begin].sample, members[end].sample, true) == 0;)
            end++;
        struct compare_group *g = &c->groups[c->n_groups++];
        if (base_end > 0 && compare_by_keys(c, members[base_begin].sample, members[begin].sample, false) != 0)
            base_begin = base_end = 0; /* other values: another baseline, or none */
        if (base_end == 0 && strcmp(members[begin].sample->run->label, c->baseline) == 0) {
            base_begin = begin;
            base_end = end;
        }
        g->n_pairs =
            pair_up(c, swept, members + begin, end - begin, members + base_begin, base_end - base_begin, pairs);
        code = fill_group(c, g, members + begin, end - begin, pairs, err);
        if (g->n_pairs < g->n_runs && c->samples.n_job_keys == 0)
            warn(c, "'%s': %u of %u runs have a counterpart of the baseline '%s' (same seed and other swept values)",
                 members[begin].sample->run->label, g->n_pairs, g->n_runs, c->baseline);
    }
    return code;
}

static void warn_of_status(struct compare *c, const struct report_file *files, size_t n_files)
{
    for (size_t i = 0; i < n_files; i++)
        for (uint32_t r = 0; r < files[i].n_runs; r++) {
            char title[160];
            if (strcmp(files[i].runs[r].status, "ok") == 0)
                continue;
            report_run_title(&files[i], &files[i].runs[r], title, sizeof title);
            if (strcmp(files[i].runs[r].status, "failed") == 0)
                warn(c, "run %s (%s) failed and is left out", files[i].runs[r].id, title);
            else
                warn(c, "run %s (%s) ended as %s: its means are over the jobs that had finished", files[i].runs[r].id,
                     title, files[i].runs[r].status);
        }
}

static int build(struct compare *out, const struct report_file *files, size_t n_files,
                 const struct compare_options *options, struct error *err)
{
    struct swept_keys swept = {.n = 0};
    uint32_t n_run_keys = 0;
    collect_swept(&swept, files, n_files);
    int code = choose_keys(out, options, &swept, &n_run_keys, err);
    if (code != BRAID_OK)
        return code;
    uint32_t n_job_keys = out->n_keys - n_run_keys;
    const char **job_keys = ARENA_NEW(&out->arena, const char *, n_job_keys);
    if (job_keys == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    memcpy(job_keys, out->keys + n_run_keys, n_job_keys * sizeof *job_keys);
    out->metrics = options->metrics;
    out->n_metrics = options->n_metrics;
    if (out->n_metrics == 0) {
        out->metrics = n_job_keys > 0 ? usual_job_metrics : usual_metrics;
        out->n_metrics = (uint32_t)(n_job_keys > 0 ? sizeof usual_job_metrics / sizeof usual_job_metrics[0]
                                                   : sizeof usual_metrics / sizeof usual_metrics[0]);
    }
    code = sample_set_load(&out->samples, files, n_files, job_keys, n_job_keys, out->metrics, out->n_metrics, err);
    if (code != BRAID_OK)
        return code;
    out->units = out->samples.units;
    if (out->samples.n_samples == 0)
        return error_at(err, BRAID_BAD_INPUT, files[0].path, 0, 0, "there is no finished run to compare");
    code = choose_baseline(out, options, err);
    struct member *members = ARENA_NEW(&out->arena, struct member, out->samples.n_samples);
    if (code == BRAID_OK && members == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    if (code != BRAID_OK)
        return code;
    for (uint32_t i = 0; i < out->samples.n_samples; i++)
        members[i] = (struct member){out, &swept, &out->samples.samples[i]};
    tell_apart(out, members, &swept, &n_run_keys);
    warn_of_status(out, files, n_files);
    code = build_groups(out, members, &swept, err);
    if (code == BRAID_OK && out->arena.is_short)
        code = error_set(err, BRAID_FAILED, "out of memory");
    return code;
}

int compare_build(struct compare *out, const struct report_file *files, size_t n_files,
                  const struct compare_options *options, struct error *err)
{
    *out = (struct compare){0};
    arena_init(&out->arena);
    int code = build(out, files, n_files, options, err);
    if (code != BRAID_OK)
        compare_fini(out);
    return code;
}

void compare_fini(struct compare *c)
{
    sample_set_fini(&c->samples);
    arena_fini(&c->arena);
    *c = (struct compare){0};
}
