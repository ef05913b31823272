/* The simulation of a group's stages: cycles solved by hand, laws that hold for every group, and a twin that steps through time. */
#include "model/stage_sim.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const enum stage_discipline disciplines[] = {STAGE_EXCLUSIVE, STAGE_SHARED};
static const enum interleave_order orders[] = {INTERLEAVE_BEST, INTERLEAVE_GIVEN, INTERLEAVE_WORST};

static struct stage_steady steady(enum stage_discipline discipline, enum interleave_order order, uint32_t kinds,
                                  const struct stage_job *jobs, uint32_t n)
{
    struct stage_steady out;
    stage_sim(&out, &(struct stage_rule){discipline, order, kinds}, jobs, n);
    return out;
}

static struct stage_steady given(uint32_t kinds, const struct stage_job *jobs, uint32_t n)
{
    return steady(STAGE_EXCLUSIVE, INTERLEAVE_GIVEN, kinds, jobs, n);
}

static void expect_cycles(const struct stage_steady *s, const double *cycles, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        cr_expect_float_eq(s->cycle_ns[i], cycles[i], 1e-9, "job %u: %.17g, not %g", i, s->cycle_ns[i], cycles[i]);
}

/* ---- solved by hand ------------------------------------------------------------------------------- */

Test(stage_sim, two_jobs_wait_for_each_other)
{
    /* A: r0 0-2, waits for B, r1 3-4; r0 4-6 ...    B: r1 0-3, r0 3-4; r1 4-7 ... */
    static const struct stage_job jobs[] = {{{2, 1}, 0}, {{1, 3}, 0}};
    struct stage_steady s = given(2, jobs, 2);
    expect_cycles(&s, (double[]){4, 4}, 2);
    cr_expect_eq(s.period_ns, 4);
    cr_expect_float_eq(s.work, 3.0 / 4 + 1, 1e-12);
}

Test(stage_sim, complementary_jobs_do_not_slow_each_other)
{
    static const struct stage_job jobs[] = {{{3, 1}, 0}, {{1, 3}, 0}};
    struct stage_steady s = given(2, jobs, 2);
    expect_cycles(&s, (double[]){4, 4}, 2);
    cr_expect_float_eq(s.work, 2, 1e-12);
}

Test(stage_sim, a_full_resource_is_used_without_a_pause)
{
    /* r0 is wanted by all: 3 + 2 + 4 a round, first come, first served */
    static const struct stage_job jobs[] = {{{3, 1, 0}, 0}, {{2, 0, 1}, 0}, {{4, 0, 0}, 0}};
    struct stage_steady s = given(3, jobs, 3);
    expect_cycles(&s, (double[]){9, 9, 9}, 3);
}

Test(stage_sim, there_is_no_lock_step)
{
    /* A goes round twice while B goes round once: r1 is A's at 1-3, 4-6 and B's at 0-1, in turns of 6 */
    static const struct stage_job jobs[] = {{{1, 2}, 0}, {{0, 1}, 5}};
    struct stage_steady s = given(2, jobs, 2);
    expect_cycles(&s, (double[]){3, 6}, 2);
    cr_expect_eq(s.period_ns, 6);
    static const struct stage_job strangers[] = {{{1, 0, 0}, 0}, {{0, 4, 4}, 0}};
    s = given(3, strangers, 2);
    expect_cycles(&s, (double[]){1, 8}, 2);
}

Test(stage_sim, a_gap_hinders_nobody)
{
    static const struct stage_job jobs[] = {{{2, 0}, 3}, {{2, 0}, 3}}; /* the resource works 4 of 5 */
    struct stage_steady s = given(2, jobs, 2);
    expect_cycles(&s, (double[]){5, 5}, 2);
}

