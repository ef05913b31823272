/* sa.c - simulated annealing over orders of the waiting jobs, with reheating.
 *
 *     `chains` anneal at the same time, each with its own stream of random numbers; one that has spent its share of a stage waits for the
 *     others. There are `reheats` + 1 stages: at the end of one all chains go on from the best so far, warm again, to `reheat` of the
 *     temperature at which they began.
 *
 *     T0   mean worsening of the first moves / ln(1 / acceptance): so many of them are taken
 *     T    falls geometrically to `cold` x its start within a stage
 *
 * A move is taken when score - old <= -T ln(u). u is drawn first, so the rollout of a hopeless move stops as soon as it must pass that.
 *
 * GSL's gsl_siman_solve does not serve here: it has one chain, no reheating, no limit in evaluations, and it evaluates every move whole.
 */
#include "policies/search.h"

#include <math.h>
#include <string.h>

enum { CHAINS = SEARCH_N_PARAMS, REHEATS, REHEAT, ACCEPTANCE, COLD, SWAP, INSERT, BLOCK, N_PARAMS };

enum { SAMPLES = 8 }; /* moves from which the first temperature is taken */

struct chain {
    gsl_rng *rng;
    struct search_candidate now, best, next;
    double t0;
    uint32_t budget, spent;
};

struct sa {
    struct search base;
    uint32_t n_chains, reheats;
    double reheat, acceptance, cold, swap, insert, block;
    struct chain *chains;
    double heat; /* of the present stage: part of t0 at its start */
};

static void move(const struct sa *a, const struct search_problem *p, struct chain *c)
{
    double all = a->swap + a->insert + a->block, u = gsl_rng_uniform(c->rng) * all;
    search_candidate_copy(&c->next, &c->now, p->n);
    c->next.is_known = false;
    if (p->fill == SEARCH_BEST && gsl_rng_uniform(c->rng) < 0.02)
        c->next.is_strict = !c->next.is_strict;
    if (u < a->swap)
        order_mutate_swap(c->next.order, p->n, c->rng);
    else if (u < a->swap + a->block)
        order_mutate_block(c->next.order, p->n, c->rng);
    else
        order_mutate_insert(c->next.order, p->n, c->rng);
}

/* The score of the next candidate, infinite when it passes `most`. */
static double evaluate(struct chain *c, const struct search_problem *p, struct rollout_lane *lane, double most)
{
    const struct rollout_limit limit = {&p->weights, most};
    c->spent++;
    if (search_roll(p, lane, &c->next, p->n, isfinite(most) ? &limit : NULL, &c->next.terms) != ROLLOUT_WHOLE)
        return INFINITY;
    c->next.is_known = true;
    return c->next.score = rollout_score(&c->next.terms, &p->weights);
}

static void accept(struct chain *c, uint32_t n)
{
    search_candidate_copy(&c->now, &c->next, n);
    if (c->next.score < c->best.score)
        search_candidate_copy(&c->best, &c->next, n);
}

/* The first temperature of a chain: a short walk that takes only what is better. */
static void sample(const struct sa *a, const struct search_problem *p, struct chain *c, struct rollout_lane *lane)
{
    double worse = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < SAMPLES && c->spent < c->budget; i++) {
        move(a, p, c);
        double score = evaluate(c, p, lane, INFINITY);
        if (score > c->now.score) {
            worse += score - c->now.score;
            n++;
        } else {
            accept(c, p->n);
        }
    }
    c->t0 = n > 0 ? worse / n / -log(a->acceptance) : 0;
}

struct stage {
    struct sa *a;
    struct search_problem *p;
};

static void anneal(void *self, struct rollout_lane *lane, uint32_t i)
{
    const struct stage *g = self;
    const struct sa *a = g->a;
    const struct search_problem *p = g->p;
    struct chain *c = &a->chains[i];
    c->spent = 0;
    if (c->t0 < 0)
        sample(a, p, c, lane);
    double t = c->t0 * a->heat, steps = c->budget > c->spent ? c->budget - c->spent : 1;
    double factor = pow(a->cold, 1 / steps);
    for (; c->spent < c->budget; t *= factor) {
        move(a, p, c);
        double most = c->now.score - t * log(gsl_rng_uniform_pos(c->rng));
        if (evaluate(c, p, lane, most) <= most)
            accept(c, p->n);
    }
}

/* Shares of a stage: the budget that is left, evenly over the stages and chains to come. */
static uint32_t share(struct sa *a, const struct search_problem *p, uint32_t stages)
{
    uint32_t left = (p->budget - p->spent) / stages, all = 0;
    for (uint32_t i = 0; i < a->n_chains; i++) {
        a->chains[i].budget = left / a->n_chains + (i < left % a->n_chains);
        all += a->chains[i].budget;
    }
    return all;
}

