/* What policies see of profiles with an error, and fewer kinds of resource. Stages are storage, CPU, GPU, network. */
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <math.h>

static uint32_t job_with(struct test_case *c, double duration, int storage, int cpu, int gpu, int network)
{
    uint32_t j = case_job(c, 0, duration, 1);
    const int stage[] = {storage, cpu, gpu, network};
    for (int k = 0; k < 4; k++) {
        c->jobs[j].stage_ns[k] = stage[k] * S;
        c->jobs[j].iteration_ns += stage[k] * S;
    }
    return j;
}

/* A case that has run once, so that it has a workload. */
static struct test_case *case_with_jobs(uint32_t n)
{
    struct test_case *c = case_create(1, 1);
    for (uint32_t i = 0; i < n; i++)
        job_with(c, 100, 4, 3, 2, 0);
    case_policy(c, "fifo");
    case_run(c);
    return c;
}

Test(profile_view, each_stage_is_off_by_up_to_the_error)
{
    struct test_case *c = case_with_jobs(500);
    struct sharing_spec spec = {.groups = 4};
    struct profile_view *v;
    cr_assert_eq(profile_view_create(&v, 0.3, 7, &spec, &c->w, NULL), 0);
    double least = 2, most = 0, sum = 0;
    for (uint32_t j = 0; j < 500; j++) {
        int64_t stages = 0;
        for (int k = 0; k < 3; k++) {
            double factor = (double)v->workload.stage_ns[k][j] / (double)c->w.stage_ns[k][j];
            least = fmin(least, factor);
            most = fmax(most, factor);
            sum += factor;
            stages += v->workload.stage_ns[k][j];
        }
        cr_expect_eq(v->workload.stage_ns[3][j], 0, "no time stays no time");
        cr_expect_eq(v->workload.iteration_ns[j], stages, "these stages are the whole iteration");
    }
    cr_expect(least >= 0.7 && least < 0.72, "%g", least);
    cr_expect(most <= 1.3 && most > 1.28, "%g", most);
    cr_expect_float_eq(sum / 1500, 1, 0.02); /* sd of the mean: 0.3 / sqrt(3) / sqrt(1500) = 0.0045 */
    profile_view_destroy(v);
    case_destroy(c);
}

Test(profile_view, another_error_scales_the_same_draws)
{
    struct test_case *c = case_with_jobs(50);
    struct sharing_spec spec = {.groups = 4};
    struct profile_view *small, *large, *other;
    cr_assert_eq(profile_view_create(&small, 0.1, 7, &spec, &c->w, NULL), 0);
    cr_assert_eq(profile_view_create(&large, 0.2, 7, &spec, &c->w, NULL), 0);
    cr_assert_eq(profile_view_create(&other, 0.1, 8, &spec, &c->w, NULL), 0);
    bool differs = false;
    for (uint32_t j = 0; j < 50; j++) {
        int64_t truth = c->w.stage_ns[0][j], by = small->workload.stage_ns[0][j] - truth;
        cr_expect_float_eq((double)(large->workload.stage_ns[0][j] - truth), 2 * (double)by, 2);
        differs |= other->workload.stage_ns[0][j] != small->workload.stage_ns[0][j];
    }
    cr_expect(differs, "another seed is another error");
    profile_view_destroy(small);
    profile_view_destroy(large);
    profile_view_destroy(other);
    case_destroy(c);
}

Test(profile_view, there_is_none_without_an_error_or_stages)
{
    struct test_case *c = case_with_jobs(1);
    struct sharing_spec spec = {.groups = 4};
    struct profile_view *v;
    cr_assert_eq(profile_view_create(&v, 0, 7, &spec, &c->w, NULL), 0);
    cr_expect_null(v);
    struct workload bare = c->w;
    bare.stage_ns[0] = NULL;
    cr_assert_eq(profile_view_create(&v, 0.5, 7, &spec, &bare, NULL), 0);
    cr_expect_null(v);
    case_destroy(c);
}

