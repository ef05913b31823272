/* braid diff: pairs of runs and jobs, what differs, and the first moment at which schedules part. */
#include "fixture_results.h"
#include "output/report_diff.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char dir[256], a[300], b[300], out[16384];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    snprintf(a, sizeof a, "%s/a.h5", dir);
    snprintf(b, sizeof b, "%s/b.h5", dir);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(diff, .init = setup, .fini = teardown);

/* One node of 4 GPUs. `small` runs beside `large` or after it; with segments where asked. */
static void write_run(const char *path, const char *id, const char *label, double small_start, bool with_segments,
                      unsigned gpu)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, id, label, 1);
    fixture_job(&f, "large", 3, 0, 0, 100);
    fixture_job(&f, "small", 1, 5, small_start, small_start + 10);
    if (with_segments) {
        fixture_segment(&f, 0, 0, 100, "run", 0, 0, 3);
        fixture_segment(&f, 1, small_start, small_start + 10, "run", 0, gpu, 1);
    }
    fixture_event(&f, 5, "start", 1, "it fits beside the head");
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

Test(diff, equal_runs_are_equal_and_status_is_0)
{
    write_run(a, "01", "fifo", 5, false, 3);
    write_run(b, "01", "fifo", 5, false, 3);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s", a, b), 0);
    cr_expect(strstr(out, "equal, 2 jobs") != NULL, "%s", out);
}

Test(diff, first_moment_names_the_job_and_what_each_did)
{
    write_run(a, "01", "fifo_skip", 5, false, 3);
    write_run(b, "02", "fifo", 100, false, 3);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s", a, b), 1);
    const char *words[] = {"1 of 2 jobs differ", "part at 5 s", "job small (1 GPU, submitted at 5 s)",
                           "A starts it at 5 s; because it fits beside the head",
                           "B keeps it queued and starts it at 100 s"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect(strstr(out, words[i]) != NULL, "'%s' is not in:\n%s", words[i], out);
}

static int diff_of(struct diff *d)
{
    struct report_file fa, fb;
    struct error err = {0};
    cr_assert_eq(report_file_open(&fa, a, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(report_file_open(&fb, b, &err), BRAID_OK, "%s", err.message);
    int code = diff_runs(d, &fa, &fa.runs[0], &fb, &fb.runs[0], &err);
    report_file_close(&fa);
    report_file_close(&fb);
    return code;
}

Test(diff, same_times_on_other_gpus_is_a_difference)
{
    write_run(a, "01", "fifo", 100, true, 0);
    write_run(b, "01", "fifo", 100, true, 3);
    struct diff d;
    cr_assert_eq(diff_of(&d), BRAID_OK);
    cr_expect_eq(d.n_different, 0);
    cr_expect_eq(d.n_other_gpus, 1);
    cr_expect_not(diff_is_equal(&d));
    cr_expect_eq(d.parting.at_s, 100);
    cr_expect_str_eq(d.parting.did[0], "starts it on node 0 GPU 0");
    cr_expect_str_eq(d.parting.did[1], "starts it on node 0 GPU 3");
    diff_fini(&d);
}

/* Both runs preempt `x` once and end it at 40; A does so at 10, B at 20. /jobs cannot tell. */
Test(diff, preemptions_that_even_out_are_seen_in_the_segments)
{
    for (int side = 0; side < 2; side++) {
        struct fixture f;
        double at = side == 0 ? 10 : 20;
        fixture_init(&f);
        fixture_run(&f, "01", "las", 1);
        fixture_job(&f, "x", 1, 0, 0, 40);
        fixture_number(&f, RESULTS_JOBS, "preemptions", 1);
        fixture_segment(&f, 0, 0, 1, "overhead", 0, 0, 1);
        fixture_segment(&f, 0, 1, at, "run", 0, 0, 1);
        fixture_segment(&f, 0, at, at + 10, "queued", 0, 0, 0);
        fixture_segment(&f, 0, at + 10, 40, "run", 0, 0, 1);
        cr_assert(fixture_write(&f, side == 0 ? a : b));
        fixture_fini(&f);
    }
    struct diff d;
    cr_assert_eq(diff_of(&d), BRAID_OK);
    cr_expect_eq(d.n_different, 0);
    cr_expect_eq(d.n_other_stretches, 1);
    cr_expect_eq(d.parting.at_s, 10);
    cr_expect_str_eq(d.parting.did[0], "takes its GPUs; it goes on at 20 s");
    cr_expect_str_eq(d.parting.did[1], "lets it run on node 0 GPU 0 until 20 s");
    diff_fini(&d);
}

static void write_ids(const char *path, const char *const *ids, const double *ends, int n)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    for (int i = 0; i < n; i++)
        fixture_job(&f, ids[i], 1, 0, 0, ends[i]);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

Test(diff, jobs_in_another_order_are_paired_by_id_and_occurrence)
{
    write_ids(a, (const char *[]){"x", "y", "x", "z"}, (double[]){1, 2, 3, 4}, 4);
    write_ids(b, (const char *[]){"w", "x", "x", "y"}, (double[]){9, 1, 7, 2}, 4);
    struct diff d;
    cr_assert_eq(diff_of(&d), BRAID_OK);
    cr_expect_eq(d.n_paired, 3);
    cr_expect_eq(d.n_only[0], 1, "z");
    cr_expect_eq(d.n_only[1], 1, "w");
    cr_expect_eq(d.n_different, 1, "the second x");
    cr_expect_str_eq(d.largest[0].id, "x");
    cr_expect_eq(d.largest[0].occurrence, 2);
    cr_expect_eq(d.largest[0].end_s[1], 7);
    cr_expect_eq(d.parting.at_s, 3);
    diff_fini(&d);
}

Test(diff, a_rejected_job_differs_from_one_that_ran)
{
    struct fixture f;
    write_run(a, "01", "fifo", 5, false, 3);
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "large", 3, 0, 0, 100);
    fixture_job(&f, "small", 1, 5, -1, 5);
    cr_assert(fixture_write(&f, b));
    fixture_fini(&f);
    struct diff d;
    cr_assert_eq(diff_of(&d), BRAID_OK);
    cr_expect_eq(d.columns[0].n, 1);
    cr_expect_eq(d.columns[1].n, 1);
    cr_expect(isnan(d.columns[1].largest));
    cr_expect_str_eq(d.parting.did[1], "rejects it at 5 s");
    diff_fini(&d);
}

Test(diff, runs_of_one_file_are_compared_by_name)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "x", 1, 0, 0, 1);
    fixture_run(&f, "02", "srtf", 1);
    fixture_job(&f, "x", 1, 0, 1, 2);
    cr_assert(fixture_write(&f, a));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s --run fifo,srtf", a, a), 1);
    cr_expect(strstr(out, "1 of 1 jobs differ") != NULL, "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s --run fifo", a, a), 0);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s", a, a), 0);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s --run las", a, a), 2);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s", a), 2);
}

