/* Quota with lending, and shares at every level. */
#include "tests/policies/fair_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void jobs(struct test_case *c, double submit_s, const char *vc, const char *user, uint32_t n, uint32_t gpus,
                 double seconds)
{
    for (uint32_t i = 0; i < n; i++) {
        struct case_job *j = &c->jobs[case_job(c, submit_s, seconds, gpus)];
        j->vc = vc;
        j->user = user;
    }
}

/* ---- quota ---------------------------------------------------------------------------------------------------- */

static struct test_case *quota_with(uint32_t gpus, const char *path, const char *preempt)
{
    struct test_case *c = case_create(1, gpus);
    case_policy(c, "quota");
    case_param(c, "shares", path);
    case_param(c, "preempt", preempt);
    case_param(c, "quantum", "60 s");
    return c;
}

static struct test_case *quota_case(uint32_t gpus, const char *shares, const char *preempt)
{
    return quota_with(gpus, fair_file(shares), preempt);
}

Test(quota, owners_lend_and_take_back_at_once)
{
    /* 12 GPUs: a 6, b 4, c none. b and c borrow all at 0: b has 4 by right, what is left goes to equal loans: b 8, c 4. a comes at 100 and takes
     * its 6: loans shrink to 1 each */
    struct test_case *c = quota_case(12, "name,guarantee\na,6\nb,4\nc,0\n", "when_better");
    jobs(c, 0, "b", "u", 12, 1, 1000);
    jobs(c, 0, "c", "v", 12, 1, 1000);
    jobs(c, 100, "a", "w", 6, 1, 1000);
    cr_expect_float_eq(fair_held(c, "b", NULL, 50), 8, 1e-9);
    cr_expect_float_eq(fair_held(c, "c", NULL, 50), 4, 1e-9);
    cr_expect_float_eq(fair_held(c, "a", NULL, 150), 6, 1e-9);
    cr_expect_float_eq(fair_held(c, "b", NULL, 150), 5, 1e-9);
    cr_expect_float_eq(fair_held(c, "c", NULL, 150), 1, 1e-9);
    case_run(c);
    for (uint32_t j = 0; j < c->n_jobs; j++)
        if (strcmp(c->jobs[j].vc, "a") == 0)
            cr_expect_float_eq(case_start_s(c, j), 100, 1e-9);
    case_destroy(c);
}

Test(quota, under_quantum_owners_wait_no_longer_than_it)
{
    /* loans of 0 are safe until 60, those of 30 (there are none) would be until 90 */
    struct test_case *c = quota_case(12, "name,guarantee\na,6\nb,4\nc,0\n", "quantum");
    jobs(c, 0, "b", "u", 12, 1, 1000);
    jobs(c, 0, "c", "v", 12, 1, 1000);
    jobs(c, 30, "a", "w", 6, 1, 1000);
    case_run(c);
    for (uint32_t j = 24; j < 30; j++)
        cr_expect_float_eq(case_start_s(c, j), 60, 1e-9, "%g", case_start_s(c, j));
    case_destroy(c);
}

Test(quota, an_owner_takes_no_more_than_its_guarantee)
{
    /* 8 GPUs: a 4, b 2, c 2. b borrowed all; a wants 8: it gets its 4, b keeps the other 4 (2 of its own, 2 of c, who is not there) */
    struct test_case *c = quota_case(8, "name,guarantee\na,4\nb,2\nc,2\n", "when_better");
    jobs(c, 0, "b", "u", 8, 1, 1000);
    jobs(c, 10, "a", "v", 8, 1, 1000);
    jobs(c, 2000, "c", "w", 1, 1, 10);
    cr_expect_float_eq(fair_held(c, "a", NULL, 50), 4, 1e-9);
    cr_expect_float_eq(fair_held(c, "b", NULL, 50), 4, 1e-9);
    case_run(c);
    uint32_t preemptions = 0;
    for (uint32_t j = 0; j < 8; j++)
        preemptions += c->r.jobs[j].preemptions;
    cr_expect_eq(preemptions, 4u, "the latest four, once each");
    case_destroy(c);
}

