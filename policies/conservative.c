/* conservative.c - conservative backfilling (Mu'alem and Feitelson, TPDS 12(6), 2001, section 2): every queued job holds a reservation.
 *
 *   GPUs ^ node 1   ########aaaaa bbbbbbbb       # runs; a, b, c: reservations in order of submission. A new job takes the
 *        | node 0   ####ccc aaaaa                earliest place that is free throughout its predicted run (c: before a and b, which it
 *        +---------now------------------> t      does not delay).
 *
 * A reservation is a time and a share of nodes: their GPUs, of the type that the job asks for, and the CPU and host memory that go with them. It is
 * the earliest time, beside the running jobs until their predicted ends and beside all other reservations, at which the rule of the placement
 * (packed, or any GPUs) has a place for the job and keeps it for the whole predicted run. It delays nobody: no other reservation
 * moves back for it.
 *
 * What happens to the plan (profile.h):
 *   a job arrives               one search; nobody else is touched
 *   a reservation comes due     the job starts there
 *   a job ends as predicted     nothing
 *   a job ends early            in order of submission each queued job may move to an earlier start, if there is one beside all
 *                               other reservations (compression), again and again until nobody can: nobody moves back
 *   a job runs longer           its end is put off (sched_expected_ns: its time doubles, at least a second); if
 *                               that is in the way of a reservation, it and all behind it (in order of submission) are made anew, and what they
 *                               gave up others may have (compression)
 *   capacity changes            all are made anew; who cannot fit any more holds none until it changes again
 *
 * So at no instant there is a queued job that could start beside all other reservations and does not, `depth` aside.
 *
 * Where this queue has its nodes for itself and no quota is smaller than they are, the plan says which nodes a job takes; the placement module is not
 * asked (what a module refuses beyond its rule, as yarn does jobs of several racks, the plan does not know), but where any GPUs will do and nothing
 * but their number counts. Elsewhere the plan counts the queue's GPUs alone, for what other queues do with the nodes cannot be known; the module
 * finds the place. A job that finds none at its time (other queues' jobs, a node cut up, GPU types, CPU, memory) holds its reservation from
 * then on and is tried again in every round.
 *
 * Cost: a search looks at every node of the virtual cluster once, with bounds from earlier searches (profile.h). With exact estimates that is
 * all, once a job; an early end or an overrun looks at every reservation, which `depth` can bound.
 */
#include "policies/instant.h"
#include "policies/jobset.h"
#include "policies/profile.h"

#include <string.h>

/* The least by which the reservation of a blocked job is put off. */
static const int64_t EXTENSION_NS = 1000000000;

/* A queued or running job. */
struct plan {
    int64_t start_ns, end_ns; /* SCHED_NEVER: it holds no reservation */
    bool is_fresh;            /* in the set of that name */
    int64_t blocked_ns;       /* since when it has been due and found no place; SCHED_NEVER: it is not so */
    uint64_t since;           /* the profile's clock when it was last planned */
    uint32_t n_shares, shares_room;
    struct share *shares; /* NULL: `one` */
    struct share one;
    uint32_t next; /* free plans: the next one */
};

struct conservative {
    struct profile profile;
    struct plan *plans; /* a job's word is the index of its plan */
    uint32_t n_plans, plans_room, free_plan;
    struct jobset_pool pool;
    struct jobset queue;    /* queued jobs by rank (as by submission) */
    struct jobset fresh;    /* those not planned yet: the last ones */
    struct jobset by_start; /* those with a reservation */
    struct jobset by_end;   /* running jobs, by predicted end */
    uint32_t depth;
    bool must_replan, must_replan_all, may_compress;
    bool is_short; /* memory is out, and the run about to end with that: there is no profile any more */
};

/* ---- plans ----------------------------------------------------------------------------------------- */

static struct plan *plan_of(const struct conservative *c, struct sched *s, uint32_t job)
{
    return &c->plans[*sched_word(s, job)];
}

