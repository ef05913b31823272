/* resources: how much of its time each kind of resource works, of one run: four strips over time, from /series. */
#include "output/plot_curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N_RESOURCES = 4 };

static const struct {
    const char *series, *label;
} resources[N_RESOURCES] = {{"storage_utilization", "storage"},
                            {"cpu_utilization", "CPU"},
                            {"gpu_busy", "GPU"},
                            {"network_utilization", "network"}};

/* curves: of the resources, then of what is allocated. */
static void draw(struct plot_job *p, const struct curve *curves, double submitted_s)
{
    struct curve_scale scale = curve_scale_of(curves, N_RESOURCES, submitted_s);
    char title[1100], subtitle[1000], note[500], point[200];
    int n =
        snprintf(note, sizeof note,
                 "%% of its capacity that works (every GPU brings its share of storage, CPU and network); grey: GPUs "
                 "allocated; %s",
                 curve_says_point(&scale, true, point, sizeof point));
    if (p->policy->n_runs > 1)
        n += snprintf(note + n, sizeof note - (size_t)n, "; seed %s alone", p->policy->runs[0]->seed_text);
    curve_says_cut(&scale, note + n, sizeof note - (size_t)n);
    snprintf(title, sizeof title, "Use of the resources over time under %.1000s", p->policy->label);
    plot_run_subtitle(p->combo, p->policy, subtitle, sizeof subtitle);
    struct canvas canvas = {
        .type = p->type, .title = title, .subtitle = subtitle, .note = note, .width = 1, .height = 1};
    canvas_begin(p->script, &canvas);
    curve_time_axis(p->script->gp, &scale);
    struct strip strips[N_RESOURCES];
    for (uint32_t k = 0; k < N_RESOURCES; k++)
        strips[k] = (struct strip){resources[k].label, canvas_colour(k), &curves[k], &curves[N_RESOURCES]};
    curve_draw_strips(p, strips, N_RESOURCES, &scale, canvas.height);
}

int plot_resources(struct plot_job *p, struct error *err)
{
    const struct report_run *run = p->policy->runs[0];
    struct curve curves[N_RESOURCES + 1];
    memset(curves, 0, sizeof curves);
    int code = BRAID_OK;
    for (int k = 0; code == BRAID_OK && k < N_RESOURCES; k++)
        code = curve_load(&curves[k], p->file, run, resources[k].series, err);
    if (code == BRAID_OK)
        code = curve_load(&curves[N_RESOURCES], p->file, run, "gpu_utilization", err);
    double submitted_s = NAN;
    if (code == BRAID_OK)
        code = plot_last_submission(p->file, run, &submitted_s, err);
    if (code == BRAID_OK && curves[0].n > 0)
        draw(p, curves, submitted_s);
    else if (code == BRAID_OK)
        snprintf(p->remark, sizeof p->remark, "%s",
                 !report_run_kept(run, RESULTS_SERIES)
                     ? "there are no series in the file; run again with 'output: {series: 10 min}'"
                 : curves[N_RESOURCES].n > 0 ? "the trace has no stage times"
                                             : "the run is shorter than one step of the series");
    for (int k = 0; k <= N_RESOURCES; k++)
        curve_fini(&curves[k]);
    return code;
}
