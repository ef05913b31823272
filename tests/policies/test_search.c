/* Searching policies: what they find, that nothing but the seed decides it, and what happens around a decision. */
#include "policies/search_lookout.h"
#include "policies/search_pareto.h"
#include "tests/engine/cases.h"
#include "tests/policies/search_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const char *const SEARCHING[] = {"ga", "greedy_insert", "lookahead", "planner", "pso", "sa"};
enum { N_SEARCHING = 6 };

/* ---- orders --------------------------------------------------------------------------------------------- */

Test(order, every_operator_gives_a_permutation)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    uint16_t a[50], b[50], child[50];
    uint8_t seen[50];
    double keys[50];
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t n = 2 + round % 49;
        for (uint32_t i = 0; i < n; i++)
            a[i] = b[i] = (uint16_t)i;
        order_shuffle(a, n, rng);
        order_shuffle(b, n, rng);
        uint32_t i = (uint32_t)gsl_rng_uniform_int(rng, n + 1), k = (uint32_t)gsl_rng_uniform_int(rng, n + 1);
        order_cross(child, a, b, n, i < k ? i : k, i < k ? k : i, seen);
        cr_assert(order_is_valid(child, n, seen), "crossover of %u", n);
        for (uint32_t at = i < k ? i : k; at < (i < k ? k : i); at++)
            cr_assert_eq(child[at], a[at], "the slice comes from the first parent");
        order_mutate_swap(child, n, rng);
        cr_assert(order_is_valid(child, n, seen), "swap of %u", n);
        order_mutate_insert(child, n, rng);
        cr_assert(order_is_valid(child, n, seen), "insertion of %u", n);
        order_mutate_block(child, n, rng);
        cr_assert(order_is_valid(child, n, seen), "block of %u", n);
        for (uint32_t j = 0; j < n; j++)
            keys[j] = j % 7 == 3 ? NAN : (double)gsl_rng_uniform_int(rng, 5);
        order_by_keys(child, keys, n);
        cr_assert(order_is_valid(child, n, seen), "keys of %u", n);
        for (uint32_t j = 1; j < n; j++)
            cr_assert(keys[child[j - 1]] < keys[child[j]] || isnan(keys[child[j]]) ||
                      (keys[child[j - 1]] == keys[child[j]] && child[j - 1] < child[j]));
    }
    gsl_rng_free(rng);
}

Test(order, crossover_keeps_the_order_of_the_second_parent_around_the_slice)
{
    const uint16_t a[] = {0, 1, 2, 3, 4, 5, 6, 7}, b[] = {7, 6, 5, 4, 3, 2, 1, 0}, want[] = {7, 1, 2, 3, 6, 5, 4, 0};
    uint16_t child[8];
    uint8_t seen[8];
    /* b without 1 2 3 is 7 6 5 4 0 */
    order_cross(child, a, b, 8, 1, 4, seen);
    cr_assert_arr_eq(child, want, sizeof want);
}

Test(order, moves_do_what_they_say)
{
    uint16_t x[] = {0, 1, 2, 3, 4, 5};
    const uint16_t moved[] = {1, 2, 3, 0, 4, 5}, block[] = {4, 5, 1, 2, 3, 0};
    order_move(x, 0, 3);
    cr_assert_arr_eq(x, moved, sizeof moved);
    order_move_block(x, 4, 2, 0);
    cr_assert_arr_eq(x, block, sizeof block);
    order_move_block(x, 0, 2, 4);
    cr_assert_arr_eq(x, moved, sizeof moved);
}

Test(order, mutations_change_the_order)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    static void (*const mutations[])(uint16_t *, uint32_t, gsl_rng *) = {order_mutate_swap, order_mutate_insert,
                                                                        order_mutate_block};
    for (uint32_t round = 0; round < 3000; round++) {
        uint16_t x[12], before[12];
        uint32_t n = 2 + round % 11, n_other = 0;
        for (uint32_t i = 0; i < n; i++)
            x[i] = before[i] = (uint16_t)i;
        mutations[round % 3](x, n, rng);
        for (uint32_t i = 0; i < n; i++)
            n_other += x[i] != before[i];
        cr_assert_geq(n_other, 2u, "mutation %u of %u leaves all where it was", round % 3, n);
        if (round % 3 == 0)
            cr_assert_eq(n_other, 2u, "a swap moves two");
    }
    gsl_rng_free(rng);
}

