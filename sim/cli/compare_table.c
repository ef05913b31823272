#include "cli/compare_table.h"

#include "output/report_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 256 };

/* ---- which columns ---------------------------------------------------------------------------- */

static enum table_kind kind_of(const char *unit)
{
    return strcmp(unit, "s") == 0          ? TABLE_KIND_SECONDS
           : strcmp(unit, "fraction") == 0 ? TABLE_KIND_FRACTION
                                           : TABLE_KIND_NUMBER;
}

static bool is_in(const struct compare_print *p, const char *word)
{
    for (uint32_t i = 0; i < p->n_counts; i++)
        if (strcmp(p->counts[i], word) == 0 || strcmp(p->counts[i], "all") == 0)
            return true;
    return false;
}

bool compare_is_count(const char *word)
{
    static const char *const others[] = {"all", "none", "runs", "pairs"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i], word) == 0)
            return true;
    for (int i = 0; i < SAMPLE_COUNTS; i++)
        if (strcmp(sample_count_names[i], word) == 0)
            return true;
    return false;
}

/* Without a choice: failed and killed where there are any; LaTeX tables, which must fit a page, have no counts. */
static bool count_is_shown(const struct compare *c, const struct compare_print *p, int count)
{
    if (p->n_counts > 0)
        return is_in(p, sample_count_names[count]);
    if (p->format == TABLE_FORMAT_LATEX)
        return false;
    if (count < SAMPLE_FAILED)
        return true;
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (c->groups[g].counts[count] > 0)
            return true;
    return false;
}

static bool is_shown(const struct compare_print *p, const char *word)
{
    return p->n_counts > 0 ? is_in(p, word) : p->format != TABLE_FORMAT_LATEX;
}

/* Does row `g` differ from the one above in a key other than the policy? */
static bool is_new_block(const struct compare *c, uint32_t above, uint32_t g)
{
    for (uint32_t k = 1; k < c->n_keys; k++)
        if (strcmp(c->keys[k], SAMPLE_PARAMETERS) != 0 && strcmp(c->keys[k], c->baseline_key) != 0 &&
            strcmp(c->groups[g].values[k], c->groups[above].values[k]) != 0)
            return true;
    return false;
}

/* Rules part blocks of rows, where any block has more than one. */
static bool has_blocks(const struct compare *c)
{
    for (uint32_t g = 1; g < c->n_groups; g++)
        if (!is_new_block(c, g - 1, g))
            return true;
    return false;
}

static uint32_t add_keys(struct table_column *columns, uint32_t n, const struct compare *c)
{
    for (uint32_t k = 0; k < c->n_keys; k++)
        columns[n++] = (struct table_column){.name = c->keys[k], .kind = TABLE_KIND_TEXT};
    return n;
}

static void put_keys(struct table *t, const struct compare *c, const struct compare_group *g)
{
    for (uint32_t k = 0; k < c->n_keys; k++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", g->values[k][0] != '\0' ? g->values[k] : "-",
                 k == 0 && compare_is_marked(g) ? " *" : "");
        table_text(t, text);
    }
}

/* ---- the tables ------------------------------------------------------------------------------- */

static struct table *table_of_means(const struct compare *c, const struct compare_print *p)
{
    struct table_column columns[MAX_COLUMNS];
    uint32_t n = add_keys(columns, 0, c);
    bool has_rules = has_blocks(c);
    if (is_shown(p, "runs"))
        columns[n++] = (struct table_column){.name = "runs", .kind = TABLE_KIND_COUNT};
    for (int i = 0; i < SAMPLE_COUNTS; i++)
        if (count_is_shown(c, p, i))
            columns[n++] = (struct table_column){.name = sample_count_names[i], .kind = TABLE_KIND_COUNT};
    for (uint32_t m = 0; m < c->n_metrics; m++)
        columns[n++] =
            (struct table_column){.name = c->metrics[m], .kind = kind_of(c->infos[m].unit), .unit = c->infos[m].unit};
    struct table *t = table_create(columns, n);
    for (uint32_t g = 0; t != NULL && g < c->n_groups; g++) {
        const struct compare_group *group = &c->groups[g];
        if (has_rules && g > 0 && is_new_block(c, g - 1, g))
            table_rule(t);
        put_keys(t, c, group);
        if (is_shown(p, "runs"))
            table_number(t, group->n_runs);
        for (int i = 0; i < SAMPLE_COUNTS; i++)
            if (count_is_shown(c, p, i))
                table_number(t, group->counts[i]);
        for (uint32_t m = 0; m < c->n_metrics; m++)
            table_interval(t, group->cells[m].mean.mean, group->cells[m].mean.low, group->cells[m].mean.high);
    }
    return t;
}

