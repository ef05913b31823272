/* optimal.c - the best schedule without preemption, found by branch and bound over the whole trace, arrivals to come included.
 *
 * The machine is G GPUs, any of which will do; a job holds its GPUs for its duration and the start overhead. The search builds
 * schedules in order of their starts:
 *
 *        running jobs end one after another, so what is free only grows
 *   G  ┌──────────┐
 *      │   a      └────┐              the next of the list starts as early as it can at or after the start of the one before it and
 *      │   b           └───────       its own submission: the first instant at which enough is free
 *      └───┴───────────────────▶
 *          last start
 *
 * Why that is all: take a best schedule and start its jobs anew, in the order of their starts, each as early as it can but not before the
 * one ahead of it. By induction nobody starts later than before: at the old start of a job, those ahead of it have begun no later than in the
 * old schedule, so whatever still holds GPUs then or later held them in the old one, too, and the job fits. So some order gives a best
 * schedule, and idle time that waits for an arrival needs no choice of its own: it is what comes of an order in which a job that is
 * not there yet is ahead of one that is. (The objectives only grow with the ends.)
 *
 * What is not searched:
 *   - a job that would start when another one, put in before it, would have ended already: that one costs nobody anything there;
 *   - what cannot beat the best so far, by two bounds on the jobs left: each ends no earlier than if it were next; and the GPUs as they come
 *     free are one machine that works off their volume, smallest first (sim/output/bounds.h proves both for a machine at rest, and only uses
 *     that later instants are worse).
 *
 * The cost grows with n! at worst, hence the limits. Where a run has more than GPUs, lengths and submissions (sched_beyond_counts) the plan would
 * not be the best, so the policy refuses it.
 */
#include "policies/instant.h"

#include <braid/error.h>
#include <string.h>

enum { JOBS_MAX = 16 };

enum objective { MEAN_JCT, MAKESPAN };

struct piece { /* a job of the plan */
    uint32_t job, gpus;
    int64_t submit_ns, length_ns; /* length: duration and start overhead */
};

struct optimal {
    enum objective objective;
    int64_t steps_left;
    uint32_t capacity, n;
    struct piece jobs[JOBS_MAX]; /* smallest volume first */
    /* the schedule that is being built */
    uint32_t depth, placed; /* placed: a bit a job */
    int64_t start_ns[JOBS_MAX], end_ns[JOBS_MAX];
    uint32_t order[JOBS_MAX];
    /* the best one */
    bool has_best;
    __int128 best;
    int64_t best_start_ns[JOBS_MAX];
    uint32_t best_order[JOBS_MAX];
};