/* ---- fronts --------------------------------------------------------------------------------------------- */

Test(pareto, fronts_crowding_and_the_knee_of_a_hand_made_set)
{
    /*   b  4 | a
     *      3 |         (e: 3,3)
     *      2 |    b    (d: 2,2.5)
     *      1 |              c
     */
    struct pareto_point p[] = {{.value = {0, 4}, .n = 2},
                               {.value = {1, 2}, .n = 2},
                               {.value = {4, 1}, .n = 2},
                               {.value = {2, 2.5}, .n = 2},
                               {.value = {3, 3}, .n = 2}};
    pareto_sort(p, 5);
    const uint32_t fronts[] = {0, 0, 0, 1, 2};
    for (uint32_t i = 0; i < 5; i++)
        cr_expect_eq(p[i].front, fronts[i], "point %u", i);
    cr_expect(isinf(p[0].crowding) && isinf(p[2].crowding));
    cr_expect_float_eq(p[1].crowding, 2, 1e-12); /* both sides of its box are the whole range */
    cr_expect_eq(pareto_choose(p, 5, PARETO_KNEE), 1u);
    cr_expect_eq(pareto_choose(p, 5, PARETO_WEIGHTS), 1u);
    cr_expect(pareto_is_before(&p[0], &p[1]) && pareto_is_before(&p[1], &p[3]));
}

/* ---- quality ---------------------------------------------------------------------------------------------- */

static double run_with(const char *policy, uint64_t seed, const char *budget, const char *placement, const char *fill)
{
    struct test_case *c = case_create(2, 8);
    uint64_t state = seed * 2654435761u + 1;
    draw_jobs(c, &state, 8, 16);
    case_placement(c, placement);
    case_policy(c, policy);
    if (budget != NULL)
        case_param(c, "budget", budget);
    if (fill != NULL)
        case_param(c, "fill", fill);
    case_run(c);
    double mean = mean_jct(c);
    case_destroy(c);
    return mean;
}

/* The best of all orders of 8 jobs on 16 GPUs, found by trying all starts: independent of rollouts and of the planner. */
static double best_of_all(const struct case_job *jobs, uint32_t gpus)
{
    uint16_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    double best = INFINITY;
    uint32_t c[8] = {0};
    for (uint32_t i = 1; i <= 8;) { /* Heap's permutations */
        double ends[8], now = 0, sum = 0;
        uint32_t free = gpus, running = 0;
        for (uint32_t k = 0; k < 8 && i > 0; k++) {
            const struct case_job *j = &jobs[order[k]];
            while (free < j->gpus) {
                uint32_t first = UINT32_MAX;
                for (uint32_t r = 0; r < k; r++)
                    if ((running >> r & 1) && (first == UINT32_MAX || ends[r] < ends[first]))
                        first = r;
                now = ends[first] > now ? ends[first] : now;
                running &= ~(1u << first);
                free += jobs[order[first]].gpus;
            }
            ends[k] = now + (double)j->duration_ns * 1e-9;
            sum += ends[k];
            running |= 1u << k;
            free -= j->gpus;
        }
        best = sum / 8 < best ? sum / 8 : best;
        for (i = 1; i < 8 && c[i] >= i; i++)
            c[i] = 0;
        if (i == 8)
            break;
        order_swap(order, i % 2 == 0 ? 0 : c[i], i);
        c[i]++;
    }
    return best;
}

Test(search, the_planner_finds_the_best_of_all_orders)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct test_case *c = case_create(2, 8);
        uint64_t state = seed * 2654435761u + 1;
        draw_jobs(c, &state, 8, 16);
        double best = best_of_all(c->jobs, 16);
        case_destroy(c);
        cr_expect_float_eq(run_with("planner", seed, NULL, "count", NULL), best, best * 1e-8, "seed %llu",
                           (unsigned long long)seed);
    }
}

