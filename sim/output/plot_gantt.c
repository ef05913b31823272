/* gantt (GPUs over time) and gantt_jobs (jobs over time) of one run, cut to what can be read. */
#include "output/plot_figures.h"
#include "output/report_config.h"
#include "output/report_stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ROWS = 64,    /* GPUs or jobs */
    MAX_BOXES = 600,  /* in the window */
    LABEL_SHARE = 28, /* a box at least this part of the window wide carries its job's id */
};

/* What both figures know of the jobs. */
struct gantt_jobs {
    uint64_t n;
    char *ids;
    size_t stride;
    double *submit, *start, *end;
    int64_t *gpus;
    struct arena arena;
};

static int load_jobs(struct gantt_jobs *j, const struct report_file *f, const struct report_run *run, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_JOBS];
    struct report_table t;
    int code = report_table_open(&t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *id = report_column_need(&t, "id", err);
    j->n = rows.count;
    j->stride = id == NULL ? 1 : id->width + 1;
    j->ids = ARENA_NEW(&j->arena, char, rows.count * j->stride);
    if (id == NULL)
        code = err->code;
    else if (j->ids == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    else
        code = report_read_text(&t, id, rows.begin, rows.count, j->ids, err);
    bool ok = code == BRAID_OK && (j->submit = report_load_f64(&t, "submit", rows, &j->arena, err)) != NULL &&
              (j->start = report_load_f64(&t, "start", rows, &j->arena, err)) != NULL &&
              (j->end = report_load_f64(&t, "end", rows, &j->arena, err)) != NULL &&
              (j->gpus = report_load_i64(&t, "gpus", rows, &j->arena, err)) != NULL;
    report_table_close(&t);
    return ok ? BRAID_OK : code != BRAID_OK ? code : err->code;
}

/* Light tints of the palette, so that dark text is read on them. */
static const char *box_colour(uint64_t job)
{
    static const char *const tints[] = {"#8FC1E3", "#F2B27A", "#8FD3B6", "#E3B5D2",
                                        "#F5D58A", "#B9E0F7", "#C9C9C9", "#D9CF5C"};
    return tints[job % (sizeof tints / sizeof tints[0])];
}

/* A rectangle and, when it is wide enough, the id in it. */
static void box(FILE *gp, uint32_t *n, double from, double to, double bottom, double top, const char *colour,
                const char *id, double window)
{
    bool is_thin = to - from < window / 400; /* a border would hide it */
    to = fmax(to, from + window / 1000);
    fprintf(gp,
            "set object %u rectangle from %.10g,%.10g to %.10g,%.10g fillcolor rgb '%s' fillstyle solid 1 %s linewidth "
            "0.5\n",
            ++*n, from, bottom, to, top, colour, is_thin ? "noborder" : "border linecolor rgb '#ffffff'");
    if (id == NULL || to - from < window / LABEL_SHARE)
        return;
    size_t room = (size_t)((to - from) / window * 110), length = strlen(id);
    char shown[40];
    if (room < 2)
        return;
    if (length > room || length >= sizeof shown)
        snprintf(shown, sizeof shown, "%.*s…", (int)(room < 36 ? room - 1 : 35), id);
    else
        snprintf(shown, sizeof shown, "%s", id);
    fprintf(gp, "set label %u ", *n);
    plot_quote(gp, shown);
    fprintf(gp, " at %.10g,%.10g center font ',8' textcolor '#222222' front\n", (from + to) / 2, (bottom + top) / 2);
}

static const char *id_of(const struct gantt_jobs *j, uint64_t rank)
{
    return rank < j->n ? j->ids + rank * j->stride : "?";
}

/* ---- gantt: a row a GPU ----------------------------------------------------------------------- */

/* What is shown: nodes [0, n_nodes) and times [from_s, to_s). */
struct gantt_cut {
    uint32_t n_nodes, all_nodes;
    uint64_t rows;
    uint64_t gpus[MAX_ROWS]; /* of each shown node */
    double from_s, to_s, last_s;
};

static int order_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* As many nodes as have MAX_ROWS GPUs together; then a window with at most MAX_BOXES boxes on them. */
static int choose_cut(struct gantt_cut *cut, const struct stretches *s, uint64_t n_spans,
                      const struct node_bases *bases, struct error *err)
{
    *cut = (struct gantt_cut){.from_s = INFINITY};
    for (uint64_t i = 0; i < n_spans; i++)
        if (s->spans[i].node >= cut->all_nodes)
            cut->all_nodes = s->spans[i].node + 1;
    uint64_t known = 0;
    for (uint32_t g = 0; g < bases->n_groups; g++)
        known += bases->groups[g].nodes;
    if (known > cut->all_nodes && known < UINT32_MAX)
        cut->all_nodes = (uint32_t)known;
    while (cut->n_nodes < cut->all_nodes && cut->n_nodes < MAX_ROWS) {
        uint64_t gpus = node_base(bases, cut->n_nodes + 1) - node_base(bases, cut->n_nodes);
        if (cut->n_nodes > 0 && cut->rows + gpus > MAX_ROWS)
            break;
        cut->gpus[cut->n_nodes++] = gpus;
        cut->rows += gpus;
    }
    double *begins = malloc((n_spans + 1) * sizeof *begins);
    if (begins == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    size_t n = 0;
    for (uint64_t k = 0; k < s->n; k++)
        for (uint32_t i = 0; i < s->v[k].n_spans; i++)
            if (s->spans[s->v[k].first_span + i].node < cut->n_nodes) {
                begins[n++] = s->v[k].begin_s;
                cut->from_s = fmin(cut->from_s, s->v[k].begin_s);
                cut->last_s = fmax(cut->last_s, s->v[k].end_s);
            }
    qsort(begins, n, sizeof *begins, order_doubles);
    cut->to_s = n > MAX_BOXES ? begins[MAX_BOXES] : cut->last_s;
    if (cut->from_s < 0.05 * cut->to_s)
        cut->from_s = 0;
    free(begins);
    return BRAID_OK;
}

static void draw_gpus(struct plot_job *p, const struct stretches *s, const struct gantt_jobs *jobs,
                      const struct node_bases *bases, const struct gantt_cut *cut)
{
    FILE *gp = p->script->gp;
    char title[200], subtitle[400], note[300] = "a colour and an id a job; white: free";
    struct time_unit unit = canvas_time_unit(cut->to_s);
    double window = (cut->to_s - cut->from_s) / unit.seconds;
    size_t used = strlen(note);
    if (cut->n_nodes < cut->all_nodes)
        used += (size_t)snprintf(note + used, sizeof note - used, "; shown: nodes 0-%u of %u", cut->n_nodes - 1,
                                 cut->all_nodes);
    if (cut->to_s < cut->last_s) {
        struct time_unit all = canvas_time_unit(cut->last_s);
        snprintf(note + used, sizeof note - used, "; shown: the first %.3g %s of %.3g %s", cut->to_s / unit.seconds,
                 unit.name, cut->last_s / all.seconds, all.name);
    }
    snprintf(title, sizeof title, "Schedule of %s: GPUs over time", p->policy->label);
    plot_run_subtitle(p->combo, p->policy, subtitle, sizeof subtitle);
    struct canvas canvas = {.type = p->type,
                            .title = title,
                            .subtitle = subtitle,
                            .note = note,
                            .width = 1.15,
                            .height = cut->rows > 32   ? 1.35
                                      : cut->rows > 12 ? 1
                                                       : 0.8};
    canvas_begin(gp, &canvas);
    fprintf(gp,
            "unset grid\nunset key\nset xlabel 'time since the start of the trace (%s)'\nset xrange [%.10g:%.10g]\n",
            unit.name, cut->from_s / unit.seconds, cut->to_s / unit.seconds);
    fprintf(gp, "set yrange [%llu:0]\nset ylabel 'node'\nset ytics scale 0 (", (unsigned long long)cut->rows);
    for (uint32_t node = 0; node < cut->n_nodes; node++) {
        double middle = (double)node_base(bases, node) + (double)cut->gpus[node] / 2;
        fprintf(gp, "%s'%u' %.10g", node > 0 ? ", " : "", node, middle);
    }
    fputs(")\n", gp);
    for (uint32_t node = 1; node < cut->n_nodes; node++)
        fprintf(gp,
                "set arrow %u from graph 0, first %llu to graph 1, first %llu nohead back linecolor '#bbbbbb' "
                "linewidth 0.7\n",
                node, (unsigned long long)node_base(bases, node), (unsigned long long)node_base(bases, node));
    uint32_t n = 0;
    for (uint64_t k = 0; k < s->n; k++) {
        const struct stretch *v = &s->v[k];
        if (v->begin_s >= cut->to_s || v->end_s <= cut->from_s)
            continue;
        for (uint32_t i = 0; i < v->n_spans; i++) {
            const struct stretch_span *span = &s->spans[v->first_span + i];
            if (span->node >= cut->n_nodes)
                continue;
            double bottom = (double)(node_base(bases, span->node) + span->gpu_first);
            box(gp, &n, v->begin_s / unit.seconds, fmin(v->end_s, cut->to_s) / unit.seconds, bottom,
                bottom + span->gpu_count, box_colour(v->job), id_of(jobs, v->job), window);
        }
    }
    fputs("plot NaN notitle\n", gp);
}

int plot_gantt(struct plot_job *p, struct error *err)
{
    const struct report_run *run = p->policy->runs[0];
    if (!report_run_has(run, RESULTS_ALLOCS) || !report_run_has(run, RESULTS_JOBS)) {
        snprintf(p->remark, sizeof p->remark, "%s",
                 report_run_kept(run, RESULTS_SEGMENTS)
                     ? "no job ever held a GPU"
                     : "there are no segments in the file; run again with 'output: {segments: on}'");
        return BRAID_OK;
    }
    struct stretches s;
    int code = stretches_load(&s, p->file, run, err);
    if (code != BRAID_OK)
        return code;
    struct gantt_jobs jobs = {0};
    arena_init(&jobs.arena);
    code = load_jobs(&jobs, p->file, run, err);
    uint64_t n_spans = run->tables[RESULTS_ALLOCS].count, widest = 1;
    for (uint64_t i = 0; i < n_spans; i++)
        if ((uint64_t)s.spans[i].gpu_first + s.spans[i].gpu_count > widest)
            widest = (uint64_t)s.spans[i].gpu_first + s.spans[i].gpu_count;
    struct node_bases bases;
    struct gantt_cut cut;
    report_config_bases(&bases, run, widest);
    if (code == BRAID_OK)
        code = choose_cut(&cut, &s, n_spans, &bases, err);
    if (code == BRAID_OK && !isfinite(cut.from_s))
        snprintf(p->remark, sizeof p->remark, "no job held a GPU of the first %u nodes", cut.n_nodes);
    else if (code == BRAID_OK)
        draw_gpus(p, &s, &jobs, &bases, &cut);
    arena_fini(&jobs.arena);
    stretches_fini(&s);
    return code;
}

/* ---- gantt_jobs: a row a job ------------------------------------------------------------------ */

/* Which jobs: MAX_ROWS that follow each other, where most of them wait under the first policy; so all policies show the same ones. */
static int choose_jobs(uint64_t *first, const struct plot_job *p, struct error *err)
{
    const struct report_run *run = p->combo->policies[0].runs[0];
    struct gantt_jobs jobs = {0};
    *first = 0;
    if (!report_run_has(run, RESULTS_JOBS))
        return BRAID_OK;
    arena_init(&jobs.arena);
    int code = load_jobs(&jobs, p->file, run, err);
    uint64_t waiting = 0, most = 0;
    for (uint64_t i = 0; code == BRAID_OK && i < jobs.n; i++) {
        waiting += jobs.start[i] > jobs.submit[i];
        if (i >= MAX_ROWS)
            waiting -= jobs.start[i - MAX_ROWS] > jobs.submit[i - MAX_ROWS];
        if (waiting > most && i + 1 >= MAX_ROWS) {
            most = waiting;
            *first = i + 1 - MAX_ROWS;
        }
    }
    arena_fini(&jobs.arena);
    return code;
}

/* What is shown of the jobs: those from `first`, until most of them have ended. */
struct jobs_cut {
    uint64_t first, rows;
    double from_s, to_s, last_s;
};

static int choose_times(struct jobs_cut *cut, const struct gantt_jobs *jobs, struct error *err)
{
    double *ends = malloc(cut->rows * sizeof *ends);
    if (ends == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint64_t i = 0; i < cut->rows; i++) {
        double end = jobs->end[cut->first + i];
        ends[i] = isnan(end) ? jobs->submit[cut->first + i] : end;
    }
    qsort(ends, cut->rows, sizeof *ends, order_doubles);
    cut->from_s = jobs->submit[cut->first];
    cut->last_s = ends[cut->rows - 1];
    cut->to_s = fmin(cut->last_s, cut->from_s + 2 * (ends[cut->rows * 85 / 100] - cut->from_s));
    free(ends);
    if (cut->from_s < 0.05 * cut->to_s)
        cut->from_s = 0;
    if (cut->to_s <= cut->from_s)
        cut->to_s = cut->from_s + 1;
    return BRAID_OK;
}

static void draw_job(FILE *gp, uint32_t *n, const struct stretches *s, const struct gantt_jobs *jobs, uint64_t job,
                     double y, const struct jobs_cut *cut, double unit)
{
    double submit = jobs->submit[job], start = jobs->start[job], end = jobs->end[job],
           window = (cut->to_s - cut->from_s) / unit;
    if (isnan(start) && !isnan(end)) { /* rejected, or killed before it ran */
        if (end <= cut->to_s)
            fprintf(gp, "set label %u '×' at %.10g,%.1f center textcolor '#D55E00' front\n", ++*n, end / unit, y + 0.5);
        return;
    }
    double until = isnan(end) || end > cut->to_s ? cut->to_s : end;
    if (submit < cut->to_s)
        box(gp, n, submit / unit, until / unit, y + 0.4, y + 0.6, "#AAAAAA", NULL, window);
    if (s->n == 0 && start < cut->to_s)
        box(gp, n, start / unit, until / unit, y + 0.1, y + 0.9, box_colour(job), NULL, window);
    if (job >= s->n_jobs)
        return;
    for (uint64_t k = s->at[job]; k < s->at[job + 1]; k++)
        if (s->v[k].begin_s < cut->to_s)
            box(gp, n, s->v[k].begin_s / unit, fmin(s->v[k].end_s, cut->to_s) / unit, y + 0.1, y + 0.9, box_colour(job),
                NULL, window);
}

static int draw_jobs(struct plot_job *p, const struct stretches *s, const struct gantt_jobs *jobs, struct error *err)
{
    FILE *gp = p->script->gp;
    struct jobs_cut cut = {0};
    int code = choose_jobs(&cut.first, p, err);
    if (code != BRAID_OK)
        return code;
    cut.first = cut.first < jobs->n ? cut.first : 0;
    cut.rows = jobs->n - cut.first < MAX_ROWS ? jobs->n - cut.first : MAX_ROWS;
    code = choose_times(&cut, jobs, err);
    if (code != BRAID_OK)
        return code;
    struct time_unit unit = canvas_time_unit(cut.to_s), all = canvas_time_unit(cut.last_s);
    char title[200], subtitle[400], note[300];
    size_t used = (size_t)snprintf(note, sizeof note, "grey: queued; coloured: %s; cross: rejected",
                                   s->n > 0 ? "holding GPUs" : "from first start to end (segments are not stored)");
    if (cut.rows < jobs->n)
        used += (size_t)snprintf(note + used, sizeof note - used, "; shown: jobs no. %llu to %llu of %llu",
                                 (unsigned long long)cut.first, (unsigned long long)(cut.first + cut.rows - 1),
                                 (unsigned long long)jobs->n);
    if (cut.to_s < cut.last_s)
        snprintf(note + used, sizeof note - used, ", whose last one ends at %.3g %s", cut.last_s / all.seconds,
                 all.name);
    snprintf(title, sizeof title, "Schedule of %s: jobs over time", p->policy->label);
    plot_run_subtitle(p->combo, p->policy, subtitle, sizeof subtitle);
    struct canvas canvas = {.type = p->type,
                            .title = title,
                            .subtitle = subtitle,
                            .note = note,
                            .width = 1.15,
                            .height = cut.rows > 32   ? 1.35
                                      : cut.rows > 12 ? 1
                                                      : 0.8};
    canvas_begin(gp, &canvas);
    fprintf(
        gp,
        "set grid noytics\nunset key\nset xlabel 'time since the start of the trace (%s)'\nset xrange [%.10g:%.10g]\n",
        unit.name, cut.from_s / unit.seconds, cut.to_s / unit.seconds);
    fprintf(gp, "set yrange [%llu:0]\nset ylabel 'job (GPUs)'\nset ytics scale 0 font ',%d' (",
            (unsigned long long)cut.rows, cut.rows > 40 ? 7 : 9);
    for (uint64_t i = 0; i < cut.rows; i++) {
        char label[48];
        snprintf(label, sizeof label, "%.24s (%lld)", id_of(jobs, cut.first + i), (long long)jobs->gpus[cut.first + i]);
        fputs(i > 0 ? ", " : "", gp);
        plot_quote(gp, label);
        fprintf(gp, " %.1f", (double)i + 0.5);
    }
    fputs(")\n", gp);
    uint32_t n = 0;
    for (uint64_t i = 0; i < cut.rows; i++)
        draw_job(gp, &n, s, jobs, cut.first + i, (double)i, &cut, unit.seconds);
    fputs("plot NaN notitle\n", gp);
    return BRAID_OK;
}

int plot_gantt_jobs(struct plot_job *p, struct error *err)
{
    const struct report_run *run = p->policy->runs[0];
    if (!report_run_has(run, RESULTS_JOBS)) {
        snprintf(p->remark, sizeof p->remark, "%s",
                 report_run_kept(run, RESULTS_JOBS) ? "there are no jobs"
                                                    : "the jobs are not stored; run again with 'output: {jobs: true}'");
        return BRAID_OK;
    }
    struct stretches s;
    int code = stretches_load(&s, p->file, run, err);
    if (code != BRAID_OK)
        return code;
    struct gantt_jobs jobs = {0};
    arena_init(&jobs.arena);
    code = load_jobs(&jobs, p->file, run, err);
    if (code == BRAID_OK)
        code = draw_jobs(p, &s, &jobs, err);
    arena_fini(&jobs.arena);
    stretches_fini(&s);
    return code;
}