Test(quota, loans_are_by_weight)
{
    struct test_case *c = quota_case(8, "name,weight,guarantee\na,1,0\nb,3,0\n", "when_better");
    jobs(c, 0, "a", "u", 8, 1, 1000);
    jobs(c, 0, "b", "v", 8, 1, 1000);
    cr_expect_float_eq(fair_held(c, "a", NULL, 50), 2, 1e-9);
    cr_expect_float_eq(fair_held(c, "b", NULL, 50), 6, 1e-9);
    case_destroy(c);
}

Test(quota, a_job_that_reaches_above_the_guarantee_is_on_loan)
{
    /* b's one job of 8 with a guarantee of 4 gives way to a's 4, and does not come back while they run */
    struct test_case *c = quota_case(8, "name,guarantee\na,4\nb,4\nc,0\n", "when_better");
    jobs(c, 0, "b", "u", 1, 8, 100);
    jobs(c, 10, "a", "v", 1, 4, 100);
    jobs(c, 20, "c", "w", 1, 1, 50);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 1), 10, 1e-9);
    cr_expect_float_eq(case_start_s(c, 2), 20, 1e-9);
    cr_expect_float_eq(case_end_s(c, 0), 200, 1e-9);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    case_destroy(c);
}

Test(quota, without_borrowing_jobs_beyond_the_guarantee_wait)
{
    struct test_case *c = quota_case(12, "name,guarantee\na,6\nb,4\nc,2\n", "when_better");
    case_param(c, "borrow", "false");
    jobs(c, 0, "b", "u", 6, 1, 100);
    jobs(c, 0, "c", "v", 6, 1, 100);
    jobs(c, 0, "a", "w", 6, 1, 100);
    case_run(c);
    for (uint32_t j = 0; j < 18; j++) {
        double want = j < 6 ? (j < 4 ? 0 : 100) : j < 12 ? (double)((j - 6) / 2) * 100 : 0;
        cr_expect_float_eq(case_start_s(c, j), want, 1e-9, "job %u: %g, not %g", j, case_start_s(c, j), want);
    }
    case_destroy(c);
}

/* 12 GPUs. In A alice holds the 4 that she is guaranteed, bob borrows 8 from 100 on, A's other 4 and B's. B asks for one at 130: bob's are safe until 160, and
 * alice, whose are not, is within her guarantee, though A is above its own. */
Test(quota, what_is_guaranteed_inside_a_borrower_is_not_taken)
{
    struct test_case *c = quota_case(12, "name,parent,guarantee\nA,,8\nalice,A,4\nB,,4\n", "quantum");
    case_param(c, "by", "vc_user");
    jobs(c, 0, "A", "alice", 4, 1, 1000);
    jobs(c, 100, "A", "bob", 8, 1, 1000);
    jobs(c, 130, "B", "carol", 1, 1, 50);
    case_run(c);
    for (uint32_t j = 0; j < 4; j++)
        cr_expect_eq(c->r.jobs[j].preemptions, 0u, "alice's job %u", j);
    cr_expect_float_eq(case_start_s(c, 12), 160, 1e-9, "%g", case_start_s(c, 12));
    case_destroy(c);
}

Test(quota, restored_in_bounded_time_over_random_loads)
{
    /* Jobs of one GPU, guarantees that add up to the cluster, quantum 60 s: that an owner is below its guarantee while it has jobs waiting lasts
     * 60 s at most */
    static const char *const vcs[] = {"a", "b", "c", "d"};
    static const uint32_t guarantee[] = {8, 4, 3, 1};
    const char *path = fair_file("name,guarantee\na,8\nb,4\nc,3\nd,1\n");
    uint64_t dice = 3;
    for (int round = 0; round < 10; round++) {
        struct test_case *c = quota_with(16, path, "quantum");
        for (int i = 0; i < 400; i++)
            jobs(c, (double)cases_roll(&dice, 3000), vcs[cases_roll(&dice, 4)], "u", 1, 1,
                 1 + (double)cases_roll(&dice, 300));
        case_sort(c);
        struct told *t = cases_watch(c);
        case_run(c);
        for (uint32_t v = 0; v < 4; v++) {
            uint32_t held = 0, waiting = 0;
            int64_t short_since = -1;
            for (uint32_t i = 0; i < t->n_decisions; i++) {
                const struct told_decision *d = &t->decisions[i];
                if (d->job != UINT32_MAX && strcmp(c->jobs[d->job].vc, vcs[v]) == 0) {
                    bool starts = d->kind == DECISION_START || d->kind == DECISION_RESUME;
                    held = starts ? held + 1 : d->kind != DECISION_SUBMIT ? held - 1 : held;
                    waiting = starts ? waiting - 1 : d->kind != DECISION_FINISH ? waiting + 1 : waiting;
                }
                if (i + 1 < t->n_decisions && t->decisions[i + 1].at == d->at)
                    continue; /* more happens at this instant */
                bool is_short = held < guarantee[v] && waiting > 0;
                short_since = !is_short ? -1 : short_since < 0 ? d->at : short_since;
                cr_assert(!is_short || d->at - short_since <= 60 * S, "round %d: %s is short from %g to %g", round,
                          vcs[v], (double)short_since * 1e-9, (double)d->at * 1e-9);
            }
        }
        case_destroy(c);
    }
}

