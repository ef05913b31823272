/* ga.c - a genetic algorithm over orders of the waiting jobs.
 *
 *     genome      a permutation of the window, and one bit: strict or skip
 *     first       the seeds, orders near them, a few random ones
 *     parents     the best of `tournament` drawn ones
 *     children    order crossover (the bit from either parent), then swap, insertion, flip of the bit
 *     next        the `elite` best live on; with `pareto`, NSGA-II: the better half of parents and children together by front and crowding
 */
#include "policies/search.h"
#include "policies/search_pareto.h"

#include <string.h>

enum { POPULATION = SEARCH_N_PARAMS, CROSSOVER, SWAP, INSERT, TOURNAMENT, ELITE, PARETO, N_PARAMS };

enum { RANDOM_IN = 8 }; /* one genome in so many of the first generation is drawn freely */

/* What making one child needs for itself. */
struct slot {
    gsl_rng *rng;
    uint8_t *seen;
};

struct ga {
    struct search base;
    uint32_t population, tournament, elite;
    double crossover, swap, insert;
    enum pareto_choice pareto;
    struct search_candidate *now, *next; /* population; twice as many for `pareto` */
    uint32_t *rank;
    struct pareto_point *points;
    struct slot *slots; /* population */
};

static void maybe_flip(const struct search_problem *p, struct search_candidate *c, gsl_rng *rng)
{
    if (p->fill == SEARCH_BEST && gsl_rng_uniform(rng) < 0.05)
        c->is_strict = !c->is_strict;
}

static void first_generation(struct ga *g, struct search_problem *p)
{
    uint32_t n_seeds = p->n_seeds < g->population ? p->n_seeds : g->population;
    for (uint32_t i = 0; i < g->population; i++) {
        if (i < n_seeds) {
            search_candidate_copy(&g->now[i], &p->seeds[i], p->n);
            continue;
        }
        uint32_t from = (uint32_t)gsl_rng_uniform_int(p->rng, n_seeds);
        search_perturb(p, &g->now[i], &p->seeds[from], 1 + (uint32_t)gsl_rng_uniform_int(p->rng, p->n / 4 + 1));
        if (i % RANDOM_IN == 0)
            order_shuffle(g->now[i].order, p->n, p->rng);
    }
}

static const struct search_candidate *choose_parent(const struct ga *g, gsl_rng *rng)
{
    const struct search_candidate *best = NULL;
    uint32_t best_at = 0;
    for (uint32_t i = 0; i < g->tournament; i++) {
        uint32_t at = (uint32_t)gsl_rng_uniform_int(rng, g->population);
        const struct search_candidate *c = &g->now[at];
        bool is_better = best == NULL;
        if (!is_better && g->pareto != PARETO_NONE)
            is_better = pareto_is_before(&g->points[at], &g->points[best_at]);
        else if (!is_better)
            is_better = c->score < best->score;
        if (is_better) {
            best = c;
            best_at = at;
        }
    }
    return best;
}

static void make_child(void *self, const struct search_problem *p, struct search_candidate *child, uint32_t slot)
{
    const struct ga *g = self;
    gsl_rng *rng = g->slots[slot].rng;
    const struct search_candidate *a = choose_parent(g, rng);
    bool is_new = false;
    search_candidate_copy(child, a, p->n);
    if (gsl_rng_uniform(rng) < g->crossover) {
        const struct search_candidate *b = choose_parent(g, rng);
        uint32_t i = (uint32_t)gsl_rng_uniform_int(rng, p->n), k = (uint32_t)gsl_rng_uniform_int(rng, p->n);
        order_cross(child->order, a->order, b->order, p->n, i < k ? i : k, (i < k ? k : i) + 1, g->slots[slot].seen);
        child->is_strict = gsl_rng_uniform(rng) < 0.5 ? a->is_strict : b->is_strict;
        is_new = true;
    }
    if (gsl_rng_uniform(rng) < g->swap) {
        order_mutate_swap(child->order, p->n, rng);
        is_new = true;
    }
    if (gsl_rng_uniform(rng) < g->insert) {
        order_mutate_insert(child->order, p->n, rng);
        is_new = true;
    }
    if (!is_new && g->swap + g->insert > 0) /* a copy would be tried in vain */
        order_mutate_insert(child->order, p->n, rng);
    maybe_flip(p, child, rng);
    child->is_known = false;
}

/* The `n` best of `all` by index in g->rank, ascending in score; ties by index. */
static void rank_by_score(struct ga *g, const struct search_candidate *all, uint32_t n_all, uint32_t n)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < n_all; i++) {
        uint32_t k = held;
        for (; k > 0 && all[g->rank[k - 1]].score > all[i].score; k--)
            if (k < n)
                g->rank[k] = g->rank[k - 1];
        if (k < n)
            g->rank[k] = i;
        held += held < n;
    }
}

static void exchange(struct search_candidate *a, struct search_candidate *b)
{
    struct search_candidate t = *a;
    *a = *b;
    *b = t;
}

/* Elite and children live on. False: the budget is spent. */
static bool generation(struct ga *g, struct search_problem *p)
{
    uint32_t n_children = g->population - g->elite;
    rank_by_score(g, g->now, g->population, g->elite);
    for (uint32_t i = 0; i < g->elite; i++)
        search_candidate_copy(&g->next[n_children + i], &g->now[g->rank[i]], p->n);
    if (search_make(p, g->next, n_children, make_child, g) < n_children)
        return false;
    struct search_candidate *t = g->now;
    g->now = g->next;
    g->next = t;
    return true;
}

/* ---- NSGA-II (Deb et al., 2002) ---------------------------------------------------------------------- */