static const struct share *shares_of(const struct plan *p)
{
    return p->shares != NULL ? p->shares : &p->one;
}

static bool plan_take(struct conservative *c, struct sched *s, uint32_t job)
{
    uint32_t i = c->free_plan;
    if (i != JOBSET_NONE) {
        c->free_plan = c->plans[i].next;
    } else {
        if (c->n_plans == c->plans_room) {
            uint32_t room = c->plans_room * 2 + 64;
            struct plan *grown = sched_alloc(s, room, sizeof *grown);
            if (grown == NULL)
                return false; /* the arena remembers: the run ends with "out of memory" */
            if (c->n_plans > 0)
                memcpy(grown, c->plans, c->n_plans * sizeof *grown);
            c->plans = grown;
            c->plans_room = room;
        }
        i = c->n_plans++;
    }
    c->plans[i].start_ns = c->plans[i].end_ns = SCHED_NEVER; /* the room for shares is used again */
    c->plans[i].n_shares = 0;
    c->plans[i].blocked_ns = SCHED_NEVER;
    *sched_word(s, job) = i;
    return true;
}

static void plan_release(struct conservative *c, struct sched *s, uint32_t job)
{
    plan_of(c, s, job)->next = c->free_plan;
    c->free_plan = (uint32_t)*sched_word(s, job);
}

static bool plan_set_shares(struct plan *p, struct sched *s, const struct share *shares, uint32_t n)
{
    if (n > 1 && n > p->shares_room) {
        struct share *grown = sched_alloc(s, n, sizeof *grown);
        if (grown == NULL)
            return false;
        p->shares = grown;
        p->shares_room = n;
    }
    memcpy(p->shares != NULL ? p->shares : &p->one, shares, n * sizeof *shares);
    p->n_shares = n;
    return true;
}

/* The time of a job's plan moves to [start, end): taken from the profile; `p` has shares. */
static void reserve(struct conservative *c, struct sched *s, uint32_t job, struct plan *p, int64_t start, int64_t end)
{
    p->start_ns = start;
    p->end_ns = end;
    profile_take(&c->profile, s, shares_of(p), p->n_shares, start, end);
    jobset_insert(&c->by_start, start, job, 0);
}

/* A job that is due and finds no place has its reservation put off for as long as it has been so, and a second: those planned right behind a short one
 * would come up for nothing at every end of it. */
static int64_t at_least_as_blocked(const struct plan *p, struct sched *s, int64_t length)
{
    int64_t blocked = p->blocked_ns == SCHED_NEVER ? 0 : sched_now(s) - p->blocked_ns;
    int64_t least = p->blocked_ns == SCHED_NEVER ? 0 : blocked < EXTENSION_NS ? EXTENSION_NS : blocked;
    return length < least ? least : length;
}

/* The time that a job will need from now on, or from its start, overhead included. */
static int64_t predicted_run(struct sched *s, uint32_t job)
{
    int64_t run = 1;
    sched_expected_run_ns(s, job, &run);
    return run;
}

/* The earliest place for a job that holds none. */
static void plan_job(struct conservative *c, struct sched *s, uint32_t job)
{
    struct plan *p = plan_of(c, s, job);
    int64_t run = at_least_as_blocked(p, s, predicted_run(s, job));
    const struct need need = profile_need(&c->profile, s, job);
    int64_t start = profile_find(&c->profile, s, &need, run);
    p->start_ns = p->end_ns = SCHED_NEVER;
    p->since = c->profile.clock;
    if (start != SCHED_NEVER && plan_set_shares(p, s, c->profile.shares, c->profile.n_shares))
        reserve(c, s, job, p, start, instant_after(start, run));
}

static void fresh_insert(struct conservative *c, struct sched *s, uint32_t job)
{
    struct plan *p = plan_of(c, s, job);
    p->start_ns = p->end_ns = SCHED_NEVER;
    p->is_fresh = true;
    jobset_insert(&c->fresh, job, job, 0);
}

