/* The exact planner against a search that knows nothing: every instant of every job, on tiny cases. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <string.h>

enum { TINY_JOBS = 5, TINY_GPUS = 4, HORIZON = 40 };

/* Whole seconds; starts are tried at every second, all jobs, all combinations. */
struct tiny {
    uint32_t n, gpus;
    int submit[TINY_JOBS], length[TINY_JOBS];
    uint32_t wants[TINY_JOBS];
    uint32_t used[2 * HORIZON];
    bool is_makespan;
    int best;
};

static void try_all(struct tiny *t, uint32_t job, int value)
{
    if (value >= t->best)
        return;
    if (job == t->n || job == TINY_JOBS) { /* the second is for the compiler */
        t->best = value;
        return;
    }
    for (int start = t->submit[job]; start <= HORIZON; start++) {
        bool fits = true;
        for (int at = start; at < start + t->length[job]; at++)
            fits &= t->used[at] + t->wants[job] <= t->gpus;
        if (!fits)
            continue;
        int end = start + t->length[job];
        for (int at = start; at < end; at++)
            t->used[at] += t->wants[job];
        try_all(t, job + 1, !t->is_makespan ? value + end - t->submit[job] : end > value ? end : value);
        for (int at = start; at < end; at++)
            t->used[at] -= t->wants[job];
    }
}

static void tiny_roll(struct tiny *t, uint64_t *dice)
{
    *t = (struct tiny){.n = 2 + (uint32_t)cases_roll(dice, TINY_JOBS - 1),
                       .gpus = 1 + (uint32_t)cases_roll(dice, TINY_GPUS)};
    for (uint32_t j = 0; j < t->n; j++) {
        t->submit[j] = (j > 0 ? t->submit[j - 1] : 0) + (int)cases_roll(dice, 3);
        t->length[j] = 1 + (int)cases_roll(dice, 5);
        t->wants[j] = 1 + (uint32_t)cases_roll(dice, t->gpus);
    }
}

static struct test_case *tiny_case(const struct tiny *t)
{
    struct test_case *c = case_create(1, t->gpus);
    for (uint32_t j = 0; j < t->n; j++)
        case_job(c, t->submit[j], t->length[j], t->wants[j]);
    case_policy(c, "optimal");
    return c;
}

static int tiny_value(const struct test_case *c, const struct tiny *t)
{
    int64_t value = 0;
    for (uint32_t j = 0; j < t->n; j++) {
        const struct job *job = &c->r.jobs[j];
        cr_assert_eq(job->status, STATUS_FINISHED);
        cr_assert_eq(job->preemptions, 0u);
        int64_t end = job->end_ns / S;
        value = !t->is_makespan ? value + end - t->submit[j] : end > value ? end : value;
    }
    return (int)value;
}

static void same_as_all(bool is_makespan, uint32_t rounds)
{
    uint64_t dice = is_makespan ? 77 : 78;
    for (uint32_t round = 0; round < rounds; round++) {
        struct tiny t;
        tiny_roll(&t, &dice);
        t.is_makespan = is_makespan;
        struct test_case *c = tiny_case(&t);
        if (is_makespan)
            case_param(c, "objective", "makespan");
        case_run(c);
        int found = tiny_value(c, &t);
        t.best = found + 1;
        try_all(&t, 0, 0);
        cr_assert_eq(found, t.best, "round %u: %u jobs on %u GPUs: %d, the best is %d", round, t.n, t.gpus, found,
                     t.best);
        case_destroy(c);
    }
}

Test(optimal, mean_jct_is_that_of_the_best_of_all_schedules)
{
    same_as_all(false, 150);
}

Test(optimal, makespan_is_that_of_the_best_of_all_schedules)
{
    same_as_all(true, 150);
}

/* 4 GPUs. A long job is there at 0, a wide short one comes at 1: waiting for it costs 2 s once, not waiting costs it 9 s.
 *
 *   hold back:  wide 1-2, long 2-12: jct 1 + 12 = 13        at once:  long 0-10, wide 10-11: 10 + 10 = 20 */
Test(optimal, a_job_is_held_back_for_one_that_is_to_come)
{
    struct test_case *c = case_create(1, 4);
    case_job(c, 0, 10, 1);
    case_job(c, 1, 1, 4);
    case_policy(c, "optimal");
    case_run(c);
    cr_assert_eq(case_start_s(c, 0), 2);
    cr_assert_eq(case_start_s(c, 1), 1);
    case_destroy(c);
}

