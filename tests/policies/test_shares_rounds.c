/* Rounds of the fairness and market policies in which it matters what quotas and partitions say, solved by hand. */
#include "tests/policies/fair_case.h"

#include "policies/partial_auction.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static uint32_t job_of(struct test_case *c, const char *vc, const char *user, double submit_s, double duration_s,
                       uint32_t gpus)
{
    uint32_t j = case_job(c, submit_s, duration_s, gpus);
    c->jobs[j].vc = vc;
    c->jobs[j].user = user;
    return j;
}

static void add_vc(struct test_case *c, const char *name, enum vc_mode mode, uint32_t amount, struct vc_change *changes,
                   uint32_t n_changes)
{
    c->vcs[c->cluster.n_vcs++] = (struct vc_spec){
        .name = name, .mode = mode, .amount = amount, .shrink = VC_PREEMPT, .changes = changes, .n_changes = n_changes};
}

Test(fair, a_quota_that_is_used_up_is_taken_over_although_gpus_are_free)
{
    /* 8 GPUs, of which A may have 4: u has them; v comes with 2 and has less, so u's later job gives way. Four GPUs are idle all the time */
    struct test_case *c = case_create(1, 8);
    case_policy(c, "max_min");
    case_param(c, "preempt", "when_better");
    add_vc(c, "A", VC_GPUS, 4, NULL, 0);
    add_vc(c, "B", VC_GPUS, 4, NULL, 0);
    uint32_t first = job_of(c, "A", "u", 0, 100, 2), second = job_of(c, "A", "u", 0, 100, 2);
    uint32_t late = job_of(c, "A", "v", 10, 20, 2);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, late), 10, 1e-9);
    cr_expect_eq(c->r.jobs[first].preemptions, 0u);
    cr_expect_eq(c->r.jobs[second].preemptions, 1u);
    cr_expect_float_eq(case_end_s(c, second), 120, 1e-9);
    case_destroy(c);
}

Test(fair, what_is_one_node_is_told_by_the_partition)
{
    /* A: a node of 8, B: two of 4. A job of 6 in B takes 4 + 2 there. u has all 16; v's 6 are due: u keeps 8 of them */
    struct test_case *c = case_create(1, 8);
    c->groups[1] = (struct node_group_spec){.count = 2, .gpus = 4, .gpu = ""};
    c->cluster.n_groups = 2;
    case_policy(c, "max_min");
    case_param(c, "preempt", "when_better");
    add_vc(c, "A", VC_NODES, 1, NULL, 0);
    add_vc(c, "B", VC_NODES, 2, NULL, 0);
    uint32_t large = job_of(c, "A", "u", 0, 100, 8);
    job_of(c, "B", "u", 0, 100, 4);
    job_of(c, "B", "u", 0, 100, 4);
    uint32_t late = job_of(c, "B", "v", 10, 20, 6);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, late), 10, 1e-9);
    cr_expect_eq(c->r.jobs[large].preemptions, 0u);
    case_destroy(c);
}

Test(fair, who_gave_way_for_nothing_stays)
{
    /* 3 GPUs, guarantees of 1 each. At 10 c comes first and starts with 3. a is due one of them, but its quota is 0 by then: nothing changes, and
     * d, who comes after them, does not slip in */
    struct vc_change change = {5 * S, 0};
    struct test_case *c = case_create(1, 3);
    case_policy(c, "quota");
    case_param(c, "shares", fair_file("name,guarantee\nc,1\na,1\nd,1\n"));
    add_vc(c, "a", VC_GPUS, 3, &change, 1);
    add_vc(c, "c", VC_GPUS, 3, NULL, 0);
    add_vc(c, "d", VC_GPUS, 3, NULL, 0);
    job_of(c, "d", "u", 0, 1, 1);
    uint32_t of_c = job_of(c, "c", "u", 10, 5, 3), of_a = job_of(c, "a", "u", 10, 5, 1),
             of_d = job_of(c, "d", "u", 10, 5, 3);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, of_c), 10, 1e-9, "c starts at %g", case_start_s(c, of_c));
    cr_expect_float_eq(case_start_s(c, of_d), 15, 1e-9, "d starts at %g", case_start_s(c, of_d));
    cr_expect_eq(c->r.jobs[of_a].status, STATUS_UNFINISHED);
    case_destroy(c);
}

