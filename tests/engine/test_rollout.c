/* A rollout foretells the engine: on a frozen queue (nothing arrives but what is expected, estimates are exact) every start and end comes as it said, whatever the
 * placement, the shape of the cluster, its virtual clusters and quotas, and whatever its lanes did before.
 */
#include "engine/rollout.h"
#include "tests/policies/search_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 64, EXPECTED = 8, JOBS = 40 };

/* A policy that once, at DECIDE, freezes its queue, rolls a drawn order out, and then follows the order to the letter. Until then it starts
 * jobs as they come. */
struct foreteller {
    struct rollout *r;
    uint32_t queue[CASE_JOBS], n_queue;
    uint32_t running[CASE_JOBS], n_running;
    uint16_t order[MOST + EXPECTED];
    uint32_t jobs[MOST + EXPECTED], n, n_queued; /* the plan; n: those expected not counted */
    uint32_t place[CASE_JOBS];                   /* in it, by job */
    bool has_come[CASE_JOBS];
    int64_t hold_until_ns;
    uint32_t first_held;
    bool has_plan;
    int64_t decided_ns;
    uint32_t parked[MOST], n_parked;
};

/* What a test asks, and what was foretold. The policy interface has no room for more. */
static struct {
    int64_t decide_ns;
    bool is_strict;
    uint32_t victims, tries, expected;
    int64_t hold_ns; /* a third of the plan is held back so long */
    uint64_t seed;
    int64_t start[CASE_JOBS], end[CASE_JOBS];
    struct rollout_terms terms;
    uint32_t n_plans;
} ask;

static int foreteller_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct foreteller *p = self;
    (void)v, (void)err;
    p->r = rollout_create(s, MOST, EXPECTED);
    cr_assert_not_null(p->r);
    return 0;
}

static void foreteller_fini(void *self)
{
    rollout_destroy(((struct foreteller *)self)->r);
}

static void foreteller_submit(void *self, struct sched *s, uint32_t job)
{
    struct foreteller *p = self;
    (void)s;
    uint32_t to = p->n_queue++;
    p->has_come[job] = true;
    for (; p->has_plan && to > 0 && p->place[p->queue[to - 1]] > p->place[job]; to--)
        p->queue[to] = p->queue[to - 1];
    p->queue[to] = job;
}

static void drop(uint32_t *list, uint32_t *n, uint32_t job)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < *n; i++)
        if (list[i] != job)
            list[to++] = list[i];
    *n = to;
}

static void foreteller_finish(void *self, struct sched *s, uint32_t job)
{
    struct foreteller *p = self;
    (void)s;
    drop(p->running, &p->n_running, job);
}

/* What is reckoned of one job of the plan. */
struct fate {
    int64_t submit_ns, start_ns, end_ns, deadline_ns;
    double alone_s;
};

static struct fate fate_of(const struct foreteller *p, struct sched *s, const struct rollout_lane *lane,
                           const struct rollout_window *w, uint32_t i)
{
    bool is_expected = i >= p->n;
    uint32_t job = is_expected ? w->expected[i - p->n].like : p->jobs[i];
    struct fate f = {sched_submit_ns(s, job), rollout_starts(lane)[i], rollout_ends(lane)[i], SCHED_NEVER, 0};
    int64_t alone = 1, arrival = is_expected ? sched_now(s) + w->expected[i - p->n].after_ns : f.submit_ns;
    if (sched_deadline_ns(s, job, &f.deadline_ns) == SCHED_OK)
        f.deadline_ns += arrival - f.submit_ns;
    else
        f.deadline_ns = SCHED_NEVER;
    f.submit_ns = arrival;
    sched_estimate_ns(s, job, &alone);
    f.alone_s = (double)(alone > 1 ? alone : 1) * 1e-9;
    return f;
}

static void expect_term(const char *what, double is, double wanted)
{
    cr_assert(fabs(is - wanted) <= 1e-9 * fmax(1, fabs(wanted)), "%s is %.15g, by starts and ends %.15g", what, is, wanted);
}

