/* pso.c - a swarm of particles over random keys: a particle is a key a job, and the order is that of its keys; one more key decides between
 * strict (above a half) and skip. Each is drawn towards its own best and that of its neighbours:
 *
 *     v = inertia v + cognitive r1 (own best - x) + social r2 (neighbours' best - x)       x = x + v       (r1, r2 anew for each key)
 *
 *     global   the neighbours are all: quick
 *     ring     the one before and the one behind: slower to agree, wider in search
 *
 * Keys live in [0, 1] and bounce off its ends; speeds are at most `speed`. When the best has not got better for `stagnation` rounds, the
 * worse half of the swarm starts anew.
 */
#include "policies/search.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum { PARTICLES = SEARCH_N_PARAMS, INERTIA, COGNITIVE, SOCIAL, SPEED, TOPOLOGY, STAGNATION, N_PARAMS };

struct particle {
    double *key, *velocity, *best_key; /* n + 1 */
    double best_score;
    gsl_rng *rng;
    const double *towards; /* of its neighbours, while it flies */
};

struct pso {
    struct search base;
    uint32_t n_particles, stagnation;
    double inertia, cognitive, social, speed;
    bool is_ring;
    struct particle *particles;
    struct search_candidate *candidates; /* one a particle */
    uint32_t *rank;
    double *scores;
};

/* Keys that stand for an order: in the middle of the n-ths. */
static void keys_from(double *key, const struct search_candidate *c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        key[c->order[i]] = (i + 0.5) / n;
    key[n] = c->is_strict ? 0.75 : 0.25;
}

static void candidate_from(const struct search_problem *p, struct search_candidate *c, const double *key)
{
    order_by_keys(c->order, key, p->n);
    c->is_strict = p->fill == SEARCH_STRICT || (p->fill == SEARCH_BEST && key[p->n] > 0.5);
    c->is_known = false;
}

static double bounced(double x)
{
    x = fabs(x);
    return x > 1 ? fmax(0, 2 - x) : x;
}

/* A particle begins: on a seed, near one, or anywhere. */
static void particle_begin(struct pso *o, struct search_problem *p, uint32_t i, bool is_anew)
{
    struct particle *q = &o->particles[i];
    uint32_t n = p->n;
    if (!is_anew && i < p->n_seeds) {
        keys_from(q->key, &p->seeds[i], n);
    } else if (i % 2 == 0) {
        keys_from(q->key, is_anew ? &p->best : &p->seeds[gsl_rng_uniform_int(p->rng, p->n_seeds)], n);
        for (uint32_t k = 0; k <= n; k++)
            q->key[k] = bounced(q->key[k] + gsl_ran_gaussian(p->rng, 0.1));
    } else {
        for (uint32_t k = 0; k <= n; k++)
            q->key[k] = gsl_rng_uniform(p->rng);
    }
    for (uint32_t k = 0; k <= n; k++)
        q->velocity[k] = o->speed * (2 * gsl_rng_uniform(p->rng) - 1) / 2;
    q->best_score = INFINITY;
    memcpy(q->best_key, q->key, (n + 1) * sizeof *q->key);
    gsl_rng_set(q->rng, gsl_rng_get(p->rng));
    candidate_from(p, &o->candidates[i], q->key);
}

static uint32_t neighbours_best(const struct pso *o, uint32_t i)
{
    uint32_t n = o->n_particles, best = 0;
    if (!o->is_ring) {
        for (uint32_t k = 1; k < n; k++)
            best = o->particles[k].best_score < o->particles[best].best_score ? k : best;
        return best;
    }
    best = i;
    const uint32_t beside[2] = {(i + n - 1) % n, (i + 1) % n};
    for (int k = 0; k < 2; k++)
        best = o->particles[beside[k]].best_score < o->particles[best].best_score ? beside[k] : best;
    return best;
}

static void particle_fly(void *self, const struct search_problem *p, struct search_candidate *c, uint32_t i)
{
    struct pso *o = self;
    struct particle *q = &o->particles[i];
    for (uint32_t k = 0; k <= p->n; k++) {
        double r1 = gsl_rng_uniform(q->rng), r2 = gsl_rng_uniform(q->rng);
        double v = o->inertia * q->velocity[k] + o->cognitive * r1 * (q->best_key[k] - q->key[k]) +
                   o->social * r2 * (q->towards[k] - q->key[k]);
        v = fmin(o->speed, fmax(-o->speed, v));
        double x = q->key[k] + v;
        q->velocity[k] = x < 0 || x > 1 ? -v : v;
        q->key[k] = bounced(x);
    }
    candidate_from(p, c, q->key);
}

/* The swarm flies, when it has somewhere to go, and is evaluated; false when the budget is spent. */
static bool evaluate(struct pso *o, struct search_problem *p, bool flies)
{
    uint32_t done = search_make(p, o->candidates, o->n_particles, flies ? particle_fly : NULL, o);
    for (uint32_t i = 0; i < done; i++) {
        struct particle *q = &o->particles[i];
        if (o->candidates[i].score < q->best_score) {
            q->best_score = o->candidates[i].score;
            memcpy(q->best_key, q->key, (p->n + 1) * sizeof *q->key);
        }
    }
    return done == o->n_particles;
}

