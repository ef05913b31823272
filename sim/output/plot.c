#include "output/plot.h"

#include "base/names.h"
#include "base/outfile.h"
#include "output/plot_figures.h"

#include <ctype.h>
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
    {{"jct_cdf", "distribution of job completion times"}, plot_jct_cdf, false},
    {{"wait_cdf", "distribution of waiting times"}, plot_wait_cdf, false},
    {{"utilization", "GPU utilisation over time (needs series)"}, plot_utilization, false},
    {{"queue", "queued jobs over time (needs series)"}, plot_queue, false},
    {{"bars", "mean and 99th percentile JCT and mean wait by policy"}, plot_bars, false},
    {{"bars_normalized", "the same as ratio to the first policy"}, plot_bars_normalized, false},
    {{"jct_by_gpus", "mean JCT by GPU demand"}, plot_jct_by_gpus, false},
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
};

static void plain_for_file_names(char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && strchr("-_.=", *text) == NULL)
            *text = '_';
}

static int draw_one(struct drawing *d, const struct figure *f, const struct plot_combo *c,
                    const struct plot_policy *policy, struct error *err)
{
    char policy_part[120] = "", path[1024], remark[500];
    if (policy != NULL && d->set->file->n_runs > 1)
        snprintf(policy_part, sizeof policy_part, "-%.100s", policy->label);
    plain_for_file_names(policy_part);
    int n = snprintf(path, sizeof path, "%s/%s%s%s.%s", d->options->dir, f->info.name, policy_part, c->suffix,
                     d->options->type);
    if (n < 0 || (size_t)n >= sizeof path)
        return error_at(err, BRAID_BAD_INPUT, d->options->dir, 0, 0, "the name of the folder is too long");
    struct plot_script script;
    int code = outfile_refuse_input(path, d->set->file->path, err);
    if (code == BRAID_OK)
        code = plot_script_init(&script, err);
    if (code != BRAID_OK)
        return code;
    struct plot_job job = {
        .file = d->set->file, .combo = c, .policy = policy, .type = d->options->type, .script = &script};
    code = f->draw(&job, err);
    if (code == BRAID_OK && job.remark[0] == '\0') {
        code = plot_script_run(&script, path, err);
        if (code == BRAID_OK && !report_add(d->report, d->report->drawn, &d->report->n_drawn, path))
            code = error_set(err, BRAID_FAILED, "out of memory");
    } else if (code == BRAID_OK) {
        /* A table that the file lacks is lacking for all figures of the kind: said once. */
        bool is_general = strstr(job.remark, "run again with") != NULL;
        snprintf(remark, sizeof remark, "%s%s%s: %s", f->info.name, is_general ? "" : policy_part,
                 is_general ? "" : c->suffix, job.remark);
        if (!report_remark(d->report, remark))
            code = error_set(err, BRAID_FAILED, "out of memory");
    }
    plot_script_fini(&script);
    return code;
}

static int draw_figure(struct drawing *d, const struct figure *f, bool was_named, struct error *err)
{
    int code = BRAID_OK;
    uint32_t n_run_figures = 0, before = d->report->n_drawn;
    for (uint32_t c = 0; code == BRAID_OK && c < d->set->n_combos; c++) {
        const struct plot_combo *combo = &d->set->combos[c];
        if (!f->is_of_run) {
            code = draw_one(d, f, combo, NULL, err);
            continue;
        }
        for (uint32_t i = 0; code == BRAID_OK && i < combo->n_policies; i++) {
            if (!was_named && n_run_figures++ >= MAX_RUN_FIGURES)
                continue;
            code = draw_one(d, f, combo, &combo->policies[i], err);
        }
    }
    if (code == BRAID_OK && n_run_figures > MAX_RUN_FIGURES && d->report->n_drawn > before) {
        char remark[200];
        snprintf(remark, sizeof remark, "%s: %u of %u runs are drawn; --figure %s draws all", f->info.name,
                 MAX_RUN_FIGURES, n_run_figures, f->info.name);
        if (!report_remark(d->report, remark))
            code = error_set(err, BRAID_FAILED, "out of memory");
    }
    return code;
}

static int check_options(const struct plot_options *o, struct error *err)
{
    const char *names[N_FIGURES];
    for (int i = 0; i < N_FIGURES; i++)
        names[i] = figures[i].info.name;
    if (strcmp(o->type, "png") != 0 && strcmp(o->type, "pdf") != 0 && strcmp(o->type, "svg") != 0)
        return error_set(err, BRAID_BAD_INPUT, "--type: '%s' is none of png, pdf, svg", o->type);
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
    size_t room = ((size_t)f->n_runs + 1) * N_FIGURES * 2;
    out->drawn = ARENA_NEW(&out->arena, const char *, room);
    out->remarks = ARENA_NEW(&out->arena, const char *, room);
    if (out->drawn == NULL || out->remarks == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    else if (set.n_combos == 0)
        code = error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "there is no finished run to draw");
    if (code == BRAID_OK)
        code = make_dir(o->dir, err);
    struct drawing d = {&set, o, out};
    for (int i = 0; code == BRAID_OK && i < N_FIGURES; i++)
        if (is_wanted(o, figures[i].info.name))
            code = draw_figure(&d, &figures[i], o->n_figures > 0, err);
    if (code == BRAID_OK && out->n_drawn == 0)
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