Test(search, ga_insertion_pso_and_sa_come_within_a_hundredth_of_the_best_on_average)
{
    static const char *const NAMES[] = {"ga", "greedy_insert", "pso", "sa"};
    static const char *const SIMPLE[] = {"fifo", "sjf", "srsf", "smallest"};
    double loss[4] = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        double best = run_with("planner", seed, NULL, "count", NULL), simple = INFINITY;
        for (int k = 0; k < 4; k++)
            for (int f = 0; f < 2; f++) {
                struct test_case *c = case_create(2, 8);
                uint64_t state = seed * 2654435761u + 1;
                draw_jobs(c, &state, 8, 16);
                case_placement(c, "count");
                case_policy(c, "compose");
                case_param(c, "order", SIMPLE[k]);
                case_param(c, "fill", f == 0 ? "skip" : "strict");
                case_run(c);
                simple = fmin(simple, mean_jct(c));
                case_destroy(c);
            }
        for (int k = 0; k < 4; k++) {
            double found = run_with(NAMES[k], seed, "600", "count", NULL);
            loss[k] += found / best - 1;
            cr_expect_leq(found, simple * (1 + 1e-12), "%s is worse than its best seed, seed %llu", NAMES[k],
                          (unsigned long long)seed);
            cr_expect_geq(found, best * (1 - 1e-9));
        }
    }
    for (int k = 0; k < 4; k++)
        cr_expect_lt(loss[k] / 100, 0.01, "%s loses %.3f %%", NAMES[k], loss[k]);
}

/* ---- the same on any number of threads ------------------------------------------------------------------- */

static struct test_case *busy_case(const char *policy, uint32_t threads)
{
    struct test_case *c = case_create(4, 8);
    uint64_t state = 77;
    draw_jobs(c, &state, 150, 20);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        c->jobs[j].submit_ns = (int64_t)draw(&state, 3000) * S;
        c->jobs[j].user = draw(&state, 2) == 0 ? "u" : "v";
        c->jobs[j].priority = draw(&state, 3);
        c->jobs[j].deadline_ns = c->jobs[j].submit_ns + (int64_t)draw(&state, 2000) * S;
    }
    case_sort(c);
    case_policy(c, policy);
    c->spec.threads = threads;
    c->spec.overhead.restart.constant_ns = 10 * S;
    case_param(c, "budget", "150");
    return c;
}

Test(search, threads_do_not_change_the_schedule)
{
    for (int k = 0; k < N_SEARCHING; k++)
        for (int variant = 0; variant < 3; variant++) {
            struct run_result first = {0};
            struct test_case *kept = NULL;
            for (uint32_t threads = 1; threads <= 8; threads = threads == 1 ? 2 : threads * 4) {
                struct test_case *c = busy_case(SEARCHING[k], threads);
                if (variant >= 1)
                    case_param(c, "victims", "8");
                if (variant == 2) {
                    case_param(c, "fairness", "1");
                    case_param(c, "weighted_jct", "1");
                    case_param(c, "deadlines", "0.5");
                    case_param(c, "utilization", "0.5");
                    case_placement(c, "random");
                }
                case_run(c);
                if (kept == NULL) {
                    kept = c;
                    first = c->r;
                    continue;
                }
                cr_expect_eq(memcmp(first.jobs, c->r.jobs, c->n_jobs * sizeof *c->r.jobs), 0, "%s, %u threads",
                             SEARCHING[k], threads);
                case_destroy(c);
            }
            case_destroy(kept);
        }
}

/* ---- around a decision ------------------------------------------------------------------------------------- */

/* One GPU. Job 0 runs from 0 to 100; 1 (80 s) and 2 (10 s) wait. With the base order fifo and a decision at 100, the short one is first. */
static struct test_case *two_wait(void)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 100, 1);
    case_job(c, 1, 80, 1);
    case_job(c, 2, 10, 1);
    case_policy(c, "ga");
    case_param(c, "base", "fifo");
    return c;
}

Test(search, a_decision_orders_the_queue)
{
    struct test_case *c = two_wait();
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 2), 100, 1e-9);
    cr_expect_float_eq(case_start_s(c, 1), 110, 1e-9);
    case_destroy(c);
}

