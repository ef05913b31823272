/* grouping_exact.c - the best plan, by dynamic programming.
 *
 * For each demand: a state is what is left of its rows, and best[state][k] the largest value of k groups of it. The first row with a job
 * left must give one to some group, so that each plan is built in one way only:
 *
 *     best[state][k] = max over sets that begin with the first row left of  value(set) + best[state - set][k - 1]
 *
 * Then over the demands: best[GPUs] from how many groups each one is split into.
 */
#include "policies/grouping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Of the whole problem. */
struct index {
    uint32_t *stride;     /* by row: of its digit in the numbers of its demand's states */
    uint32_t *left;       /* by row: the digits of the state in hand */
    uint32_t *begin, *by; /* sets in order of their first row; where each row's begin, n_rows + 1 */
};

/* The rows [first, end) of one demand. */
struct portion {
    uint32_t first, end, gpus;
    uint32_t n_jobs, n_states; /* states: mixed-radix numbers, the first row's digit the lowest */
    double *best;              /* n_states x (n_jobs + 1); -INFINITY: no such plan */
    uint32_t *choice;          /* the set that is best there */
};

static bool index_init(struct index *x, const struct grouping *g)
{
    *x = (struct index){.stride = calloc(g->n_rows + 1, sizeof *x->stride),
                        .left = calloc(g->n_rows + 1, sizeof *x->left),
                        .begin = calloc(g->n_rows + 2, sizeof *x->begin),
                        .by = calloc(g->n_sets + 1, sizeof *x->by)};
    if (x->stride == NULL || x->left == NULL || x->begin == NULL || x->by == NULL)
        return false;
    for (uint32_t i = 0; i < g->n_sets; i++)
        x->begin[g->sets[i].rows[0] + 2]++;
    for (uint32_t r = 2; r <= g->n_rows + 1; r++)
        x->begin[r] += x->begin[r - 1];
    for (uint32_t i = 0; i < g->n_sets; i++) /* begin[row + 1] goes from the row's begin to its end */
        x->by[x->begin[g->sets[i].rows[0] + 1]++] = i;
    return true;
}

static void index_fini(struct index *x)
{
    free(x->stride);
    free(x->left);
    free(x->begin);
    free(x->by);
}

/* The digits of a state into x->left; the first row that has a job left. */
static uint32_t set_digits(const struct index *x, const struct grouping *g, const struct portion *p, uint32_t state)
{
    uint32_t first = NONE;
    for (uint32_t r = p->first; r < p->end; r++) {
        uint32_t base = g->rows[r].count + 1;
        x->left[r] = state % base;
        state /= base;
        if (first == NONE && x->left[r] > 0)
            first = r;
    }
    return first;
}

/* By how much the number of a state falls when a set is taken. */
static uint32_t fall(const struct index *x, const struct grouping_set *set)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < set->n; i++)
        sum += x->stride[set->rows[i]];
    return sum;
}

static bool portion_init(struct portion *p, const struct index *x, const struct grouping *g, uint32_t first)
{
    uint64_t states = 1;
    *p = (struct portion){.first = first, .end = first, .gpus = g->rows[first].gpus};
    while (p->end < g->n_rows && g->rows[p->end].demand == g->rows[first].demand) {
        x->stride[p->end] = (uint32_t)states;
        states *= g->rows[p->end].count + 1ull;
        p->n_jobs += g->rows[p->end++].count;
        if (states * (p->n_jobs + 1ull) > GROUPING_STATES_MAX)
            return false;
    }
    p->n_states = (uint32_t)states;
    size_t n = (size_t)p->n_states * (p->n_jobs + 1);
    p->best = malloc(n * sizeof *p->best);
    p->choice = malloc(n * sizeof *p->choice);
    return p->best != NULL && p->choice != NULL;
}

static void portion_fini(struct portion *p)
{
    free(p->best);
    free(p->choice);
}

/* Taking `set` in `state` leads to the state `to`. */
static void try_set(const struct portion *p, uint32_t state, uint32_t to, uint32_t set, double value)
{
    uint32_t width = p->n_jobs + 1;
    double *mine = p->best + (size_t)state * width;
    const double *its = p->best + (size_t)to * width;
    for (uint32_t k = 1; k < width; k++)
        if (value + its[k - 1] > mine[k]) {
            mine[k] = value + its[k - 1];
            p->choice[(size_t)state * width + k] = set;
        }
}