static bool has_depth(const struct conservative *c)
{
    return c->depth == 0 || c->by_start.count < c->depth;
}

static void plan_fresh(struct conservative *c, struct sched *s)
{
    while (c->fresh.first != JOBSET_NONE && has_depth(c)) {
        uint32_t job = jobset_node(&c->fresh, c->fresh.first)->job;
        jobset_erase(&c->fresh, job, job);
        plan_of(c, s, job)->is_fresh = false;
        plan_job(c, s, job);
    }
}

static void set_clear(struct jobset *set)
{
    while (set->first != JOBSET_NONE) {
        const struct jobset_node n = *jobset_node(set, set->first);
        jobset_erase(set, n.key, n.job);
    }
}

/* The reservations of `job` and of those behind it are about to be made anew: what they held, others may have. */
static void mark_from(struct conservative *c, struct sched *s, uint32_t i)
{
    for (; i != JOBSET_NONE; i = jobset_node(&c->queue, i)->next) {
        const struct plan *p = plan_of(c, s, jobset_node(&c->queue, i)->job);
        if (p->is_fresh)
            return;
        if (p->start_ns != SCHED_NEVER)
            profile_mark(&c->profile, shares_of(p), p->n_shares);
    }
}

/* After a change: the reservations that are not in its way stay, up to the first in order of submission that is; it and all behind it are made
 * anew. */
static void replan(struct conservative *c, struct sched *s)
{
    int64_t now = sched_now(s);
    bool is_anew = c->must_replan_all;
    c->must_replan = c->must_replan_all = false;
    set_clear(&c->by_start);
    profile_reset(&c->profile, s);
    for (uint32_t i = c->by_end.first; i != JOBSET_NONE; i = jobset_node(&c->by_end, i)->next) {
        const struct plan *p = plan_of(c, s, jobset_node(&c->by_end, i)->job);
        profile_take(&c->profile, s, shares_of(p), p->n_shares, now, p->end_ns);
    }
    for (uint32_t i = c->queue.first; i != JOBSET_NONE; i = jobset_node(&c->queue, i)->next) {
        uint32_t job = jobset_node(&c->queue, i)->job;
        struct plan *p = plan_of(c, s, job);
        if (p->is_fresh)
            return; /* so are all behind it: their turn comes when the others are where they belong */
        if (!has_depth(c)) {
            fresh_insert(c, s, job);
            continue;
        }
        bool was_anew = is_anew;
        is_anew = is_anew || p->start_ns == SCHED_NEVER ||
                  !profile_is_free(&c->profile, shares_of(p), p->n_shares, p->start_ns, p->end_ns);
        if (is_anew && !was_anew) {
            mark_from(c, s, i);
            c->may_compress = true;
        }
        if (is_anew)
            plan_job(c, s, job);
        else
            reserve(c, s, job, p, p->start_ns, p->end_ns);
    }
}

/* Move the reservation of `job` to an earlier start, if there is one beside all others. */
static bool advance(struct conservative *c, struct sched *s, uint32_t job)
{
    struct plan *p = plan_of(c, s, job);
    if (p->start_ns == SCHED_NEVER || p->start_ns <= sched_now(s) || !profile_is_freed(&c->profile, p->since))
        return false;
    int64_t start = p->start_ns, run = p->end_ns - start;
    const struct need need = profile_need(&c->profile, s, job);
    int64_t earlier = profile_find_earlier(&c->profile, s, shares_of(p), p->n_shares, &need, start, run, p->since);
    p->since = c->profile.clock;
    if (earlier == SCHED_NEVER)
        return false;
    jobset_erase(&c->by_start, start, job);
    profile_give(&c->profile, s, shares_of(p), p->n_shares, start, p->end_ns);
    profile_mark(&c->profile, shares_of(p), p->n_shares);
    if (plan_set_shares(p, s, c->profile.shares, c->profile.n_shares))
        reserve(c, s, job, p, earlier, instant_after(earlier, run));
    p->since = c->profile.clock;
    return true;
}