/* ---- hierarchical --------------------------------------------------------------------------------------------- */

static struct test_case *tree_case(void)
{
    struct test_case *c = case_create(1, 24);
    case_policy(c, "hierarchical");
    case_param(c, "shares",
               fair_file("name,parent,weight\n"
                         "research,,2\n"
                         "product,,1\n"
                         "vision,research,3\n"
                         "speech,research,1\n"
                         "search,product,1\n"
                         "alice,vision,2\n"
                         "bob,vision,1\n"));
    return c;
}

Test(hierarchical, shares_hold_at_every_level)
{
    /*  24:  research 16:  vision 12: alice 8, bob 4;   speech 4: carol 2, dave 2
     *       product 8:    search 8: eve 4, frank 4      alice in search counts there, with weight 1 */
    struct test_case *c = tree_case();
    case_param(c, "preempt", "when_better");
    jobs(c, 0, "search", "eve", 30, 1, 1e5);
    jobs(c, 1, "search", "frank", 30, 1, 1e5);
    jobs(c, 2, "vision", "bob", 30, 1, 1e5);
    jobs(c, 3, "speech", "carol", 30, 1, 1e5);
    jobs(c, 4, "speech", "dave", 30, 1, 1e5);
    jobs(c, 5, "vision", "alice", 30, 1, 1e5);
    cr_expect_float_eq(fair_held(c, "vision", "alice", 50), 8, 1e-9);
    cr_expect_float_eq(fair_held(c, "vision", "bob", 50), 4, 1e-9);
    cr_expect_float_eq(fair_held(c, "speech", "carol", 50), 2, 1e-9);
    cr_expect_float_eq(fair_held(c, "speech", "dave", 50), 2, 1e-9);
    cr_expect_float_eq(fair_held(c, "search", "eve", 50), 4, 1e-9);
    cr_expect_float_eq(fair_held(c, "search", "frank", 50), 4, 1e-9);
    case_destroy(c);
}

Test(hierarchical, what_a_branch_leaves_goes_to_its_siblings_first)
{
    /* speech is silent: its 4 go to vision, not to product */
    struct test_case *c = tree_case();
    case_param(c, "preempt", "when_better");
    jobs(c, 0, "search", "eve", 30, 1, 1e5);
    jobs(c, 1, "vision", "bob", 30, 1, 1e5);
    jobs(c, 2, "vision", "alice", 4, 1, 1e5);
    cr_expect_float_eq(fair_held(c, "vision", NULL, 50), 16, 1e-9);
    cr_expect_float_eq(fair_held(c, "vision", "alice", 50), 4, 1e-9);
    cr_expect_float_eq(fair_held(c, "vision", "bob", 50), 12, 1e-9);
    cr_expect_float_eq(fair_held(c, "search", NULL, 50), 8, 1e-9);
    case_destroy(c);
}

Test(hierarchical, shares_of_usage_hold_over_time_without_preemption)
{
    static const struct {
        const char *vc, *user;
        double share;
    } users[] = {{"vision", "alice", 1.0 / 3},
                 {"vision", "bob", 1.0 / 6},
                 {"speech", "carol", 1.0 / 6},
                 {"search", "eve", 1.0 / 3}};
    struct test_case *c = tree_case();
    case_param(c, "measure", "usage");
    case_param(c, "half_life", "1000 s");
    case_param(c, "ahead", "20 s");
    for (int i = 0; i < 1000; i++)
        for (int u = 0; u < 4; u++)
            jobs(c, 0, users[u].vc, users[u].user, 1, 1, 20);
    case_run(c);
    double served[4] = {0}, sum = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        if (case_start_s(c, j) < 2000) {
            served[j % 4] += 1;
            sum += 1;
        }
    for (int u = 0; u < 4; u++)
        cr_expect_float_eq(served[u] / sum, users[u].share, 0.01, "%s: %g of %g", users[u].user, served[u], sum);
    case_destroy(c);
}

