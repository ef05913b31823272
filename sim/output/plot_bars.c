/* bars, bars_normalized and jct_by_gpus: means a policy, with 95 % t intervals over seeds where there are several. */
#include "output/plot_figures.h"
#include "output/report_bucket.h"
#include "output/report_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bars ------------------------------------------------------------------------------------- */

static const struct panel {
    const char *metric, *title;
} panels[] = {{"jct_mean", "mean JCT"}, {"jct_p99", "99th percentile JCT"}, {"wait_mean", "mean waiting time"}};
enum { N_PANELS = sizeof panels / sizeof panels[0] };

/* The values of one metric of every run of the combination, policy after policy. */
static int load_metric(struct plot_job *p, const char *metric, double **out, struct error *err)
{
    struct report_table t;
    *out = NULL;
    int code = report_table_open(&t, p->file->file, p->file->path, "summary", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *c = report_column_need(&t, metric, err);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->combo->n_policies; i++)
        n += p->combo->policies[i].n_runs;
    double *values = malloc(n * sizeof *values);
    if (c == NULL)
        code = err->code;
    else if (values == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0, k = 0; code == BRAID_OK && i < p->combo->n_policies; i++)
        for (uint32_t r = 0; code == BRAID_OK && r < p->combo->policies[i].n_runs; r++)
            code = report_read_f64(&t, c, p->combo->policies[i].runs[r]->row, 1, &values[k++], err);
    report_table_close(&t);
    if (code == BRAID_OK)
        *out = values;
    else
        free(values);
    return code;
}

/* The mean of each policy, or its ratio to the first policy (first / this), paired by seed. */
static void summarize(const struct plot_combo *c, const double *values, bool is_ratio, struct interval *out)
{
    double above[64], below[64];
    const struct plot_policy *base = &c->policies[0];
    for (uint32_t i = 0, at = 0; i < c->n_policies; at += c->policies[i++].n_runs) {
        const struct plot_policy *policy = &c->policies[i];
        if (!is_ratio) {
            out[i] = stats_mean(values + at, policy->n_runs);
            continue;
        }
        size_t n = 0;
        for (uint32_t r = 0; r < policy->n_runs; r++)
            for (uint32_t b = 0; b < base->n_runs && n < 64; b++)
                if (base->runs[b]->seed == policy->runs[r]->seed) {
                    above[n] = values[b];
                    below[n++] = values[at + r];
                    break;
                }
        out[i] = stats_ratio(above, below, n);
    }
}

/* One row a policy: position, value, low, high (the value itself where there is no interval), position of its colour. */
static void write_bars(FILE *data, const struct interval *v, uint32_t n, double unit)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!isfinite(v[i].mean))
            continue;
        double low = isnan(v[i].low) ? v[i].mean : fmax(v[i].low, 0), high = isnan(v[i].high) ? v[i].mean : v[i].high;
        fprintf(data, "%u %.10g %.10g %.10g\n", i, v[i].mean / unit, low / unit, high / unit);
    }
}

static void write_policy_tics(FILE *gp, const struct plot_combo *c)
{
    fputs("set xtics scale 0 rotate by 40 right offset 0.6,-0.1 font ',11' (", gp);
    for (uint32_t i = 0; i < c->n_policies; i++) {
        fputs(i > 0 ? ", " : "", gp);
        plot_quote(gp, c->policies[i].label);
        fprintf(gp, " %u", i);
    }
    fputs(")\n", gp);
}

static void draw_panel(struct plot_job *p, const struct interval *v, const char *title, bool is_ratio)
{
    const struct plot_combo *c = p->combo;
    FILE *gp = p->script->gp;
    double largest = 0, least = INFINITY;
    bool has_intervals = false;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        largest = isfinite(v[i].mean) ? fmax(largest, v[i].mean) : largest;
        least = v[i].mean > 0 ? fmin(least, v[i].mean) : least;
        has_intervals = has_intervals || !isnan(v[i].low);
    }
    struct time_unit unit = is_ratio ? (struct time_unit){"", 1} : canvas_time_unit(largest);
    char name[16];
    FILE *data = plot_data_open(p->script, name);
    if (data != NULL)
        write_bars(data, v, c->n_policies, unit.seconds);
    plot_data_close(p->script, data);
    bool is_log = is_ratio && largest > 30 * fmin(least, 1);
    fprintf(gp, "set title '%s%s%s%s' font ',13' offset 0,-0.4\n", title, is_ratio ? "" : " (",
            is_log ? " (log scale)" : unit.name, is_ratio ? "" : ")");
    write_policy_tics(gp, c);
    fprintf(gp, "set xrange [-0.6:%.1f]\n", c->n_policies - 0.4);
    if (is_log)
        fprintf(gp, "set logscale y\nset yrange [%.10g:*]\n", fmin(least, 1) / 2);
    else
        fprintf(gp, "unset logscale y\nset yrange [0:%s]\n", largest > 0 ? "*" : "1");
    for (uint32_t i = 0; i < c->n_policies; i++)
        if (isinf(v[i].mean))
            fprintf(gp, "set label %u '∞' at %u, graph 0.03 center textcolor '%s'\n", 100 + i, i, canvas_colour(i));
    if (is_ratio)
        fprintf(gp, "set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead linecolor '#444444' dashtype (4,4) "
                    "linewidth 1\n");
    if (largest <= 0 && !has_intervals) {
        bool has_zero = false;
        for (uint32_t i = 0; i < c->n_policies; i++)
            has_zero = has_zero || v[i].mean == 0;
        fprintf(gp, "set label 1 '%s' at graph 0.5, graph 0.5 center textcolor '#555555'\n",
                has_zero ? "all zero" : "no finished job");
        fputs("plot NaN notitle\nunset label 1\n", gp);
        return;
    }
    fputs("plot ", gp);
    for (uint32_t i = 0; i < c->n_policies; i++)
        fprintf(gp, "%s'%s' using ($1 == %u ? $1 : NaN):2 with boxes linecolor '%s' notitle", i > 0 ? ", " : "", name,
                i, canvas_colour(i));
    if (has_intervals)
        fprintf(gp,
                ", '%s' using 1:3:(0):($4 - $3) with vectors heads size graph 0.012,90 nofilled linecolor '#222222' "
                "linewidth 1.4 notitle",
                name);
    fputs("\n", gp);
    for (uint32_t i = 0; i < c->n_policies; i++)
        if (isinf(v[i].mean))
            fprintf(gp, "unset label %u\n", 100 + i);
}

