/* antman.c - jobs with guaranteed GPUs, and opportunistic ones on what those leave.
 *
 *   guaranteed     first come, first served; each has its GPUs to itself but for company that leaves it at least `guaranteed_rate` of its speed.
 *                  One that finds no place takes GPUs back from opportunistic jobs that have some to themselves, the latest submitted first
 *   opportunistic  in order of submission: on idle GPUs where there are enough, else together with a guaranteed job of the same demand that has no
 *                  company yet and GPU memory for both, the one beside which it goes fastest. When that one ends it keeps the GPUs until somebody is due them
 *
 *            GPUs   |GGGGGGGGGGG|.....          G: guaranteed, o: opportunistic
 *                     |ooooooooo|ooooooo| <- taken back
 *
 * Of the paper this is the global scheduler: the two classes, the queues, opportunistic use of idle and under-used GPUs. Its local coordinator
 * shrinks an opportunistic job's memory and pace within a GPU so that the guaranteed one feels nothing; here the run's sharing model
 * (`model: {interleave: ..}`) says how fast both go, so a pair is formed only where the guaranteed one goes fast enough, and what cannot be shared is
 * preempted. Without such a model opportunistic jobs use idle GPUs only. Which jobs are opportunistic the trace says by their priority.
 *
 * A round looks at one head a demand, and where demands have both waiting opportunistic jobs and hosts that are new since the last round, at
 * `candidates` of the former times all of the latter.
 */
#include "policies/jobset.h"
#include "policies/room.h"

#include <stdlib.h>
#include <string.h>

struct antman_demand {
    struct jobset guaranteed, opportunistic; /* waiting, by rank */
    struct jobset hosts;                     /* running guaranteed jobs without company, by rank */
    bool is_closed;                          /* no place in this round */
    bool is_new;                             /* a pair could be formed that was not looked at yet */
};

struct antman_host {
    double rate; /* of the job that would join it */
    uint32_t job;
};

struct antman {
    double limit,
        least_rate; /* priority from which on a job is opportunistic; what company must leave to a guaranteed one */
    bool is_strict;
    uint32_t candidates;
    struct jobset_pool pool;
    struct antman_demand *demands;
    uint32_t *demand_of, n_demands; /* of the engine's + 1 -> of ours */
    struct jobset alone;            /* opportunistic jobs that have GPUs to themselves, by rank */
    uint32_t n_waiting;
    struct room *room;
    uint32_t *victims;
    uint32_t victims_room;
    struct antman_host *hosts; /* scratch */
    uint32_t hosts_room;
};

enum param_of { OPPORTUNISTIC, GUARANTEED_RATE, FILL, CANDIDATES };

static int antman_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct antman *a = self;
    a->limit = v[OPPORTUNISTIC].f;
    a->least_rate = v[GUARANTEED_RATE].f;
    a->is_strict = strcmp(v[FILL].s, "strict") == 0;
    a->candidates = (uint32_t)v[CANDIDATES].i;
    jobset_pool_init(&a->pool, s);
    jobset_init(&a->alone, &a->pool);
    a->demands = sched_alloc(s, sched_n_demands(s) + (size_t)1, sizeof *a->demands);
    a->demand_of = sched_alloc(s, sched_n_demands(s) + (size_t)1, sizeof *a->demand_of);
    a->room = room_create(s);
    bool is_ready = a->demands != NULL && a->demand_of != NULL && a->room != NULL;
    return is_ready ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static bool is_opportunistic(const struct antman *a, struct sched *s, uint32_t job)
{
    return sched_priority(s, job) >= a->limit;
}

static struct antman_demand *demand_of(struct antman *a, struct sched *s, uint32_t job)
{
    uint32_t demand = sched_demand(s, job);
    if (a->demand_of[demand] == 0) {
        struct antman_demand *d = &a->demands[a->n_demands];
        jobset_init(&d->guaranteed, &a->pool);
        jobset_init(&d->opportunistic, &a->pool);
        jobset_init(&d->hosts, &a->pool);
        a->demand_of[demand] = ++a->n_demands;
    }
    return &a->demands[a->demand_of[demand] - 1];
}

/* ---- books: a running job's word is its company + 1, 0: none ------------------------------------------------ */

static void enqueue(struct antman *a, struct sched *s, uint32_t job)
{
    struct antman_demand *d = demand_of(a, s, job);
    bool is_second = is_opportunistic(a, s, job);
    if (jobset_insert(is_second ? &d->opportunistic : &d->guaranteed, job, job, 0))
        a->n_waiting++;
    d->is_new |= is_second;
}

static void dequeue(struct antman *a, struct sched *s, uint32_t job)
{
    struct antman_demand *d = demand_of(a, s, job);
    if (jobset_erase(is_opportunistic(a, s, job) ? &d->opportunistic : &d->guaranteed, job, job))
        a->n_waiting--;
}

