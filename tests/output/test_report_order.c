/* The order in which values, labels and runs are listed: the config's, and what is done where no config says. */
#include "fixture_results.h"
#include "output/report_order.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static char dir[256];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(report_order, .init = setup, .fini = teardown);

/* A run as it stands in a file: its id, position, policy and the value of trace.load. */
struct row {
    const char *id, *name;
    int position;
    const char *label, *load;
};

/* Write the rows, which are in order of id, to `dir`/`file` and open it. */
static void open_rows(struct report_file *out, const char *file, const struct row *rows, size_t n, bool has_positions)
{
    struct fixture f;
    struct error err = {0};
    static char paths[8][320];
    static int used;
    char *path = paths[used++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", dir, file);
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_sweep(&f, "trace.load");
    for (size_t i = 0; i < n; i++) {
        fixture_run(&f, rows[i].id, rows[i].label, 1);
        fixture_text(&f, RESULTS_RUNS, "name", rows[i].name);
        fixture_text(&f, RESULTS_RUNS, "sweep.trace.load", rows[i].load);
        fixture_number(&f, RESULTS_RUNS, RESULTS_POSITION, rows[i].position);
    }
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    if (!has_positions) {
        hid_t h = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        cr_assert_geq(H5Ldelete(h, "/runs/" RESULTS_POSITION, H5P_DEFAULT), 0);
        H5Fclose(h);
    }
    cr_assert_eq(report_file_open(out, path, &err), BRAID_OK, "%s", err.message);
}

/* The values in order are exactly these. */
static void expect_order(const struct report_order *o, const char *key, const char *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            int order = report_order_compare(o, key, values[i], values[k]);
            cr_expect_eq((order > 0) - (order < 0), (i > k) - (i < k), "%s: %s and %s", key, values[i], values[k]);
        }
}
#define EXPECT(o, key, ...)                                                                                            \
    expect_order(o, key, (const char *const[]){__VA_ARGS__},                                                           \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

Test(report_order, values_are_ascending_by_what_they_mean)
{
    static const char *const ascending[] = {
        "0.0625",
        "0.125",
        "0.25",
        "0.5",
        "0.8",
        "0.95",
        "1.1",
        "2",
        "1e3",
        "1 ms",
        "30 min",
        "2 h",
        "8 h",
        "1e9 s",
        "1 MB",
        "1 GB",
        "fifo",
        "las quantum=0.0625",
        "las quantum=0.25",
        "las quantum=0.5",
        "las quantum=2",
        "las quantum=10",
        "sjf",
    };
    enum { N = sizeof ascending / sizeof ascending[0] };
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            int order = report_value_compare(ascending[i], ascending[k]);
            cr_expect_eq((order > 0) - (order < 0), (i > k) - (i < k), "%s and %s", ascending[i], ascending[k]);
        }
    cr_expect_neq(report_value_compare("0.50", "0.5"), 0, "texts that differ are never equal");
}

Test(report_order, the_order_is_that_of_the_config)
{
    struct report_file f;
    struct report_order o;
    const struct row rows[] = {
        {"0a", "x", 5, "fifo", "0.7"}, {"0b", "x", 0, "srtf", "0.9"}, {"0c", "x", 2, "las", "0.9"},
        {"0d", "x", 4, "fifo", "0.9"}, {"0e", "x", 3, "las", "0.7"},  {"0f", "x", 1, "srtf", "0.7"},
    };
    open_rows(&f, "a.h5", rows, 6, true);
    cr_assert_eq(report_order_init(&o, &f, 1, NULL), BRAID_OK);
    EXPECT(&o, REPORT_ORDER_LABEL, "srtf", "las", "fifo");
    EXPECT(&o, "policy", "srtf", "las", "fifo");
    EXPECT(&o, "trace.load", "0.9", "0.7", "0.8"); /* no run has 0.8: last */
    EXPECT(&o, "vc", "2", "10");                   /* no swept key: ascending */
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            int order = report_order_runs(&f.runs[i], &f.runs[k]);
            cr_expect_eq(order > 0, rows[i].position > rows[k].position);
        }
    report_order_fini(&o);
    report_file_close(&f);
}

Test(report_order, an_older_file_is_listed_ascending)
{
    struct report_file f;
    struct report_order o;
    const struct row rows[] = {
        {"0a", "x", 0, "srtf", "0.8"}, {"0b", "x", 0, "fifo", "0.125"}, {"0c", "x", 0, "las", "1.1"}};
    open_rows(&f, "old.h5", rows, 3, false);
    cr_assert_eq(report_order_init(&o, &f, 1, NULL), BRAID_OK);
    cr_expect_eq(f.runs[0].position, -1);
    EXPECT(&o, REPORT_ORDER_LABEL, "fifo", "las", "srtf");
    EXPECT(&o, "trace.load", "0.125", "0.8", "1.1");
    cr_expect_lt(report_order_runs(&f.runs[0], &f.runs[1]), 0);
    report_order_fini(&o);
    report_file_close(&f);
}

Test(report_order, several_files_and_experiments_make_one_order)
{
    struct report_file f[3];
    struct report_order o;
    const struct row first[] = {{"0a", "x", 1, "fifo", "0.9"}, {"0b", "x", 0, "srtf", "0.7"}},
                     second[] = {{"1a", "y", 0, "las", "0.8"}, {"1b", "z", 0, "fifo", "0.95"}},
                     third[] = {{"2a", "x", 0, "sjf", "1"}, {"2b", "x", 1, "las", "0.8"}};
    open_rows(&f[0], "1.h5", first, 2, true);
    open_rows(&f[1], "2.h5", second, 2, true);
    open_rows(&f[2], "3.h5", third, 2, true);
    cr_assert_eq(report_order_init(&o, f, 2, NULL), BRAID_OK);
    EXPECT(&o, REPORT_ORDER_LABEL, "srtf", "fifo", "las"); /* the first has an order of its own; then what comes new */
    EXPECT(&o, "trace.load", "0.7", "0.8", "0.9", "0.95"); /* ascending in each: ascending in all */
    report_order_fini(&o);
    cr_assert_eq(report_order_init(&o, f, 3, NULL), BRAID_OK);
    EXPECT(&o, "trace.load", "0.7", "0.9", "0.8", "0.95", "1"); /* the third falls */
    report_order_fini(&o);
    for (int i = 0; i < 3; i++)
        report_file_close(&f[i]);
}
