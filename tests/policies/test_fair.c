/* Fair policies: schedules solved by hand, then against the rules of the paper or a naive filling. At least three users in each. */
#include "tests/policies/fair_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- drf ------------------------------------------------------------------------------------------------- */

/* A task as the paper counts: cores and GB; of GPUs there are plenty. */
static void tasks(struct test_case *c, const char *user, uint32_t n, double cores, double gb)
{
    for (uint32_t i = 0; i < n; i++) {
        struct case_job *j = &c->jobs[case_job(c, 0, 100, 1)];
        j->user = user;
        j->cpu_milli = (uint32_t)lrint(cores * 1000);
        j->mem_kib = (uint64_t)llrint(gb * 1048576);
    }
}

static struct test_case *drf_cluster(double cores, double gb)
{
    struct test_case *c = case_create(1, 1000);
    c->groups[0].cpu_milli = (uint32_t)lrint(cores * 1000);
    c->groups[0].memory_kib = (uint64_t)llrint(gb * 1048576);
    case_policy(c, "drf");
    return c;
}

static uint32_t started(const struct test_case *c, const char *user)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        n += strcmp(c->jobs[j].user, user) == 0 && c->r.jobs[j].start_ns == 0;
    return n;
}

Test(drf, the_example_of_the_paper)
{
    /* 9 CPU, 18 GB; A <1, 4>, B <3, 1>: dominant shares 4/18 and 3/9 a task. A 3 tasks and B 2 have 2/3 each; C wants nothing */
    struct test_case *c = drf_cluster(9, 18);
    tasks(c, "A", 10, 1, 4);
    tasks(c, "B", 10, 3, 1);
    tasks(c, "C", 0, 1, 1);
    case_run(c);
    cr_expect_eq(started(c, "A"), 3u);
    cr_expect_eq(started(c, "B"), 2u);
    case_destroy(c);
}

Test(drf, users_without_demand_leave_their_share_to_others)
{
    /* 30 CPU, 90 GB: A <1, 1>, B <1, 9>, C one task <3, 3>. C has 1/10 and wants no more. A (CPU, 1/30 a task) and B (memory, 1/10) rise together
     * to 18 and 6 tasks at 6/10; then A and B have one more each, and the last CPU is A's, 20/30 before 7/10 */
    struct test_case *c = drf_cluster(30, 90);
    tasks(c, "A", 40, 1, 1);
    tasks(c, "B", 40, 1, 9);
    tasks(c, "C", 1, 3, 3);
    case_run(c);
    cr_expect_eq(started(c, "C"), 1u);
    cr_expect_eq(started(c, "A"), 20u, "%u", started(c, "A"));
    cr_expect_eq(started(c, "B"), 7u, "%u", started(c, "B"));
    case_destroy(c);
}

Test(drf, random_demands_fill_as_algorithm_1_says)
{
    static const char *const users[] = {"A", "B", "C", "D", "E"};
    uint64_t dice = 99;
    for (int round = 0; round < 60; round++) {
        uint32_t n_users = 3 + (uint32_t)cases_roll(&dice, 3), cpu[5], mem[5], count[5] = {0}, n_tasks = 40;
        uint32_t all_cpu = 20 + (uint32_t)cases_roll(&dice, 60), all_mem = 20 + (uint32_t)cases_roll(&dice, 60);
        struct test_case *c = drf_cluster(all_cpu, all_mem);
        for (uint32_t u = 0; u < n_users; u++) {
            cpu[u] = 1 + (uint32_t)cases_roll(&dice, 7);
            mem[u] = 1 + (uint32_t)cases_roll(&dice, 7);
            tasks(c, users[u], n_tasks, cpu[u], mem[u]);
        }
        case_run(c);
        uint32_t used_cpu = 0, used_mem = 0;
        uint32_t turn[5] = {0}, turns = 0; /* of equals who was served longest ago */
        bool is_out[5] = {false};
        for (;;) { /* the paper's algorithm; who does not fit drops out */
            uint32_t best = 5;
            double least = 2;
            for (uint32_t u = 0; u < n_users; u++) {
                double a = count[u] * cpu[u] / (double)all_cpu, b = count[u] * mem[u] / (double)all_mem,
                       share = a > b ? a : b;
                if (!is_out[u] && count[u] < n_tasks && (share < least || (share <= least && turn[u] < turn[best]))) {
                    least = share;
                    best = u;
                }
            }
            if (best == 5)
                break;
            is_out[best] = used_cpu + cpu[best] > all_cpu || used_mem + mem[best] > all_mem;
            if (is_out[best])
                continue;
            count[best]++;
            turn[best] = ++turns;
            used_cpu += cpu[best];
            used_mem += mem[best];
        }
        for (uint32_t u = 0; u < n_users; u++)
            cr_assert_eq(started(c, users[u]), count[u], "round %d: %s has %u, not %u", round, users[u],
                         started(c, users[u]), count[u]);
        case_destroy(c);
    }
}

