/* themis_leases.c - rounds at the ends of leases, fills in between (themis.h). */
#include "policies/themis.h"

#include "policies/instant.h"
#include "policies/partial_auction.h"

#include <stdlib.h>
#include <string.h>

int themis_setup(struct themis *t, struct sched *s, const struct themis_rule *rule, int64_t lease_ns, struct error *err)
{
    t->rule = rule;
    t->term_ns = lease_ns;
    jobset_pool_init(&t->pool, s);
    jobset_init(&t->leases, &t->pool);
    t->queue_of = sched_alloc(s, sched_n_demands(s) + (size_t)1, sizeof *t->queue_of);
    t->queues = sched_alloc(s, sched_n_demands(s) + (size_t)1, sizeof *t->queues);
    return t->queue_of != NULL && t->queues != NULL ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

int64_t themis_lease_end(const struct themis *t, int64_t now_ns)
{
    return instant_after(now_ns, t->term_ns - now_ns % t->term_ns);
}

int64_t themis_key(double value)
{
    return value >= 9e18    ? -INT64_C(9000000000000000000)
           : value <= -9e18 ? INT64_C(9000000000000000000)
                            : -(int64_t)value;
}

/* ---- books ------------------------------------------------------------------------------------------- */

static struct themis_job *live_of(const struct themis *t, struct sched *s, uint32_t job)
{
    return &t->live[*sched_word(s, job)];
}

static struct themis_queue *queue_of(struct themis *t, struct sched *s, uint32_t job)
{
    uint32_t demand = sched_demand(s, job);
    if (t->queue_of[demand] == 0) {
        jobset_init(&t->queues[t->n_queues].jobs, &t->pool);
        t->queue_of[demand] = ++t->n_queues;
    }
    return &t->queues[t->queue_of[demand] - 1];
}

static void enqueue(struct themis *t, struct sched *s, struct themis_job *j, int64_t key)
{
    j->key = key;
    if (jobset_insert(&queue_of(t, s, j->job)->jobs, key, j->job, 0))
        t->n_waiting++;
}

static void dequeue(struct themis *t, struct sched *s, struct themis_job *j)
{
    if (jobset_erase(&queue_of(t, s, j->job)->jobs, j->key, j->job))
        t->n_waiting--;
}

static void lease_begin(struct themis *t, struct themis_job *j, int64_t end_ns)
{
    j->lease_ns = end_ns;
    j->has_lease = jobset_insert(&t->leases, end_ns, j->job, 0);
}

static void lease_end(struct themis *t, struct themis_job *j)
{
    if (j->has_lease)
        jobset_erase(&t->leases, j->lease_ns, j->job);
    j->has_lease = false;
}

static bool tables_grow(struct themis *t, struct sched *s)
{
    if (t->n_live < t->room)
        return true;
    uint32_t room = t->room * 2 + 64;
    struct themis_job *live = sched_alloc(s, room, sizeof *live);
    t->order = sched_alloc(s, room, sizeof *t->order);
    t->f = sched_alloc(s, room, sizeof *t->f);
    t->bids = sched_alloc(s, room, sizeof *t->bids);
    t->ranked = sched_alloc(s, room, sizeof *t->ranked);
    t->is_wanted = sched_alloc(s, room, sizeof *t->is_wanted);
    if (live == NULL || t->order == NULL || t->f == NULL || t->bids == NULL || t->ranked == NULL ||
        t->is_wanted == NULL)
        return false; /* the run ends with "out of memory" */
    if (t->n_live > 0)
        memcpy(live, t->live, t->n_live * sizeof *live);
    t->live = live;
    t->room = room;
    return true;
}

/* The integral of the number of jobs over time, up to now; call before the number changes. */
static void count_time(struct themis *t, struct sched *s)
{
    int64_t now = sched_now(s);
    t->jobs_time += (double)t->n_live * (double)(now - t->jobs_time_ns);
    t->jobs_time_ns = now;
}

/* How much longer a job of `gpus` takes on a 1/n part of the capacity. */
static double stretch_of(struct sched *s, double n, double gpus)
{
    double capacity = sched_capacity_gpus(s), part = n * gpus;
    return capacity > 0 && part > capacity ? part / capacity : 1;
}

void themis_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct themis *t = self;
    int64_t remaining = 1;
    if (!tables_grow(t, s))
        return;
    count_time(t, s);
    *sched_word(s, job) = t->n_live;
    struct themis_job *j = &t->live[t->n_live++];
    sched_remaining_ns(s, job, &remaining);
    *j = (struct themis_job){
        .job = job, .counted_ns = sched_now(s), .jobs_time = t->jobs_time, .remaining = (double)remaining, .x = 1};
    enqueue(t, s, j, t->rule->rank_new(t, j));
}

