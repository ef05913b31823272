#include "policies/search_insert.h"

#include <string.h>

bool insertion_init(struct insertion *x, struct sched *s, uint32_t most, uint32_t taken_out)
{
    x->taken_out = taken_out;
    x->start = sched_alloc(s, most, sizeof *x->start);
    x->partial = sched_alloc(s, most, sizeof *x->partial);
    x->out = sched_alloc(s, most, sizeof *x->out);
    x->keys = sched_alloc(s, most, sizeof *x->keys);
    bool is_ready = x->start != NULL && x->partial != NULL && x->out != NULL && x->keys != NULL;
    for (uint32_t i = 0; i < INSERTION_PLACES && is_ready; i++)
        is_ready = search_candidate_init(&x->try[i], s, most);
    return is_ready;
}

struct tries {
    struct insertion *x;
    struct search_problem *p;
    uint32_t length; /* of the orders tried */
};

static void try_one(void *self, struct rollout_lane *lane, uint32_t i)
{
    struct tries *t = self;
    struct search_candidate *c = &t->x->try[i];
    search_roll(t->p, lane, c, t->length, NULL, &c->terms);
    c->score = rollout_score(&c->terms, &t->p->weights);
    c->is_known = true;
}

/* Put `job` into `order` of length n at the best of up to `most` places; false: the budget is spent. */
static bool insert_best(struct insertion *x, struct search_problem *p, uint16_t *order, uint32_t n, uint16_t job,
                        bool is_strict, uint32_t most)
{
    uint32_t n_places = n + 1 < most ? n + 1 : most;
    n_places = n_places < INSERTION_PLACES ? n_places : INSERTION_PLACES;
    if (search_is_over(p))
        return false;
    n_places = n_places < p->budget - p->spent ? n_places : p->budget - p->spent;
    for (uint32_t i = 0; i < n_places; i++) {
        uint32_t at = n_places > 1 ? (uint32_t)((uint64_t)i * n / (n_places - 1)) : n;
        struct search_candidate *c = &x->try[i];
        memcpy(c->order, order, at * sizeof *order);
        c->order[at] = job;
        memcpy(c->order + at + 1, order + at, (n - at) * sizeof *order);
        c->is_strict = is_strict;
        c->is_known = false;
    }
    struct tries t = {x, p, n + 1};
    if (!rollout_parallel(p->rollout, n_places, try_one, &t))
        p->is_short = true;
    uint32_t best = 0;
    for (uint32_t i = 0; i < n_places; i++) {
        best = x->try[i].score < x->try[best].score ? i : best;
        if (n + 1 == p->n)
            search_offer(p, &x->try[i]);
        if (p->curve != NULL)
            p->curve[p->spent + i] = p->best.score;
    }
    p->spent += n_places;
    memcpy(order, x->try[best].order, (n + 1) * sizeof *order);
    return true;
}

void insertion_build(struct insertion *x, struct search_problem *p)
{
    if (search_is_over(p))
        return;
    for (uint32_t i = 0; i < p->n; i++)
        x->keys[i] = -p->service_s[i];
    order_by_keys(x->start, x->keys, p->n);
    uint32_t most = (p->budget - p->spent) / 2 / p->n, n = 0;
    most = most > 2 ? most : 2;
    while (n < p->n && insert_best(x, p, x->partial, n, x->start[n], p->best.is_strict, most))
        n++;
}

void insertion_iterate(struct insertion *x, struct search_problem *p)
{
    while (!search_is_over(p)) {
        uint32_t n = p->n, n_out = x->taken_out < n ? x->taken_out : n;
        memcpy(x->partial, p->best.order, n * sizeof *x->partial);
        for (uint32_t k = 0; k < n_out; k++) {
            uint32_t at = (uint32_t)gsl_rng_uniform_int(p->rng, n);
            x->out[k] = x->partial[at];
            n--;
            memmove(x->partial + at, x->partial + at + 1, (n - at) * sizeof *x->partial);
        }
        bool is_strict = p->best.is_strict;
        if (p->fill == SEARCH_BEST && gsl_rng_uniform(p->rng) < 0.1)
            is_strict = !is_strict;
        for (uint32_t k = 0; k < n_out; k++)
            if (!insert_best(x, p, x->partial, n + k, x->out[k], is_strict, INSERTION_PLACES))
                return;
    }
}
