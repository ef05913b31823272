/* lookahead.c - simulate simple policies over a horizon, take the best, and better it one step at a time.
 *
 *     best of        the seeds, and longest first, largest first, longest waiting, all with and without passing
 *     one step       the first place of the order is given to each of the first `width` jobs in turn, the others follow as before; the best
 *                    one keeps it; then the second place, and so on for `depth` places
 *
 * The second is the rollout algorithm: its order is never worse than the one it began with.
 */
#include "policies/search.h"

#include <string.h>

enum { WIDTH = SEARCH_N_PARAMS, DEPTH, N_PARAMS };

struct lookahead {
    struct search base;
    uint32_t width, depth;
    struct search_candidate *try; /* width, and room for more simple orders */
    double *keys;
};

enum { MORE = 6 };

static void make_more(struct lookahead *a, struct search_problem *p)
{
    for (uint32_t k = 0; k < MORE; k++) {
        struct search_candidate *c = &a->try[k];
        for (uint32_t i = 0; i < p->n; i++)
            a->keys[i] = k / 2 == 0 ? -p->run_s[i] : k / 2 == 1 ? -p->service_s[i] : p->service_s[i] / p->run_s[i];
        order_by_keys(c->order, a->keys, p->n);
        c->is_strict = p->fill == SEARCH_STRICT || (p->fill == SEARCH_BEST && k % 2 == 1);
        c->is_known = false;
    }
}

/* Give place `at` to each of the next jobs in turn; false when the budget is spent. */
static bool step(struct lookahead *a, struct search_problem *p, uint32_t at)
{
    uint32_t n = p->n - at - 1 < a->width ? p->n - at - 1 : a->width;
    for (uint32_t i = 0; i < n; i++) {
        search_candidate_copy(&a->try[i], &p->best, p->n);
        a->try[i].is_known = false;
        order_move(a->try[i].order, at + 1 + i, at);
    }
    return search_evaluate(p, a->try, n) == n;
}

static void lookahead_solve(void *self, struct search_problem *p)
{
    struct lookahead *a = self;
    make_more(a, p);
    if (search_evaluate(p, a->try, MORE) < MORE)
        return;
    for (uint32_t at = 0; at + 1 < p->n && at < a->depth; at++)
        if (!step(a, p, at))
            return;
}

static int lookahead_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct lookahead *a = self;
    a->width = (uint32_t)v[WIDTH].i;
    a->depth = (uint32_t)v[DEPTH].i;
    int code = search_init(&a->base, s, v, lookahead_solve, err);
    if (code != BRAID_OK)
        return code;
    uint32_t most = search_most(&a->base), room = a->width > MORE ? a->width : MORE;
    room = room < most + MORE ? room : most + MORE;
    a->width = a->width < room ? a->width : room;
    a->try = sched_alloc(s, room, sizeof *a->try);
    a->keys = sched_alloc(s, most, sizeof *a->keys);
    bool is_ready = a->try != NULL && a->keys != NULL;
    for (uint32_t i = 0; i < room && is_ready; i++)
        is_ready = search_candidate_init(&a->try[i], s, most);
    if (!is_ready)
        search_fini(&a->base);
    return is_ready ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static const struct param_spec lookahead_params[] = {
    SEARCH_PARAMS("200", "24 h"),
    [WIDTH] = {"width", PARAM_INT, "16", 1, 4096, "", NULL, "jobs that are tried at a place of the order"},
    [DEPTH] = {"depth", PARAM_INT, "16", 0, 4096, "", NULL,
               "places that are bettered; 0: the best simple order as it is"},
};

SEARCH_POLICY(policy_lookahead, "lookahead", "The best of simple policies in simulation, bettered one step at a time",
              "Bertsekas, Tsitsiklis, Wu, J. Heuristics 3, 1997, rollout algorithms", lookahead_params, lookahead,
              lookahead_init);