void themis_on_finish(void *self, struct sched *s, uint32_t job)
{
    struct themis *t = self;
    uint32_t at = (uint32_t)*sched_word(s, job);
    count_time(t, s);
    lease_end(t, &t->live[at]);
    t->live[at] = t->live[--t->n_live];
    *sched_word(s, t->live[at].job) = at;
}

void themis_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    struct themis *t = self;
    if (why == CAUSE_PREEMPTED) /* our own preemptions are booked where they are decided */
        return;
    struct themis_job *j = live_of(t, s, job);
    lease_end(t, j);
    enqueue(t, s, j, t->rule->rank_new(t, j));
}

/* ---- fill -------------------------------------------------------------------------------------------- */

static struct themis_queue *first_queue(struct themis *t)
{
    struct themis_queue *best = NULL;
    const struct jobset_node *first = NULL;
    for (uint32_t i = 0; i < t->n_queues; i++) {
        struct themis_queue *q = &t->queues[i];
        if (q->is_closed || q->jobs.first == JOBSET_NONE)
            continue;
        const struct jobset_node *n = jobset_node(&q->jobs, q->jobs.first);
        if (best == NULL || n->key < first->key || (n->key == first->key && n->job < first->job)) {
            best = q;
            first = n;
        }
    }
    return best;
}

static void fill(struct themis *t, struct sched *s)
{
    int64_t end_ns = themis_lease_end(t, sched_now(s));
    for (uint32_t i = 0; i < t->n_queues; i++)
        t->queues[i].is_closed = false;
    for (struct themis_queue *q; sched_free_gpus(s) > 0 && (q = first_queue(t)) != NULL;) {
        struct themis_job *j = live_of(t, s, jobset_node(&q->jobs, q->jobs.first)->job);
        if (sched_start(s, j->job) != SCHED_OK) {
            q->is_closed = true;
            continue;
        }
        dequeue(t, s, j);
        lease_begin(t, j, end_ns);
    }
}

/* ---- a round ----------------------------------------------------------------------------------------- */

/* Bring the books of every job to the present; who has no lease takes part. */
static void count_jobs(struct themis *t, struct sched *s)
{
    int64_t now = sched_now(s);
    count_time(t, s);
    t->n_order = 0;
    for (uint32_t i = 0; i < t->n_live; i++) {
        struct themis_job *j = &t->live[i];
        int64_t remaining = 1;
        sched_remaining_ns(s, j->job, &remaining);
        j->is_running = sched_is_running(s, j->job);
        double passed = (double)(now - j->counted_ns), done = j->remaining - (double)remaining;
        int64_t attained = sched_attained_ns(s, j->job); /* also what it had before a quota took its GPUs */
        j->credit += j->x * passed - (double)(attained - j->attained_ns);
        j->attained_ns = attained;
        if (j->credit < -(double)t->term_ns) /* what it had while nobody waited is soon forgiven */
            j->credit = -(double)t->term_ns;
        double gpus = sched_gpus(s, j->job), n_jobs = passed > 0 ? (t->jobs_time - j->jobs_time) / passed : 0;
        j->ideal_done += done > 0 ? done * stretch_of(s, n_jobs, gpus) : 0;
        j->remaining = (double)remaining;
        j->counted_ns = now;
        j->jobs_time = t->jobs_time;
        t->f[i] = (struct finish_time){.gpus = gpus,
                                       .age = (double)(now - sched_submit_ns(s, j->job)),
                                       .remaining = j->remaining,
                                       .ideal = j->ideal_done + j->remaining * stretch_of(s, t->n_live, gpus),
                                       .x = 1};
        if (!j->has_lease)
            t->order[t->n_order++] = i;
    }
}

