/* The period of a group against every way to arrange it, written down a second time, and against what cannot be beaten. */
#include "model/interleave.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <math.h>

enum { MOST = INTERLEAVE_GROUP_MAX };

static struct interleave_profile profile(gsl_rng *r, uint32_t kinds)
{
    struct interleave_profile p = {.iteration = 0.1 + gsl_rng_uniform(r)};
    for (uint32_t k = 0; k < kinds; k++)
        p.stage[k] = gsl_rng_uniform_int(r, 4) == 0 ? 0 : (double)gsl_rng_uniform_int(r, 1000) / 1000;
    return p;
}

static struct interleave_rule phases(uint32_t kinds, enum interleave_order order)
{
    return (struct interleave_rule){.form = INTERLEAVE_PHASES, .order = order, .kinds = kinds};
}

/* ---- the second writing ---------------------------------------------------------------------------- */

struct seats {
    const struct interleave_profile *at[MOST]; /* by slot; NULL: empty */
    uint32_t n;                                /* slots */
};

/* At time i the job of slot s is in stage i - s. */
static double rounds(const struct seats *s)
{
    double total = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double longest = 0;
        for (uint32_t k = 0; k < s->n; k++) {
            int stage = (int)i - (int)k;
            if (s->at[k] != NULL)
                longest = fmax(longest, s->at[k]->stage[stage < 0 ? stage + (int)s->n : stage]);
        }
        total += longest;
    }
    return total;
}

/* Every way to seat the jobs from `job` on: the least and the largest period. */
static void every_way(struct seats *s, const struct interleave_profile *const *jobs, uint32_t n, uint32_t job,
                      double (*period)(const struct seats *), double *least, double *most)
{
    if (job == n) {
        double t = period(s);
        *least = fmin(*least, t);
        *most = fmax(*most, t);
        return;
    }
    for (uint32_t k = 0; k < s->n; k++)
        if (s->at[k] == NULL) {
            s->at[k] = jobs[job];
            every_way(s, jobs, n, job + 1, period, least, most);
            s->at[k] = NULL;
        }
}

/* The released simulator's recurrence, from its description, over slots 0 .. n-1 of four. */
static double recurrence(const struct seats *s)
{
    double f[9] = {0};
    for (int i = 0; i < 8; i++) {
        int third = (i + 1) % 4, second = (i + 2) % 4, first = (i + 3) % 4;
        if (third < (int)s->n)
            f[i + 1] = fmax(f[i + 1], f[i] + s->at[third]->stage[2]);
        if (second < (int)s->n)
            f[i + 1] = fmax(f[i + 1], f[i] + s->at[second]->stage[1]);
        if (i > 0 && first < (int)s->n)
            f[i + 1] = fmax(f[i + 1], f[i - 1] + s->at[first]->stage[0]);
        if (i < 4)
            continue;
        double now = f[i + 1] - f[i - 3], then = f[i] - f[i - 4];
        if (now > 0 && fabs(now - then) <= 1e-3 * fmax(fabs(now), fabs(then)))
            return now;
    }
    return f[8] - f[4];
}

/* ---- tests ----------------------------------------------------------------------------------------- */

Test(interleave, a_job_alone_takes_its_own_time)
{
    struct interleave_profile p = {.stage = {1, 2, 3, 4}, .iteration = 7.5};
    const struct interleave_profile *jobs[] = {&p};
    for (int order = INTERLEAVE_BEST; order <= INTERLEAVE_WORST; order++) {
        struct interleave_rule rule = phases(4, (enum interleave_order)order);
        rule.inflation[1] = 3; /* of one job not used */
        cr_expect_eq(interleave_compute(&rule, jobs, 1), 7.5);
        rule.form = INTERLEAVE_MURI;
        cr_expect_eq(interleave_compute(&rule, jobs, 1), 7.5);
    }
}

Test(interleave, four_jobs_that_fit_into_each_other_take_no_longer_than_one)
{
    struct interleave_profile p = {.stage = {1, 1, 1, 1}, .iteration = 4};
    const struct interleave_profile *jobs[] = {&p, &p, &p, &p};
    struct interleave_rule rule = phases(4, INTERLEAVE_BEST);
    cr_expect_eq(interleave_compute(&rule, jobs, 4), 4);
    rule.inflation[4] = 1.25;
    cr_expect_eq(interleave_compute(&rule, jobs, 4), 5);
    struct interleave_profile long_first = {.stage = {2, 1, 1},
                                            .iteration = 4}; /* the first stage is two phases long */
    const struct interleave_profile *three[] = {&long_first, &long_first, &long_first, &long_first};
    rule = (struct interleave_rule){.form = INTERLEAVE_MURI};
    cr_expect_eq(interleave_compute(&rule, three, 4), 4);
    cr_expect_eq(interleave_compute(&rule, three, 2), 4);
}

Test(interleave, two_jobs_may_stand_opposite_under_muri)
{
    struct interleave_profile a = {.stage = {5, 0, 1}}, b = {.stage = {1, 3, 2}};
    const struct interleave_profile *jobs[] = {&a, &b};
    struct interleave_rule rule = {.form = INTERLEAVE_MURI};
    cr_expect_eq(interleave_compute(&rule, jobs, 2), 6); /* max(5, 3 + 2) + max(1, 0 + 1) */
}