/* ---- max_min ---------------------------------------------------------------------------------------------- */

static void endless(struct test_case *c, double submit_s, const char *vc, const char *user, uint32_t n, uint32_t gpus)
{
    for (uint32_t i = 0; i < n; i++) {
        struct case_job *j = &c->jobs[case_job(c, submit_s, 100000, gpus)];
        j->user = user;
        j->vc = vc;
    }
}

Test(max_min, later_users_get_their_part_from_who_has_most)
{
    /* 12 GPUs. A alone has 12; B comes: 6 and 6; C, who wants 2: A 5, B 5, C 2 */
    struct test_case *c = case_create(1, 12);
    case_policy(c, "max_min");
    case_param(c, "preempt", "when_better");
    endless(c, 0, "", "A", 20, 1);
    endless(c, 100, "", "B", 20, 1);
    endless(c, 200, "", "C", 2, 1);
    const double want[3][3] = {{12, 0, 0}, {6, 6, 0}, {5, 5, 2}};
    for (int k = 0; k < 3; k++) {
        cr_expect_float_eq(fair_held(c, "", "A", 100 * k + 50), want[k][0], 1e-9);
        cr_expect_float_eq(fair_held(c, "", "B", 100 * k + 50), want[k][1], 1e-9);
        cr_expect_float_eq(fair_held(c, "", "C", 100 * k + 50), want[k][2], 1e-9);
    }
    case_destroy(c);
}

Test(max_min, the_result_is_a_water_filling)
{
    static const char *const users[] = {"A", "B", "C", "D", "E", "F"};
    uint64_t dice = 7;
    for (int round = 0; round < 40; round++) {
        uint32_t n = 3 + (uint32_t)cases_roll(&dice, 4), gpus = 8 + (uint32_t)cases_roll(&dice, 40), want[6],
                 fill[6] = {0}, got[6];
        struct test_case *c = case_create(1, gpus);
        case_policy(c, "max_min");
        case_param(c, "preempt", "when_better");
        uint32_t left = gpus, first = (uint32_t)cases_roll(&dice, n);
        for (uint32_t i = 0; i < n; i++) { /* in any order */
            uint32_t u = (first + i) % n;
            want[u] = 1 + (uint32_t)cases_roll(&dice, gpus);
            endless(c, 10.0 * i, "", users[u], want[u], 1);
        }
        for (uint32_t u = 0; u < n;) { /* one GPU at a time to who has fewest */
            uint32_t least = n;
            for (u = 0; u < n; u++)
                if (fill[u] < want[u] && (least == n || fill[u] < fill[least]))
                    least = u;
            if (least == n || left == 0)
                break;
            fill[least]++;
            left--;
            u = 0;
        }
        uint32_t sum = 0;
        for (uint32_t u = 0; u < n; u++) {
            got[u] = (uint32_t)lrint(fair_held(c, "", users[u], 1000));
            sum += got[u];
            /* GPUs that do not divide evenly may be with any of the equals */
            cr_expect(got[u] <= fill[u] + 1 && fill[u] <= got[u] + 1, "round %d: %s has %u, not %u", round, users[u],
                      got[u], fill[u]);
        }
        cr_expect_eq(sum, gpus - left, "round %d", round);
        for (uint32_t level = 0; level < gpus; level++) { /* as many at each level */
            int d = 0;
            for (uint32_t u = 0; u < n; u++)
                d += (got[u] == level) - (fill[u] == level);
            cr_expect_eq(d, 0, "round %d: level %u", round, level);
        }
        case_destroy(c);
    }
}

