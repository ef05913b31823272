/* jct_cdf and wait_cdf: the share of the submitted jobs that finished (waited) within a time, a curve a policy, over a logarithmic axis. A
 * curve ends at the share that finished at all: a policy that leaves its long jobs waiting does not look better for it. */
#include "output/plot_figures.h"
#include "output/report_config.h"
#include "output/report_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 2000 };

enum cdf_kind { CDF_JCT, CDF_WAIT };

/* The times of all finished jobs of one policy, all seeds, ascending. */
struct sample_times {
    double *v;
    size_t n, room, submitted; /* submitted: in the measured window, whatever became of them */
};

/* Why jobs did not finish: some were not even submitted when the run was stopped. `stride` bytes each; NULL with `err`. */
static const char *load_reasons(const struct report_table *t, struct report_range rows, size_t *stride, struct arena *a,
                                struct error *err)
{
    const struct report_column *reason = report_column_need(t, "reason", err);
    if (reason == NULL)
        return NULL;
    *stride = reason->width + 1;
    char *texts = ARENA_NEW(a, char, rows.count *(reason->width + 1));
    if (texts == NULL)
        error_set(err, BRAID_FAILED, "out of memory");
    else if (report_read_text(t, reason, rows.begin, rows.count, texts, err) != BRAID_OK)
        texts = NULL;
    return texts;
}

static int add_run(struct sample_times *s, const struct report_file *f, const struct report_run *run,
                   enum cdf_kind kind, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_JOBS];
    struct report_table t;
    struct arena a;
    if (rows.count == 0)
        return BRAID_OK;
    int code = report_table_open(&t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK)
        return code;
    arena_init(&a);
    double *submit = report_load_f64(&t, "submit", rows, &a, err);
    double *to = submit == NULL ? NULL : report_load_f64(&t, kind == CDF_JCT ? "jct" : "start", rows, &a, err);
    int64_t *status = to == NULL ? NULL : report_load_i64(&t, "status", rows, &a, err);
    size_t stride = 0;
    const char *reasons = status == NULL ? NULL : load_reasons(&t, rows, &stride, &a, err);
    struct measure_window window;
    if (reasons == NULL)
        code = err->code;
    if (code == BRAID_OK)
        code = report_config_measure(&window, f, run, submit[0], err);
    if (code == BRAID_OK && s->room - s->n < rows.count) {
        double *more = realloc(s->v, (s->n + rows.count) * sizeof *more);
        if (more == NULL)
            code = error_set(err, BRAID_FAILED, "out of memory");
        else {
            s->v = more;
            s->room = s->n + rows.count;
        }
    }
    int64_t finished = code == BRAID_OK ? report_enum_value(report_column_find(&t, "status"), "finished") : -1;
    for (uint64_t i = 0; code == BRAID_OK && i < rows.count; i++)
        if (submit[i] >= window.from_s && submit[i] < window.to_s &&
            strcmp(reasons + i * stride, "not_submitted") != 0) {
            s->submitted++;
            if (status[i] == finished)
                s->v[s->n++] = kind == CDF_JCT ? to[i] : to[i] - submit[i];
        }
    arena_fini(&a);
    report_table_close(&t);
    return code;
}

/* Least positive and largest time over all policies, widened to whole powers of ten where that costs little. */
static void axis_range(const struct sample_times *s, uint32_t n, enum cdf_kind kind, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (uint32_t p = 0; p < n; p++) {
        size_t i = 0;
        while (i < s[p].n && s[p].v[i] <= 0)
            i++;
        if (i < s[p].n) {
            *low = fmin(*low, s[p].v[i]);
            *high = fmax(*high, s[p].v[s[p].n - 1]);
        }
    }
    if (*high <= 0) { /* all zero, or none */
        *low = 1;
        *high = 10;
        return;
    }
    *low = fmax(*low, kind == CDF_WAIT ? fmin(1, *high / 1e3) : *high * 1e-9);
    *high = fmax(*high, *low * 10) * 1.05;
    *low = fmin(*low, *high / 30) / 1.05;
    if (*low > 0.5 && *low < 1)
        *low = 0.5;
}

/* A step at every job, or at MAX_POINTS of them evenly spread over the ranks; the ends are always there. What lies at or below the edge
 * of the axis (no waiting at all) is where the curve begins. */
static void write_steps(FILE *data, const struct sample_times *s, double low, double high)
{
    size_t step = s->n / (MAX_POINTS - 3) + 1, below = 0;
    double percent = 100.0 / (double)s->submitted;
    while (below < s->n && s->v[below] <= low)
        below++;
    fprintf(data, "%.10g %.10g\n", low, percent * (double)below);
    for (size_t i = below; i < s->n; i += step)
        fprintf(data, "%.10g %.10g\n", s->v[i], percent * (double)(i + 1));
    fprintf(data, "%.10g %.10g\n", fmax(s->v[s->n - 1], low), percent * (double)s->n);
    if (s->n == s->submitted) /* the rest of the axis changes nothing more; else what would is not known */
        fprintf(data, "%.10g 100\n", high);
}

