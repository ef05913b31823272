/* grouping_relaxed.c - a plan from the linear program: copies need not be whole numbers.
 *
 *     maximise    sum of value(set) x(set)  -  PENALTY excess
 *     row r       sum of (jobs of r in set) x(set)        =  count(r)
 *     GPUs        sum of gpus(set) x(set) - excess + spare  =  capacity
 *
 * A corner of it has at most rows + 1 sets. Whole copies are taken of each; the jobs of the fractions that are left, a few a row, are
 * grouped greedily. Where that takes more GPUs than there are, the program is solved again with fewer. The simplex method in its revised form: the
 * inverse of the basis is kept, dense, as there are a few dozen rows; the sets have at most five entries each and are priced one by one. It begins with
 * all jobs alone, which is a corner.
 *
 * Why no library: there are often several best corners, and which of them is found decides who shares GPUs with whom. A solver that scales,
 * presolves and perturbs finds another one in its next version, or with other compiler flags; here the same additions in the same order give the same
 * plan to the last bit everywhere. The program is small (up to GROUPING_ROWS_MAX rows, a dense inverse of 8 MB at worst), its columns need no matrix,
 * and the bound is proved by the prices whatever corner they come from.
 */
#include "policies/grouping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PENALTY = 64; /* for a GPU that is not there: more than the value that its use can add */
static const double WITHIN = 1e-9;

/* Columns behind the sets. */
enum { EXCESS, SPARE, N_SLACKS };

struct simplex {
    const struct grouping *g;
    uint32_t m;      /* rows of the program: g->n_rows and the GPUs */
    uint32_t *basis; /* column by row of the program */
    double *x;       /* its value */
    double *inverse; /* m x m */
    double *price;   /* by row */
    double *along;   /* how the basis changes with the entering column */
};

static double column_value(const struct simplex *s, uint32_t column)
{
    const struct grouping *g = s->g;
    return column < g->n_sets ? g->sets[column].value : column == g->n_sets + EXCESS ? -PENALTY : 0;
}

/* Product of a column with a row of numbers, one a row of the program. */
static double column_times(const struct simplex *s, uint32_t column, const double *numbers)
{
    const struct grouping *g = s->g;
    if (column >= g->n_sets)
        return column == g->n_sets + EXCESS ? -numbers[s->m - 1] : numbers[s->m - 1];
    const struct grouping_set *set = &g->sets[column];
    double sum = g->rows[set->rows[0]].gpus * numbers[s->m - 1];
    for (uint32_t i = 0; i < set->n; i++)
        sum += numbers[set->rows[i]];
    return sum;
}

static bool simplex_init(struct simplex *s, const struct grouping *g)
{
    uint32_t m = g->n_rows + 1, last = m - 1;
    *s = (struct simplex){.g = g,
                          .m = m,
                          .basis = malloc(m * sizeof *s->basis),
                          .x = malloc(m * sizeof *s->x),
                          .inverse = calloc((size_t)m * m, sizeof *s->inverse),
                          .price = malloc(m * sizeof *s->price),
                          .along = malloc(m * sizeof *s->along)};
    if (s->basis == NULL || s->x == NULL || s->inverse == NULL || s->price == NULL || s->along == NULL)
        return false;
    double needed = 0;
    for (uint32_t i = 0; i < g->n_rows; i++) {
        s->basis[i] = i;
        s->x[i] = g->rows[i].count;
        s->inverse[(size_t)i * m + i] = 1;
        needed += (double)g->rows[i].count * g->rows[i].gpus;
    }
    double sign = needed > (double)g->capacity ? 1 : -1;
    for (uint32_t i = 0; i < g->n_rows; i++)
        s->inverse[(size_t)last * m + i] = sign * g->rows[i].gpus;
    s->inverse[(size_t)last * m + last] = -sign;
    s->basis[last] = g->n_sets + (sign > 0 ? EXCESS : SPARE);
    s->x[last] = sign * (needed - (double)g->capacity);
    return true;
}

static void simplex_fini(struct simplex *s)
{
    free(s->basis);
    free(s->x);
    free(s->inverse);
    free(s->price);
    free(s->along);
}

static void prices_set(struct simplex *s)
{
    memset(s->price, 0, s->m * sizeof *s->price);
    for (uint32_t r = 0; r < s->m; r++) {
        double value = column_value(s, s->basis[r]);
        const double *row = s->inverse + (size_t)r * s->m;
        for (uint32_t i = 0; i < s->m && value != 0; i++)
            s->price[i] += value * row[i];
    }
}

/* The column that gains most, or, for when nothing moves, the first that gains (Bland's rule, which cannot go round in circles);
 * UINT32_MAX: none does. */
static uint32_t entering(const struct simplex *s, bool is_first)
{
    double most = WITHIN;
    uint32_t best = UINT32_MAX;
    for (uint32_t c = 0; c < s->g->n_sets + N_SLACKS; c++) {
        double gain = column_value(s, c) - column_times(s, c, s->price);
        if (gain > most) {
            most = gain;
            best = c;
            if (is_first)
                break;
        }
    }
    return best;
}

/* The row that limits the entering column; of several the one of the lowest column. */
static uint32_t leaving(const struct simplex *s)
{
    uint32_t best = UINT32_MAX;
    double least = INFINITY;
    for (uint32_t r = 0; r < s->m; r++) {
        if (s->along[r] <= WITHIN)
            continue;
        double ratio = s->x[r] / s->along[r];
        if (ratio < least || (!(ratio > least) && s->basis[r] < s->basis[best])) {
            least = ratio;
            best = r;
        }
    }
    return best;
}

