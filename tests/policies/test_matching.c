/* Maximum-weight matching: against all matchings of small graphs, and by its own proof of the optimum on large ones. */
#include "policies/matching.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct graph {
    uint32_t n;
    double *w;
    uint32_t *mate;
    void *memory;
};

static struct graph graph_create(uint32_t n)
{
    struct graph g = {.n = n,
                      .w = calloc((size_t)n * n + 1, sizeof *g.w),
                      .mate = calloc((size_t)n + 1, sizeof *g.mate),
                      .memory = malloc(matching_memory(n))};
    cr_assert(g.w != NULL && g.mate != NULL && g.memory != NULL);
    return g;
}

static void graph_destroy(struct graph *g)
{
    free(g->w);
    free(g->mate);
    free(g->memory);
}

static void edge(struct graph *g, uint32_t u, uint32_t v, double w)
{
    g->w[u * g->n + v] = g->w[v * g->n + u] = w;
}

/* Every pair is an edge with probability `density`, its weight one of `kinds` values (0: any real number). */
static void fill(struct graph *g, gsl_rng *r, double density, unsigned long kinds)
{
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = u + 1; v < g->n; v++)
            if (gsl_rng_uniform(r) < density) {
                double w = kinds > 0 ? (double)(1 + gsl_rng_uniform_int(r, kinds)) : gsl_rng_uniform_pos(r);
                edge(g, u, v, kinds > 0 ? w / 7 : w);
            }
}

static void solve(struct graph *g)
{
    matching_solve(g->n, g->w, g->mate, g->memory);
    for (uint32_t u = 0; u < g->n; u++)
        if (g->mate[u] != MATCHING_NONE) {
            cr_assert_lt(g->mate[u], g->n);
            cr_assert_neq(g->mate[u], u);
            cr_assert_eq(g->mate[g->mate[u]], u, "%u and its partner disagree", u);
            cr_assert_gt(g->w[u * g->n + g->mate[u]], 0.0, "%u is matched along no edge", u);
        }
}

static double weight(const struct graph *g)
{
    double sum = 0;
    for (uint32_t u = 0; u < g->n; u++)
        if (g->mate[u] != MATCHING_NONE && g->mate[u] > u)
            sum += g->w[u * g->n + g->mate[u]];
    return sum;
}

static double heaviest(const struct graph *g, uint32_t u, uint32_t taken)
{
    while (u < g->n && (taken & 1u << u))
        u++;
    if (u >= g->n)
        return 0;
    double best = heaviest(g, u + 1, taken);
    for (uint32_t v = u + 1; v < g->n; v++)
        if (!(taken & 1u << v) && g->w[u * g->n + v] > 0)
            best = fmax(best, g->w[u * g->n + v] + heaviest(g, u + 1, taken | 1u << v));
    return best;
}

/* ---- the proof ------------------------------------------------------------------------------------- */

struct proof {
    const struct graph *g;
    double *z; /* n x n: sum over the blossoms that hold both */
    double value;
    uint32_t n_blossoms;
};

static void blossom(void *self, double z, const uint32_t *v, uint32_t n)
{
    struct proof *p = self;
    uint32_t pairs = 0;
    cr_assert_eq(n % 2, 1u);
    cr_assert_geq(n, 3u);
    cr_assert_geq(z, -1e-9);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) {
            p->z[v[i] * p->g->n + v[k]] += z;
            pairs += p->g->mate[v[i]] == v[k];
        }
    if (z > 1e-9)
        cr_assert_eq(pairs, n - 1, "a blossom of %u vertices holds %u / 2 pairs", n, pairs);
    p->value += z * (n - 1) / 2;
    p->n_blossoms++;
}