Test(max_min, weights_hold)
{
    struct test_case *c = case_create(2, 12);
    case_policy(c, "max_min");
    case_param(c, "preempt", "when_better");
    case_param(c, "shares", fair_file("name,weight\nA,1\nB,2\nC,3\n"));
    endless(c, 0, "", "A", 30, 1);
    endless(c, 1, "", "B", 30, 1);
    endless(c, 2, "", "C", 30, 1);
    cr_expect_float_eq(fair_held(c, "", "A", 50), 4, 1e-9);
    cr_expect_float_eq(fair_held(c, "", "B", 50), 8, 1e-9);
    cr_expect_float_eq(fair_held(c, "", "C", 50), 12, 1e-9);
    case_destroy(c);
}

Test(max_min, under_quantum_a_started_job_is_safe_for_so_long)
{
    struct test_case *c = case_create(1, 3);
    case_policy(c, "max_min");
    case_param(c, "preempt", "quantum");
    case_param(c, "quantum", "60 s");
    endless(c, 0, "", "A", 3, 1);
    endless(c, 10, "", "B", 3, 1);
    endless(c, 20, "", "C", 3, 1);
    cr_expect_float_eq(fair_held(c, "", "A", 45), 3, 1e-9);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 3), 60, 1e-9);
    cr_expect_float_eq(case_start_s(c, 6), 60, 1e-9);
    case_destroy(c);
}

Test(drf, weights_hold)
{
    struct test_case *c = case_create(1, 8);
    case_policy(c, "drf");
    case_param(c, "shares", fair_file("name,weight\nA,1\nB,3\n"));
    endless(c, 0, "", "A", 8, 1);
    endless(c, 0, "", "B", 8, 1);
    cr_expect_float_eq(fair_held(c, "", "A", 50), 2, 1e-9);
    cr_expect_float_eq(fair_held(c, "", "B", 50), 6, 1e-9);
    case_destroy(c);
}

Test(drf, parts_are_of_what_there_is_now)
{
    /* 16 cores; a quota of 8 GPUs, from 5 on of 4. A holds a GPU and 6 cores (3/8), B two GPUs: 1/4, then 1/2. So A comes first at 6. */
    struct vc_change shrinks[] = {{5 * S, 4}};
    struct test_case *c = case_create(1, 8);
    c->groups[0].cpu_milli = 16000;
    c->vcs[0] = (struct vc_spec){.name = "v", .mode = VC_GPUS, .amount = 8, .changes = shrinks, .n_changes = 1};
    c->cluster.n_vcs = 1;
    case_policy(c, "drf");
    endless(c, 0, "v", "A", 1, 1);
    c->jobs[0].cpu_milli = 6000;
    endless(c, 0, "v", "B", 2, 1);
    endless(c, 6, "v", "B", 1, 1);
    endless(c, 6, "v", "A", 1, 1);
    cr_expect_float_eq(fair_held(c, "v", "A", 50), 2, 1e-9);
    cr_expect_float_eq(fair_held(c, "v", "B", 50), 2, 1e-9);
    case_destroy(c);
}

/* ---- fair_share ----------------------------------------------------------------------------------------------- */

Test(fair_share, a_disturbance_is_forgotten_with_the_half_life)
{
    /* A has had all 8 GPUs for 20 half-lives h: its usage is 8 h / ln 2. Then B and C come, and all three have jobs enough. While A waits,
     * it has 2^(-t/h) of that, B and C (1 - 2^(-t/h)) / 2 each: equal at 2^(-t/h) = 1/3, t = h log2(3) = 1.585 h. From there on thirds. */
    struct test_case *c = case_create(1, 8);
    const double h = 1000, from = 20000, length = 16;
    const char *const users[] = {"A", "B", "C"};
    case_policy(c, "fair_share");
    case_param(c, "half_life", "1000 s");
    case_param(c, "ahead", "16 s");
    for (int i = 0; i < 8; i++)
        c->jobs[case_job(c, 0, from, 1)].user = "A";
    for (int i = 0; i < 1300; i++)
        for (int u = 0; u < 3; u++)
            c->jobs[case_job(c, from, length, 1)].user = users[u];
    case_run(c);
    double first = 1e9, served[3] = {0};
    for (uint32_t j = 8; j < c->n_jobs; j++) {
        double start = case_start_s(c, j) - from;
        int u = c->jobs[j].user[0] - 'A';
        if (u == 0 && start < first)
            first = start;
        served[u] += start >= 2 * h && start < 4 * h ? length : 0;
    }
    cr_expect_float_eq(first, h * log2(3), 3 * length, "%g", first);
    for (int u = 0; u < 3; u++)
        cr_expect_float_eq(served[u] / (served[0] + served[1] + served[2]), 1.0 / 3, 0.01, "%s: %g", users[u],
                           served[u]);
    case_destroy(c);
}

