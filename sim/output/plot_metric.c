#include "output/plot_metric.h"

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

/* Both are in order of their seeds. */
static size_t pair_seeds(const struct plot_policy *base, const double *of_base, const struct plot_policy *policy,
                         const double *of_policy, double *a, double *b)
{
    size_t n = 0;
    for (uint32_t i = 0, k = 0; i < policy->n_runs && k < base->n_runs;) {
        if (base->runs[k]->seed < policy->runs[i]->seed)
            k++;
        else if (base->runs[k]->seed > policy->runs[i]->seed)
            i++;
        else {
            a[n] = of_base[k++];
            b[n++] = of_policy[i++];
        }
    }
    return n;
}

int plot_metric_ratios(const struct report_file *f, const struct plot_combo *c, const char *metric, uint32_t base,
                       struct interval *out, struct error *err)
{
    double *values;
    int code = load_metric(f, c, metric, &values, err);
    if (code != BRAID_OK)
        return code;
    size_t n_metrics;
    int index = metrics_find(metric);
    bool is_less_better = index < 0 || metrics_table(&n_metrics)[index].better < 0;
    uint32_t base_at = 0;
    for (uint32_t i = 0; i < base; i++)
        base_at += c->policies[i].n_runs;
    double *pairs = malloc(2 * ((size_t)c->policies[base].n_runs + 1) * sizeof *pairs);
    if (pairs == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0, at = 0; code == BRAID_OK && i < c->n_policies; at += c->policies[i++].n_runs) {
        double *of_policy = pairs + c->policies[base].n_runs + 1;
        size_t n = pair_seeds(&c->policies[base], values + base_at, &c->policies[i], values + at, pairs, of_policy);
        out[i] = is_less_better ? stats_ratio(pairs, of_policy, n) : stats_ratio(of_policy, pairs, n);
    }
    free(pairs);
    free(values);
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
