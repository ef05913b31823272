/* bars and bars_normalized: a panel a metric, with 95 % t intervals over seeds where there are several.
 *
 *     up to 9 policies of short names, no log axis          else: dots, a row a policy
 *       ▇ ▇                                                   fifo   ───────●──
 *       ▇ ▇ ▇                                                 srtf   ──●──
 *       fifo las srtf
 */
#include "output/plot_metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAR_POLICIES = 9, /* more, or longer names, are rows of dots */
    BAR_CELLS = 16,
    PANELS_MAX = 4,
    NAME_SIZE = 11,  /* of the names beside the rows */
    NAME_CELLS = 46, /* longer ones are broken */
    NAME_LINES = 3,
    ROW_PITCH = 19, /* units a line of a name */
};
static const double bars_width = 1.15;

/* What one panel shows. */
struct panel {
    const char *metric;
    struct interval *v; /* a policy each */
    struct time_unit unit;
    bool is_time, is_log;
    double low, high; /* of the values, of those above 0: the axis */
};

static void panel_measure(struct panel *panel, uint32_t n, bool is_ratio)
{
    size_t n_metrics;
    int index = metrics_find(panel->metric);
    double largest = 0, least = INFINITY, far = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct interval *v = &panel->v[i];
        largest = isfinite(v->mean) ? fmax(largest, v->mean) : largest;
        least = v->mean > 0 && isfinite(v->mean) ? fmin(least, v->mean) : least;
        far = isfinite(v->high) ? fmax(far, v->high) : far;
    }
    panel->is_time = !is_ratio && index >= 0 && strcmp(metrics_table(&n_metrics)[index].unit, "s") == 0;
    panel->unit = panel->is_time ? canvas_time_unit(largest) : (struct time_unit){"", 1};
    panel->is_log = largest > 30 * (is_ratio ? fmin(least, 1) : least);
    /* A whisker far beyond every mean is cut at the frame: it would flatten all the rest. */
    double reach = fmax(largest, fmin(far, 3 * largest));
    if (is_ratio)
        reach = fmax(reach, 1);
    panel->low = panel->is_log ? fmin(least, is_ratio ? 1 : least) / 1.5 : 0;
    panel->high = reach > 0 ? reach * (panel->is_log ? 1.5 : 1.06) : 1;
}

/* One row a policy: position, value, low, high (the value itself where there is no interval). */
static void write_rows(FILE *data, const struct panel *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct interval *v = &p->v[i];
        if (!isfinite(v->mean))
            continue;
        double low = isnan(v->low) ? v->mean : fmax(v->low, p->low), high = isnan(v->high) ? v->mean : v->high;
        fprintf(data, "%u %.10g %.10g %.10g\n", i, v->mean / p->unit.seconds, low / p->unit.seconds,
                fmin(high, fmax(p->high, v->mean)) / p->unit.seconds);
    }
}

static void panel_title(struct plot_script *s, const struct panel *panel, double width, bool is_ratio)
{
    char title[200];
    bool has_unit = panel->is_time && !panel->is_log;
    snprintf(title, sizeof title, "%s%s%s%s%s", plot_metric_title(panel->metric), has_unit ? " (" : "",
             has_unit ? panel->unit.name : "", has_unit ? ")" : "", panel->is_log && !is_ratio ? " (log scale)" : "");
    fputs("set title ", s->gp);
    plot_quote(s, title);
    double fitting = width / (CANVAS_CELL * (double)(plot_text_cells(title) + 1));
    fprintf(s->gp, " font ',%.1f' offset 0,-0.4\n", fitting < 13 ? fitting : 13);
}

/* Why there is nothing in a panel. False: there is something. */
static bool panel_is_empty(struct plot_script *s, const struct panel *panel, uint32_t n)
{
    bool has_zero = false;
    for (uint32_t i = 0; i < n; i++) {
        if (panel->v[i].mean > 0)
            return false;
        has_zero = has_zero || panel->v[i].mean == 0;
    }
    fprintf(s->gp,
            "set label 1 '%s' at graph 0.5, graph 0.5 center textcolor '#555555'\nplot NaN notitle\nunset label 1\n",
            has_zero ? "all zero" : "no finished job");
    return true;
}

static bool has_intervals(const struct panel *panel, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(panel->v[i].low))
            return true;
    return false;
}

/* ---- upright bars ------------------------------------------------------------------------------- */

