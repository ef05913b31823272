#include "cli/cli.h"
#include "cli/report_args.h"
#include "output/report_compare.h"
#include "output/report_config.h"
#include "output/table.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 256 };

static int help(void)
{
    fputs("usage: braid compare OUT.h5... [options]\n\n"
          "Policies side by side: means over seeds, and the improvement over a baseline, paired by seed.\n\n"
          "  --baseline POLICY   compare with this policy (default: fifo, else the first by name)\n"
          "  --by KEY,...        break down by vc, gpus, user, status or trace_status of the jobs (needs /jobs),\n"
          "                      or group by these swept keys only (also policy, seed, experiment, file, run)\n"
          "  --metrics M,...     columns of /summary, and wall_s, cpu_s from OUT.cost.csv\n"
          "  --format F          table (default), csv, json, md, latex\n\n"
          "Exit status: 0 success, 1 the table could not be written, 2 bad usage or bad input.\n",
          stdout);
    return cli_finish();
}

static enum table_kind kind_of(const char *unit)
{
    return strcmp(unit, "s") == 0          ? TABLE_KIND_SECONDS
           : strcmp(unit, "fraction") == 0 ? TABLE_KIND_FRACTION
                                           : TABLE_KIND_NUMBER;
}

/* Counts that stand in the table: failed and killed only where there are any. */
static bool count_is_shown(const struct compare *c, int count)
{
    if (count < SAMPLE_FAILED)
        return true;
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (c->groups[g].counts[count] > 0)
            return true;
    return false;
}

static bool has_intervals(const struct compare *c)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        for (uint32_t m = 0; m < c->n_metrics; m++)
            if (!isnan(c->groups[g].cells[m].ratio.low))
                return true;
    return false;
}

/* A rule where the values of the keys other than the policy change from the row above. */
static void rule_between(struct table *t, const struct compare *c, uint32_t above, uint32_t g)
{
    for (uint32_t k = 1; k < c->n_keys; k++)
        if (strcmp(c->groups[g].values[k], c->groups[above].values[k]) != 0 &&
            strcmp(c->keys[k], SAMPLE_PARAMETERS) != 0) {
            table_rule(t);
            return;
        }
}

static uint32_t add_keys(struct table_column *columns, uint32_t n, const struct compare *c)
{
    for (uint32_t k = 0; k < c->n_keys; k++)
        columns[n++] = (struct table_column){.name = c->keys[k], .kind = TABLE_KIND_TEXT};
    return n;
}

static void put_keys(struct table *t, const struct compare *c, const struct compare_group *g)
{
    for (uint32_t k = 0; k < c->n_keys; k++)
        table_text(t, g->values[k][0] != '\0' ? g->values[k] : "-");
}

static struct table *table_of_means(const struct compare *c)
{
    struct table_column columns[MAX_COLUMNS];
    uint32_t n = add_keys(columns, 0, c);
    columns[n++] = (struct table_column){.name = "runs", .kind = TABLE_KIND_COUNT};
    for (int i = 0; i < SAMPLE_COUNTS; i++)
        if (count_is_shown(c, i))
            columns[n++] = (struct table_column){.name = sample_count_names[i], .kind = TABLE_KIND_COUNT};
    for (uint32_t m = 0; m < c->n_metrics; m++)
        columns[n++] = (struct table_column){.name = c->metrics[m], .kind = kind_of(c->units[m]), .unit = c->units[m]};
    struct table *t = table_create(columns, n);
    for (uint32_t g = 0; t != NULL && g < c->n_groups; g++) {
        const struct compare_group *group = &c->groups[g];
        rule_between(t, c, g > 0 ? g - 1 : 0, g);
        put_keys(t, c, group);
        table_number(t, group->n_runs);
        for (int i = 0; i < SAMPLE_COUNTS; i++)
            if (count_is_shown(c, i))
                table_number(t, group->counts[i]);
        for (uint32_t m = 0; m < c->n_metrics; m++)
            table_number(t, group->cells[m].mean.mean);
    }
    return t;
}

/* Three digits, but no exponents. */
static int decimals(double ratio)
{
    return ratio < 10 ? 2 : ratio < 100 ? 1 : 0;
}

