/* helios_queue.c - fifo, sjf and qssf: the queue is sorted and jobs start from its head; the first that finds no place stops it. */
#include "compat/helios_run.h"

/* A job ends in the second start + duration, looked for from the second behind its start on: one of no length never does. */
static int64_t end_s(const struct helios *h, uint32_t job)
{
    int64_t duration = h->l.w->duration_ns[job] / NS_PER_S;
    return duration > 0 ? helios_since_s(h, job) + duration : HELIOS_NEVER;
}

void helios_queue_finish(struct helios *h, struct helios_vc *vc, int64_t now_s)
{
    for (uint32_t i = 0; i < vc->run.n;) {
        uint32_t job = vc->run.v[i];
        if (end_s(h, job) != now_s) {
            i++;
            continue;
        }
        ledger_finish(&h->l, job);
        helios_remove(&vc->run, i);
    }
}

static double by_duration(const struct helios *h, uint32_t job, int64_t now_s)
{
    (void)now_s;
    return (double)(h->l.w->duration_ns[job] / NS_PER_S);
}

static double by_gpus(const struct helios *h, uint32_t job, int64_t now_s)
{
    (void)now_s;
    return h->l.w->gpus[job];
}

static double by_guess(const struct helios *h, uint32_t job, int64_t now_s)
{
    (void)now_s;
    return h->guess[job];
}

/* Guesses are made and looked at only while the queue holds a job that did not come in this very second. */
static bool has_waiting(const struct helios *h, const struct helios_vc *vc, int64_t now_s)
{
    for (uint32_t i = 0; i < vc->queue.n; i++)
        if (h->l.w->submit_ns[vc->queue.v[i]] / NS_PER_S < now_s)
            return true;
    return false;
}

void helios_queue_schedule(struct helios *h, struct helios_vc *vc, int64_t now_s)
{
    bool is_guessed = h->policy == HELIOS_QSSF && has_waiting(h, vc, now_s);
    if (h->policy == HELIOS_SJF)
        helios_sort(h, &vc->queue, by_duration, now_s);
    if (h->policy == HELIOS_QSSF)
        helios_sort(h, &vc->queue, by_gpus, now_s);
    if (is_guessed)
        helios_sort(h, &vc->queue, by_guess, now_s);
    while (vc->queue.n > 0 && !h->l.has_failed && helios_place(h, vc, vc->queue.v[0])) {
        helios_push(h, &vc->run, vc->queue.v[0]);
        helios_remove(&vc->queue, 0);
    }
    vc->next_s = HELIOS_NEVER;
    for (uint32_t i = 0; i < vc->run.n; i++) {
        int64_t end = end_s(h, vc->run.v[i]);
        vc->next_s = end < vc->next_s ? end : vc->next_s;
    }
    if (h->policy == HELIOS_QSSF && !is_guessed && vc->queue.n > 0)
        vc->next_s = now_s + 1; /* then the order is another one */
}