/* "srtf", or "srtf: 795 of 1500 finished". */
static const char **key_texts(const struct plot_combo *c, const struct sample_times *s, struct arena *a)
{
    const char **keys = ARENA_NEW(a, const char *, c->n_policies);
    for (uint32_t i = 0; keys != NULL && i < c->n_policies; i++) {
        size_t size = strlen(c->policies[i].label) + 80;
        char *text = ARENA_NEW(a, char, size);
        if (text == NULL)
            return NULL;
        if (s[i].n == s[i].submitted)
            snprintf(text, size, "%s", c->policies[i].label);
        else
            snprintf(text, size, "%s: %zu of %zu finished", c->policies[i].label, s[i].n, s[i].submitted);
        keys[i] = *text != '\0' ? text : "(no name)";
    }
    return keys;
}

static void draw(struct plot_job *p, const struct sample_times *s, const char *const *keys, enum cdf_kind kind)
{
    const struct plot_combo *c = p->combo;
    double low, high;
    char subtitle[1000];
    FILE *gp = p->script->gp;
    axis_range(s, c->n_policies, kind, &low, &high);
    bool all_finished = true;
    for (uint32_t i = 0; i < c->n_policies; i++)
        all_finished = all_finished && s[i].n == s[i].submitted;
    struct canvas canvas = {.type = p->type,
                            .title = kind == CDF_JCT ? "Job completion time" : "Waiting time before the first start",
                            .subtitle = plot_subtitle(c, subtitle, sizeof subtitle),
                            .note = !all_finished     ? "curves end at the share of the submitted jobs that finished; "
                                                        "others were rejected, killed, failed or are unfinished"
                                    : kind == CDF_JCT ? ""
                                                      : "jobs that started at once stand at the left edge",
                            .width = 1,
                            .height = 1,
                            .keys = keys,
                            .n_keys = c->n_policies};
    canvas_begin(p->script, &canvas);
    canvas_log_time(gp, 'x', low, high, 1);
    fprintf(gp, "set xlabel '%s (log scale)'\nset ylabel '%s jobs (%%)'\nset yrange [0:100]\nset ytics 20\n",
            kind == CDF_JCT ? "job completion time" : "waiting time", all_finished ? "finished" : "submitted");
    bool is_first = true;
    for (uint32_t i = 0; i < c->n_policies; i++) {
        char name[16];
        if (s[i].n == 0)
            continue;
        FILE *data = plot_data_open(p->script, name);
        if (data != NULL)
            write_steps(data, &s[i], low, high);
        plot_data_close(p->script, data);
        /* Many small steps would break the dashes. */
        fprintf(gp, "%s'%s' using 1:2 with %s linestyle %u notitle", is_first ? "plot " : ", ", name,
                s[i].n > 200 ? "lines" : "steps", i + 1);
        is_first = false;
    }
}

static int plot_cdf(struct plot_job *p, enum cdf_kind kind, struct error *err)
{
    const struct plot_combo *c = p->combo;
    struct sample_times *s = calloc(c->n_policies, sizeof *s);
    if (s == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    int code = BRAID_OK;
    bool has_rows = false;
    size_t n = 0;
    for (uint32_t i = 0; code == BRAID_OK && i < c->n_policies; i++) {
        for (uint32_t r = 0; code == BRAID_OK && r < c->policies[i].n_runs; r++) {
            has_rows = has_rows || report_run_has(c->policies[i].runs[r], RESULTS_JOBS);
            code = add_run(&s[i], p->file, c->policies[i].runs[r], kind, err);
        }
        stats_sort(s[i].v, s[i].n);
        n += s[i].n;
    }
    struct arena a;
    arena_init(&a);
    const char *const *keys = code == BRAID_OK && n > 0 ? key_texts(c, s, &a) : NULL;
    if (keys != NULL)
        draw(p, s, keys, kind);
    else if (code == BRAID_OK && n > 0)
        code = error_set(err, BRAID_FAILED, "out of memory");
    else if (code == BRAID_OK)
        snprintf(p->remark, sizeof p->remark, "%s",
                 has_rows ? "no job has finished" : "the jobs are not stored; run again with 'output: {jobs: true}'");
    arena_fini(&a);
    for (uint32_t i = 0; i < c->n_policies; i++)
        free(s[i].v);
    free(s);
    return code;
}

int plot_jct_cdf(struct plot_job *p, struct error *err)
{
    return plot_cdf(p, CDF_JCT, err);
}

int plot_wait_cdf(struct plot_job *p, struct error *err)
{
    return plot_cdf(p, CDF_WAIT, err);
}
