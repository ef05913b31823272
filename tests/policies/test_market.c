/* Money: what is bid, paid, granted and left, with at least three users each time. */
#include "experiment/experiment.h"
#include "output/recorder_tables.h"
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SALES_MAX = 4096, NAMES_MAX = 64, TOLDS_MAX = 200000 };

struct sale {
    int64_t at_ns;
    uint32_t job;
    double bid, price;
};

struct told_value {
    int64_t at_ns;
    uint32_t name;
    double value;
};

/* All that a run tells of its market. */
static struct watched {
    uint32_t n_sales, n_names, n_values;
    struct sale sales[SALES_MAX];
    char names[NAMES_MAX][NAMES_MAX];
    struct told_value values[TOLDS_MAX];
} watched;

static void on_decision(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc, const char *why)
{
    (void)self, (void)vc;
    struct sale sale = {at_ns, job, 0, 0};
    if ((kind != DECISION_START && kind != DECISION_RESUME) ||
        sscanf(why, "bids %lf a GPU, pays %lf", &sale.bid, &sale.price) != 2)
        return;
    cr_assert_lt(watched.n_sales, (uint32_t)SALES_MAX);
    watched.sales[watched.n_sales++] = sale;
}

static void on_observe(void *self, int64_t at_ns, uint32_t instance, const char *name, double value)
{
    (void)self, (void)instance;
    uint32_t k = 0;
    while (k < watched.n_names && strcmp(watched.names[k], name) != 0)
        k++;
    cr_assert_lt(k, (uint32_t)NAMES_MAX);
    if (k == watched.n_names)
        snprintf(watched.names[watched.n_names++], NAMES_MAX, "%s", name);
    cr_assert_lt(watched.n_values, (uint32_t)TOLDS_MAX);
    watched.values[watched.n_values++] = (struct told_value){at_ns, k, value};
}

static void watch(struct test_case *c)
{
    watched.n_sales = watched.n_names = watched.n_values = 0;
    c->spec.watch = (struct run_watch){.decision = on_decision, .observe = on_observe};
}

/* What `name` was at `at_s` (told last at or before it). */
static double told_value(const char *name, double at_s)
{
    double value = NAN;
    for (uint32_t i = 0; i < watched.n_values && (double)watched.values[i].at_ns <= at_s * 1e9; i++)
        if (strcmp(watched.names[watched.values[i].name], name) == 0)
            value = watched.values[i].value;
    return value;
}

static const struct sale *sale_of(uint32_t job)
{
    for (uint32_t i = 0; i < watched.n_sales; i++)
        if (watched.sales[i].job == job)
            return &watched.sales[i];
    cr_assert_fail("job %u was not sold GPUs", job);
    return NULL;
}

static uint32_t user_job(struct test_case *c, const char *user, double submit_s, double duration_s, uint32_t gpus)
{
    uint32_t j = case_job(c, submit_s, duration_s, gpus);
    c->jobs[j].user = user;
    return j;
}

/* Money is neither made nor lost but where the books say so, at every instant; nobody owes. */
static void money_is_conserved(void)
{
    double balances = 0, revenue = NAN, balance[NAMES_MAX] = {0};
    for (uint32_t i = 0; i < watched.n_values; i++) {
        const struct told_value *v = &watched.values[i];
        const char *name = watched.names[v->name];
        if (strncmp(name, "budget:", 7) == 0) {
            cr_assert_geq(v->value, 0.0);
            balances += v->value - balance[v->name];
            balance[v->name] = v->value;
        } else if (strcmp(name, "revenue") == 0) {
            revenue = v->value;
        } else if (strcmp(name, "granted") == 0) { /* the last one told of an instant */
            cr_assert_float_eq(v->value, revenue + balances, 1e-7 * (1 + v->value),
                               "at %lld ns: granted %g, paid %g, left %g", (long long)v->at_ns, v->value, revenue,
                               balances);
        }
    }
    cr_assert(revenue >= 0);
}

/* ---- auction ---- */

