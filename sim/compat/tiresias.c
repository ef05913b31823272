/* tiresias.c - the simulator released with Tiresias (Gu et al., NSDI'19), run_sim.py under Python 2.7, to the letter. */
#include "compat/compat.h"
#include "compat/request.h"
#include "compat/tiresias_run.h"

#include <math.h>
#include <string.h>

static const struct request_choice POLICIES[] = {
    {"fifo", TIRESIAS_FIFO},     {"fifo_skip", TIRESIAS_FJF},   {"longest_waiting", TIRESIAS_LPJF},
    {"smallest", TIRESIAS_SJF},  {"srtf", TIRESIAS_SHORTEST},   {"srsf", TIRESIAS_SHORTEST_GPU},
    {"tiresias", TIRESIAS_DLAS}, {"gittins", TIRESIAS_GITTINS},
};

enum { COUNT, YARN };

static const struct request_choice PLACEMENTS[] = {{"count", COUNT}, {"yarn", YARN}};

/* ---- lists ----------------------------------------------------------------------------------------- */

struct tiresias_list tiresias_list_make(struct tiresias *t)
{
    return (struct tiresias_list){.v = ARENA_NEW(&t->l.arena, uint32_t, t->l.w->n_jobs)};
}

void tiresias_list_remove(struct tiresias_list *list, uint32_t job)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->v[i] == job) {
            memmove(list->v + i, list->v + i + 1, (--list->n - i) * sizeof *list->v);
            return;
        }
}

/* ---- what the loops have in common ----------------------------------------------------------------- */

int64_t tiresias_arrival_s(const struct tiresias *t)
{
    const struct workload *w = t->l.w;
    return t->next_arrival < w->n_jobs ? w->submit_ns[t->next_arrival] / NS_PER_S : TIRESIAS_NEVER;
}

void tiresias_arrivals(struct tiresias *t, int64_t now_s, struct tiresias_list *to)
{
    for (; tiresias_arrival_s(t) == now_s; t->next_arrival++)
        if (ledger_submit(&t->l, t->next_arrival))
            to->v[to->n++] = t->next_arrival;
}

int64_t tiresias_executed_s(const struct tiresias *t, uint32_t job)
{
    const struct job *j = &t->l.jobs[job];
    return (j->run_ns + (j->state == JOB_RUNNING ? t->l.now_ns - j->since_ns : 0)) / NS_PER_S;
}

int64_t tiresias_remaining_s(const struct tiresias *t, uint32_t job)
{
    return t->l.w->duration_ns[job] / NS_PER_S - tiresias_executed_s(t, job);
}

void tiresias_walk(const struct tiresias *t, const struct tiresias_list *list, uint32_t *free,
                   struct tiresias_list *out, struct tiresias_list *in)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t job = list->v[i], gpus = t->l.w->gpus[job];
        bool is_running = t->l.jobs[job].state == JOB_RUNNING;
        if (*free >= gpus) {
            *free -= gpus;
            if (!is_running)
                in->v[in->n++] = job;
        } else if (is_running) {
            out->v[out->n++] = job;
        }
    }
}

void tiresias_apply(struct tiresias *t, struct tiresias_list *out, struct tiresias_list *in)
{
    for (uint32_t i = 0; i < out->n; i++)
        ledger_preempt(&t->l, out->v[i]);
    for (uint32_t i = 0; i < in->n && !t->l.has_failed; i++)
        ledger_start(&t->l, in->v[i], ledger_take_in_order(&t->l, 0, t->l.w->gpus[in->v[i]]));
    out->n = in->n = 0;
}

int64_t tiresias_first_ends(const struct tiresias *t, const struct tiresias_list *list, int64_t now_s,
                            struct tiresias_list *ends)
{
    int64_t first = TIRESIAS_NEVER;
    ends->n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t job = list->v[i];
        if (t->l.jobs[job].state != JOB_RUNNING)
            continue;
        int64_t end = now_s + tiresias_remaining_s(t, job);
        if (end < first)
            ends->n = 0;
        first = end < first ? end : first;
        if (end == first)
            ends->v[ends->n++] = job;
    }
    return first;
}

/* ---- what is asked for ----------------------------------------------------------------------------- */

