/* gantt: the GPUs of one run over time, cut to what can be read. */
#include "output/plot_gantt.h"
#include "output/report_config.h"
#include "output/report_stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is shown: nodes [0, n_nodes) and times [from_s, to_s). */
struct gantt_cut {
    uint32_t n_nodes, all_nodes;
    uint64_t rows;
    uint64_t gpus[GANTT_ROWS]; /* of each shown node */
    double from_s, to_s, last_s;
};

/* The moment at which most jobs wait. */
static int busiest_moment(const struct gantt_jobs *jobs, double *out, struct error *err)
{
    double *starts = malloc((jobs->n + 1) * sizeof *starts);
    if (starts == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    size_t n = 0;
    for (uint64_t i = 0; i < jobs->n; i++)
        if (!isnan(jobs->start[i]))
            starts[n++] = jobs->start[i];
    qsort(starts, n, sizeof *starts, gantt_order_doubles);
    uint64_t begun = 0, arrived = 0, most = 0;
    *out = 0;
    for (uint64_t i = 0; i < jobs->n; i++) { /* in order of submission */
        if (isnan(jobs->start[i]))
            continue;
        arrived++;
        while (begun < n && starts[begun] <= jobs->submit[i])
            begun++;
        if (begun < arrived && arrived - begun > most) {
            most = arrived - begun;
            *out = jobs->submit[i];
        }
    }
    free(starts);
    return BRAID_OK;
}

/* Times with at most GANTT_BOXES boxes, a part of them before the busiest moment. */
static int choose_window(struct plot_window *window, double *begins, size_t n, const struct gantt_jobs *jobs,
                         const struct gantt_cut *cut, struct error *err)
{
    double busiest = 0;
    int code = busiest_moment(jobs, &busiest, err);
    if (code != BRAID_OK)
        return code;
    size_t at = 0;
    while (at < n && begins[at] < busiest)
        at++;
    size_t first = at > GANTT_BOXES / 3 ? at - GANTT_BOXES / 3 : 0;
    if (n > GANTT_BOXES && first + GANTT_BOXES > n)
        first = n - GANTT_BOXES;
    if (n <= GANTT_BOXES)
        first = 0;
    *window =
        (struct plot_window){true, begins[first], first + GANTT_BOXES < n ? begins[first + GANTT_BOXES] : cut->last_s};
    if (window->from_s < 0.05 * window->to_s)
        window->from_s = 0;
    if (window->to_s <= window->from_s)
        window->to_s = window->from_s + 1;
    return BRAID_OK;
}

/* As many nodes as have GANTT_ROWS GPUs together, in the window that all policies share. */
static int choose_cut(struct gantt_cut *cut, const struct stretches *s, uint64_t n_spans,
                      const struct node_bases *bases, const struct gantt_jobs *jobs, struct plot_window *window,
                      struct error *err)
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
    while (cut->n_nodes < cut->all_nodes && cut->n_nodes < GANTT_ROWS) {
        uint64_t gpus = node_base(bases, cut->n_nodes + 1) - node_base(bases, cut->n_nodes);
        if (cut->n_nodes > 0 && cut->rows + gpus > GANTT_ROWS)
            break;
        cut->gpus[cut->n_nodes++] = gpus;
        cut->rows += gpus;
    }
    double *begins = malloc((n_spans + 1) * sizeof *begins);
    if (begins == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    size_t n = 0;
    int code = BRAID_OK;
    for (uint64_t k = 0; k < s->n; k++) {
        cut->last_s = fmax(cut->last_s, s->v[k].end_s);
        for (uint32_t i = 0; i < s->v[k].n_spans; i++)
            if (s->spans[s->v[k].first_span + i].node < cut->n_nodes)
                begins[n++] = s->v[k].begin_s;
    }
    qsort(begins, n, sizeof *begins, gantt_order_doubles);
    if (n > 0 && !window->is_set)
        code = choose_window(window, begins, n, jobs, cut, err);
    if (n > 0) {
        cut->from_s = window->from_s;
        cut->to_s = window->to_s;
    }
    free(begins);
    return code;
}

/* A span of a stretch on one set of GPUs that jobs share. */
struct shared_span {
    uint64_t bottom, count; /* rows */
    double begin_s, end_s;
    uint32_t job;
};

static int order_shared(const void *a, const void *b)
{
    const struct shared_span *x = a, *y = b;
    if (x->bottom != y->bottom)
        return x->bottom < y->bottom ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* v[0..n) are on the same GPUs: at every moment the rows are divided by those that hold them. */
static void draw_shared(struct board *b, const struct shared_span *v, size_t n, const struct gantt_jobs *jobs,
                        const struct gantt_cut *cut, double *times)
{
    size_t n_times = 0;
    for (size_t i = 0; i < n; i++) {
        times[n_times++] = fmax(v[i].begin_s, cut->from_s);
        times[n_times++] = fmin(v[i].end_s, cut->to_s);
    }
    qsort(times, n_times, sizeof *times, gantt_order_doubles);
    size_t first = 0; /* spans before it have ended */
    for (size_t k = 0; k + 1 < n_times; k++) {
        double from = times[k], to = times[k + 1];
        if (to <= from)
            continue;
        while (first < n && v[first].end_s <= from)
            first++;
        unsigned members = 0, at = 0;
        for (size_t i = first; i < n && v[i].begin_s <= from; i++)
            members += v[i].end_s >= to;
        for (size_t i = first; i < n && v[i].begin_s <= from; i++) {
            if (v[i].end_s < to)
                continue;
            double each = (double)v[i].count / members, bottom = (double)v[i].bottom + each * at++;
            gantt_box(b, from / b->unit_s, to / b->unit_s, bottom, bottom + each, gantt_colour(v[i].job),
                      gantt_id(jobs, v[i].job));
            if (v[i].end_s == to && gantt_was_cut_short(jobs, v[i].job) && jobs->end[v[i].job] == to)
                gantt_cross(b, to / b->unit_s, bottom + each / 2);
        }
    }
}

/* A stretch that is nobody else's, with its overheads. */
static void draw_alone(struct board *b, const struct stretch *v, double bottom, double top,
                       const struct gantt_jobs *jobs, const struct overheads *o, const struct gantt_cut *cut)
{
    double from = fmax(v->begin_s, cut->from_s), to = fmin(v->end_s, cut->to_s);
    gantt_box(b, from / b->unit_s, to / b->unit_s, bottom, top, gantt_colour(v->job), gantt_id(jobs, v->job));
    for (uint64_t k = gantt_overhead_from(o, v->job, from); k < o->n && o->v[k].job == v->job && o->v[k].begin_s < to;
         k++)
        if (o->v[k].begin_s >= v->begin_s) {
            double begin = fmax(o->v[k].begin_s, from), end = fmin(o->v[k].end_s, to);
            if ((end - begin) / b->unit_s > b->window / 1000)
                gantt_box(b, begin / b->unit_s, end / b->unit_s, bottom, top, GANTT_OVERHEAD_COLOUR, NULL);
        }
    if (gantt_was_cut_short(jobs, v->job) && jobs->end[v->job] == v->end_s && v->end_s <= cut->to_s)
        gantt_cross(b, to / b->unit_s, (bottom + top) / 2);
}

static int draw_stretches(struct board *b, const struct stretches *s, const struct gantt_jobs *jobs,
                          const struct overheads *o, const struct node_bases *bases, const struct gantt_cut *cut,
                          struct error *err)
{
    struct shared_span *shared = NULL;
    size_t n = 0, room = 0;
    for (uint64_t k = 0; k < s->n; k++) {
        const struct stretch *v = &s->v[k];
        if (v->begin_s >= cut->to_s || v->end_s <= cut->from_s)
            continue;
        for (uint32_t i = 0; i < v->n_spans; i++) {
            const struct stretch_span *span = &s->spans[v->first_span + i];
            if (span->node >= cut->n_nodes)
                continue;
            uint64_t bottom = node_base(bases, span->node) + span->gpu_first;
            if (!v->is_shared) {
                draw_alone(b, v, (double)bottom, (double)(bottom + span->gpu_count), jobs, o, cut);
                continue;
            }
            if (n == room) {
                size_t more = 2 * room + 64;
                struct shared_span *grown = realloc(shared, more * sizeof *grown);
                if (grown == NULL) {
                    free(shared);
                    return error_set(err, BRAID_FAILED, "out of memory");
                }
                shared = grown;
                room = more;
            }
            shared[n++] = (struct shared_span){bottom, span->gpu_count, v->begin_s, v->end_s, v->job};
        }
    }
    double *times = malloc((2 * n + 1) * sizeof *times);
    if (times == NULL) {
        free(shared);
        return error_set(err, BRAID_FAILED, "out of memory");
    }
    if (n > 1)
        qsort(shared, n, sizeof *shared, order_shared);
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1;
             end < n && shared[end].bottom == shared[begin].bottom && shared[end].count == shared[begin].count;)
            end++;
        draw_shared(b, shared + begin, end - begin, jobs, cut, times);
    }
    free(times);
    free(shared);
    return BRAID_OK;
}

