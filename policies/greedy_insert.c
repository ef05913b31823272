/* greedy_insert.c - jobs are put one after the other, the largest first, where the order of those before has most use of them (NEH), and
 * while the budget lasts some are taken out again and put back where they are best (iterated greedy).
 */
#include "policies/search_insert.h"

#include <string.h>

enum { TAKEN_OUT = SEARCH_N_PARAMS, N_PARAMS };

struct greedy_insert {
    struct search base;
    struct insertion insertion;
};

static void greedy_insert_solve(void *self, struct search_problem *p)
{
    struct greedy_insert *g = self;
    insertion_build(&g->insertion, p);
    insertion_iterate(&g->insertion, p);
}

static int greedy_insert_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct greedy_insert *g = self;
    int code = search_init(&g->base, s, v, greedy_insert_solve, err);
    if (code != BRAID_OK)
        return code;
    if (insertion_init(&g->insertion, s, search_most(&g->base), (uint32_t)v[TAKEN_OUT].i))
        return BRAID_OK;
    search_fini(&g->base);
    return error_set(err, BRAID_FAILED, "out of memory");
}

static const struct param_spec greedy_insert_params[] = {
    SEARCH_PARAMS("1000", "0 s"),
    [TAKEN_OUT] = {"taken_out", PARAM_INT, "3", 1, 64, "", NULL,
                   "jobs taken out and put back in a step of improvement"},
};

SEARCH_POLICY(policy_greedy_insert, "greedy_insert", "Jobs put one by one where the order has most use of them",
              "Nawaz, Enscore, Ham, Omega 11(1), 1983; iterated greedy: Ruiz and Stuetzle, EJOR 177(3), 2007",
              greedy_insert_params, greedy_insert, greedy_insert_init);