Test(stage_sim, of_two_that_come_at_once_the_lower_slot_goes_first)
{
    /* at 0 and every 4: A and B want r1 at the same instant. A in slot 0: r1 0-1, gap 1-4. B: r1 1-3, gap 3-4 */
    static const struct stage_job jobs[] = {{{0, 1}, 3}, {{0, 2}, 1}};
    struct stage_steady s = given(2, jobs, 2);
    expect_cycles(&s, (double[]){4, 4}, 2);
    /* B in slot 0: r1 0-2, gap 2-3, r1 3-5, gap 5-6. A: r1 2-3, gap 3-6, and again they come at once */
    static const struct stage_job turned[] = {{{0, 2}, 1}, {{0, 1}, 3}};
    s = given(2, turned, 2);
    expect_cycles(&s, (double[]){3, 6}, 2);
}

Test(stage_sim, four_even_jobs_braid_perfectly_from_any_order)
{
    static const struct stage_job jobs[4] = {
        {{10, 10, 10, 10}, 0}, {{10, 10, 10, 10}, 0}, {{10, 10, 10, 10}, 0}, {{10, 10, 10, 10}, 0}};
    for (int d = 0; d < 2; d++)
        for (int o = 0; o < 3; o++) {
            struct stage_steady s = steady(disciplines[d], orders[o], 4, jobs, 4);
            expect_cycles(&s, (double[]){40, 40, 40, 40}, 4);
            cr_expect_float_eq(s.work, 4, 1e-12);
        }
}

Test(stage_sim,
     two_equal_jobs_turn_about_where_the_closed_form_has_four_phases) /* the example of docs/interleaving.md */
{
    static const struct stage_job jobs[] = {{{2, 2, 0, 0}, 0}, {{2, 2, 0, 0}, 0}};
    static const struct interleave_profile profile = {.stage = {2, 2, 0, 0}, .iteration = 4};
    const struct interleave_rule rule = {.form = INTERLEAVE_PHASES, .kinds = 4};
    const struct interleave_profile *profiles[] = {&profile, &profile};
    struct stage_steady s = steady(STAGE_EXCLUSIVE, INTERLEAVE_BEST, 4, jobs, 2);
    expect_cycles(&s, (double[]){4, 4}, 2);
    cr_expect_eq(interleave_compute(&rule, profiles, 2), 6);
}

Test(stage_sim, one_job_is_as_fast_as_alone)
{
    static const struct stage_job job = {{7, 0, 11, 3}, 5};
    for (int d = 0; d < 2; d++)
        for (int o = 0; o < 3; o++) {
            struct stage_steady s = steady(disciplines[d], orders[o], 4, &job, 1);
            expect_cycles(&s, (double[]){26}, 1);
        }
}

Test(stage_sim, turns_and_shares_differ)
{
    static const struct stage_job jobs[] = {{{2, 0}, 0}, {{4, 0}, 0}};
    struct stage_steady s = given(2, jobs, 2); /* in turns: 2, 4, 2, 4, ... */
    expect_cycles(&s, (double[]){6, 6}, 2);
    s = steady(STAGE_SHARED, INTERLEAVE_GIVEN, 2, jobs, 2); /* each at half speed */
    expect_cycles(&s, (double[]){4, 8}, 2);
}

/* B's stage is longer than all that is simulated, and C waits for it. */
Test(stage_sim, stages_of_very_different_length_come_to_an_end)
{
    static const struct stage_job jobs[] = {{{1, 0, 0}, 0}, {{0, 1000000000, 0}, 0}, {{0, 1, 0}, 0}};
    struct stage_steady s = given(3, jobs, 3);
    cr_expect_eq(s.period_ns, 0);
    cr_expect_float_eq(s.cycle_ns[0], 1, 1e-6);
    cr_expect_float_eq(s.cycle_ns[1], 1e9, 1e4);
    cr_expect_float_eq(s.cycle_ns[2], 1e9, 1e4);
}

/* ---- laws ----------------------------------------------------------------------------------------- */

static uint64_t draw_state;

static uint32_t draw(uint32_t n)
{
    draw_state ^= draw_state << 13, draw_state ^= draw_state >> 7, draw_state ^= draw_state << 17;
    return (uint32_t)((draw_state >> 32) * n >> 32);
}

