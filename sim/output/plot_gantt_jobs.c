/* gantt_jobs: the jobs of one run over time, cut to what can be read. */
#include "output/plot_gantt.h"
#include "output/report_config.h"
#include "output/report_stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which jobs: GANTT_ROWS that follow each other, where most of them wait under the first policy; so all policies show the same ones. */
static int choose_jobs(uint64_t *first, const struct plot_job *p, struct error *err)
{
    const struct report_run *run = p->combo->policies[0].runs[0];
    struct gantt_jobs jobs = {0};
    *first = 0;
    if (!report_run_has(run, RESULTS_JOBS))
        return BRAID_OK;
    arena_init(&jobs.arena);
    int code = gantt_jobs_load(&jobs, p->file, run, err);
    uint64_t waiting = 0, most = 0;
    for (uint64_t i = 0; code == BRAID_OK && i < jobs.n; i++) {
        waiting += jobs.start[i] > jobs.submit[i];
        if (i >= GANTT_ROWS)
            waiting -= jobs.start[i - GANTT_ROWS] > jobs.submit[i - GANTT_ROWS];
        if (waiting > most && i + 1 >= GANTT_ROWS) {
            most = waiting;
            *first = i + 1 - GANTT_ROWS;
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
    qsort(ends, cut->rows, sizeof *ends, gantt_order_doubles);
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

static void draw_job(struct board *b, const struct stretches *s, const struct gantt_jobs *jobs,
                     const struct overheads *o, uint64_t job, double y, const struct jobs_cut *cut)
{
    double submit = jobs->submit[job], start = jobs->start[job], end = jobs->end[job], unit = b->unit_s;
    if (isnan(start) && !isnan(end)) { /* rejected, or killed before it ran */
        if (end <= cut->to_s)
            gantt_cross(b, end / unit, y + 0.5);
        return;
    }
    double until = isnan(end) || end > cut->to_s ? cut->to_s : end;
    if (submit < cut->to_s)
        gantt_box(b, submit / unit, until / unit, y + 0.4, y + 0.6, "#C4C4C4", NULL);
    if (s->n == 0 && start < cut->to_s)
        gantt_box(b, start / unit, until / unit, y + 0.1, y + 0.9, gantt_colour(job), NULL);
    for (uint64_t k = job < s->n_jobs ? s->at[job] : 0; job < s->n_jobs && k < s->at[job + 1]; k++)
        if (s->v[k].begin_s < cut->to_s)
            gantt_box(b, s->v[k].begin_s / unit, fmin(s->v[k].end_s, cut->to_s) / unit, y + 0.1, y + 0.9,
                      gantt_colour(job), NULL);
    for (uint64_t k = gantt_overhead_from(o, (uint32_t)job, cut->from_s);
         k < o->n && o->v[k].job == job && o->v[k].begin_s < cut->to_s; k++) {
        double begin = o->v[k].begin_s, last = fmin(o->v[k].end_s, cut->to_s);
        if ((last - begin) / unit > b->window / 1000)
            gantt_box(b, begin / unit, last / unit, y + 0.1, y + 0.9, GANTT_OVERHEAD_COLOUR, NULL);
    }
    if (gantt_was_cut_short(jobs, job) && end <= cut->to_s)
        gantt_cross(b, end / unit, y + 0.5);
}

static int draw_jobs(struct plot_job *p, const struct stretches *s, const struct gantt_jobs *jobs,
                     const struct overheads *o, struct error *err)
{
    FILE *gp = p->script->gp;
    struct jobs_cut cut = {0};
    int code = choose_jobs(&cut.first, p, err);
    if (code != BRAID_OK)
        return code;
    cut.first = cut.first < jobs->n ? cut.first : 0;
    cut.rows = jobs->n - cut.first < GANTT_ROWS ? jobs->n - cut.first : GANTT_ROWS;
    code = choose_times(&cut, jobs, err);
    if (code != BRAID_OK)
        return code;
    if (!p->window->is_set)
        *p->window = (struct plot_window){true, cut.from_s, cut.to_s};
    cut.from_s = p->window->from_s;
    cut.to_s = p->window->to_s;
    struct time_unit unit = canvas_time_unit(cut.to_s), all = canvas_time_unit(cut.last_s);
    char title[1100], subtitle[1000], note[500];
    bool has_segments = report_run_kept(p->policy->runs[0], RESULTS_SEGMENTS);
    size_t used =
        (size_t)snprintf(note, sizeof note, "light grey: queued; coloured: %s%s; cross: rejected, killed or failed",
                         has_segments ? "holding GPUs" : "from first start to end (segments are not stored)",
                         o->n > 0 ? "; dark: overhead" : "");
    if (cut.rows < jobs->n)
        used += (size_t)snprintf(note + used, sizeof note - used, "; shown: jobs no. %llu to %llu of %llu",
                                 (unsigned long long)cut.first, (unsigned long long)(cut.first + cut.rows - 1),
                                 (unsigned long long)jobs->n);
    if (cut.to_s < cut.last_s)
        snprintf(note + used, sizeof note - used, ", whose last one ends at %.3g %s", cut.last_s / all.seconds,
                 all.name);
    snprintf(title, sizeof title, "Schedule of %.1000s: jobs over time", p->policy->label);
    plot_run_subtitle(p->combo, p->policy, subtitle, sizeof subtitle);
    struct canvas canvas = {.type = p->type,
                            .title = title,
                            .subtitle = subtitle,
                            .note = note,
                            .width = 1.15,
                            .height = cut.rows > 32   ? 1.35
                                      : cut.rows > 12 ? 1
                                                      : 0.8};
    canvas_begin(p->script, &canvas);
    fprintf(gp, "set grid noytics\nset xlabel 'time since the start of the trace (%s)'\nset xrange [%.10g:%.10g]\n",
            unit.name, cut.from_s / unit.seconds, cut.to_s / unit.seconds);
    int size = cut.rows > 40 ? 7 : 9;
    size_t widest = 8;
    for (uint64_t i = 0; i < cut.rows; i++) {
        char id[200], label[240];
        plot_text_shorten(id, sizeof id, gantt_id(jobs, cut.first + i), 24);
        snprintf(label, sizeof label, "%s (%lld)", id, (long long)jobs->gpus[cut.first + i]);
        canvas_tick(p->script, 'y', (uint32_t)i, (double)i + 0.5, label, size);
        widest = plot_text_cells(label) > widest ? plot_text_cells(label) : widest;
    }
    fprintf(gp,
            "set yrange [%llu:0]\nunset ytics\nset lmargin at screen %.4f\n"
            "set label 9004 'job (GPUs)' at screen 0.018, screen 0.45 center rotate by 90\n",
            (unsigned long long)cut.rows, (50 + (double)widest * size * CANVAS_CELL) / (CANVAS_WIDTH * canvas.width));
    struct board b = {p->script, 0, (cut.to_s - cut.from_s) / unit.seconds, unit.seconds};
    for (uint64_t i = 0; i < cut.rows; i++)
        draw_job(&b, s, jobs, o, cut.first + i, (double)i, &cut);
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
    code = gantt_jobs_load(&jobs, p->file, run, err);
    struct overheads overheads;
    if (code == BRAID_OK)
        code = gantt_overheads_load(&overheads, p->file, run, &jobs.arena, err);
    if (code == BRAID_OK)
        code = draw_jobs(p, &s, &jobs, &overheads, err);
    arena_fini(&jobs.arena);
    stretches_fini(&s);
    return code;
}
