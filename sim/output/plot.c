#include "output/plot.h"

#include "base/names.h"
#include "base/outfile.h"
#include "output/metrics.h"
#include "output/plot_figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_RUN_FIGURES = 12 }; /* Gantt charts by default */

static const struct figure {
    struct plot_figure_info info;
    int (*draw)(struct plot_job *p, struct error *err);
    bool is_of_run; /* one figure a policy (first seed), else one a combination */
} figures[] = {
    {{"jct_cdf", "share of the submitted jobs that finished within a time"}, plot_jct_cdf, false},
    {{"wait_cdf", "share of the submitted jobs that waited no longer than a time"}, plot_wait_cdf, false},
    {{"utilization", "GPU utilisation over time (needs series)"}, plot_utilization, false},
    {{"queue", "queued jobs over time (needs series)"}, plot_queue, false},
    {{"bars", "means of metrics by policy (--metric; mean and 99th percentile JCT and mean wait)"}, plot_bars, false},
    {{"bars_normalized", "the same as improvement over one policy (--baseline; the first)"},
     plot_bars_normalized,
     false},
    {{"jct_by_gpus", "mean JCT by class of GPU demand"}, plot_jct_by_gpus, false},
    {{"resources",
      "use of storage, CPU, GPU and network over time, one figure a policy (needs series and stage times)"},
     plot_resources,
     true},
    {{"gantt", "GPUs over time, one figure a policy (needs segments)"}, plot_gantt, true},
    {{"gantt_jobs", "jobs over time, one figure a policy"}, plot_gantt_jobs, true},
};
enum { N_FIGURES = sizeof figures / sizeof figures[0] };

const struct plot_figure_info *plot_figure_at(size_t i)
{
    return i < N_FIGURES ? &figures[i].info : NULL;
}

static bool report_add(struct plot_report *r, const char **list, uint32_t *n, const char *text)
{
    const char *kept = arena_text(&r->arena, text, strlen(text));
    if (kept == NULL)
        return false;
    list[(*n)++] = kept;
    return true;
}

/* A remark, once. */
static bool report_remark(struct plot_report *r, const char *text)
{
    for (uint32_t i = 0; i < r->n_remarks; i++)
        if (strcmp(r->remarks[i], text) == 0)
            return true;
    return report_add(r, r->remarks, &r->n_remarks, text);
}