static void draw_job(struct stage_job *job, uint32_t kinds, uint32_t longest)
{
    *job = (struct stage_job){.gap_ns = draw(3) == 0 ? draw(longest) : 0};
    for (uint32_t k = 0; k < kinds; k++)
        job->stage_ns[k] = draw(4) == 0 ? 0 : draw(longest);
    job->stage_ns[draw(kinds)] += 1;
}

static double chain(const struct stage_job *job)
{
    double sum = (double)job->gap_ns;
    for (uint32_t k = 0; k < STAGE_KINDS_MAX; k++)
        sum += (double)job->stage_ns[k];
    return sum;
}

/* No resource works more than all the time, nobody is faster than alone, and nobody waits for more than one stage of each other job at
 * each resource: the group is never slower than its jobs one after another. */
Test(stage_sim, no_group_beats_its_bounds)
{
    draw_state = 20240229;
    for (int round = 0; round < 400; round++) {
        uint32_t kinds = 1 + draw(4), n = 1 + draw(kinds);
        struct stage_job jobs[4];
        double serial = 0;
        for (uint32_t i = 0; i < n; i++) {
            draw_job(&jobs[i], kinds, round % 2 ? 7 : 1000);
            serial += chain(&jobs[i]) - (double)jobs[i].gap_ns;
        }
        for (int o = 0; o < 3; o++) {
            struct stage_steady s = steady(STAGE_EXCLUSIVE, orders[o], kinds, jobs, n);
            double slack = s.period_ns > 0 ? 1e-9 : 0.01; /* means may hold an iteration too many or too few */
            for (uint32_t i = 0; i < n; i++) {
                cr_assert_geq(s.cycle_ns[i], chain(&jobs[i]) * (1 - 1e-12));
                cr_assert_leq(s.cycle_ns[i], (serial + (double)jobs[i].gap_ns) * (1 + slack), "round %d job %u", round,
                              i);
            }
            for (uint32_t k = 0; k < kinds; k++) {
                double use = 0;
                for (uint32_t i = 0; i < n; i++)
                    use += (double)jobs[i].stage_ns[k] / s.cycle_ns[i];
                cr_assert_leq(use, 1 + slack, "round %d: resource %u works %.12g of the time", round, k, use);
            }
        }
    }
}

Test(stage_sim, the_best_order_is_no_worse_than_the_given_and_the_worst_no_better)
{
    draw_state = 5;
    int n_differ = 0;
    for (int round = 0; round < 200; round++) {
        uint32_t n = 2 + draw(3);
        struct stage_job jobs[4];
        for (uint32_t i = 0; i < n; i++)
            draw_job(&jobs[i], 4, 10);
        double best = steady(STAGE_EXCLUSIVE, INTERLEAVE_BEST, 4, jobs, n).work, as_given = given(4, jobs, n).work,
               worst = steady(STAGE_EXCLUSIVE, INTERLEAVE_WORST, 4, jobs, n).work;
        cr_assert(best >= as_given && as_given >= worst, "round %d: %g %g %g", round, best, as_given, worst);
        n_differ += best > worst * 1.001;
    }
    cr_expect_gt(n_differ, 10, "orders matter in %d of 200 groups", n_differ);
}

Test(stage_sim, listing_the_jobs_otherwise_changes_nothing)
{
    draw_state = 77;
    for (int round = 0; round < 100; round++) {
        struct stage_job jobs[3], turned[3];
        for (uint32_t i = 0; i < 3; i++) {
            draw_job(&jobs[i], 4, 50);
            jobs[i].gap_ns = 100 + i; /* all different */
        }
        for (uint32_t i = 0; i < 3; i++)
            turned[i] = jobs[(i + 1) % 3];
        for (int o = 0; o < 3; o += 2) {
            struct stage_steady a = steady(STAGE_EXCLUSIVE, orders[o], 4, jobs, 3),
                                b = steady(STAGE_EXCLUSIVE, orders[o], 4, turned, 3);
            for (uint32_t i = 0; i < 3; i++)
                cr_assert_eq(a.cycle_ns[(i + 1) % 3], b.cycle_ns[i], "round %d", round);
        }
    }
}