/* "1.52 [1.41, 1.63]  34.2 %": ratio, its interval when there is one, reduction. */
static void put_improvement(struct table *t, const struct interval *ratio)
{
    char text[120];
    double reduction = 100 * (1 - 1 / ratio->mean);
    if (isnan(ratio->mean))
        snprintf(text, sizeof text, "-");
    else if (isnan(ratio->low))
        snprintf(text, sizeof text, "%.*f  %+.1f %%", decimals(ratio->mean), ratio->mean, reduction);
    else
        snprintf(text, sizeof text, "%.*f [%.*f, %.*f]  %+.1f %%", decimals(ratio->mean), ratio->mean,
                 decimals(ratio->low), ratio->low, decimals(ratio->high), ratio->high, reduction);
    table_text(t, text);
}

static struct table *table_of_improvements(const struct compare *c)
{
    struct table_column columns[MAX_COLUMNS];
    uint32_t n = add_keys(columns, 0, c);
    columns[n++] = (struct table_column){.name = "pairs", .kind = TABLE_KIND_COUNT};
    for (uint32_t m = 0; m < c->n_metrics; m++)
        columns[n++] = (struct table_column){.name = c->metrics[m], .kind = TABLE_KIND_NUMBER, .unit = ""};
    struct table *t = table_create(columns, n);
    for (uint32_t g = 0, above = UINT32_MAX; t != NULL && g < c->n_groups; g++) {
        const struct compare_group *group = &c->groups[g];
        if (group->is_baseline && group->n_pairs == group->n_runs)
            continue; /* itself */
        rule_between(t, c, above != UINT32_MAX ? above : g, g);
        above = g;
        put_keys(t, c, group);
        table_number(t, group->n_pairs);
        for (uint32_t m = 0; m < c->n_metrics; m++)
            put_improvement(t, &group->cells[m].ratio);
    }
    return t;
}

/* For programs: one table, a row a group and metric. */
static struct table *table_tidy(const struct compare *c)
{
    static const char *const numbers[] = {"mean",      "mean_low",   "mean_high", "ratio",
                                          "ratio_low", "ratio_high", "reduction"};
    enum { N_NUMBERS = sizeof numbers / sizeof numbers[0] };
    struct table_column columns[MAX_COLUMNS];
    uint32_t n = add_keys(columns, 0, c);
    columns[n++] = (struct table_column){.name = "metric", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "unit", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "runs", .kind = TABLE_KIND_COUNT};
    for (int i = 0; i < SAMPLE_COUNTS; i++)
        columns[n++] = (struct table_column){.name = sample_count_names[i], .kind = TABLE_KIND_COUNT};
    columns[n++] = (struct table_column){.name = "baseline", .kind = TABLE_KIND_TEXT};
    columns[n++] = (struct table_column){.name = "pairs", .kind = TABLE_KIND_COUNT};
    for (int i = 0; i < N_NUMBERS; i++)
        columns[n++] = (struct table_column){.name = numbers[i], .kind = TABLE_KIND_NUMBER};
    struct table *t = table_create(columns, n);
    for (uint32_t g = 0; t != NULL && g < c->n_groups; g++)
        for (uint32_t m = 0; m < c->n_metrics; m++) {
            const struct compare_group *group = &c->groups[g];
            const struct compare_cell *cell = &group->cells[m];
            for (uint32_t k = 0; k < c->n_keys; k++)
                table_text(t, group->values[k]);
            table_text(t, c->metrics[m]);
            table_text(t, c->units[m]);
            table_number(t, group->n_runs);
            for (int i = 0; i < SAMPLE_COUNTS; i++)
                table_number(t, group->counts[i]);
            table_text(t, c->baseline);
            table_number(t, group->n_pairs);
            table_number(t, cell->mean.mean);
            table_number(t, cell->mean.low);
            table_number(t, cell->mean.high);
            table_number(t, cell->ratio.mean);
            table_number(t, cell->ratio.low);
            table_number(t, cell->ratio.high);
            table_number(t, 1 - 1 / cell->ratio.mean);
        }
    return t;
}

/* Print and destroy; false when memory ran out. */
static bool print(struct table *t, enum table_format format)
{
    bool ok = t != NULL && table_print(t, format, stdout);
    table_destroy(t);
    return ok;
}

