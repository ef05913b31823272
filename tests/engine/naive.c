#include "tests/engine/naive_world.h"

#include <string.h>

static const int64_t SECOND = 1000000000;

const char *const naive_order_names[N_ORDERS] = {
    "fifo",     "sjf",         "ljf", "smallest", "srtf", "srsf",         "qssf",   "longest_waiting",
    "priority", "round_robin", "las", "random",   "edf",  "least_laxity", "rr_sjf", "critical_path"};
const char *const naive_fill_names[N_FILLS] = {"strict", "skip", "easy"};
const char *const naive_preempt_names[N_PREEMPTS] = {"never", "when_better", "quantum"};
const char *const naive_placement_names[N_PLACEMENTS] = {"consolidate",
                                                         "first_fit",
                                                         "best_fit",
                                                         "worst_fit",
                                                         "spread",
                                                         "count",
                                                         "round_robin",
                                                         "least_loaded",
                                                         "rack_local",
                                                         "yarn",
                                                         "weighted_round_robin",
                                                         "random",
                                                         "power_of_two"};

/* ---- events ---------------------------------------------------------------------------------------- */

void naive_leave(struct world *w, uint32_t j, enum naive_status status, const char *reason)
{
    struct state *s = &w->jobs[j];
    s->is = GONE;
    s->end = w->now;
    s->status = status;
    s->reason = reason;
}

static bool complete(struct world *w)
{
    bool is_any = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        if (s->is != RUNNING || s->overhead_left > 0)
            continue;
        bool is_done = s->work >= w->c->jobs[j].duration;
        bool is_over = w->c->kills && s->work >= w->c->jobs[j].estimate;
        if (!is_done && !is_over)
            continue;
        naive_give_back(w, j);
        if (w->c->rules != NULL && w->c->rules->ends != NULL)
            w->c->rules->ends(w, j);
        naive_leave(w, j, is_done ? N_FINISHED : N_KILLED, is_done ? "" : "estimate_exceeded");
        w->is_asked[naive_queue_of(w, j)] = true;
        naive_ask_sharers(w, naive_vc_of(w, j), w->is_asked);
        is_any = true;
    }
    return is_any;
}

static void change_quotas(struct world *w)
{
    for (uint32_t v = 0; v < w->c->n_vcs; v++)
        for (uint32_t i = 0; i < w->c->vcs[v].n_changes; i++) {
            if (w->c->vcs[v].change_at[i] != w->now)
                continue;
            w->quota[v] = w->c->vcs[v].change_to[i];
            if (w->c->rules != NULL && w->c->rules->capacity != NULL)
                w->c->rules->capacity(w, (int)v);
            w->is_asked[naive_is_one_queue(w) ? 0 : v] = true;
            while (w->c->vcs[v].gives_way && naive_held_by(w, (int)v) > w->quota[v]) {
                int latest = -1;
                for (uint32_t j = 0; j < w->c->n_jobs; j++)
                    if (w->jobs[j].is == RUNNING && naive_vc_of(w, j) == (int)v &&
                        (latest < 0 || w->jobs[j].started_as > w->jobs[latest].started_as))
                        latest = (int)j;
                naive_give_back(w, (uint32_t)latest);
                naive_queue_again(w, (uint32_t)latest);
                w->jobs[latest].preemptions++;
                naive_ask_sharers(w, (int)v, w->is_asked);
            }
        }
}

/* Why a job could not run if it were alone with the largest quota that ever comes; NULL: it could. */
static const char *refusal(const struct world *w, uint32_t j)
{
    const struct naive_case *c = w->c;
    uint32_t gpus = c->jobs[j].gpus, all = 0;
    if (c->n_vcs > 0 && c->jobs[j].vc < 0)
        return "unknown_vc";
    for (uint32_t node = 0; node < c->n_nodes; node++)
        all += c->gpus[node];
    if (gpus > all)
        return "too_large_for_cluster";
    int vc = naive_vc_of(w, j);
    const char *why = c->n_vcs > 0 ? "too_large_for_vc" : "too_large_for_cluster";
    static struct world empty;
    empty = *w;
    memset(empty.owner, 0xff, sizeof empty.owner);
    if (c->n_vcs > 0 && c->vcs[vc].is_quota) {
        empty.quota[vc] = c->vcs[vc].amount;
        for (uint32_t i = 0; i < c->vcs[vc].n_changes; i++)
            if (c->vcs[vc].change_to[i] > empty.quota[vc])
                empty.quota[vc] = c->vcs[vc].change_to[i];
    }
    uint32_t free[NAIVE_NODES];
    naive_free_now(&empty, free);
    empty.placing = (int)j + 1;
    if (naive_capacity(&empty, vc) < gpus)
        return why;
    if (naive_largest(&empty, vc) == 0)
        return "gpu_type_absent";
    static struct naive_case bound; /* neither CPU nor memory */
    bound = *c;
    memset(bound.mem_kib, 0, sizeof bound.mem_kib);
    memset(bound.cpu_milli, 0, sizeof bound.cpu_milli);
    empty.c = &bound;
    if (!naive_would_fit_by_rule(&empty, vc, gpus, free))
        return why;
    memcpy(bound.cpu_milli, c->cpu_milli, sizeof bound.cpu_milli);
    if (!naive_would_fit(&empty, vc, gpus, free) && c->placement != N_YARN)
        return "too_much_cpu";
    empty.c = c;
    if (!naive_would_fit(&empty, vc, gpus, free) && c->placement != N_YARN)
        return "too_much_memory";
    return naive_would_fit(&empty, vc, gpus, free) ? NULL : "too_large_for_rack";
}