Test(stage_sim, times_scale)
{
    draw_state = 99;
    for (int round = 0; round < 100; round++) {
        struct stage_job jobs[4], longer[4];
        for (uint32_t i = 0; i < 4; i++) {
            draw_job(&jobs[i], 4, 20);
            longer[i].gap_ns = jobs[i].gap_ns * 1000;
            for (int k = 0; k < STAGE_KINDS_MAX; k++)
                longer[i].stage_ns[k] = jobs[i].stage_ns[k] * 1000;
        }
        struct stage_steady a = given(4, jobs, 4), b = given(4, longer, 4);
        for (uint32_t i = 0; i < 4; i++)
            cr_assert_float_eq(a.cycle_ns[i] * 1000, b.cycle_ns[i], 1e-9 * b.cycle_ns[i], "round %d", round);
    }
}

/* ---- a twin that steps through time ----------------------------------------------------------------- */

struct twin_job {
    int stage, left;
    bool is_served;
    long came, rounds;
};

/* One ns a step. Whoever has been longest at a resource (then the lower slot) is served to the end. Iterations ended in `span` steps. */
static void twin(const struct stage_job *jobs, int n, int kinds, long warm_up, long span, long *rounds)
{
    struct twin_job t[4];
    for (int i = 0; i < n; i++)
        t[i] = (struct twin_job){.stage = (kinds - i) % kinds, .left = -1};
    for (long now = 0; now <= warm_up + span; now++) {
        if (now == warm_up)
            for (int i = 0; i < n; i++)
                t[i].rounds = 0;
        for (int i = 0; i < n; i++) { /* who is through goes on to the next stage that takes time */
            if (t[i].left > 0)
                continue;
            bool is_first = t[i].left < 0;
            for (;;) {
                if (!is_first) {
                    t[i].rounds += t[i].stage == kinds;
                    t[i].stage = t[i].stage == kinds ? 0 : t[i].stage + 1;
                }
                is_first = false;
                t[i].left = (int)(t[i].stage == kinds ? jobs[i].gap_ns : jobs[i].stage_ns[t[i].stage]);
                if (t[i].left > 0)
                    break;
            }
            t[i].came = now;
            t[i].is_served = t[i].stage == kinds;
        }
        for (int k = 0; k < kinds; k++) {
            int next = -1;
            for (int i = 0; i < n; i++)
                if (t[i].stage == k &&
                    (next < 0 || (t[i].is_served && !t[next].is_served) ||
                     (!t[next].is_served && t[i].is_served == t[next].is_served && t[i].came < t[next].came)))
                    next = i;
            if (next >= 0)
                t[next].is_served = true;
        }
        for (int i = 0; i < n; i++)
            t[i].left -= t[i].is_served;
    }
    for (int i = 0; i < n; i++)
        rounds[i] = t[i].rounds;
}

Test(stage_sim, a_twin_that_steps_through_time_counts_the_same_iterations)
{
    enum { SPAN = 20000 };
    draw_state = 4242;
    int n_exact = 0;
    for (int round = 0; round < 300; round++) {
        uint32_t kinds = 2 + draw(3), n = 2 + draw(kinds - 1);
        struct stage_job jobs[4];
        for (uint32_t i = 0; i < n; i++)
            draw_job(&jobs[i], kinds, 7);
        struct stage_steady s = given(kinds, jobs, n);
        long rounds[4];
        twin(jobs, (int)n, (int)kinds, 2000, SPAN, rounds);
        n_exact += s.period_ns > 0;
        for (uint32_t i = 0; i < n; i++) {
            double expected = SPAN / s.cycle_ns[i];
            cr_assert(fabs((double)rounds[i] - expected) <= 3 + (s.period_ns > 0 ? 0 : 0.002 * expected),
                      "round %d job %u: %ld iterations, not %g", round, i, rounds[i], expected);
        }
    }
    cr_expect_geq(n_exact, 295, "%d of 300 periods found", n_exact);
}

/* ---- in runs ---------------------------------------------------------------------------------------- */

