#include "output/plot_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384, MAX_POINTS = 360 };

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

int curve_load(struct curve *c, const struct report_file *f, const struct report_run *run, const char *wanted,
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
        return err->code;
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

void curve_fini(struct curve *c)
{
    free(c->time);
    free(c->value);
    *c = (struct curve){0};
}

struct curve_scale curve_scale_of(const struct curve *curves, uint32_t n, double submitted_s)
{
    static const double drain = 0.25; /* of the time of submissions, shown behind the last one */
    struct curve_scale scale = {.submitted_s = submitted_s};
    size_t longest = 0;
    for (uint32_t i = 0; i < n; i++)
        if (curves[i].n > 0) {
            scale.last_s = fmax(scale.last_s, curves[i].time[curves[i].n - 1]);
            scale.bin_s = curves[i].n > 1 ? curves[i].time[1] - curves[i].time[0] : curves[i].time[0];
        }
    scale.shown_s = scale.last_s;
    if (submitted_s > 10 * scale.bin_s && submitted_s * (1 + 2 * drain) < scale.last_s)
        scale.shown_s = submitted_s * (1 + drain);
    for (uint32_t i = 0; i < n; i++) {
        size_t shown = 0;
        while (shown < curves[i].n && curves[i].time[shown] <= scale.shown_s)
            shown++;
        longest = shown > longest ? shown : longest;
    }
    scale.step = longest > 0 ? (longest + MAX_POINTS - 1) / MAX_POINTS : 1;
    scale.unit = canvas_time_unit(scale.shown_s);
    return scale;
}

const char *curve_says_point(const struct curve_scale *scale, bool is_mean, char *out, size_t size)
{
    struct time_unit unit = canvas_time_unit(scale->bin_s), all = canvas_time_unit(scale->bin_s * (double)scale->step);
    if (is_mean)
        snprintf(out, size, "each point is the mean over %.3g %s", scale->bin_s * (double)scale->step / all.seconds,
                 all.name);
    else if (scale->step == 1)
        snprintf(out, size, "the number at that moment, every %.3g %s", scale->bin_s / unit.seconds, unit.name);
    else
        snprintf(out, size, "each point is the mean of %zu numbers, one every %.3g %s", scale->step,
                 scale->bin_s / unit.seconds, unit.name);
    return out;
}

void curve_says_cut(const struct curve_scale *scale, char *out, size_t size)
{
    struct time_unit all = canvas_time_unit(scale->last_s);
    int n = 0;
    out[0] = '\0';
    if (scale->submitted_s > 0)
        n = snprintf(out, size, "; dashed: the last submission");
    if (scale->shown_s < scale->last_s)
        snprintf(out + n, size - (size_t)n, "; cut: the run lasts %.3g %s", scale->last_s / all.seconds, all.name);
}

static void write_steps(FILE *data, const struct curve *c, const struct curve_scale *scale, double factor)
{
    double bin = c->n > 1 ? c->time[1] - c->time[0] : c->time[0], unit = scale->unit.seconds;
    for (size_t i = 0; i < c->n && c->time[i] - bin <= scale->shown_s; i += scale->step) {
        size_t end = i + scale->step < c->n ? i + scale->step : c->n, n = 0;
        double sum = 0;
        for (size_t k = i; k < end; k++)
            if (!isnan(c->value[k])) {
                sum += c->value[k];
                n++;
            }
        double value = n > 0 ? factor * sum / (double)n : NAN;
        fprintf(data, "%.10g %.10g\n%.10g %.10g\n", (c->time[i] - bin) / unit, value, c->time[end - 1] / unit, value);
    }
}

bool curve_write(struct plot_job *p, const struct curve *c, const struct curve_scale *scale, double factor,
                 char name[16])
{
    if (c->n == 0)
        return false;
    FILE *data = plot_data_open(p->script, name);
    if (data != NULL)
        write_steps(data, c, scale, factor);
    plot_data_close(p->script, data);
    return true;
}

void curve_time_axis(FILE *gp, const struct curve_scale *scale)
{
    double unit = scale->unit.seconds;
    fprintf(gp, "set xrange [0:%.10g]\nstrip_xlabel = 'time since the start of the trace (%s)'\n",
            scale->shown_s > 0 ? scale->shown_s / unit : 1, scale->unit.name);
    if (scale->submitted_s > 0 && scale->submitted_s <= scale->shown_s)
        fprintf(
            gp,
            "set arrow 1 from first %.10g, graph 0 to first %.10g, graph 1 nohead back linecolor '#888888' dashtype "
            "(6,6) linewidth 1\n",
            scale->submitted_s / unit, scale->submitted_s / unit);
}

/* The names right of the strips: on one line each where the widest takes no more than a part of the picture, else broken. */
enum { STRIP_SIZE = 11, STRIP_CELLS = 30 };

void curve_draw_strips(struct plot_job *p, const struct strip *strips, uint32_t n, const struct curve_scale *scale,
                       double height)
{
    FILE *gp = p->script->gp;
    double top = 1 - 0.15 / height, bottom = 0.115 / height, each = (top - bottom) / n;
    unsigned lines = (unsigned)(each * height * CANVAS_HEIGHT / (1.5 * STRIP_SIZE));
    size_t widest = 6;
    for (uint32_t i = 0; i < n; i++) {
        size_t cells = plot_text_cells(strips[i].label);
        widest = cells > widest ? cells : widest;
    }
    widest = widest > STRIP_CELLS ? STRIP_CELLS : widest;
    double right = 1 - (20 + (double)widest * CANVAS_CELL * STRIP_SIZE) / CANVAS_WIDTH;
    fprintf(gp,
            "unset key\nset multiplot\nset lmargin at screen 0.06\nset rmargin at screen %.4f\nset ytics %d font "
            "',9'\nset yrange [0:100]\nset format x ''\n",
            right, each * height > 0.08 ? 50 : 100);
    for (uint32_t i = 0; i < n; i++) {
        char filled[16], outline[16], label[1200];
        const struct strip *s = &strips[i];
        bool is_last = i + 1 == n;
        unsigned used = plot_text_wrap(label, sizeof label, s->label, widest, lines > 0 ? lines : 1);
        fprintf(gp, "set tmargin at screen %.4f\nset bmargin at screen %.4f\nset label 1 ",
                top - each * i - 0.24 * each, top - each * (i + 1));
        plot_quote(p->script, label);
        fprintf(gp, " at graph 1.015, graph 0.5 offset 0, character %.2f left font ',%d' textcolor '#222222'\n",
                0.5 * (used - 1), STRIP_SIZE);
        if (is_last)
            fputs("set format x '%g'\nset xlabel strip_xlabel\n", gp);
        if (curve_write(p, s->filled, scale, 100, filled))
            fprintf(gp,
                    "plot '%s' using 1:2 with filledcurves y=0 fillcolor '%s' fillstyle solid 0.25 noborder notitle, "
                    "'%s' using 1:2 with lines "
                    "linecolor '%s' linewidth 1.2 notitle",
                    filled, s->colour, filled, s->colour);
        else
            fputs("plot NaN notitle", gp);
        if (s->outline != NULL && curve_write(p, s->outline, scale, 100, outline))
            fprintf(gp, ", '%s' using 1:2 with lines linecolor '#8C8C8C' linewidth 1 notitle", outline);
        fputs("\n", gp);
        if (i == 0)
            fputs("unset label 9001\nunset label 9002\nunset label 9003\n", gp);
    }
    fputs("unset multiplot\n", gp);
}