/* 2 GPUs, one each, lengths 2, 2, 2, 3, 3: shortest first ends at 2, 2, 4, 5 and 7; the threes on one GPU and the twos on the other end at 6. */
Test(optimal, objectives_differ)
{
    struct test_case *c = case_create(1, 2);
    for (int j = 0; j < 5; j++)
        case_job(c, 0, j < 3 ? 2 : 3, 1);
    for (int is_makespan = 0; is_makespan < 2; is_makespan++) {
        case_policy(c, "optimal");
        if (is_makespan)
            case_param(c, "objective", "makespan");
        case_run(c);
        double sum = 0, last = 0;
        for (uint32_t j = 0; j < 5; j++) {
            sum += case_end_s(c, j);
            last = case_end_s(c, j) > last ? case_end_s(c, j) : last;
        }
        cr_assert_eq(last, is_makespan ? 6 : 7);
        cr_assert(is_makespan ? sum > 20 : sum == 20);
    }
    case_destroy(c);
}

/* Overhead is part of a job's length in the plan: all starts happen when planned. */
Test(optimal, plans_with_the_start_overhead)
{
    struct test_case *c = case_create(1, 1);
    c->spec.overhead.start.constant_ns = 3 * S;
    case_job(c, 0, 5, 1);
    case_job(c, 0, 1, 1);
    case_policy(c, "optimal");
    case_run(c);
    cr_assert_eq(case_end_s(c, 1), 4);
    cr_assert_eq(case_end_s(c, 0), 12);
    case_destroy(c);
}

/* No policy that does not preempt is better. */
Test(optimal, beats_every_policy_that_does_not_preempt)
{
    const struct cases_shape shape = {
        .jobs = 9, .nodes = 2, .gpus = 3, .span_ns = 20 * S, .longest_ns = 15 * S, .grain_ns = S / 2, .largest = 6};
    static const char *const others[] = {"fifo", "fifo_skip", "sjf", "easy", "conservative", "ljf"};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct test_case *c = cases_create(&shape, seed);
        case_placement(c, "count");
        for (uint32_t j = 0; j < c->n_jobs; j++)
            c->jobs[j].estimate_ns = WORKLOAD_ABSENT;
        int64_t best = -1;
        for (size_t p = 0; p <= sizeof others / sizeof *others; p++) {
            case_policy(c, p == 0 ? "optimal" : others[p - 1]);
            case_run(c);
            int64_t sum = 0;
            for (uint32_t j = 0; j < c->n_jobs; j++)
                sum += c->r.jobs[j].end_ns;
            best = p == 0 ? sum : best;
            for (uint32_t j = 0; p > 0 && j < c->n_jobs; j++)
                cr_assert_eq(c->r.jobs[j].preemptions, 0u, "%s preempts", others[p - 1]);
            cr_assert_leq(best, sum, "seed %u: %s", (unsigned)seed, p == 0 ? "optimal" : others[p - 1]);
        }
        case_destroy(c);
    }
}

Test(optimal, refuses_what_it_cannot_prove)
{
    struct test_case *c = case_create(1, 4);
    for (int j = 0; j < 17; j++)
        case_job(c, j, 1, 1);
    case_policy(c, "optimal");
    cr_assert_eq(case_try(c), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(c->err.message, "at most 16 jobs, the trace has 17"), "%s", c->err.message);
    case_destroy(c);

    c = case_create(2, 4);
    case_job(c, 0, 1, 2);
    case_policy(c, "optimal");
    cr_assert_eq(case_try(c), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(c->err.message, "placement: count"), "%s", c->err.message);
    case_placement(c, "count");
    cr_assert_eq(case_try(c), BRAID_OK, "%s", c->err.message);
    for (int j = 1; j < 9; j++)
        case_job(c, 0, 1 + j % 3, 1 + (uint32_t)j % 5);
    case_param(c, "steps", "3");
    cr_assert_eq(case_try(c), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(c->err.message, "in 3 steps"), "%s", c->err.message);
    case_destroy(c);
}

/* A job that can never run is refused by the engine and is no part of the plan. */
Test(optimal, leaves_out_what_is_too_large)
{
    struct test_case *c = case_create(1, 2);
    case_job(c, 0, 5, 3);
    case_job(c, 0, 4, 2);
    case_job(c, 0, 1, 1);
    case_policy(c, "optimal");
    case_run(c);
    cr_assert_eq(c->r.jobs[0].status, STATUS_REJECTED);
    cr_assert_eq(case_end_s(c, 1) + case_end_s(c, 2), 6);
    case_destroy(c);
}

static void refuses(struct test_case *c, const char *what)
{
    case_policy(c, "optimal");
    cr_assert_eq(case_try(c), BRAID_BAD_INPUT, "accepts %s", what);
    cr_assert_not_null(strstr(c->err.message, what), "%s", c->err.message);
    case_policy(c, "fifo"); /* it is a run that others can do */
    case_run(c);
    case_destroy(c);
}

