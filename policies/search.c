#include "policies/search.h"

#include "policies/instant.h"

#include <math.h>
#include <string.h>
#include <time.h>

uint32_t search_most(const struct search *x)
{
    return x->window + x->victims + 1;
}

/* By the objective: who is to be early by deadlines, or by weight, comes early also where no decision was made. */
static enum search_base base_of(const char *name, const struct rollout_weights *w)
{
    if (strcmp(name, "objective") == 0)
        return w->misses > w->jct + w->weighted_jct ? BASE_EDF : w->weighted_jct > w->jct ? BASE_SMITH : BASE_SRSF;
    return strcmp(name, "fifo") == 0    ? BASE_FIFO
           : strcmp(name, "sjf") == 0   ? BASE_SJF
           : strcmp(name, "srsf") == 0  ? BASE_SRSF
           : strcmp(name, "smith") == 0 ? BASE_SMITH
           : strcmp(name, "edf") == 0   ? BASE_EDF
                                        : BASE_SMALLEST;
}

static int check(const struct search *x, bool is_deterministic, struct error *err)
{
    const struct rollout_weights *w = &x->wanted;
    if (x->budget_ms > 0 && is_deterministic)
        return error_set(err, BRAID_BAD_INPUT,
                         "budget_ms makes results depend on the machine; say deterministic: false with it, or limit "
                         "decisions by budget alone");
    if (w->jct + w->weighted_jct + w->makespan + w->idle + w->unfairness + w->misses <= 0)
        return error_set(err, BRAID_BAD_INPUT,
                         "all weights of the objective are 0; give jct, weighted_jct, makespan, utilization, fairness "
                         "or deadlines one");
    return BRAID_OK;
}

int search_init(struct search *x, struct sched *s, const union param *v, search_solver solve, struct error *err)
{
    const char *fill = v[SEARCH_FILL].s;
    uint32_t n_jobs = sched_n_jobs(s) > 0 ? sched_n_jobs(s) : 1;
    x->solve = solve;
    x->period_ns = v[SEARCH_PERIOD].i;
    x->latency_ns = v[SEARCH_LATENCY].i;
    x->horizon_ns = v[SEARCH_HORIZON].i;
    x->window = v[SEARCH_WINDOW].i < n_jobs ? (uint32_t)v[SEARCH_WINDOW].i : n_jobs;
    x->tail = v[SEARCH_TAIL].i < n_jobs ? (uint32_t)v[SEARCH_TAIL].i : n_jobs;
    x->victims = v[SEARCH_VICTIMS].i < n_jobs ? (uint32_t)v[SEARCH_VICTIMS].i : n_jobs;
    x->budget = (uint32_t)v[SEARCH_BUDGET].i;
    x->reflex = x->victims > 0 ? (uint32_t)v[SEARCH_REFLEX].i : 0;
    x->fill = strcmp(fill, "skip") == 0 ? SEARCH_SKIP : strcmp(fill, "strict") == 0 ? SEARCH_STRICT : SEARCH_BEST;
    x->is_strict = x->fill == SEARCH_STRICT;
    x->wanted = (struct rollout_weights){.jct = v[SEARCH_JCT].f,
                                         .weighted_jct = v[SEARCH_WEIGHTED_JCT].f,
                                         .makespan = v[SEARCH_MAKESPAN].f,
                                         .idle = v[SEARCH_UTILIZATION].f,
                                         .unfairness = v[SEARCH_FAIRNESS].f,
                                         .misses = v[SEARCH_DEADLINES].f};
    x->budget_ms = v[SEARCH_BUDGET_MS].f;
    if (check(x, v[SEARCH_DETERMINISTIC].b, err) != BRAID_OK)
        return BRAID_BAD_INPUT;
    uint32_t most = search_most(x), all = x->window + x->tail + x->victims;
    int64_t ahead = x->period_ns > 0 && x->victims == 0 ? v[SEARCH_LOOKOUT].i : 0; /* what can give way need not wait */
    if (!lookout_init(&x->lookout, s, ahead, v[SEARCH_PAST].i, (uint32_t)v[SEARCH_SCENARIOS].i, all))
        return error_set(err, BRAID_FAILED, "out of memory");
    uint32_t with_expected = all + lookout_most(&x->lookout);
    jobset_pool_init(&x->pool, s);
    jobset_init(&x->running, &x->pool);
    x->jobs = sched_alloc(s, all, sizeof *x->jobs);
    x->keys = sched_alloc(s, all, sizeof *x->keys);
    x->base_keys = sched_alloc(s, all, sizeof *x->base_keys);
    x->weights = sched_alloc(s, with_expected, sizeof *x->weights);
    x->service_s = sched_alloc(s, all, sizeof *x->service_s);
    x->run_s = sched_alloc(s, all, sizeof *x->run_s);
    x->pending = sched_alloc(s, all, sizeof *x->pending);
    x->is_given = sched_alloc(s, all, sizeof *x->is_given);
    x->parked = sched_alloc(s, all, sizeof *x->parked);
    if (x->jobs == NULL || x->keys == NULL || x->base_keys == NULL || x->weights == NULL || x->service_s == NULL ||
        x->run_s == NULL || x->pending == NULL || x->is_given == NULL || x->parked == NULL ||
        !search_queue_init(&x->queue, s, &x->pool, base_of(v[SEARCH_BASE].s, &x->wanted), all) ||
        !search_problem_init(&x->problem, s, most))
        return error_set(err, BRAID_FAILED, "out of memory");
    x->problem.rollout = rollout_create(s, all, lookout_most(&x->lookout));
    x->problem.rng = gsl_rng_alloc(gsl_rng_taus2);
    if (x->problem.rollout == NULL || x->problem.rng == NULL) {
        search_fini(x);
        return error_set(err, BRAID_FAILED, "out of memory");
    }
    return BRAID_OK;
}

