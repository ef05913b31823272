/* utilization and queue: levels of the whole cluster over time, a curve a policy, from /series. */
#include "output/plot_curve.h"

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

static void draw(struct plot_job *p, const struct curve *curves, bool is_utilization)
{
    const struct plot_combo *c = p->combo;
    struct curve_scale scale = curve_scale_of(curves, c->n_policies);
    struct time_unit mean_unit = canvas_time_unit(scale.mean_s);
    char subtitle[400], note[200];
    bool in_strips = is_utilization && c->n_policies > MAX_TOGETHER;
    int n = snprintf(note, sizeof note, "%seach point is the mean over %.3g %s",
                     in_strips ? "allocated GPUs, % of those available; " : "", scale.mean_s / mean_unit.seconds,
                     mean_unit.name);
    for (uint32_t i = 0; i < c->n_policies; i++)
        if (c->policies[i].n_runs > 1) {
            snprintf(note + n, sizeof note - (size_t)n, "; seed %s alone", c->policies[i].runs[0]->seed_text);
            break;
        }
    FILE *gp = p->script->gp;
    struct canvas canvas = {.type = p->type,
                            .title = is_utilization ? "GPU utilisation over time" : "Queued jobs over time",
                            .subtitle = plot_subtitle(c, subtitle, sizeof subtitle),
                            .note = note,
                            .width = 1,
                            .height = 1};
    if (in_strips && c->n_policies > 7)
        canvas.height = 0.3 + 0.1 * c->n_policies;
    canvas_begin(gp, &canvas);
    canvas_styles(gp, c->n_policies);
    canvas_key(gp, c->n_policies);
    curve_time_axis(gp, &scale);
    if (in_strips) {
        draw_strips(p, curves, &scale, canvas.height);
        return;
    }
    fprintf(gp, "set xlabel strip_xlabel\nset ylabel '%s'\n",
            is_utilization ? "allocated GPUs (% of those available)" : "jobs in the queue");
    fputs(is_utilization ? "set yrange [0:100]\nset ytics 20\n" : "set yrange [0:*]\n", gp);
    bool is_first = true;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char name[16];
        if (!curve_write(p, &curves[i], &scale, is_utilization ? 100 : 1, name))
            continue;
        fprintf(gp, "%s'%s' using 1:2 with lines linestyle %u", is_first ? "plot " : ", ", name, i + 1);
        canvas_curve_title(gp, c->policies[i].label);
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
    for (uint32_t i = 0; code == BRAID_OK && i < c->n_policies; i++) {
        is_kept = is_kept || report_run_kept(c->policies[i].runs[0], RESULTS_SERIES);
        code = curve_load(&curves[i], p->file, c->policies[i].runs[0], wanted, err);
        n += curves[i].n;
    }
    if (code == BRAID_OK && n > 0)
        draw(p, curves, is_utilization);
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