/* It has its GPUs to itself from now on. */
static void enter_alone(struct antman *a, struct sched *s, uint32_t job)
{
    struct antman_demand *d = demand_of(a, s, job);
    *sched_word(s, job) = 0;
    if (is_opportunistic(a, s, job)) {
        jobset_insert(&a->alone, job, job, 0);
    } else {
        jobset_insert(&d->hosts, job, job, 0);
        d->is_new = true;
    }
}

static void leave(struct antman *a, struct sched *s, uint32_t job)
{
    uint64_t company = *sched_word(s, job);
    *sched_word(s, job) = 0;
    if (company > 0)
        enter_alone(a, s, (uint32_t)(company - 1));
    else
        jobset_erase(is_opportunistic(a, s, job) ? &a->alone : &demand_of(a, s, job)->hosts, job, job);
}

static void antman_on_submit(void *self, struct sched *s, uint32_t job)
{
    enqueue(self, s, job);
}

static void antman_on_finish(void *self, struct sched *s, uint32_t job)
{
    leave(self, s, job);
}

static void antman_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    if (why == CAUSE_PREEMPTED) /* our own preemptions are booked where they are decided */
        return;
    leave(self, s, job);
    enqueue(self, s, job);
}

/* ---- guaranteed jobs ------------------------------------------------------------------------------------- */

static bool start(struct antman *a, struct sched *s, uint32_t job)
{
    if (sched_start(s, job) != SCHED_OK)
        return false;
    dequeue(a, s, job);
    enter_alone(a, s, job);
    return true;
}

static bool push_victim(struct antman *a, struct sched *s, uint32_t n, uint32_t job)
{
    if (n == a->victims_room) {
        uint32_t room = a->victims_room * 2 + 64;
        uint32_t *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (n > 0)
            memcpy(grown, a->victims, n * sizeof *grown);
        a->victims = grown;
        a->victims_room = room;
    }
    a->victims[n] = job;
    return true;
}

/* Take GPUs of opportunistic jobs back until `job` fits; those that were not needed stay. */
static bool take_back(struct antman *a, struct sched *s, uint32_t job)
{
    uint32_t n = 0, n_taken = 0;
    bool is_in = false;
    room_begin(a->room, s, sched_gpus(s, job));
    for (uint32_t i = a->alone.last; i != JOBSET_NONE && !is_in; i = jobset_node(&a->alone, i)->prev) {
        if (!push_victim(a, s, n, jobset_node(&a->alone, i)->job))
            break;
        n++;
        if (n_taken == 0) { /* only asking so far */
            room_add(a->room, s, a->victims[n - 1]);
            if (!room_fits(a->room, s))
                continue;
        }
        for (; n_taken < n; n_taken++) {
            sched_because(s, "guaranteed GPUs go to job %u", job);
            sched_preempt(s, a->victims[n_taken]);
        }
        is_in = sched_start(s, job) == SCHED_OK;
    }
    while (n_taken > 0) {
        uint32_t victim = a->victims[--n_taken];
        if (sched_restore(s, victim) == SCHED_OK)
            continue;
        leave(a, s, victim);
        enqueue(a, s, victim);
    }
    if (is_in) {
        dequeue(a, s, job);
        enter_alone(a, s, job);
    }
    return is_in;
}

/* The first waiting job of open demands among the guaranteed or the opportunistic ones. */
static uint32_t first_waiting(const struct antman *a, bool is_second, uint32_t *demand)
{
    uint32_t first = JOBSET_NONE;
    for (uint32_t i = 0; i < a->n_demands; i++) {
        const struct jobset *set = is_second ? &a->demands[i].opportunistic : &a->demands[i].guaranteed;
        if (a->demands[i].is_closed || set->first == JOBSET_NONE || jobset_node(set, set->first)->job >= first)
            continue;
        first = jobset_node(set, set->first)->job;
        *demand = i;
    }
    return first;
}

static void open_demands(struct antman *a)
{
    for (uint32_t i = 0; i < a->n_demands; i++)
        a->demands[i].is_closed = false;
}

static void serve_guaranteed(struct antman *a, struct sched *s)
{
    uint32_t demand = 0;
    open_demands(a);
    for (uint32_t job;
         (sched_free_gpus(s) > 0 || a->alone.count > 0) && (job = first_waiting(a, false, &demand)) != JOBSET_NONE;) {
        if (start(a, s, job) || take_back(a, s, job))
            continue;
        if (a->is_strict)
            return;
        a->demands[demand].is_closed = true;
    }
}

/* ---- opportunistic jobs ---------------------------------------------------------------------------------- */