/* Three digits, but no exponents. */
static int decimals(double ratio)
{
    return ratio < 10 ? 2 : ratio < 100 ? 1 : 0;
}

/* "-74.3 min", "+6.9 points", "+12": this - baseline in the metric's unit. */
static void put_difference(struct table *t, const struct metric_info *info, const struct interval *d)
{
    char text[120], size[48];
    const char *sign = d->mean < 0 ? "-" : "+";
    if (isnan(d->mean))
        snprintf(text, sizeof text, "-");
    else if (strcmp(info->unit, "s") == 0)
        snprintf(text, sizeof text, "%s%s", sign, table_seconds_text(fabs(d->mean), size, sizeof size));
    else if (strcmp(info->unit, "fraction") == 0)
        snprintf(text, sizeof text, "%s%.1f points", sign, 100 * fabs(d->mean));
    else
        snprintf(text, sizeof text, "%s%.4g%s%s", sign, fabs(d->mean), info->unit[0] != '\0' ? " " : "", info->unit);
    table_text(t, text);
}

/* "1.52 [1.41, 1.63]  +34.2 %": ratio, its interval when there is one, and the share; the share not in LaTeX, where it would not fit. */
static void put_improvement(struct table *t, const struct metric_info *info, const struct compare_cell *cell,
                            enum table_format format)
{
    char text[120], interval[60] = "", share[40] = "";
    const struct interval *ratio = &cell->ratio;
    if (cell->is_extreme) {
        put_difference(t, info, &cell->difference);
        return;
    }
    if (!isnan(ratio->low))
        snprintf(interval, sizeof interval, " [%.*f, %.*f]", decimals(ratio->low), ratio->low, decimals(ratio->high),
                 ratio->high);
    if (format != TABLE_FORMAT_LATEX)
        snprintf(share, sizeof share, "  %+.1f %%", 100 * compare_share(info, ratio->mean));
    snprintf(text, sizeof text, "%.*f%s%s%s", decimals(ratio->mean), ratio->mean, interval, share,
             compare_disagrees(cell) ? " !" : "");
    table_text(t, isnan(ratio->mean) ? "-" : text);
}

static struct table *table_of_improvements(const struct compare *c, const struct compare_print *p)
{
    struct table_column columns[MAX_COLUMNS];
    uint32_t n = add_keys(columns, 0, c), n_metrics = 0;
    bool has_rules = has_blocks(c);
    if (is_shown(p, "pairs"))
        columns[n++] = (struct table_column){.name = "pairs", .kind = TABLE_KIND_COUNT};
    for (uint32_t m = 0; m < c->n_metrics; m++)
        if (c->infos[m].better != 0) {
            n_metrics++;
            columns[n++] =
                (struct table_column){.name = c->metrics[m],
                                      .kind = TABLE_KIND_NUMBER,
                                      .unit = c->infos[m].better < 0 ? "lower is better" : "higher is better"};
        }
    struct table *t = table_create(columns, n);
    for (uint32_t g = 0, above = UINT32_MAX; t != NULL && n_metrics > 0 && g < c->n_groups; g++) {
        const struct compare_group *group = &c->groups[g];
        if (group->is_baseline && group->n_pairs == group->n_runs)
            continue; /* itself */
        if (has_rules && above != UINT32_MAX && is_new_block(c, above, g))
            table_rule(t);
        above = g;
        put_keys(t, c, group);
        if (is_shown(p, "pairs"))
            table_number(t, group->n_pairs);
        for (uint32_t m = 0; m < c->n_metrics; m++)
            if (c->infos[m].better != 0)
                put_improvement(t, &c->infos[m], &group->cells[m], p->format);
    }
    return t;
}

