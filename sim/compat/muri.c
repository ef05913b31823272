/* muri.c - the simulator released with Muri (Zhao et al., SIGCOMM'22), run_sim.py under CPython 3.11, to the letter. */
#include "compat/compat.h"
#include "compat/muri_run.h"
#include "compat/request.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* ---- what is asked for ----------------------------------------------------------------------------- */

static const struct muri_kind *const KINDS[] = {&muri_kind_srtf,   &muri_kind_srsf,   &muri_kind_tiresias,
                                                &muri_kind_antman, &muri_kind_themis, &muri_kind_muri_s,
                                                &muri_kind_muri_l};

enum { SRTF, SRSF, TIRESIAS, ANTMAN, THEMIS, MURI_S, MURI_L };

static const struct request_choice POLICIES[] = {
    {"srtf", SRTF},     {"srsf", SRSF},     {"tiresias", TIRESIAS}, {"antman", ANTMAN},
    {"themis", THEMIS}, {"muri_s", MURI_S}, {"muri_l", MURI_L},
};

static const struct request_choice PLACEMENTS[] = {{"yarn", 0}};

static const struct param_spec GROUPING[] = {
    {"ordering", PARAM_CHOICE, "best", 0, 0, "", "best|worst", "which arrangement of its stages a group runs in"},
    {"matching", PARAM_CHOICE, "blossom", 0, 0, "", "blossom|none",
     "pairs by maximum-weight matching, or neighbours in the order of the queue"},
    {"group", PARAM_INT, "4", 2, MURI_GROUP_MAX, "jobs", NULL, "largest group"},
};

#define POLICY(id, text, paper, list, n)                                                                               \
    {                                                                                                                  \
        .abi_version = BRAID_POLICY_ABI, .size = sizeof(struct policy_ops), .name = id, .summary = text,               \
        .source = paper, .knows = KNOWS_PROFILE, .scope = SCOPE_CLUSTER, .params = list, .n_params = n                 \
    }

/* Those that braid knows under this driver alone: names and parameters. */
static const struct policy_ops EXTRA[] = {
    POLICY("muri_s", "Groups of interleaved jobs, shortest remaining service first", "Zhao et al., SIGCOMM'22 (Muri)",
           GROUPING, 3),
    POLICY("muri_l", "Groups of interleaved jobs, least attained service first", "Zhao et al., SIGCOMM'22 (Muri)",
           GROUPING, 3),
    POLICY("antman", "Guaranteed jobs by themselves, opportunistic ones beside them", "Xiao et al., OSDI'20 (AntMan)",
           NULL, 0),
    POLICY("themis", "Min-max finish-time fairness", "Mahajan et al., NSDI'20 (Themis)", NULL, 0),
};

static const struct policy_ops *const EXTRA_POLICIES[] = {&EXTRA[0], &EXTRA[1], &EXTRA[2], &EXTRA[3], NULL};

static int check_jobs(const struct muri *m)
{
    const struct workload *w = m->w;
    bool needs_stages = m->policy == ANTMAN || m->policy == MURI_S || m->policy == MURI_L;
    if (w->iterations == NULL || (needs_stages && w->stage_ns[0] == NULL))
        return error_set(m->err, BRAID_BAD_INPUT,
                         "the %s simulator counts iterations%s, which the trace does not have; give a trace in its "
                         "format, or use compat: none",
                         MURI, needs_stages ? " and stages" : "");
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        uint32_t g = w->gpus[j];
        const char *what = (g & (g - 1)) != 0 || g >> MURI_SIZES != 0        ? "1, 2, 4, 8, 16 or 32 GPUs"
                           : w->iterations[j] < 0 || w->iteration_ns[j] <= 0 ? "iterations that take time"
                                                                             : NULL;
        if (what != NULL)
            return error_set(m->err, BRAID_BAD_INPUT,
                             "the %s simulator knows jobs of %s alone; job %.*s is another; leave it out, or use "
                             "compat: none",
                             MURI, what, (int)(w->id_at[j + 1] - w->id_at[j]), w->id_text + w->id_at[j]);
    }
    return BRAID_OK;
}