/* The terms once more, from starts and ends and what their names say. */
static void check_terms(const struct foreteller *p, struct sched *s, const struct rollout_lane *lane,
                        const struct rollout_window *w, uint32_t n, const struct rollout_terms *t)
{
    double jct = 0, weighted = 0, busy = 0, slowdown[3] = {0}, x = 0, squares = 0;
    uint32_t n_due = 0, n_late = 0, n_of[3] = {0}, n_users = 0, n_later = 0;
    int64_t now = sched_now(s), last = now;
    for (uint32_t i = 0; i < n; i++) {
        struct fate f = fate_of(p, s, lane, w, i);
        uint32_t job = p->jobs[i], user = (uint32_t)(sched_user_name(s, sched_user(s, job))[0] - 'u');
        cr_assert_lt(f.end_ns, SCHED_NEVER);
        jct += (double)(f.end_ns - f.submit_ns) * 1e-9;
        weighted += w->weights[i] * (double)(f.end_ns - f.submit_ns) * 1e-9;
        busy += (double)(f.end_ns - f.start_ns) * 1e-9 * sched_gpus(s, job);
        n_due += f.deadline_ns != SCHED_NEVER;
        n_late += f.end_ns > f.deadline_ns;
        n_later += i < p->n && f.start_ns > now;
        slowdown[user] += (double)(f.end_ns - f.submit_ns) * 1e-9 / f.alone_s;
        n_of[user]++;
        last = f.end_ns > last ? f.end_ns : last;
    }
    for (uint32_t k = p->n - p->n_queued; k < p->n_running; k++) { /* those behind the victims run on */
        int64_t left = 0;
        sched_run_ns(s, p->running[k], &left);
        left = left < last - now ? left : last - now;
        busy += (double)left * 1e-9 * sched_gpus(s, p->running[k]);
    }
    for (int u = 0; u < 3; u++)
        if (n_of[u] > 0) {
            double speed = n_of[u] / slowdown[u];
            x += speed;
            squares += speed * speed;
            n_users++;
        }
    double span = (double)(last - now) * 1e-9;
    expect_term("jct", t->jct_s, jct / n);
    expect_term("weighted jct", t->weighted_jct_s, weighted / n);
    expect_term("makespan", t->makespan_s, span);
    expect_term("idle", t->idle, fmax(0, 1 - busy / (span * sched_capacity_gpus(s))));
    expect_term("unfairness", t->unfairness, fmax(0, 1 - x * x / (n_users * squares)));
    expect_term("misses", t->miss_rate, n_due > 0 ? (double)n_late / n_due : 0);
    cr_assert_eq(t->n_later, n_later);
}

/* Make the lane forget its checkpoints: a plan of the other kind shares none. */
static void begin_anew(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    struct rollout_terms t;
    struct rollout_plan other = *plan;
    other.is_strict = !plan->is_strict;
    cr_assert_eq(rollout_run(lane, &other, NULL, &t), ROLLOUT_WHOLE);
}

/* A plan is stopped when its score must exceed the limit, so never by its own score, however little of it has been started. */
static void check_limits(struct rollout_lane *lane, const struct rollout_plan *plan, const struct rollout_terms *t)
{
    static const struct rollout_weights WEIGHTS[] = {
        {.jct = 1}, {.weighted_jct = 1}, {.makespan = 1}, {.misses = 1, .jct = 0.001}, {.jct = 1, .makespan = 0.2}};
    for (size_t k = 0; k < sizeof WEIGHTS / sizeof *WEIGHTS && plan->n_expected == 0; k++) {
        struct rollout_terms again;
        struct rollout_limit limit = {&WEIGHTS[k], rollout_score(t, &WEIGHTS[k]) / 2};
        begin_anew(lane, plan);
        cr_assert_neq(rollout_run(lane, plan, &limit, &again), ROLLOUT_WHOLE, "weights %zu", k);
        limit.score *= 2;
        begin_anew(lane, plan);
        cr_assert_eq(rollout_run(lane, plan, &limit, &again), ROLLOUT_WHOLE,
                     "by weights %zu a plan is given up that is not worse than itself", k);
        cr_assert_eq(again.jct_s, t->jct_s);
    }
}