Test(search, a_decision_takes_effect_after_its_latency)
{
    struct test_case *c =
        two_wait(); /* decided at 100, in effect at 150: by then the order that stood has started job 1 */
    case_job(c, 3, 20, 1);
    case_param(c, "latency", "50 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 1), 100, 1e-9);
    cr_expect_float_eq(case_start_s(c, 2), 180, 1e-9);
    cr_expect_float_eq(case_start_s(c, 3), 190, 1e-9);
    case_destroy(c);
}

Test(search, latency_costs_what_it_says)
{
    struct test_case *c =
        case_create(1, 2); /* both GPUs free at 100 after a job of two; order fifo would start 1, then 2 */
    case_job(c, 0, 100, 2);
    case_job(c, 1, 500, 2);
    case_job(c, 2, 10, 1);
    case_job(c, 3, 10, 1);
    case_policy(c, "sa");
    case_param(c, "base", "fifo");
    case_param(c, "latency", "1 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 1), 100, 1e-9, "the order that stands goes on meanwhile");
    case_destroy(c);
}

Test(search, no_decision_within_the_period)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    case_job(c, 1, 50, 1);
    case_job(c, 2, 20, 1); /* at 10: decided, 2 before 1 */
    case_job(c, 15, 90, 1);
    case_job(c, 16, 5, 1); /* at 30 the plan says 1; at 80 the order is fifo, unless a decision comes */
    case_policy(c, "ga");
    case_param(c, "base", "fifo");
    case_param(c, "period", "1000 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 2), 10, 1e-9);
    cr_expect_float_eq(case_start_s(c, 1), 30, 1e-9);
    cr_expect_float_eq(case_start_s(c, 3), 80, 1e-9);
    case_param(c, "period", "20 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 4), 30, 1e-9);
    case_destroy(c);
}

Test(search, a_job_that_comes_later_takes_its_place_by_the_base_order)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    case_job(c, 1, 50, 1);
    case_job(c, 2, 20, 1);
    case_job(c, 15, 30, 1); /* between 20 and 50 */
    case_policy(c, "planner");
    case_param(c, "base", "sjf");
    case_param(c, "period", "1000 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 2), 10, 1e-9);
    cr_expect_float_eq(case_start_s(c, 3), 30, 1e-9);
    cr_expect_float_eq(case_start_s(c, 1), 60, 1e-9);
    case_destroy(c);
}

Test(search, a_job_that_comes_later_goes_behind_its_equals_in_the_plan)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    case_job(c, 1, 50, 1);
    case_job(c, 2, 20, 1);
    case_job(c, 15, 50, 1);
    case_policy(c, "planner");
    case_param(c, "base", "sjf");
    case_param(c, "period", "1000 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 2), 10, 1e-9);
    cr_expect_float_eq(case_start_s(c, 1), 30, 1e-9);
    cr_expect_float_eq(case_start_s(c, 3), 80, 1e-9);
    case_destroy(c);
}

Test(search, who_cannot_meet_its_deadline_any_more_does_not_hold_up_others)
{
    /* One GPU. A, 5 s, is late by its deadline at 3 s whatever happens; B, 10 s, meets 12 s only when it goes first. Neither by length nor by
     * deadline does it: the budget is for the three first orders, each strict and not. */
    struct test_case *c = case_create(1, 1);
    c->jobs[case_job(c, 0, 5, 1)].deadline_ns = 3 * S;
    c->jobs[case_job(c, 0, 10, 1)].deadline_ns = 12 * S;
    case_policy(c, "sa");
    case_param(c, "deadlines", "10");
    case_param(c, "budget", "6");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 1), 0, 1e-9);
    cr_expect_float_eq(case_start_s(c, 0), 10, 1e-9);
    case_destroy(c);
}

/* A job came every 10 s from 0 to 90 s. What is expected at 100 s is cut out of that, and goes round it: again one every 10 s, wherever the cut
 * is. */
static void draw_what_is_expected(struct sched *s, uint32_t round)
{
    static struct lookout l;
    (void)round;
    if (sched_now(s) == 0)
        cr_assert(lookout_init(&l, s, 75 * S, 1000 * S, LOOKOUT_SCENARIOS, 20));
    for (uint32_t job = l.n_arrivals; job < sched_n_jobs(s) && sched_submit_ns(s, job) <= sched_now(s); job++)
        if (sched_now(s) < 100 * S)
            lookout_note(&l, job);
    cases_start_all(s);
    if (sched_now(s) != 100 * S)
        return;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    uint32_t n = lookout_draw(&l, s, BASE_FIFO, rng);
    cr_assert_eq(n, l.first[LOOKOUT_SCENARIOS]);
    for (uint32_t k = 0; k < LOOKOUT_SCENARIOS; k++) {
        uint32_t count = l.first[k + 1] - l.first[k];
        cr_expect(count == 7 || count == 8, "scenario %u has %u arrivals in 75 s", k, count);
        for (uint32_t i = l.first[k]; i < l.first[k + 1]; i++) {
            int64_t after = l.jobs[i].after_ns, before = i > l.first[k] ? l.jobs[i - 1].after_ns : after - 10 * S;
            cr_expect_eq(after - before, 10 * S, "scenario %u, arrival %u: %g s after %g s", k, i - l.first[k],
                         (double)after * 1e-9, (double)before * 1e-9);
            cr_expect(before <= 75 * S - 10 * S && before <= after);
        }
        cr_expect_leq(l.jobs[l.first[k]].after_ns, 10 * S);
    }
    gsl_rng_free(rng);
}

Test(lookout, what_is_expected_is_the_past_gone_round)
{
    struct test_case *c = case_create(1, 1);
    for (int i = 0; i <= 10; i++)
        case_job(c, 10 * i, 1, 1);
    struct policy_ops ops = cases_script(draw_what_is_expected);
    ops.knows = KNOWS_ESTIMATE;
    cases_use(c, &ops);
    case_run(c);
    case_destroy(c);
}

/* GPU 0 is taken; on GPU 1 short jobs come every 20 s until 2000 s. A long one comes into the gap at 1016 s. */
enum { LONG = 51 };
static struct test_case *gap_case(const char *lookout)
{
    struct test_case *c = case_create(1, 2);
    case_job(c, 0, 20000, 1);
    for (uint32_t i = 1; i < 100; i++) {
        case_job(c, 20 * i, 10 + i % 6, 1);
        if (i == LONG - 1)
            case_job(c, 1016, 5000, 1);
    }
    case_policy(c, "ga");
    case_param(c, "period", "60 s");
    case_param(c, "lookout", lookout);
    case_param(c, "past", "600 s");
    return c;
}

Test(search, a_long_job_waits_for_short_ones_that_are_expected)
{
    struct test_case *c = gap_case("0 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, LONG), 1016, 1e-9);
    cr_expect_geq(case_start_s(c, LONG + 1), 6016, "behind the long one");
    case_destroy(c);
    c = gap_case("600 s");
    case_run(c);
    cr_expect_geq(case_start_s(c, LONG), 1990, "it waits as long as they come");
    cr_expect_leq(case_start_s(c, LONG), 1990 + 600 + 60, "and no longer than they are remembered");
    for (uint32_t i = 1; i < 100; i++)
        cr_expect_float_eq(case_start_s(c, i < LONG ? i : i + 1), 20 * i, 1e-9, "short job %u does not wait", i);
    case_destroy(c);
}

Test(search, nothing_is_held_back_in_an_empty_cluster)
{
    struct test_case *c = case_create(1, 1);
    for (uint32_t i = 0; i < 50; i++)
        case_job(c, 20 * i, 10, 1);
    case_job(c, 995, 5000, 1);
    case_policy(c, "sa");
    case_param(c, "lookout", "600 s");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 50), 995, 1e-9);
    case_destroy(c);
}