void search_fini(void *self)
{
    struct search *x = self;
    rollout_destroy(x->problem.rollout);
    if (x->problem.rng != NULL)
        gsl_rng_free(x->problem.rng);
}

/* ---- the waiting and the running jobs --------------------------------------------------------------- */

void search_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct search *x = self;
    lookout_note(&x->lookout, job);
    search_queue_add(&x->queue, s, job);
}

static void enter_running(struct search *x, struct sched *s, uint32_t job)
{
    int64_t run = 0;
    if (x->victims == 0)
        return;
    sched_expected_run_ns(s, job, &run);
    *sched_word(s, job) = (uint64_t)instant_after(sched_now(s), run);
    jobset_insert(&x->running, (int64_t)*sched_word(s, job), job, 0);
}

static void leave_running(struct search *x, struct sched *s, uint32_t job)
{
    if (x->victims > 0)
        jobset_erase(&x->running, (int64_t)*sched_word(s, job), job);
}

void search_on_finish(void *self, struct sched *s, uint32_t job)
{
    leave_running(self, s, job);
}

void search_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    struct search *x = self;
    if (why == CAUSE_PREEMPTED)
        return; /* booked where it was decided */
    leave_running(x, s, job);
    search_queue_add(&x->queue, s, job);
}

/* Jobs preempted a nanosecond ago or more queue up. */
static void unpark(struct search *x, struct sched *s)
{
    if (x->n_parked == 0 || sched_now(s) <= x->parked_ns)
        return;
    for (uint32_t i = 0; i < x->n_parked; i++)
        search_queue_add(&x->queue, s, x->parked[i]);
    x->n_parked = 0;
}

/* ---- a decision --------------------------------------------------------------------------------------- */

/* The job of an index of what is ordered; of the tail its first. */
static uint32_t job_of(const struct search *x, uint32_t index)
{
    const struct search_problem *p = &x->problem;
    return x->jobs[index < p->n_window                  ? index
                   : index < p->n_window + p->n_victims ? search_victim(p, index)
                                                        : p->n_window];
}

static double run_s_of(const struct sched *s, uint32_t job)
{
    int64_t run = 0;
    sched_expected_run_ns(s, job, &run);
    return (double)run * 1e-9;
}

/* First the waiting jobs by base order, those of the window as they stand; then the running ones that end last. What is ordered has the tail as
 * its last index, with means of what the others are told apart by. */
static void window_take(struct search *x, struct sched *s)
{
    struct search_problem *p = &x->problem;
    p->n_window = search_queue_first(&x->queue, s, x->jobs, x->window, x->tail, &p->n_tail);
    uint32_t n_waiting = p->n_window + p->n_tail, tail_at;
    p->n_victims = 0;
    if (x->victims > 0)
        for (uint32_t node = x->running.last; node != JOBSET_NONE && p->n_victims < x->victims;
             node = jobset_node(&x->running, node)->prev)
            x->jobs[n_waiting + p->n_victims++] = jobset_node(&x->running, node)->job;
    tail_at = p->n_window + p->n_victims;
    p->n = tail_at + (p->n_tail > 0);
    for (uint32_t i = 0; i < n_waiting + p->n_victims; i++)
        x->weights[i] = search_weight(s, x->jobs[i]);
    for (uint32_t i = 0; i < tail_at; i++) {
        x->run_s[i] = run_s_of(s, job_of(x, i));
        x->service_s[i] = x->run_s[i] * sched_gpus(s, job_of(x, i));
    }
    if (p->n_tail > 0)
        x->run_s[tail_at] = x->service_s[tail_at] = 0;
    for (uint32_t k = 0; k < p->n_tail; k++) {
        uint32_t job = x->jobs[p->n_window + k];
        double run = run_s_of(s, job) / p->n_tail;
        x->run_s[tail_at] += run;
        x->service_s[tail_at] += run * sched_gpus(s, job);
    }
    p->run_s = x->run_s;
    p->service_s = x->service_s;
}