static void serve_idle(struct antman *a, struct sched *s)
{
    uint32_t demand = 0;
    open_demands(a);
    for (uint32_t job; sched_free_gpus(s) > 0 && (job = first_waiting(a, true, &demand)) != JOBSET_NONE;)
        a->demands[demand].is_closed = !start(a, s, job);
}

/* The fastest beside it first, then by rank. */
static int host_compare(const void *x, const void *y)
{
    const struct antman_host *a = x, *b = y;
    if (a->rate != b->rate)
        return a->rate > b->rate ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

/* The hosts that may have `job` as company, those beside which it goes fastest first; their number. */
static uint32_t find_hosts(struct antman *a, struct sched *s, const struct antman_demand *d, uint32_t job)
{
    uint32_t n = 0;
    if (d->hosts.count > a->hosts_room) {
        uint32_t room = d->hosts.count * 2;
        a->hosts = sched_alloc(s, room, sizeof *a->hosts);
        a->hosts_room = a->hosts != NULL ? room : 0;
        if (a->hosts == NULL)
            return 0; /* the run fails */
    }
    for (uint32_t i = d->hosts.first; i != JOBSET_NONE; i = jobset_node(&d->hosts, i)->next) {
        uint32_t pair[2] = {jobset_node(&d->hosts, i)->job, job};
        double rates[2];
        if (sched_group_rates(s, pair, 2, rates) == SCHED_OK && rates[0] >= a->least_rate && rates[1] > 0)
            a->hosts[n++] = (struct antman_host){rates[1], pair[0]};
    }
    if (n > 1)
        qsort(a->hosts, n, sizeof *a->hosts, host_compare);
    return n;
}

/* Put `job` beside the first of the hosts whose GPUs have the memory for both. */
static void find_company(struct antman *a, struct sched *s, struct antman_demand *d, uint32_t job)
{
    uint32_t n = find_hosts(a, s, d, job);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t host = a->hosts[k].job;
        sched_because(s, "beside job %u", host);
        if (sched_join(s, job, host) != SCHED_OK)
            continue;
        dequeue(a, s, job);
        jobset_erase(&d->hosts, host, host);
        *sched_word(s, job) = (uint64_t)host + 1;
        *sched_word(s, host) = (uint64_t)job + 1;
        return;
    }
}

static void serve_company(struct antman *a, struct sched *s, struct antman_demand *d)
{
    uint32_t n_left = a->candidates, next;
    for (uint32_t i = d->opportunistic.first; i != JOBSET_NONE && d->hosts.count > 0 && n_left > 0;
         i = next, n_left--) {
        uint32_t job = jobset_node(&d->opportunistic, i)->job;
        next = jobset_node(&d->opportunistic, i)->next;
        find_company(a, s, d, job);
    }
    d->is_new = false;
}

static void antman_schedule(void *self, struct sched *s)
{
    struct antman *a = self;
    if (a->n_waiting == 0)
        return;
    serve_guaranteed(a, s);
    serve_idle(a, s);
    for (uint32_t i = 0; i < a->n_demands; i++)
        if (a->demands[i].is_new && a->demands[i].opportunistic.count > 0 && a->demands[i].hosts.count > 0)
            serve_company(a, s, &a->demands[i]);
}

static const struct param_spec antman_params[] = {
    [OPPORTUNISTIC] =
        {"opportunistic", PARAM_NUMBER, "1", -1e9, 1e9, "", NULL,
         "jobs of this priority or more are opportunistic, those below have guaranteed GPUs (as in Muri's traces)"},
    [GUARANTEED_RATE] = {"guaranteed_rate", PARAM_NUMBER, "0.95", 0, 1, "", NULL,
                         "the least part of its speed alone that company must leave to a guaranteed job"},
    [FILL] = {"fill", PARAM_CHOICE, "strict", 0, 0, "", "strict|skip",
              "what happens behind a guaranteed job that does not fit"},
    [CANDIDATES] = {"candidates", PARAM_INT, "16", 1, 1e6, "jobs", NULL,
                    "the most waiting opportunistic jobs of a demand for which company is looked for in a round"},
};

const struct policy_ops policy_antman = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "antman",
    .summary = "Guaranteed jobs first come, first served; opportunistic ones on idle and under-used GPUs",
    .source = "Xiao et al., OSDI'20 (AntMan), section 4",
    .knows = KNOWS_PROFILE,
    .scope = SCOPE_VC,
    .params = antman_params,
    .n_params = sizeof antman_params / sizeof *antman_params,
    .state_size = sizeof(struct antman),
    .init = antman_init,
    .on_submit = antman_on_submit,
    .on_finish = antman_on_finish,
    .on_requeue = antman_on_requeue,
    .schedule = antman_schedule,
};
