/* tiresias_once.c - fifo, fjf (fit job first) and lpjf (longest pending job first), without preemption. */
#include "compat/tiresias_run.h"

static bool place(struct tiresias *t, uint32_t job)
{
    struct ledger *l = &t->l;
    struct demand d = {.gpus = l->w->gpus[job], .gpu_type = NAMES_NONE};
    uint32_t n = 0;
    if (t->is_yarn)
        n = l->spec->placement.ops->pick(t->yarn, l->cluster, l->queues[0].partition, &d, NULL, l->places,
                                         l->places_room);
    else if (ledger_free_gpus(l, 0) >= d.gpus)
        n = ledger_take_in_order(l, 0, d.gpus);
    if (n > 0)
        ledger_start(l, job, n);
    return n > 0;
}

/* From the head to the first that finds no place; fjf passes that one over, until no GPU is free. */
static void start_pending(struct tiresias *t, struct tiresias_list *pending, struct tiresias_list *started)
{
    uint32_t kept = 0, i = 0;
    for (; i < pending->n && ledger_free_gpus(&t->l, 0) > 0; i++) {
        if (place(t, pending->v[i]))
            started->v[started->n++] = pending->v[i];
        else if (t->policy == TIRESIAS_FJF)
            pending->v[kept++] = pending->v[i];
        else
            break;
    }
    for (; i < pending->n; i++)
        pending->v[kept++] = pending->v[i];
    pending->n = kept;
}

/* lpjf sorts by a waiting time that it never updates (a misspelt key), so the list stays in order of arrival. And it takes a started job
 * out of the list over which it walks: the job behind it is not looked at in this pass. */
static void start_longest_pending(struct tiresias *t, struct tiresias_list *pending, struct tiresias_list *started)
{
    for (uint32_t i = 0; i < pending->n; i++) {
        uint32_t job = pending->v[i];
        if (!place(t, job))
            return;
        started->v[started->n++] = job;
        tiresias_list_remove(pending, job);
    }
}

/* A completion is filed under its second. That of a job of no length goes to the event in hand, which is then thrown away: the job never
 * ends and keeps its GPUs. */
static int64_t end_filed_s(const struct tiresias *t, uint32_t job)
{
    int64_t duration_s = t->l.w->duration_ns[job] / NS_PER_S;
    return duration_s == 0 ? TIRESIAS_NEVER : t->l.jobs[job].start_ns / NS_PER_S + duration_s;
}

static int64_t first_end_s(const struct tiresias *t, const struct tiresias_list *running)
{
    int64_t first = TIRESIAS_NEVER;
    for (uint32_t i = 0; i < running->n; i++) {
        int64_t end = end_filed_s(t, running->v[i]);
        first = end < first ? end : first;
    }
    return first;
}

static void finish(struct tiresias *t, struct tiresias_list *running, int64_t now_s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < running->n; i++) {
        if (end_filed_s(t, running->v[i]) == now_s)
            ledger_finish(&t->l, running->v[i]);
        else
            running->v[kept++] = running->v[i];
    }
    running->n = kept;
}

void tiresias_run_once(struct tiresias *t)
{
    struct tiresias_list pending = tiresias_list_make(t), running = tiresias_list_make(t);
    if (t->l.arena.is_short)
        return;
    for (;;) {
        int64_t arrival = tiresias_arrival_s(t), end = first_end_s(t, &running), now = arrival < end ? arrival : end;
        if (now == TIRESIAS_NEVER || !ledger_at_second(&t->l, now))
            return;
        finish(t, &running, now);
        tiresias_arrivals(t, now, &pending);
        if (t->policy == TIRESIAS_LPJF)
            start_longest_pending(t, &pending, &running);
        else
            start_pending(t, &pending, &running);
        ledger_settle(&t->l);
    }
}