static void foretell(struct foreteller *p, struct sched *s)
{
    p->n_queued = p->n_queue < MOST / 2 ? p->n_queue : MOST / 2;
    memcpy(p->jobs, p->queue, p->n_queued * sizeof *p->jobs);
    p->n = p->n_queued;
    for (uint32_t i = 0; i < p->n_running && i < ask.victims && p->n < MOST; i++)
        p->jobs[p->n++] = p->running[i];
    struct rollout_expected expected[EXPECTED];
    uint32_t n_expected = 0;
    for (uint32_t i = 0; i < ask.expected;
         i++) /* the last jobs are copies of the first; what was rejected will be again */
        if (p->has_come[i]) {
            p->jobs[p->n + n_expected] = JOBS + i;
            expected[n_expected++] = (struct rollout_expected){i, sched_submit_ns(s, JOBS + i) - sched_now(s)};
        }
    double weights[MOST + EXPECTED];
    for (uint32_t i = 0; i < MOST + EXPECTED; i++)
        weights[i] = 1 + i % 5;
    const struct rollout_window w = {.jobs = p->jobs,
                                     .weights = weights,
                                     .wants_fairness = true,
                                     .n_queued = p->n_queued,
                                     .n_victims = p->n - p->n_queued,
                                     .expected = expected,
                                     .n_expected = n_expected,
                                     .hold_ns = ask.hold_ns};
    cr_assert(rollout_freeze(p->r, s, &w));
    for (uint32_t i = 0; i < p->n + n_expected; i++)
        p->order[i] = (uint16_t)i;
    struct rollout_lane *lane = rollout_lane(p->r);
    struct rollout_plan plan = {
        .order = p->order, .n = p->n + n_expected, .is_strict = ask.is_strict, .n_expected = n_expected};
    for (uint32_t t = 0; t <= ask.tries;
         t++) { /* earlier orders must leave no trace: near ones, and ones of the other kind */
        plan.n_held = ask.hold_ns == 0 ? 0 : t < ask.tries ? draw(&ask.seed, plan.n) : plan.n / 3;
        for (uint32_t k = 0; k < (t % 5 == 0 ? plan.n : 2); k++) {
            uint32_t a = draw(&ask.seed, plan.n), b = draw(&ask.seed, plan.n);
            order_move(p->order, a, b);
        }
        plan.is_strict = t < ask.tries && t % 3 == 2 ? !ask.is_strict : ask.is_strict;
        cr_assert_eq(rollout_run(lane, &plan, NULL, &ask.terms), ROLLOUT_WHOLE);
    }
    p->hold_until_ns = sched_now(s) + ask.hold_ns;
    p->first_held = plan.n - plan.n_held;
    for (uint32_t i = 0; i < plan.n; i++) {
        p->place[p->jobs[p->order[i]]] = i;
        ask.start[p->jobs[i]] = rollout_starts(lane)[i];
        ask.end[p->jobs[i]] = rollout_ends(lane)[i];
    }
    check_terms(p, s, lane, &w, plan.n, &ask.terms);
    check_limits(lane, &plan, &ask.terms);
    p->has_plan = true;
    p->decided_ns = sched_now(s);
    ask.n_plans += p->n;
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan.n; i++) {
        uint32_t index = p->order[i], job = p->jobs[index];
        if (index >= p->n)
            continue; /* not yet here */
        if (index >= p->n_queued && rollout_starts(lane)[index] == sched_now(s))
            continue; /* keeps its GPUs */
        if (index >= p->n_queued) {
            cr_assert_eq(sched_preempt(s, job), SCHED_OK);
            p->parked[p->n_parked++] = job;
        }
        p->queue[n++] = job;
    }
    p->n_queue = n;
    if (p->n_parked > 0)
        sched_wake_at(s, sched_now(s) + 1);
}

static bool is_parked(const struct foreteller *p, uint32_t job)
{
    for (uint32_t i = 0; i < p->n_parked; i++)
        if (p->parked[i] == job)
            return true;
    return false;
}

