#include "output/plot_metric.h"

#include "output/report_common.h"

#include <stdlib.h>
#include <string.h>

/* The values of one metric of every run of the combination, policy after policy. */
static int load_metric(const struct report_file *f, const struct plot_combo *combo, const char *metric, double **out,
                       struct error *err)
{
    struct report_table t;
    *out = NULL;
    int code = report_table_open(&t, f->file, f->path, "summary", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *c = report_column_need(&t, metric, err);
    uint32_t n = 0;
    for (uint32_t i = 0; i < combo->n_policies; i++)
        n += combo->policies[i].n_runs;
    double *values = malloc(n * sizeof *values);
    if (c == NULL)
        code = err->code;
    else if (values == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0, k = 0; code == BRAID_OK && i < combo->n_policies; i++)
        for (uint32_t r = 0; code == BRAID_OK && r < combo->policies[i].n_runs; r++)
            code = report_read_f64(&t, c, combo->policies[i].runs[r]->row, 1, &values[k++], err);
    report_table_close(&t);
    if (code == BRAID_OK)
        *out = values;
    else
        free(values);
    return code;
}

int plot_metric_means(const struct report_file *f, const struct plot_combo *c, const char *metric, struct interval *out,
                      struct error *err)
{
    double *values;
    int code = load_metric(f, c, metric, &values, err);
    if (code != BRAID_OK)
        return code;
    for (uint32_t i = 0, at = 0; i < c->n_policies; at += c->policies[i++].n_runs)
        out[i] = stats_mean(values + at, c->policies[i].n_runs);
    free(values);
    return BRAID_OK;
}

static const struct sample *sample_of(const struct sample_set *set, const struct report_run *run)
{
    for (uint32_t i = 0; i < set->n_samples; i++)
        if (set->samples[i].run == run)
            return &set->samples[i];
    return NULL;
}

/* The pairs of runs of one seed: what `base` and `policy` reached, over the jobs that finished in both. */
static int pair_values(const struct sample_set *set, struct common_cache *cache, const struct plot_policy *base,
                       const struct plot_policy *policy, double *of_base, double *of_policy, size_t *n,
                       struct error *err)
{
    *n = 0;
    for (uint32_t i = 0, k = 0; i < policy->n_runs && k < base->n_runs;) { /* both in order of their seeds */
        if (base->runs[k]->seed < policy->runs[i]->seed) {
            k++;
            continue;
        }
        if (base->runs[k]->seed > policy->runs[i]->seed) {
            i++;
            continue;
        }
        const struct sample *pair[2] = {sample_of(set, base->runs[k++]), sample_of(set, policy->runs[i++])};
        struct common common;
        if (pair[0] == NULL || pair[1] == NULL)
            continue;
        int code = common_values(&common, cache, pair, 0, err);
        if (code != BRAID_OK)
            return code;
        if (common.kind == COMMON_UNKNOWN)
            continue;
        of_base[*n] = common.values[0];
        of_policy[(*n)++] = common.values[1];
    }
    return BRAID_OK;
}

int plot_metric_ratios(const struct report_file *f, const struct plot_combo *c, const char *metric, uint32_t base,
                       struct interval *out, struct error *err)
{
    struct sample_set set;
    struct arena arena;
    size_t n_metrics, n, room = (size_t)c->policies[base].n_runs + 1;
    int index = metrics_find(metric);
    bool is_less_better = index < 0 || metrics_table(&n_metrics)[index].better < 0;
    int code = sample_set_load(&set, f, 1, NULL, 0, &metric, 1, err);
    if (code != BRAID_OK)
        return code;
    arena_init(&arena);
    struct common_cache cache = {.arena = &arena, .set = &set};
    double *pairs = ARENA_NEW(&arena, double, 2 * room);
    if (pairs == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; code == BRAID_OK && i < c->n_policies; i++) {
        code = pair_values(&set, &cache, &c->policies[base], &c->policies[i], pairs, pairs + room, &n, err);
        if (code == BRAID_OK)
            out[i] = is_less_better ? stats_ratio(pairs, pairs + room, n) : stats_ratio(pairs + room, pairs, n);
    }
    arena_fini(&arena);
    sample_set_fini(&set);
    return code;
}

const char *plot_metric_title(const char *metric)
{
    static const char *const titles[][2] = {{"jct_mean", "mean JCT"},
                                            {"jct_p50", "median JCT"},
                                            {"jct_p95", "95th percentile JCT"},
                                            {"jct_p99", "99th percentile JCT"},
                                            {"wait_mean", "mean waiting time"},
                                            {"wait_p99", "99th percentile waiting time"},
                                            {"gpu_utilization", "GPU utilisation"}};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (strcmp(titles[i][0], metric) == 0)
            return titles[i][1];
    return metric;
}