static int plot_bars_of(struct plot_job *p, bool is_ratio, struct error *err)
{
    const struct plot_combo *c = p->combo;
    struct interval *v = calloc((size_t)c->n_policies * N_PANELS, sizeof *v);
    if (v == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    bool has_value = false, has_intervals = false;
    for (int i = 0; code == BRAID_OK && i < N_PANELS; i++) {
        double *values;
        code = load_metric(p, panels[i].metric, &values, err);
        if (code != BRAID_OK)
            break;
        summarize(c, values, is_ratio, v + (size_t)i * c->n_policies);
        free(values);
        for (uint32_t k = 0; k < c->n_policies; k++) {
            const struct interval *x = &v[(size_t)i * c->n_policies + k];
            has_value = has_value || isfinite(x->mean);
            has_intervals = has_intervals || !isnan(x->low);
        }
    }
    if (code == BRAID_OK && !has_value)
        snprintf(p->remark, sizeof p->remark, "no job has finished");
    else if (code == BRAID_OK && is_ratio && c->n_policies < 2)
        snprintf(p->remark, sizeof p->remark, "there is one policy alone, and nothing to compare it with");
    else if (code == BRAID_OK) {
        char subtitle[400], title[160];
        FILE *gp = p->script->gp;
        if (is_ratio)
            snprintf(title, sizeof title, "Improvement over %s (%s / policy; more is better)", c->policies[0].label,
                     c->policies[0].label);
        struct canvas canvas = {.type = p->type,
                                .title = is_ratio ? title : "Completion and waiting times",
                                .subtitle = plot_subtitle(c, subtitle, sizeof subtitle),
                                .note = !has_intervals ? ""
                                        : is_ratio
                                            ? "geometric means of runs paired by seed; whiskers: 95 % t intervals"
                                            : "means over seeds; whiskers: 95 % t intervals",
                                .width = 1.15,
                                .height = 0.85};
        canvas_begin(gp, &canvas);
        /* The titles of the panels need room under the note. */
        fprintf(gp,
                "set boxwidth 0.72\nset bmargin at screen 0.19\nset tmargin at screen %.3f\nunset key\nset grid "
                "noxtics ytics\nset multiplot\n",
                has_intervals ? 0.75 : 0.8);
        for (int i = 0; i < N_PANELS; i++) {
            double left = 0.06 + 0.325 * i;
            fprintf(gp, "set lmargin at screen %.3f\nset rmargin at screen %.3f\n", left, left + 0.265);
            draw_panel(p, v + (size_t)i * c->n_policies, panels[i].title, is_ratio);
            if (i == 0)
                fputs("unset label 9001\nunset label 9002\nunset label 9003\n", gp);
        }
        fputs("unset multiplot\n", gp);
    }
    free(v);
    return code;
}

int plot_bars(struct plot_job *p, struct error *err)
{
    return plot_bars_of(p, false, err);
}

int plot_bars_normalized(struct plot_job *p, struct error *err)
{
    return plot_bars_of(p, true, err);
}

/* ---- jct_by_gpus ------------------------------------------------------------------------------ */

enum { N_CLASSES = 20 }; /* class k: 2^(k-1) < GPUs <= 2^k */

static int class_of(const char *gpus)
{
    unsigned long n = strtoul(gpus, NULL, 10);
    int k = 0;
    while (k < N_CLASSES - 1 && (1ul << k) < n)
        k++;
    return k;
}

/* Sums over the sizes of one class and the seeds: the mean is that of the pooled jobs. */
struct class_sum {
    double jct, jobs;
};

static int add_sizes(struct class_sum *sums, const struct report_file *f, const struct report_run *run,
                     struct error *err)
{
    static const char *const keys[] = {"gpus"}, *const metrics[] = {"jct_mean"};
    struct arena a;
    struct buckets b;
    arena_init(&a);
    int code = buckets_load(&b, f, run, keys, 1, metrics, 1, &a, err);
    for (uint32_t i = 0; code == BRAID_OK && i < b.n; i++) {
        double n = b.v[i].counts[SAMPLE_FINISHED];
        if (n > 0) {
            struct class_sum *sum = &sums[class_of(b.v[i].texts[0])];
            sum->jct += n * b.v[i].values[0];
            sum->jobs += n;
        }
    }
    arena_fini(&a);
    return code;
}

static void draw_by_gpus(struct plot_job *p, const struct class_sum *sums)
{
    const struct plot_combo *c = p->combo;
    FILE *gp = p->script->gp;
    double low = INFINITY, high = 0;
    int first = N_CLASSES, last = 0;
    for (uint32_t i = 0; i < c->n_policies; i++)
        for (int k = 0; k < N_CLASSES; k++) {
            const struct class_sum *s = &sums[i * N_CLASSES + (uint32_t)k];
            if (s->jobs == 0)
                continue;
            first = k < first ? k : first;
            last = k > last ? k : last;
            if (s->jct > 0) {
                low = fmin(low, s->jct / s->jobs);
                high = fmax(high, s->jct / s->jobs);
            }
        }
    if (high <= 0)
        low = high = 1;
    char subtitle[400];
    struct canvas canvas = {.type = p->type,
                            .title = "Mean job completion time by GPU demand",
                            .subtitle = plot_subtitle(c, subtitle, sizeof subtitle),
                            .note = "",
                            .width = 1,
                            .height = 1};
    canvas_begin(gp, &canvas);
    canvas_styles(gp, c->n_policies);
    canvas_key(gp, c->n_policies);
    double margin = high / low < 10 ? 4 : 1.6; /* always a few ticks */
    canvas_log_time(gp, 'y', low / margin, high * margin);
    char xlabel[200];
    snprintf(xlabel, sizeof xlabel, "GPUs of the job (in brackets: finished jobs under %.100s)", c->policies[0].label);
    fputs("set bmargin 5.5\nset xlabel ", gp);
    plot_quote(gp, xlabel);
    fputs(" offset 0,-1\n", gp);
    fprintf(gp, "set ylabel 'mean JCT (log scale)'\nset xrange [%.2f:%.2f]\nset grid noxtics\nset xtics scale 0 (",
            first - 0.4, last + 0.4);
    for (int k = first; k <= last; k++) {
        char label[48];
        unsigned long to = 1ul << k, from = k == 0 ? 1 : (1ul << (k - 1)) + 1;
        if (from == to)
            snprintf(label, sizeof label, "%lu", to);
        else
            snprintf(label, sizeof label, "%lu-%lu", from, to);
        fprintf(gp, "%s\"%s\\n(%.0f)\" %d", k > first ? ", " : "", label, sums[k].jobs, k);
    }
    fputs(")\n", gp);
    bool is_first = true;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char name[16];
        uint32_t points = 0;
        FILE *data = plot_data_open(p->script, name);
        for (int k = first; data != NULL && k <= last; k++) {
            const struct class_sum *s = &sums[i * N_CLASSES + (uint32_t)k];
            double shift = c->n_policies > 1 ? 0.36 * ((double)i / (c->n_policies - 1) - 0.5) : 0;
            if (s->jobs > 0) {
                fprintf(data, "%.4f %.10g\n", k + shift, fmax(s->jct / s->jobs, low / margin));
                points++;
            }
        }
        plot_data_close(p->script, data);
        if (points == 0)
            continue;
        fprintf(gp, "%s'%s' using 1:2 with linespoints linestyle %u linewidth 1.2", is_first ? "plot " : ", ", name,
                i + 1);
        canvas_curve_title(gp, c->policies[i].label);
        is_first = false;
    }
}

int plot_jct_by_gpus(struct plot_job *p, struct error *err)
{
    const struct plot_combo *c = p->combo;
    struct class_sum *sums = calloc((size_t)c->n_policies * N_CLASSES, sizeof *sums);
    if (sums == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    bool has_rows = false;
    double n = 0;
    for (uint32_t i = 0; code == BRAID_OK && i < c->n_policies; i++)
        for (uint32_t r = 0; code == BRAID_OK && r < c->policies[i].n_runs; r++) {
            has_rows = has_rows || report_run_has(c->policies[i].runs[r], RESULTS_JOBS);
            code = add_sizes(sums + (size_t)i * N_CLASSES, p->file, c->policies[i].runs[r], err);
        }
    for (size_t i = 0; i < (size_t)c->n_policies * N_CLASSES; i++)
        n += sums[i].jobs;
    if (code == BRAID_OK && n > 0)
        draw_by_gpus(p, sums);
    else if (code == BRAID_OK)
        snprintf(p->remark, sizeof p->remark, "%s",
                 has_rows ? "no job has finished" : "the jobs are not stored; run again with 'output: {jobs: true}'");
    free(sums);
    return code;
}