/* Start jobs in order, each where it was if that is free; who does not fit closes its demand. True: all that were asked for run. */
static bool start_in_order(struct themis *t, struct sched *s, bool only_wanted)
{
    bool all = true;
    for (uint32_t i = 0; i < t->n_queues; i++)
        t->queues[i].is_closed = false;
    for (uint32_t k = 0; k < t->n_order; k++) {
        uint32_t job = t->live[t->order[k]].job;
        struct themis_queue *q = queue_of(t, s, job);
        if ((only_wanted && !t->is_wanted[k]) || sched_is_running(s, job))
            continue;
        if (q->is_closed || sched_start(s, job) != SCHED_OK) {
            q->is_closed = true;
            all = false;
        }
    }
    return all;
}

static void preempt_all(struct themis *t, struct sched *s)
{
    for (uint32_t k = 0; k < t->n_order; k++)
        sched_preempt(s, t->live[t->order[k]].job);
}

/* Give GPUs to the jobs in t->order: first found out who gets any, then placed so that who can stay stays. */
static void place(struct themis *t, struct sched *s)
{
    bool is_new = false;
    preempt_all(t, s);
    start_in_order(t, s, false);
    for (uint32_t k = 0; k < t->n_order; k++) {
        t->is_wanted[k] = sched_is_running(s, t->live[t->order[k]].job);
        is_new |= t->is_wanted[k] && !t->live[t->order[k]].is_running;
    }
    if (is_new) { /* else each is where it was */
        preempt_all(t, s);
        for (uint32_t k = 0; k < t->n_order; k++)
            if (t->is_wanted[k] && t->live[t->order[k]].is_running)
                sched_restore(s, t->live[t->order[k]].job);
        if (!start_in_order(t, s, true)) {
            preempt_all(t, s);
            start_in_order(t, s, false);
        }
    }
    for (uint32_t k = 0; k < t->n_order; k++) /* who ran runs on where the quota has shrunk and is drained */
        if (t->live[t->order[k]].is_running && sched_is_queued(s, t->live[t->order[k]].job))
            sched_restore(s, t->live[t->order[k]].job);
}

static int compare_ranked(const void *a, const void *b)
{
    const struct themis_ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static void hold_round(struct themis *t, struct sched *s)
{
    count_jobs(t, s);
    for (uint32_t k = 0; k < t->n_order; k++) { /* the queues are made anew */
        struct themis_job *j = &t->live[t->order[k]];
        if (!j->is_running)
            dequeue(t, s, j);
        j->lease_ns = themis_lease_end(t, sched_now(s));
    }
    t->rule->rank_jobs(t, s);
    for (uint32_t k = 0; k < t->n_order; k++)
        t->ranked[k] = (struct themis_ranked){
            .key = t->live[t->order[k]].key, .job = t->live[t->order[k]].job, .place = t->order[k]};
    qsort(t->ranked, t->n_order, sizeof *t->ranked, compare_ranked);
    for (uint32_t k = 0; k < t->n_order; k++)
        t->order[k] = t->ranked[k].place;
    place(t, s);
    for (uint32_t k = 0; k < t->n_order; k++) {
        struct themis_job *j = &t->live[t->order[k]];
        if (sched_is_running(s, j->job))
            lease_begin(t, j, j->lease_ns);
        else
            enqueue(t, s, j, j->key);
    }
}

void themis_schedule(void *self, struct sched *s)
{
    struct themis *t = self;
    int64_t now = sched_now(s);
    if (t->n_waiting == 0)
        return;
    bool is_over = false;
    while (t->leases.first != JOBSET_NONE && jobset_node(&t->leases, t->leases.first)->key <= now) {
        lease_end(t, live_of(t, s, jobset_node(&t->leases, t->leases.first)->job));
        is_over = true;
    }
    if (is_over)
        hold_round(t, s);
    else
        fill(t, s);
    if (t->n_waiting > 0 && t->leases.first != JOBSET_NONE)
        sched_wake_at(s, jobset_node(&t->leases, t->leases.first)->key);
}