Test(fair, who_was_displaced_holds_nobody_else_back)
{
    /* Nodes of 4 and 1 GPUs; by 60 n has used 120 GPU s, m 100, l 60. c's job of 4 takes the large node from n and l. l's job, first by
     * usage, may not displace anybody in the round in which it was displaced; m's, which is alike, takes n's GPU of the small node */
    struct test_case *c = case_create(1, 4);
    c->groups[1] = (struct node_group_spec){.count = 1, .gpus = 1, .gpu = ""};
    c->cluster.n_groups = 2;
    case_policy(c, "fair_share");
    case_param(c, "preempt", "when_better");
    case_param(c, "half_life", "100 h");
    case_param(c, "ahead", "0 s");
    uint32_t small = job_of(c, "", "n", 0, 1000, 1);
    job_of(c, "", "n", 0, 1000, 1);
    uint32_t of_l = job_of(c, "", "l", 0, 1000, 1);
    job_of(c, "", "m", 0, 50, 2);
    uint32_t of_c = job_of(c, "", "c", 60, 30, 4), of_m = job_of(c, "", "m", 60, 10, 1);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, of_c), 60, 1e-9, "c starts at %g", case_start_s(c, of_c));
    cr_expect_float_eq(case_start_s(c, of_m), 60, 1e-9, "m starts at %g", case_start_s(c, of_m));
    cr_expect(c->r.jobs[small].preemptions > 0 && c->r.jobs[of_l].preemptions > 0);
    case_destroy(c);
}

Test(fair, who_weighs_more_may_be_due_what_who_has_less_is_not)
{
    /* 12 GPUs by weight, all held: l has 1, m 5 / 4, n 6. At 10 l and m want 3 more. l comes first and would have 4, when n keeps 3: no. m would have
     * 8 / 4: yes, of n */
    struct test_case *c = case_create(1, 12);
    case_policy(c, "max_min");
    case_param(c, "shares", fair_file("name,weight\nl,1\nm,4\nn,1\n"));
    case_param(c, "preempt", "when_better");
    job_of(c, "", "l", 0, 100, 1);
    job_of(c, "", "m", 0, 100, 5);
    job_of(c, "", "n", 0, 100, 3);
    job_of(c, "", "n", 0, 100, 3);
    uint32_t of_l = job_of(c, "", "l", 10, 5, 3), of_m = job_of(c, "", "m", 10, 5, 3);
    case_run(c);
    cr_expect(case_start_s(c, of_l) > 10, "l starts at %g", case_start_s(c, of_l));
    cr_expect_float_eq(case_start_s(c, of_m), 10, 1e-9, "m starts at %g", case_start_s(c, of_m));
    case_destroy(c);
}

Test(quota, who_is_within_its_guarantee_never_gives)
{
    /* lab holds 2 of 1 guaranteed: u's job is within its own, v's is lent, but safe until 25. w, who is due a GPU at 20, waits for v's */
    struct test_case *c = case_create(1, 2);
    case_policy(c, "quota");
    case_param(c, "by", "user");
    case_param(c, "shares", fair_file("name,parent,guarantee\nlab,,1\nu,lab,1\nv,lab,0\nw,,1\n"));
    case_param(c, "preempt", "quantum");
    case_param(c, "quantum", "10 s");
    uint32_t of_u = job_of(c, "", "u", 0, 100, 1), of_v = job_of(c, "", "v", 15, 100, 1),
             of_w = job_of(c, "", "w", 20, 5, 1);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, of_w), 25, 1e-9, "w starts at %g", case_start_s(c, of_w));
    cr_expect_eq(c->r.jobs[of_u].preemptions, 0u);
    cr_expect_eq(c->r.jobs[of_v].preemptions, 1u);
    case_destroy(c);
}