/* When GPUs come free: those of the placed jobs that run at `from`, in order of their ends. */
struct frees {
    uint32_t n, free_now;
    struct {
        int64_t at_ns;
        uint32_t gpus;
    } step[JOBS_MAX];
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void frees_at(struct frees *f, const struct optimal *o, int64_t from_ns)
{
    f->n = 0;
    f->free_now = o->capacity;
    for (uint32_t d = 0; d < o->depth; d++) {
        uint32_t i = o->order[d], at = f->n;
        if (o->end_ns[i] <= from_ns)
            continue;
        f->free_now -= o->jobs[i].gpus;
        for (; at > 0 && f->step[at - 1].at_ns > o->end_ns[i]; at--)
            f->step[at] = f->step[at - 1];
        f->step[at].at_ns = o->end_ns[i];
        f->step[at].gpus = o->jobs[i].gpus;
        f->n++;
    }
}

/* The first instant at or after `from` at which `gpus` are free. */
static int64_t first_fit(const struct frees *f, uint32_t gpus, int64_t from_ns)
{
    uint32_t free_gpus = f->free_now;
    for (uint32_t k = 0; free_gpus < gpus && k < f->n; k++) {
        free_gpus += f->step[k].gpus;
        from_ns = later(from_ns, f->step[k].at_ns);
    }
    return from_ns;
}

/* ---- bounds on the jobs that are left ---- */

/* The machine that the free GPUs are: where it is after having given all volume so far. */
struct flow {
    const struct frees *frees;
    uint32_t next; /* step of `frees` */
    double at_ns, speed;
};

/* Give `volume`; returns the integral of the time at which each part of it is given. */
static double flow_give(struct flow *m, double volume)
{
    double moment = 0;
    while (volume > 0) {
        double until = m->next < m->frees->n ? (double)m->frees->step[m->next].at_ns : 1e300;
        double can = (until - m->at_ns) * m->speed;
        double given = can < volume ? can : volume;
        if (m->speed > 0) {
            double span = given / m->speed;
            moment += given * (m->at_ns + span / 2);
            m->at_ns += span;
            volume -= given;
        }
        if (volume > 0) {
            m->at_ns = until;
            m->speed += m->frees->step[m->next++].gpus;
        }
    }
    return moment;
}

/* No completion of the present schedule is better than what this returns (in double, a little below for its rounding). */
static double flow_bound(const struct optimal *o, const struct frees *f, int64_t from_ns, double ends)
{
    int64_t first = SCHED_NEVER;
    for (uint32_t i = 0; i < o->n; i++)
        if (!(o->placed >> i & 1) && o->jobs[i].submit_ns < first)
            first = o->jobs[i].submit_ns;
    struct flow m = {f, 0, (double)from_ns, f->free_now};
    while (m.next < f->n && f->step[m.next].at_ns <= later(first, from_ns))
        m.speed += f->step[m.next++].gpus;
    m.at_ns = (double)later(first, from_ns);
    double by_middle = ends, by_end = ends;
    for (uint32_t i = 0; i < o->n; i++) {
        double length = (double)o->jobs[i].length_ns, volume = length * o->jobs[i].gpus;
        if (o->placed >> i & 1)
            continue;
        double moment = flow_give(&m, volume);
        by_middle += volume > 0 ? moment / volume + length / 2 : m.at_ns;
        by_end += m.at_ns;
    }
    double bound = o->objective == MAKESPAN ? m.at_ns : by_middle > by_end ? by_middle : by_end;
    return bound * (1 - 1e-9);
}

/* ---- the search ---- */

static __int128 value_of(const struct optimal *o)
{
    __int128 sum = 0;
    int64_t last = 0;
    for (uint32_t d = 0; d < o->depth; d++) {
        sum += o->end_ns[o->order[d]];
        last = later(last, o->end_ns[o->order[d]]);
    }
    return o->objective == MAKESPAN ? last : sum;
}

static void take_best(struct optimal *o)
{
    __int128 value = value_of(o);
    if (o->has_best && value >= o->best)
        return;
    o->has_best = true;
    o->best = value;
    memcpy(o->best_start_ns, o->start_ns, sizeof o->best_start_ns);
    memcpy(o->best_order, o->order, sizeof o->best_order);
}

/* Could any completion beat the best? `start`: of each job that is left, if it were next. */
static bool is_hopeless(const struct optimal *o, const struct frees *f, int64_t from_ns, const int64_t *start_ns)
{
    __int128 placed = value_of(o), alone = placed;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->placed >> i & 1)
            continue;
        int64_t end = instant_after(start_ns[i], o->jobs[i].length_ns);
        alone = o->objective == MEAN_JCT ? alone + end : end > alone ? end : alone;
    }
    return alone >= o->best || flow_bound(o, f, from_ns, (double)placed) >= (double)o->best;
}

/* Is there a job that would have ended when `k` starts? Of length 0 and at the same instant it is no reason. */
static bool is_late(const struct optimal *o, const int64_t *start_ns, uint32_t k)
{
    for (uint32_t i = 0; i < o->n; i++) {
        if (i == k || (o->placed >> i & 1))
            continue;
        int64_t end = instant_after(start_ns[i], o->jobs[i].length_ns);
        if (end < start_ns[k] || (end == start_ns[k] && end > start_ns[i]))
            return true;
    }
    return false;
}

/* Try every job that is left as the next one; `from`: the start of the last. Recursive, JOBS_MAX deep at most. */
static void search(struct optimal *o, int64_t from_ns)
{
    int64_t start_ns[JOBS_MAX];
    struct frees f;
    if (o->depth == o->n) {
        take_best(o);
        return;
    }
    if (o->steps_left == 0)
        return;
    o->steps_left--;
    frees_at(&f, o, from_ns);
    for (uint32_t i = 0; i < o->n; i++)
        start_ns[i] = first_fit(&f, o->jobs[i].gpus, later(from_ns, o->jobs[i].submit_ns));
    if (o->has_best && is_hopeless(o, &f, from_ns, start_ns))
        return;
    for (uint32_t k = 0; k < o->n; k++) {
        if ((o->placed >> k & 1) || is_late(o, start_ns, k))
            continue;
        o->order[o->depth++] = k;
        o->placed |= UINT32_C(1) << k;
        o->start_ns[k] = start_ns[k];
        o->end_ns[k] = instant_after(start_ns[k], o->jobs[k].length_ns);
        search(o, start_ns[k]);
        o->placed &= ~(UINT32_C(1) << k);
        o->depth--;
    }
}

/* ---- callbacks ---- */

enum param_of { OBJECTIVE, STEPS };

static bool piece_before(const struct piece *a, const struct piece *b)
{
    __int128 x = (__int128)a->length_ns * a->gpus, y = (__int128)b->length_ns * b->gpus;
    return x != y ? x < y : a->job < b->job;
}