static void portion_solve(const struct portion *p, const struct index *x, const struct grouping *g)
{
    size_t n = (size_t)p->n_states * (p->n_jobs + 1);
    for (size_t i = 0; i < n; i++)
        p->best[i] = -INFINITY;
    p->best[0] = 0;
    for (uint32_t state = 1; state < p->n_states; state++) {
        uint32_t row = set_digits(x, g, p, state);
        for (uint32_t i = x->begin[row]; i < x->begin[row + 1]; i++) {
            const struct grouping_set *set = &g->sets[x->by[i]];
            if (grouping_copies_left(set, x->left) > 0)
                try_set(p, state, state - fall(x, set), x->by[i], set->value);
        }
    }
}

static void portion_read(const struct portion *p, const struct index *x, const struct grouping *g, uint32_t k,
                         uint32_t *copies)
{
    for (uint32_t state = p->n_states - 1; state != 0; k--) {
        uint32_t set = p->choice[(size_t)state * (p->n_jobs + 1) + k];
        copies[set]++;
        state -= fall(x, &g->sets[set]);
    }
}

/* ---- over the demands ------------------------------------------------------------------------------ */

/* Values by GPUs in use, 0 .. most: the demands up to the i-th in the i-th row; and how many groups the last of them has. */
struct shares {
    uint64_t width;
    double *best;
    uint32_t *n_groups;
};

static void shares_solve(struct shares *s, const struct portion *portions, uint32_t n)
{
    for (uint64_t i = 0; i < (n + 1) * s->width; i++)
        s->best[i] = -INFINITY;
    s->best[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct portion *p = &portions[i];
        const double *before = s->best + i * s->width;
        const double *mine = p->best + (size_t)(p->n_states - 1) * (p->n_jobs + 1);
        double *after = s->best + (i + 1) * s->width;
        for (uint64_t gpus = 0; gpus < s->width; gpus++)
            for (uint32_t k = 0; k <= p->n_jobs && before[gpus] > -INFINITY; k++) {
                uint64_t to = gpus + (uint64_t)k * p->gpus;
                if (to < s->width && before[gpus] + mine[k] > after[to]) {
                    after[to] = before[gpus] + mine[k];
                    s->n_groups[(i + 1) * s->width + to] = k;
                }
            }
    }
}

static bool combine(const struct grouping *g, const struct index *x, const struct portion *portions, uint32_t n,
                    uint32_t *copies)
{
    struct shares s = {.width = 1};
    for (uint32_t i = 0; i < n; i++)
        s.width += (uint64_t)portions[i].n_jobs * portions[i].gpus;
    if ((n + 1) * s.width > GROUPING_SHARES_MAX)
        return false;
    s.best = malloc((n + 1) * s.width * sizeof *s.best);
    s.n_groups = malloc((n + 1) * s.width * sizeof *s.n_groups);
    bool has_memory = s.best != NULL && s.n_groups != NULL;
    if (has_memory) {
        shares_solve(&s, portions, n);
        const double *last = s.best + n * s.width;
        uint64_t at = s.width;
        for (uint64_t gpus = 0; gpus < s.width; gpus++)
            if (last[gpus] > -INFINITY && (at == s.width || (gpus <= g->capacity && last[gpus] > last[at])))
                at = gpus;
        for (uint32_t i = n; i > 0; i--) {
            uint32_t k = s.n_groups[i * s.width + at];
            portion_read(&portions[i - 1], x, g, k, copies);
            at -= (uint64_t)k * portions[i - 1].gpus;
        }
    }
    free(s.best);
    free(s.n_groups);
    return has_memory;
}

bool grouping_exact(const struct grouping *g, uint32_t *copies)
{
    struct portion *portions = calloc(g->n_rows + 1, sizeof *portions);
    struct index x;
    bool is_fine = index_init(&x, g) && portions != NULL;
    uint32_t n = 0;
    memset(copies, 0, g->n_sets * sizeof *copies);
    for (uint32_t row = 0; row < g->n_rows && is_fine; row = portions[n - 1].end)
        is_fine = portion_init(&portions[n++], &x, g, row);
    for (uint32_t i = 0; i < n && is_fine; i++)
        portion_solve(&portions[i], &x, g);
    is_fine = is_fine && combine(g, &x, portions, n, copies);
    for (uint32_t i = 0; i < n; i++)
        portion_fini(&portions[i]);
    free(portions);
    index_fini(&x);
    return is_fine;
}