/* One GPU. dan holds it up to 100 s; then each time the one who has waited longest bids most and pays what the next one bids: 1 + its
 * waiting / 1 h. The last one finds nobody else and pays nothing.
 *
 *   submitted   ann 10   bob 20   cem 30           at 100   ann bids 1 + 90/3600, pays 1 + 80/3600
 *                                                  at 200   bob bids 1 + 180/3600, pays 1 + 170/3600
 *                                                  at 300   cem bids 1 + 270/3600, pays 0 */
Test(auction, the_winner_pays_the_second_bid)
{
    struct test_case *c = case_create(1, 1);
    user_job(c, "dan", 0, 100, 1);
    uint32_t ann = user_job(c, "ann", 10, 100, 1), bob = user_job(c, "bob", 20, 100, 1),
             cem = user_job(c, "cem", 30, 100, 1);
    case_policy(c, "auction");
    watch(c);
    case_run(c);
    cr_assert_eq(case_start_s(c, ann), 100);
    cr_assert_eq(case_start_s(c, bob), 200);
    cr_assert_eq(case_start_s(c, cem), 300);
    cr_assert_float_eq(sale_of(ann)->bid, 1 + 90 / 3600.0, 1e-5);
    cr_assert_float_eq(sale_of(ann)->price, 1 + 80 / 3600.0, 1e-5);
    cr_assert_float_eq(sale_of(bob)->price, 1 + 170 / 3600.0, 1e-5);
    cr_assert_eq(sale_of(cem)->price, 0);
    cr_assert_float_eq(told_value("revenue", 300), 2 + 250 / 3600.0, 1e-9);
    cr_assert_float_eq(told_value("budget:ann", 100), 24 - 1 - 80 / 3600.0, 1e-9);
    money_is_conserved();
    case_destroy(c);
}

/* The picture at the head of auction.c, at 5 h. */
Test(auction, several_gpus_are_sold_at_the_least_winning_bid)
{
    struct test_case *c = case_create(1, 6);
    user_job(c, "dan", 0, 18000, 6);
    uint32_t ann = user_job(c, "ann", 3600, 1000, 4), bob = user_job(c, "bob", 7200, 1000, 3),
             cem = user_job(c, "cem", 14400, 1000, 2);
    case_policy(c, "auction");
    watch(c);
    case_run(c);
    cr_assert_eq(case_start_s(c, ann), 18000);
    cr_assert_eq(case_start_s(c, cem), 18000);
    cr_assert_eq(case_start_s(c, bob), 19000);
    cr_assert_float_eq(sale_of(ann)->bid, 5, 1e-9);
    cr_assert_float_eq(sale_of(ann)->price, 4, 1e-9);
    cr_assert_eq(sale_of(cem)->price, 0);
    cr_assert_float_eq(told_value("budget:ann", 18000), 24 - 16, 1e-9);
    case_destroy(c);
}

/* Half a unit an hour, one hour saved: whatever a GPU is worth, nobody bids above 0.5. Who has paid has 0.5 (t / 1 h) after t, at most 0.5. */
Test(auction, budgets_bound_bids_and_come_in_again)
{
    struct test_case *c = case_create(1, 1);
    user_job(c, "dan", 0, 100, 1);
    uint32_t ann = user_job(c, "ann", 10, 1800, 1), bob = user_job(c, "bob", 20, 3600, 1);
    user_job(c, "cem", 30, 3600, 1);
    case_policy(c, "auction");
    case_param(c, "income", "0.5");
    case_param(c, "save", "1 h");
    watch(c);
    case_run(c);
    cr_assert_eq(case_start_s(c, ann), 100);
    cr_assert_float_eq(sale_of(ann)->bid, 0.5, 1e-9);
    cr_assert_float_eq(sale_of(ann)->price, 0.5, 1e-9);
    cr_assert_float_eq(told_value("budget:ann", 100), 0, 1e-9);
    cr_assert_float_eq(case_start_s(c, bob), 1900, 1e-6);
    cr_assert_float_eq(told_value("budget:ann", 1900), 0.25, 1e-9); /* half an hour */
    cr_assert_float_eq(told_value("budget:bob", 1900), 0, 1e-9);
    cr_assert_float_eq(told_value("budget:ann", 5500), 0.5, 1e-9); /* full again */
    money_is_conserved();
    case_destroy(c);
}