Test(fair_share, weights_hold_over_time)
{
    const char *const users[] = {"A", "B", "C"};
    struct test_case *c = case_create(1, 6);
    case_policy(c, "fair_share");
    case_param(c, "half_life", "500 s");
    case_param(c, "ahead", "10 s");
    case_param(c, "shares", fair_file("name,weight\r\nB,2\r\n\"C\",3\r\nA,1\r\n"));
    for (int i = 0; i < 1200; i++)
        for (int u = 0; u < 3; u++)
            c->jobs[case_job(c, 0, 10, 1)].user = users[u];
    case_run(c);
    double served[3] = {0}, sum = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        if (case_start_s(c, j) < 3000) { /* until then nobody runs out */
            served[c->jobs[j].user[0] - 'A'] += 10;
            sum += 10;
        }
    for (int u = 0; u < 3; u++)
        cr_expect_float_eq(served[u] / sum, (u + 1) / 6.0, 0.01, "%s: %g of %g", users[u], served[u], sum);
    case_destroy(c);
}

Test(fair_share, with_preemption_who_used_least_takes_over)
{
    /* one GPU, half-life so long that nothing decays; ahead 10 s: A runs 0 to 30 alone; B comes at 30: A has used 30, B nothing. B's 20 s end at
     * 50; C, who came at 35, has used nothing either and runs then; A is last */
    struct test_case *c = case_create(1, 1);
    case_policy(c, "fair_share");
    case_param(c, "preempt", "when_better");
    case_param(c, "half_life", "1000 d");
    case_param(c, "ahead", "10 s");
    c->jobs[case_job(c, 0, 100, 1)].user = "A";
    c->jobs[case_job(c, 30, 20, 1)].user = "B";
    c->jobs[case_job(c, 35, 20, 1)].user = "C";
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 1), 30, 1e-9);
    cr_expect_float_eq(case_start_s(c, 2), 50, 1e-9);
    cr_expect_float_eq(case_end_s(c, 0), 140, 1e-9);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    case_destroy(c);
}

Test(fair_share, usage_of_a_thousand_half_lives_ago_is_nothing)
{
    /* one GPU, half-life 1 s: A 0-10, B 990-995, C 995-1000; of A and B, who wait since 999, A goes first, whose use is long forgotten */
    struct test_case *c = case_create(1, 1);
    case_policy(c, "fair_share");
    case_param(c, "half_life", "1 s");
    case_param(c, "ahead", "1 s");
    c->jobs[case_job(c, 0, 10, 1)].user = "A";
    c->jobs[case_job(c, 990, 5, 1)].user = "B";
    c->jobs[case_job(c, 995, 5, 1)].user = "C";
    c->jobs[case_job(c, 999, 5, 1)].user = "B";
    c->jobs[case_job(c, 999, 5, 1)].user = "A";
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 4), 1000, 1e-9, "%g", case_start_s(c, 4));
    case_destroy(c);
}

/* ---- nobody starves ------------------------------------------------------------------------------------------- */

Test(fair, a_large_job_does_not_starve_behind_small_ones)
{
    /* A and B stream jobs of one GPU over 4; C's job of 4 GPUs comes at 100. Under strict it starts when those that run then have ended */
    const char *const policies[] = {"fair_share", "max_min", "drf", "hierarchical", "quota"};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct test_case *c = case_create(1, 4);
        case_policy(c, policies[p]);
        case_param(c, "fill", "strict");
        for (int i = 0; i < 400; i++)
            c->jobs[case_job(c, i < 100 ? 0 : i, 10, 1)].user = i % 2 == 0 ? "A" : "B";
        c->jobs[case_job(c, 100, 10, 4)].user = "C";
        for (uint32_t j = 0; j < c->n_jobs; j++)
            c->jobs[j].vc = c->jobs[j].user;
        case_sort(c);
        case_run(c);
        for (uint32_t j = 0; j < c->n_jobs; j++)
            if (c->jobs[j].gpus == 4)
                cr_expect(case_start_s(c, j) <= 110 + 1e-9, "%s: it starts at %g", policies[p], case_start_s(c, j));
        case_destroy(c);
    }
}