Test(hierarchical, a_user_of_two_virtual_clusters_counts_in_each)
{
    /* 8: A 4: alice 2, bob 2; B 4: alice */
    struct test_case *c = case_create(1, 8);
    case_policy(c, "hierarchical");
    case_param(c, "preempt", "when_better");
    jobs(c, 0, "A", "alice", 8, 1, 1e5);
    jobs(c, 1, "A", "bob", 8, 1, 1e5);
    jobs(c, 2, "B", "alice", 8, 1, 1e5);
    cr_expect_float_eq(fair_held(c, "A", "alice", 50), 2, 1e-9);
    cr_expect_float_eq(fair_held(c, "A", "bob", 50), 2, 1e-9);
    cr_expect_float_eq(fair_held(c, "B", "alice", 50), 4, 1e-9);
    case_destroy(c);
}

Test(hierarchical, a_user_may_stand_in_a_group_inside_its_virtual_cluster)
{
    /* 8 in A: the team 6, all of them alice's, bob 2 */
    struct test_case *c = case_create(1, 8);
    case_policy(c, "hierarchical");
    case_param(c, "preempt", "when_better");
    case_param(c, "shares", fair_file("name,parent,weight\nA,,1\nteam,A,3\nalice,team,1\nbob,A,1\n"));
    jobs(c, 0, "A", "bob", 8, 1, 1e5);
    jobs(c, 1, "A", "alice", 8, 1, 1e5);
    cr_expect_float_eq(fair_held(c, "A", "alice", 50), 6, 1e-9);
    cr_expect_float_eq(fair_held(c, "A", "bob", 50), 2, 1e-9);
    case_destroy(c);
}

Test(hierarchical, the_measure_says_what_counts)
{
    /* 2 GPUs, A has used both up to 100. Of A's job and B's two B's start first by usage; by what is held each starts one */
    static const char *const measures[] = {"usage", "gpus", "dominant"};
    for (int k = 0; k < 3; k++) {
        struct test_case *c = case_create(1, 2);
        case_policy(c, "hierarchical");
        case_param(c, "by", "user");
        case_param(c, "measure", measures[k]);
        case_param(c, "ahead", "1 s");
        jobs(c, 0, "", "A", 1, 2, 100);
        jobs(c, 50, "", "B", 1, 1, 1000);
        jobs(c, 51, "", "A", 1, 1, 1000);
        jobs(c, 52, "", "B", 1, 1, 1000);
        case_run(c);
        cr_expect_float_eq(case_start_s(c, 1), 100, 1e-9, "%s: %g", measures[k], case_start_s(c, 1));
        cr_expect_float_eq(case_start_s(c, k == 0 ? 3 : 2), 100, 1e-9, "%s: %g", measures[k], case_start_s(c, 2));
        case_destroy(c);
    }
    /* by dominant shares as drf: 9 cores, 18 GiB, A 1 and 4 a job, B 3 and 1: A runs three, B two */
    struct test_case *c = case_create(1, 1000);
    uint32_t n[2] = {0};
    c->groups[0].cpu_milli = 9000;
    c->groups[0].memory_kib = UINT64_C(18) << 20;
    case_policy(c, "hierarchical");
    case_param(c, "by", "user");
    case_param(c, "measure", "dominant");
    for (int i = 0; i < 20; i++) {
        jobs(c, 0, "", i < 10 ? "A" : "B", 1, 1, 100);
        c->jobs[i].cpu_milli = i < 10 ? 1000 : 3000;
        c->jobs[i].mem_kib = UINT64_C(1) << (i < 10 ? 22 : 20);
    }
    case_run(c);
    for (uint32_t j = 0; j < 20; j++)
        n[j / 10] += c->r.jobs[j].start_ns == 0;
    cr_expect_eq(n[0], 3u, "%u", n[0]);
    cr_expect_eq(n[1], 2u, "%u", n[1]);
    case_destroy(c);
}