static void foreteller_schedule(void *self, struct sched *s)
{
    struct foreteller *p = self;
    if (sched_now(s) >= ask.decide_ns && !p->has_plan && p->n_queue > 0)
        foretell(p, s);
    if (p->has_plan && sched_now(s) > p->decided_ns)
        p->n_parked = 0;
    if (p->has_plan && sched_now(s) < p->hold_until_ns) /* anew each round: of several the earliest counts */
        sched_wake_at(s, p->n_parked > 0 ? sched_now(s) + 1 : p->hold_until_ns);
    bool is_closed[CASE_JOBS] = {
        false}; /* a demand that found no place is not tried again: a try may draw from the stream */
    for (uint32_t i = 0; i < p->n_queue;) {
        uint32_t job = p->queue[i];
        bool is_held = p->has_plan && p->place[job] >= p->first_held && sched_now(s) < p->hold_until_ns;
        bool may_try = !is_held && !is_parked(p, job) && !is_closed[sched_demand(s, job)];
        bool is_started = may_try && sched_start(s, job) == SCHED_OK;
        is_closed[sched_demand(s, job)] |= may_try && !is_started;
        if (is_started) {
            drop(p->queue, &p->n_queue, job);
            p->running[p->n_running++] = job;
        } else if (ask.is_strict && p->has_plan) {
            return;
        } else {
            i++;
        }
    }
}

static const struct policy_ops FORETELLER = {.abi_version = BRAID_POLICY_ABI,
                                             .size = sizeof(struct policy_ops),
                                             .name = "foreteller",
                                             .summary = "",
                                             .source = "",
                                             .knows = KNOWS_ESTIMATE | KNOWS_DEADLINE,
                                             .scope = SCOPE_VC,
                                             .state_size = sizeof(struct foreteller),
                                             .init = foreteller_init,
                                             .fini = foreteller_fini,
                                             .on_submit = foreteller_submit,
                                             .on_finish = foreteller_finish,
                                             .schedule = foreteller_schedule};

/* Two waves: one that fills the cluster, one that waits when the decision comes. All of it is checked against the run. */
static void check_case(struct test_case *c, uint64_t seed, uint32_t most_gpus, uint32_t n_vcs, bool is_bounded)
{
    static const char *const VCS[] = {"a", "b", "c"}, *const USERS[] = {"u", "v", "w"}; /* Jain's index of two is that of their inverses */
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    draw_jobs(c, &state, JOBS + ask.expected, most_gpus);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        if (j >= JOBS) {
            c->jobs[j] = c->jobs[j - JOBS];
            c->jobs[j].submit_ns = (6 + 9 * (j - JOBS)) * S + draw(&state, 8) * S;
            continue;
        }
        c->jobs[j].submit_ns = j < 24 ? 0 : 5 * S;
        c->jobs[j].user = USERS[draw(&state, 3)];
        c->jobs[j].deadline_ns = j % 3 == 0 ? WORKLOAD_ABSENT : c->jobs[j].submit_ns + (j % 7 + 1) * c->jobs[j].duration_ns;
        c->jobs[j].vc = n_vcs > 0 ? VCS[draw(&state, n_vcs)] : "";
        c->jobs[j].cpu_milli = is_bounded ? c->jobs[j].gpus * (5000 + draw(&state, 10000)) : 0;
        c->jobs[j].mem_kib = is_bounded ? c->jobs[j].gpus * (uint64_t)(1000000 + draw(&state, 9000000)) : 0;
    }
    c->spec.overhead.start.constant_ns = 2 * S;
    c->spec.overhead.restart.constant_ns = 7 * S;
    c->spec.policy = (struct policy_spec){.ops = &FORETELLER, .params = c->params, .label = "foreteller"};
    ask.decide_ns = 5 * S;
    ask.seed = seed + 1;
    ask.n_plans = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        ask.start[j] = ask.end[j] = -1;
    case_run(c);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        if (ask.end[j] < 0 || c->r.jobs[j].status == STATUS_REJECTED)
            continue;
        cr_assert_eq(c->r.jobs[j].end_ns, ask.end[j],
                     "%s strict %d seed %llu, job %u (%u GPUs): foretold end %lld, came %lld",
                     c->spec.placement.ops->name, ask.is_strict, (unsigned long long)seed, j, c->jobs[j].gpus,
                     (long long)ask.end[j], (long long)c->r.jobs[j].end_ns);
        if (c->r.jobs[j].start_ns >= 5 * S && c->r.jobs[j].restarts == 0)
            cr_assert_eq(c->r.jobs[j].start_ns, ask.start[j]);
    }
    cr_assert_gt(ask.n_plans, 0u);
}