/* Scale the weights so that each term counts by what it changes relative to `t`, the order that stands. */
static void weights_scale(struct search *x, const struct rollout_terms *t)
{
    const struct rollout_weights *w = &x->wanted;
    x->problem.weights = (struct rollout_weights){.jct = w->jct / fmax(t->jct_s, 1e-9),
                                                  .weighted_jct = w->weighted_jct / fmax(t->weighted_jct_s, 1e-9),
                                                  .makespan = w->makespan / fmax(t->makespan_s, 1e-9),
                                                  .idle = w->idle,
                                                  .unfairness = w->unfairness,
                                                  .misses = w->misses};
}

static void seed_add(struct search *x)
{
    struct search_problem *p = &x->problem;
    bool both = x->fill == SEARCH_BEST;
    struct search_candidate *c = &p->seeds[p->n_seeds++];
    c->is_strict = x->fill == SEARCH_STRICT;
    c->is_known = false;
    if (both && p->n_seeds < SEARCH_SEEDS) {
        struct search_candidate *twin = &p->seeds[p->n_seeds++];
        memcpy(twin->order, c->order, p->n * sizeof *c->order);
        twin->is_strict = true;
        twin->is_known = false;
    }
}

/* An order by keys; with victims, once with them in front, so that they keep their GPUs, and once among the others. */
static void seed_by_keys(struct search *x)
{
    struct search_problem *p = &x->problem;
    uint16_t *order = p->seeds[p->n_seeds].order;
    order_by_integers(order, x->keys, p->n);
    if (p->n_victims > 0) {
        memcpy(p->best.order, order, p->n * sizeof *order);
        uint32_t to = 0;
        for (uint32_t i = 0; i < p->n; i++)
            if (search_is_victim(p, p->best.order[i]))
                order[to++] = p->best.order[i];
        for (uint32_t i = 0; i < p->n; i++)
            if (!search_is_victim(p, p->best.order[i]))
                order[to++] = p->best.order[i];
        seed_add(x);
        if (p->n_seeds < SEARCH_SEEDS)
            memcpy(p->seeds[p->n_seeds].order, p->best.order, p->n * sizeof *order);
    }
    if (p->n_seeds < SEARCH_SEEDS)
        seed_add(x);
}

static int64_t hopeful_key(struct sched *s, uint32_t job)
{
    int64_t run = 0, deadline = search_base_key(s, job, BASE_EDF);
    sched_expected_run_ns(s, job, &run);
    return instant_after(sched_now(s), run) <= deadline ? run : instant_after(run, INT64_MAX / 2);
}

/* The order that stands comes first, the last decision and what came since; then those that the objective asks for: a reflex tries but the first. */
static void seeds_make(struct search *x, struct sched *s)
{
    static const enum search_base BASES[] = {BASE_FIFO, BASE_SJF, BASE_SRSF, BASE_SMALLEST};
    struct search_problem *p = &x->problem;
    p->n_seeds = 0;
    for (uint32_t i = 0; i < p->n; i++) /* victims, the window as it stands, the tail */
        x->keys[i] = search_is_victim(p, i) ? (int64_t)i - p->n : (int64_t)i;
    seed_by_keys(x);
    if (x->wanted.weighted_jct > 0) {
        for (uint32_t i = 0; i < p->n; i++)
            x->keys[i] = search_base_key(s, job_of(x, i), BASE_SMITH);
        seed_by_keys(x);
    }
    if (x->wanted.misses > 0) {
        for (uint32_t i = 0; i < p->n; i++)
            x->keys[i] = search_base_key(s, job_of(x, i), BASE_EDF);
        seed_by_keys(x);
        for (uint32_t i = 0; i < p->n; i++) /* shortest first, those that are late whatever happens last */
            x->keys[i] = hopeful_key(s, job_of(x, i));
        seed_by_keys(x);
    }
    for (size_t b = 0; b < sizeof BASES / sizeof *BASES; b++) {
        for (uint32_t i = 0; i < p->n; i++)
            x->keys[i] = search_base_key(s, job_of(x, i), BASES[b]);
        seed_by_keys(x);
    }
}