static void take_job(struct optimal *o, struct sched *s, uint32_t job)
{
    struct piece p = {.job = job, .gpus = sched_gpus(s, job), .submit_ns = sched_submit_ns(s, job)};
    int64_t run = 0, estimate = 0;
    if (p.gpus > o->capacity)
        return; /* will be rejected */
    sched_duration_ns(s, job, &p.length_ns);
    sched_run_ns(s, job, &run);
    sched_estimate_ns(s, job, &estimate);
    int64_t overhead = run - (estimate > 1 ? estimate : 1); /* a job has 1 ns left at least */
    p.length_ns = instant_after(p.length_ns, overhead > 0 ? overhead : 0);
    uint32_t at = o->n++;
    for (; at > 0 && piece_before(&p, &o->jobs[at - 1]); at--)
        o->jobs[at] = o->jobs[at - 1];
    o->jobs[at] = p;
}

/* A count of free GPUs says whether a job fits when the placement takes any, or there is one node, or jobs have one GPU. */
static bool counts_decide(const struct optimal *o, const struct sched *s)
{
    uint32_t with_gpus = 0, largest = 1;
    for (uint32_t i = 0; i < sched_n_nodes(s); i++)
        with_gpus += sched_node_gpus(s, sched_node(s, i)) > 0;
    for (uint32_t i = 0; i < o->n; i++)
        largest = o->jobs[i].gpus > largest ? o->jobs[i].gpus : largest;
    return !sched_is_packed(s) || with_gpus <= 1 || largest == 1;
}

static int optimal_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct optimal *o = self;
    uint32_t n = sched_n_jobs(s);
    o->objective = strcmp(v[OBJECTIVE].s, "makespan") == 0 ? MAKESPAN : MEAN_JCT;
    o->steps_left = v[STEPS].i;
    o->capacity = sched_capacity_gpus(s);
    if (n > JOBS_MAX)
        return error_set(err, BRAID_BAD_INPUT,
                         "policy optimal searches all schedules of at most %d jobs, the trace has %u; take fewer with "
                         "'trace: {jobs: %d}'",
                         JOBS_MAX, n, JOBS_MAX);
    const char *beyond = sched_beyond_counts(s);
    if (beyond != NULL)
        return error_set(err, BRAID_BAD_INPUT,
                         "policy optimal plans by run times and counts of GPUs, this run has %s; leave that out or take "
                         "another policy",
                         beyond);
    for (uint32_t job = 0; job < n; job++)
        take_job(o, s, job);
    if (!counts_decide(o, s))
        return error_set(err, BRAID_BAD_INPUT,
                         "policy optimal counts GPUs and chooses no nodes; use a placement that takes any ('placement: "
                         "count') or a single node");
    search(o, 0);
    if (o->steps_left == 0)
        return error_set(err, BRAID_BAD_INPUT,
                         "policy optimal has not proved a schedule of %u jobs best in %lld steps; allow more 'steps' "
                         "or take fewer jobs",
                         o->n, (long long)v[STEPS].i);
    return BRAID_OK;
}

/* Start what is due, in the planned order; by the plan it fits. */
static void optimal_schedule(void *self, struct sched *s)
{
    const struct optimal *o = self;
    int64_t now = sched_now(s);
    for (uint32_t d = 0; d < o->n; d++) {
        uint32_t i = o->best_order[d], job = o->jobs[i].job;
        if (o->best_start_ns[i] > now) {
            sched_wake_at(s, o->best_start_ns[i]);
            return; /* starts ascend */
        }
        if (sched_is_queued(s, job)) {
            sched_because(s, "planned for now");
            sched_start(s, job);
        }
    }
}

static const struct param_spec optimal_params[] = {
    [OBJECTIVE] = {"objective", PARAM_CHOICE, "mean_jct", 0, 0, "", "mean_jct|makespan",
                   "what the schedule is best for"},
    [STEPS] =
        {"steps", PARAM_INT, "20000000", 1, 1e12, "", NULL,
         "partial schedules that may be looked at; the run fails when that does not do, for nothing would be proved"},
};

const struct policy_ops policy_optimal = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "optimal",
    .summary = "The best schedule without preemption of a few jobs, arrivals known ahead",
    .source = "Branch and bound over lists: Baker, Introduction to Sequencing and Scheduling, 1974, ch. 3 and 4; "
              "active schedules as Giffler and "
              "Thompson, Operations Research 8(4), 1960",
    .knows = KNOWS_DURATION,
    .scope = SCOPE_CLUSTER,
    .params = optimal_params,
    .n_params = sizeof optimal_params / sizeof *optimal_params,
    .state_size = sizeof(struct optimal),
    .init = optimal_init,
    .schedule = optimal_schedule,
};
