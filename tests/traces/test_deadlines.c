/* Deadlines for traces that have none. */
#include "traces/deadline_assign.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4000 };

static void make(struct workload *w, bool with_deadlines)
{
    struct error err = {0};
    struct workload_columns want = {.deadline = with_deadlines};
    workload_init(w);
    cr_assert_eq(workload_alloc(w, N, &want, &err), BRAID_OK);
    names_add(&w->vcs, "", 0);
    names_add(&w->users, "", 0);
    w->id_text = calloc(1, 1);
    cr_assert_not_null(w->id_text);
    for (uint32_t j = 0; j < N; j++) {
        w->submit_ns[j] = j * INT64_C(7000000000);
        w->duration_ns[j] = (1 + j % 100) * INT64_C(1000000000);
        w->gpus[j] = 1;
        if (with_deadlines)
            w->deadline_ns[j] = j % 2 == 0 ? 5 : WORKLOAD_ABSENT;
    }
}

static const double pair[] = {0.5, 1.5};

static struct deadlines_spec spec_of(uint64_t seed)
{
    return (struct deadlines_spec){.factor = {pair, 2}, .share = 1, .seed = seed};
}

Test(deadlines, lie_evenly_between_the_factors)
{
    struct workload w;
    struct error err = {0};
    struct deadlines_spec spec = spec_of(1);
    make(&w, false);
    cr_assert_eq(deadline_assign(&w, &spec, &err), BRAID_OK);
    double sum = 0, squares = 0;
    for (uint32_t j = 0; j < N; j++) {
        double factor = (double)(w.deadline_ns[j] - w.submit_ns[j]) / (double)w.duration_ns[j];
        cr_assert(factor >= 0.5 && factor < 1.5, "%g", factor);
        sum += factor;
        squares += (factor - 1) * (factor - 1);
    }
    cr_expect_float_eq(sum / N, 1, 0.02, "%g", sum / N);
    cr_expect_float_eq(squares / N, 1.0 / 12, 0.005, "%g", squares / N);
    workload_fini(&w);
}

Test(deadlines, are_those_of_the_seed_and_count_in_the_digest)
{
    struct workload w[3];
    struct error err = {0};
    static const uint64_t seeds[] = {1, 1, 2};
    for (int k = 0; k < 3; k++) {
        struct deadlines_spec spec = spec_of(seeds[k]);
        make(&w[k], false);
        cr_assert_eq(deadline_assign(&w[k], &spec, &err), BRAID_OK);
    }
    cr_expect_eq(memcmp(w[0].deadline_ns, w[1].deadline_ns, N * sizeof(int64_t)), 0);
    cr_expect_eq(memcmp(w[0].digest, w[1].digest, DIGEST_BYTES), 0);
    cr_expect_neq(memcmp(w[0].digest, w[2].digest, DIGEST_BYTES), 0);
    for (int k = 0; k < 3; k++)
        workload_fini(&w[k]);
}

Test(deadlines, of_the_trace_are_kept_unless_all_are_wanted)
{
    for (int all = 0; all < 2; all++) {
        struct workload w;
        struct error err = {0};
        struct deadlines_spec spec = spec_of(3);
        spec.jobs = all ? DEADLINES_ALL : DEADLINES_MISSING;
        make(&w, true);
        cr_assert_eq(deadline_assign(&w, &spec, &err), BRAID_OK);
        for (uint32_t j = 2; j < N; j++)
            cr_expect_eq(w.deadline_ns[j] == 5, !all && j % 2 == 0);
        workload_fini(&w);
    }
}

Test(deadlines, are_given_to_a_share_and_to_one_job_whatever_the_share)
{
    struct workload w[2];
    struct error err = {0};
    static const double shares[] = {0.3, 0.6};
    for (int k = 0; k < 2; k++) {
        struct deadlines_spec spec = spec_of(4);
        spec.share = shares[k];
        make(&w[k], false);
        cr_assert_eq(deadline_assign(&w[k], &spec, &err), BRAID_OK);
        uint32_t n = 0;
        for (uint32_t j = 0; j < N; j++)
            n += w[k].deadline_ns[j] != WORKLOAD_ABSENT;
        cr_expect_float_eq((double)n / N, shares[k], 0.03, "%u", n);
    }
    for (uint32_t j = 0; j < N; j++) /* a larger share adds deadlines and changes none */
        cr_expect(w[0].deadline_ns[j] == WORKLOAD_ABSENT || w[0].deadline_ns[j] == w[1].deadline_ns[j]);
    workload_fini(&w[0]);
    workload_fini(&w[1]);
}

Test(deadlines, beyond_the_end_of_time_are_at_the_end_of_time)
{
    struct workload w;
    struct error err = {0};
    struct deadlines_spec spec = spec_of(5);
    static const double far[] = {1e6, 1e6};
    spec.factor.v = far;
    make(&w, false);
    w.duration_ns[3] = INT64_MAX / 2;
    cr_assert_eq(deadline_assign(&w, &spec, &err), BRAID_OK);
    cr_expect_eq(w.deadline_ns[3], INT64_MAX);
    static const double reversed[] = {2, 1};
    spec.factor.v = reversed;
    cr_expect_eq(deadline_assign(&w, &spec, &err), BRAID_BAD_INPUT);
    workload_fini(&w);
}