/* Dual feasibility, complementary slackness, and equal values: returns the number of blossoms. */
static uint32_t prove(const struct graph *g)
{
    double *y = calloc((size_t)g->n + 1, sizeof *y);
    struct proof p = {.g = g, .z = calloc((size_t)g->n * g->n + 1, sizeof *p.z)};
    cr_assert(y != NULL && p.z != NULL);
    matching_duals(g->n, g->memory, y, blossom, &p);
    for (uint32_t u = 0; u < g->n; u++) {
        cr_assert_geq(y[u], -1e-9);
        if (g->mate[u] == MATCHING_NONE)
            cr_assert_leq(y[u], 1e-4, "vertex %u is free, yet its dual is %g", u, y[u]);
        p.value += y[u];
        for (uint32_t v = 0; v < g->n; v++) {
            double w = g->w[u * g->n + v], slack = y[u] + y[v] + p.z[u * g->n + v] - 2 * w;
            if (w > 0)
                cr_assert_geq(slack, -1e-9, "edge %u-%u", u, v);
            if (g->mate[u] == v)
                cr_assert_leq(slack, 1e-9, "edge %u-%u is taken", u, v);
        }
    }
    cr_assert_float_eq(2 * weight(g), p.value, 1e-4 * (1 + p.value));
    free(y);
    free(p.z);
    return p.n_blossoms;
}

/* ---- tests ----------------------------------------------------------------------------------------- */

Test(matching, nothing_to_match)
{
    for (uint32_t n = 0; n < 4; n++) {
        struct graph g = graph_create(n);
        solve(&g);
        for (uint32_t u = 0; u < n; u++)
            cr_expect_eq(g.mate[u], MATCHING_NONE);
        graph_destroy(&g);
    }
}

Test(matching, weight_goes_before_number_of_pairs)
{
    struct graph g = graph_create(4); /* 0 -2- 1 -5- 2 -2- 3 */
    edge(&g, 0, 1, 2);
    edge(&g, 1, 2, 5);
    edge(&g, 2, 3, 2);
    solve(&g);
    cr_expect_eq(g.mate[1], 2u);
    cr_expect_eq(g.mate[0], MATCHING_NONE);
    cr_expect_eq(g.mate[3], MATCHING_NONE);
    graph_destroy(&g);
}

Test(matching, goes_through_an_odd_circle)
{
    struct graph g =
        graph_create(8); /* a circle 0-1-2-3-4 with a tail at 0 and one at 2, and a pair that hangs on it */
    edge(&g, 0, 1, 9);
    edge(&g, 1, 2, 9);
    edge(&g, 2, 3, 8);
    edge(&g, 3, 4, 10);
    edge(&g, 0, 4, 8);
    edge(&g, 0, 5, 4);
    edge(&g, 2, 6, 4);
    edge(&g, 6, 7, 1);
    solve(&g);
    cr_expect_float_eq(weight(&g), heaviest(&g, 0, 0), 1e-12);
    (void)prove(&g);
    graph_destroy(&g);
}

Test(matching, the_heaviest_of_all_matchings_of_small_graphs)
{
    gsl_rng *r = random_stream(1, "test", "small");
    uint32_t blossoms = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        struct graph g = graph_create(1 + i % 10);
        fill(&g, r, 0.2 + 0.8 * gsl_rng_uniform(r), i % 3 == 0 ? 0 : 1 + i % 5);
        solve(&g);
        cr_assert_float_eq(weight(&g), heaviest(&g, 0, 0), 1e-5, "graph %u: %.17g, %.17g", i, weight(&g),
                           heaviest(&g, 0, 0));
        blossoms += prove(&g);
        graph_destroy(&g);
    }
    cr_expect_gt(blossoms, 100u, "graphs too simple: %u blossoms", blossoms);
    gsl_rng_free(r);
}

Test(matching, proves_its_optimum_on_large_graphs)
{
    gsl_rng *r = random_stream(2, "test", "large");
    static const uint32_t sizes[] = {50, 51, 99, 100, 200, 299, 300};
    uint32_t blossoms = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t k = 0; k < 6; k++) {
            static const double density[] = {1, 0.02, 0.1};
            struct graph g = graph_create(sizes[i]);
            fill(&g, r, density[k % 3], k < 3 ? 0 : 6);
            solve(&g);
            blossoms += prove(&g);
            graph_destroy(&g);
        }
    cr_expect_gt(blossoms, 20u, "graphs too simple: %u blossoms", blossoms);
    gsl_rng_free(r);
}

/* Weights as of jobs of a few kinds: many ties, and w(v, u) is w(u, v) but for rounding. */
static void fill_kinds(struct graph *g, gsl_rng *r, uint32_t kinds)
{
    double value[8];
    for (uint32_t k = 0; k < kinds; k++)
        value[k] = 0.1 + gsl_rng_uniform(r);
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = 0; v < g->n; v++) {
            double a = value[u * 7 % kinds], b = value[v * 7 % kinds];
            g->w[u * g->n + v] = u == v ? 0 : (a + 0.1 + b) / (3 * fmax(a, b)) * 0.37;
        }
}

