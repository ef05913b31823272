#include "output/report_compare.h"

#include <math.h>
#include <stdlib.h>

bool compare_is_marked(const struct compare_group *g)
{
    return g->n_partly + g->n_unknown > 0 ||
           (g->n_pairs < g->n_runs && g->counts[SAMPLE_FINISHED] < g->counts[SAMPLE_JOBS]);
}

bool compare_disagrees(const struct compare_cell *c)
{
    return (c->ratio.mean > 1 && c->of_means.mean < 1) || (c->ratio.mean < 1 && c->of_means.mean > 1);
}

double compare_share(const struct metric_info *info, double ratio)
{
    return info->better < 0 ? 1 - 1 / ratio : ratio - 1;
}

/* A ratio that says something: both above 0, and not worlds apart. */
static bool is_comparable(double a, double b)
{
    return a > 0 && b > 0 && isfinite(a) && isfinite(b) && a / b <= COMPARE_EXTREME && b / a <= COMPARE_EXTREME;
}

/* Values of the pairs: of the baseline, then of this. */
struct pair_values {
    double *base, *mine, *ratios;
    uint32_t n;
};

static void fill_improvement(const struct compare *c, struct compare_cell *cell, const struct metric_info *info,
                             const struct pair_values *v)
{
    cell->difference = stats_difference(v->mine, v->base, v->n);
    cell->ratio = cell->of_means = (struct interval){.mean = NAN, .low = NAN, .high = NAN};
    if (info->better == 0)
        return;
    const double *above = info->better < 0 ? v->base : v->mine, *below = info->better < 0 ? v->mine : v->base;
    for (uint32_t p = 0; p < v->n; p++) {
        bool is_none = isnan(above[p]) || isnan(below[p]);
        cell->is_extreme = cell->is_extreme || (!is_none && !is_comparable(above[p], below[p]));
        v->ratios[p] = is_none ? NAN : above[p] / below[p];
    }
    if (!cell->is_extreme) {
        cell->ratio = stats_ratio(above, below, v->n);
        cell->of_means = stats_ratio_of_means(above, below, v->n);
    }
    if (c->is_sample)
        return;
    if (!cell->is_extreme)
        stats_range(&cell->ratio, v->ratios, v->n);
    cell->of_means.low = cell->of_means.high = NAN;
    for (uint32_t p = 0; p < v->n; p++)
        v->ratios[p] = v->mine[p] - v->base[p];
    stats_range(&cell->difference, v->ratios, v->n);
}

static int fill_pairs(struct compare *c, struct compare_group *g, uint32_t metric, const struct sample *const *pairs,
                      struct pair_values *v, struct error *err)
{
    double n_common = 0;
    g->n_partly = g->n_unknown = 0;
    for (uint32_t p = 0; p < g->n_pairs; p++) {
        struct common common;
        int code = common_values(&common, &c->cache, pairs + 2 * (size_t)p, metric, err);
        if (code != BRAID_OK)
            return code;
        v->base[p] = common.values[0];
        v->mine[p] = common.values[1];
        g->n_partly += common.kind == COMMON_PARTLY;
        n_common += common.kind == COMMON_PARTLY ? common.n_common : 0;
        if (common.kind == COMMON_UNKNOWN) {
            g->n_unknown++;
            g->why = common.why;
        }
    }
    g->n_common = g->n_partly > 0 ? n_common / g->n_partly : NAN;
    v->n = g->n_pairs;
    return BRAID_OK;
}

int compare_fill_cells(struct compare *c, struct compare_group *g, const struct sample *const *runs,
                       const struct sample *const *pairs, struct error *err)
{
    size_t n = (size_t)g->n_runs + 1;
    g->cells = ARENA_NEW(&c->arena, struct compare_cell, c->n_metrics);
    double *values = malloc(3 * n * sizeof *values);
    int code = g->cells == NULL || values == NULL ? error_set(err, BRAID_FAILED, "out of memory") : BRAID_OK;
    for (int i = 0; code == BRAID_OK && i < SAMPLE_COUNTS; i++) {
        for (uint32_t s = 0; s < g->n_runs; s++)
            values[s] = runs[s]->counts[i];
        g->counts[i] = stats_mean(values, g->n_runs).mean;
    }
    for (uint32_t m = 0; code == BRAID_OK && m < c->n_metrics; m++) {
        struct compare_cell *cell = &g->cells[m];
        *cell = (struct compare_cell){0};
        for (uint32_t s = 0; s < g->n_runs; s++)
            values[s] = runs[s]->values[m];
        cell->mean = stats_mean(values, g->n_runs);
        if (!c->is_sample)
            stats_range(&cell->mean, values, g->n_runs);
        struct pair_values v = {values, values + n, values + 2 * n, 0};
        code = fill_pairs(c, g, m, pairs, &v, err);
        if (code == BRAID_OK)
            fill_improvement(c, cell, &c->infos[m], &v);
    }
    free(values);
    return code;
}