static void sa_solve(void *self, struct search_problem *p)
{
    struct sa *a = self;
    if (p->n_seeds == 0 || p->n < 2)
        return;
    for (uint32_t i = 0; i < a->n_chains; i++) {
        struct chain *c = &a->chains[i];
        const struct search_candidate *from = &p->seeds[i % p->n_seeds];
        gsl_rng_set(c->rng, gsl_rng_get(p->rng));
        search_candidate_copy(&c->now, from, p->n);
        search_candidate_copy(&c->best, from, p->n);
        c->t0 = -1;
    }
    a->heat = 1;
    for (uint32_t stages = a->reheats + 1; stages > 0 && !search_is_over(p); stages--, a->heat *= a->reheat) {
        struct stage g = {a, p};
        uint32_t all = share(a, p, stages);
        if (!rollout_parallel(p->rollout, a->n_chains, anneal, &g))
            p->is_short = true;
        for (uint32_t i = 0; i < a->n_chains; i++) {
            search_offer(p, &a->chains[i].best);
            if (p->curve != NULL) /* known at the end of the stage alone */
                for (uint32_t k = 0; k < a->chains[i].budget; k++)
                    p->curve[p->spent++] = p->best.score;
        }
        p->spent += p->curve != NULL ? 0 : all;
        for (uint32_t i = 0; i < a->n_chains; i++)
            search_candidate_copy(&a->chains[i].now, &p->best, p->n);
    }
}

static void sa_fini(void *self)
{
    struct sa *a = self;
    for (uint32_t i = 0; i < a->n_chains && a->chains != NULL; i++)
        if (a->chains[i].rng != NULL)
            gsl_rng_free(a->chains[i].rng);
    search_fini(&a->base);
}

static int sa_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct sa *a = self;
    a->n_chains = (uint32_t)v[CHAINS].i;
    a->reheats = (uint32_t)v[REHEATS].i;
    a->reheat = v[REHEAT].f;
    a->acceptance = v[ACCEPTANCE].f;
    a->cold = v[COLD].f;
    a->swap = v[SWAP].f;
    a->insert = v[INSERT].f;
    a->block = v[BLOCK].f;
    if (a->swap + a->insert + a->block <= 0)
        return error_set(err, BRAID_BAD_INPUT, "swap, insert and block are all 0; give one of these moves a share");
    int code = search_init(&a->base, s, v, sa_solve, err);
    if (code != BRAID_OK)
        return code;
    uint32_t most = search_most(&a->base);
    a->chains = sched_alloc(s, a->n_chains, sizeof *a->chains);
    bool is_ready = a->chains != NULL;
    for (uint32_t i = 0; i < a->n_chains && is_ready; i++) {
        struct chain *c = &a->chains[i];
        is_ready = search_candidate_init(&c->now, s, most) && search_candidate_init(&c->best, s, most) &&
                   search_candidate_init(&c->next, s, most) && (c->rng = gsl_rng_alloc(gsl_rng_taus2)) != NULL;
    }
    if (!is_ready)
        sa_fini(a);
    return is_ready ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static const struct param_spec sa_params[] = {
    SEARCH_PARAMS("200", "0 s"),
    [CHAINS] = {"chains", PARAM_INT, "4", 1, 64, "", NULL, "chains that anneal at the same time"},
    [REHEATS] = {"reheats", PARAM_INT, "2", 0, 1000, "", NULL, "how often they are warmed again"},
    [REHEAT] = {"reheat", PARAM_NUMBER, "0.5", 0, 1, "", NULL, "temperature after that, of the one before"},
    [ACCEPTANCE] = {"acceptance", PARAM_NUMBER, "0.2", 0.001, 0.999, "", NULL,
                    "share of worse moves that is taken at first"},
    [COLD] = {"cold", PARAM_NUMBER, "0.01", 1e-6, 1, "", NULL,
              "temperature at the end of a stage, of that at its start"},
    [SWAP] = {"swap", PARAM_NUMBER, "0.3", 0, 1, "", NULL, "share of moves in which two jobs change places"},
    [INSERT] = {"insert", PARAM_NUMBER, "0.5", 0, 1, "", NULL, "share of moves in which a job is put elsewhere"},
    [BLOCK] = {"block", PARAM_NUMBER, "0.2", 0, 1, "", NULL,
               "share of moves in which up to 8 jobs are put elsewhere together"},
};

SEARCH_POLICY_FINI(policy_sa, "sa", "Simulated annealing over orders of the waiting jobs, with reheating",
                   "Kirkpatrick, Gelatt, Vecchi, Science 220, 1983; reheating: Osman, Annals of OR 41, 1993", sa_params,
                   sa, sa_init, sa_fini);