static void plain(struct test_case *c)
{
    (void)c;
}

static void mixed(struct test_case *c)
{
    c->groups[0] = (struct node_group_spec){.count = 3, .gpus = 4, .gpu = ""};
    c->groups[1] = (struct node_group_spec){.count = 2, .gpus = 8, .gpu = "", .nodes_per_rack = 1};
    c->groups[2] = (struct node_group_spec){.count = 70, .gpus = 1, .gpu = ""};
    c->cluster.n_groups = 3;
}

static void huge_node(struct test_case *c)
{
    c->groups[0] = (struct node_group_spec){.count = 1, .gpus = 128, .gpu = ""};
}

static void partitioned(struct test_case *c)
{
    c->groups[0].count = 9;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_NODES, .amount = 4};
    c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_NODES, .amount = 5};
    c->cluster.n_vcs = 2;
}

/* Only one of the queues over shared nodes may have jobs that wait: a rollout does not see what others will start. */
static void quota(struct test_case *c)
{
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 9};
    c->cluster.n_vcs = 1;
}

static void bounded(struct test_case *c)
{
    c->groups[0] =
        (struct node_group_spec){.count = 4, .gpus = 4, .gpu = "", .cpu_milli = 40000, .memory_kib = 30000000};
}

static void each_placement_with(uint32_t victims, uint32_t expected, int64_t hold_ns,
                                void (*shape)(struct test_case *c), uint32_t most_gpus, uint32_t n_vcs)
{
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++)
        for (uint64_t seed = 1; seed <= 12; seed++) {
            struct test_case *c = case_create(4, 4);
            shape(c);
            case_placement(c, (*p)->name);
            ask.is_strict = seed % 2 == 0;
            ask.victims = victims;
            ask.tries = (uint32_t)seed % 7;
            ask.expected = expected;
            ask.hold_ns = hold_ns;
            check_case(c, seed, most_gpus, n_vcs, shape == bounded);
            case_destroy(c);
        }
}

static void each_placement(uint32_t victims, void (*shape)(struct test_case *c), uint32_t most_gpus, uint32_t n_vcs)
{
    each_placement_with(victims, 0, 0, shape, most_gpus, n_vcs);
}

Test(rollout, foretells_what_is_expected_to_arrive)
{
    each_placement_with(0, 8, 0, plain, 12, 0);
    each_placement_with(4, 8, 0, mixed, 20, 0);
    each_placement_with(0, 8, 0, bounded, 8, 0);
}

Test(rollout, foretells_what_is_held_back)
{
    each_placement_with(0, 0, 40 * S, plain, 12, 0);
    each_placement_with(0, 8, 40 * S, plain, 12, 0);
    each_placement_with(5, 8, 40 * S, plain, 12, 0);
}

Test(rollout, foretells_every_placement)
{
    each_placement(0, plain, 12, 0);
}

Test(rollout, foretells_with_victims)
{
    each_placement(6, plain, 12, 0);
}

Test(rollout, foretells_on_unlike_nodes)
{
    each_placement(0, mixed, 20, 0);
    each_placement(5, mixed, 20, 0);
}

Test(rollout, foretells_on_a_node_of_many_gpus)
{
    each_placement(0, huge_node, 60, 0);
}

Test(rollout, foretells_in_virtual_clusters_with_nodes_of_their_own)
{
    each_placement(3, partitioned, 10, 2);
}

Test(rollout, foretells_under_a_quota)
{
    each_placement(0, quota, 9, 1);
    each_placement(4, quota, 9, 1);
}

Test(rollout, foretells_where_cpu_and_memory_bind)
{
    each_placement(0, bounded, 8, 0);
    each_placement(4, bounded, 8, 0);
}

/* A quota of 6: two jobs of 2 GPUs run to 10 and to 20 s, and at 5 s one of 2 and one of 4 come. The one of 4 fills the quota from 10 s on, so no
 * plan in which it starts then may be given up as if it had to wait for 20 s (check_limits). */