Test(diff, runs_without_stored_jobs_are_compared_by_digest)
{
    struct fixture f;
    for (int side = 0; side < 2; side++) {
        fixture_init(&f);
        fixture_run(&f, "01", "fifo", 1);
        fixture_run(&f, "02", "srtf", 1);
        if (side == 1)
            fixture_text(&f, RESULTS_RUNS, "digest", "other");
        cr_assert(fixture_write(&f, side == 0 ? a : b));
        fixture_fini(&f);
    }
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s", a, b), 1);
    cr_expect(strstr(out, "equal by digest") != NULL, "%s", out);
    cr_expect(strstr(out, "the digests differ") != NULL, "%s", out);
}

Test(diff, means_are_over_what_finished_in_both_and_programs_get_a_table)
{
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        fixture_init(&f);
        fixture_run(&f, "01", "fifo", 1);
        fixture_job(&f, "x", 1, 0, 10, 30);
        fixture_job(&f, "y", 1, 0, i == 0 ? 20 : 60, i == 0 ? 30 : 70);
        fixture_job(&f, "z", 1, 0, 5, i == 0 ? 9000 : -1);
        cr_assert(fixture_write(&f, i == 0 ? a : b));
        fixture_fini(&f);
    }
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s --format csv", a, b), 1);
    cr_expect(strstr(out, "\n0100000000000000,0100000000000000,fifo,fifo,queued,s,3,2,40,y,2,15,35\n") != NULL, "%s",
              out);
    cr_expect(strstr(out, ",status,,3,1,,z,2,,\n") != NULL, "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s --format json", a, b), 1);
    cr_expect(strstr(out, "\"column\": \"queued\"") != NULL && strstr(out, "\"mean_b\": 35") != NULL, "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s", a, b), 1);
    cr_expect(strstr(out, "Means are over the 2 jobs that finished in both") != NULL && strstr(out, "15 s") != NULL,
              "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s --format latex", a, b), 2);
    cr_expect_eq(fixture_braid(out, sizeof out, "diff %s %s --format csv", a, a), 0);
}
