/* Compositions beside the schedules of naive.c: which are refused, and what must not go on for ever. */
#include "policies/compose.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <string.h>

static struct test_case *composed(const char *policy, const char *order, const char *fill, const char *preempt)
{
    struct test_case *c = case_create(1, 2);
    case_policy(c, policy);
    case_param(c, "order", order);
    case_param(c, "fill", fill);
    case_param(c, "preempt", preempt);
    return c;
}

static void expect_refused(struct test_case *c, const char *says)
{
    case_job(c, 0, 10, 1);
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, says), "%s", c->err.message);
    case_destroy(c);
}

Test(compose, easy_counts_on_running_jobs_to_run_on)
{
    expect_refused(composed("compose", "fifo", "easy", "when_better"), "preempt: when_better");
    expect_refused(composed("compose", "fifo", "easy", "quantum"), "preempt: quantum");
}

Test(compose, turns_need_a_quantum)
{
    expect_refused(composed("compose", "round_robin", "skip", "when_better"), "quantum");
}

Test(compose, a_policy_that_declares_no_estimates_gets_none)
{
    expect_refused(composed("fifo", "sjf", "strict", "never"), "estimate");
    expect_refused(composed("fifo", "fifo", "easy", "never"), "estimate");
    expect_refused(composed("las", "srtf", "skip", "when_better"), "estimate");
}

Test(compose, named_policies_may_vary_one_part)
{
    static const char *const orders[] = {"fifo", "las", "longest_waiting", "priority", "smallest", "random"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct test_case *c = composed("fifo", orders[i], "skip", "when_better");
        case_job(c, 0, 10, 1);
        case_run(c);
        case_destroy(c);
    }
}

/* ---- random ------------------------------------------------------------------------------------------------- */

static struct test_case *random_case(uint64_t seed, const char *preempt)
{
    struct test_case *c = composed("compose", "random", "skip", preempt);
    c->groups[0].count = 8;
    c->spec.seed = seed;
    for (int i = 0; i < 200; i++)
        case_job(c, i / 20, 50 + i % 7, 1);
    return c;
}

Test(random_order, displacing_comes_to_an_end)
{
    struct test_case *c = random_case(1, "when_better");
    case_run(c); /* with a new draw at every start this would not return */
    for (uint32_t j = 0; j < c->n_jobs; j++)
        cr_expect_eq(c->r.jobs[j].status, STATUS_FINISHED);
    case_destroy(c);
}

Test(random_order, is_that_of_the_seed)
{
    struct test_case *a = random_case(1, "never"), *same = random_case(1, "never"), *other = random_case(2, "never");
    case_run(a);
    case_run(same);
    case_run(other);
    uint32_t n_other = 0;
    for (uint32_t j = 0; j < a->n_jobs; j++) {
        cr_expect_eq(a->r.jobs[j].start_ns, same->r.jobs[j].start_ns);
        n_other += a->r.jobs[j].start_ns != other->r.jobs[j].start_ns;
    }
    cr_expect_gt(n_other, 50u);
    case_destroy(a);
    case_destroy(same);
    case_destroy(other);
}

Test(random_order, is_no_order_of_arrival)
{
    /* all arrive at once, one runs at a time: among 200 jobs about half of the neighbours are swapped */
    struct test_case *c = composed("compose", "random", "strict", "never");
    c->groups[0].gpus = 1;
    for (int i = 0; i < 200; i++)
        case_job(c, 0, 1, 1);
    case_run(c);
    uint32_t n_swapped = 0;
    for (uint32_t j = 1; j < c->n_jobs; j++)
        n_swapped += c->r.jobs[j].start_ns < c->r.jobs[j - 1].start_ns;
    cr_expect(n_swapped > 65 && n_swapped < 135, "%u", n_swapped);
    case_destroy(c);
}

/* ---- quantum -------------------------------------------------------------------------------------------------- */

Test(quantum, a_job_is_safe_until_it_has_held_its_gpus_for_the_quantum)
{
    struct test_case *c = composed("compose", "sjf", "strict", "quantum");
    case_param(c, "quantum", "7 s");
    case_job(c, 1, 20, 2);
    case_job(c, 3, 5, 1); /* shorter, but job 0 is safe until 8 */
    case_run(c);
    cr_expect_eq(c->r.jobs[1].start_ns, 8 * S);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[0].end_ns, 26 * S);
    case_destroy(c);
}