/* Ascending in score, the earlier first where equal. */
static void seeds_sort(struct search_problem *p)
{
    for (uint32_t i = 1; i < p->n_seeds; i++) {
        struct search_candidate c = p->seeds[i];
        uint32_t k = i;
        for (; k > 0 && p->seeds[k - 1].score > c.score; k--)
            p->seeds[k] = p->seeds[k - 1];
        p->seeds[k] = c;
    }
}

static bool starts_all(const struct search_problem *p)
{
    for (uint32_t i = 0; i < p->n_seeds; i++)
        if (p->seeds[i].terms.n_later == 0)
            return true;
    return false;
}

static void clock_set(struct search *x)
{
    x->problem.until_clock_ns = INT64_MAX;
    if (x->budget_ms <= 0)
        return;
    struct timespec t = {0}; /* the config gave up determinism */
    clock_gettime(CLOCK_MONOTONIC, &t);
    x->problem.until_clock_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + (int64_t)(x->budget_ms * 1e6);
}

/* Look for the best order of the window; false: memory is out. A reflex tries seeds alone. */
static bool look(struct search *x, struct sched *s, bool is_reflex)
{
    struct search_problem *p = &x->problem;
    gsl_rng_set(p->rng, (unsigned long)sched_random(s));
    uint32_t n = p->n_window + p->n_tail + p->n_victims;
    uint32_t n_expected =
        is_reflex || sched_held_gpus(s) == 0 ? 0 : lookout_draw(&x->lookout, s, x->queue.base, p->rng);
    for (uint32_t i = 0; i < n_expected; i++)
        x->weights[n + i] = search_weight(s, x->lookout.jobs[i].like);
    for (uint32_t i = 0; i < n && n_expected > 0; i++)
        x->base_keys[i] = search_base_key(s, x->jobs[i], x->queue.base);
    const struct rollout_window w = {.jobs = x->jobs,
                                     .expected = x->lookout.jobs,
                                     .n_expected = n_expected,
                                     .hold_ns = x->lookout.ahead_ns,
                                     .n_queued = p->n_window + p->n_tail,
                                     .n_victims = p->n_victims,
                                     .weights = x->weights,
                                     .horizon_ns = x->horizon_ns,
                                     .wants_fairness = x->wanted.unfairness > 0};
    if (!rollout_freeze(p->rollout, s, &w))
        return false;
    p->sched = s;

    p->fill = x->fill;
    p->budget = is_reflex ? x->reflex : x->budget;
    p->spent = 0;
    p->is_short = false;
    p->best.is_known = false;
    p->is_regular = x->wanted.idle <= 0 && x->wanted.unfairness <= 0 && x->horizon_ns == 0;
    clock_set(x);
    seeds_make(x, s);
    struct rollout_terms standing;
    search_roll(p, rollout_lane(p->rollout), &p->seeds[0], p->n, NULL, &standing);
    weights_scale(x, &standing);
    p->n_seeds = search_evaluate(p, p->seeds, p->n_seeds);
    seeds_sort(p);
    if (!is_reflex && !starts_all(p) && !p->is_short)
        x->solve(x, p);
    x->pending_gate = is_reflex ? x->queue.gate : INT64_MAX;
    if (n_expected > 0 && !p->is_short)
        x->pending_gate = lookout_gate(&x->lookout, p, x->base_keys);
    return !p->is_short && p->best.is_known;
}

static void decide(struct search *x, struct sched *s, bool is_reflex)
{
    struct search_problem *p = &x->problem;
    int64_t now = sched_now(s);
    window_take(x, s);
    if (p->n_window == 0 || (p->n < 2 && x->lookout.ahead_ns == 0))
        return;
    if (!look(x, s, is_reflex))
        return;
    if (!is_reflex &&
        (!starts_all(p) || x->pending_gate < INT64_MAX)) /* where all start at once nothing was to be decided */
        x->next_ns = instant_after(now, x->period_ns > x->latency_ns ? x->period_ns : x->latency_ns);
    const struct search_candidate *best = &p->best;
    const int64_t *starts = NULL;
    if (p->n_victims > 0) {
        struct rollout_terms again;
        search_roll(p, rollout_lane(p->rollout), best, p->n, NULL, &again);
        starts = rollout_starts(rollout_lane(p->rollout));
    }
    x->n_pending = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t index = best->order[i];
        bool is_victim = search_is_victim(p, index);
        if (is_victim && starts[search_victim(p, index)] == now)
            continue; /* it runs on */
        bool is_tail = !is_victim && index >= p->n_window;
        for (uint32_t k = 0; k < (is_tail ? p->n_tail : 1); k++) {
            x->is_given[x->n_pending] = is_victim;
            x->pending[x->n_pending++] = is_tail ? x->jobs[p->n_window + k] : job_of(x, index);
        }
    }
    x->pending_is_strict = best->is_strict;
    x->is_pending = true;
    x->effect_ns = instant_after(now, x->latency_ns);
    if (x->latency_ns > 0)
        sched_wake_at(s, x->effect_ns);
}

