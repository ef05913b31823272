/* muri_s and muri_l on schedules solved by hand. Stages are storage, CPU, GPU, network. */
#include "tests/harness.h"

#include <criterion/criterion.h>

static struct test_case *braided(const char *policy, uint32_t nodes, uint32_t gpus, uint32_t groups)
{
    struct test_case *c = case_create(nodes, gpus);
    case_policy(c, policy);
    c->sharing = (struct sharing_spec){.groups = groups, .order = INTERLEAVE_BEST};
    return c;
}

static uint32_t job_with(struct test_case *c, double submit, double duration, uint32_t gpus, int storage, int cpu, int gpu, int network)
{
    uint32_t j = case_job(c, submit, duration, gpus);
    int stage[] = {storage, cpu, gpu, network};
    for (int k = 0; k < 4; k++) {
        c->jobs[j].stage_ns[k] = stage[k] * S;
        c->jobs[j].iteration_ns += stage[k] * S;
    }
    return j;
}

Test(muri, four_even_jobs_braid_perfectly)
{
    /* each iteration is 1 s on each of the four resources: four jobs on one GPU all go at full speed */
    const char *const policies[] = {"muri_s", "muri_l"};
    for (int p = 0; p < 2; p++) {
        struct test_case *c = braided(policies[p], 1, 1, 4);
        for (int i = 0; i < 4; i++)
            job_with(c, 0, 40, 1, 1, 1, 1, 1);
        case_run(c);
        for (uint32_t i = 0; i < 4; i++)
            cr_expect_float_eq(case_end_s(c, i), 40, 1e-6, "%s: job %u ends at %g", policies[p], i, case_end_s(c, i));
        cr_expect_float_eq(c->r.totals.allocated_gpu_ns_makespan, 40e9, 1e3);
        /* every resource worked all the time */
        for (int k = 0; k < 4; k++)
            cr_expect_float_eq(c->r.totals.resource_gpu_ns[k], 40e9, 1e3);
        case_destroy(c);
    }
}

Test(muri, jobs_that_want_the_same_resource_are_not_grouped)
{
    /* all stages on the GPU: a pair does no more than one alone; sum of rates is 1, so they may share, but gain nothing; with inflation they
     * do worse and fall apart: one after the other, the shorter first */
    struct test_case *c = braided("muri_s", 1, 1, 4);
    static const double inflation[] = {1, 1.2};
    c->sharing.inflation.v = inflation;
    c->sharing.inflation.n = 2;
    job_with(c, 0, 10, 1, 0, 0, 5, 0);
    job_with(c, 0, 20, 1, 0, 0, 5, 0);
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 0), 10, 1e-6);
    cr_expect_float_eq(case_end_s(c, 1), 30, 1e-6);
    case_destroy(c);
}

Test(muri, nobody_is_grouped_while_there_is_room)
{
    struct test_case *c = braided("muri_l", 1, 4, 4);
    for (int i = 0; i < 4; i++)
        job_with(c, 0, 10, 1, 3, 0, 1, 1);
    case_run(c);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_float_eq(case_end_s(c, i), 10, 1e-9);
    case_destroy(c);
}

Test(muri, the_matching_pairs_complements)
{
    /* two GPU-bound and two storage-bound jobs on two GPUs, at most two a group: the blossom pairs unlike ones, which go at full speed;
     * pairing like with like would halve them */
    struct test_case *c = braided("muri_s", 1, 2, 2);
    case_param(c, "group", "2");
    job_with(c, 0, 20, 1, 0, 0, 4, 0);
    job_with(c, 0, 20, 1, 0, 0, 4, 0);
    job_with(c, 0, 20, 1, 4, 0, 0, 0);
    job_with(c, 0, 20, 1, 4, 0, 0, 0);
    case_run(c);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_float_eq(case_end_s(c, i), 20, 1e-6, "job %u ends at %g", i, case_end_s(c, i));
    case_destroy(c);
}

