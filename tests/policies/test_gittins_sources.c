/* Where Gittins' distribution comes from: laws in closed form against their own integrals, and the past of the run. */
#include "policies/gittins_index.h"
#include "policies/gittins_law.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <string.h>

static const struct gittins_law laws[] = {{LAW_EXPONENTIAL, 100, 1}, {LAW_LOGNORMAL, 100, 0.5}, {LAW_LOGNORMAL, 100, 2},
                                          {LAW_PARETO, 100, 1.2},    {LAW_PARETO, 100, 3},      {LAW_WEIBULL, 100, 0.5},
                                          {LAW_WEIBULL, 100, 1},     {LAW_WEIBULL, 100, 3}};
enum { N_LAWS = sizeof laws / sizeof *laws };

static double tail_at(double a, void *law)
{
    return gittins_law_tail(law, a);
}

Test(gittins_law, tail_excess_and_index_are_what_their_definitions_say)
{
    gsl_integration_cquad_workspace *room = gsl_integration_cquad_workspace_alloc(200);
    cr_assert_not_null(room);
    for (int i = 0; i < N_LAWS; i++) {
        struct gittins_law law = laws[i];
        cr_expect_float_eq(gittins_law_excess(&law, 0), 100, 1e-9, "the mean");
        for (double a = 0; a < 400; a += 37) {
            gsl_function f = {tail_at, &law};
            double spent, error, delta = 25;
            size_t n;
            gsl_integration_cquad(&f, a, a + delta, 0, 1e-9, room, &spent, &error, &n);
            double ends = gittins_law_tail(&law, a) - gittins_law_tail(&law, a + delta);
            cr_expect_float_eq(gittins_law_excess(&law, a) - gittins_law_excess(&law, a + delta), spent,
                               1e-6 * spent + 1e-12, "law %d at %g", i, a);
            cr_expect_float_eq(gittins_law_index(&law, a, delta), ends / spent, 1e-5 * ends / spent + 1e-12,
                               "law %d at %g: %g, not %g", i, a, gittins_law_index(&law, a, delta), ends / spent);
        }
    }
    gsl_integration_cquad_workspace_free(room);
}

Test(gittins_law, what_is_known_of_their_shapes)
{
    for (double a = 0; a < 1000; a += 10) { /* no memory; a decreasing hazard; an increasing one */
        cr_expect_float_eq(gittins_law_index(&laws[0], a, 10), 0.01, 0);
        cr_expect_float_eq(gittins_law_index(&laws[6], a, 10), 0.01, 1e-9, "Weibull with k = 1 is exponential");
        cr_expect_lt(gittins_law_index(&laws[5], a + 10, 10), gittins_law_index(&laws[5], a, 10));
        if (a < 300)
            cr_expect_gt(gittins_law_index(&laws[7], a + 10, 10), gittins_law_index(&laws[7], a, 10));
    }
    cr_expect_float_eq(gittins_law_index(&laws[4], 0, 10), 0, 0, "no Pareto job is shorter than the least");
}

Test(gittins_law, holds_at_extremes)
{
    for (int kind = LAW_EXPONENTIAL; kind <= LAW_WEIBULL; kind++)
        for (double shape = 0.01; shape <= 100; shape *= 10)
            for (double mean = 1e3; mean <= 9e18; mean *= 1e5)
                for (double a = 0; a <= 9e18; a = a * 100 + 1)
                    for (double delta = 1e3; delta <= 9e18; delta *= 1e5) {
                        struct gittins_law law = {(enum gittins_law_kind)kind, mean, shape};
                        if (!gittins_law_is_proper(&law))
                            continue;
                        double index = gittins_law_index(&law, a, delta);
                        cr_assert(isfinite(index) && index >= 0, "law %d, mean %g, shape %g, at %g, %g: %g", kind, mean,
                                  shape, a, delta, index);
                    }
}

static struct test_case *gittins(const char *name)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, name);
    case_param(c, "delta", "5");
    case_param(c, "service", "time");
    return c;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
}

Test(gittins, a_law_decides_whether_a_job_in_service_stays)
{
    /* falling hazard: a fresh job displaces who has served 5 s; rising: it waits; constant: nobody is better than who runs */
    static const char *const shapes[] = {"0.5", "3"};
    for (int k = 0; k < 3; k++) {
        struct test_case *c = gittins("gittins");
        case_param(c, "source", k < 2 ? "weibull" : "exponential");
        case_param(c, "mean", "20");
        if (k < 2)
            case_param(c, "shape", shapes[k]);
        case_job(c, 0, 20, 1);
        case_job(c, 7, 4, 1);
        case_run(c);
        expect(c, 0, 0, k == 0 ? 24 : 20);
        expect(c, 1, k == 0 ? 7 : 20, k == 0 ? 11 : 24);
        case_destroy(c);
    }
}

