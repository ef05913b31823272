/* utilization and queue: levels of the whole cluster over time, a curve a policy, from /series. */
#include "output/plot_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384, MAX_POINTS = 360, MAX_TOGETHER = 3 };

struct curve {
    double *time, *value;
    size_t n, room;
};

static bool curve_add(struct curve *c, double time, double value)
{
    if (c->n == c->room) {
        size_t room = c->room == 0 ? 1024 : 2 * c->room;
        double *times = realloc(c->time, room * sizeof *times);
        if (times != NULL)
            c->time = times;
        double *values = times == NULL ? NULL : realloc(c->value, room * sizeof *values);
        if (values == NULL)
            return false;
        c->value = values;
        c->room = room;
    }
    c->time[c->n] = time;
    c->value[c->n++] = value;
    return true;
}

/* The rows of scope "cluster" and the wanted name, by blocks. */
static int load_curve(struct curve *c, const struct report_file *f, const struct report_run *run, const char *wanted,
                      struct error *err)
{
    struct report_range rows = run->tables[RESULTS_SERIES];
    struct report_table t;
    if (rows.count == 0)
        return BRAID_OK;
    int code = report_table_open(&t, f->file, f->path, "series", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *time = report_column_need(&t, "time", err),
                               *scope = report_column_need(&t, "scope", err),
                               *name = report_column_need(&t, "name", err),
                               *value = report_column_need(&t, "value", err);
    if (time == NULL || scope == NULL || name == NULL || value == NULL) {
        report_table_close(&t);
        return BRAID_BAD_INPUT;
    }
    double *times = malloc(BLOCK * sizeof *times), *values = malloc(BLOCK * sizeof *values);
    char *scopes = malloc(BLOCK * (scope->width + 1)), *names = malloc(BLOCK * (name->width + 1));
    if (times == NULL || values == NULL || scopes == NULL || names == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t from = 0; code == BRAID_OK && from < rows.count; from += BLOCK) {
        uint64_t count = rows.count - from < BLOCK ? rows.count - from : BLOCK, at = rows.begin + from;
        if ((code = report_read_f64(&t, time, at, count, times, err)) != BRAID_OK ||
            (code = report_read_f64(&t, value, at, count, values, err)) != BRAID_OK ||
            (code = report_read_text(&t, scope, at, count, scopes, err)) != BRAID_OK ||
            (code = report_read_text(&t, name, at, count, names, err)) != BRAID_OK)
            break;
        for (uint64_t i = 0; code == BRAID_OK && i < count; i++)
            if (strcmp(scopes + i * (scope->width + 1), "cluster") == 0 &&
                strcmp(names + i * (name->width + 1), wanted) == 0 && !curve_add(c, times[i], values[i]))
                code = error_set(err, BRAID_FAILED, "out of memory");
    }
    free(times);
    free(values);
    free(scopes);
    free(names);
    report_table_close(&t);
    return code;
}

/* Means over `step` bins each, drawn as steps from the begin of the first bin. */
static void write_curve(FILE *data, const struct curve *c, size_t step, double scale, double unit)
{
    double bin = c->n > 1 ? c->time[1] - c->time[0] : c->time[0];
    for (size_t i = 0; i < c->n; i += step) {
        size_t end = i + step < c->n ? i + step : c->n, n = 0;
        double sum = 0;
        for (size_t k = i; k < end; k++)
            if (!isnan(c->value[k])) {
                sum += c->value[k];
                n++;
            }
        double value = n > 0 ? scale * sum / (double)n : NAN;
        fprintf(data, "%.10g %.10g\n%.10g %.10g\n", (c->time[i] - bin) / unit, value, c->time[end - 1] / unit, value);
    }
}

static bool write_data(struct plot_job *p, const struct curve *curve, size_t step, double scale, double unit,
                       char name[16])
{
    if (curve->n == 0)
        return false;
    FILE *data = plot_data_open(p->script, name);
    if (data != NULL)
        write_curve(data, curve, step, scale, unit);
    plot_data_close(p->script, data);
    return true;
}

/* A strip a policy, one below the other: lines that fill the whole height hide each other. */
static void draw_strips(struct plot_job *p, const struct curve *curves, size_t step, double unit, double height)
{
    const struct plot_combo *c = p->combo;
    FILE *gp = p->script->gp;
    double top = 1 - 0.15 / height, bottom = 0.115 / height, each = (top - bottom) / c->n_policies;
    fputs("unset key\nset multiplot\nset lmargin at screen 0.06\nset rmargin at screen 0.86\nset ytics 50 font "
          "',9'\nset yrange [0:100]\n"
          "set format x ''\n",
          gp);
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char name[16];
        bool is_last = i + 1 == c->n_policies;
        fprintf(gp, "set tmargin at screen %.4f\nset bmargin at screen %.4f\nset label 1 ",
                top - each * i - 0.24 * each, top - each * (i + 1));
        plot_quote(gp, c->policies[i].label);
        fprintf(gp, " at graph 1.015, graph 0.5 left textcolor '%s'\n", canvas_colour(i));
        if (is_last)
            fputs("set format x '%g'\nset xlabel strip_xlabel\n", gp);
        if (write_data(p, &curves[i], step, 100, unit, name))
            fprintf(gp,
                    "plot '%s' using 1:2 with filledcurves y=0 fillcolor '%s' fillstyle solid 0.25 noborder notitle, "
                    "'%s' using 1:2 with lines "
                    "linecolor '%s' linewidth 1.2 notitle\n",
                    name, canvas_colour(i), name, canvas_colour(i));
        else
            fputs("plot NaN notitle\n", gp);
        if (i == 0)
            fputs("unset label 9001\nunset label 9002\nunset label 9003\n", gp);
    }
    fputs("unset multiplot\n", gp);
}