static void pivot(struct simplex *s, uint32_t out, uint32_t in)
{
    uint32_t m = s->m;
    double by = s->along[out], *from = s->inverse + (size_t)out * m;
    for (uint32_t i = 0; i < m; i++)
        from[i] /= by;
    s->x[out] /= by;
    for (uint32_t r = 0; r < m; r++) {
        double factor = s->along[r], *row = s->inverse + (size_t)r * m;
        if (r == out || !(fabs(factor) > 0))
            continue;
        for (uint32_t i = 0; i < m; i++)
            row[i] -= factor * from[i];
        double x = s->x[r] - factor * s->x[out];
        s->x[r] = x > 0 ? x : 0;
    }
    s->basis[out] = in;
}

/* True: at the best corner. Any corner that it stops at is a plan. */
static bool simplex_solve(struct simplex *s)
{
    uint32_t standing = 0;
    for (uint32_t step = 0; step < 64 * s->m + 256; step++) {
        prices_set(s);
        uint32_t in = entering(s, standing > s->m);
        if (in == UINT32_MAX)
            return true;
        for (uint32_t r = 0; r < s->m; r++)
            s->along[r] = column_times(s, in, s->inverse + (size_t)r * s->m);
        uint32_t out = leaving(s);
        if (out == UINT32_MAX)
            return false; /* rounding: no plan is of endless worth */
        standing = s->x[out] > WITHIN ? 0 : standing + 1;
        pivot(s, out, in);
    }
    return false;
}

/* By the prices: no whole or broken plan within the capacity is worth more. */
static double bound_of(const struct simplex *s)
{
    const struct grouping *g = s->g;
    double sum = s->price[s->m - 1] * (double)g->capacity;
    for (uint32_t i = 0; i < g->n_rows; i++)
        sum += s->price[i] * g->rows[i].count;
    return sum;
}

/* Whole copies of the sets of the corner; what is left of the rows. */
static void take_whole(const struct simplex *s, uint32_t *copies, uint32_t *left)
{
    const struct grouping *g = s->g;
    memset(copies, 0, g->n_sets * sizeof *copies);
    for (uint32_t i = 0; i < g->n_rows; i++)
        left[i] = g->rows[i].count;
    for (uint32_t r = 0; r < s->m; r++) {
        if (s->basis[r] >= g->n_sets)
            continue;
        const struct grouping_set *set = &g->sets[s->basis[r]];
        uint32_t most = grouping_copies_left(set, left), whole = (uint32_t)(s->x[r] + WITHIN);
        whole = whole < most ? whole : most; /* rounding errors give no more than there is */
        for (uint32_t i = 0; i < set->n; i++)
            left[set->rows[i]] -= whole;
        copies[s->basis[r]] = whole;
    }
}

/* Whole copies, and the rest greedily, within the capacity of `g`. */
static bool round_off(const struct simplex *s, const struct grouping *g, uint32_t *copies)
{
    uint32_t *more = malloc(g->n_sets * sizeof *more + 1), *left = malloc(g->n_rows * sizeof *left + 1);
    struct grouping_row *rows = malloc(g->n_rows * sizeof *rows + 1);
    bool is_fine = more != NULL && left != NULL && rows != NULL;
    if (is_fine) {
        take_whole(s, copies, left);
        for (uint32_t i = 0; i < g->n_rows; i++)
            rows[i] = (struct grouping_row){g->rows[i].demand, g->rows[i].gpus, left[i]};
        uint64_t used = grouping_gpus(g, copies);
        struct grouping rest = *g;
        rest.rows = rows;
        rest.capacity = g->capacity > used ? g->capacity - used : 0;
        is_fine = grouping_greedy(&rest, more);
        for (uint32_t i = 0; i < g->n_sets && is_fine; i++)
            copies[i] += more[i];
    }
    free(more);
    free(left);
    free(rows);
    return is_fine;
}

/* The program with `capacity`, rounded off to `rounded`, and `copies` too where that is better. */
static bool attempt(const struct grouping *g, uint64_t capacity, uint32_t *rounded, uint32_t *copies, double *bound)
{
    struct grouping tried = *g;
    struct simplex s;
    tried.capacity = capacity;
    bool is_fine = simplex_init(&s, &tried);
    if (is_fine) {
        bool is_best = simplex_solve(&s);
        *bound = is_best ? bound_of(&s) : INFINITY;
        is_fine = round_off(&s, g, rounded);
    }
    simplex_fini(&s);
    if (is_fine && grouping_is_better(g, rounded, copies))
        memcpy(copies, rounded, g->n_sets * sizeof *copies);
    return is_fine;
}

bool grouping_relaxed(const struct grouping *g, uint32_t *copies, double *bound)
{
    enum { ATTEMPTS = 4 };
    uint32_t *rounded = malloc(g->n_sets * sizeof *rounded + 1);
    uint64_t capacity = g->capacity;
    bool is_fine = rounded != NULL && grouping_greedy(g, copies);
    for (int i = 0; i < ATTEMPTS && is_fine; i++) {
        double its_bound = INFINITY;
        is_fine = attempt(g, capacity, rounded, copies, &its_bound);
        if (i == 0 && bound != NULL)
            *bound = its_bound;
        uint64_t gpus = grouping_gpus(g, rounded);
        if (!is_fine || gpus <= g->capacity || gpus - g->capacity > capacity)
            break;
        capacity -= gpus - g->capacity; /* what rounding has taken too much, kept back */
    }
    free(rounded);
    return is_fine;
}
