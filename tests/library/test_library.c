/* The public library as a user meets it: only <braid/...> headers. */
#include <braid/braid.h>
#include <braid/policy.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

Test(library, runs_a_config_in_memory)
{
    struct braid_experiment *x = NULL;
    struct error err = {0};
    cr_assert_eq(braid_open(&x, "configs/tiny.yaml", NULL, 0, &err), BRAID_OK, "%s", err.message);
    cr_assert_gt(braid_n_runs(x), 0u);
    for (uint32_t i = 0; i < braid_n_runs(x); i++) {
        struct braid_result *r = NULL;
        cr_assert_eq(braid_run(x, i, &r, &err), BRAID_OK, "%s: %s", braid_label(x, i), err.message);
        double sum = 0;
        uint32_t finished = 0;
        for (uint32_t j = 0; j < braid_n_jobs(r); j++) {
            struct braid_job job = braid_job(r, j);
            cr_expect_gt(job.id_length, 0u);
            if (strcmp(job.status, "finished") == 0) {
                sum += (double)(job.end_ns - job.submit_ns) * 1e-9;
                finished++;
            }
        }
        cr_expect_eq((uint32_t)braid_metric(r, "finished"), finished);
        cr_expect_float_eq(braid_metric(r, "jct_mean"), sum / finished, 1e-9 * sum);
        cr_expect(isnan(braid_metric(r, "no_such_metric")));
        braid_result_free(r);
    }
    struct braid_result *none = NULL;
    cr_expect_eq(braid_run(x, braid_n_runs(x), &none, &err), BRAID_BAD_INPUT);
    cr_expect_null(none);
    braid_close(x);
}

Test(library, lays_settings_over_the_config)
{
    struct braid_experiment *x = NULL;
    struct error err = {0};
    const char *const sets[] = {"policy=srtf", "seed=7"};
    cr_assert_eq(braid_open(&x, "configs/tiny.yaml", sets, 2, &err), BRAID_OK, "%s", err.message);
    cr_expect_str_eq(braid_label(x, 0), "srtf");
    braid_close(x);
}

Test(library, names_file_and_place_of_a_bad_config)
{
    struct braid_experiment *x = NULL;
    struct error err = {0};
    cr_expect_eq(braid_open(&x, "configs/no-such-file.yaml", NULL, 0, &err), BRAID_BAD_INPUT);
    cr_expect_null(x);
    cr_expect(strstr(err.file, "no-such-file") != NULL || strstr(err.message, "no-such-file") != NULL);
    const char *const sets[] = {"polcy=srtf"};
    cr_expect_eq(braid_open(&x, "configs/tiny.yaml", sets, 1, &err), BRAID_BAD_INPUT);
    cr_expect(strstr(err.message, "policy") != NULL, "%s", err.message);
}

Test(library, result_codes_have_texts)
{
    for (int code = SCHED_OK; code <= SCHED_E_ARGUMENT; code++)
        cr_expect_gt(strlen(sched_code_text(code)), 1u);
}