Test(quantum, restoring_does_not_begin_it_anew)
{
    /* at 5 job 2 (2 GPUs) displaces both, 1 (1 GPU) being needed, too; at 5 job 3 displaces one: the other keeps its lease's end */
    struct test_case *c = composed("compose", "smallest", "skip", "quantum");
    c->groups[0].gpus = 4;
    case_param(c, "quantum", "4 s");
    case_job(c, 0, 100, 3);
    case_job(c, 0, 100, 1);
    case_job(c, 5, 1, 2); /* displaces job 0 alone */
    case_job(c, 5, 1, 1);
    case_run(c);
    cr_expect_eq(c->r.jobs[1].preemptions, 0u);
    cr_expect_eq(c->r.jobs[2].start_ns, 5 * S);
    cr_expect_eq(c->r.jobs[3].start_ns, 5 * S);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[0].end_ns, 101 * S);
    case_destroy(c);
}

/* ---- quotas and displacing ---------------------------------------------------------------------------------------- */

Test(displace, over_a_quota_that_drains_nobody_is_displaced_in_vain)
{
    /* the quota falls to 1 at 5: 4 GPUs are held, and however many of them gave way job 2 (2 GPUs) could not start */
    struct vc_change changes[] = {{5 * S, 1}};
    struct test_case *c = composed("compose", "sjf", "skip", "when_better");
    c->groups[0].gpus = 4;
    c->cluster.n_vcs = 1;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 4, .changes = changes, .n_changes = 1};
    case_job(c, 0, 20, 2);
    case_job(c, 0, 20, 2);
    case_job(c, 6, 5, 2);
    for (uint32_t j = 0; j < 3; j++)
        c->jobs[j].vc = "a";
    case_run(c);
    for (uint32_t j = 0; j < 2; j++) {
        cr_expect_eq(c->r.jobs[j].preemptions, 0u);
        cr_expect_eq(c->r.jobs[j].end_ns, 20 * S);
    }
    cr_expect_eq(c->r.jobs[2].status, STATUS_UNFINISHED);
    case_destroy(c);
}

Test(displace, a_quota_in_the_way_is_overcome_though_a_node_has_room)
{
    /* node 1 is free, but the quota of 2 is used up on node 0: displacing job 0 makes room for job 1 */
    struct test_case *c = composed("compose", "sjf", "strict", "when_better");
    c->groups[0].count = 2;
    c->cluster.n_vcs = 1;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 2};
    case_job(c, 0, 20, 1);
    case_job(c, 0, 30, 1);
    case_job(c, 5, 5, 2);
    for (uint32_t j = 0; j < 3; j++)
        c->jobs[j].vc = "a";
    case_run(c);
    cr_expect_eq(c->r.jobs[2].start_ns, 5 * S);
    case_destroy(c);
}

Test(easy, the_reservation_is_made_where_only_the_quota_is_in_the_way)
{
    /* quota 2 of 4 GPUs: the head (job 1, 2 GPUs) waits for job 0 (ends at 10); job 2 would end at 25 and delay it */
    struct test_case *c = composed("compose", "fifo", "easy", "never");
    c->groups[0].count = 2;
    c->cluster.n_vcs = 1;
    c->vcs[0] = (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 2};
    case_job(c, 0, 10, 1);
    case_job(c, 1, 10, 2);
    case_job(c, 2, 23, 1);
    case_job(c, 3, 7, 1); /* ends at 10: may go first */
    for (uint32_t j = 0; j < 4; j++)
        c->jobs[j].vc = "a";
    case_run(c);
    cr_expect_eq(c->r.jobs[1].start_ns, 10 * S);
    cr_expect_eq(c->r.jobs[2].start_ns, 20 * S);
    cr_expect_eq(c->r.jobs[3].start_ns, 3 * S);
    case_destroy(c);
}

/* A has all 4 CPUs of the node and one of its 2 GPUs: though a GPU is free, B (1 GPU, 1 CPU), which is shorter, runs only when A gives way. */
Test(displace, a_job_that_lacks_only_cpu_takes_the_place_of_a_longer_one)
{
    struct test_case *c = composed("compose", "sjf", "skip", "when_better");
    c->groups[0].gpus = 2;
    c->groups[0].cpu_milli = 4000;
    case_job(c, 0, 8, 1);
    case_job(c, 4, 1, 1);
    c->jobs[0].cpu_milli = 4000;
    c->jobs[1].cpu_milli = 1000;
    case_run(c);
    cr_expect_eq(c->r.jobs[1].start_ns, 4 * S);
    cr_expect_eq(c->r.jobs[1].end_ns, 5 * S);
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    cr_expect_eq(c->r.jobs[0].end_ns, 9 * S);
    case_destroy(c);
}
