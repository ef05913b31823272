/* Each model against the numbers that were published of what it is like (sources: the heads of traces/generator_*.c). Samples of skewed things
 * swing, so means have room; that they are near at all is what is tested. */
#include "base/number.h"
#include "traces/generator.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct facts {
    double mean_gpus, mean_s, median_s, gpu_s; /* GPU seconds a job */
    double share[4], gpu_share[4];             /* by state: of the jobs, and of the GPU seconds */
    uint32_t most_gpus;
    double longest_s, rate_per_day;
};

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct facts facts_of(const char *model, uint32_t jobs)
{
    struct workload w;
    struct error err = {0};
    struct generator_spec spec = {.model = model, .jobs = jobs, .seed = 2, .repeat = 0, .burst = 1, .is_lean = true};
    cr_assert_eq(generator_make(&w, &spec, &err), BRAID_OK, "%s", err.message);
    struct facts f = {0};
    double n = w.n_jobs, seconds_of[4] = {0};
    for (uint32_t j = 0; j < w.n_jobs; j++) {
        double s = (double)w.duration_ns[j] / 1e9,
               gpus = w.gpus[j] * (w.gpu_milli != NULL ? w.gpu_milli[j] / 1000.0 : 1);
        f.mean_gpus += gpus / n;
        f.mean_s += s / n;
        f.gpu_s += gpus * s / n;
        f.share[w.trace_status[j]] += 1 / n;
        seconds_of[w.trace_status[j]] += gpus * s / n;
        f.most_gpus = w.gpus[j] > f.most_gpus ? w.gpus[j] : f.most_gpus;
        f.longest_s = s > f.longest_s ? s : f.longest_s;
    }
    for (int i = 0; i < 4; i++)
        f.gpu_share[i] = seconds_of[i] / f.gpu_s;
    f.rate_per_day = n / ((double)w.submit_ns[w.n_jobs - 1] / 86400e9);
    qsort(w.duration_ns, w.n_jobs, sizeof *w.duration_ns, compare_i64);
    f.median_s = (double)w.duration_ns[w.n_jobs / 2] / 1e9;
    workload_fini(&w);
    return f;
}

static void expect_near(double is, double published, double part, const char *what)
{
    cr_expect(fabs(is - published) <= part * published, "%s: %g, published %g", what, is, published);
}

Test(generator_models, helios_is_as_published)
{
    struct facts f = facts_of("helios", 400000);
    expect_near(f.mean_gpus, 3.716, 0.05, "mean GPUs");
    expect_near(f.mean_s, 6651.681, 0.1, "mean duration");
    expect_near(f.median_s, 206, 0.05, "median duration");
    expect_near(f.gpu_s, 77997739747.0 / 1580464, 0.4, "GPU seconds a job"); /* nearly all from one job in a thousand */
    expect_near(f.rate_per_day, 8636, 0.03, "jobs a day");
    cr_expect_float_eq(f.share[TRACE_PASSED], 0.624, 0.01);
    cr_expect_float_eq(f.share[TRACE_KILLED], 0.221, 0.01);
    cr_expect_float_eq(f.share[TRACE_FAILED], 0.155, 0.01);
    cr_expect_float_eq(f.gpu_share[TRACE_KILLED], 0.394, 0.1);
    cr_expect_leq(f.most_gpus, 2048);
    cr_expect_leq(f.longest_s, 4320009);
}

Test(generator_models, acme_is_as_published)
{
    struct facts f = facts_of("acme", 400000);
    expect_near(f.mean_gpus, 6.294, 0.05, "mean GPUs");
    expect_near(f.mean_s, 1409.8, 0.05, "mean duration");
    expect_near(f.median_s, 122.1, 0.05, "median duration");
    expect_near(f.gpu_s, 39261.4, 0.3, "GPU seconds a job");
    cr_expect_float_eq(f.share[TRACE_PASSED], 0.498, 0.01);
    cr_expect_float_eq(f.share[TRACE_KILLED], 0.0746, 0.01);
    cr_expect_float_eq(f.gpu_share[TRACE_KILLED], 0.652, 0.1);
    cr_expect_leq(f.most_gpus, 1024);
    cr_expect_leq(f.longest_s, 1209604);
}

Test(generator_models, pai_is_as_published)
{
    struct facts f = facts_of("pai", 400000);
    expect_near(f.mean_gpus, 0.683, 0.03, "mean GPUs");
    expect_near(f.mean_s, 4787.109, 0.05, "mean duration");
    expect_near(f.median_s, 480.667, 0.03, "median duration");
    cr_expect_leq(f.most_gpus, 8);
    cr_expect_leq(f.longest_s, 626371);
}

Test(generator_models, philly_states_take_the_published_shares_of_the_gpu_time)
{
    struct facts f = facts_of("philly", 400000);
    cr_expect_float_eq(f.share[TRACE_KILLED], 0.135, 0.01);
    cr_expect_float_eq(f.share[TRACE_FAILED], 0.172, 0.01);
    cr_expect_float_eq(f.gpu_share[TRACE_PASSED], 0.4453, 0.06);
    cr_expect_float_eq(f.gpu_share[TRACE_KILLED], 0.3769, 0.06);
}

Test(generator_models, gavel_follows_the_rules_of_its_generator)
{
    struct facts f = facts_of("gavel", 400000);
    expect_near(f.mean_gpus, 0.7 + 0.2 + 0.6 + 0.4, 0.01, "mean GPUs");
    /* the mean of 60 x 10^U(a, b) is 60 (10^b - 10^a) / ((b - a) ln 10) */
    double mean = 60 * (0.8 * (1000 - pow(10, 1.5)) / (1.5 * log(10)) + 0.2 * (10000 - 1000) / log(10));
    expect_near(f.mean_s, mean, 0.01, "mean duration");
    expect_near(f.median_s, 60 * pow(10, 1.5 + 1.5 * 0.5 / 0.8), 0.02, "median duration");
    expect_near(f.rate_per_day, 86400.0 / 700, 0.01, "jobs a day");
}

Test(generator_models, heavy_has_a_bounded_pareto_tail)
{
    struct facts f = facts_of("heavy", 400000);
    const double k = 60, p = 1e6, a = 1.1;
    double mean = a / (a - 1) * pow(k, a) * (pow(k, 1 - a) - pow(p, 1 - a)) / (1 - pow(k / p, a));
    expect_near(f.mean_s, mean, 0.1, "mean duration");
    expect_near(f.median_s, k / pow(1 - 0.5 * (1 - pow(k / p, a)), 1 / a), 0.02, "median duration");
}

Test(generator_models, muri_has_the_mix_of_its_traces)
{
    struct facts f = facts_of("muri", 400000);
    expect_near(f.mean_gpus, (4685 + 2 * 463 + 4 * 2005 + 8 * 3063 + 16 * 467 + 32 * 196) / 10879.0, 0.01, "mean GPUs");
    expect_near(f.rate_per_day, 26.9, 0.01, "jobs a day");
    expect_near(f.longest_s, 4628239, 0.01, "the longest");
}
