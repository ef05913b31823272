/* jct_by_gpus: the mean JCT of the jobs of each class of GPU demand, a dot a policy, side by side within the class. */
#include "output/plot_figures.h"
#include "output/report_bucket.h"
#include "output/report_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_CLASSES = 20 }; /* class k: 2^(k-1) < GPUs <= 2^k */

static int class_of(const char *gpus)
{
    unsigned long n = strtoul(gpus, NULL, 10);
    int k = 0;
    while (k < N_CLASSES - 1 && (1ul << k) < n)
        k++;
    return k;
}

/* Sums over the sizes of one class and one run; `means` are those of the runs. */
struct class_sum {
    double jct, jobs;
};

/* What is drawn of a policy and a class. */
struct class_mean {
    struct interval v; /* over seeds; of one run its mean */
    double jobs;       /* finished, of all seeds */
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

/* The mean over seeds of each class of one policy, with its interval. */
static int measure(struct class_mean *out, const struct report_file *f, const struct plot_policy *policy,
                   struct error *err)
{
    double *means = malloc((size_t)policy->n_runs * N_CLASSES * sizeof *means);
    if (means == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    for (uint32_t r = 0; code == BRAID_OK && r < policy->n_runs; r++) {
        struct class_sum sums[N_CLASSES] = {0};
        code = add_sizes(sums, f, policy->runs[r], err);
        for (int k = 0; k < N_CLASSES; k++) {
            means[(size_t)k * policy->n_runs + r] = sums[k].jobs > 0 ? sums[k].jct / sums[k].jobs : NAN;
            out[k].jobs += sums[k].jobs;
        }
    }
    for (int k = 0; code == BRAID_OK && k < N_CLASSES; k++)
        out[k].v = stats_mean(means + (size_t)k * policy->n_runs, policy->n_runs);
    free(means);
    return code;
}

/* What all that is drawn spans. */
struct class_frame {
    int first, last; /* classes */
    double low, high;
    bool has_intervals;
};

static struct class_frame frame_of(const struct class_mean *m, uint32_t n_policies)
{
    struct class_frame f = {.first = N_CLASSES, .low = INFINITY};
    for (uint32_t i = 0; i < n_policies * N_CLASSES; i++) {
        int k = (int)(i % N_CLASSES);
        if (m[i].jobs == 0)
            continue;
        f.first = k < f.first ? k : f.first;
        f.last = k > f.last ? k : f.last;
        f.has_intervals = f.has_intervals || !isnan(m[i].v.low);
        if (m[i].v.mean > 0) {
            f.low = fmin(f.low, m[i].v.mean);
            f.high = fmax(f.high, isnan(m[i].v.high) ? m[i].v.mean : fmin(m[i].v.high, 10 * m[i].v.mean));
        }
    }
    if (f.high <= 0)
        f.low = f.high = 1;
    double margin = f.high / f.low < 10 ? 4 : 1.6; /* always a few ticks */
    f.low /= margin;
    f.high *= margin;
    return f;
}

static void write_class_tics(FILE *gp, const struct class_mean *m, const struct class_frame *f)
{
    fputs("set xtics scale 0 (", gp);
    for (int k = f->first; k <= f->last; k++) {
        unsigned long to = 1ul << k, from = k == 0 ? 1 : (1ul << (k - 1)) + 1;
        fprintf(gp, from == to ? "%s\"%lu\\n" : "%s\"%lu-%lu\\n", k > f->first ? ", " : "", from, to);
        fprintf(gp, "(%.0f)\" %d", m[k].jobs, k);
    }
    fputs(")\n", gp);
    for (int k = f->first; k <= f->last; k += 2) /* bands hold a class together */
        fprintf(gp,
                "set object %d rectangle from %.2f, graph 0 to %.2f, graph 1 behind fillcolor '#F1F1F1' fillstyle "
                "solid 1 noborder\n",
                k - f->first + 1, k - 0.5, k + 0.5);
}

static void draw_by_gpus(struct plot_job *p, const struct class_mean *m)
{
    const struct plot_combo *c = p->combo;
    FILE *gp = p->script->gp;
    struct class_frame f = frame_of(m, c->n_policies);
    char subtitle[1000], xlabel[200];
    struct canvas canvas = {
        .type = p->type,
        .title = "Mean job completion time by GPU demand",
        .subtitle = plot_subtitle(c, subtitle, sizeof subtitle),
        .note = f.has_intervals ? "within a band all dots are of one class, side by side in the order of the key; "
                                  "whiskers: 95 % t intervals over seeds"
                                : "within a band all dots are of one class, side by side in the order of the key",
        .width = 1,
        .height = 1,
        .keys = c->labels,
        .n_keys = c->n_policies,
        .has_points = true};
    canvas_begin(p->script, &canvas);
    canvas_log_time(gp, 'y', f.low, f.high, 1);
    snprintf(xlabel, sizeof xlabel, "GPUs of the job (in brackets: finished jobs under %.100s)", c->policies[0].label);
    fputs("set xlabel ", gp);
    plot_quote(p->script, xlabel);
    fprintf(gp, " offset 0,-1\nset ylabel 'mean JCT (log scale)'\nset xrange [%.2f:%.2f]\nset grid noxtics\n",
            f.first - 0.5, f.last + 0.5);
    write_class_tics(gp, m, &f);
    bool is_first = true;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char name[16];
        uint32_t points = 0;
        double shift = c->n_policies > 1 ? 0.8 * (i + 0.5) / c->n_policies - 0.4 : 0;
        FILE *data = plot_data_open(p->script, name);
        for (int k = f.first; data != NULL && k <= f.last; k++) {
            const struct class_mean *x = &m[i * N_CLASSES + (uint32_t)k];
            if (x->jobs == 0)
                continue;
            double v = fmax(x->v.mean, f.low);
            fprintf(data, "%.4f %.10g %.10g %.10g\n", k + shift, v, isnan(x->v.low) ? v : fmax(x->v.low, f.low),
                    isnan(x->v.high) ? v : fmin(x->v.high, f.high));
            points++;
        }
        plot_data_close(p->script, data);
        if (points == 0)
            continue;
        fprintf(gp, "%s'%s' using 1:2 with points linestyle %u notitle", is_first ? "plot " : ", ", name, i + 1);
        if (f.has_intervals)
            fprintf(gp, ", '%s' using 1:3:(0):($4 - $3) with vectors nohead linecolor '%s' linewidth 1.2 notitle", name,
                    canvas_colour(i));
        is_first = false;
    }
}

int plot_jct_by_gpus(struct plot_job *p, struct error *err)
{
    const struct plot_combo *c = p->combo;
    struct class_mean *m = calloc((size_t)c->n_policies * N_CLASSES, sizeof *m);
    if (m == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    bool has_rows = false;
    double n = 0;
    for (uint32_t i = 0; code == BRAID_OK && i < c->n_policies; i++) {
        for (uint32_t r = 0; r < c->policies[i].n_runs; r++)
            has_rows = has_rows || report_run_has(c->policies[i].runs[r], RESULTS_JOBS);
        code = measure(m + (size_t)i * N_CLASSES, p->file, &c->policies[i], err);
    }
    for (size_t i = 0; i < (size_t)c->n_policies * N_CLASSES; i++)
        n += m[i].jobs;
    if (code == BRAID_OK && n > 0)
        draw_by_gpus(p, m);
    else if (code == BRAID_OK)
        snprintf(p->remark, sizeof p->remark, "%s",
                 has_rows ? "no job has finished" : "the jobs are not stored; run again with 'output: {jobs: true}'");
    free(m);
    return code;
}
