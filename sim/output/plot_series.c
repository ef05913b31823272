/* utilization and queue: levels of the whole cluster over time, a curve a policy, from /series. */
#include "output/plot_curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TOGETHER = 3 };

/* A strip a policy. */
static void draw_strips(struct plot_job *p, const struct curve *curves, const struct curve_scale *scale, double height)
{
    const struct plot_combo *c = p->combo;
    struct strip *strips = calloc(c->n_policies, sizeof *strips);
    p->script->is_broken |= strips == NULL;
    for (uint32_t i = 0; i < c->n_policies && strips != NULL; i++)
        strips[i] = (struct strip){c->policies[i].label, canvas_colour(i), &curves[i], NULL};
    if (strips != NULL)
        curve_draw_strips(p, strips, c->n_policies, scale, height);
    free(strips);
}

static const char *note_of(const struct plot_job *p, const struct curve_scale *scale, bool is_utilization,
                           bool in_strips, char *out, size_t size)
{
    char value[200];
    int n = snprintf(out, size, "%s%s", in_strips ? "allocated GPUs, % of those available; " : "",
                     curve_says_point(scale, is_utilization, value, sizeof value));
    for (uint32_t i = 0; i < p->combo->n_policies; i++)
        if (p->combo->policies[i].n_runs > 1) {
            n += snprintf(out + n, size - (size_t)n, "; seed %s alone", p->combo->policies[i].runs[0]->seed_text);
            break;
        }
    curve_says_cut(scale, out + n, size - (size_t)n);
    return out;
}

static void draw(struct plot_job *p, const struct curve *curves, double submitted_s, bool is_utilization)
{
    const struct plot_combo *c = p->combo;
    struct curve_scale scale = curve_scale_of(curves, c->n_policies, submitted_s);
    char subtitle[1000], note[500];
    bool in_strips = is_utilization && c->n_policies > MAX_TOGETHER;
    FILE *gp = p->script->gp;
    struct canvas canvas = {.type = p->type,
                            .title = is_utilization ? "GPU utilisation over time" : "Queued jobs over time",
                            .subtitle = plot_subtitle(c, subtitle, sizeof subtitle),
                            .note = note_of(p, &scale, is_utilization, in_strips, note, sizeof note),
                            .width = 1,
                            .height = 1,
                            .keys = in_strips ? NULL : c->labels,
                            .n_keys = in_strips ? 0 : c->n_policies};
    if (in_strips && c->n_policies > 7)
        canvas.height = 0.5 + 0.07 * c->n_policies;
    canvas_begin(p->script, &canvas);
    curve_time_axis(gp, &scale);
    if (in_strips) {
        draw_strips(p, curves, &scale, canvas.height);
        return;
    }
    fprintf(gp, "set xlabel strip_xlabel\nset ylabel '%s'\n",
            is_utilization ? "allocated GPUs (% of those available)" : "jobs in the queue");
    double most = 0;
    for (uint32_t i = 0; !is_utilization && i < c->n_policies; i++)
        for (size_t k = 0; k < curves[i].n; k++)
            most = fmax(most, curves[i].value[k]);
    if (is_utilization)
        fputs("set yrange [0:100]\nset ytics 20\n", gp);
    else if (most <= 5) /* no halves of jobs */
        fprintf(gp, "set yrange [0:%.0f]\nset ytics 1\n", fmax(ceil(most), 1));
    else
        fputs("set yrange [0:*]\n", gp);
    bool is_first = true;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char name[16];
        if (!curve_write(p, &curves[i], &scale, is_utilization ? 100 : 1, name))
            continue;
        fprintf(gp, "%s'%s' using 1:2 with lines linestyle %u notitle", is_first ? "plot " : ", ", name, i + 1);
        is_first = false;
    }
}

static int plot_series(struct plot_job *p, const char *wanted, bool is_utilization, struct error *err)
{
    const struct plot_combo *c = p->combo;
    struct curve *curves = calloc(c->n_policies, sizeof *curves);
    if (curves == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    size_t n = 0;
    bool is_kept = false;
    double submitted_s = NAN;
    for (uint32_t i = 0; code == BRAID_OK && i < c->n_policies; i++) {
        is_kept = is_kept || report_run_kept(c->policies[i].runs[0], RESULTS_SERIES);
        code = curve_load(&curves[i], p->file, c->policies[i].runs[0], wanted, err);
        n += curves[i].n;
        if (code == BRAID_OK && isnan(submitted_s))
            code = plot_last_submission(p->file, c->policies[i].runs[0], &submitted_s, err);
    }
    if (code == BRAID_OK && n > 0)
        draw(p, curves, submitted_s, is_utilization);
    else if (code == BRAID_OK)
        snprintf(p->remark, sizeof p->remark, "%s",
                 is_kept ? "the run is shorter than one step of the series"
                         : "there are no series in the file; run again with 'output: {series: 10 min}'");
    for (uint32_t i = 0; i < c->n_policies; i++)
        curve_fini(&curves[i]);
    free(curves);
    return code;
}

int plot_utilization(struct plot_job *p, struct error *err)
{
    return plot_series(p, "gpu_utilization", true, err);
}

int plot_queue(struct plot_job *p, struct error *err)
{
    return plot_series(p, "queued_jobs", false, err);
}