static struct test_case *run_pair(enum sharing_fidelity fidelity, double inflation)
{
    struct test_case *c = case_create(1, 1);
    static double factors[2];
    factors[0] = 1;
    factors[1] = inflation;
    case_policy(c, "muri_s");
    case_job(c, 0, 20, 1);
    case_job(c, 0, 20, 1);
    c->jobs[0].iteration_ns = 1 * S;
    c->jobs[0].stage_ns[2] = 1 * S;
    c->jobs[1].iteration_ns = 10 * S;
    c->jobs[1].stage_ns[1] = c->jobs[1].stage_ns[3] = 4 * S; /* and a gap of 2 s */
    c->sharing = (struct sharing_spec){.fidelity = fidelity, .groups = 2, .inflation = {factors, 2}};
    case_run(c);
    return c;
}

Test(stage_sim, runs_take_the_rates_of_their_fidelity)
{
    /* the closed form: period 8, the first job at 1/8 until the second, at full speed, ends at 20; then 17.5 alone */
    struct test_case *c = run_pair(SHARING_CLOSED, 1);
    cr_expect_float_eq(case_end_s(c, 1), 20, 1e-6);
    cr_expect_float_eq(case_end_s(c, 0), 37.5, 1e-6, "%g", case_end_s(c, 0));
    case_destroy(c);
    /* stage by stage they do not meet at all */
    c = run_pair(SHARING_STAGE, 1);
    cr_expect_float_eq(case_end_s(c, 0), 20, 1e-6, "%g", case_end_s(c, 0));
    cr_expect_float_eq(case_end_s(c, 1), 20, 1e-6);
    case_destroy(c);
    /* at a rate of 1 / 1.25 */
    c = run_pair(SHARING_STAGE, 1.25);
    cr_expect_float_eq(case_end_s(c, 0), 25, 1e-6, "%g", case_end_s(c, 0));
    cr_expect_float_eq(case_end_s(c, 1), 25, 1e-6);
    case_destroy(c);
}

/* Rates by the model that a run has, for jobs of a workload in memory. */
Test(stage_sim, rates_are_the_same_when_asked_again_and_in_another_order)
{
    struct test_case *c = case_create(1, 4);
    static const int64_t stages[5][WORKLOAD_STAGES] = {
        {5, 5, 1, 0}, {1, 1, 9, 2}, {5, 5, 1, 0}, {0, 0, 3, 8}, {4, 4, 4, 4}};
    for (int i = 0; i < 5; i++) {
        case_job(c, 0, 10, 1);
        c->jobs[i].iteration_ns = i == 4 ? 10 : 14; /* the last one's stages overlap when it is alone */
        memcpy(c->jobs[i].stage_ns, stages[i], sizeof stages[i]);
    }
    case_policy(c, "fifo");
    case_run(c);
    struct sharing_spec spec = {.fidelity = SHARING_STAGE, .groups = 4};
    struct sharing_model *m;
    cr_assert_eq(sharing_create(&m, &spec, &c->w, NULL), 0);
    double first[4], again[4], alone;
    m->rates(m->self, (uint32_t[]){0, 1, 3, 4}, 4, first);
    for (int round = 0; round < 2; round++) {
        m->rates(m->self, (uint32_t[]){4, 3, 1, 2}, 4, again); /* 2 is like 0 */
        cr_expect(again[0] == first[3] && again[1] == first[2] && again[2] == first[1] && again[3] == first[0]);
    }
    struct stage_job jobs[4] = {{{5, 5, 1, 0}, 3}, {{1, 1, 9, 2}, 1}, {{0, 0, 3, 8}, 3}, {{4, 4, 4, 4}, 0}};
    struct stage_steady s = steady(STAGE_EXCLUSIVE, INTERLEAVE_BEST, 4, jobs, 4);
    for (int i = 0; i < 4; i++)
        cr_expect_float_eq(first[i], fmin(1, (i == 3 ? 10 : 14) / s.cycle_ns[i]), 1e-12);
    m->rates(m->self, (uint32_t[]){4}, 1, &alone);
    cr_expect_eq(alone, 1);
    sharing_destroy(m);
    case_destroy(c);
}