/* The end of the last job, when policies see wrong stages but GPU and CPU. */
static double end_with_view(struct test_case *c, bool is_wrong)
{
    struct sharing_spec spec = {.groups = 2};
    struct profile_view view = {.workload = c->w};
    struct sharing_model *truth;
    cr_assert_eq(sharing_create(&truth, &spec, &c->w, NULL), 0);
    int64_t none[4] = {0}, all[4] = {4 * S, 4 * S, 4 * S, 4 * S};
    for (int k = 0; k < 4 && is_wrong; k++) /* all four look like GPU jobs: any pair seems to gain nothing */
        view.workload.stage_ns[k] = k == 2 ? all : none;
    cr_assert_eq(sharing_create(&view.sharing, &spec, &view.workload, NULL), 0);
    struct run_spec run_spec = c->spec;
    run_spec.sharing = truth;
    run_spec.seen = &view;
    run_spec.workload = &c->w;
    struct run_result r;
    struct error err = {0};
    cr_assert_eq(run(&r, &run_spec, &err), 0, "%s", err.message);
    int64_t last = 0;
    for (uint32_t j = 0; j < r.n_jobs; j++)
        last = r.jobs[j].end_ns > last ? r.jobs[j].end_ns : last;
    run_result_fini(&r);
    sharing_destroy(view.sharing);
    sharing_destroy(truth);
    return (double)last / 1e9;
}

Test(profile_view, policies_go_by_the_view_and_jobs_by_the_truth)
{
    /* two jobs on 4 s of CPU, two on 4 s of GPU, 40 s each, one GPU. By the truth a CPU and a GPU job share at full speed: 80 s in all.
     * When all look like GPU jobs, no pair looks better than another; whoever is put together, jobs run by their true stages: the first two
     * are alike and go at half speed (40 s each in 80 s), and so do the others: 160 s. */
    struct test_case *c = case_create(1, 1);
    case_policy(c, "muri_s");
    job_with(c, 40, 0, 4, 0, 0);
    job_with(c, 40, 0, 4, 0, 0);
    job_with(c, 40, 0, 0, 4, 0);
    job_with(c, 40, 0, 0, 4, 0);
    c->sharing = (struct sharing_spec){.groups = 2};
    case_run(c);
    cr_expect_float_eq(end_with_view(c, false), 80, 1e-6, "%g", end_with_view(c, false));
    cr_expect_gt(end_with_view(c, true), 80 + 1e-6);
    case_destroy(c);
}

/* ---- kinds ----------------------------------------------------------------------------------------- */

/* Rates of two jobs under `kinds`. */
static void rates_of(enum sharing_fidelity fidelity, uint32_t n_kinds, const uint8_t *kind, double out[2])
{
    struct test_case *c = case_create(1, 1);
    job_with(c, 100, 4, 0, 0, 0);
    job_with(c, 100, 0, 4, 0, 0);
    case_policy(c, "fifo");
    case_run(c);
    struct sharing_spec spec = {.fidelity = fidelity, .groups = 4, .n_kinds = n_kinds};
    for (uint32_t k = 0; k < 4 && n_kinds > 0; k++)
        spec.kind[k] = kind[k];
    struct sharing_model *m;
    cr_assert_eq(sharing_create(&m, &spec, &c->w, NULL), 0);
    m->rates(m->self, (const uint32_t[]){0, 1}, 2, out);
    cr_expect_eq(m->most, n_kinds > 0 ? n_kinds : 4);
    sharing_destroy(m);
    case_destroy(c);
}

Test(kinds, stages_of_one_kind_do_not_overlap)
{
    for (int f = SHARING_CLOSED; f <= SHARING_STAGE; f++) {
        double rates[2];
        rates_of(f, 0, NULL, rates); /* one on storage, one on the CPU: both at full speed */
        cr_expect(fabs(rates[0] - 1) < 1e-12 && fabs(rates[1] - 1) < 1e-12);
        rates_of(f, 3, (const uint8_t[]){0, 1, 2, 2}, rates);
        cr_expect(fabs(rates[0] - 1) < 1e-12 && fabs(rates[1] - 1) < 1e-12);
        rates_of(f, 3, (const uint8_t[]){0, 0, 1, 2}, rates); /* one after the other */
        cr_expect(fabs(rates[0] - 0.5) < 1e-12 && fabs(rates[1] - 0.5) < 1e-12, "%g %g", rates[0], rates[1]);
        rates_of(f, 2, (const uint8_t[]){0, 0, 1, 1}, rates);
        cr_expect(fabs(rates[0] - 0.5) < 1e-12 && fabs(rates[1] - 0.5) < 1e-12);
    }
}

Test(kinds, with_one_kind_nobody_shares)
{
    struct test_case *c = case_with_jobs(1);
    struct sharing_spec spec = {.groups = 4, .n_kinds = 1};
    struct sharing_model *m;
    cr_assert_eq(sharing_create(&m, &spec, &c->w, NULL), 0);
    cr_expect_null(m);
    case_destroy(c);
}