/* ---- the file of shares ------------------------------------------------------------------------------------------ */

static void refused(const char *policy, const char *content, int line, const char *words)
{
    struct test_case *c = case_create(1, 8);
    const char *path = fair_file(content);
    case_policy(c, policy);
    case_param(c, "shares", path);
    jobs(c, 0, "v", "alice", 1, 1, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT, "%s", content);
    cr_expect_eq(c->err.line, line, "%s: line %d, not %d: %s", content, c->err.line, line, c->err.message);
    cr_expect(strstr(c->err.message, words) != NULL, "'%s' is not in: %s", words, c->err.message);
    cr_expect_str_eq(c->err.file, path);
    case_destroy(c);
}

Test(shares, what_is_wrong_is_named_with_its_line)
{
    refused("max_min", "", 0, "empty");
    refused("max_min", "user,weight\nalice,1\n", 1, "column");
    refused("max_min", "parent,weight\nalice,1\n", 1, "no column 'name'");
    refused("max_min", "name,weight\nalice,0\n", 2, "weight");
}

Test(shares, rows_that_contradict_each_other_are_refused)
{
    refused("max_min", "name,guarantee\nalice,1.5\n", 2, "whole number");
    refused("max_min", "name,parent\n\nalice,lab\n", 3, "no row of its own");
    refused("max_min", "name,parent\na,b\nb,a\n", 2, "ancestor");
    refused("max_min", "name,weight\nalice,1\nbob,1\nalice,2\n", 4, "line 2");
}

Test(shares, users_and_guarantees_must_have_a_place)
{
    refused("max_min", "name,parent\nalice,\nbob,alice\n", 2, "cannot be a parent");
    refused("max_min", "name,parent\nx,\ny,\nalice,x\nalice,y\n", 4, "several parents");
    refused("quota", "name,parent,guarantee\nlab,,2\nv,lab,3\n", 2, "3");
    refused("quota", "name,guarantee\nv,5\nw,4\n", 0, "9 GPUs");
}

/* What looks like a share and is nobody's, while somebody with nearly that name has none, is a slip of the pen. */
Test(shares, slips_of_the_pen_are_named)
{
    refused("max_min", "name,weight\nalise,2\n", 2, "'alice' has no row");
    refused("max_min", "name,parent\nlab,\nailce,lab\n", 3, "'alice' has no row");
    refused("hierarchical", "name,parent\nv,\nalic,v\n", 3, "'alice' has no row");
    refused("auction", "name,weight\nAlice,2\n", 2, "'alice' has no row");
}

Test(shares, a_file_of_nobody_is_refused)
{
    refused("max_min", "name,weight\nv,1\n", 0, "names a user");
    refused("quota", "name,guarantee\nalice,1\n", 0, "names a virtual cluster");
    refused("hierarchical", "name,parent\nx,\nbob,x\n", 0, "names a virtual cluster or user");
    refused("proportional_price", "name,weight\nv,2\n", 0, "names a user");
}

/* Others may be silent, or cut away with the jobs outside a window: bob, alicf beside alice, user10 and user12 where the trace has user11. */
Test(shares, silent_people_may_have_rows)
{
    struct test_case *c = case_create(1, 8);
    const char *path = fair_file("name,weight\nalice,1\nbob,2\nalicf,1\nuser10,3\nuser12,1\nuser1,1\n");
    jobs(c, 0, "v", "alice", 1, 1, 1);
    jobs(c, 0, "v", "user11", 1, 1, 1);
    case_policy(c, "max_min");
    case_param(c, "shares", path);
    case_run(c);
    case_destroy(c);
}

Test(shares, rows_longer_than_the_header_are_refused)
{
    refused("max_min", "name,weight\nalice,1,2\n", 2, "3 fields, the header 2");
    refused("auction", "name\nalice,1\n", 2, "2 fields, the header 1");
}

/* Whose money it is must be clear in a market as well. */
Test(shares, accounts_are_of_single_users)
{
    refused("auction", "name,parent,weight\nx,,1\ny,,1\nalice,x,5\nalice,y,7\n", 4, "several parents");
    refused("proportional_price", "name,parent,weight\nalice,,5\nbob,alice,1\n", 2, "cannot be a parent");
}