static int draw_gpus(struct plot_job *p, const struct stretches *s, const struct gantt_jobs *jobs,
                     const struct overheads *o, const struct node_bases *bases, const struct gantt_cut *cut,
                     struct error *err)
{
    FILE *gp = p->script->gp;
    char title[1100], subtitle[1000],
        note[500] = "a colour and an id a job, white: free; GPUs that jobs share are divided; grey: overhead; cross: "
                    "killed or failed";
    struct time_unit unit = canvas_time_unit(cut->to_s), all = canvas_time_unit(cut->last_s);
    struct board b = {p->script, 0, (cut->to_s - cut->from_s) / unit.seconds, unit.seconds};
    size_t used = strlen(note);
    if (cut->n_nodes < cut->all_nodes)
        used += (size_t)snprintf(note + used, sizeof note - used, "; shown: nodes 0-%u of %u", cut->n_nodes - 1,
                                 cut->all_nodes);
    if (cut->to_s < cut->last_s || cut->from_s > 0)
        snprintf(note + used, sizeof note - used, "; shown: a part, the run lasts %.3g %s", cut->last_s / all.seconds,
                 all.name);
    snprintf(title, sizeof title, "Schedule of %.1000s: GPUs over time", p->policy->label);
    plot_run_subtitle(p->combo, p->policy, subtitle, sizeof subtitle);
    struct canvas canvas = {.type = p->type,
                            .title = title,
                            .subtitle = subtitle,
                            .note = note,
                            .width = 1.15,
                            .height = cut->rows > 32   ? 1.35
                                      : cut->rows > 12 ? 1
                                                       : 0.8};
    canvas_begin(p->script, &canvas);
    fprintf(gp, "unset grid\nset xlabel 'time since the start of the trace (%s)'\nset xrange [%.10g:%.10g]\n",
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
    int code = draw_stretches(&b, s, jobs, o, bases, cut, err);
    fputs("plot NaN notitle\n", gp);
    return code;
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
    struct overheads overheads;
    code = gantt_jobs_load(&jobs, p->file, run, err);
    if (code == BRAID_OK)
        code = gantt_overheads_load(&overheads, p->file, run, &jobs.arena, err);
    uint64_t n_spans = run->tables[RESULTS_ALLOCS].count, widest = 1;
    for (uint64_t i = 0; i < n_spans; i++)
        if ((uint64_t)s.spans[i].gpu_first + s.spans[i].gpu_count > widest)
            widest = (uint64_t)s.spans[i].gpu_first + s.spans[i].gpu_count;
    struct node_bases bases;
    struct gantt_cut cut;
    report_config_bases(&bases, run, widest);
    if (code == BRAID_OK)
        code = choose_cut(&cut, &s, n_spans, &bases, &jobs, p->window, err);
    if (code == BRAID_OK && !isfinite(cut.from_s))
        snprintf(p->remark, sizeof p->remark, "no job held a GPU of the first %u nodes", cut.n_nodes);
    else if (code == BRAID_OK)
        code = draw_gpus(p, &s, &jobs, &overheads, &bases, &cut, err);
    arena_fini(&jobs.arena);
    stretches_fini(&s);
    return code;
}