Test(matching, rounding_breaks_no_pair)
{
    gsl_rng *r = random_stream(4, "test", "kinds");
    for (uint32_t i = 0; i < 400; i++) {
        struct graph g = graph_create(20 + i % 80);
        fill_kinds(&g, r, 2 + i % 6);
        solve(&g);
        (void)prove(&g);
        graph_destroy(&g);
    }
    gsl_rng_free(r);
}

Test(matching, released_search_is_the_same_where_nothing_is_rounded)
{
    gsl_rng *r = random_stream(5, "test", "released");
    for (uint32_t i = 0; i < 200; i++) {
        struct graph g = graph_create(2 + i % 60);
        uint32_t released[64];
        fill(&g, r, 0.1 + 0.9 * gsl_rng_uniform(r), 0);
        for (size_t k = 0; k < (size_t)g.n * g.n; k++)
            g.w[k] = ceil(g.w[k] * 64); /* whole numbers: duals are halves of them */
        solve(&g);
        cr_assert(matching_solve_released(g.n, NULL, g.n, g.w, released, g.memory));
        cr_assert_arr_eq(released, g.mate, g.n * sizeof *released);
        graph_destroy(&g);
    }
    gsl_rng_free(r);
}

/* Vertices of a few classes: the same pairs as when each vertex is looked at by itself. Classes come in many pieces and in few, some are without
 * edges between them, and w(v, u) is w(u, v) but for rounding. */
Test(matching, classes_change_no_pair)
{
    enum { MOST = 130, KINDS = 9 };
    gsl_rng *r = random_stream(6, "test", "classes");
    for (uint32_t i = 0; i < 600; i++) {
        uint32_t class_of[MOST], mate[MOST], kinds = 1 + i % KINDS;
        double value[KINDS], w[KINDS * KINDS];
        struct graph g = graph_create(KINDS + i % (MOST - KINDS));
        for (uint32_t a = 0; a < kinds; a++)
            value[a] = 0.1 + gsl_rng_uniform(r);
        for (uint32_t a = 0; a < kinds; a++)
            for (uint32_t b = 0; b <= a; b++) {
                bool is_edge = i % 3 > 0 || gsl_rng_uniform(r) < 0.7;
                double x = 0.37 / (3 * fmax(value[a], value[b]));
                w[a * kinds + b] = is_edge ? (value[a] + 0.1 + value[b]) * x : 0;
                w[b * kinds + a] = is_edge ? (value[b] + 0.1 + value[a]) * x : 0;
            }
        for (uint32_t u = 0; u < g.n; u++)
            class_of[u] = i % 2 ? (uint32_t)gsl_rng_uniform_int(r, kinds) : u * kinds / g.n;
        for (uint32_t u = 0; u < g.n; u++)
            for (uint32_t v = 0; v < g.n; v++)
                g.w[u * g.n + v] = u == v ? 0 : w[class_of[u] * kinds + class_of[v]];
        bool is_whole = matching_solve_released(g.n, NULL, g.n, g.w, g.mate, g.memory);
        cr_assert_eq(matching_solve_released(g.n, class_of, kinds, w, mate, g.memory), is_whole);
        if (is_whole)
            cr_assert_arr_eq(mate, g.mate, g.n * sizeof *mate, "graph %u", i);
        solve(&g);
        matching_solve_classes(g.n, class_of, kinds, w, mate, g.memory);
        cr_assert_arr_eq(mate, g.mate, g.n * sizeof *mate, "graph %u", i);
        (void)prove(&g);
        graph_destroy(&g);
    }
    gsl_rng_free(r);
}

Test(matching, same_answer_from_dirty_memory)
{
    gsl_rng *r = random_stream(3, "test", "dirty");
    struct graph g = graph_create(60);
    uint32_t first[60];
    fill(&g, r, 0.5, 4);
    memset(g.memory, 0x00, matching_memory(60));
    solve(&g);
    memcpy(first, g.mate, sizeof first);
    memset(g.memory, 0xA5, matching_memory(60));
    solve(&g);
    cr_expect_arr_eq(g.mate, first, sizeof first);
    graph_destroy(&g);
    gsl_rng_free(r);
}