static void shares_write(char *path, size_t size, const char *text)
{
    const char *temp = getenv("TMPDIR");
    snprintf(path, size, "%s/braid-shares-XXXXXX", temp != NULL ? temp : "/tmp");
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    FILE *f = fdopen(file, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    cr_assert_eq(fclose(f), 0);
}

Test(auction, weights_come_from_the_file_of_shares)
{
    char path[256];
    struct test_case *c = case_create(1, 1);
    user_job(c, "ann", 0, 10, 1);
    user_job(c, "bob", 0, 10, 1);
    user_job(c, "cem", 0, 10, 1);
    shares_write(path, sizeof path, "name,weight\nann,3\nbob,0.5\n");
    case_policy(c, "auction");
    case_param(c, "shares", path);
    watch(c);
    case_run(c);
    unlink(path);
    cr_assert_float_eq(told_value("budget:bob", 0), 12, 1e-9);
    cr_assert_float_eq(told_value("budget:cem", 0), 24, 1e-9);
    cr_assert_float_eq(told_value("budget:ann", 0), 72 - 1, 1e-9); /* ann won against two bids of 1 */
    case_destroy(c);
}

/* Two nodes of 3: ann and bob take 2 of each. cem, whose 2 would fit by count, finds no node with 2, so it is nobody's rival: with it in the list eva
 * would pay all that she bids, 4; without it nobody is in her way. */
Test(auction, who_finds_no_place_sets_no_price)
{
    struct test_case *c = case_create(2, 3);
    static const char *const users[] = {"ann", "bob", "cem", "eva"};
    static const double priority[] = {10, 9, 8, 3};
    for (uint32_t u = 0; u < 4; u++) {
        user_job(c, users[u], 0, 100, u < 3 ? 2 : 1);
        c->jobs[u].priority = priority[u];
    }
    case_policy(c, "auction");
    case_param(c, "importance", "1");
    case_param(c, "income", "100");
    watch(c);
    case_run(c);
    cr_assert_eq(case_start_s(c, 3), 0);
    cr_assert_eq(case_start_s(c, 2), 100);
    cr_assert_float_eq(sale_of(3)->bid, 4, 1e-9);
    cr_assert_eq(sale_of(3)->price, 0, "%g", sale_of(3)->price);
    case_destroy(c);
}

static struct test_case *market_case(uint64_t seed)
{
    const struct cases_shape shape = {
        .jobs = 200, .nodes = 3, .gpus = 4, .span_ns = 20000 * S, .longest_ns = 1500 * S, .grain_ns = S, .largest = 8};
    return cases_create(&shape, seed);
}

Test(auction, never_charges_above_a_bid_or_a_budget)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct test_case *c = market_case(seed);
        double budget[5] = {0};
        case_policy(c, "auction");
        case_param(c, "income", seed % 2 == 0 ? "2" : "0.3");
        case_param(c, "importance", "1");
        case_param(c, "save", "4 h");
        watch(c);
        case_run(c);
        money_is_conserved();
        double income = (seed % 2 == 0 ? 2 : 0.3) / 3600, limit = income * 14400, paid = 0;
        int64_t at_ns = 0;
        for (int u = 0; u < 5; u++)
            budget[u] = limit;
        for (uint32_t i = 0; i < watched.n_sales; i++) { /* the books of somebody who only sees bids and prices */
            const struct sale *sale = &watched.sales[i];
            for (int u = 0; u < 5; u++)
                budget[u] = fmin(limit, budget[u] + income * (double)(sale->at_ns - at_ns) * 1e-9);
            at_ns = sale->at_ns;
            int user = c->jobs[sale->job].user[1] - '0';
            double gpus = c->jobs[sale->job].gpus;
            cr_assert_leq(sale->price, sale->bid);
            cr_assert_leq(sale->bid * gpus, budget[user] * (1 + 1e-4) + 1e-4, "%g x %g of %g", sale->bid, gpus,
                          budget[user]);
            budget[user] = fmax(0, budget[user] - sale->price * gpus);
            paid += sale->price * gpus;
        }
        cr_assert_gt(paid, 0);
        cr_assert_float_eq(paid, told_value("revenue", 1e9), 1e-3 * paid);
        case_destroy(c);
    }
}