/* The decision becomes the plan. Jobs that have started or ended meanwhile drop out of it. */
static void take_effect(struct search *x, struct sched *s)
{
    uint32_t n = 0;
    x->is_pending = false;
    x->is_strict = x->pending_is_strict;
    for (uint32_t i = 0; i < x->n_pending; i++) {
        uint32_t job = x->pending[i];
        if (x->is_given[i] ? !sched_is_running(s, job) : !sched_is_queued(s, job))
            continue;
        x->is_given[n] = x->is_given[i];
        x->pending[n++] = job;
    }
    search_queue_plan(&x->queue, s, x->pending, n);
    if (x->pending_gate != x->queue.gate)
        search_queue_gate(&x->queue, s, x->pending_gate);
    for (uint32_t i = 0; i < n; i++) {
        if (!x->is_given[i] || sched_preempt(s, x->pending[i]) != SCHED_OK)
            continue;
        leave_running(x, s, x->pending[i]);
        x->parked[x->n_parked++] = x->pending[i];
    }
    if (x->n_parked > 0) {
        x->parked_ns = sched_now(s);
        sched_wake_at(s, instant_after(x->parked_ns, 1));
    }
}

/* ---- a round -------------------------------------------------------------------------------------------- */

/* Can a decision change anything now? */
static bool is_worth_it(const struct search *x, struct sched *s)
{
    if (x->queue.n == 0 || (x->queue.n == 1 && x->running.count == 0 && x->lookout.ahead_ns == 0))
        return false;
    if (x->running.count > 0)
        return true;
    for (uint32_t i = 0; i < x->queue.n_classes; i++) {
        const struct jobset *jobs = &x->queue.classes[i].jobs;
        if (jobs->first != JOBSET_NONE && sched_probe(s, jobset_node(jobs, jobs->first)->job) == SCHED_OK)
            return true;
    }
    return false;
}

/* The first of those that were preempted in this instant, which hold up a strict order. */
static int64_t parked_key(const struct search *x)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < x->n_parked; i++) {
        int64_t key = search_queue_plan_key(&x->queue, x->parked[i]);
        least = key < least ? key : least;
    }
    return least;
}

static void follow(struct search *x, struct sched *s)
{
    int64_t held_up = x->is_strict ? parked_key(x) : INT64_MAX, key = 0;
    uint32_t job = 0;
    search_queue_reopen(&x->queue);
    for (struct search_class *k; (k = search_queue_head(&x->queue, &job, &key)) != NULL;) {
        if (key > held_up)
            return;
        int64_t base = search_base_key(s, job, x->queue.base);
        if (sched_start(s, job) == SCHED_OK) {
            search_queue_remove(&x->queue, s, job, base);
            enter_running(x, s, job);
        } else if (x->is_strict) {
            return;
        } else {
            k->is_closed = true;
        }
    }
}

void search_schedule(void *self, struct sched *s)
{
    struct search *x = self;
    unpark(x, s);
    if (x->is_pending && sched_now(s) >= x->effect_ns)
        take_effect(x, s);
    /* where jobs gave way a nanosecond ago the plan goes on as foretold: else preemption could follow preemption with no time between */
    bool is_due = sched_now(s) >= x->next_ns;
    bool is_under_way = x->parked_ns > 0 && sched_now(s) - x->parked_ns <= 1;
    if (!x->is_pending && !is_under_way && (is_due || x->reflex > 0) && is_worth_it(x, s)) {
        decide(x, s, !is_due);
        if (x->is_pending && x->effect_ns <= sched_now(s))
            take_effect(x, s);
    }
    if (x->queue.gate < INT64_MAX && sched_now(s) >= x->next_ns && !x->is_pending)
        search_queue_gate(&x->queue, s, INT64_MAX);
    follow(x, s);
    if (search_queue_is_holding(&x->queue) && !x->is_pending)
        sched_wake_at(s, x->next_ns);
}
