/* helios_srtf.c - shortest remaining time first, with preemption, by a quota of GPUs that knows nothing of nodes.
 *
 *   1  running jobs: one with nothing left ends, the others have a second less: a job ends a second late
 *   3  waiting and running jobs by what is left (at a tie who waits comes first): as long as the quota lasts they are to run, else
 *      they are passed over
 *   4  running ones that are not to run go to the end of the queue, with an overhead on top of what is left
 *   5  waiting ones that are to run are placed; one that finds no place stays in the queue, and the victims stay victims
 */
#include "compat/helios_run.h"

static int64_t overhead_s(uint32_t gpus)
{
    return gpus == 1 ? 7 : gpus <= 8 ? 30 : 60;
}

/* What is left behind step 1 of this second. */
static int64_t left_s(const struct helios *h, uint32_t job, int64_t now_s)
{
    bool is_running = h->l.jobs[job].state == JOB_RUNNING;
    return h->remain_s[job] - (is_running ? now_s - helios_since_s(h, job) : 0);
}

static int64_t end_s(const struct helios *h, uint32_t job)
{
    return helios_since_s(h, job) + h->remain_s[job] + 1;
}

void helios_srtf_finish(struct helios *h, struct helios_vc *vc, int64_t now_s)
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

static double by_left(const struct helios *h, uint32_t job, int64_t now_s)
{
    return (double)left_s(h, job, now_s);
}

/* Mark who is to start and who is to be preempted; h->order is the order of the walk. False: nobody. */
static bool mark(struct helios *h, const struct helios_vc *vc, int64_t now_s)
{
    uint32_t quota = cluster_partition(h->l.cluster, h->l.queues[vc->index].partition)->gpus;
    bool is_any = false;
    h->order.n = 0;
    for (uint32_t i = 0; i < vc->queue.n; i++)
        helios_push(h, &h->order, vc->queue.v[i]);
    for (uint32_t i = 0; i < vc->run.n; i++)
        helios_push(h, &h->order, vc->run.v[i]);
    helios_sort(h, &h->order, by_left, now_s);
    for (uint32_t i = 0; i < h->order.n; i++) {
        uint32_t job = h->order.v[i], gpus = h->l.w->gpus[job];
        bool is_running = h->l.jobs[job].state == JOB_RUNNING, is_to_run = gpus <= quota;
        quota -= is_to_run ? gpus : 0;
        h->is_marked[job] = is_running != is_to_run;
        is_any |= h->is_marked[job];
    }
    return is_any;
}

static void drop(struct helios_list *list, uint32_t job)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->v[i] == job) {
            helios_remove(list, i);
            return;
        }
}

static void preempt(struct helios *h, struct helios_vc *vc, uint32_t job, int64_t now_s)
{
    int64_t overhead = overhead_s(h->l.w->gpus[job]);
    h->remain_s[job] = left_s(h, job, now_s) + overhead;
    ledger_preempt(&h->l, job);
    h->l.debt_ns[job] += overhead * NS_PER_S;
    drop(&vc->run, job);
    helios_push(h, &vc->queue, job);
}

static bool start(struct helios *h, struct helios_vc *vc, uint32_t job)
{
    bool is_first = h->l.jobs[job].start_ns < 0;
    if (!helios_place(h, vc, job))
        return false;
    if (is_first)
        h->l.debt_ns[job] = NS_PER_S; /* the second by which it ends late */
    drop(&vc->queue, job);
    helios_push(h, &vc->run, job);
    return true;
}

/* The next second in which a running job has less left than one that waits before it. The order is that of the last walk. */
static int64_t next_flip_s(const struct helios *h, int64_t now_s)
{
    int64_t first = HELIOS_NEVER, waiting = -1;
    for (uint32_t i = 0; i < h->order.n; i++) {
        int64_t left = left_s(h, h->order.v[i], now_s);
        if (h->l.jobs[h->order.v[i]].state != JOB_RUNNING)
            waiting = left;
        else if (waiting >= 0 && now_s + (left - waiting) + 1 < first)
            first = now_s + (left - waiting) + 1;
    }
    return first;
}

void helios_srtf_schedule(struct helios *h, struct helios_vc *vc, int64_t now_s)
{
    bool has_changed = false;
    if (mark(h, vc, now_s)) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < h->order.n; i++) {
            uint32_t job = h->order.v[i];
            if (!h->is_marked[job])
                continue;
            if (h->l.jobs[job].state == JOB_RUNNING) {
                preempt(h, vc, job, now_s);
                has_changed = true;
            } else {
                h->order.v[n++] = job; /* behind i: the walk has passed it */
            }
        }
        for (uint32_t i = 0; i < n && !h->l.has_failed; i++)
            has_changed |= start(h, vc, h->order.v[i]);
        if (!has_changed) /* h->order was used up */
            mark(h, vc, now_s);
    }
    vc->next_s = has_changed ? now_s + 1 : next_flip_s(h, now_s);
    for (uint32_t i = 0; i < vc->run.n; i++) {
        int64_t end = end_s(h, vc->run.v[i]);
        vc->next_s = end < vc->next_s ? end : vc->next_s;
    }
}