Test(muri, without_matching_neighbours_are_paired)
{
    struct test_case *c = braided("muri_s", 1, 2, 2);
    case_param(c, "group", "2");
    case_param(c, "matching", "none");
    job_with(c, 0, 20, 1, 0, 0, 4, 0); /* neighbours are alike: 0 with 1, 2 with 3, at half speed */
    job_with(c, 0, 20, 1, 0, 0, 4, 0);
    job_with(c, 0, 20, 1, 4, 0, 0, 0);
    job_with(c, 0, 20, 1, 4, 0, 0, 0);
    case_run(c);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_float_eq(case_end_s(c, i), 40, 1e-6, "job %u ends at %g", i, case_end_s(c, i));
    case_destroy(c);
}

static struct test_case *three_by_three(const char *grouping)
{
    struct test_case *c = braided("muri_s", 1, 2, 4);
    case_param(c, "group", "3");
    case_param(c, "grouping", grouping);
    for (int i = 0; i < 2; i++) {
        job_with(c, 0, 20, 1, 4, 0, 0, 0);
        job_with(c, 0, 20, 1, 0, 4, 0, 0);
        job_with(c, 0, 20, 1, 0, 0, 4, 0);
    }
    case_run(c);
    return c;
}

Test(muri, rounds_of_pairs_make_no_groups_of_three_out_of_six)
{
    /* two jobs each on storage, CPU and GPU, two GPUs, at most three a group: the first round makes three pairs, and no two of these may be put
     * together, so one pair waits for 20 s */
    struct test_case *c = three_by_three("rounds");
    uint32_t n_late = 0;
    for (uint32_t i = 0; i < 6; i++)
        n_late += case_end_s(c, i) > 39.999;
    cr_expect_eq(n_late, 2u);
    case_destroy(c);
}

Test(muri, all_sizes_at_once_make_two_groups_of_three)
{
    static const char *const ways[] = {"greedy", "exact", "by_profile"};
    for (int k = 0; k < 3; k++) {
        struct test_case *c = three_by_three(ways[k]);
        for (uint32_t i = 0; i < 6; i++)
            cr_expect_float_eq(case_end_s(c, i), 20, 1e-6, "%s: job %u ends at %g", ways[k], i, case_end_s(c, i));
        case_destroy(c);
    }
}

Test(muri, no_more_pairs_are_formed_than_are_needed)
{
    /* four jobs on three GPUs: one pair is enough, at 4 / 6 of its pace (storage 1 s, GPU 3 s each); the other two go on alone */
    static const char *const groupings[] = {"rounds", "greedy", "exact", "by_profile"};
    for (int k = 0; k < 4; k++) {
        struct test_case *c = braided("muri_s", 1, 3, 2);
        uint32_t n_alone = 0;
        case_param(c, "group", "2");
        case_param(c, "grouping", groupings[k]);
        for (int i = 0; i < 4; i++)
            job_with(c, 0, 60, 1, 1, 0, 3, 0);
        case_run(c);
        for (uint32_t i = 0; i < 4; i++)
            n_alone += c->r.jobs[i].end_ns == 60 * S;
        cr_expect_eq(n_alone, 2u, "%s: %u", groupings[k], n_alone);
        case_destroy(c);
    }
}

Test(muri, a_group_comes_in_the_place_of_its_first_member)
{
    /* Two GPUs. A and A2 are alike and braid with B; C has no profile. A 10 s, B 20 s, C 25 s, A2 30 s: by counts of profiles A stays alone and A2
     * goes with B, in B's place, before C */
    static const char *const groupings[] = {"greedy", "exact", "by_profile"};
    for (int k = 0; k < 3; k++) {
        struct test_case *c = braided("muri_s", 1, 2, 2);
        case_param(c, "group", "2");
        case_param(c, "grouping", groupings[k]);
        job_with(c, 0, 10, 1, 4, 0, 0, 0);
        job_with(c, 0, 20, 1, 0, 0, 4, 0);
        case_job(c, 0, 25, 1);
        job_with(c, 0, 30, 1, 4, 0, 0, 0);
        case_run(c);
        cr_expect_eq(c->r.jobs[1].start_ns, 0, "%s: B at %g", groupings[k], case_start_s(c, 1));
        cr_expect_eq(c->r.jobs[3].start_ns, 0, "%s: A2 at %g", groupings[k], case_start_s(c, 3));
        cr_expect_eq(c->r.jobs[2].start_ns, 10 * S, "%s: C at %g", groupings[k], case_start_s(c, 2));
        case_destroy(c);
    }
}