static void arrive(struct world *w)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        int before = w->c->jobs[j].waits_for - 1;
        if (w->jobs[j].is != NOWHERE || w->c->jobs[j].submit > w->now || (before >= 0 && w->jobs[before].is != GONE))
            continue;
        const char *why = refusal(w, j);
        if (before >= 0 && w->jobs[before].status != N_FINISHED)
            why = "dependency_failed";
        if (why != NULL) {
            naive_leave(w, j, N_REJECTED, why);
            continue;
        }
        naive_queue_again(w, j);
        w->is_asked[naive_queue_of(w, j)] = true;
    }
}

static void instant(struct world *w)
{
    for (bool is_first = true, is_any = true; is_any; is_first = false) {
        is_any = complete(w);
        if (is_first) {
            change_quotas(w);
            for (uint32_t v = 0; v < naive_n_queues(w); v++)
                if (w->alarm[v] == w->now) {
                    w->alarm[v] = INT64_MAX;
                    w->is_asked[v] = true;
                }
        }
        arrive(w); /* again, for those that waited for one that is done now */
        bool asked[NAIVE_VCS];
        memcpy(asked, w->is_asked, sizeof asked);
        memset(w->is_asked, 0, sizeof w->is_asked);
        for (uint32_t v = 0; v < naive_n_queues(w); v++) {
            if (!asked[v])
                continue;
            is_any = true;
            memcpy(w->before, w->jobs, sizeof w->jobs);
            memcpy(w->owner_before, w->owner, sizeof w->owner);
            (w->c->rules != NULL && w->c->rules->schedule != NULL ? w->c->rules->schedule : naive_schedule)(w, (int)v);
            naive_settle(w, (int)v, w->is_asked);
        }
    }
}

static int64_t sooner(int64_t a, int64_t b)
{
    return b > 0 && b < a ? b : a;
}

/* A second, where all instants are whole ones; else up to the next one or to what happens before it. */
static int64_t step(const struct world *w)
{
    if (w->c->rules == NULL || !w->c->rules->is_fine)
        return SECOND;
    int64_t ns = SECOND - w->now % SECOND;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        const struct state *s = &w->jobs[j];
        if (s->is != RUNNING)
            continue;
        ns = sooner(ns, s->overhead_left);
        ns = sooner(ns, s->overhead_left > 0 ? 0 : w->c->jobs[j].duration - s->work);
        ns = sooner(ns, s->overhead_left > 0 || !w->c->kills ? 0 : w->c->jobs[j].estimate - s->work);
    }
    for (uint32_t v = 0; v < naive_n_queues(w); v++) {
        ns = sooner(ns, w->alarm[v] - w->now);
        if (w->c->rules->next != NULL && w->c->rules->pass != NULL) /* it must not step over a jump */
            ns = sooner(ns, w->c->rules->next(w, (int)v) - w->now);
    }
    return ns;
}

static void pass_a_step(struct world *w)
{
    int64_t ns = step(w);
    if (w->c->rules != NULL && w->c->rules->pass != NULL)
        w->c->rules->pass(w, ns);
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        if (s->is != RUNNING)
            continue;
        s->held += ns;
        if (s->overhead_left > 0) {
            s->overhead_left -= ns;
            s->overhead += ns;
        } else {
            s->work += ns;
        }
    }
    w->now += ns;
}

/* Will anything happen again? */
static bool is_over(const struct world *w)
{
    bool is_waiting = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (w->c->jobs[j].submit > w->now || w->jobs[j].is == RUNNING)
            return false;
        is_waiting |= w->jobs[j].is != GONE;
    }
    if (!is_waiting)
        return true;
    for (uint32_t v = 0; v < naive_n_queues(w); v++)
        if (w->alarm[v] != INT64_MAX)
            return false;
    for (uint32_t v = 0; v < w->c->n_vcs; v++)
        for (uint32_t i = 0; i < w->c->vcs[v].n_changes; i++)
            if (w->c->vcs[v].change_at[i] > w->now)
                return false;
    return true;
}

void naive_run(const struct naive_case *c, struct naive_result *out)
{
    static struct world w;
    w = (struct world){.c = c};
    memset(w.owner, 0xff, sizeof w.owner);
    uint32_t node = 0;
    for (uint32_t v = 0; v < c->n_vcs; v++)
        if (!c->vcs[v].is_quota) {
            w.first_node[v] = node;
            node += c->vcs[v].amount;
            w.end_node[v] = node;
        }
    for (uint32_t v = 0; v == 0 || v < c->n_vcs; v++) {
        w.alarm[v] = INT64_MAX;
        if (c->n_vcs == 0 || c->vcs[v].is_quota) {
            w.first_node[v] = node;
            w.end_node[v] = c->n_nodes;
            w.quota[v] = c->n_vcs == 0 ? UINT32_MAX : c->vcs[v].amount;
        }
    }
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        w.jobs[j] = (struct state){.start = -1, .end = -1, .reason = ""};
        w.turn[j] = -1;
    }
    if (c->rules != NULL && c->rules->begin != NULL)
        c->rules->begin(&w);
    for (instant(&w); !is_over(&w); instant(&w))
        pass_a_step(&w);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct state *s = &w.jobs[j];
        out[j] = (struct naive_result){s->start, s->end,      s->held,   s->overhead, s->preemptions,
                                       s->moves, s->restarts, s->status, s->reason};
        if (s->is != GONE) {
            out[j].status = N_UNFINISHED;
            out[j].reason = s->is == NOWHERE ? "waits_for_dependency"
                            : s->start < 0   ? "never_started"
                                             : "never_resumed";
        }
        if (w.breaks_rule)
            out[j].reason = "a place was drawn that is none";
    }
}