Test(search, a_victim_gives_way_when_that_is_worth_a_restart)
{
    for (int dear = 0; dear < 2; dear++) {
        struct test_case *c = case_create(1, 4);
        case_job(c, 0, 1000, 4);
        case_job(c, 10, 20, 4);
        case_policy(c, "sa");
        case_param(c, "victims", "4");
        c->spec.overhead.restart.constant_ns = dear ? 2000 * S : 5 * S;
        case_run(c);
        cr_expect_float_eq(case_start_s(c, 1), dear ? 1000 : 10, 1e-9);
        cr_expect_eq(c->r.jobs[0].preemptions, dear ? 0u : 1u);
        if (!dear) /* 10 s done, 20 s aside, 5 s to restart */
            cr_expect_float_eq(case_end_s(c, 0), 1025, 1e-9);
        case_destroy(c);
    }
}

Test(search, weights_say_what_is_sought)
{
    /* Two GPUs. A: 2 GPUs, 10 s, of weight; B, C: 1 GPU, 8 s. Mean completion time wants B and C first (8 + 8 + 18 < 10 + 18 + 18). */
    for (int weighted = 0; weighted < 2; weighted++) {
        struct test_case *c = case_create(1, 2);
        case_job(c, 0, 10, 2);
        case_job(c, 0, 8, 1);
        case_job(c, 0, 8, 1);
        c->jobs[0].priority = 9;
        case_policy(c, "planner");
        case_param(c, weighted ? "jct" : "weighted_jct", "0");
        case_param(c, weighted ? "weighted_jct" : "jct", "1");
        case_run(c);
        cr_expect_float_eq(case_start_s(c, 0), weighted ? 0 : 8, 1e-9);
        case_destroy(c);
    }
    /* A deadline that only the long job first can meet. */
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 50, 1);
    case_job(c, 0, 5, 1);
    c->jobs[0].deadline_ns = 51 * S;
    case_policy(c, "ga");
    case_param(c, "deadlines", "10");
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 0), 0, 1e-9);
    case_destroy(c);
}