static struct test_case *case_of(uint32_t gpus, const double *durations, uint32_t n)
{
    struct test_case *c = case_create(1, gpus);
    for (uint32_t j = 0; j < n; j++)
        case_job(c, 0, durations[j], 1);
    return c;
}

/* Two quotas of one GPU: A's jobs 1, 10 and B's 12 end at 1, 11 and 12. By counts alone 10 and 1 + 12 side by side look as good, which one queue cannot
 * do. */
Test(optimal, refuses_virtual_clusters)
{
    struct test_case *c = case_of(2, (const double[]){10, 1, 12}, 3);
    for (uint32_t v = 0; v < 2; v++)
        c->vcs[v] = (struct vc_spec){.name = v == 0 ? "A" : "B", .mode = VC_GPUS, .amount = 1};
    c->cluster.n_vcs = 2;
    for (uint32_t j = 0; j < 3; j++)
        c->jobs[j].vc = j < 2 ? "A" : "B";
    refuses(c, "several virtual clusters");

    c = case_of(2, (const double[]){10, 1}, 2);
    c->vcs[0] = (struct vc_spec){.name = "A", .mode = VC_GPUS, .amount = 1};
    c->cluster.n_vcs = 1;
    c->jobs[0].vc = "A";
    c->jobs[1].vc = "B";
    refuses(c, "not listed");
}

/* One quota that does not change is a smaller machine: 1 GPU of 2, shortest first. */
Test(optimal, takes_one_quota)
{
    struct test_case *c = case_of(2, (const double[]){10, 1}, 2);
    struct vc_change change = {5 * S, 2};
    c->vcs[0] = (struct vc_spec){.name = "A", .mode = VC_GPUS, .amount = 1};
    c->cluster.n_vcs = 1;
    c->jobs[0].vc = c->jobs[1].vc = "A";
    case_policy(c, "optimal");
    case_run(c);
    cr_assert_eq(case_end_s(c, 1), 1);
    cr_assert_eq(case_end_s(c, 0), 11);
    c->vcs[0].changes = &change;
    c->vcs[0].n_changes = 1;
    refuses(c, "a quota that changes");
}

/* Three jobs of 1 s wait for the one of 90 s: to begin with it is best, and no plan that thinks that all can begin at 0 knows. */
Test(optimal, refuses_dependencies)
{
    struct test_case *c = case_of(1, (const double[]){100, 90, 1, 1, 1}, 5);
    for (uint32_t j = 2; j < 5; j++)
        c->jobs[j].depends = "1";
    refuses(c, "dependencies");
}

/* The job of 100 s is killed after 1 s, so it should be first. */
Test(optimal, refuses_estimates_that_end_jobs)
{
    struct test_case *c = case_of(1, (const double[]){100, 50}, 2);
    c->jobs[0].estimate_ns = S;
    c->jobs[1].estimate_ns = 50 * S;
    c->spec.estimate = (struct estimate_spec){.source = ESTIMATE_TRACE, .on_exceed = ESTIMATE_KILL};
    refuses(c, "on_exceed");
}

Test(optimal, refuses_shared_gpus_and_an_early_end)
{
    struct test_case *c = case_of(1, (const double[]){4, 2}, 2);
    for (uint32_t j = 0; j < 2; j++) {
        c->jobs[j].stage_ns[j] = c->jobs[j].iteration_ns = S;
    }
    c->sharing = (struct sharing_spec){.groups = 2, .order = INTERLEAVE_BEST};
    refuses(c, "share GPUs");
    c = case_of(1, (const double[]){4, 2}, 2);
    c->spec.stop.at_ns = 3 * S;
    refuses(c, "stop:");
}

/* 8 cores on 2 GPUs: two jobs of 4 never lack any, those of 5 do; the same for memory. */
Test(optimal, refuses_limits_that_can_bind)
{
    for (int is_memory = 0; is_memory < 2; is_memory++)
        for (uint32_t cores = 4; cores <= 5; cores++) {
            struct test_case *c = case_of(2, (const double[]){3, 2, 2.5}, 3);
            c->groups[0].cpu_milli = 8000;
            c->groups[0].memory_kib = 8000;
            for (uint32_t j = 0; j < 2; j++) {
                c->jobs[j].cpu_milli = is_memory ? 1 : cores * 1000;
                c->jobs[j].mem_kib = is_memory ? (uint64_t)cores * 1000 : 1;
            }
            case_policy(c, "optimal");
            if (cores == 5) {
                refuses(c, is_memory ? "host memory" : "CPU");
                continue;
            }
            case_run(c);
            cr_assert_eq(case_end_s(c, 0) + case_end_s(c, 1) + case_end_s(c, 2), 5 + 4.5);
            case_destroy(c);
        }
}
