/* planner.c - the best order of a short queue, exactly; a longer one by insertions.
 *
 * All orders are gone through in the manner of a counter, the best seed first. A rollout stops as soon as its start of an order cannot come to
 * less than the best one known; then all orders with that start are passed over:
 *
 *     3 0 5 | 1 4 2      stopped when three had started: next is  3 0 [the one after 5] | ...
 *
 * Of jobs that are alike in all that counts, only orders with the earlier one first are looked at. Strict orders are enough where the placement
 * counts GPUs alone: some best schedule starts the jobs in its order of starts, each as early as may be. With nodes to be filled an order that
 * skips may do better; the seeds have some of these. With terms that may get better when a job ends later (utilization, fairness, a horizon) no
 * order is stopped early.
 */
#include "policies/search_insert.h"

#include <string.h>

enum { EXACT = SEARCH_N_PARAMS, N_PARAMS };

enum { EXACT_MOST = 12, WARM_UP = 12 }; /* WARM_UP: insertions a job before the count begins */

struct planner {
    struct search base;
    uint32_t exact;
    struct insertion insertion;
    struct search_candidate try;
    uint16_t *start;
    uint32_t *place, *twin; /* by job: in `start`; the one alike before it there, or itself */
};

static bool are_alike(const struct search *x, const struct search_problem *p, uint32_t a, uint32_t b)
{
    struct sched *s = p->sched;
    int64_t run_a = 0, run_b = 0, due_a = 0, due_b = 0;
    uint32_t i = x->jobs[a], k = x->jobs[b];
    sched_run_ns(s, i, &run_a);
    sched_run_ns(s, k, &run_b);
    bool has_a = sched_deadline_ns(s, i, &due_a) == SCHED_OK, has_b = sched_deadline_ns(s, k, &due_b) == SCHED_OK;
    return sched_demand(s, i) == sched_demand(s, k) && run_a == run_b && has_a == has_b && due_a == due_b &&
           x->weights[a] == x->weights[b] &&
           (p->is_regular || (sched_user(s, i) == sched_user(s, k) && sched_submit_ns(s, i) == sched_submit_ns(s, k)));
}

/* Orders are compared by places in `start`. The next one that differs at position `at` or before; false: there is none. */
static bool next_order(const struct planner *x, uint16_t *order, uint32_t n, uint32_t at)
{
    for (uint32_t i = at + 1; i-- > 0;) {
        uint32_t best = UINT32_MAX; /* the least job behind i that is larger than the one there */
        for (uint32_t k = i + 1; k < n; k++)
            if (x->place[order[k]] > x->place[order[i]] &&
                (best == UINT32_MAX || x->place[order[k]] < x->place[order[best]]))
                best = k;
        if (best == UINT32_MAX)
            continue;
        order_swap(order, i, best);
        for (uint32_t k = i + 2; k < n; k++) { /* the rest ascending */
            uint32_t to = k;
            for (; to > i + 1 && x->place[order[to - 1]] > x->place[order[to]]; to--)
                order_swap(order, to - 1, to);
        }
        return true;
    }
    return false;
}

/* The first position whose job comes before one alike that ought to come first; n: none. */
static uint32_t first_twisted(const struct planner *x, const uint16_t *order, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t twin = x->twin[order[i]];
        if (twin != order[i] && (seen >> twin & 1) == 0)
            return i;
        seen |= UINT32_C(1) << order[i];
    }
    return n;
}

static void begin(struct planner *x, const struct search_problem *p)
{
    uint32_t n = p->n;
    memcpy(x->start, p->best.order, n * sizeof *x->start);
    memcpy(x->try.order, x->start, n * sizeof *x->start);
    x->try.is_strict = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t job = x->start[i];
        x->place[job] = i;
        x->twin[job] = job;
        for (uint32_t k = i; k-- > 0 && x->twin[job] == job;)
            if (are_alike(&x->base, p, x->start[k], job))
                x->twin[job] = x->start[k];
    }
}

/* Roll the order out; the first position at which the next one must differ. */
static uint32_t try_order(struct planner *x, struct search_problem *p)
{
    struct search_candidate *c = &x->try;
    const struct rollout_limit limit = {&p->weights, p->best.score * (1 - 2e-9)}; /* a tie is of no use */
    const struct rollout_plan plan = {c->order, p->n, true};
    uint32_t started = rollout_run(rollout_lane(p->rollout), &plan, p->is_regular ? &limit : NULL, &c->terms);
    if (started == ROLLOUT_WHOLE) {
        c->score = rollout_score(&c->terms, &p->weights);
        c->is_known = true;
        search_offer(p, c);
    }
    if (p->curve != NULL)
        p->curve[p->spent] = p->best.score;
    p->spent++;
    return started == ROLLOUT_WHOLE ? p->n - 1 : started - 1;
}

static void planner_solve(void *self, struct search_problem *p)
{
    struct planner *x = self;
    if (p->n > x->exact || p->n_window < p->n || p->fill == SEARCH_SKIP || p->n_seeds == 0) {
        insertion_build(&x->insertion, p);
        insertion_iterate(&x->insertion, p);
        return;
    }
    uint32_t budget = p->budget; /* a good order early stops many others early */
    p->budget = budget - p->spent < WARM_UP * p->n ? budget : p->spent + WARM_UP * p->n;
    insertion_iterate(&x->insertion, p);
    p->budget = budget;
    begin(x, p);
    bool has_next = true;
    while (has_next && !search_is_over(p)) {
        uint32_t at = first_twisted(x, x->try.order, p->n);
        if (at == p->n)
            at = try_order(x, p);
        has_next = next_order(x, x->try.order, p->n, at);
    }
}

static int planner_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct planner *x = self;
    int code = search_init(&x->base, s, v, planner_solve, err);
    if (code != BRAID_OK)
        return code;
    uint32_t most = search_most(&x->base);
    x->exact = (uint32_t)v[EXACT].i;
    x->start = sched_alloc(s, EXACT_MOST, sizeof *x->start);
    x->place = sched_alloc(s, EXACT_MOST, sizeof *x->place);
    x->twin = sched_alloc(s, EXACT_MOST, sizeof *x->twin);
    if (insertion_init(&x->insertion, s, most, 3) && search_candidate_init(&x->try, s, most) && x->start != NULL &&
        x->place != NULL && x->twin != NULL)
        return BRAID_OK;
    search_fini(&x->base);
    return error_set(err, BRAID_FAILED, "out of memory");
}

static const struct param_spec planner_params[] = {
    SEARCH_PARAMS("20000", "0 s"),
    [EXACT] = {"exact", PARAM_INT, "8", 1, EXACT_MOST, "", NULL,
               "the longest queue that is ordered exactly (as far as the budget goes)"},
};

SEARCH_POLICY(policy_planner, "planner", "The best order of a short queue, exactly; longer ones by insertions",
              "branch and bound over list schedules: Brucker and Knust, Complex Scheduling, 2006, ch. 3",
              planner_params, planner, planner_init);
