/* The arithmetic of the Themis policies against brute force. */
#include "policies/finish_time.h"
#include "policies/partial_auction.h"
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static double rho_of(const struct finish_time *j, double x)
{
    return (j->age + j->remaining / x) / j->ideal;
}

static double gpus_used(const struct finish_time *j, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += j[i].gpus * j[i].x;
    return sum;
}

static void random_jobs(struct finish_time *j, uint32_t n, double capacity, uint64_t *dice)
{
    for (uint32_t i = 0; i < n; i++) {
        j[i].gpus = 1 + (double)cases_roll(dice, 8);
        j[i].age = (double)cases_roll(dice, 1000);
        j[i].remaining = 1 + (double)cases_roll(dice, 500);
        double part = n * j[i].gpus / capacity, stretch = part > 1 ? part : 1;
        j[i].ideal = ((double)cases_roll(dice, 300) + j[i].remaining) * stretch;
    }
}

Test(finish_time, three_equal_jobs_share_equally)
{
    /* 4 GPUs, three new jobs of 4 GPUs and 100 s: 1/3 of the time each, done after 300 s as on a third of the cluster: rho 1 */
    struct finish_time j[3];
    for (int i = 0; i < 3; i++)
        j[i] = (struct finish_time){.gpus = 4, .age = 0, .remaining = 100, .ideal = 300};
    cr_expect_float_eq(finish_time_solve(j, 3, 4), 1, 1e-12);
    for (int i = 0; i < 3; i++)
        cr_expect_float_eq(j[i].x, 1.0 / 3, 1e-12);
}

Test(finish_time, who_cannot_be_helped_further_does_not_hold_back_others)
{
    /* the first has waited 900 s for a job of 100: rho (900 + 100) / 300 even if it has GPUs all the time. The other two share what is left
     * of 2 GPUs equally: x = 1/2 and rho 200 / 300 */
    struct finish_time j[3] = {{.gpus = 1, .age = 900, .remaining = 100, .ideal = 300},
                               {.gpus = 1, .age = 0, .remaining = 100, .ideal = 300},
                               {.gpus = 1, .age = 0, .remaining = 100, .ideal = 300}};
    cr_expect_float_eq(finish_time_solve(j, 3, 2), 1000.0 / 300, 1e-12);
    cr_expect_float_eq(j[0].x, 1, 1e-12);
    cr_expect_float_eq(j[1].x, 0.5, 1e-12);
    cr_expect_float_eq(j[2].x, 0.5, 1e-12);
}

/* The least largest rho over a grid of parts for three jobs. */
static double brute(const struct finish_time *j, double capacity, int steps)
{
    double best = INFINITY;
    for (int a = 1; a <= steps; a++)
        for (int b = 1; b <= steps; b++) {
            double x = (double)a / steps, y = (double)b / steps;
            double z = (capacity - j[0].gpus * x - j[1].gpus * y) / j[2].gpus; /* all that is left */
            z = z < 1 ? z : 1;
            if (z <= 0)
                continue;
            double worst = fmax(rho_of(&j[0], x), fmax(rho_of(&j[1], y), rho_of(&j[2], z)));
            best = worst < best ? worst : best;
        }
    return best;
}

Test(finish_time, the_largest_rho_is_that_of_brute_force)
{
    uint64_t dice = 5;
    for (int round = 0; round < 100; round++) {
        struct finish_time j[3];
        double capacity = 2 + (double)cases_roll(&dice, 12);
        random_jobs(j, 3, capacity, &dice);
        double found = brute(j, capacity, 400), rho = finish_time_solve(j, 3, capacity);
        cr_assert(rho <= found * (1 + 1e-12), "round %d: %.12g, but brute force finds %.12g", round, rho, found);
        cr_assert(found <= rho * 1.05, "round %d: %.12g is too good beside %.12g", round, rho,
                  found); /* the grid is coarse */
    }
}