/* Who says something else than what a GPU is worth to it gains nothing: over random auctions of 4 users, each lies up and down (its priority
 * changes its bid by 1 a step, not its value). Gain: GPUs x (value - price) if it wins, else 0. */
static double gain_of(struct test_case *c, uint32_t liar, int lie)
{
    c->jobs[liar].priority += lie;
    watch(c);
    case_run(c);
    c->jobs[liar].priority -= lie;
    for (uint32_t i = 0; i < watched.n_sales; i++) {
        const struct sale *sale = &watched.sales[i];
        if (sale->job == liar && sale->at_ns == 50000 * S)
            return c->jobs[liar].gpus * (sale->bid - lie - sale->price);
    }
    return 0;
}

Test(auction, lies_gain_nothing)
{
    static const char *const users[] = {"ann", "bob", "cem", "eva"};
    uint64_t dice = 31;
    uint32_t n_worse = 0;
    for (int round = 0; round < 60; round++) {
        struct test_case *c = case_create(1, 6);
        user_job(c, "dan", 0, 50000, 6);
        for (int u = 0; u < 4; u++) {
            uint32_t j = user_job(c, users[u], 1000 + u, 100, 1 + (uint32_t)cases_roll(&dice, 5));
            c->jobs[j].priority = (double)cases_roll(&dice, 9);
        }
        case_policy(c, "auction");
        case_param(c, "importance", "1");
        case_param(c, "income", "100");
        for (uint32_t liar = 1; liar <= 4; liar++) {
            double truth = gain_of(c, liar, 0);
            cr_assert_geq(truth, -1e-3);
            for (int lie = -9; lie <= 9; lie += 3) {
                double gain = gain_of(c, liar, lie);
                cr_assert_leq(gain, truth + 1e-3, "round %d, user %u, lie %d: %g, truth %g", round, liar, lie, gain,
                              truth);
                n_worse += gain < truth - 1e-3;
            }
        }
        case_destroy(c);
    }
    cr_assert_gt(n_worse, 50u); /* lies do change what happens */
}

/* With money for everything and one job a user, an auction is first come, first served with passing. */
Test(auction, rich_users_are_served_as_they_come)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct test_case *c = market_case(seed);
        int64_t ends[200];
        char users[200][16];
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            snprintf(users[j], sizeof users[j], "u%u", j);
            c->jobs[j].user = users[j];
        }
        case_policy(c, "fifo_skip");
        case_run(c);
        for (uint32_t j = 0; j < c->n_jobs; j++)
            ends[j] = c->r.jobs[j].end_ns;
        case_policy(c, "auction");
        case_param(c, "income", "1000000");
        case_run(c);
        for (uint32_t j = 0; j < c->n_jobs; j++)
            cr_assert_eq(ends[j], c->r.jobs[j].end_ns, "seed %u: job %u", (unsigned)seed, j);
        case_destroy(c);
    }
}

/* A reserve that cannot be paid now is waited for: ann has 1 of 2 after an hour more. */
Test(auction, the_reserve_is_saved_up_for)
{
    struct test_case *c = case_create(1, 4);
    uint32_t first = user_job(c, "ann", 0, 10, 2), second = user_job(c, "ann", 0, 10, 1);
    user_job(c, "bob", 0, 10, 1);
    user_job(c, "cem", 0, 10, 1);
    case_policy(c, "auction");
    case_param(c, "save", "2 h");
    case_param(c, "reserve", "1");
    watch(c);
    case_run(c);
    cr_assert_eq(case_start_s(c, first), 0);
    cr_assert_float_eq(told_value("budget:ann", 0), 0, 1e-9);
    cr_assert_float_eq(case_start_s(c, second), 3600, 0.001);
    case_destroy(c);
}