static int check(struct muri *m)
{
    const struct run_spec *spec = m->spec;
    int code, yarn;
    if ((code = request_policy(spec, MURI, POLICIES, sizeof POLICIES / sizeof *POLICIES, &m->policy, m->err)) != 0 ||
        (code = request_placement(spec, MURI, PLACEMENTS, 1, &yarn, m->err)) != 0 ||
        (code = request_check_overheads(spec, MURI, m->err)) != 0 ||
        (code = request_check_engine(spec, MURI, m->err)) != 0)
        return code;
    m->kind = KINDS[m->policy];
    if (spec->estimate.source != ESTIMATE_EXACT)
        return error_set(m->err, BRAID_BAD_INPUT,
                         "the %s simulator knows true iterations alone; write estimate: exact, or use compat: none",
                         MURI);
    if (spec->cluster->n_vcs > 0)
        return error_set(m->err, BRAID_BAD_INPUT,
                         "the %s simulator has one queue over all nodes; leave cluster.vcs out, or use compat: none",
                         MURI);
    return check_jobs(m);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

enum { NS_PER_MS = 1000000 };

/* Milliseconds as the trace has them, exactly where they are whole. */
static double milliseconds(int64_t ns)
{
    return ns % NS_PER_MS == 0 ? (double)(ns / NS_PER_MS) : (double)ns / NS_PER_MS;
}

void muri_stages(const struct muri *m, uint32_t job, double stage[3])
{
    int64_t *const *ns = m->w->stage_ns;
    stage[0] = milliseconds(ns[0][job] + ns[1][job]) / 1000;
    stage[1] = milliseconds(ns[2][job]) / 1000;
    stage[2] = milliseconds(ns[3][job]) / 1000;
}

static void job_init(struct muri *m, uint32_t job)
{
    const struct workload *w = m->w;
    int64_t estimate = w->estimate_ns != NULL ? w->estimate_ns[job] : WORKLOAD_ABSENT;
    m->size[job] = (uint8_t)__builtin_ctz(w->gpus[job]);
    m->submit_s[job] = milliseconds(w->submit_ns[job]) / 1000;
    m->estimate_s[job] = floor(milliseconds(estimate != WORKLOAD_ABSENT ? estimate : w->duration_ns[job])) / 1000;
    m->iteration_s[job] = m->current_s[job] = milliseconds(w->iteration_ns[job]) * 1.015 / 1000;
    m->remaining[job] = (double)w->iterations[job];
    const char *model = w->model != NULL ? names_text(&w->models, w->model[job]) : NULL;
    m->overhead_s[job] = m->current_overhead_s[job] = muri_overhead_s(w->gpus[job], model);
}

/* Submissions that nearly coincide are one event, at the time of the first of them. Times ascend, so that a job can be close to the last
 * event alone. */
static void starts_init(struct muri *m)
{
    for (uint32_t job = 0; job < m->w->n_jobs; job++) {
        struct muri_start *last = m->n_starts > 0 ? &m->starts[m->n_starts - 1] : NULL;
        if (last != NULL && muri_is_close(last->at_s, m->submit_s[job], 0))
            last->end = job + 1;
        else
            m->starts[m->n_starts++] = (struct muri_start){m->submit_s[job], job, job + 1};
    }
}

static int tables_make(struct muri *m, const struct cluster *c)
{
    struct arena *a = &m->arena;
    uint32_t n = m->w->n_jobs;
    m->gpus = m->w->gpus;
    m->n_gpus = cluster_n_gpus(c);
    m->starts = ARENA_NEW(a, struct muri_start, n);
    m->size = ARENA_NEW(a, uint8_t, n);
    double **const numbers[] = {&m->submit_s,   &m->estimate_s, &m->iteration_s, &m->remaining,          &m->current_s,
                                &m->overhead_s, &m->key,        &m->executed_s,  &m->current_overhead_s, &m->end_s};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ARENA_NEW(a, double, n);
    m->is_changed = ARENA_NEW(a, bool, n);
    m->is_running = ARENA_NEW(a, bool, n);
    struct muri_list *const lists[] = {&m->list, &m->running, &m->ended, &m->near};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lists[i]->v = ARENA_NEW(a, uint32_t, n);
    m->items = ARENA_NEW(a, struct muri_sort_item, n);
    m->spare = ARENA_NEW(a, struct muri_sort_item, n);
    m->spans = ARENA_NEW(a, struct span, m->n_gpus);
    if (a->is_short)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    for (uint32_t job = 0; job < n; job++)
        job_init(m, job);
    starts_init(m);
    return BRAID_OK;
}

/* ---- who runs -------------------------------------------------------------------------------------- */

void muri_fail_memory(struct muri *m)
{
    if (!m->has_failed)
        error_set(m->err, BRAID_FAILED, "out of memory");
    m->has_failed = true;
}

void muri_plan(struct muri *m)
{
    for (uint32_t i = 0; i < m->running.n; i++)
        m->is_running[m->running.v[i]] = false;
    m->running.n = 0;
    books_plan(&m->books);
}

void muri_run_job(struct muri *m, uint32_t job, const struct span *spans, uint32_t n_spans, uint32_t group)
{
    m->is_running[job] = true;
    m->running.v[m->running.n++] = job;
    books_run(&m->books, job, spans, n_spans, group, (double)m->w->iteration_ns[job] * 1e-9 / m->current_s[job]);
}

void muri_fill_in_order(struct muri *m)
{
    muri_plan(m);
    muri_room_clear(&m->room);
    for (uint32_t i = 0; i < m->list.n && !muri_room_is_full(&m->room); i++) {
        uint32_t job = m->list.v[i], n = muri_room_take(&m->room, m->gpus[job], m->spans);
        if (n > 0)
            muri_run_job(m, job, m->spans, n, BOOKS_ALONE);
    }
}

/* ---- the loop -------------------------------------------------------------------------------------- */

static void drop_done(const struct muri *m, struct muri_list *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (m->books.jobs[list->v[i]].state != JOB_DONE)
            list->v[n++] = list->v[i];
    list->n = n;
}

static void finish(struct muri *m, int64_t from_ns)
{
    for (uint32_t i = 0; i < m->ended.n; i++) {
        uint32_t job = m->ended.v[i];
        if (m->kind->finish != NULL)
            m->kind->finish(m, job);
        books_interval(&m->books, job, from_ns, 0); /* its last stretch costs no overhead */
        books_finish(&m->books, job);
        m->remaining[job] = 0;
        m->is_running[job] = false;
    }
    drop_done(m, &m->running);
    drop_done(m, &m->list);
}

static void submit(struct muri *m, const struct muri_start *s)
{
    for (uint32_t job = s->first; job < s->end; job++) {
        m->list.v[m->list.n++] = job;
        m->is_changed[job] = true;
        books_submit(&m->books, job);
        if (m->kind->submit != NULL)
            m->kind->submit(m, job);
    }
}

static void progress(struct muri *m, int64_t from_ns)
{
    for (uint32_t i = 0; i < m->running.n; i++) {
        uint32_t job = m->running.v[i];
        double overhead = m->current_overhead_s[job], useful = m->now_s - m->last_s - overhead;
        books_interval(&m->books, job, from_ns, overhead);
        m->executed_s[job] = m->executed_s[job] + m->now_s - m->last_s;
        if (useful > 0)
            m->remaining[job] -= useful / m->current_s[job];
    }
    if (m->kind->progress != NULL)
        m->kind->progress(m);
}

struct muri_event {
    double at_s;
    bool has_start, has_end;
};

static struct muri_event next_event(struct muri *m)
{
    double end = muri_next_end(m), start = m->next_start < m->n_starts ? m->starts[m->next_start].at_s : INFINITY;
    bool are_one = m->kind->merges_starts && start < INFINITY && end < INFINITY && muri_is_close(end, start, 1e-4);
    struct muri_event e = {.at_s = are_one ? start : fmin(start, end)};
    double jump = m->kind->jump != NULL ? m->kind->jump(m) : INFINITY;
    if (e.at_s > jump)
        return (struct muri_event){.at_s = jump};
    e.has_start = start < INFINITY && (are_one || start == e.at_s);
    e.has_end = end < INFINITY && (are_one || end == e.at_s);
    return e;
}

/* The clock goes to the event; false: the run is over. */
static bool move_clock(struct muri *m, double at_s, int64_t *from_ns)
{
    *from_ns = m->books.now_ns;
    bool goes_on = books_at(&m->books, at_s);
    m->has_failed |= m->err->code != BRAID_OK;
    m->last_s = m->now_s;
    m->now_s = goes_on ? at_s : (double)m->books.now_ns * 1e-9;
    return goes_on;
}

static void loop(struct muri *m)
{
    uint64_t standing = 0;
    int64_t from_ns;
    while (m->next_start < m->n_starts || m->list.n > 0) {
        struct muri_event e = next_event(m);
        if (e.at_s == INFINITY) /* what is left fits nowhere */
            return;
        if (!move_clock(m, e.at_s, &from_ns)) {
            progress(m, from_ns);
            return;
        }
        if (e.has_end)
            finish(m, from_ns);
        if (e.has_start)
            submit(m, &m->starts[m->next_start++]);
        progress(m, from_ns);
        m->kind->schedule(m);
        if (m->has_failed)
            return;
        books_settle(&m->books);
        standing = e.has_end || e.has_start || m->now_s > m->last_s ? 0 : standing + 1;
        if (standing > 2 * (uint64_t)m->w->n_jobs + 64) {
            error_set(
                m->err, BRAID_FAILED,
                "the %s simulator stands still at %.9g s for ever: a job lacks less service to its next queue than "
                "the clock can tell; change the trace a little, or use compat: none",
                MURI, m->now_s);
            m->has_failed = true;
            return;
        }
    }
}

static int prepare(struct muri *m, const struct run_spec *spec, struct error *err)
{
    *m = (struct muri){.spec = spec, .w = spec->workload, .err = err};
    arena_init(&m->arena);
    int code = check(m);
    if (code != BRAID_OK)
        return code;
    struct cluster *c = cluster_create(spec->cluster, m->w->origin_utc_s, &m->arena, err);
    if (c == NULL)
        return err->code != BRAID_OK ? err->code : BRAID_FAILED;
    if ((code = muri_room_init(m, c)) != 0 || (code = tables_make(m, c)) != 0)
        return code;
    uint64_t most = (uint64_t)m->n_gpus * MURI_GROUP_MAX;
    uint32_t room = most < m->w->n_jobs ? (uint32_t)most : m->w->n_jobs;
    code = books_init(&m->books, spec, c, room, (uint32_t)most, &m->arena, err);
    return code == BRAID_OK && m->kind->init != NULL ? m->kind->init(m) : code;
}

static int close_run(struct muri *m, struct run_result *out)
{
    for (uint32_t job = 0; job < m->w->n_jobs; job++) { /* from here on the share that is done */
        double all = (double)m->w->iterations[job], left = m->remaining[job];
        m->remaining[job] = left <= 0 || all <= 0 ? 1 : 1 - left / all;
    }
    return books_close(&m->books, m->remaining, out);
}

static int muri_run(struct run_result *out, const struct run_spec *spec, struct error *err)
{
    struct muri m;
    int code = prepare(&m, spec, err);
    if (code == BRAID_OK) {
        loop(&m);
        code = m.has_failed ? err->code : close_run(&m, out);
    }
    if (m.kind != NULL && m.kind->fini != NULL)
        m.kind->fini(&m);
    books_fini(&m.books);
    arena_fini(&m.arena);
    return code;
}

const struct compat_ops compat_muri = {
    .name = "muri",
    .summary = "the simulator released with Muri",
    .source = "Zhao et al., SIGCOMM'22; github.com/Rivendile/Muri, branch simulator",
    .run = muri_run,
    .policies = EXTRA_POLICIES,
};