/* The worse half begins anew, near the best or anywhere. */
static void restart(struct pso *o, struct search_problem *p)
{
    for (uint32_t i = 0; i < o->n_particles; i++)
        o->scores[i] = o->particles[i].best_score;
    for (uint32_t i = 0; i < o->n_particles; i++) {
        uint32_t k = i;
        for (; k > 0 && o->scores[o->rank[k - 1]] > o->scores[i]; k--)
            o->rank[k] = o->rank[k - 1];
        o->rank[k] = i;
    }
    for (uint32_t i = (o->n_particles + 1) / 2; i < o->n_particles; i++)
        particle_begin(o, p, o->rank[i], true);
}

static void pso_solve(void *self, struct search_problem *p)
{
    struct pso *o = self;
    if (p->n_seeds == 0)
        return;
    for (uint32_t i = 0; i < o->n_particles; i++)
        particle_begin(o, p, i, false);
    double last_best = INFINITY;
    uint32_t stagnant = 0;
    for (bool flies = false; evaluate(o, p, flies); flies = true) {
        stagnant = p->best.score < last_best ? 0 : stagnant + 1;
        last_best = p->best.score;
        if (o->stagnation > 0 && stagnant >= o->stagnation) {
            restart(o, p);
            stagnant = 0;
        }
        for (uint32_t i = 0; i < o->n_particles; i++)
            o->particles[i].towards = o->particles[neighbours_best(o, i)].best_key;
    }
}

static void pso_fini(void *self)
{
    struct pso *o = self;
    for (uint32_t i = 0; i < o->n_particles && o->particles != NULL; i++)
        if (o->particles[i].rng != NULL)
            gsl_rng_free(o->particles[i].rng);
    search_fini(&o->base);
}

static int pso_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct pso *o = self;
    o->n_particles = (uint32_t)v[PARTICLES].i;
    o->inertia = v[INERTIA].f;
    o->cognitive = v[COGNITIVE].f;
    o->social = v[SOCIAL].f;
    o->speed = v[SPEED].f;
    o->is_ring = strcmp(v[TOPOLOGY].s, "ring") == 0;
    o->stagnation = (uint32_t)v[STAGNATION].i;
    int code = search_init(&o->base, s, v, pso_solve, err);
    if (code != BRAID_OK)
        return code;
    uint32_t most = search_most(&o->base);
    o->particles = sched_alloc(s, o->n_particles, sizeof *o->particles);
    o->candidates = sched_alloc(s, o->n_particles, sizeof *o->candidates);
    o->rank = sched_alloc(s, o->n_particles, sizeof *o->rank);
    o->scores = sched_alloc(s, o->n_particles, sizeof *o->scores);
    bool is_ready = o->particles != NULL && o->candidates != NULL && o->rank != NULL && o->scores != NULL;
    for (uint32_t i = 0; i < o->n_particles && is_ready; i++) {
        struct particle *q = &o->particles[i];
        q->key = sched_alloc(s, (size_t)most + 1, sizeof *q->key);
        q->velocity = sched_alloc(s, (size_t)most + 1, sizeof *q->velocity);
        q->best_key = sched_alloc(s, (size_t)most + 1, sizeof *q->best_key);
        q->rng = gsl_rng_alloc(gsl_rng_taus2);
        is_ready = q->rng != NULL && q->key != NULL && q->velocity != NULL && q->best_key != NULL &&
                   search_candidate_init(&o->candidates[i], s, most);
    }
    if (!is_ready)
        pso_fini(o);
    return is_ready ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static const struct param_spec pso_params[] = {
    SEARCH_PARAMS("200", "0 s"),
    [PARTICLES] = {"particles", PARAM_INT, "20", 2, 1000, "", NULL, "particles of the swarm"},
    [INERTIA] = {"inertia", PARAM_NUMBER, "0.6", 0, 1, "", NULL, "part of the speed that is kept"},
    [COGNITIVE] = {"cognitive", PARAM_NUMBER, "1", 0, 4, "", NULL, "pull of a particle's own best"},
    [SOCIAL] = {"social", PARAM_NUMBER, "1.7", 0, 4, "", NULL, "pull of its neighbours' best"},
    [SPEED] = {"speed", PARAM_NUMBER, "0.1", 0.001, 1, "", NULL,
               "largest change of a key in a step; keys are in [0, 1]"},
    [TOPOLOGY] = {"topology", PARAM_CHOICE, "global", 0, 0, "", "ring|global", "who is a particle's neighbour"},
    [STAGNATION] = {"stagnation", PARAM_INT, "8", 0, 100000, "", NULL,
                    "rounds without a better best after which the worse half starts anew; 0: never"},
};

SEARCH_POLICY_FINI(
    policy_pso, "pso", "Particle swarm over random keys of the waiting jobs",
    "Kennedy and Eberhart, ICNN'95; inertia: Shi and Eberhart, CEC'98; random keys: Bean, ORSA JoC 6(2), 1994",
    pso_params, pso, pso_init, pso_fini);