Test(rollout, what_fills_the_quota_may_start)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct test_case *c = case_create(1, 8);
        c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 6};
        c->cluster.n_vcs = 1;
        case_job(c, 0, 10, 2);
        case_job(c, 0, 20, 2);
        case_job(c, 5, 3, 2);
        case_job(c, 5, 7, 4);
        for (uint32_t j = 0; j < 4; j++) {
            c->jobs[j].vc = "a";
            c->jobs[j].user = "u";
        }
        c->spec.policy = (struct policy_spec){.ops = &FORETELLER, .params = c->params, .label = "foreteller"};
        memset(&ask, 0, sizeof ask);
        ask.decide_ns = 5 * S;
        ask.seed = seed * 2654435761u;
        case_run(c);
        cr_assert_eq(ask.n_plans, 2u);
        cr_assert_eq(ask.start[3], 10 * S);
        cr_assert_eq(c->r.jobs[3].start_ns, 10 * S);
        case_destroy(c);
    }
}

/* ---- groups ---- */

static void half_each(void *self, const uint32_t *jobs, uint32_t n, double *out)
{
    (void)self, (void)jobs;
    for (uint32_t i = 0; i < n; i++)
        out[i] = 1.0 / n;
}

static const char *any_group(void *self, const uint32_t *jobs, uint32_t n, uint64_t gpu_memory_kib)
{
    (void)self, (void)jobs, (void)n, (void)gpu_memory_kib;
    return NULL;
}

static int grouper_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct rollout **r = self;
    (void)v, (void)err;
    *r = rollout_create(s, 1, 0);
    cr_assert_not_null(*r);
    return 0;
}

static void grouper_fini(void *self)
{
    rollout_destroy(*(struct rollout **)self);
}

/* Jobs 0 and 1 share their GPUs; when job 2 comes its start is foretold. */
static void grouper_schedule(void *self, struct sched *s)
{
    struct rollout *r = *(struct rollout **)self;
    const uint32_t waiting = 2;
    const uint16_t order = 0;
    if (sched_now(s) == 0) {
        cr_assert_eq(sched_start(s, 0), SCHED_OK);
        cr_assert_eq(sched_join(s, 1, 0), SCHED_OK);
    } else if (sched_now(s) == 2 * S) {
        const struct rollout_window w = {.jobs = &waiting, .n_queued = 1};
        const struct rollout_plan plan = {.order = &order, .n = 1};
        struct rollout_terms terms;
        cr_assert(rollout_freeze(r, s, &w));
        cr_assert_eq(rollout_run(rollout_lane(r), &plan, NULL, &terms), ROLLOUT_WHOLE);
        ask.start[0] = rollout_starts(rollout_lane(r))[0];
    } else if (sched_is_queued(s, waiting)) {
        sched_start(s, waiting);
    }
}

Test(rollout, a_group_gives_its_gpus_back_with_its_last_member)
{
    static const struct sharing_model halves = {.most = 2, .rates = half_each, .refusal = any_group};
    static const struct policy_ops grouper = {.abi_version = BRAID_POLICY_ABI,
                                              .size = sizeof(struct policy_ops),
                                              .name = "grouper",
                                              .summary = "",
                                              .source = "",
                                              .knows = KNOWS_ESTIMATE,
                                              .scope = SCOPE_VC,
                                              .state_size = sizeof(struct rollout *),
                                              .init = grouper_init,
                                              .fini = grouper_fini,
                                              .schedule = grouper_schedule};
    for (int turned = 0; turned < 2; turned++) { /* the longer job is the first of the group, or the second */
        struct test_case *c = case_create(1, 2);
        c->spec.sharing = &halves;
        c->spec.policy = (struct policy_spec){.ops = &grouper, .params = c->params, .label = "grouper"};
        case_job(c, 0, turned ? 4 : 10, 2);
        case_job(c, 0, turned ? 10 : 4, 2);
        case_job(c, 2, 3, 2);
        case_run(c);
        /* at 2 s the one has 9 s left, the other 3 s; at half the pace they end at 20 s and 8 s. (When the other has ended, the one goes
         * faster and ends at 14 s: that a rollout does not foresee.) */
        cr_expect_eq(ask.start[0], 20 * S, "%g s", (double)ask.start[0] * 1e-9);
        cr_expect_eq(c->r.jobs[2].start_ns, 14 * S, "%g s", case_start_s(c, 2));
        case_destroy(c);
    }
}