/* What one gives up another may have, be it one before it: pass after pass until nobody moves. Each move is to an earlier start, so that comes. */
static void compress(struct conservative *c, struct sched *s)
{
    c->may_compress = false;
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        for (uint32_t i = c->queue.first; i != JOBSET_NONE; i = jobset_node(&c->queue, i)->next) {
            uint32_t job = jobset_node(&c->queue, i)->job;
            if (plan_of(c, s, job)->is_fresh)
                break; /* so are all behind it */
            has_moved |= advance(c, s, job);
        }
    }
}

/* ---- what did not go as planned ------------------------------------------------------------------- */

/* The plan of `job` holds its GPUs until `end`. */
static void extend(struct conservative *c, struct sched *s, struct plan *p, int64_t end)
{
    int64_t now = sched_now(s), from = p->end_ns > now ? p->end_ns : now;
    c->must_replan |= !profile_is_free(&c->profile, shares_of(p), p->n_shares, from, end);
    if (!c->must_replan)
        profile_take(&c->profile, s, shares_of(p), p->n_shares, from, end);
    p->end_ns = end;
}

/* Running jobs that should have ended by now. */
static void extend_running(struct conservative *c, struct sched *s)
{
    int64_t now = sched_now(s);
    while (c->by_end.first != JOBSET_NONE && jobset_node(&c->by_end, c->by_end.first)->key <= now) {
        const struct jobset_node n = *jobset_node(&c->by_end, c->by_end.first);
        int64_t end = instant_after(now, predicted_run(s, n.job));
        jobset_erase(&c->by_end, n.key, n.job);
        extend(c, s, plan_of(c, s, n.job), end);
        jobset_insert(&c->by_end, end, n.job, 0);
    }
}

/* Queued jobs that should have started before now but found no place: their reservations begin now. */
static void extend_blocked(struct conservative *c, struct sched *s)
{
    int64_t now = sched_now(s);
    while (c->by_start.first != JOBSET_NONE && jobset_node(&c->by_start, c->by_start.first)->key < now) {
        const struct jobset_node n = *jobset_node(&c->by_start, c->by_start.first);
        struct plan *p = plan_of(c, s, n.job);
        jobset_erase(&c->by_start, n.key, n.job);
        if (p->blocked_ns == SCHED_NEVER)
            p->blocked_ns = p->start_ns;
        extend(c, s, p, instant_after(now, at_least_as_blocked(p, s, p->end_ns - p->start_ns)));
        p->start_ns = now;
        jobset_insert(&c->by_start, now, n.job, 0);
    }
}

/* The quota has become smaller than the nodes: from now on GPUs are counted. */
static void count_only(struct conservative *c, struct sched *s)
{
    if (c->profile.rule == PROFILE_COUNT)
        return;
    c->must_replan = c->must_replan_all = true;
    if (!profile_init(&c->profile, s, PROFILE_COUNT)) {
        c->is_short = true;
        return;
    }
    for (uint32_t i = c->by_end.first; i != JOBSET_NONE; i = jobset_node(&c->by_end, i)->next) {
        uint32_t job = jobset_node(&c->by_end, i)->job;
        const struct need need = profile_need(&c->profile, s, job);
        const struct share all = profile_share(&need, 0, 0, need.gpus);
        plan_set_shares(plan_of(c, s, job), s, &all, 1);
    }
    for (uint32_t i = c->queue.first; i != JOBSET_NONE; i = jobset_node(&c->queue, i)->next)
        plan_of(c, s, jobset_node(&c->queue, i)->job)->start_ns = SCHED_NEVER; /* they name nodes */
    set_clear(&c->by_start);
}