/* Three numbers: a value with its low and high. */
static void put_interval(struct table *t, const struct interval *i)
{
    table_number(t, i->mean);
    table_number(t, i->low);
    table_number(t, i->high);
}

/* For programs: one table, a row a group and metric. */
static struct table *table_tidy(const struct compare *c)
{
    static const char *const numbers[] = {"mean",
                                          "mean_low",
                                          "mean_high",
                                          "ratio",
                                          "ratio_low",
                                          "ratio_high",
                                          "improvement",
                                          "ratio_of_means",
                                          "ratio_of_means_low",
                                          "ratio_of_means_high",
                                          "difference",
                                          "difference_low",
                                          "difference_high"};
    enum { N_NUMBERS = sizeof numbers / sizeof numbers[0] };
    struct table_column columns[MAX_COLUMNS];
    uint32_t n = add_keys(columns, 0, c);
    columns[n++] = (struct table_column){.name = "metric", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "unit", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "better", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "runs", .kind = TABLE_KIND_COUNT};
    for (int i = 0; i < SAMPLE_COUNTS; i++)
        columns[n++] = (struct table_column){.name = sample_count_names[i], .kind = TABLE_KIND_COUNT};
    columns[n++] = (struct table_column){.name = "baseline", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "pairs", .kind = TABLE_KIND_COUNT};
    columns[n++] = (struct table_column){.name = "compared_over", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "low_high", .kind = TABLE_KIND_TEXT};
    for (int i = 0; i < N_NUMBERS; i++)
        columns[n++] = (struct table_column){.name = numbers[i], .kind = TABLE_KIND_NUMBER};
    struct table *t = table_create(columns, n);
    for (uint32_t g = 0; t != NULL && g < c->n_groups; g++)
        for (uint32_t m = 0; m < c->n_metrics; m++) {
            const struct compare_group *group = &c->groups[g];
            const struct compare_cell *cell = &group->cells[m];
            int better = c->infos[m].better;
            for (uint32_t k = 0; k < c->n_keys; k++)
                table_text(t, group->values[k]);
            table_text(t, c->metrics[m]);
            table_text(t, c->infos[m].unit);
            table_text(t, better < 0 ? "lower" : better > 0 ? "higher" : "");
            table_number(t, group->n_runs);
            for (int i = 0; i < SAMPLE_COUNTS; i++)
                table_number(t, group->counts[i]);
            table_text(t, c->baseline);
            table_number(t, group->n_pairs);
            table_text(t, group->n_pairs == 0    ? ""
                          : group->n_unknown > 0 ? "unknown"
                          : group->n_partly > 0  ? "jobs finished in both"
                                                 : "all jobs");
            table_text(t, c->n_averaged == 0 ? "" : c->is_sample ? "95 % t interval" : "range");
            put_interval(t, &cell->mean);
            put_interval(t, &cell->ratio);
            table_number(t, better == 0 ? NAN : compare_share(&c->infos[m], cell->ratio.mean));
            put_interval(t, &cell->of_means);
            put_interval(t, &cell->difference);
        }
    return t;
}

/* ---- words ------------------------------------------------------------------------------------ */

static const char *line_start(enum table_format format)
{
    return format == TABLE_FORMAT_LATEX ? "% " : "";
}

static const char *line_end(enum table_format format)
{
    return format == TABLE_FORMAT_MD ? "\n\n" : "\n";
}

