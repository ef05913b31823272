/* Plans of groups: against all plans of small problems, against rounds of pairs, and against the bound of the linear program. */
#include "policies/grouping.h"

#include "base/random.h"
#include "tests/policies/grouping_rounds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16, SETS = 8192 };

struct problem {
    struct grouping g;
    struct grouping_row rows[ROWS];
    struct grouping_set sets[SETS];
    double use[ROWS][4]; /* of four resources by a job of the row, alone */
};

/* All sets of up to `most` jobs of the rows [first, end), the longer ones behind. */
static void list(struct problem *p, struct grouping_set set, uint32_t end, uint32_t most)
{
    for (uint32_t r = set.n > 0 ? set.rows[set.n - 1] : 0; r < end; r++) {
        struct grouping_set longer = set;
        uint32_t of_row = 0;
        longer.rows[longer.n++] = (uint16_t)r;
        for (uint32_t i = 0; i < longer.n; i++)
            of_row += longer.rows[i] == r;
        if (p->rows[r].demand != p->rows[longer.rows[0]].demand || of_row > p->rows[r].count)
            continue;
        if (longer.n > 1)
            p->sets[p->g.n_sets++] = longer;
        if (longer.n < most)
            list(p, longer, end, most);
    }
}

/* Use of the resources when the busiest is in use all the time or, if that is less, each member goes as fast as alone. */
static double value(const struct problem *p, const struct grouping_set *set)
{
    double sum[4] = {0}, all = 0, busiest = 1;
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < set->n; i++)
            sum[k] += p->use[set->rows[i]][k];
        busiest = fmax(busiest, sum[k]);
        all += sum[k];
    }
    return all / busiest / 4 * p->rows[set->rows[0]].gpus;
}

/* Rows of one or two demands; `share` of the GPUs that all ask for are there. */
static struct problem *problem_create(gsl_rng *r, uint32_t n_rows, uint32_t count_most, uint32_t set_most, double share)
{
    struct problem *p = calloc(1, sizeof *p);
    cr_assert(p != NULL);
    uint64_t needed = 0;
    uint32_t of_second = (uint32_t)gsl_rng_uniform_int(r, n_rows);
    for (uint32_t i = 0; i < n_rows; i++) {
        uint32_t demand = of_second > 0 && i >= of_second;
        p->rows[i] =
            (struct grouping_row){demand, demand > 0 ? 3 : 1, 1 + (uint32_t)gsl_rng_uniform_int(r, count_most)};
        needed += (uint64_t)p->rows[i].count * p->rows[i].gpus;
        for (uint32_t k = 0; k < 4; k++)
            p->use[i][k] = gsl_rng_uniform(r) / 2 + (gsl_rng_uniform_int(r, 4) == k) * 0.5;
        p->sets[i] = (struct grouping_set){.rows = {(uint16_t)i}, .n = 1};
    }
    p->g = (struct grouping){n_rows, n_rows, p->rows, p->sets, (uint64_t)(share * (double)needed)};
    list(p, (struct grouping_set){.n = 0}, n_rows, set_most);
    cr_assert_leq(p->g.n_sets, SETS);
    for (uint32_t i = 0; i < p->g.n_sets; i++)
        p->sets[i].value = value(p, &p->sets[i]);
    return p;
}

/* Each job is in one group. */
static void check_plan(const struct problem *p, const uint32_t *copies)
{
    uint32_t jobs[ROWS] = {0};
    for (uint32_t i = 0; i < p->g.n_sets; i++)
        for (uint32_t k = 0; k < p->g.sets[i].n; k++)
            jobs[p->g.sets[i].rows[k]] += copies[i];
    for (uint32_t r = 0; r < p->g.n_rows; r++)
        cr_assert_eq(jobs[r], p->rows[r].count, "row %u: %u of %u jobs", r, jobs[r], p->rows[r].count);
}

/* ---- all plans ------------------------------------------------------------------------------------- */

struct search {
    const struct problem *p;
    uint32_t left[ROWS], copies[SETS], best[SETS];
    bool has_best;
};

static void search(struct search *s)
{
    const struct grouping *g = &s->p->g;
    uint32_t row = 0;
    while (row < g->n_rows && s->left[row] == 0)
        row++;
    if (row == g->n_rows) {
        if (!s->has_best || grouping_is_better(g, s->copies, s->best))
            memcpy(s->best, s->copies, g->n_sets * sizeof *s->best);
        s->has_best = true;
        return;
    }
    for (uint32_t i = 0; i < g->n_sets; i++) {
        if (g->sets[i].rows[0] != row || grouping_copies_left(&g->sets[i], s->left) == 0)
            continue;
        for (uint32_t k = 0; k < g->sets[i].n; k++)
            s->left[g->sets[i].rows[k]]--;
        s->copies[i]++;
        search(s);
        s->copies[i]--;
        for (uint32_t k = 0; k < g->sets[i].n; k++)
            s->left[g->sets[i].rows[k]]++;
    }
}

/* ---- tests ----------------------------------------------------------------------------------------- */