static bool owns_all_nodes(struct sched *s)
{
    uint64_t gpus = 0;
    for (uint32_t i = 0; i < sched_n_nodes(s); i++)
        gpus += sched_node_gpus(s, sched_node(s, i));
    return gpus == sched_capacity_gpus(s);
}

/* What the plan can know of the nodes. */
static enum profile_rule rule_of(struct sched *s)
{
    if (!owns_all_nodes(s) || sched_shares_nodes(s))
        return PROFILE_COUNT;
    if (sched_is_packed(s))
        return PROFILE_PACKED;
    return sched_gpus_decide(s) ? PROFILE_COUNT : PROFILE_POOL;
}

/* ---- starting ------------------------------------------------------------------------------------- */

/* Start on the planned nodes. */
static int start_as_planned(struct conservative *c, struct sched *s, uint32_t job)
{
    const struct plan *p = plan_of(c, s, job);
    const struct share *shares = shares_of(p);
    if (c->profile.rule == PROFILE_COUNT)
        return sched_start(s, job);
    if (p->n_shares == 1) {
        const struct place one = {c->profile.lines[shares->line].node, shares->gpus};
        return sched_start_at(s, job, &one, 1);
    }
    struct place *places = c->profile.places;
    for (uint32_t i = 0; i < p->n_shares; i++)
        places[i] = (struct place){c->profile.lines[shares[i].line].node, shares[i].gpus};
    return sched_start_at(s, job, places, p->n_shares);
}

/* A job that was blocked starts: what its reservation was put off for, others may have. */
static void unblock(struct conservative *c, struct sched *s, uint32_t job, struct plan *p)
{
    int64_t run = 1, end;
    if (p->blocked_ns == SCHED_NEVER)
        return;
    p->blocked_ns = SCHED_NEVER;
    sched_expected_run_ns(s, job, &run);
    end = instant_after(sched_now(s), run);
    if (end >= p->end_ns)
        return;
    profile_give(&c->profile, s, shares_of(p), p->n_shares, end, p->end_ns);
    profile_mark(&c->profile, shares_of(p), p->n_shares);
    p->end_ns = end;
    c->may_compress = true;
}

/* Start what is due, in order of planned start. A job that finds no place stays due: where the plan counts GPUs, or when memory is out. */
static void start_due(struct conservative *c, struct sched *s)
{
    int64_t now = sched_now(s);
    for (uint32_t i = c->by_start.first, next; i != JOBSET_NONE && jobset_node(&c->by_start, i)->key <= now; i = next) {
        const struct jobset_node n = *jobset_node(&c->by_start, i);
        next = n.next;
        if (jobset_node(&c->queue, c->queue.first)->job != n.job)
            sched_because(s, "delays no earlier reservation");
        int code = start_as_planned(c, s, n.job);
        if (code == SCHED_OK) {
            jobset_erase(&c->by_start, n.key, n.job);
            jobset_erase(&c->queue, n.job, n.job);
            struct plan *p = plan_of(c, s, n.job);
            unblock(c, s, n.job, p);
            jobset_insert(&c->by_end, p->end_ns, n.job, 0);
        }
    }
}

/* ---- callbacks ------------------------------------------------------------------------------------- */

enum param_of { DEPTH };

static int conservative_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct conservative *c = self;
    c->depth = (uint32_t)v[DEPTH].i;
    c->free_plan = JOBSET_NONE;
    jobset_pool_init(&c->pool, s);
    jobset_init(&c->queue, &c->pool);
    jobset_init(&c->fresh, &c->pool);
    jobset_init(&c->by_start, &c->pool);
    jobset_init(&c->by_end, &c->pool);
    if (!profile_init(&c->profile, s, rule_of(s)))
        return error_set(err, BRAID_FAILED, "out of memory");
    return BRAID_OK;
}

