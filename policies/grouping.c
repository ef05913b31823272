#include "policies/grouping.h"

#include <stdlib.h>
#include <string.h>

uint64_t grouping_gpus(const struct grouping *g, const uint32_t *copies)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->n_sets; i++)
        sum += (uint64_t)copies[i] * g->rows[g->sets[i].rows[0]].gpus;
    return sum;
}

double grouping_value(const struct grouping *g, const uint32_t *copies)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->n_sets; i++)
        sum += copies[i] * g->sets[i].value;
    return sum;
}

static uint64_t excess(const struct grouping *g, const uint32_t *copies)
{
    uint64_t gpus = grouping_gpus(g, copies);
    return gpus > g->capacity ? gpus - g->capacity : 0;
}

bool grouping_is_better(const struct grouping *g, const uint32_t *a, const uint32_t *b)
{
    uint64_t of_a = excess(g, a), of_b = excess(g, b);
    return of_a != of_b ? of_a < of_b : grouping_value(g, a) > grouping_value(g, b);
}

/* ---- greedy ---------------------------------------------------------------------------------------- */

struct bargain {
    double loss; /* of value, for each GPU saved */
    uint32_t n;  /* of several with the same, the largest first: those that pair off leave odd ones */
    uint32_t set;
};

static int compare_bargains(const void *a, const void *b)
{
    const struct bargain *x = a, *y = b;
    if (x->loss != y->loss)
        return x->loss < y->loss ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

uint32_t grouping_copies_left(const struct grouping_set *set, const uint32_t *left)
{
    uint32_t most = UINT32_MAX;
    for (uint32_t i = 0, k; i < set->n; i += k) {
        for (k = 1; i + k < set->n && set->rows[i + k] == set->rows[i]; k++)
            ;
        uint32_t can = left[set->rows[i]] / k;
        most = can < most ? can : most;
    }
    return most;
}

static void take(const struct grouping_set *set, uint32_t n, uint32_t *left)
{
    for (uint32_t i = 0; i < set->n; i++)
        left[set->rows[i]] -= n;
}

/* What the rows' jobs need one by one. */
static uint64_t gpus_of_singles(const struct grouping *g)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->n_rows; i++)
        sum += (uint64_t)g->rows[i].count * g->rows[i].gpus;
    return sum;
}

static uint32_t list_bargains(const struct grouping *g, struct bargain *bargains)
{
    uint32_t n = 0;
    for (uint32_t i = g->n_rows; i < g->n_sets; i++) {
        const struct grouping_set *set = &g->sets[i];
        double loss = -set->value;
        for (uint32_t k = 0; k < set->n; k++)
            loss += g->sets[set->rows[k]].value;
        bargains[n++] = (struct bargain){loss / ((set->n - 1) * (double)g->rows[set->rows[0]].gpus), set->n, i};
    }
    qsort(bargains, n, sizeof *bargains, compare_bargains);
    return n;
}

/* Take the bargains in order, those of at least `size` jobs before the others, until there are enough GPUs. */
static void strike(const struct grouping *g, const struct bargain *bargains, uint32_t n, uint32_t size, uint32_t *left,
                   uint32_t *copies)
{
    uint64_t needed = gpus_of_singles(g);
    memset(copies, 0, g->n_sets * sizeof *copies);
    for (uint32_t i = 0; i < g->n_rows; i++)
        left[i] = g->rows[i].count;
    for (uint32_t i = 0; i < 2 * n && needed > g->capacity; i++) {
        const struct bargain *b = &bargains[i % n];
        if ((b->n >= size) != (i < n))
            continue; /* in the other half's turn */
        const struct grouping_set *set = &g->sets[b->set];
        uint64_t saved = (uint64_t)(set->n - 1u) * g->rows[set->rows[0]].gpus;
        uint64_t wanted = (needed - g->capacity + saved - 1) / saved;
        uint32_t most = grouping_copies_left(set, left), taken = wanted < most ? (uint32_t)wanted : most;
        copies[b->set] = taken;
        take(set, taken, left);
        needed -= taken * saved;
    }
    memcpy(copies, left, g->n_rows * sizeof *copies);
}

bool grouping_greedy(const struct grouping *g, uint32_t *copies)
{
    uint32_t *left = malloc(g->n_rows * sizeof *left + 1), *tried = malloc(g->n_sets * sizeof *tried + 1);
    struct bargain *bargains = calloc(g->n_sets + 1, sizeof *bargains);
    bool has_memory = left != NULL && tried != NULL && bargains != NULL;
    if (has_memory) {
        uint32_t n = gpus_of_singles(g) > g->capacity ? list_bargains(g, bargains) : 0;
        strike(g, bargains, n, 0, left, copies);
        for (uint32_t size = 3; size <= GROUPING_MEMBERS && n > 0; size++) {
            strike(g, bargains, n, size, left, tried);
            if (grouping_is_better(g, tried, copies))
                memcpy(copies, tried, g->n_sets * sizeof *copies);
        }
    }
    free(left);
    free(tried);
    free(bargains);
    return has_memory;
}