static int make_dir(const char *dir, struct error *err)
{
    char *path = strdup(dir);
    if (path == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    for (char *slash = path; code == BRAID_OK && slash != NULL;) {
        slash = strchr(slash + 1, '/');
        if (slash != NULL)
            *slash = '\0';
        struct stat st;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            code = error_at(err, BRAID_FAILED, path, 0, 0, "cannot be made: %s", strerror(errno));
        else if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
            code = error_at(err, BRAID_FAILED, path, 0, 0, "is not a folder; name another one with -o");
        if (slash != NULL)
            *slash = '/';
    }
    free(path);
    return code;
}

struct drawing {
    const struct plot_set *set;
    const struct plot_options *options;
    struct plot_report *report;
    struct plot_fonts *fonts;
    bool has_failed;
    struct error failure; /* of the first figure that failed */
};

/* The policy of this label; else the first. */
static uint32_t plot_base_of(const struct plot_combo *c, const char *label)
{
    for (uint32_t i = 0; label != NULL && i < c->n_policies; i++)
        if (strcmp(c->policies[i].label, label) == 0)
            return i;
    return 0;
}

/* DIR/FIGURE[-POLICY][-COMBINATION].TYPE, no two alike. */
static int name_figure(char *out, size_t size, const struct drawing *d, const struct figure *f,
                       const struct plot_combo *c, const struct plot_policy *policy, struct error *err)
{
    enum { NAME = 90 };
    char part[NAME + 1] = "";
    if (policy != NULL && d->set->file->n_runs > 1)
        plot_text_file_name(part, NAME, policy->label);
    int n = snprintf(out, size, "%s/%s%s%s%s.%s", d->options->dir, f->info.name, part[0] != '\0' ? "-" : "", part,
                     c->suffix, d->options->type);
    if (n < 0 || (size_t)n >= size)
        return error_at(err, BRAID_BAD_INPUT, d->options->dir, 0, 0, "the name of the folder is too long");
    return outfile_refuse_input(out, d->set->file->path, err);
}

static int draw_one(struct drawing *d, const struct figure *f, const struct plot_combo *c,
                    const struct plot_policy *policy, struct plot_window *window, struct error *err)
{
    char path[1024], remark[500];
    struct plot_script script;
    int code = name_figure(path, sizeof path, d, f, c, policy, err);
    if (code == BRAID_OK)
        code = plot_script_init(&script, d->fonts, err);
    if (code != BRAID_OK)
        return code;
    struct plot_job job = {.file = d->set->file,
                           .combo = c,
                           .policy = policy,
                           .type = d->options->type,
                           .metrics = d->options->metrics,
                           .n_metrics = d->options->n_metrics,
                           .base = plot_base_of(c, d->options->baseline),
                           .window = window,
                           .script = &script};
    code = f->draw(&job, err);
    if (code == BRAID_OK && job.remark[0] == '\0') {
        code = plot_script_run(&script, path, err);
        if (code == BRAID_OK && !report_add(d->report, d->report->drawn, &d->report->n_drawn, path))
            code = error_set(err, BRAID_FAILED, "out of memory");
    } else if (code == BRAID_OK) {
        /* A table that the file lacks is lacking for all figures of the kind: said once. */
        bool is_general = strstr(job.remark, "run again with") != NULL;
        bool is_named = !is_general && policy != NULL && d->set->file->n_runs > 1;
        snprintf(remark, sizeof remark, "%s%s%.100s%s: %s", f->info.name, is_named ? "-" : "",
                 is_named ? policy->label : "", is_general ? "" : c->suffix, job.remark);
        if (!report_remark(d->report, remark))
            code = error_set(err, BRAID_FAILED, "out of memory");
    }
    plot_script_fini(&script);
    return code;
}

/* One figure that gnuplot cannot draw is no reason to go without the others. */
static void draw_or_note(struct drawing *d, const struct figure *f, const struct plot_combo *c,
                         const struct plot_policy *policy, struct plot_window *window)
{
    struct error err = {0};
    if (draw_one(d, f, c, policy, window, &err) == BRAID_OK)
        return;
    char text[500];
    if (!d->has_failed)
        d->failure = err;
    else if (strcmp(d->failure.message, err.message) != 0 || strcmp(d->failure.file, err.file) != 0)
        report_remark(d->report, error_text(&err, text, sizeof text));
    d->has_failed = true;
}

/* Without gnuplot, memory or a folder nothing goes; then the first figure says so for all. */
static bool goes_on(const struct drawing *d)
{
    return !d->has_failed || d->failure.file[0] != '\0';
}

static int draw_figure(struct drawing *d, const struct figure *f, bool was_named, struct error *err)
{
    uint32_t n_run_figures = 0, before = d->report->n_drawn;
    for (uint32_t c = 0; goes_on(d) && c < d->set->n_combos; c++) {
        const struct plot_combo *combo = &d->set->combos[c];
        struct plot_window window = d->options->window;
        if (!f->is_of_run)
            draw_or_note(d, f, combo, NULL, NULL);
        for (uint32_t i = 0; f->is_of_run && goes_on(d) && i < combo->n_policies; i++)
            if (was_named || n_run_figures++ < MAX_RUN_FIGURES)
                draw_or_note(d, f, combo, &combo->policies[i], &window);
    }
    if (n_run_figures > MAX_RUN_FIGURES && d->report->n_drawn > before) {
        char remark[200];
        snprintf(remark, sizeof remark, "%s: %u of %u runs are drawn; --figure %s draws all", f->info.name,
                 MAX_RUN_FIGURES, n_run_figures, f->info.name);
        if (!report_remark(d->report, remark))
            return error_set(err, BRAID_FAILED, "out of memory");
    }
    return BRAID_OK;
}

/* What is not in the figures at all. */
static bool remark_on_set(struct plot_report *r, const struct plot_set *set)
{
    if (set->n_failed == 0)
        return true;
    char title[160], remark[300];
    snprintf(remark, sizeof remark, "runs that failed are left out: %u of %u, the first is %s (%s)", set->n_failed,
             set->file->n_runs, set->one_failed->id, report_run_title(set->file, set->one_failed, title, sizeof title));
    return report_remark(r, remark);
}

static int check_options(const struct plot_options *o, struct error *err)
{
    const char *names[N_FIGURES];
    for (int i = 0; i < N_FIGURES; i++)
        names[i] = figures[i].info.name;
    if (strcmp(o->type, "png") != 0 && strcmp(o->type, "pdf") != 0 && strcmp(o->type, "svg") != 0)
        return error_set(err, BRAID_BAD_INPUT, "--type: '%s' is none of png, pdf, svg", o->type);
    for (uint32_t k = 0; k < o->n_metrics; k++)
        if (metrics_find(o->metrics[k]) < 0)
            return error_set(err, BRAID_BAD_INPUT,
                             "--metric: unknown metric '%s'; docs/schema.md lists those of /summary", o->metrics[k]);
    for (uint32_t k = 0; k < o->n_figures; k++) {
        int i = 0;
        while (i < N_FIGURES && strcmp(names[i], o->figures[k]) != 0)
            i++;
        if (i < N_FIGURES)
            continue;
        const char *near = text_nearest(o->figures[k], names, N_FIGURES);
        return error_set(err, BRAID_BAD_INPUT, "--figure: unknown figure '%s'%s%s%s", o->figures[k],
                         near != NULL ? "; did you mean '" : "; 'braid plot --help' lists them",
                         near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    return BRAID_OK;
}

static int check_baseline(const struct plot_set *s, const char *label, struct error *err)
{
    for (uint32_t c = 0; label != NULL && c < s->n_combos; c++) {
        uint32_t i = plot_base_of(&s->combos[c], label);
        if (strcmp(s->combos[c].policies[i].label, label) != 0)
            return error_set(err, BRAID_BAD_INPUT, "--baseline: no policy is called '%s'%s%s", label,
                             s->combos[c].words[0] != '\0' ? " where " : "", s->combos[c].words);
    }
    return BRAID_OK;
}

static bool is_wanted(const struct plot_options *o, const char *name)
{
    for (uint32_t k = 0; k < o->n_figures; k++)
        if (strcmp(o->figures[k], name) == 0)
            return true;
    return o->n_figures == 0;
}

int plot_file(struct plot_report *out, const struct report_file *f, const struct plot_options *o, struct error *err)
{
    *out = (struct plot_report){0};
    arena_init(&out->arena);
    int code = check_options(o, err);
    if (code != BRAID_OK)
        return code;
    struct plot_set set;
    code = plot_set_init(&set, f, err);
    if (code != BRAID_OK)
        return code;
    size_t room = ((size_t)f->n_runs + 2) * (N_FIGURES + 1) * 2;
    out->drawn = ARENA_NEW(&out->arena, const char *, room);
    out->remarks = ARENA_NEW(&out->arena, const char *, room);
    if (out->drawn == NULL || out->remarks == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    else if (set.n_combos == 0)
        code = error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "there is no finished run to draw%s",
                        set.n_failed > 0 ? "; all of them failed" : "");
    if (code == BRAID_OK)
        code = check_baseline(&set, o->baseline, err);
    if (code == BRAID_OK)
        code = make_dir(o->dir, err);
    struct plot_fonts fonts = {.draws_all = strcmp(o->type, "svg") == 0};
    struct drawing d = {.set = &set, .options = o, .report = out, .fonts = &fonts};
    if (code == BRAID_OK && !remark_on_set(out, &set))
        code = error_set(err, BRAID_FAILED, "out of memory");
    for (int i = 0; code == BRAID_OK && goes_on(&d) && i < N_FIGURES; i++)
        if (is_wanted(o, figures[i].info.name))
            code = draw_figure(&d, &figures[i], o->n_figures > 0, err);
    if (fonts.has_missing)
        report_remark(out, "characters that no installed font has, or that fc-list does not tell of, are drawn as '?'; "
                           "install a font that has them, or take --type svg");
    plot_fonts_fini(&fonts);
    if (code == BRAID_OK && d.has_failed) {
        *err = d.failure;
        code = d.failure.code;
    } else if (code == BRAID_OK && out->n_drawn == 0)
        code = error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "no figure could be drawn: %s",
                        out->n_remarks > 0 ? out->remarks[0] : "there is nothing in the file");
    plot_set_fini(&set);
    return code;
}

void plot_report_fini(struct plot_report *r)
{
    arena_fini(&r->arena);
    *r = (struct plot_report){0};
}