Test(gittins, improper_shapes_are_refused)
{
    struct test_case *c = gittins("gittins");
    case_param(c, "source", "pareto");
    case_param(c, "shape", "1");
    case_job(c, 0, 1, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, "shape"), "%s", c->err.message);
    case_destroy(c);
}

Test(gittins_past, learns_at_the_stated_times_and_from_what_has_ended)
{
    /* refit every 10 s, delta 5 s. Before 10 nothing is known and who runs stays: A 0-3, B 3-6, C 6-. At 10 the past is {3, 3}: index(0) = 2/6,
     * index(5) = 0. C has served 4 s: step 0. At 11 it has served 5 and its index falls to 0: D, fresh, which came at 8, displaces it. D
     * ends at 14. E came at 12 and goes before C too: 14-17; then C. */
    struct test_case *c = gittins("gittins_past");
    case_param(c, "refit", "10 s");
    case_job(c, 0, 3, 1);
    case_job(c, 1, 3, 1);
    case_job(c, 2, 12, 1);
    case_job(c, 8, 3, 1);
    case_job(c, 12, 3, 1);
    case_run(c);
    expect(c, 0, 0, 3);
    expect(c, 1, 3, 6);
    expect(c, 2, 6, 24);
    expect(c, 3, 11, 14);
    expect(c, 4, 14, 17);
    cr_expect_eq(c->r.jobs[2].preemptions, 1u);
    case_destroy(c);
}

Test(gittins_past, with_a_late_fit_is_first_come_first_served)
{
    struct test_case *c = gittins("gittins_past");
    case_param(c, "refit", "1000 s");
    for (int j = 0; j < 20; j++)
        case_job(c, j, 20 - j, 1);
    case_run(c);
    for (uint32_t j = 1; j < c->n_jobs; j++)
        cr_expect_float_eq(case_start_s(c, j), case_end_s(c, j - 1), 1e-9);
    case_destroy(c);
}

Test(gittins_past, is_gittins_with_source_past)
{
    struct test_case *a = gittins("gittins"), *b = gittins("gittins_past");
    case_param(a, "source", "past");
    struct test_case *both[] = {a, b};
    for (int k = 0; k < 2; k++) {
        case_param(both[k], "refit", "7 s");
        for (int j = 0; j < 60; j++)
            case_job(both[k], j * 3, 1 + j * 7 % 11, 1);
        case_run(both[k]);
    }
    uint32_t preemptions = 0;
    for (uint32_t j = 0; j < a->n_jobs; j++) {
        cr_expect_eq(a->r.jobs[j].end_ns, b->r.jobs[j].end_ns);
        preemptions += a->r.jobs[j].preemptions;
    }
    cr_expect_gt(preemptions, 5u);
    case_destroy(a);
    case_destroy(b);
}

/* Of falling hazard the best stretch is the shortest, of rising hazard the whole rest, of constant hazard all are alike. */
Test(gittins_index, best_of_a_law)
{
    const struct gittins_law several[] = {{LAW_WEIBULL, 1e12, 0.5},
                                          {LAW_WEIBULL, 1e12, 3},
                                          {LAW_EXPONENTIAL, 1e12, 1},
                                          {LAW_LOGNORMAL, 1e12, 1.5},
                                          {LAW_PARETO, 1e12, 1.2}};
    for (size_t k = 0; k < sizeof several / sizeof *several; k++) {
        struct gittins_index g;
        cr_assert(gittins_index_init_law(&g, &several[k], 0));
        for (int64_t step = 0; gittins_index_begin(0, step + 1) < INT64_C(3000000000000); step++) {
            double a = (double)gittins_index_begin(0, step),
                   best = gittins_law_tail(&several[k], a) / gittins_law_excess(&several[k], a);
            for (int64_t to = step + 1; gittins_index_begin(0, to) != INT64_MAX; to++) {
                double index = gittins_law_index(&several[k], a, (double)gittins_index_begin(0, to) - a);
                best = index > best ? index : best;
            }
            cr_assert_float_eq(gittins_index_at(&g, step), best, 1e-6 * best, "law %d, step %d: %g, not %g", (int)k,
                               (int)step, gittins_index_at(&g, step), best);
        }
        gittins_index_fini(&g);
    }
}