Test(search, makespan_and_mean_pull_apart_and_a_front_holds_both)
{
    /* Two GPUs: jobs of 3, 3, 2, 2, 2 s: makespan 6 wants 3 3 | 2 2 2; shortest first gives 2 2 2 3 3 and ends at 7. */
    double ends[3];
    static const char *const WHAT[3][3] = {{"0", "1", "none"}, {"1", "0", "none"}, {"1", "1", "knee"}};
    for (int k = 0; k < 3; k++) {
        struct test_case *c = case_create(1, 2);
        static const double LENGTH[] = {3, 3, 2, 2, 2};
        for (int j = 0; j < 5; j++)
            case_job(c, 0, LENGTH[j], 1);
        case_policy(c, "ga");
        case_param(c, "jct", WHAT[k][0]);
        case_param(c, "makespan", WHAT[k][1]);
        case_param(c, "pareto", WHAT[k][2]);
        case_param(c, "budget", "400");
        case_run(c);
        ends[k] = 0;
        for (uint32_t j = 0; j < 5; j++)
            ends[k] = fmax(ends[k], case_end_s(c, j));
        case_destroy(c);
    }
    cr_expect_float_eq(ends[0], 6, 1e-9);
    cr_expect_float_eq(ends[1], 7, 1e-9);
    cr_expect(ends[2] >= 6 - 1e-9 && ends[2] <= 7 + 1e-9);
}

Test(search, a_clock_needs_the_word_that_it_may_be_looked_at)
{
    struct test_case *c = two_wait();
    case_param(c, "budget_ms", "5");
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, "deterministic: false"), "%s", c->err.message);
    case_param(c, "deterministic", "false");
    cr_expect_eq(case_try(c), BRAID_OK);
    case_destroy(c);
}

Test(search, an_objective_without_weights_is_refused)
{
    struct test_case *c = two_wait();
    case_param(c, "jct", "0");
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    case_destroy(c);
}

Test(search, budgets_of_one_and_queues_of_one_do_no_harm)
{
    for (int k = 0; k < N_SEARCHING; k++)
        for (int budget = 1; budget <= 30; budget += budget < 14 ? 1 : 8) {
            char text[16];
            snprintf(text, sizeof text, "%d", budget);
            struct test_case *c = busy_case(SEARCHING[k], 1);
            case_param(c, "budget", text);
            case_param(c, "window_jobs", budget % 2 ? "2" : "9");
            case_param(c, "victims", budget % 3 ? "0" : "5");
            case_run(c);
            for (uint32_t j = 0; j < c->n_jobs; j++)
                cr_assert_eq(c->r.jobs[j].status, STATUS_FINISHED, "%s, budget %d", SEARCHING[k], budget);
            case_destroy(c);
        }
}