Test(finish_time, the_answer_is_feasible_and_none_could_gain_without_one_as_bad_losing)
{
    uint64_t dice = 6;
    for (int round = 0; round < 300; round++) {
        struct finish_time j[12];
        uint32_t n = 3 + (uint32_t)cases_roll(&dice, 10);
        double capacity = 1 + (double)cases_roll(&dice, 30), sum = 0, common = 0;
        random_jobs(j, n, capacity, &dice);
        double rho = finish_time_solve(j, n, capacity), worst = 0;
        for (uint32_t i = 0; i < n; i++) {
            cr_assert(j[i].x > 0 && j[i].x <= 1);
            worst = fmax(worst, rho_of(&j[i], j[i].x));
            sum += j[i].gpus;
            if (j[i].x < 1)
                common = fmax(common, rho_of(&j[i], j[i].x));
        }
        cr_assert_float_eq(rho, worst, 1e-12 * worst);
        cr_assert_leq(gpus_used(j, n), capacity);
        if (sum <= capacity)
            cr_assert_float_eq(gpus_used(j, n), sum, 1e-9);
        else /* no GPU is left, and who has less than all the time has the common rho */
            cr_assert_float_eq(gpus_used(j, n), capacity, 1e-9 * capacity);
        for (uint32_t i = 0; i < n; i++)
            cr_assert(j[i].x >= 1 || fabs(rho_of(&j[i], j[i].x) - common) <= 1e-9 * common, "round %d", round);
    }
}

/* ---- the auction -------------------------------------------------------------------------------------------- */

static double best_of(const struct auction_bid *b, uint32_t n, uint32_t gpus, uint32_t without)
{
    double best = 0;
    for (uint32_t set = 0; set < 1u << n; set++) {
        uint64_t used = 0;
        double sum = 0;
        for (uint32_t i = 0; i < n; i++)
            if ((set >> i & 1) != 0) {
                used += b[i].gpus;
                sum += b[i].log_gain;
            }
        if (used <= gpus && (without == n || (set >> without & 1) == 0) && sum > best)
            best = sum;
    }
    return best;
}

Test(partial_auction, winners_and_what_they_keep_are_those_of_brute_force)
{
    uint64_t dice = 8;
    for (int round = 0; round < 200; round++) {
        struct auction_bid b[9];
        uint32_t n = 3 + (uint32_t)cases_roll(&dice, 7), gpus = 1 + (uint32_t)cases_roll(&dice, 24);
        double memory[2 * 10 * 25], sum = 0;
        cr_assert_leq(partial_auction_room(n, gpus), sizeof memory / sizeof *memory);
        for (uint32_t i = 0; i < n; i++)
            b[i] = (struct auction_bid){.gpus = 1 + (uint32_t)cases_roll(&dice, 8),
                                        .log_gain = (double)cases_roll(&dice, 1000) / 700};
        partial_auction_solve(b, n, gpus, memory);
        uint64_t used = 0;
        for (uint32_t i = 0; i < n; i++) {
            used += b[i].wins ? b[i].gpus : 0;
            sum += b[i].wins ? b[i].log_gain : 0;
        }
        double best = best_of(b, n, gpus, n);
        cr_assert_leq(used, gpus);
        cr_assert_float_eq(sum, best, 1e-9);
        for (uint32_t i = 0; i < n; i++) {
            double keeps = b[i].wins ? exp(best - b[i].log_gain - best_of(b, n, gpus, i)) : 0;
            cr_assert_float_eq(b[i].keeps, keeps, 1e-9, "round %d: bid %u", round, i);
            cr_assert(!b[i].wins || (b[i].keeps <= 1 && b[i].keeps >= exp(-b[i].log_gain) - 1e-12),
                      "nobody pays more than it gains");
        }
    }
}

Test(partial_auction, where_all_fit_nobody_pays)
{
    struct auction_bid b[3] = {{.gpus = 1, .log_gain = 1}, {.gpus = 2, .log_gain = 2}, {.gpus = 3, .log_gain = 0.5}};
    double memory[2 * 4 * 7];
    partial_auction_solve(b, 3, 6, memory);
    for (int i = 0; i < 3; i++)
        cr_expect(b[i].wins && b[i].keeps == 1);
}
