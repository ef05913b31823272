#include "tests/engine/naive_world.h"

#include <string.h>

static const int64_t SECOND = 1000000000;

const char *const naive_order_names[N_ORDERS] = {"fifo",     "sjf",         "ljf",  "smallest",
                                                 "srtf",     "srsf",        "qssf", "longest_waiting",
                                                 "priority", "round_robin", "las",  "random"};
const char *const naive_fill_names[N_FILLS] = {"strict", "skip", "easy"};
const char *const naive_preempt_names[N_PREEMPTS] = {"never", "when_better", "quantum"};
const char *const naive_placement_names[N_PLACEMENTS] = {"consolidate", "first_fit", "best_fit",    "worst_fit",
                                                         "spread",      "count",     "round_robin", "least_loaded",
                                                         "rack_local",  "yarn"};

/* ---- events ---------------------------------------------------------------------------------------- */

static void leave(struct world *w, uint32_t j, enum naive_status status, const char *reason)
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
        leave(w, j, is_done ? N_FINISHED : N_KILLED, is_done ? "" : "estimate_exceeded");
        w->is_asked[naive_queue_of(w, j)] = true;
        naive_ask_sharers(w, naive_queue_of(w, j), w->is_asked);
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
            w->is_asked[v] = true;
            while (w->c->vcs[v].gives_way && naive_held_by(w, (int)v) > w->quota[v]) {
                int latest = -1;
                for (uint32_t j = 0; j < w->c->n_jobs; j++)
                    if (w->jobs[j].is == RUNNING && naive_queue_of(w, j) == (int)v &&
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
    int vc = naive_queue_of(w, j);
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
    return naive_would_fit(&empty, vc, gpus, free) ? NULL : why;
}

static void arrive(struct world *w)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (w->c->jobs[j].submit != w->now)
            continue;
        const char *why = refusal(w, j);
        if (why != NULL) {
            leave(w, j, N_REJECTED, why);
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
            arrive(w);
            for (uint32_t v = 0; v < naive_n_queues(w); v++)
                if (w->alarm[v] == w->now) {
                    w->alarm[v] = INT64_MAX;
                    w->is_asked[v] = true;
                }
        }
        bool asked[NAIVE_VCS];
        memcpy(asked, w->is_asked, sizeof asked);
        memset(w->is_asked, 0, sizeof w->is_asked);
        for (uint32_t v = 0; v < naive_n_queues(w); v++) {
            if (!asked[v])
                continue;
            is_any = true;
            memcpy(w->before, w->jobs, sizeof w->jobs);
            memcpy(w->owner_before, w->owner, sizeof w->owner);
            (w->c->rules != NULL ? w->c->rules->schedule : naive_schedule)(w, (int)v);
            naive_settle(w, (int)v, w->is_asked);
        }
    }
}

static void pass_a_second(struct world *w)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        if (s->is != RUNNING)
            continue;
        s->held += SECOND;
        if (s->overhead_left > 0) {
            s->overhead_left -= SECOND;
            s->overhead += SECOND;
        } else {
            s->work += SECOND;
        }
    }
    w->now += SECOND;
}

/* Will anything happen again? */
static bool is_over(const struct world *w)
{
    bool is_waiting = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        if (w->jobs[j].is == NOWHERE || w->jobs[j].is == RUNNING)
            return false;
        is_waiting |= w->jobs[j].is == WAITING;
    }
    if (!is_waiting)
        return true;
    for (uint32_t v = 0; v < naive_n_queues(w); v++) {
        if (w->alarm[v] != INT64_MAX)
            return false;
        for (uint32_t i = 0; v < w->c->n_vcs && i < w->c->vcs[v].n_changes; i++)
            if (w->c->vcs[v].change_at[i] > w->now)
                return false;
    }
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
    for (uint32_t v = 0; v < naive_n_queues(&w); v++) {
        w.alarm[v] = INT64_MAX;
        if (c->n_vcs == 0 || c->vcs[v].is_quota) {
            w.first_node[v] = node;
            w.end_node[v] = c->n_nodes;
            w.quota[v] = c->n_vcs == 0 ? UINT32_MAX : c->vcs[v].amount;
        }
    }
    for (uint32_t j = 0; j < c->n_jobs; j++)
        w.jobs[j] = (struct state){.start = -1, .end = -1, .reason = ""};
    for (instant(&w); !is_over(&w); instant(&w))
        pass_a_second(&w);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct state *s = &w.jobs[j];
        out[j] = (struct naive_result){s->start, s->end,      s->held,   s->overhead, s->preemptions,
                                       s->moves, s->restarts, s->status, s->reason};
        if (s->is == WAITING) {
            out[j].status = N_UNFINISHED;
            out[j].reason = s->start < 0 ? "never_started" : "never_resumed";
        }
    }
}