static void draw_bars(struct plot_job *p, const struct panel *panel, bool is_ratio)
{
    char name[16];
    FILE *data = plot_data_open(p->script, name);
    if (data != NULL)
        write_rows(data, panel, p->combo->n_policies);
    plot_data_close(p->script, data);
    const struct plot_combo *c = p->combo;
    FILE *gp = p->script->gp;
    for (uint32_t i = 0; i < c->n_policies; i++)
        canvas_tick(p->script, 'x', i, i, c->policies[i].label, NAME_SIZE);
    fprintf(gp, "unset xtics\nset xrange [-0.6:%.1f]\nset yrange [0:%.10g]\n", c->n_policies - 0.4,
            panel->high / panel->unit.seconds);
    for (uint32_t i = 0; i < c->n_policies; i++)
        if (isinf(panel->v[i].mean))
            fprintf(gp, "set label %u '∞' at %u, graph 0.95 center textcolor '%s'\n", 100 + i, i, canvas_colour(i));
    if (is_ratio)
        fputs("set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead linecolor '#444444' dashtype (4,4) "
              "linewidth 1\n",
              gp);
    fputs("plot ", gp);
    for (uint32_t i = 0; i < c->n_policies; i++)
        fprintf(gp, "%s'%s' using ($1 == %u ? $1 : NaN):2 with boxes linecolor '%s' notitle", i > 0 ? ", " : "", name,
                i, canvas_colour(i));
    if (has_intervals(panel, c->n_policies))
        fprintf(gp,
                ", '%s' using 1:3:(0):($4 - $3) with vectors heads size graph 0.012,90 nofilled linecolor '#222222' "
                "linewidth 1.4 notitle",
                name);
    fputs("\n", gp);
}

/* ---- rows of dots ------------------------------------------------------------------------------- */

static void draw_dots(struct plot_job *p, const struct panel *panel, const double *rows, bool is_first, bool is_ratio)
{
    const struct plot_combo *c = p->combo;
    FILE *gp = p->script->gp;
    uint32_t n = c->n_policies;
    fprintf(gp, "set yrange [%.4f:0]\nunset ytics\n", rows[n]);
    for (uint32_t i = 0; i < n; i++) {
        char shown[1200];
        plot_text_wrap(shown, sizeof shown, c->policies[i].label, NAME_CELLS, NAME_LINES);
        if (is_first)
            canvas_tick(p->script, 'y', i, (rows[i] + rows[i + 1]) / 2, shown, NAME_SIZE);
        else
            fprintf(gp, "unset label %u\n", CANVAS_TICKS + i);
    }
    if (panel->is_log && panel->is_time)
        canvas_log_time(gp, 'x', panel->low, panel->high, 0.3);
    else
        fprintf(gp, "%s logscale x\nset xtics autofreq font ',11'\nset xrange [%.10g:%.10g]\n",
                panel->is_log ? "set" : "unset", panel->low / panel->unit.seconds, panel->high / panel->unit.seconds);
    for (uint32_t i = 0; i < n; i++) {
        double v = panel->v[i].mean, y = (rows[i] + rows[i + 1]) / 2;
        if (isinf(v) || isnan(v) || (panel->is_log && v <= 0))
            fprintf(gp, "set label %u '%s' at graph %.2f, first %.4f center textcolor '#222222'\n", 100 + i,
                    isnan(v) ? "-"
                    : v > 0  ? "∞"
                             : "0",
                    v > 0 ? 0.97 : 0.03, y);
    }
    if (is_ratio)
        fputs("set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead linecolor '#444444' dashtype (4,4) "
              "linewidth 1\n",
              gp);
    char at[16];
    FILE *data = plot_data_open(p->script, at); /* where the rows stand */
    for (uint32_t i = 0; data != NULL && i < n; i++) {
        const struct interval *v = &panel->v[i];
        double unit = panel->is_log && panel->is_time ? 1 : panel->unit.seconds;
        if (!isfinite(v->mean) || (panel->is_log && v->mean <= 0))
            continue;
        fprintf(data, "%.10g %.4f %.10g %.10g\n", v->mean / unit, (rows[i] + rows[i + 1]) / 2,
                (isnan(v->low) ? v->mean : fmax(v->low, panel->low)) / unit,
                (isnan(v->high) ? v->mean : fmin(v->high, panel->high)) / unit);
    }
    plot_data_close(p->script, data);
    fprintf(gp, "plot '%s' using 1:2 with points linecolor '#0072B2' pointtype 7 pointsize 0.9 notitle", at);
    if (has_intervals(panel, n))
        fprintf(gp,
                ", '%s' using 3:2:($4 - $3):(0) with vectors heads size graph 0.006,90 nofilled linecolor '#0072B2' "
                "linewidth 1.6 notitle",
                at);
    fputs("\n", gp);
}

/* ---- the figure ------------------------------------------------------------------------------- */

/* Where the rows begin, in lines; rows[n] is the end of the last. Returns the widest line of a name in cells. */
static size_t lay_rows(const struct plot_combo *c, double *rows)
{
    size_t widest = 0;
    rows[0] = 0;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char shown[1200];
        unsigned lines = plot_text_wrap(shown, sizeof shown, c->policies[i].label, NAME_CELLS, NAME_LINES);
        size_t cells = plot_text_cells(shown);
        widest = cells > widest ? cells : widest;
        rows[i + 1] = rows[i] + lines;
    }
    return widest;
}

static const char *note_of(const struct panel *panels, uint32_t n_panels, uint32_t n_policies, bool is_ratio)
{
    bool any = false, is_cut = false;
    for (uint32_t k = 0; k < n_panels; k++) {
        any = any || has_intervals(&panels[k], n_policies);
        for (uint32_t i = 0; i < n_policies; i++)
            is_cut = is_cut || panels[k].v[i].high > panels[k].high;
    }
    if (!any)
        return is_ratio ? "above 1: better" : "";
    if (is_ratio)
        return is_cut
                   ? "above 1: better; geometric means of runs paired by seed; whiskers: 95 % t intervals, cut at the "
                     "frame"
                   : "above 1: better; geometric means of runs paired by seed; whiskers: 95 % t intervals";
    return is_cut ? "means over seeds; whiskers: 95 % t intervals, cut at the frame"
                  : "means over seeds; whiskers: 95 % t intervals";
}