Test(muri, the_gpus_of_a_group_count)
{
    /* Six GPUs; four jobs of one GPU, of which a pair goes at 8 / 10, and two of two GPUs, of which a pair goes at 7 / 10. Two GPUs must be saved: by
     * two pairs of the small ones 2 x 0.1 of a GPU's use are lost, by one of the large ones 2 GPUs x 0.15 */
    static const char *const groupings[] = {"greedy", "exact", "by_profile"};
    for (int k = 0; k < 3; k++) {
        struct test_case *c = braided("muri_s", 1, 6, 2);
        case_param(c, "group", "2");
        case_param(c, "grouping", groupings[k]);
        for (int i = 0; i < 4; i++)
            job_with(c, 0, 10, 1, 3, 0, 5, 0);
        for (int i = 0; i < 2; i++)
            job_with(c, 0, 20, 2, 2, 0, 5, 0);
        case_run(c);
        for (uint32_t i = 0; i < 6; i++)
            cr_expect_float_eq(case_end_s(c, i), i < 4 ? 12.5 : 20, 1e-6, "%s: job %u ends at %g", groupings[k], i,
                               case_end_s(c, i));
        case_destroy(c);
    }
}

Test(muri, too_many_for_exact_go_by_rounds)
{
    struct test_case *c[2];
    for (int k = 0; k < 2; k++) {
        uint64_t x = 17;
        c[k] = braided("muri_l", 1, 8, 4);
        case_param(c[k], "grouping", k == 0 ? "exact" : "rounds");
        for (int i = 0; i < 28; i++) { /* all different */
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            job_with(c[k], 0, 20, 1, 100 + i, (int)(x >> 24) % 90, 1 + (int)((x >> 30) % 90), (int)((x >> 36) % 90));
        }
        case_run(c[k]);
    }
    /* the first plan is the same */
    for (uint32_t i = 0; i < 28; i++)
        cr_expect_eq(case_start_s(c[0], i) > 0, case_start_s(c[1], i) > 0, "job %u", i);
    case_destroy(c[0]);
    case_destroy(c[1]);
}

Test(muri, without_sharing_it_is_srsf)
{
    struct test_case *a = braided("muri_s", 2, 2, 1), *b = braided("srsf", 2, 2, 1);
    uint64_t x = 99;
    for (int i = 0; i < 30; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double submit = i, duration = 1 + (double)(x % 37);
        job_with(a, submit, duration, 1, 1, 1, 1, 1);
        job_with(b, submit, duration, 1, 1, 1, 1, 1);
    }
    case_run(a);
    case_run(b);
    for (uint32_t i = 0; i < 30; i++)
        cr_expect_float_eq(case_end_s(a, i), case_end_s(b, i), 1e-6, "job %u", i);
    case_destroy(a);
    case_destroy(b);
}

Test(muri, random_cases_keep_the_books)
{
    uint64_t x = 4711;
    for (int round = 0; round < 100; round++) {
        struct test_case *c = braided(round % 2 ? "muri_s" : "muri_l", 2, 4, 2 + (uint32_t)(round % 3));
        static const char *const ways[] = {"rounds", "greedy", "exact", "by_profile"};
        case_param(c, "grouping", ways[round / 2 % 4]);
        c->spec.overhead.restart.constant_ns = round % 3 * S;
        for (int i = 0; i < 25; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            job_with(c, (double)(x % 50), (double)((x >> 8) % 40), 1u << (x >> 16) % 3, (int)(x >> 20) % 5, (int)(x >> 24) % 5,
                     1 + (int)((x >> 28) % 5), (int)((x >> 32) % 5));
        }
        case_sort(c);
        case_run(c);
        for (uint32_t i = 0; i < c->n_jobs; i++)
            cr_assert_eq(c->r.jobs[i].status, STATUS_FINISHED, "round %d job %u: %s", round, i, c->r.jobs[i].reason);
        case_destroy(c);
    }
}
