/* Models of jobs that share GPUs, on groups whose rates are plain. Stages are storage, CPU, GPU, network, in seconds. */
#include "tests/harness.h"

#include <criterion/criterion.h>

static uint32_t job_with(struct test_case *c, int storage, int cpu, int gpu, int network, int gap)
{
    uint32_t j = case_job(c, 0, 100, 1);
    const int stage[] = {storage, cpu, gpu, network};
    c->jobs[j].iteration_ns = gap * S;
    for (int k = 0; k < 4; k++) {
        c->jobs[j].stage_ns[k] = stage[k] * S;
        c->jobs[j].iteration_ns += stage[k] * S;
    }
    return j;
}

/* The model over the jobs of a case, which is run once for its workload. */
static struct sharing_model *model_of(struct test_case *c, const struct sharing_spec *spec)
{
    struct sharing_model *m = NULL;
    struct error err = {0};
    case_run(c);
    cr_assert_eq(sharing_create(&m, spec, &c->w, &err), BRAID_OK, "%s", err.message);
    cr_assert_not_null(m);
    return m;
}

static void expect_rates(const struct sharing_model *m, const uint32_t *jobs, uint32_t n, const double *wanted)
{
    double rates[4];
    m->rates(m->self, jobs, n, rates);
    for (uint32_t i = 0; i < n; i++)
        cr_expect_float_eq(rates[i], wanted[i], 1e-12, "member %u of %u goes at %.15g, not %.15g", i, n, rates[i],
                           wanted[i]);
}

Test(sharing, each_size_of_group_has_its_inflation_and_the_last_counts_for_larger_ones)
{
    static const double factors[] = {1, 1.25, 2}; /* jobs of four equal stages hinder nobody but for this */
    static const uint32_t all[] = {0, 1, 2, 3};
    for (int fidelity = SHARING_CLOSED; fidelity <= SHARING_STAGE; fidelity++) {
        struct test_case *c = case_create(1, 1);
        for (int i = 0; i < 4; i++)
            job_with(c, 1, 1, 1, 1, 0);
        const struct sharing_spec spec = {
            .fidelity = (enum sharing_fidelity)fidelity, .groups = 4, .inflation = {factors, 3}};
        struct sharing_model *m = model_of(c, &spec);
        expect_rates(m, all, 1, (const double[]){1});
        expect_rates(m, all, 2, (const double[]){0.8, 0.8});
        expect_rates(m, all, 3, (const double[]){0.5, 0.5, 0.5});
        expect_rates(m, all, 4, (const double[]){0.5, 0.5, 0.5, 0.5});
        sharing_destroy(m);
        case_destroy(c);
    }
}

Test(sharing, each_member_goes_at_its_own_pace_however_they_are_listed)
{
    struct test_case *c = case_create(1, 1);
    job_with(c, 1, 0, 0, 0, 0);  /* one that reads */
    job_with(c, 0, 0, 10, 0, 0); /* and two that compute in turns: each half its time */
    job_with(c, 0, 0, 10, 0, 0);
    const struct sharing_spec spec = {.fidelity = SHARING_STAGE, .groups = 4};
    struct sharing_model *m = model_of(c, &spec);
    for (int again = 0; again < 2; again++) { /* simulated, then remembered */
        expect_rates(m, (const uint32_t[]){0, 1, 2}, 3, (const double[]){1, 0.5, 0.5});
        expect_rates(m, (const uint32_t[]){1, 2, 0}, 3, (const double[]){0.5, 0.5, 1});
        expect_rates(m, (const uint32_t[]){2, 0, 1}, 3, (const double[]){0.5, 1, 0.5});
        expect_rates(m, (const uint32_t[]){1, 0}, 2, (const double[]){1, 1});
    }
    sharing_destroy(m);
    case_destroy(c);
}

Test(sharing, a_gap_between_iterations_leaves_the_gpu_to_the_other)
{
    struct test_case *c = case_create(1, 1);
    job_with(c, 0, 0, 5, 0, 5);
    job_with(c, 0, 0, 5, 0, 5);
    const struct sharing_spec spec = {.fidelity = SHARING_STAGE, .groups = 2};
    struct sharing_model *m = model_of(c, &spec);
    expect_rates(m, (const uint32_t[]){0, 1}, 2, (const double[]){1, 1}); /* the one's 5 s in the other's gap */
    sharing_destroy(m);
    case_destroy(c);
}

Test(sharing, gpu_memory_may_be_filled_to_the_brim)
{
    enum { GIB = 1 << 20 };
    struct test_case *c = case_create(1, 1);
    const struct sharing_spec spec = {.groups = 3};
    const uint32_t jobs[] = {0, 1, 2};
    for (int i = 0; i < 3; i++)
        c->jobs[job_with(c, 1, 1, 1, 1, 0)].gpu_mem_kib = 4u * GIB;
    case_job(c, 0, 100, 1); /* without a profile */
    struct sharing_model *m = model_of(c, &spec);
    cr_expect_null(m->refusal(m->self, jobs, 2, 8u * GIB));
    cr_expect_str_eq(m->refusal(m->self, jobs, 2, 8u * GIB - 1), "gpu_memory");
    cr_expect_str_eq(m->refusal(m->self, jobs, 3, 8u * GIB), "gpu_memory");
    cr_expect_null(m->refusal(m->self, jobs, 3, 0), "0: no limit");
    cr_expect_str_eq(m->refusal(m->self, (const uint32_t[]){0, 3}, 2, 0), "no_profile");
    sharing_destroy(m);
    case_destroy(c);
}