static int draw(struct plot_job *p, struct panel *panels, uint32_t n_panels, bool is_ratio, struct error *err)
{
    const struct plot_combo *c = p->combo;
    FILE *gp = p->script->gp;
    double *rows = calloc((size_t)c->n_policies + 1, sizeof *rows);
    char subtitle[1000], title[1100];
    if (rows == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    size_t cells = lay_rows(c, rows);
    bool has_dots = c->n_policies > BAR_POLICIES || cells > BAR_CELLS || rows[c->n_policies] > c->n_policies;
    for (uint32_t k = 0; k < n_panels; k++) {
        panel_measure(&panels[k], c->n_policies, is_ratio);
        has_dots = has_dots || panels[k].is_log;
    }
    if (!has_dots) /* bars stand on 0 */
        for (uint32_t k = 0; k < n_panels; k++)
            panels[k].low = 0;
    snprintf(title, sizeof title, "Improvement over %.1000s", c->policies[p->base].label);
    struct canvas canvas = {.type = p->type,
                            .title = is_ratio ? title : "Means by policy",
                            .subtitle = plot_subtitle(c, subtitle, sizeof subtitle),
                            .note = note_of(panels, n_panels, c->n_policies, is_ratio),
                            .width = bars_width,
                            .height = 0.85};
    if (has_dots)
        canvas.height = (120 + ROW_PITCH * fmax(rows[c->n_policies], 4) + 44) / CANVAS_HEIGHT;
    canvas_begin(p->script, &canvas);
    double h = CANVAS_HEIGHT * canvas.height, w = CANVAS_WIDTH * canvas.width;
    double left = has_dots ? (24 + (double)cells * CANVAS_CELL * NAME_SIZE) / w : 0.06;
    double gap = has_dots ? 0.028 : 0.06, each = (1 - left - 0.02 - gap * (n_panels - 1)) / n_panels;
    fprintf(gp,
            "set boxwidth 0.72\nset bmargin at screen %.4f\nset tmargin at screen %.4f\nset grid %s\nset multiplot\n",
            has_dots ? 40 / h : 0.17, 1 - 122 / h, has_dots ? "xtics noytics" : "noxtics ytics");
    for (uint32_t k = 0; k < n_panels; k++) {
        double at = left + k * (each + gap);
        fprintf(gp, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", at, at + each);
        panel_title(p->script, &panels[k], (each + gap) * w, is_ratio);
        if (panel_is_empty(p->script, &panels[k], c->n_policies))
            ;
        else if (has_dots)
            draw_dots(p, &panels[k], rows, k == 0, is_ratio);
        else
            draw_bars(p, &panels[k], is_ratio);
        for (uint32_t i = 0; i < c->n_policies; i++)
            if (!isfinite(panels[k].v[i].mean) || panels[k].v[i].mean <= 0)
                fprintf(gp, "unset label %u\n", 100 + i);
        if (k == 0)
            fputs("unset label 9001\nunset label 9002\nunset label 9003\n", gp);
    }
    fputs("unset multiplot\n", gp);
    free(rows);
    return BRAID_OK;
}

static int plot_bars_of(struct plot_job *p, bool is_ratio, struct error *err)
{
    static const char *const usual[] = {"jct_mean", "jct_p99", "wait_mean"};
    const struct plot_combo *c = p->combo;
    const char *const *metrics = p->n_metrics > 0 ? p->metrics : usual;
    uint32_t n_panels = p->n_metrics > 0 ? p->n_metrics : 3;
    n_panels = n_panels < PANELS_MAX ? n_panels : PANELS_MAX;
    struct panel panels[PANELS_MAX] = {0};
    struct interval *v = calloc((size_t)c->n_policies * n_panels, sizeof *v);
    if (v == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    bool has_value = false;
    for (uint32_t k = 0; code == BRAID_OK && k < n_panels; k++) {
        panels[k] = (struct panel){.metric = metrics[k], .v = v + (size_t)k * c->n_policies};
        code = is_ratio ? plot_metric_ratios(p->file, c, metrics[k], p->base, panels[k].v, err)
                        : plot_metric_means(p->file, c, metrics[k], panels[k].v, err);
        for (uint32_t i = 0; code == BRAID_OK && i < c->n_policies; i++)
            has_value = has_value || isfinite(panels[k].v[i].mean);
    }
    if (code == BRAID_OK && !has_value)
        snprintf(p->remark, sizeof p->remark, "no job has finished");
    else if (code == BRAID_OK && is_ratio && c->n_policies < 2)
        snprintf(p->remark, sizeof p->remark, "there is one policy alone, and nothing to compare it with");
    else if (code == BRAID_OK)
        code = draw(p, panels, n_panels, is_ratio, err);
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