static const char *line_start(enum table_format format)
{
    return format == TABLE_FORMAT_LATEX ? "% " : "";
}

static const char *line_end(enum table_format format)
{
    return format == TABLE_FORMAT_MD ? "\n\n" : "\n";
}

static void print_heading(const struct compare *c, enum table_format format)
{
    char cluster[160];
    const struct report_run *run = c->samples.samples[0].run;
    report_config_cluster(run, cluster, sizeof cluster);
    printf("%s%s: %u row%s, trace %.12s%s%s%s", line_start(format), run->name, c->n_groups, c->n_groups == 1 ? "" : "s",
           run->trace_digest, *cluster != '\0' ? ", " : "", cluster, line_end(format));
    printf("%sMeans over finished jobs inside `measure`%s; the counts beside them say how many these are.%s",
           line_start(format), c->samples.n_job_keys > 0 ? " (by status: over the jobs of that status that ended)" : "",
           line_end(format));
}

static void print_improvement_heading(const struct compare *c, enum table_format format)
{
    printf("%s%sImprovement over %s: ratio = %s / policy%s, then the reduction 1 - policy / %s.%s",
           format == TABLE_FORMAT_LATEX ? "" : "\n", line_start(format), c->baseline, c->baseline,
           has_intervals(c)
               ? " (geometric mean over pairs of runs with the same seed and swept values [95 % t interval of the mean "
                 "log ratio])"
               : "",
           c->baseline, line_end(format));
}

static int print_compare(const struct compare *c, enum table_format format)
{
    bool ok;
    for (uint32_t i = 0; i < c->n_warnings; i++)
        fprintf(stderr, "braid compare: warning: %s\n", c->warnings[i]);
    if (format == TABLE_FORMAT_CSV || format == TABLE_FORMAT_JSON) {
        ok = print(table_tidy(c), format);
    } else {
        print_heading(c, format);
        ok = print(table_of_means(c), format);
        struct table *improvements = table_of_improvements(c);
        if (ok && improvements != NULL && table_is_empty(improvements)) {
            table_destroy(improvements);
        } else if (ok) {
            print_improvement_heading(c, format);
            ok = print(improvements, format);
        } else {
            table_destroy(improvements);
        }
    }
    struct error err;
    if (!ok) {
        error_set(&err, BRAID_FAILED, "out of memory");
        return cli_fail(&err);
    }
    return cli_finish();
}

int cmd_compare(int argc, char **argv)
{
    static const struct option options[] = {
        {"baseline", required_argument, NULL, 'b'}, {"by", required_argument, NULL, 'k'},
        {"metrics", required_argument, NULL, 'm'},  {"format", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    enum table_format format = TABLE_FORMAT_TEXT;
    struct compare_options o = {0};
    struct word_list by = {0}, metrics = {0};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":b:h", options, NULL)) != -1;) {
        bool ok = true;
        switch (c) {
        case 'b':
            o.baseline = optarg;
            break;
        case 'k':
            ok = word_list_add(&by, optarg);
            break;
        case 'm':
            ok = word_list_add(&metrics, optarg);
            break;
        case 'f':
            if (!table_format_parse(optarg, &format))
                return cli_usage("compare", "--format: '%s' is none of table, csv, json, md, latex", optarg);
            break;
        case 'h':
            return help();
        default:
            return report_args_bad("compare", c, argv);
        }
        if (!ok)
            return cli_usage("compare", "--%s: more than %d", c == 'k' ? "by" : "metrics", WORD_LIST_MAX);
    }
    if (optind == argc)
        return cli_usage("compare", "which results files?");
    o.by = by.words;
    o.n_by = by.n;
    o.metrics = metrics.words;
    o.n_metrics = metrics.n;
    size_t n_files = (size_t)(argc - optind);
    struct report_file *files = NULL;
    struct compare comparison;
    struct error err = {0};
    int code = report_files_open(&files, argv + optind, n_files, &err);
    if (code == BRAID_OK) {
        code = compare_build(&comparison, files, n_files, &o, &err);
        if (code == BRAID_OK) {
            code = print_compare(&comparison, format);
            compare_fini(&comparison);
        } else {
            code = cli_fail(&err);
        }
        report_files_close(files, n_files);
    } else {
        code = cli_fail(&err);
    }
    return code;
}