/* "8 nodes x 8 GPUs" when all runs have the same cluster, "" when it cannot be told. */
static const char *say_cluster(const struct compare *c, char *out, size_t size)
{
    char other[160];
    report_config_cluster(c->samples.samples[0].run, out, size);
    for (uint32_t i = 1; i < c->samples.n_samples; i++)
        if (strcmp(report_config_cluster(c->samples.samples[i].run, other, sizeof other), out) != 0) {
            snprintf(out, size, "several clusters");
            break;
        }
    return out;
}

static bool is_one_experiment(const struct compare *c)
{
    for (uint32_t i = 1; i < c->samples.n_samples; i++)
        if (strcmp(c->samples.samples[i].run->name, c->samples.samples[0].run->name) != 0)
            return false;
    return true;
}

static void print_averaged(const struct compare *c)
{
    for (uint32_t i = 0; i < c->n_averaged; i++)
        printf("%s%s", i == 0 ? "" : i + 1 == c->n_averaged ? " and " : ", ", c->averaged[i]);
}

static void print_heading(const struct compare *c, enum table_format format)
{
    char cluster[160], traces[40];
    const struct report_run *run = c->samples.samples[0].run;
    const char *start = line_start(format), *end = line_end(format);
    say_cluster(c, cluster, sizeof cluster);
    snprintf(traces, sizeof traces, "%u traces", c->n_traces);
    if (c->n_traces == 1)
        snprintf(traces, sizeof traces, "trace %.12s", run->trace_digest);
    printf("%s%s: %u row%s, %s%s%s%s", start, is_one_experiment(c) ? run->name : "several experiments", c->n_groups,
           c->n_groups == 1 ? "" : "s", traces, *cluster != '\0' ? ", " : "", cluster, end);
    printf("%sMeans over finished jobs inside `measure`%s; the counts say how many these are.%s", start,
           c->samples.n_job_keys > 0 ? " (by status: over the jobs of that status that ended)" : "", end);
    if (c->n_averaged == 0)
        return;
    printf("%sAveraged over ", start);
    print_averaged(c);
    printf("%s%s",
           c->is_sample ? ": arithmetic mean ± half of its 95 % t interval."
                        : ": arithmetic mean [least, largest]. These values are no random sample, so there is no "
                          "confidence interval.",
           end);
}

/* Which ways of being better, and which other cells, the table of improvements has. */
struct contents {
    bool has_lower, has_higher, has_pairs, has_extreme, has_disagreement, has_mark;
};

static struct contents look_at(const struct compare *c)
{
    struct contents out = {0};
    for (uint32_t g = 0; g < c->n_groups; g++) {
        out.has_mark = out.has_mark || compare_is_marked(&c->groups[g]);
        out.has_pairs = out.has_pairs || c->groups[g].n_pairs > 1;
        for (uint32_t m = 0; m < c->n_metrics; m++) {
            const struct compare_cell *cell = &c->groups[g].cells[m];
            out.has_extreme = out.has_extreme || cell->is_extreme;
            out.has_disagreement = out.has_disagreement || compare_disagrees(cell);
            out.has_lower = out.has_lower || c->infos[m].better < 0;
            out.has_higher = out.has_higher || c->infos[m].better > 0;
        }
    }
    return out;
}

static void print_improvement_heading(const struct compare *c, const struct contents *has, enum table_format format)
{
    const char *start = line_start(format), *end = line_end(format), *b = c->baseline;
    const char *a = strcmp(c->baseline_key, "policy") == 0 ? "policy" : "row";
    bool has_share = format != TABLE_FORMAT_LATEX;
    printf("%s%sImprovement over %s: above 1%s is better.%s", format == TABLE_FORMAT_LATEX ? "" : "\n", start, b,
           has_share ? " (+)" : "", end);
    if (has->has_lower)
        printf("%sLower is better: ratio = %s / %s%s%s%s%s%s.%s", start, b, a,
               has_share ? ", then the reduction 1 - " : "", has_share ? a : "", has_share ? " / " : "",
               has_share ? b : "", "", end);
    if (has->has_higher)
        printf("%sHigher is better: ratio = %s / %s%s%s%s%s%s.%s", start, a, b, has_share ? ", then the gain " : "",
               has_share ? a : "", has_share ? " / " : "", has_share ? b : "", has_share ? " - 1" : "", end);
    if (has->has_pairs)
        printf("%sRatios are geometric means over pairs of runs with the same seed and swept values%s; the means above "
               "are "
               "arithmetic.%s",
               start, c->is_sample ? " [95 % t interval of the mean log ratio]" : " [least, largest]", end);
    if (has->has_extreme)
        printf("%sA number that begins with a sign is the difference %s - %s in the metric's unit, where a ratio says "
               "nothing: a value is 0, or one is more than %d times the other.%s",
               start, a, b, COMPARE_EXTREME, end);
}