static void points_make(struct ga *g, struct search_problem *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        g->points[i].n = search_objectives(p, &g->now[i].terms, g->points[i].value);
    pareto_sort(g->points, n);
}

static bool generation_of_fronts(struct ga *g, struct search_problem *p)
{
    uint32_t n = g->population;
    if (search_make(p, g->now + n, n, make_child, g) < n)
        return false;
    points_make(g, p, 2 * n);
    pareto_order(g->points, 2 * n, g->rank);
    for (uint32_t i = 0; i < n; i++)
        search_candidate_copy(&g->next[i], &g->now[g->rank[i]], p->n);
    for (uint32_t i = 0; i < n; i++)
        exchange(&g->now[i], &g->next[i]);
    points_make(g, p, n);
    return true;
}

static void choose_from_front(struct ga *g, struct search_problem *p)
{
    points_make(g, p, g->population);
    uint32_t chosen = pareto_choose(g->points, g->population, g->pareto);
    search_candidate_copy(&p->best, &g->now[chosen], p->n);
}

static void ga_solve(void *self, struct search_problem *p)
{
    struct ga *g = self;
    double values[SEARCH_TERMS];
    if (p->n_seeds == 0)
        return;
    first_generation(g, p);
    for (uint32_t i = 0; i < g->population; i++)
        gsl_rng_set(g->slots[i].rng, gsl_rng_get(p->rng));
    uint32_t n_seeds = p->n_seeds < g->population ? p->n_seeds : g->population, rest = g->population - n_seeds;
    if (search_evaluate(p, g->now + n_seeds, rest) < rest)
        return;
    if (g->pareto == PARETO_NONE || search_objectives(p, &p->best.terms, values) < 2) {
        while (generation(g, p))
            continue;
        return;
    }
    points_make(g, p, g->population);
    while (generation_of_fronts(g, p))
        continue;
    if (!p->is_short && g->pareto == PARETO_KNEE) /* the least sum of all that was tried is at hand already */
        choose_from_front(g, p);
}

static void ga_fini(void *self)
{
    struct ga *g = self;
    for (uint32_t i = 0; i < g->population && g->slots != NULL; i++)
        if (g->slots[i].rng != NULL)
            gsl_rng_free(g->slots[i].rng);
    search_fini(&g->base);
}

static int ga_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct ga *g = self;
    const char *pareto = v[PARETO].s;
    g->population = (uint32_t)v[POPULATION].i;
    g->crossover = v[CROSSOVER].f;
    g->swap = v[SWAP].f;
    g->insert = v[INSERT].f;
    g->tournament = (uint32_t)v[TOURNAMENT].i;
    g->elite = v[ELITE].i < g->population ? (uint32_t)v[ELITE].i : g->population - 1;
    g->pareto = strcmp(pareto, "knee") == 0      ? PARETO_KNEE
                : strcmp(pareto, "weights") == 0 ? PARETO_WEIGHTS
                                                 : PARETO_NONE;
    int code = search_init(&g->base, s, v, ga_solve, err);
    if (code != BRAID_OK)
        return code;
    uint32_t room = 2 * g->population, most = search_most(&g->base);
    g->now = sched_alloc(s, room, sizeof *g->now);
    g->next = sched_alloc(s, room, sizeof *g->next);
    g->rank = sched_alloc(s, room, sizeof *g->rank);
    g->points = sched_alloc(s, room, sizeof *g->points);
    g->slots = sched_alloc(s, g->population, sizeof *g->slots);
    bool is_ready = g->now != NULL && g->next != NULL && g->rank != NULL && g->points != NULL && g->slots != NULL;
    for (uint32_t i = 0; i < g->population && is_ready; i++) {
        g->slots[i].rng = gsl_rng_alloc(gsl_rng_taus2);
        g->slots[i].seen = sched_alloc(s, most, 1);
        is_ready = g->slots[i].rng != NULL && g->slots[i].seen != NULL;
    }
    for (uint32_t i = 0; i < room && is_ready; i++)
        is_ready = search_candidate_init(&g->now[i], s, most) && search_candidate_init(&g->next[i], s, most);
    if (!is_ready)
        ga_fini(g);
    return is_ready ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static const struct param_spec ga_params[] = {
    SEARCH_PARAMS("200", "0 s"),
    [POPULATION] = {"population", PARAM_INT, "10", 2, 1000, "", NULL, "orders of a generation"},
    [CROSSOVER] = {"crossover", PARAM_NUMBER, "0.9", 0, 1, "", NULL, "share of children of two parents"},
    [SWAP] = {"swap", PARAM_NUMBER, "0.3", 0, 1, "", NULL, "share of children in which two jobs change places"},
    [INSERT] = {"insert", PARAM_NUMBER, "0.5", 0, 1, "", NULL, "share of children in which a job is put elsewhere"},
    [TOURNAMENT] = {"tournament", PARAM_INT, "3", 1, 100, "", NULL, "drawn ones of which the best becomes a parent"},
    [ELITE] = {"elite", PARAM_INT, "2", 0, 999, "", NULL, "best orders that live on (less than the population)"},
    [PARETO] = {"pareto", PARAM_CHOICE, "none", 0, 0, "", "none|weights|knee",
                "keep a front of terms with weights (NSGA-II) and take from it: the least weighted sum, or the knee"},
};

SEARCH_POLICY_FINI(policy_ga, "ga", "Genetic algorithm over orders of the waiting jobs",
                   "Holland, 1975; order crossover: Davis, IJCAI'85; NSGA-II: Deb et al., TEC 6(2), 2002", ga_params,
                   ga, ga_init, ga_fini);
