#include "policies/search_problem.h"

#include <string.h>
#include <time.h>

bool search_candidate_init(struct search_candidate *c, struct sched *s, uint32_t most)
{
    *c = (struct search_candidate){.order = sched_alloc(s, most, sizeof *c->order)};
    return c->order != NULL;
}

void search_candidate_copy(struct search_candidate *to, const struct search_candidate *from, uint32_t n)
{
    uint16_t *order = to->order;
    memcpy(order, from->order, n * sizeof *order);
    *to = *from;
    to->order = order;
}

bool search_problem_init(struct search_problem *p, struct sched *s, uint32_t most)
{
    bool is_ready = search_candidate_init(&p->best, s, most);
    for (uint32_t i = 0; i < SEARCH_SEEDS; i++)
        is_ready &= search_candidate_init(&p->seeds[i], s, most);
    p->seen = sched_alloc(s, most, 1);
    return is_ready && p->seen != NULL;
}

bool search_is_over(const struct search_problem *p)
{
    if (p->spent >= p->budget || p->is_short)
        return true;
    if (p->until_clock_ns == INT64_MAX)
        return false;
    struct timespec t = {0}; /* only where the config gave up determinism */
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec >= p->until_clock_ns;
}

void search_offer(struct search_problem *p, const struct search_candidate *c)
{
    if (!p->best.is_known || c->score < p->best.score)
        search_candidate_copy(&p->best, c, p->n);
}

/* The rollout's window is: window, tail, victims. */
uint32_t search_roll(const struct search_problem *p, struct rollout_lane *lane, const struct search_candidate *c,
                     uint32_t n, const struct rollout_limit *limit, struct rollout_terms *out)
{
    struct rollout_plan plan = {.order = c->order, .n = n, .is_strict = c->is_strict};
    if (p->n_tail > 0) {
        uint16_t *whole = rollout_scratch(lane);
        plan.order = whole;
        plan.n = search_write(p, c, n, whole);
    }
    return rollout_run(lane, &plan, limit, out);
}

uint32_t search_write(const struct search_problem *p, const struct search_candidate *c, uint32_t n, uint16_t *out)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (c->order[i] < p->n_window) {
            out[to++] = c->order[i];
        } else if (search_is_victim(p, c->order[i])) {
            out[to++] = (uint16_t)search_victim(p, c->order[i]);
        } else {
            for (uint32_t k = 0; k < p->n_tail; k++)
                out[to++] = (uint16_t)(p->n_window + k);
        }
    }
    return to;
}

struct batch {
    struct search_problem *p;
    struct search_candidate *c;
    search_maker make;
    void *self;
};

static void evaluate_one(void *self, struct rollout_lane *lane, uint32_t i)
{
    struct batch *b = self;
    struct search_candidate *c = &b->c[i];
    if (b->make != NULL)
        b->make(b->self, b->p, c, i);
    if (c->is_known)
        return;
    search_roll(b->p, lane, c, b->p->n, NULL, &c->terms);
    c->score = rollout_score(&c->terms, &b->p->weights);
    c->is_known = true;
}

uint32_t search_evaluate(struct search_problem *p, struct search_candidate *c, uint32_t n)
{
    return search_make(p, c, n, NULL, NULL);
}

uint32_t search_make(struct search_problem *p, struct search_candidate *c, uint32_t n, search_maker make, void *self)
{
    if (search_is_over(p))
        return 0;
    n = n < p->budget - p->spent ? n : p->budget - p->spent;
    struct batch b = {p, c, make, self};
    if (!rollout_parallel(p->rollout, n, evaluate_one, &b))
        p->is_short = true;
    for (uint32_t i = 0; i < n; i++) {
        search_offer(p, &c[i]);
        if (p->curve != NULL)
            p->curve[p->spent + i] = p->best.score;
    }
    p->spent += n;
    return n;
}

void search_perturb(struct search_problem *p, struct search_candidate *c, const struct search_candidate *from,
                    uint32_t steps)
{
    search_candidate_copy(c, from, p->n);
    c->is_known = false;
    for (uint32_t i = 0; i < steps; i++)
        order_mutate_insert(c->order, p->n, p->rng);
}

uint32_t search_objectives(const struct search_problem *p, const struct rollout_terms *t, double out[SEARCH_TERMS])
{
    const struct rollout_weights *w = &p->weights;
    const double weights[SEARCH_TERMS] = {w->jct, w->weighted_jct, w->makespan, w->idle, w->unfairness, w->misses};
    const double terms[SEARCH_TERMS] = {t->jct_s, t->weighted_jct_s, t->makespan_s,
                                        t->idle,  t->unfairness,     t->miss_rate};
    uint32_t n = 0;
    for (int k = 0; k < SEARCH_TERMS; k++)
        if (weights[k] > 0)
            out[n++] = weights[k] * terms[k];
    return n;
}