static bool shows_waits(const struct compare *c)
{
    for (uint32_t m = 0; m < c->n_metrics; m++)
        if (strncmp(c->metrics[m], "wait_", 5) == 0)
            return true;
    return false;
}

static bool shows_utilization(const struct compare *c)
{
    for (uint32_t m = 0; m < c->n_metrics; m++)
        if (strncmp(c->metrics[m], "gpu_utilization", 15) == 0)
            return true;
    return false;
}

/* Cells whose two means part: "sjf, wait_mean: ratio of the means 1.02 [0.9, 1.1]". */
static void print_disagreements(const struct compare *c, enum table_format format)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        for (uint32_t m = 0; m < c->n_metrics; m++) {
            const struct compare_cell *cell = &c->groups[g].cells[m];
            char interval[64] = "";
            if (!compare_disagrees(cell))
                continue;
            if (!isnan(cell->of_means.low))
                snprintf(interval, sizeof interval, " [%.3g, %.3g]", cell->of_means.low, cell->of_means.high);
            printf(
                "%s! %s, %s: the ratio of the means is %.3g%s, the mean of the ratios %.3g; a few large values decide "
                "the one, every pair counts the same in the other.%s",
                line_start(format), c->groups[g].values[0], c->metrics[m], cell->of_means.mean, interval,
                cell->ratio.mean, line_end(format));
        }
}

static void print_notes(const struct compare *c, const struct contents *has, enum table_format format)
{
    const char *start = line_start(format), *end = line_end(format);
    if (has->has_mark)
        printf(
            "%s* not all of its jobs finished, or other ones than under %s: its means are over other jobs than theirs; "
            "improvements are over the jobs that finished in both.%s",
            start, c->baseline, end);
    if (has->has_disagreement)
        print_disagreements(c, format);
    if (c->has_preemptions && shows_waits(c))
        printf(
            "%swait: first start - submit. Jobs are preempted here and wait again: queued is all time without GPUs.%s",
            start, end);
    if (c->has_load_by_vc && shows_utilization(c))
        printf(
            "%sgpu_utilization is over all GPUs and the whole run; with `load_scope: vc` each virtual cluster has its "
            "load over its own span of submissions, so that the whole is less.%s",
            start, end);
}

static bool print(struct table *t, enum table_format format)
{
    bool ok = t != NULL && table_print(t, format, stdout);
    table_destroy(t);
    return ok;
}

bool compare_print_tables(const struct compare *c, const struct compare_print *p)
{
    if (p->format == TABLE_FORMAT_CSV || p->format == TABLE_FORMAT_JSON)
        return print(table_tidy(c), p->format);
    struct contents has = look_at(c);
    print_heading(c, p->format);
    if (p->format == TABLE_FORMAT_LATEX)
        printf("%% needs \\usepackage{booktabs}\n");
    struct table *means = table_of_means(c, p), *improvements = table_of_improvements(c, p);
    bool ok = means != NULL && improvements != NULL && table_print(means, p->format, stdout);
    table_destroy(means);
    if (ok && !table_is_empty(improvements)) {
        print_improvement_heading(c, &has, p->format);
        ok = table_print(improvements, p->format, stdout);
    }
    table_destroy(improvements);
    if (ok)
        print_notes(c, &has, p->format);
    return ok;
}