/* ---- proportional_price ---- */

/* 12 GPUs, plenty of jobs of one GPU each: users of weight 1, 2 and 3 hold 2, 4 and 6. */
static struct test_case *proportional_case(char *path, size_t size)
{
    static const char *const users[] = {"ann", "bob", "cem"};
    struct test_case *c = case_create(1, 12);
    for (int u = 0; u < 3; u++)
        for (int j = 0; j < 400; j++)
            user_job(c, users[u], 0, 600, 1);
    shares_write(path, size, "name,weight\nann,1\nbob,2\ncem,3\n");
    case_policy(c, "proportional_price");
    case_param(c, "shares", path);
    case_param(c, "save", "10 min");
    case_param(c, "ahead", "10 min");
    case_param(c, "leftover", "false");
    return c;
}

Test(proportional_price, users_hold_gpus_in_proportion_to_their_weight)
{
    char path[256];
    struct test_case *c = proportional_case(path, sizeof path);
    watch(c);
    case_run(c);
    unlink(path);
    double held[3] = {0}, until = 30000; /* all have jobs waiting up to then */
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        int u = c->jobs[j].user[0] - 'a';
        held[u] += fmax(0, fmin(until, case_end_s(c, j)) - fmin(until, case_start_s(c, j)));
    }
    double all = held[0] + held[1] + held[2];
    cr_assert_gt(all, 0.8 * 12 * until, "%g of %g", all, 12 * until);
    cr_assert_float_eq(held[0] / all, 1 / 6.0, 0.03, "%g", held[0] / all);
    cr_assert_float_eq(held[1] / all, 2 / 6.0, 0.03, "%g", held[1] / all);
    cr_assert_float_eq(held[2] / all, 3 / 6.0, 0.03, "%g", held[2] / all);
    money_is_conserved();
    case_destroy(c);
}

/* Rich in savings, three users want far more than there is: the price rises from period to period, by a tenth at most. With cem, who has nearly
 * all income, gone, the others can pay next to nothing: it falls until they fill the GPUs. */
Test(proportional_price, prices_follow_demand)
{
    char path[256];
    struct test_case *c = case_create(1, 12);
    for (int j = 0; j < 60; j++)
        user_job(c, j % 3 == 0 ? "ann" : j % 3 == 1 ? "bob" : "cem", 0, 7200, 1);
    case_policy(c, "proportional_price");
    watch(c);
    case_run(c);
    for (int k = 1; k < 10; k++) {
        double before = told_value("price_gpu", 300 * (k - 1)), after = told_value("price_gpu", 300 * k);
        cr_assert_gt(after, before, "period %d", k);
        cr_assert_leq(after, before * 1.1 * (1 + 1e-12));
    }
    money_is_conserved();
    case_destroy(c);

    c = case_create(1, 12);
    uint32_t last = 0;
    user_job(c, "cem", 0, 10, 1);
    for (int j = 0; j < 24; j++)
        last = user_job(c, j % 2 == 0 ? "ann" : "bob", 0, 40000, 1);
    shares_write(path, sizeof path, "name,weight\ncem,100\n");
    case_policy(c, "proportional_price");
    case_param(c, "shares", path);
    case_param(c, "save", "1 s");
    case_param(c, "leftover", "false");
    watch(c);
    case_run(c);
    unlink(path);
    for (int k = 2; k < 10; k++)
        cr_assert_lt(told_value("price_gpu", 300 * k), told_value("price_gpu", 300 * (k - 1)), "period %d", k);
    uint32_t early = 0, late = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        early += case_start_s(c, j) <= 600;
        late += case_start_s(c, j) <= 20000;
    }
    cr_assert_leq(early, 3u);
    cr_assert_geq(late, 12u);
    cr_assert_eq(c->r.jobs[last].status, STATUS_FINISHED);
    money_is_conserved();
    case_destroy(c);
}