Test(interleave, best_worst_and_given_order_are_those_of_all_arrangements)
{
    gsl_rng *r = random_stream(1, "test", "phases");
    for (uint32_t round = 0; round < 600; round++) {
        uint32_t kinds = 1 + round % 6, n = 1 + (uint32_t)gsl_rng_uniform_int(r, kinds);
        struct interleave_profile p[MOST];
        const struct interleave_profile *jobs[MOST];
        for (uint32_t i = 0; i < n; i++) {
            p[i] = profile(r, kinds);
            jobs[i] = &p[i];
        }
        if (n == 1)
            continue;
        double least = INFINITY, most = 0;
        struct seats s = {.n = kinds};
        every_way(&s, jobs, n, 0, rounds, &least, &most);
        for (uint32_t i = 0; i < n; i++)
            s.at[i] = jobs[i];
        struct interleave_rule best = phases(kinds, INTERLEAVE_BEST), worst = phases(kinds, INTERLEAVE_WORST),
                               given = phases(kinds, INTERLEAVE_GIVEN);
        cr_assert_float_eq(interleave_compute(&best, jobs, n), least, 1e-12);
        cr_assert_float_eq(interleave_compute(&worst, jobs, n), most, 1e-12);
        cr_assert_float_eq(interleave_compute(&given, jobs, n), rounds(&s), 1e-12);
    }
    gsl_rng_free(r);
}

Test(interleave, muri_form_is_its_recurrence_over_all_orders)
{
    gsl_rng *r = random_stream(2, "test", "muri");
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t n = 2 + round % 3;
        struct interleave_profile p[MOST];
        const struct interleave_profile *jobs[MOST];
        for (uint32_t i = 0; i < n; i++) {
            p[i] = profile(r, 3);
            jobs[i] = &p[i];
        }
        double least = INFINITY, most = 0;
        struct seats s = {.n = n};
        every_way(&s, jobs, n, 0, recurrence, &least, &most);
        if (n == 2) {
            double opposite =
                fmax(p[0].stage[0], p[1].stage[1] + p[1].stage[2]) + fmax(p[1].stage[0], p[0].stage[1] + p[0].stage[2]);
            least = fmin(least, opposite);
            most = fmax(most, opposite);
        }
        struct interleave_rule best = {.form = INTERLEAVE_MURI}, worst = {INTERLEAVE_MURI, INTERLEAVE_WORST, 3, {0}};
        cr_assert_eq(interleave_compute(&best, jobs, n), least);
        cr_assert_eq(interleave_compute(&worst, jobs, n), most);
    }
    gsl_rng_free(r);
}

Test(interleave, no_resource_works_more_than_all_the_time)
{
    gsl_rng *r = random_stream(3, "test", "bound");
    for (uint32_t round = 0; round < 500; round++) {
        uint32_t kinds = 2 + round % 4, n = 1 + (uint32_t)gsl_rng_uniform_int(r, kinds);
        struct interleave_rule rule = phases(kinds, INTERLEAVE_BEST);
        struct interleave m;
        uint32_t ids[MOST];
        double use[INTERLEAVE_KINDS_MAX], busiest = 0;
        interleave_init(&m, &rule);
        for (uint32_t i = 0; i < n; i++) {
            struct interleave_profile p = profile(r, kinds);
            p.iteration = 0; /* alone: one stage after another */
            for (uint32_t k = 0; k < kinds; k++)
                p.iteration += p.stage[k];
            ids[i] = interleave_add(&m, &p);
        }
        double period = interleave_period(&m, ids, n);
        interleave_use(&m, ids, n, use);
        for (uint32_t k = 0; k < kinds; k++) {
            double work = 0;
            for (uint32_t i = 0; i < n; i++)
                work += m.profiles[ids[i]].stage[k];
            busiest = fmax(busiest, work);
            cr_assert_leq(use[k], 1 + 1e-12);
            cr_assert_float_eq(use[k] * period, work, 1e-12);
        }
        cr_assert_geq(period, busiest - 1e-12, "a group of %u beats the bound", n);
        interleave_fini(&m);
    }
    gsl_rng_free(r);
}

Test(interleave, equal_profiles_have_one_number)
{
    struct interleave_rule rule = phases(4, INTERLEAVE_BEST);
    struct interleave m;
    struct interleave_profile a = {.stage = {1, 2, 3, 4}, .iteration = 10}, b = a;
    interleave_init(&m, &rule);
    b.iteration = 11;
    cr_expect_eq(interleave_add(&m, &a), 0u);
    cr_expect_eq(interleave_add(&m, &b), 1u);
    cr_expect_eq(interleave_add(&m, &a), 0u);
    for (uint32_t i = 0; i < 5000; i++) {
        a.stage[0] = i + 2;
        cr_assert_eq(interleave_add(&m, &a), i + 2);
    }
    a.stage[0] = 2;
    cr_expect_eq(interleave_add(&m, &a), 2u);
    cr_expect_eq(m.n_profiles, 5002u);
    interleave_fini(&m);
}

Test(interleave, what_is_kept_is_what_is_computed)
{
    gsl_rng *r = random_stream(4, "test", "kept");
    for (int order = INTERLEAVE_BEST; order <= INTERLEAVE_WORST; order++) {
        struct interleave_rule rule = phases(4, (enum interleave_order)order);
        struct interleave m;
        rule.inflation[3] = 1.5;
        interleave_init(&m, &rule);
        for (uint32_t i = 0; i < 20; i++) {
            struct interleave_profile p = profile(r, 4);
            (void)interleave_add(&m, &p);
        }
        for (uint32_t round = 0; round < 20000; round++) {
            uint32_t ids[4], n = 1 + round % 4;
            const struct interleave_profile *jobs[4];
            for (uint32_t i = 0; i < n; i++) {
                ids[i] = (uint32_t)gsl_rng_uniform_int(r, m.n_profiles);
                jobs[i] = &m.profiles[ids[i]];
            }
            cr_assert_float_eq(interleave_period(&m, ids, n), interleave_compute(&rule, jobs, n), 1e-12);
        }
        cr_expect_gt(m.n_entries, 1000u);
        interleave_fini(&m);
    }
    gsl_rng_free(r);
}