Test(themis, time_before_a_quota_took_the_gpus_is_paid_for)
{
    /* One GPU, leases of 10 s, two equal jobs. Until 50 the quota is gone for the last second of each lease, and who lost its GPU so goes
     * on: the first has 45 s by then, and 55 when its first whole lease is over at 60. All of it counts, so the second is served until
     * they are even, and then they take turns */
    enum { N = 5 };
    struct vc_change changes[2 * N];
    struct test_case *c = case_create(1, 1);
    case_policy(c, "themis");
    case_param(c, "lease", "10 s");
    for (int k = 0; k < N; k++) {
        changes[2 * k] = (struct vc_change){(10 * k + 9) * S, 0};
        changes[2 * k + 1] = (struct vc_change){(10 * k + 10) * S, 1};
    }
    add_vc(c, "A", VC_GPUS, 1, changes, 2 * N);
    for (int i = 0; i < 2; i++)
        job_of(c, "A", "u", 0, 5000, 1);
    c->spec.stop.at_ns = 160 * S;
    case_run(c);
    int64_t apart = llabs(c->r.jobs[0].run_ns - c->r.jobs[1].run_ns);
    cr_expect(apart <= 20 * S, "one has %g s more than the other", (double)apart * 1e-9);
    case_destroy(c);
}

Test(themis_auction, a_win_that_takes_from_nobody_is_kept_whole)
{
    /* seven bidders for 8 GPUs, one of them too large: with or without another the rest is the same, so each keeps all */
    enum { N = 7 };
    double memory[2 * (N + 1) * 9];
    cr_assert_leq(partial_auction_room(N, 8), sizeof memory / sizeof *memory);
    for (int i = 0; i < 1000; i++) {
        struct auction_bid bids[N];
        for (int k = 0; k < N; k++)
            bids[k] =
                (struct auction_bid){.gpus = k == 3 ? 9 : 1, .log_gain = log1p((1 + i % 17 + k * 1.7) / (10.0 + i))};
        partial_auction_solve(bids, N, 8, memory);
        for (int k = 0; k < N; k++)
            cr_assert(bids[k].keeps == (k == 3 ? 0 : 1), "bid %d of auction %d keeps %.17g", k, i, bids[k].keeps);
    }
}

Test(proportional_price, who_will_never_fit_keeps_nobody_awake)
{
    /* from 50 on one GPU is left, and both jobs want two: they wait for ever, whatever v can pay, and the run comes to its end */
    struct vc_change change = {50 * S, 1};
    struct test_case *c = case_create(1, 4);
    case_policy(c, "proportional_price");
    case_param(c, "shares", fair_file("name,weight\nu,100\nv,1\n"));
    case_param(c, "leftover", "false");
    case_param(c, "period", "5 s");
    add_vc(c, "A", VC_GPUS, 4, &change, 1);
    job_of(c, "A", "u", 0, 20, 4);
    uint32_t of_u = job_of(c, "A", "u", 60, 10, 2), of_v = job_of(c, "A", "v", 60, 10, 2);
    case_run(c);
    cr_expect_eq(c->r.jobs[of_u].status, STATUS_UNFINISHED);
    cr_expect_eq(c->r.jobs[of_v].status, STATUS_UNFINISHED);
    case_destroy(c);
}

Test(proportional_price, a_market_without_gpus_has_no_price_yet)
{
    /* the quota is 0 until 10; then 4 GPUs are rented by weight, 3 to 1, and not at a price of nothing, which would let all rent alike */
    struct vc_change change = {10 * S, 4};
    struct test_case *c = case_create(1, 4);
    case_policy(c, "proportional_price");
    case_param(c, "shares", fair_file("name,weight\nu,3\nv,1\n"));
    case_param(c, "save", "1 s");
    add_vc(c, "A", VC_GPUS, 0, &change, 1);
    for (int i = 0; i < 4; i++) {
        job_of(c, "A", "u", 0, 100, 1);
        job_of(c, "A", "v", 0, 100, 1);
    }
    case_run(c);
    uint32_t n_first[2] = {0};
    for (uint32_t j = 0; j < c->n_jobs; j++)
        n_first[strcmp(c->jobs[j].user, "v") == 0] += case_start_s(c, j) < 10.5;
    cr_expect(n_first[0] == 3 && n_first[1] == 1, "u gets %u, v %u", n_first[0], n_first[1]);
    case_destroy(c);
}