/* CPU and memory have prices of their own where nodes limit them. */
Test(proportional_price, every_limited_resource_has_a_price)
{
    struct test_case *c = case_create(1, 8);
    c->groups[0].cpu_milli = 16000;
    c->groups[0].memory_kib = 64u << 20;
    for (int j = 0; j < 30; j++) {
        uint32_t k = user_job(c, j % 3 == 0 ? "ann" : j % 3 == 1 ? "bob" : "cem", 0, 3000, 1);
        c->jobs[k].cpu_milli = 8000; /* two fill the CPU, GPUs are plenty */
        c->jobs[k].mem_kib = 1u << 20;
    }
    case_policy(c, "proportional_price");
    case_param(c, "save", "10 min");
    watch(c);
    case_run(c);
    cr_assert_gt(told_value("price_cpu", 6000), told_value("price_cpu", 0));
    cr_assert_lt(told_value("price_gpu", 6000), told_value("price_gpu", 0));
    cr_assert_lt(told_value("price_memory", 6000), told_value("price_memory", 0));
    money_is_conserved();
    case_destroy(c);
}

Test(proportional_price, books_balance_on_random_cases)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct test_case *c = market_case(seed);
        case_policy(c, "proportional_price");
        case_param(c, "income", seed % 3 == 0 ? "0.01" : "1");
        case_param(c, "leftover", seed % 2 == 0 ? "true" : "false");
        case_param(c, "save", seed % 4 < 2 ? "1 h" : "24 h");
        watch(c);
        case_run(c);
        for (uint32_t j = 0; j < c->n_jobs; j++)
            cr_assert_eq(c->r.jobs[j].status, STATUS_FINISHED);
        money_is_conserved();
        case_destroy(c);
    }
}

/* ---- in the results ---- */

Test(observe, values_hold_to_the_end_of_the_bin)
{
    struct test_case *c = case_create(1, 1);
    struct output_spec what = {.series_step_ns = 150 * S};
    struct error err = {0};
    user_job(c, "dan", 0, 100, 1);
    user_job(c, "ann", 10, 100, 1);
    user_job(c, "bob", 20, 100, 1);
    case_policy(c, "auction");
    struct recorder *r = recorder_create(&what, 1, &err);
    cr_assert_not_null(r);
    c->spec.watch = recorder_watch(r);
    case_run(c);
    cr_assert(recorder_finish(r, &c->r));
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_assert_eq(t.n_bins, 2u);
    cr_assert_eq(t.n_observed, 2u * 6); /* price, three budgets, revenue, granted */
    for (uint64_t i = 0; i < t.n_observed; i++) {
        const struct observed_row *row = &t.observed[i];
        cr_assert_eq(row->bin, i / 6);
        cr_assert_eq(row->scope, 0u);
        if (strcmp(t.observed_names[row->name], "revenue") ==
            0) /* ann pays at 100, in the first bin; bob nothing at 200 */
            cr_assert_float_eq(row->value, 1 + 80 / 3600.0, 1e-9);
    }
    recorder_destroy(r);
    case_destroy(c);
}

static uint32_t n_observed_names;

static void observe_many(struct sched *s, uint32_t round)
{
    char name[100];
    for (uint32_t k = 0; k < n_observed_names; k++) {
        snprintf(name, sizeof name, "%080u", k); /* longer than what is kept; they differ at the end only */
        sched_observe(s, k % 2 == 0 ? name + 17 : name, round + k);
    }
    cases_start_all(s);
}