Test(grouping, exact_is_the_best_of_all_plans)
{
    gsl_rng *r = random_stream(1, "test", "plans");
    static uint32_t copies[SETS];
    for (uint32_t i = 0; i < 150; i++) {
        struct problem *p = problem_create(r, 1 + i % 4, 2, 2 + i % 3, 0.2 + gsl_rng_uniform(r));
        struct search *s = calloc(1, sizeof *s);
        cr_assert(s != NULL);
        s->p = p;
        for (uint32_t k = 0; k < p->g.n_rows; k++)
            s->left[k] = p->rows[k].count;
        search(s);
        cr_assert(grouping_exact(&p->g, copies));
        check_plan(p, copies);
        cr_assert_eq(grouping_gpus(&p->g, copies) > p->g.capacity, grouping_gpus(&p->g, s->best) > p->g.capacity);
        if (grouping_gpus(&p->g, copies) > p->g.capacity)
            cr_assert_eq(grouping_gpus(&p->g, copies), grouping_gpus(&p->g, s->best));
        cr_assert_float_eq(grouping_value(&p->g, copies), grouping_value(&p->g, s->best), 1e-9,
                           "problem %u: %.12g, best %.12g", i, grouping_value(&p->g, copies),
                           grouping_value(&p->g, s->best));
        free(s);
        free(p);
    }
    gsl_rng_free(r);
}

Test(grouping, nothing_beats_exact_and_nothing_the_bound)
{
    gsl_rng *r = random_stream(2, "test", "bounds");
    static uint32_t exact[SETS], greedy[SETS], relaxed[SETS], paired[SETS];
    uint32_t n_beyond_rounds = 0, n_beyond_greedy = 0, n_tight = 0;
    for (uint32_t i = 0; i < 300; i++) {
        struct problem *p = problem_create(r, 2 + i % 4, 4, 4, 0.3 + 0.7 * gsl_rng_uniform(r));
        const struct grouping *g = &p->g;
        double bound, most;
        if (!grouping_exact(g, exact)) { /* too large */
            free(p);
            continue;
        }
        cr_assert(grouping_greedy(g, greedy) && grouping_relaxed(g, relaxed, &bound));
        cr_assert(grouping_rounds(g, paired));
        check_plan(p, exact);
        check_plan(p, greedy);
        check_plan(p, relaxed);
        check_plan(p, paired);
        most = grouping_value(g, exact);
        cr_assert_lt(bound, INFINITY);
        if (grouping_gpus(g, exact) <= g->capacity)
            cr_assert_leq(most, bound + 1e-6);
        cr_assert(!grouping_is_better(g, greedy, relaxed), "problem %u: greedy beats by_profile", i);
        const uint32_t *others[] = {greedy, relaxed, paired};
        for (int k = 0; k < 3; k++) {
            if (grouping_gpus(g, others[k]) <= g->capacity)
                cr_assert_leq(grouping_value(g, others[k]), most + 1e-9, "problem %u, plan %d", i, k);
            cr_assert(grouping_gpus(g, others[k]) >= g->capacity || grouping_gpus(g, exact) <= g->capacity);
        }
        n_beyond_rounds += most > grouping_value(g, paired) + 1e-9;
        n_beyond_greedy += most > grouping_value(g, greedy) + 1e-9;
        n_tight += most > grouping_value(g, relaxed) - 1e-9 && most < grouping_value(g, relaxed) + 1e-9;
        free(p);
    }
    cr_expect_gt(n_beyond_rounds, 20u, "problems too simple");
    cr_expect_gt(n_beyond_greedy, 20u, "problems too simple");
    cr_expect_gt(n_tight, 20u, "the rounded program is hardly ever the best");
    gsl_rng_free(r);
}

Test(grouping, by_profile_is_close_to_its_bound_when_there_are_many_jobs)
{
    /* what rounding costs does not grow with the jobs */
    gsl_rng *r = random_stream(3, "test", "many");
    static uint32_t copies[SETS];
    for (uint32_t i = 0; i < 20; i++) {
        struct problem *p = problem_create(r, 3 + i % 8, 400, 4, 0.3 + 0.5 * gsl_rng_uniform(r));
        double bound;
        cr_assert(grouping_relaxed(&p->g, copies, &bound));
        check_plan(p, copies);
        cr_assert_leq(grouping_gpus(&p->g, copies), p->g.capacity);
        cr_assert_geq(grouping_value(&p->g, copies), 0.97 * bound, "problem %u: %g of %g", i,
                      grouping_value(&p->g, copies), bound);
        free(p);
    }
    gsl_rng_free(r);
}

Test(grouping, a_problem_too_large_for_exact_is_refused)
{
    gsl_rng *r = random_stream(4, "test", "large");
    static uint32_t copies[SETS];
    struct problem *p = problem_create(r, 12, 40, 3, 0.5);
    cr_expect(!grouping_exact(&p->g, copies));
    free(p);
    gsl_rng_free(r);
}

Test(grouping, no_rows_no_groups)
{
    struct grouping g = {.capacity = 3};
    uint32_t copies[1] = {7};
    cr_expect(grouping_exact(&g, copies) && grouping_greedy(&g, copies) && grouping_relaxed(&g, copies, NULL));
}
