/* Results files that somebody changed: each change is found by every command, named by table and column, with exit status 2. */
#include "fixture_results.h"
#include "output/report_file.h"
#include "output/results_source.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[256], path[300], out[16384];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    snprintf(path, sizeof path, "%s/out.h5", dir);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(results_check, .init = setup, .fini = teardown);

static void write_file(void)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "trace.load");
    for (int run = 0; run < 2; run++) {
        fixture_run(&f, run == 0 ? "01" : "02", run == 0 ? "fifo" : "srtf", 1);
        fixture_job(&f, "a", 1, 0, 0, 10 + run);
        fixture_job(&f, "b", 2, 5, 10, 30 + run);
        fixture_segment(&f, 0, 0, 10, "run", 0, 0, 1);
        fixture_series(&f, 60, "cluster", "queued_jobs", 1);
        fixture_event(&f, 0, "start", 0, "first");
    }
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

/* ---- changes ---------------------------------------------------------------------------------- */

struct change {
    const char *column; /* "jobs/submit"; a group: "jobs" */
    void (*apply)(hid_t file, const struct change *c);
    const char *text;
    double number;
    const char *words; /* what the message says */
};

static void set_unit(hid_t file, const struct change *c)
{
    hid_t dataset = H5Dopen2(file, c->column, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    H5Adelete(dataset, "units");
    if (c->text != NULL) {
        H5Tset_size(type, strlen(c->text) + 1);
        hid_t space = H5Screate(H5S_SCALAR);
        hid_t attribute = H5Acreate2(dataset, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
        cr_assert_geq(H5Awrite(attribute, type, c->text), 0);
        H5Aclose(attribute);
        H5Sclose(space);
    }
    H5Tclose(type);
    H5Dclose(dataset);
}

static void drop(hid_t file, const struct change *c)
{
    cr_assert_geq(H5Ldelete(file, c->column, H5P_DEFAULT), 0);
}

static void add_group(hid_t file, const struct change *c)
{
    H5Gclose(H5Gcreate2(file, c->column, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

/* Another dataset in the place of a column: nothing is written into it, it has `rows` and the old unit. */
static void replace(hid_t file, const char *column, hid_t type, hsize_t rows, hsize_t chunk, int dimensions)
{
    char unit[32] = "";
    hid_t old = H5Dopen2(file, column, H5P_DEFAULT), attribute = H5Aopen(old, "units", H5P_DEFAULT);
    hid_t text = H5Aget_type(attribute);
    cr_assert(H5Tget_size(text) < sizeof unit);
    H5Aread(attribute, text, unit);
    H5Aclose(attribute);
    H5Dclose(old);
    H5Ldelete(file, column, H5P_DEFAULT);
    hsize_t size[2] = {rows, 1};
    hid_t space = H5Screate_simple(dimensions, size, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk > 0)
        H5Pset_chunk(properties, 1, &chunk);
    hid_t dataset = H5Dcreate2(file, column, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    cr_assert_geq(dataset, 0, "%s", column);
    hid_t scalar = H5Screate(H5S_SCALAR);
    attribute = H5Acreate2(dataset, "units", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, text, unit);
    if (rows <= 8 && dimensions == 1) { /* values are there: what is wrong is something else */
        char *zeros = calloc(rows, H5Tget_size(type));
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros);
        free(zeros);
    }
    H5Aclose(attribute);
    H5Sclose(scalar);
    H5Tclose(text);
    H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
}

static hsize_t rows_of(hid_t file, const char *column)
{
    hsize_t rows = 0;
    hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT), space = H5Dget_space(dataset);
    H5Sget_simple_extent_dims(space, &rows, NULL);
    H5Sclose(space);
    H5Dclose(dataset);
    return rows;
}

static void as_int(hid_t file, const struct change *c)
{
    replace(file, c->column, H5T_STD_I64LE, rows_of(file, c->column), 0, 1);
}

static void as_real(hid_t file, const struct change *c)
{
    replace(file, c->column, H5T_IEEE_F64LE, rows_of(file, c->column), 0, 1);
}

static void as_float(hid_t file, const struct change *c)
{
    replace(file, c->column, H5T_IEEE_F32LE, rows_of(file, c->column), 0, 1);
}

static void as_matrix(hid_t file, const struct change *c)
{
    replace(file, c->column, H5T_IEEE_F64LE, rows_of(file, c->column), 0, 2);
}

static void as_variable_text(hid_t file, const struct change *c)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    replace(file, c->column, type, 1 << 20, 0, 1);
    H5Tclose(type);
}

static void as_other_codes(hid_t file, const struct change *c)
{
    static const char *const names[] = {"unfinished", "finished", "rejected", "failed", "killed"};
    hid_t type = H5Tenum_create(H5T_STD_U8LE);
    for (uint8_t i = 0; i < 5; i++)
        H5Tenum_insert(type, names[i], &i);
    replace(file, c->column, type, rows_of(file, c->column), 0, 1);
    H5Tclose(type);
}

static void shorten(hid_t file, const struct change *c)
{
    replace(file, c->column, H5T_IEEE_F64LE, rows_of(file, c->column) - 1, 0, 1);
}

/* All columns of a table declare 10^15 rows and hold none. */
static void declare_huge(hid_t file, const struct change *c)
{
    for (int t = 0; t < RESULTS_TABLES; t++) {
        const struct table_spec *spec = results_table(t);
        for (uint32_t i = 0; strcmp(spec->name, c->column) == 0 && i < spec->n_columns; i++) {
            char name[128];
            snprintf(name, sizeof name, "%s/%s", spec->name, spec->columns[i].name);
            hid_t old = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(old);
            H5Dclose(old);
            replace(file, name, type, 1000000000000000, (hsize_t)c->number, 1);
            H5Tclose(type);
        }
    }
}

static void widen_text(hid_t file, const struct change *c)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 1u << 30);
    hsize_t rows[1] = {rows_of(file, c->column)};
    hid_t space = H5Screate_simple(1, rows, NULL);
    H5Ldelete(file, c->column, H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, c->column, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Tclose(type);
}

/* The first value of a column of integers or codes. */
static void set_first(hid_t file, const struct change *c)
{
    hid_t dataset = H5Dopen2(file, c->column, H5P_DEFAULT), type = H5Dget_type(dataset);
    char values[4096] = {0};
    cr_assert_geq(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    int64_t number = (int64_t)c->number;
    memcpy(values, &number, H5Tget_size(type) < 8 ? H5Tget_size(type) : 8);
    cr_assert_geq(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Tclose(type);
    H5Dclose(dataset);
}

static const struct change changes[] = {
    {"jobs/submit", set_unit, "min", 0, "table /jobs, column 'submit': its unit is not that of the schema"},
    {"jobs/submit", set_unit, NULL, 0, "table /jobs, column 'submit': its unit"},
    {"summary/jct_mean", set_unit, "h", 0, "table /summary, column 'jct_mean': its unit"},
    {"jobs/id", set_unit, "s", 0, "table /jobs, column 'id': its unit"},
    {"jobs", drop, NULL, 0, "there is no table /jobs"},
    {"jobs/end", drop, NULL, 0, "table /jobs, column 'end': it is not there"},
    {"runs/digest", drop, NULL, 0, "table /runs, column 'digest': it is not there"},
    {"extra", add_group, NULL, 0, "/extra is no table of a results file"},
    {"jobs/submit", as_int, NULL, 0, "table /jobs, column 'submit': it has another type"},
    {"jobs/gpus", as_real, NULL, 0, "table /jobs, column 'gpus': it has another type"},
    {"jobs/gpus", as_int, NULL, 0, "table /jobs, column 'gpus': it has another type"},
    {"jobs/jct", as_float, NULL, 0, "table /jobs, column 'jct': it has another type"},
    {"runs/label", as_real, NULL, 0, "table /runs, column 'label': it has another type"},
    {"runs/sweep.trace.load", as_real, NULL, 0, "table /runs, column 'sweep.trace.load': a swept key is text"},
    {"jobs/end", as_matrix, NULL, 0, "table /jobs, column 'end': it is not a column of values"},
    {"jobs/id", as_variable_text, NULL, 0, "table /jobs, column 'id': "},
    {"jobs/status", as_other_codes, NULL, 0, "table /jobs, column 'status': its codes are not those of the schema"},
    {"runs/status", as_other_codes, NULL, 0, "table /runs, column 'status': its codes are not those of the schema"},
    {"jobs/end", shorten, NULL, 0, "table /jobs, column 'end': its length"},
    {"jobs", declare_huge, NULL, 0, "table /jobs, column 'run': fewer values are in the file than its length says"},
    {"series", declare_huge, NULL, 1024, "table /series, column 'run': fewer values are in the file"},
    {"runs", declare_huge, NULL, 0, "table /runs, column "},
    {"jobs/id", widen_text, NULL, 0, "table /jobs, column 'id': fewer values are in the file"},
    {"runs/jobs_begin", set_first, NULL, 3,
     "table /runs, column 'jobs_begin': rows 3 to 3 + 2 are not all in /jobs, which has 4"},
    {"runs/jobs_begin", set_first, NULL, -1, "table /runs, column 'jobs_begin': rows -1"},
    {"runs/events_count", set_first, NULL, 9e18,
     "table /runs, column 'events_begin': rows 0 to 0 + 9000000000000000000"},
    {"summary/run", set_first, NULL, 0x3939, "table /summary, column 'run': its runs are not those of /runs"},
    {"runs/status", set_first, NULL, 77, "table /runs, column 'status': row 0 holds the code 77"},
};
enum { N_CHANGES = sizeof changes / sizeof changes[0] };

static void apply(const struct change *c)
{
    write_file();
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert_geq(file, 0);
    c->apply(file, c);
    H5Fclose(file);
}

/* Both ways in: that of compare, diff, export and plot, and that of merge, run and resume. */
Test(results_check, every_change_is_found_where_a_file_is_opened)
{
    for (int i = 0; i < N_CHANGES; i++) {
        struct report_file f;
        struct results_source s;
        struct error err = {0};
        apply(&changes[i]);
        cr_expect_eq(report_file_open(&f, path, &err), BRAID_BAD_INPUT, "%s: %s", changes[i].column, changes[i].words);
        cr_expect(strstr(err.message, changes[i].words) != NULL, "%s: %s", changes[i].words, err.message);
        cr_expect_str_eq(err.file, path);
        err = (struct error){0};
        cr_expect_eq(results_source_open(&s, path, &err), BRAID_BAD_INPUT, "%s: %s", changes[i].column,
                     changes[i].words);
        cr_expect(strstr(err.message, changes[i].words) != NULL, "%s: %s", changes[i].words, err.message);
    }
}

Test(results_check, a_file_as_it_was_written_passes)
{
    struct report_file f;
    struct results_source s;
    struct error err = {0};
    write_file();
    cr_assert_eq(report_file_open(&f, path, &err), BRAID_OK, "%s", err.message);
    report_file_close(&f);
    cr_assert_eq(results_source_open(&s, path, NULL), BRAID_OK);
    results_source_fini(&s);
}

/* A file of an older version lacks columns that came later, and has some that are gone. */
Test(results_check, a_file_of_an_older_version_passes)
{
    static const struct change old = {"summary/wait_p95", drop, NULL, 0, NULL};
    struct report_file f;
    struct results_source s;
    struct error err = {0};
    apply(&old);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hsize_t rows = 2;
    hid_t space = H5Screate_simple(1, &rows, NULL);
    double values[] = {1, 2};
    hid_t dataset =
        H5Dcreate2(file, "summary/energy_kwh", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
    cr_assert_eq(report_file_open(&f, path, &err), BRAID_OK, "%s", err.message);
    report_file_close(&f);
    cr_assert_eq(results_source_open(&s, path, &err), BRAID_OK, "%s", err.message);
    results_source_fini(&s);
    cr_expect_eq(fixture_braid(out, sizeof out, "merge %s/merged.h5 %s", dir, path), 0, "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s/merged.h5 --metrics jct_mean,wait_p95", dir), 0, "%s", out);
}

/* Codes that no value has stand in tables too large to be looked through; whoever reads them finds them. */
Test(results_check, every_command_refuses_what_was_changed)
{
    static const struct change codes = {"jobs/status", set_first, NULL, 77,
                                        "table /jobs, column 'status': row 0 holds the code 77"};
    static const struct change gpus = {"allocs/gpu_count", set_first, NULL, 4e9,
                                       "table /allocs, column 'gpu_count': row 0 holds 4000000000"},
                               rank = {"segments/job", set_first, NULL, 4e9,
                                       "table /segments, column 'job': row 0 names job 4000000000"};
    const struct {
        const struct change *change;
        const char *arguments;
    } cases[] = {
        {&codes, "compare %s --by vc"},
        {&codes, "diff %s %s --run 0100,0200"},
        {&codes, "export %s --run 0100 --what jobs"},
        {&codes, "plot %s -o %s.d --figure jct_cdf"},
        {&codes, "merge %s.m %s"},
        {&gpus, "diff %s %s --run 0100,0200"},
        {&gpus, "export %s --run 0100 --what trace-events"},
        {&rank, "diff %s %s --run 0100,0200"},
        {&rank, "export %s --run 0100 --what batsim"},
        {&changes[0], "compare %s"},
        {&changes[0], "diff %s %s"},
        {&changes[0], "export %s --run 0100 --what jobs"},
        {&changes[0], "plot %s -o %s.d"},
        {&changes[0], "merge %s.m %s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char arguments[1024];
        if (i == 0 || cases[i].change != cases[i - 1].change)
            apply(cases[i].change);
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"");
        snprintf(arguments, sizeof arguments, cases[i].arguments, path, path);
        _Pragma("GCC diagnostic pop");
        cr_expect_eq(fixture_braid(out, sizeof out, "%s", arguments), 2, "%s: %s", arguments, out);
        cr_expect(strstr(out, cases[i].change->words) != NULL, "%s: %s", arguments, out);
    }
}
