/* The log of decisions: as many of each kind as the row of the job says, in order of time, at the times that its row says. */
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct log {
    uint32_t n[DID_ALL];
    int64_t first_ns[DID_ALL], last_ns[DID_ALL];
};

static void expect(struct check *c, uint32_t r, const struct log *g, enum books_event e, int64_t n, int64_t at_ns)
{
    static const char *const text[] = {"submit", "start",  "resume", "preempt", "move",
                                       "reject", "finish", "kill",   "requeue", "capacity"};
    const struct life *l = &c->lives[r];
    if (g->n[e] != n)
        check_fault(c, "events.count", "%s: %u x %s, not %" PRId64, l->fact->id, g->n[e], text[e], n);
    else if (n > 0 && at_ns >= 0 && !check_same_ns(c, g->first_ns[e], at_ns))
        check_fault(c, "events.time", "%s: %s at %.9f, not %.9f", l->fact->id, text[e], (double)g->first_ns[e] * 1e-9,
                    (double)at_ns * 1e-9);
}

static void job_events(struct check *c, uint32_t r, const struct log *g)
{
    const struct life *l = &c->lives[r];
    const struct books_job *j = l->row;
    bool is_refused = j->status == WAS_REJECTED && g->n[DID_SUBMIT] == 0; /* at the door */
    bool is_in = l->is_submitted && l->enters_ns <= c->end_ns && !is_refused;
    expect(c, r, g, DID_SUBMIT, is_in, l->enters_ns);
    expect(c, r, g, DID_START, !isnan(j->start), l->start_ns);
    expect(c, r, g, DID_RESUME, j->restarts, -1);
    expect(c, r, g, DID_MOVE, j->moves, -1);
    expect(c, r, g, DID_REJECT, j->status == WAS_REJECTED, l->end_ns);
    expect(c, r, g, DID_FINISH, j->status == WAS_FINISHED, l->end_ns);
    expect(c, r, g, DID_KILL, j->status == WAS_KILLED, l->end_ns);
    if ((int64_t)g->n[DID_PREEMPT] + g->n[DID_REQUEUE] != j->preemptions)
        check_fault(c, "events.count", "%s: %u x preempt, %u x requeue, not %" PRId64, l->fact->id, g->n[DID_PREEMPT],
                    g->n[DID_REQUEUE], j->preemptions);
}

/* Verbs of the policy that took effect, from the rows of the log. */
static void decisions_check(struct check *c, const struct log *logs, const struct log *all)
{
    uint64_t refused = 0; /* at the door, by no policy */
    for (uint32_t r = 0; r < c->n; r++)
        refused += logs[r].n[DID_REJECT] > 0 && logs[r].n[DID_SUBMIT] == 0;
    double want = (double)(all->n[DID_START] + all->n[DID_RESUME] + all->n[DID_PREEMPT] + all->n[DID_MOVE] +
                           all->n[DID_REJECT] - refused);
    if (books_metric(c->books, "decisions") != want)
        check_fault(c, "summary.decisions", "%.0f, the log has %.0f", books_metric(c->books, "decisions"), want);
    if (!(books_metric(c->books, "decision_ops") >= want) || !(books_metric(c->books, "events") >= 0))
        check_fault(c, "summary.decision_ops", "%.0f verbs and probes, %.0f verbs",
                    books_metric(c->books, "decision_ops"), want);
}

void check_events(struct check *c)
{
    const struct books *b = c->books;
    const struct scene *s = c->scene;
    if (!s->events)
        return;
    struct log *logs = calloc((size_t)c->n + 1, sizeof *logs), all = {0};
    int64_t last = INT64_MIN;
    uint32_t changes = 0;
    for (size_t i = 0; i < b->n_events; i++) {
        const struct books_event_row *e = &b->events[i];
        int64_t at = check_ns(e->time);
        if (e->event < 0 || e->event >= DID_ALL || e->job < -1 || e->job >= c->n || strcmp(e->run, b->run.id) != 0 ||
            (e->event == DID_CAPACITY) != (e->job == -1)) {
            check_fault(c, "events.row", "row %zu: event %" PRId64 " of job %" PRId64, i, e->event, e->job);
            continue;
        }
        if (at < last || at > c->end_ns + c->slack_ns)
            check_fault(c, "events.order", "row %zu: at %.9f s, behind %.9f s", i, e->time, (double)last * 1e-9);
        last = at;
        if (e->event == DID_REJECT && strcmp(e->why, c->lives[e->job].row->reason) != 0)
            check_fault(c, "events.why", "%s is rejected: '%s', in its row '%s'", c->lives[e->job].fact->id, e->why,
                        c->lives[e->job].row->reason);
        struct log *g = e->job >= 0 ? &logs[e->job] : &all;
        g->first_ns[e->event] = g->n[e->event] == 0 ? at : g->first_ns[e->event];
        g->last_ns[e->event] = at;
        g->n[e->event]++;
        all.n[e->event] += e->job >= 0;
    }
    for (uint32_t r = 0; r < c->n; r++)
        job_events(c, r, &logs[r]);
    for (uint32_t v = 0; v < s->n_vcs; v++)
        for (uint32_t i = 0; i < s->vcs[v].n_changes; i++) {
            const struct scene_change *change = &s->vcs[v].changes[i];
            bool is_same = change->gpus == (i > 0 ? s->vcs[v].changes[i - 1].gpus : UINT32_MAX);
            changes += change->at_ns > c->first_ns && change->at_ns <= c->end_ns && !is_same;
        }
    if (all.n[DID_CAPACITY] > changes || (all.n[DID_CAPACITY] < changes && s->stop_queue == UINT32_MAX))
        check_fault(c, "events.capacity", "%u changes of quota, not %u", all.n[DID_CAPACITY], changes);
    decisions_check(c, logs, &all);
    free(logs);
}
