/* Opening results files: what is read, and what is said of those that cannot be. */
#include "fixture_results.h"
#include "output/report_file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[256], path[300];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    snprintf(path, sizeof path, "%s/out.h5", dir);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(report_file, .init = setup, .fini = teardown);

/* Two runs; the second one owns rows 2 and 3 of /jobs. */
static void write_two_runs(void)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_sweep(&f, "trace.load");
    fixture_run(&f, "0a", "fifo", 1);
    fixture_text(&f, RESULTS_RUNS, "sweep.trace.load", "0.7");
    fixture_job(&f, "a", 1, 0, 0, 10);
    fixture_job(&f, "b", 2, 1, 10, 12.5);
    fixture_run(&f, "0b", "srtf", 2);
    fixture_text(&f, RESULTS_RUNS, "sweep.trace.load", "0.7");
    fixture_job(&f, "a", 1, 0, 2, 13);
    fixture_job(&f, "b", 2, 1, -1, 1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

Test(report_file, lists_runs_with_labels_seeds_swept_values_and_rows)
{
    write_two_runs();
    struct report_file f;
    struct error err = {0};
    cr_assert_eq(report_file_open(&f, path, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(f.n_runs, 2);
    cr_expect_str_eq(f.runs[0].id, "0a00000000000000");
    cr_expect_str_eq(f.runs[1].label, "srtf");
    cr_expect_eq(f.runs[1].seed, 2);
    cr_expect_str_eq(f.runs[1].status, "ok");
    cr_expect_str_eq(report_run_swept(&f, &f.runs[0], "trace.load"), "0.7");
    cr_expect_str_eq(report_run_swept(&f, &f.runs[0], "trace.jobs"), "");
    cr_expect_eq(f.runs[1].tables[RESULTS_JOBS].begin, 2);
    cr_expect_eq(f.runs[1].tables[RESULTS_JOBS].count, 2);
    cr_expect_not(report_run_has(&f.runs[0], RESULTS_SERIES));
    char title[100];
    cr_expect_str_eq(report_run_title(&f, &f.runs[0], title, sizeof title), "fifo, trace.load 0.7");
    report_file_close(&f);
}

Test(report_file, reads_slices_of_columns_with_their_units)
{
    write_two_runs();
    struct report_file f;
    struct report_table t;
    struct error err = {0};
    cr_assert_eq(report_file_open(&f, path, &err), BRAID_OK);
    cr_assert_eq(report_table_open(&t, f.file, f.path, "jobs", &err), BRAID_OK, "%s", err.message);
    cr_expect_eq(t.rows, 4);
    const struct report_column *end = report_column_find(&t, "end"), *id = report_column_find(&t, "id"),
                               *status = report_column_find(&t, "status");
    cr_expect_str_eq(end->units, "s");
    double values[2];
    cr_assert_eq(report_read_f64(&t, end, 1, 2, values, &err), BRAID_OK);
    cr_expect_eq(values[0], 12.5);
    cr_expect_eq(values[1], 13);
    char texts[8];
    cr_assert_eq(id->width, 1);
    cr_assert_eq(report_read_text(&t, id, 2, 2, texts, &err), BRAID_OK);
    cr_expect_str_eq(texts, "a");
    cr_expect_str_eq(texts + 2, "b");
    int64_t codes[4];
    cr_assert_eq(report_read_i64(&t, status, 0, 4, codes, &err), BRAID_OK);
    cr_expect_str_eq(report_enum_text(status, codes[3]), "rejected");
    cr_expect_eq(report_enum_value(status, "unfinished"), 1);
    cr_expect_eq(report_read_f64(&t, end, 3, 2, values, &err), BRAID_BAD_INPUT);
    cr_expect(strstr(err.message, "4 rows") != NULL, "%s", err.message);
    report_table_close(&t);
    cr_expect_eq(report_table_open(&t, f.file, f.path, "nothing", &err), BRAID_BAD_INPUT);
    report_file_close(&f);
}

Test(report_file, finds_runs_by_the_beginning_of_the_id_or_by_label)
{
    write_two_runs();
    struct report_file f;
    struct error err = {0};
    cr_assert_eq(report_file_open(&f, path, &err), BRAID_OK);
    cr_expect(report_run_find(&f, "0b00", &err) == &f.runs[1]);
    cr_expect(report_run_find(&f, "fifo", &err) == &f.runs[0]);
    cr_expect(report_run_find(&f, "las", &err) == NULL);
    cr_expect(strstr(err.message, "0a00000000000000 (fifo") != NULL, "%s", err.message);
    cr_expect(report_run_find(&f, NULL, &err) == NULL, "there are two");
    cr_expect(strstr(err.message, "--run") != NULL, "%s", err.message);
    report_file_close(&f);
}

static void expect_refused(const char *words)
{
    struct report_file f;
    struct error err = {0};
    cr_expect_eq(report_file_open(&f, path, &err), BRAID_BAD_INPUT);
    cr_expect(strstr(err.message, words) != NULL, "'%s' is not in: %s", words, err.message);
    cr_expect_str_eq(err.file, path);
}

static void write_bytes(const char *bytes)
{
    FILE *out = fopen(path, "w");
    fputs(bytes, out);
    fclose(out);
}

Test(report_file, refuses_what_is_no_results_file_and_says_what_to_do)
{
    expect_refused("braid run");
    write_bytes("");
    expect_refused("empty");
    write_bytes("run,label\n1,fifo\n");
    expect_refused("not a results file");
}

Test(report_file, refuses_another_schema_and_foreign_hdf5)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "0a", "fifo", 1);
    f.schema = 7;
    cr_assert(fixture_write(&f, path));
    expect_refused("schema 7");
    fixture_fini(&f);
    H5Fclose(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    expect_refused("no attribute 'schema'");
}

Test(report_file, refuses_a_truncated_file)
{
    write_two_runs();
    cr_assert_eq(truncate(path, 4000), 0);
    expect_refused("truncated");
}

Test(report_file, refuses_a_file_that_is_being_written)
{
    write_two_runs();
    hid_t writer = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert(writer >= 0);
    char out[2000], *disabled = getenv("HDF5_USE_FILE_LOCKING");
    if (disabled != NULL && strcmp(disabled, "FALSE") == 0)
        cr_skip_test("file locking of HDF5 is switched off");
    int status = fixture_braid(out, sizeof out, "compare %s", path);
    cr_expect_eq(status, 2);
    cr_expect(strstr(out, "writing") != NULL, "%s", out);
    H5Fclose(writer);
}

Test(report_file, runs_are_found_by_label_seed_and_swept_values)
{
    static const char *const ids[] = {"11", "12", "13", "14"}, *const loads[] = {"0.7", "0.9", "0.7", "0.9"};
    struct fixture f;
    struct report_file file;
    struct error err = {0};
    fixture_init(&f);
    fixture_sweep(&f, "trace.load");
    for (unsigned i = 0; i < 4; i++) {
        fixture_run(&f, ids[i], i < 3 ? "srtf" : "a, b", i / 2);
        fixture_text(&f, RESULTS_RUNS, RESULTS_SWEEP_PREFIX "trace.load", loads[i]);
    }
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_assert_eq(report_file_open(&file, path, &err), BRAID_OK, "%s", err.message);
    static const struct {
        const char *text;
        int run; /* -1: none, or more than one */
    } cases[] = {{"srtf, seed=0, trace.load=0.9", 1},
                 {"trace.load=0.9,srtf", 1},
                 {"srtf,seed=1", 2},
                 {"a, b", 3},
                 {"seed=1", -1},
                 {"srtf", -1},
                 {"srtf, seed=7", -1},
                 {"", -1},
                 {"srtf,", -1},
                 {"policy=srtf, seed=1", 2},
                 {"1300", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct report_run *run = report_run_find(&file, cases[i].text, &err);
        cr_expect(run == (cases[i].run < 0 ? NULL : &file.runs[cases[i].run]), "%s", cases[i].text);
    }
    report_run_find(&file, "srtf", &err);
    cr_expect(strstr(err.message, "names 3 runs") != NULL && strstr(err.message, "a, b") == NULL, "only those: %s",
              err.message);
    report_file_close(&file);
}