Test(observe, what_is_too_much_is_left_out)
{
    struct test_case *c = case_create(1, 1);
    struct output_spec what = {.series_step_ns = 10 * S};
    case_job(c, 0, 10, 1);
    n_observed_names = 200;
    struct recorder *r = recorder_create(&what, 1, NULL);
    struct policy_ops script = cases_script(observe_many);
    cases_use(c, &script);
    c->spec.watch = recorder_watch(r);
    case_run(c);
    cr_assert(recorder_finish(r, &c->r));
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_assert_eq(t.n_observed, 64u); /* 63 of the even ones, and all odd ones are one name */
    recorder_destroy(r);
    case_destroy(c);
}

/* What can never be saved is refused: 3 GPUs at 1 each, where a user can save 2; ann's job of 2 GPUs is paid for, and all end. */
Test(auction, a_reserve_beyond_all_savings_is_refused)
{
    struct test_case *c = case_create(1, 4);
    for (uint32_t j = 0; j < 4; j++) {
        case_job(c, j, 10, j % 2 == 0 ? 3 : 2);
        c->jobs[j].user = j < 2 ? "ann" : "bob";
    }
    case_policy(c, "auction");
    case_param(c, "income", "1");
    case_param(c, "save", "7200 s");
    case_param(c, "reserve", "1");
    case_run(c);
    for (uint32_t j = 0; j < 4; j++)
        cr_expect_eq(c->r.jobs[j].status, j % 2 == 0 ? STATUS_REJECTED : STATUS_FINISHED, "job %u", j);
    cr_expect_str_eq(c->r.jobs[0].reason, "reserve_beyond_savings");
    case_destroy(c);
}

/* Savings let everybody pay for everything at first; who has twice the weight has twice the GPUs all the same, at once: ann 8 of 12, bob and cem 2 each;
 * and so do those for whom nobody pays (no income to speak of at prices from before). */
Test(proportional_price, the_first_round_divides_by_weight)
{
    static const char *const users[] = {"ann", "bob", "cem"};
    for (int is_rich = 0; is_rich < 2; is_rich++) {
        char path[256];
        struct test_case *c = case_create(3, 4);
        uint32_t first[3] = {0};
        for (int j = 0; j < 60; j++)
            user_job(c, users[j % 3], 0, 20000, 1);
        shares_write(path, sizeof path, "name,weight\nann,4\nbob,1\ncem,1\n");
        case_policy(c, "proportional_price");
        case_param(c, "shares", path);
        case_param(c, "save", is_rich ? "24 h" : "1 s");
        case_run(c);
        unlink(path);
        for (int j = 0; j < 60; j++)
            first[j % 3] += c->r.jobs[j].start_ns == 0;
        cr_assert_eq(first[0], 8u, "%u", first[0]);
        cr_assert_eq(first[1], 2u, "%u", first[1]);
        cr_assert_eq(first[2], 2u, "%u", first[2]);
        case_destroy(c);
    }
}

/* Two nodes of 2 GPUs. At 0 cem pays for a GPU of node 0; nobody pays for ann's two, of 2 GPUs on node 1 and of one on node 0. At the next period bob
 * pays for 2 GPUs of one node: the latest of ann's gives way, then the one that is in the way, and the latest is let back. */
Test(proportional_price, unpaid_jobs_that_are_not_in_the_way_stay)
{
    char path[256];
    struct test_case *c = case_create(2, 2);
    user_job(c, "ann", 0, 1000, 2);
    user_job(c, "ann", 0, 1000, 1);
    user_job(c, "cem", 0, 1000, 1);
    user_job(c, "bob", 100, 400, 2);
    shares_write(path, sizeof path, "name,weight\nann,1\ncem,3\nbob,30\n");
    case_policy(c, "proportional_price");
    case_param(c, "shares", path);
    case_param(c, "save", "1 s");
    case_run(c);
    unlink(path);
    cr_expect_eq(c->r.jobs[3].start_ns, 300 * S, "%g", case_start_s(c, 3));
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[1].preemptions, 0u, "%u", c->r.jobs[1].preemptions);
    cr_expect_eq(c->r.jobs[1].end_ns, 1000 * S, "%g", case_end_s(c, 1));
    case_destroy(c);
}