static void conservative_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct conservative *c = self;
    if (plan_take(c, s, job)) {
        jobset_insert(&c->queue, job, job, 0);
        fresh_insert(c, s, job);
    }
}

/* The job gives up its GPUs before or when it was predicted to. */
static void leave(struct conservative *c, struct sched *s, uint32_t job)
{
    const struct plan *p = plan_of(c, s, job);
    jobset_erase(&c->by_end, p->end_ns, job);
    if (p->end_ns > sched_now(s) && !c->is_short) {
        profile_give(&c->profile, s, shares_of(p), p->n_shares, sched_now(s), p->end_ns);
        profile_mark(&c->profile, shares_of(p), p->n_shares);
        c->may_compress = true;
        c->must_replan |= p->end_ns == SCHED_NEVER; /* nobody could hold a reservation behind it */
    }
}

static void conservative_on_finish(void *self, struct sched *s, uint32_t job)
{
    struct conservative *c = self;
    leave(c, s, job);
    plan_release(c, s, job);
}

static void conservative_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    (void)why; /* never by our own hand */
    struct conservative *c = self;
    leave(c, s, job);
    jobset_insert(&c->queue, job, job, 0);
    if (c->fresh.first != JOBSET_NONE && jobset_node(&c->fresh, c->fresh.first)->job < job)
        fresh_insert(c, s, job); /* others before it wait to come up */
    else
        plan_of(c, s, job)->start_ns = SCHED_NEVER;
    c->must_replan = true;
}

static void conservative_on_capacity(void *self, struct sched *s)
{
    struct conservative *c = self;
    c->must_replan = c->must_replan_all = true;
    if (!owns_all_nodes(s))
        count_only(c, s);
}

/* While jobs wait: the next planned start, and the next predicted end, at which it shows whether it is one. */
static void set_alarm(const struct conservative *c, struct sched *s)
{
    uint32_t i = c->by_start.first;
    while (i != JOBSET_NONE && jobset_node(&c->by_start, i)->key <= sched_now(s))
        i = jobset_node(&c->by_start, i)->next; /* found no place, is tried again in any round */
    if (i != JOBSET_NONE)
        sched_wake_at(s, jobset_node(&c->by_start, i)->key);
    if (c->queue.count > 0 && c->by_end.first != JOBSET_NONE)
        sched_wake_at(s, jobset_node(&c->by_end, c->by_end.first)->key);
}

static void conservative_schedule(void *self, struct sched *s)
{
    struct conservative *c = self;
    if (c->is_short)
        return;
    extend_running(c, s);
    extend_blocked(c, s);
    do {
        if (c->must_replan)
            replan(c, s);
        if (c->may_compress)
            compress(c, s);
        plan_fresh(c, s);
        start_due(c, s);
        /* again when a start lets another one come up */
    } while (c->must_replan || c->may_compress || (c->fresh.first != JOBSET_NONE && has_depth(c)));
    set_alarm(c, s);
}

static const struct param_spec conservative_params[] = {
    [DEPTH] = {"depth", PARAM_INT, "0", 0, 4294967295.0, "", NULL,
               "jobs at the head of the queue that hold reservations, the others wait until they come up; 0: all"},
};

const struct policy_ops policy_conservative = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "conservative",
    .summary = "Backfilling that delays nobody's reservation: every queued job holds one of GPUs, CPU, memory and type",
    .source = "Mu'alem and Feitelson, TPDS 12(6), 2001, conservative backfilling",
    .knows = KNOWS_ESTIMATE,
    .scope = SCOPE_VC,
    .params = conservative_params,
    .n_params = sizeof conservative_params / sizeof *conservative_params,
    .state_size = sizeof(struct conservative),
    .init = conservative_init,
    .on_submit = conservative_on_submit,
    .on_finish = conservative_on_finish,
    .on_requeue = conservative_on_requeue,
    .on_capacity = conservative_on_capacity,
    .schedule = conservative_schedule,
};
