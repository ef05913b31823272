/* themis and themis_auction: schedules solved by hand, and what must hold of any. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <string.h>

static struct test_case *leased(const char *policy, uint32_t nodes, uint32_t gpus)
{
    struct test_case *c = case_create(nodes, gpus);
    case_policy(c, policy);
    case_param(c, "lease", "10 s");
    return c;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end, uint32_t preemptions)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-6, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-6, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
    cr_expect_eq(c->r.jobs[job].preemptions, preemptions, "job %u is preempted %u times, not %u", job,
                 c->r.jobs[job].preemptions, preemptions);
}

Test(themis, three_equal_jobs_take_turns)
{
    /* one GPU, leases of 10 s, three jobs of 30 s: in each 30 s each has one lease */
    struct test_case *c = leased("themis", 1, 1);
    for (int i = 0; i < 3; i++)
        case_job(c, 0, 30, 1);
    for (int k = 1; k <= 3; k++) {
        c->spec.stop.at_ns = 30 * k * S;
        case_run(c);
        for (uint32_t j = 0; j < 3; j++)
            cr_expect_eq(c->r.jobs[j].run_ns, 10 * k * S, "job %u has run %g s by %d", j,
                         (double)c->r.jobs[j].run_ns * 1e-9, 30 * k);
    }
    case_destroy(c);
}

Test(themis, a_lease_is_kept_until_its_end)
{
    /* B and C come while A has its lease: at 10 both have waited, B is first by rank; from 20 on C */
    struct test_case *c = leased("themis", 1, 1);
    case_job(c, 0, 100, 1);
    case_job(c, 2, 5, 1);
    case_job(c, 3, 5, 1);
    case_run(c);
    expect(c, 1, 10, 15, 0);
    expect(c, 2, 15, 20, 0);
    cr_expect_float_eq(case_end_s(c, 0), 110, 1e-6);
    case_destroy(c);
}

Test(themis, nobody_moves_while_there_is_room)
{
    struct test_case *c = leased("themis", 2, 4);
    for (int i = 0; i < 4; i++)
        case_job(c, 3 * i, 100, 2);
    case_run(c);
    for (uint32_t j = 0; j < 4; j++)
        expect(c, j, 3 * j, 3 * j + 100, 0);
    case_destroy(c);
}

Test(themis, a_gang_finds_all_gpus_free_at_the_end_of_a_lease)
{
    /* small jobs come all the time; the job of 4 GPUs, with 1/N of the cluster due to it, gets its turn in spite of them */
    const char *const policies[] = {"themis", "themis_auction"};
    for (int p = 0; p < 2; p++) {
        struct test_case *c = leased(policies[p], 1, 4);
        for (int i = 0; i < 600; i++)
            case_job(c, 3.5 * i, 10, 1);
        case_job(c, 100, 40, 4);
        case_sort(c);
        case_run(c);
        for (uint32_t j = 0; j < c->n_jobs; j++)
            if (c->jobs[j].gpus == 4)
                cr_expect(case_end_s(c, j) < 500, "%s: it ends at %g", policies[p], case_end_s(c, j));
        case_destroy(c);
    }
}

/* Time in the shared cluster by time alone on a part of 1/n, the worst. */
static double worst_rho(const struct test_case *c, uint32_t gpus)
{
    double worst = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        double part = (double)c->n_jobs * c->jobs[j].gpus / gpus, stretch = part > 1 ? part : 1;
        double rho = (double)(c->r.jobs[j].end_ns - c->jobs[j].submit_ns) / ((double)c->jobs[j].duration_ns * stretch);
        worst = rho > worst ? rho : worst;
    }
    return worst;
}

Test(themis, the_worst_job_does_no_worse_than_alone_on_its_part)
{
    /* all at once and of one GPU: everybody done in time n / gpus x its length, but for a lease or so */
    uint64_t dice = 4;
    for (int round = 0; round < 10; round++) {
        struct test_case *c = leased("themis", 1, 4);
        for (int i = 0; i < 12; i++)
            case_job(c, 0, 200 + (double)cases_roll(&dice, 2000), 1);
        case_run(c);
        cr_expect(worst_rho(c, 4) < 1.12, "round %d: %g", round, worst_rho(c, 4));
        case_destroy(c);
    }
}

Test(themis, who_gets_the_larger_part_of_the_time_is_owed_more_of_the_next_lease)
{
    /* One GPU. At 10 B has waited 8 s and C 7 s; all three at the same rho, x = 1 / (y - age / length) with y = 3.6: C, 5 s long, has x = 0.45 and
     * B 0.28, so by the end of the next lease C is owed 7 + 4.5 s and B 8 + 2.8 s */
    struct test_case *c = leased("themis", 1, 1);
    case_job(c, 0, 1000, 1);
    case_job(c, 2, 1000, 1);
    case_job(c, 3, 5, 1);
    case_run(c);
    expect(c, 2, 10, 15, 0);
    case_destroy(c);
}

Test(themis, what_a_job_had_while_nobody_waited_is_soon_forgiven)
{
    /* A and B share the GPU by halves until B ends; then A has it alone up to 1001. It owes a lease, not half of that time: while C runs its
     * 100 s A gets its turns */
    struct test_case *c = leased("themis", 1, 1);
    case_job(c, 0, 2000, 1);
    case_job(c, 0, 15, 1);
    case_job(c, 1001, 100, 1);
    case_run(c);
    cr_expect_float_eq(case_start_s(c, 2), 1001, 1e-6);
    cr_expect_geq(c->r.jobs[2].preemptions, 2u, "%u", c->r.jobs[2].preemptions);
    cr_expect_gt(case_end_s(c, 2), 1150, "%g", case_end_s(c, 2));
    case_destroy(c);
}

Test(themis_auction, the_worst_off_go_first)
{
    /* one GPU; with fairness 1 only the worst off is asked: at 10 B (rho (8 + 5) / (3 x 5)) and C ((7 + 50) / 150) wait, A has 10 of 100 done */
    struct test_case *c = leased("themis_auction", 1, 1);
    case_param(c, "fairness", "1");
    case_job(c, 0, 100, 1);
    case_job(c, 2, 5, 1);
    case_job(c, 3, 50, 1);
    case_run(c);
    expect(c, 1, 10, 15, 0);
    cr_expect_float_eq(case_start_s(c, 2), 15, 1e-6);
    case_destroy(c);
}

Test(themis_auction, what_a_win_takes_from_others_shortens_the_lease)
{
    /* At 10 A and B bid (all are asked): A 10 + 90 s, B 10 + 100 s, so A gains more and wins; it keeps what B would have gained less:
     * 110/120 of the lease. D, 1 s long, comes at 12 and wins the next auction, at 19.17 */
    /* with fairness 0.3 seven tenths are asked, rounded up: again both, then all three */
    for (int k = 0; k < 4; k++) {
        bool has_payments = k % 2 == 1;
        struct test_case *c = leased("themis_auction", 1, 1);
        case_param(c, "fairness", k < 2 ? "0" : "0.3");
        case_param(c, "payments", has_payments ? "true" : "false");
        case_job(c, 0, 100, 1);
        case_job(c, 0, 100, 1);
        case_job(c, 12, 1, 1);
        case_run(c);
        double want = has_payments ? 10 + 10.0 * 110 / 120 : 20;
        cr_expect_float_eq(case_start_s(c, 2), want, 1e-6, "%g", case_start_s(c, 2));
        case_destroy(c);
    }
}