static int check_scheme(const struct run_spec *spec, enum tiresias_policy policy, bool is_yarn, struct error *err)
{
    if (!is_yarn || policy <= TIRESIAS_LPJF)
        return BRAID_OK;
    bool is_broken = policy < TIRESIAS_DLAS; /* memory is charged again at every event and never given back */
    return error_set(err, BRAID_BAD_INPUT,
                     "the %s simulator %s with policy %s; use placement: count, or fifo, fifo_skip or longest_waiting",
                     TIRESIAS,
                     is_broken ? "soon places nothing more under yarn" : "only counts GPUs, whatever the scheme,",
                     spec->policy.ops->name);
}

static int load_index(struct tiresias *t, struct error *err)
{
    const struct run_spec *spec = t->l.spec;
    double delta = request_param(spec, "delta")->f;
    if (strcmp(request_param(spec, "source")->s, "file") != 0)
        return error_set(err, BRAID_BAD_INPUT,
                         "the %s simulator takes the distribution of service from a file: give {name: gittins, source: "
                         "file, file: PATH} (a csv with the column 'duration'; there it is yarn-gput1000.csv)",
                         TIRESIAS);
    if (strcmp(request_param(spec, "service")->s, "gpu_time") != 0)
        return error_set(err, BRAID_BAD_INPUT, "the %s simulator has gittins with 'service: gpu_time' only", TIRESIAS);
    if (delta != floor(delta))
        return error_set(err, BRAID_BAD_INPUT, "the %s simulator counts whole seconds: 'delta' is %g", TIRESIAS, delta);
    return tiresias_index_load(&t->index, request_param(spec, "file")->s, (int64_t)delta, &t->l.arena, err);
}

static int prepare(struct tiresias *t, const struct run_spec *spec, struct error *err)
{
    int policy = 0, placement = 0, code;
    if ((code = request_policy(spec, TIRESIAS, POLICIES, sizeof POLICIES / sizeof *POLICIES, &policy, err)) != 0 ||
        (code = request_placement(spec, TIRESIAS, PLACEMENTS, 2, &placement, err)) != 0 ||
        (code = check_scheme(spec, (enum tiresias_policy)policy, placement == YARN, err)) != 0 ||
        (code = request_check_overheads(spec, TIRESIAS, err)) != 0 ||
        (code = request_check_engine(spec, TIRESIAS, err)) != 0 ||
        (code = request_check_seconds(spec, TIRESIAS, err)) != 0)
        return code;
    if (spec->estimate.source != ESTIMATE_EXACT)
        return error_set(err, BRAID_BAD_INPUT,
                         "the %s simulator knows true durations alone; write estimate: exact, or use compat: none",
                         TIRESIAS);
    if (spec->cluster->n_vcs > 0)
        return error_set(err, BRAID_BAD_INPUT,
                         "the %s simulator has one queue over all nodes; leave cluster.vcs out, or use compat: none",
                         TIRESIAS);
    t->policy = (enum tiresias_policy)policy;
    t->is_yarn = placement == YARN;
    if (t->is_yarn) {
        const struct placement_ops *ops = spec->placement.ops;
        t->yarn = arena_alloc(&t->l.arena, 1, ops->state_size);
        if (t->yarn == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
        code = ops->init(t->yarn, t->l.cluster, spec->placement.params, &t->l.arena, err);
    }
    return code == BRAID_OK && t->policy == TIRESIAS_GITTINS ? load_index(t, err) : code;
}

static int tiresias_run(struct run_result *out, const struct run_spec *spec, struct error *err)
{
    struct tiresias t = {.next_arrival = 0};
    int code = ledger_init(&t.l, spec, err);
    if (code == BRAID_OK)
        code = prepare(&t, spec, err);
    if (code == BRAID_OK) {
        if (t.policy <= TIRESIAS_LPJF)
            tiresias_run_once(&t);
        else if (t.policy < TIRESIAS_DLAS)
            tiresias_run_sorted(&t);
        else
            tiresias_run_queues(&t);
        code = ledger_close(&t.l, out, "completion_lost");
    }
    ledger_fini(&t.l);
    return code;
}

const struct compat_ops compat_tiresias = {
    .name = "tiresias",
    .summary = "the simulator released with Tiresias",
    .source = "Gu et al., NSDI'19; github.com/SymbioticLab/Tiresias, simulator/run_sim.py",
    .run = tiresias_run,
};
