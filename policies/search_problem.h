/* search_problem.h - one decision of a policy that searches: which order of the window is best, by rollouts.
 *
 * The frame (search.h) fills a problem and evaluates its seeds, simple orders and the order that stands; a solver then spends what is left of the
 * budget. `best` is the best of all that was evaluated, seeds included, so no solver comes to less than the best seed.
 *
 * Candidates are made one after the other from the problem's own stream of random numbers, or each from one of its own, and evaluated on as many
 * threads as there are; the best is taken by index. So the result is the same on any number of threads.
 */
#ifndef POLICIES_SEARCH_PROBLEM_H
#define POLICIES_SEARCH_PROBLEM_H

#include "engine/rollout.h"
#include "policies/search_order.h"

enum search_fill { SEARCH_SKIP, SEARCH_STRICT, SEARCH_BEST };

enum { SEARCH_SEEDS = 32, SEARCH_TERMS = 6 };

struct search_candidate {
    uint16_t *order; /* the problem's n */
    bool is_strict;
    bool is_known; /* evaluated */
    double score;  /* the less the better */
    struct rollout_terms terms;
};

struct search_problem {
    struct sched *sched;
    struct rollout *rollout;
    gsl_rng *rng;
    /* What is ordered, by index: the jobs of the window, the victims and, when there is one, the tail: waiting jobs behind the window, which
     * stay together in the base order wherever they are put. */
    uint32_t n, n_window, n_victims, n_tail;
    bool is_regular; /* no term gets better when a job ends later: of use to bounds */
    enum search_fill fill;
    struct rollout_weights weights;              /* of terms as they come: scaled so that they compare */
    uint32_t budget, spent;                      /* evaluations */
    int64_t until_clock_ns;                      /* CLOCK_MONOTONIC; INT64_MAX: only the budget counts */
    struct search_candidate seeds[SEARCH_SEEDS]; /* evaluated, ascending in score */
    uint32_t n_seeds;
    struct search_candidate best;
    uint8_t *seen;           /* room for order_* */
    const double *service_s; /* a job's GPU seconds, by index */
    const double *run_s;
    double *curve; /* best score after each evaluation, `budget` of them; NULL where nobody asks */
    bool is_short; /* memory is out: the run is going to fail */
};

/* Room for problems of up to `most` jobs; `s` gives memory. False: it is out. */
bool search_problem_init(struct search_problem *p, struct sched *s, uint32_t most);
bool search_candidate_init(struct search_candidate *c, struct sched *s, uint32_t most);
void search_candidate_copy(struct search_candidate *to, const struct search_candidate *from, uint32_t n);

/* Roll an order out: all of it, or the first `n` of one that is being built. As rollout_run. */
uint32_t search_roll(const struct search_problem *p, struct rollout_lane *lane, const struct search_candidate *c,
                     uint32_t n, const struct rollout_limit *limit, struct rollout_terms *out);

/* The index of a victim in the rollout's window. */
static inline uint32_t search_victim(const struct search_problem *p, uint32_t index)
{
    return index + p->n_tail;
}

static inline bool search_is_victim(const struct search_problem *p, uint32_t index)
{
    return index >= p->n_window && index < p->n_window + p->n_victims;
}

/* The first `n` of an order as indexes of the rollout's window, the tail spread out; returns how many. */
uint32_t search_write(const struct search_problem *p, const struct search_candidate *c, uint32_t n, uint16_t *out);

/* Evaluate c[0..n) in parallel, as far as the budget goes; those after it stay unknown. Returns how many were. */
uint32_t search_evaluate(struct search_problem *p, struct search_candidate *c, uint32_t n);

/* The same; make(self, p, c, i) makes candidate c = &c[i] first, on the same thread. It may read all but other candidates and write what belongs
 * to i alone, and draws from a stream of its own. */
typedef void (*search_maker)(void *self, const struct search_problem *p, struct search_candidate *c, uint32_t i);
uint32_t search_make(struct search_problem *p, struct search_candidate *c, uint32_t n, search_maker make, void *self);

/* Take `c` as the best when it is better, or as good and the first. */
void search_offer(struct search_problem *p, const struct search_candidate *c);

bool search_is_over(const struct search_problem *p);

/* A random candidate near `from`: `steps` insertions. */
void search_perturb(struct search_problem *p, struct search_candidate *c, const struct search_candidate *from,
                    uint32_t steps);

/* The terms with a weight, in fixed order, as numbers to compare; their count. */
uint32_t search_objectives(const struct search_problem *p, const struct rollout_terms *t, double out[SEARCH_TERMS]);

#endif