static void draw(struct plot_job *p, const struct curve *curves, bool is_utilization)
{
    const struct plot_combo *c = p->combo;
    size_t longest = 0;
    double last = 0, bin = 0;
    for (uint32_t i = 0; i < c->n_policies; i++)
        if (curves[i].n > 0) {
            longest = curves[i].n > longest ? curves[i].n : longest;
            last = fmax(last, curves[i].time[curves[i].n - 1]);
            bin = curves[i].n > 1 ? curves[i].time[1] - curves[i].time[0] : curves[i].time[0];
        }
    size_t step = (longest + MAX_POINTS - 1) / MAX_POINTS;
    struct time_unit unit = canvas_time_unit(last), mean_unit = canvas_time_unit(bin * (double)step);
    char subtitle[400], note[200];
    bool in_strips = is_utilization && c->n_policies > MAX_TOGETHER;
    int n = snprintf(note, sizeof note, "%seach point is the mean over %.3g %s",
                     in_strips ? "allocated GPUs, % of those available; " : "", bin * (double)step / mean_unit.seconds,
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
    const char *level = is_utilization ? "allocated GPUs (% of those available)" : "jobs in the queue";
    fprintf(gp, "set xrange [0:%.10g]\nstrip_xlabel = 'time since the start of the trace (%s)'\n",
            last > 0 ? last / unit.seconds : 1, unit.name);
    if (in_strips) {
        draw_strips(p, curves, step, unit.seconds, canvas.height);
        return;
    }
    fprintf(gp, "set xlabel strip_xlabel\nset ylabel '%s'\n", level);
    fputs(is_utilization ? "set yrange [0:100]\nset ytics 20\n" : "set yrange [0:*]\n", gp);
    bool is_first = true;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char name[16];
        if (!write_data(p, &curves[i], step, is_utilization ? 100 : 1, unit.seconds, name))
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
        code = load_curve(&curves[i], p->file, c->policies[i].runs[0], wanted, err);
        n += curves[i].n;
    }
    if (code == BRAID_OK && n > 0)
        draw(p, curves, is_utilization);
    else if (code == BRAID_OK)
        snprintf(p->remark, sizeof p->remark, "%s",
                 is_kept ? "the run is shorter than one step of the series"
                         : "there are no series in the file; run again with 'output: {series: 10 min}'");
    for (uint32_t i = 0; i < c->n_policies; i++) {
        free(curves[i].time);
        free(curves[i].value);
    }
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
