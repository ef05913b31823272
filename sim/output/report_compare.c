#include "output/report_compare.h"

#include "base/names.h"
#include "output/report_config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By default; `queued_mean` where a run preempts, for there the first start is not the end of waiting. Of a part of the jobs without the last
 * ones: utilisation and makespan belong to the whole cluster. */
static const char *const usual_metrics[] = {"jct_mean",    "jct_p50",         "jct_p99", "wait_mean",
                                            "queued_mean", "gpu_utilization", "makespan"};
enum { N_USUAL = sizeof usual_metrics / sizeof usual_metrics[0], N_WHOLE = 2 };

enum { MAX_KEYS = 64, MAX_WARNINGS = 16 };

static bool is_in(const char *const *list, uint32_t n, const char *text)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
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
    const char *names[MAX_KEYS + 16] = {"vc",     "gpus",   "user", "status",     "trace_status", "hour",
                                        "length", "policy", "seed", "experiment", "file",         "run"};
    size_t n = 12;
    for (uint32_t i = 0; i < swept->n; i++)
        names[n++] = swept->keys[i];
    const char *near = text_nearest(key, names, n);
    if (near != NULL)
        return error_set(err, BRAID_BAD_INPUT, "--by: unknown key '%s'; did you mean '%s'?", key, near);
    return error_set(err, BRAID_BAD_INPUT,
                     "--by: unknown key '%s'; use vc, gpus, user, status, trace_status, hour, length, policy, seed, "
                     "experiment, file, "
                     "run or a swept key",
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
        if (!key_is_replicate(swept->keys[i]))
            c->keys[c->n_keys++] = swept->keys[i];
    if (!is_in(c->keys, c->n_keys, c->baseline_key))
        c->keys[c->n_keys++] = c->baseline_key;
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

/* The order of two values of a key: that of the config where it is a swept one. */
static int compare_values(const struct compare *c, const char *key, const struct sample *a, const struct sample *b)
{
    const char *x = sample_value(&c->samples, a, key), *y = sample_value(&c->samples, b, key);
    if (sample_is_job_key(key))
        return sample_compare_job_key(key, x, y);
    if (strcmp(key, "policy") == 0)
        key = REPORT_ORDER_LABEL;
    else if (strcmp(key, SAMPLE_PARAMETERS) == 0)
        key = "policy";
    return report_order_compare(&c->order, key, x, y);
}

/* Is it the key of which the baseline has one value (for policies also their parameters)? */
static bool is_baseline_key(const struct compare *c, const char *key)
{
    return strcmp(key, c->baseline_key) == 0 ||
           (strcmp(c->baseline_key, "policy") == 0 && strcmp(key, SAMPLE_PARAMETERS) == 0);
}

static bool is_baseline(const struct compare *c, const struct sample *s)
{
    return strcmp(sample_value(&c->samples, s, c->baseline_key), c->baseline_value) == 0;
}

static int compare_by_keys(const struct compare *c, const struct sample *a, const struct sample *b, bool with_all)
{
    for (uint32_t k = 0; k < c->n_keys; k++) {
        if (!with_all && is_baseline_key(c, c->keys[k]))
            continue;
        int order = compare_values(c, c->keys[k], a, b);
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
        int order = is_in(c->keys, c->n_keys, key) ? 0 : compare_values(c, key, a, b);
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
    if (is_baseline(c, x->sample) != is_baseline(c, y->sample))
        return is_baseline(c, x->sample) ? -1 : 1;
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

/* "fifo", or "KEY=VALUE" with a key of runs; a policy may have an equals sign in its label. */
static int choose_baseline_key(struct compare *c, const struct compare_options *o, const struct swept_keys *swept,
                               const struct report_file *files, size_t n_files, struct error *err)
{
    c->baseline_key = "policy";
    c->baseline_value = c->baseline = o->baseline;
    const char *equals = o->baseline == NULL ? NULL : strchr(o->baseline, '=');
    for (size_t f = 0; equals != NULL && f < n_files; f++)
        for (uint32_t r = 0; r < files[f].n_runs; r++)
            if (strcmp(files[f].runs[r].label, o->baseline) == 0)
                return BRAID_OK;
    if (equals == NULL)
        return BRAID_OK;
    const char *key = arena_text(&c->arena, o->baseline, (size_t)(equals - o->baseline));
    if (key == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    if (!is_run_key(swept, key) && strchr(key, ' ') == NULL)
        return error_set(err, BRAID_BAD_INPUT,
                         "--baseline: '%s' is no key that tells these runs apart; use policy or a swept key", key);
    if (is_run_key(swept, key)) {
        c->baseline_key = key;
        c->baseline_value = equals + 1;
        c->baseline = strcmp(key, "policy") == 0 ? equals + 1 : o->baseline;
    }
    return BRAID_OK;
}

static int choose_baseline(struct compare *c, struct error *err)
{
    const struct sample *first = NULL;
    char list[400] = "";
    for (uint32_t i = 0; i < c->samples.n_samples; i++) {
        const struct sample *s = &c->samples.samples[i];
        const char *value = sample_value(&c->samples, s, c->baseline_key);
        if (strcmp(value, c->baseline_value != NULL ? c->baseline_value : "fifo") == 0) {
            c->baseline_value = value;
            c->baseline = c->baseline == NULL ? value : c->baseline;
            return BRAID_OK;
        }
        if (first == NULL || compare_values(c, c->baseline_key, s, first) < 0)
            first = s;
        size_t used = strlen(list);
        if (strstr(list, value) == NULL && used + strlen(value) + 3 < sizeof list)
            snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", value);
    }
    if (c->baseline_value != NULL && strcmp(c->baseline_key, "policy") == 0)
        return error_set(err, BRAID_BAD_INPUT, "--baseline: no run of policy '%s'; there are: %s", c->baseline_value,
                         list);
    if (c->baseline_value != NULL)
        return error_set(err, BRAID_BAD_INPUT, "--baseline: no run has %s; there are: %s", c->baseline, list);
    c->baseline = c->baseline_value = sample_value(&c->samples, first, c->baseline_key);
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

/* What the run remarked itself (that its policy forgot jobs, and the like), once for all runs that remarked the same. */
static void warn_of_remarks(struct compare *c, const struct sample *s)
{
    char heading[160];
    const char *title = report_run_title(s->file, s->run, heading, sizeof heading);
    const struct sample *all = c->samples.samples;
    uint32_t first = 0, n = 0, n_all = c->samples.n_samples;
    if (s->run->remarks[0] == '\0')
        return;
    while (first < n_all && strcmp(all[first].run->remarks, s->run->remarks) != 0)
        first++;
    if (c->n_warnings == MAX_WARNINGS || first == n_all || &all[first] != s)
        return; /* no more are told, or it has been told */
    for (uint32_t i = first; i < n_all; i++)
        n += strcmp(all[i].run->remarks, s->run->remarks) == 0;
    if (n > 1 && n == n_all)
        warn(c, "all %u runs: %s", n, s->run->remarks);
    else if (n > 1)
        warn(c, "%s and %u more runs: %s", title, n - 1, s->run->remarks);
    else
        warn(c, "%s: %s", title, s->run->remarks);
}

static void warn_of_populations(struct compare *c, const struct compare_group *g, const struct member *base)
{
    const char *label = g->values[0];
    if (g->n_partly > 0 && c->samples.n_job_keys == 0)
        warn(
            c,
            "'%s' finished other jobs than '%s' (%.0f and %.0f of %.0f): compared over the %.0f that finished in both; "
            "metrics that cannot be computed so have no ratio",
            label, c->baseline, g->counts[SAMPLE_FINISHED], base->sample->counts[SAMPLE_FINISHED],
            g->counts[SAMPLE_JOBS], g->n_common);
    else if (g->n_partly > 0)
        warn(c, "'%s' finished other jobs than '%s' in marked rows: compared over those that finished in both", label,
             c->baseline);
    if (g->n_unknown > 0)
        warn(c,
             "'%s' and '%s' did not both finish all jobs, and which of them did both finish cannot be told (%s): no "
             "ratio",
             label, c->baseline, g->why);
}

static int fill_group(struct compare *c, struct compare_group *g, const struct member *members, uint32_t n,
                      const struct sample *const *pairs, struct error *err)
{
    g->n_runs = n;
    g->values = ARENA_NEW(&c->arena, const char *, c->n_keys);
    const struct sample **runs = malloc(((size_t)n + 1) * sizeof *runs);
    int code = g->values == NULL || runs == NULL ? error_set(err, BRAID_FAILED, "out of memory") : BRAID_OK;
    for (uint32_t s = 0; code == BRAID_OK && s < n; s++) {
        runs[s] = members[s].sample;
        if (c->samples.n_job_keys == 0)
            warn_of_remarks(c, runs[s]);
    }
    for (uint32_t k = 0; code == BRAID_OK && k < c->n_keys; k++)
        g->values[k] = sample_value(&c->samples, members[0].sample, c->keys[k]);
    if (code == BRAID_OK) {
        g->is_baseline = is_baseline(c, members[0].sample);
        code = compare_fill_cells(c, g, runs, pairs, err);
    }
    free(runs);
    return code;
}

/* The keys in which runs of one group differ. */
static int find_averaged(struct compare *c, const struct member *members, const struct swept_keys *swept,
                         struct error *err)
{
    c->averaged = ARENA_NEW(&c->arena, const char *, (size_t)swept->n + 1);
    c->is_sample = true;
    if (c->averaged == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t k = 0; k <= swept->n; k++) {
        const char *key = k < swept->n ? swept->keys[k] : "seed";
        bool varies = false;
        for (uint32_t m = 1; m < c->samples.n_samples && !varies; m++)
            varies = compare_by_keys(c, members[m - 1].sample, members[m].sample, true) == 0 &&
                     compare_values(c, key, members[m - 1].sample, members[m].sample) != 0;
        if (!varies)
            continue;
        c->averaged[c->n_averaged++] = key;
        c->is_sample = c->is_sample && key_is_replicate(key);
    }
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
        if (base_end == 0 && is_baseline(c, members[begin].sample)) {
            base_begin = begin;
            base_end = end;
        }
        g->n_pairs =
            pair_up(c, swept, members + begin, end - begin, members + base_begin, base_end - base_begin, pairs);
        code = fill_group(c, g, members + begin, end - begin, pairs, err);
        if (code == BRAID_OK && base_end > 0)
            warn_of_populations(c, g, &members[base_begin]);
        if (code == BRAID_OK && g->n_pairs < g->n_runs && c->samples.n_job_keys == 0)
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

/* What the tables must know of the runs of one file: how many traces, and what needs a remark. */
static int look_at_file(struct compare *c, struct names *traces, const struct report_file *f, struct error *err)
{
    struct report_table summary;
    int code = report_table_open(&summary, f->file, f->path, "summary", err);
    if (code != BRAID_OK)
        return code;
    const double *preemptions =
        report_load_f64(&summary, "preemptions", (struct report_range){0, summary.rows}, &c->arena, err);
    report_table_close(&summary);
    if (preemptions == NULL)
        return err->code;
    for (uint32_t r = 0; r < f->n_runs; r++) {
        const struct report_run *run = &f->runs[r];
        if (strcmp(run->status, "failed") == 0)
            continue;
        if (names_add(traces, run->trace_digest, strlen(run->trace_digest)) == NAMES_NONE)
            return error_set(err, BRAID_FAILED, "out of memory");
        c->has_preemptions = c->has_preemptions || preemptions[run->row] > 0;
        c->has_load_by_vc = c->has_load_by_vc || report_config_has_load_by_vc(run);
    }
    return BRAID_OK;
}

static int look_at_runs(struct compare *c, const struct report_file *files, size_t n_files, struct error *err)
{
    struct names traces;
    names_init(&traces);
    int code = BRAID_OK;
    for (size_t f = 0; code == BRAID_OK && f < n_files; f++)
        code = look_at_file(c, &traces, &files[f], err);
    c->n_traces = traces.count;
    names_fini(&traces);
    return code;
}

static int choose_metrics(struct compare *c, const struct compare_options *o, bool by_jobs, struct error *err)
{
    c->metrics = o->metrics;
    c->n_metrics = o->n_metrics;
    if (o->n_metrics > 0)
        return BRAID_OK;
    const char **usual = ARENA_NEW(&c->arena, const char *, N_USUAL);
    if (usual == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (int i = 0; i < N_USUAL - (by_jobs ? N_WHOLE : 0); i++)
        if (c->has_preemptions || strcmp(usual_metrics[i], "queued_mean") != 0)
            usual[c->n_metrics++] = usual_metrics[i];
    c->metrics = usual;
    return BRAID_OK;
}

static int build(struct compare *out, const struct report_file *files, size_t n_files,
                 const struct compare_options *options, struct error *err)
{
    struct swept_keys swept = {.n = 0};
    uint32_t n_run_keys = 0;
    collect_swept(&swept, files, n_files);
    int code = choose_baseline_key(out, options, &swept, files, n_files, err);
    if (code == BRAID_OK)
        code = report_order_init(&out->order, files, n_files, err);
    if (code == BRAID_OK)
        code = choose_keys(out, options, &swept, &n_run_keys, err);
    if (code != BRAID_OK)
        return code;
    uint32_t n_job_keys = out->n_keys - n_run_keys;
    const char **job_keys = ARENA_NEW(&out->arena, const char *, n_job_keys);
    if (job_keys == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    memcpy(job_keys, out->keys + n_run_keys, n_job_keys * sizeof *job_keys);
    code = look_at_runs(out, files, n_files, err);
    if (code == BRAID_OK)
        code = choose_metrics(out, options, n_job_keys > 0, err);
    if (code == BRAID_OK)
        code = sample_set_load(&out->samples, files, n_files, job_keys, n_job_keys, out->metrics, out->n_metrics, err);
    if (code != BRAID_OK)
        return code;
    out->infos = out->samples.infos;
    out->cache = (struct common_cache){.arena = &out->arena, .set = &out->samples};
    if (out->samples.n_samples == 0)
        return error_at(err, BRAID_BAD_INPUT, files[0].path, 0, 0, "there is no finished run to compare");
    code = choose_baseline(out, err);
    struct member *members = ARENA_NEW(&out->arena, struct member, out->samples.n_samples);
    if (code == BRAID_OK && members == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    if (code != BRAID_OK)
        return code;
    for (uint32_t i = 0; i < out->samples.n_samples; i++)
        members[i] = (struct member){out, &swept, &out->samples.samples[i]};
    tell_apart(out, members, &swept, &n_run_keys);
    warn_of_status(out, files, n_files);
    code = find_averaged(out, members, &swept, err);
    if (code == BRAID_OK)
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
    report_order_fini(&c->order);
    sample_set_fini(&c->samples);
    arena_fini(&c->arena);
    *c = (struct compare){0};
}
