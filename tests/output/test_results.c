#include "output/results_assemble.h"
#include "output/results_schema.h"
#include "output/results_source.h"
#include "run_sample.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Four jobs that meet every case: finished at once, preempted with overhead and lost work, rejected, unfinished and never started. */
static const struct sample_job four[] = {
    {"job_a", "ann", "v1", 2, 0.5, 100, 0.5, 100.5, 100, 0, 0, .trace_status = TRACE_PASSED},
    {"job_bé", "bob", "v2", 8, 10, 50, 20, 95.25, 60, 7, 3, 1, 2, 3, .trace_status = TRACE_FAILED},
    {"job_long_name", "ann", "v1", 99, 11, 5, -1, 11, 0, 0, 0, .status = STATUS_REJECTED, .reason = "too_large_for_vc"},
    {"d", "carol", "v1", 1, 12, 7, -1, 112, 0, 0, 0, .status = STATUS_UNFINISHED, .reason = "horizon"},
};

/* ---- reading back with HDF5 alone ---- */

static hid_t open_column(const char *path, const char *column)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    cr_assert_geq(file, 0, "%s", path);
    hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT);
    cr_assert_geq(dataset, 0, "%s lacks %s", path, column);
    H5Fclose(file); /* the dataset keeps it open */
    return dataset;
}

static size_t column_rows(hid_t dataset)
{
    hsize_t n;
    hid_t space = H5Dget_space(dataset);
    cr_assert_eq(H5Sget_simple_extent_dims(space, &n, NULL), 1);
    H5Sclose(space);
    return n;
}

static double *read_f64(const char *path, const char *column, size_t *n)
{
    hid_t dataset = open_column(path, column);
    *n = column_rows(dataset);
    double *values = calloc(*n + 1, sizeof *values);
    hid_t type = H5Dget_type(dataset);
    if (H5Tget_class(type) == H5T_ENUM) {
        uint8_t *codes = calloc(*n + 1, 1);
        cr_assert_geq(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, codes), 0);
        for (size_t i = 0; i < *n; i++)
            values[i] = codes[i];
        free(codes);
    } else {
        cr_assert_geq(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    }
    H5Tclose(type);
    H5Dclose(dataset);
    return values;
}

static char *read_text(const char *path, const char *column, size_t *n, size_t *width)
{
    hid_t dataset = open_column(path, column);
    hid_t type = H5Dget_type(dataset);
    *n = column_rows(dataset);
    *width = H5Tget_size(type);
    char *text = calloc(*n + 1, *width);
    cr_assert_geq(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text), 0);
    H5Tclose(type);
    H5Dclose(dataset);
    return text;
}

static void expect_f64(const char *path, const char *column, const double *wanted, size_t n)
{
    size_t got;
    double *values = read_f64(path, column, &got);
    cr_assert_eq(got, n, "%s has %zu rows", column, got);
    for (size_t i = 0; i < n; i++)
        cr_assert((isnan(wanted[i]) && isnan(values[i])) || wanted[i] == values[i], "%s[%zu] is %.17g, not %.17g",
                  column, i, values[i], wanted[i]);
    free(values);
}
#define EXPECT(path, column, ...)                                                                                      \
    expect_f64(path, column, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void expect_text(const char *path, const char *column, const char *const *wanted, size_t n, size_t width)
{
    size_t got, w;
    char *text = read_text(path, column, &got, &w);
    cr_assert_eq(got, n);
    cr_assert_eq(w, width, "%s is %zu wide, not %zu", column, w, width);
    for (size_t i = 0; i < n; i++) {
        char padded[256] = "";
        strcpy(padded, wanted[i]);
        cr_assert_eq(memcmp(text + i * w, padded, w), 0, "%s[%zu] is '%.*s'", column, i, (int)w, text + i * w);
    }
    free(text);
}
#define EXPECT_TEXT(path, column, width, ...)                                                                          \
    expect_text(path, column, (const char *const[]){__VA_ARGS__},                                                      \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), width)

Test(results, a_part_holds_exactly_the_jobs)
{
    char *dir = folder_make();
    struct run_sample s;
    struct error err = {0};
    run_sample_init(&s, four, 4, 1);
    cr_assert_eq(results_write_part(in(dir, "parts"), &s.output, &err), 0, "%s", err.message);
    const char *p = in(dir, "parts/0000000000000001.h5");
    EXPECT(p, "/jobs/job", 0, 1, 2, 3);
    EXPECT(p, "/jobs/gpus", 2, 8, 99, 1);
    EXPECT(p, "/jobs/submit", 0.5, 10, 11, 12);
    EXPECT(p, "/jobs/start", 0.5, 20, NAN, NAN);
    EXPECT(p, "/jobs/end", 100.5, 95.25, 11, NAN);
    EXPECT(p, "/jobs/queued", 0, 25.25, 0, 100);
    EXPECT(p, "/jobs/run_time", 100, 60, 0, 0);
    EXPECT(p, "/jobs/jct", 100, 85.25, NAN, NAN);
    EXPECT(p, "/jobs/overhead", 0, 7, 0, 0);
    EXPECT(p, "/jobs/lost", 0, 3, 0, 0);
    EXPECT(p, "/jobs/work", 100, 50, 5, 7);
    EXPECT(p, "/jobs/gpu_time", 200, 480, 0, 0);
    EXPECT(p, "/jobs/preemptions", 0, 1, 0, 0);
    EXPECT(p, "/jobs/moves", 0, 2, 0, 0);
    EXPECT(p, "/jobs/restarts", 0, 3, 0, 0);
    EXPECT(p, "/jobs/status", STATUS_FINISHED, STATUS_FINISHED, STATUS_REJECTED, STATUS_UNFINISHED);
    EXPECT(p, "/jobs/trace_status", TRACE_PASSED, TRACE_FAILED, TRACE_UNKNOWN, TRACE_UNKNOWN);
    EXPECT_TEXT(p, "/jobs/id", 13, "job_a", "job_bé", "job_long_name", "d");
    EXPECT_TEXT(p, "/jobs/user", 5, "ann", "bob", "ann", "carol");
    EXPECT_TEXT(p, "/jobs/vc", 2, "v1", "v2", "v1", "v1");
    EXPECT_TEXT(p, "/jobs/reason", 16, "", "", "too_large_for_vc", "horizon");
    EXPECT_TEXT(p, "/jobs/run", 16, "0000000000000001", "0000000000000001", "0000000000000001", "0000000000000001");
    EXPECT_TEXT(p, "/runs/run", 16, "0000000000000001");
    EXPECT_TEXT(p, "/runs/name", 7, "by hand");
    EXPECT_TEXT(p, "/runs/digest", 64, s.output.digest);
    EXPECT_TEXT(p, "/runs/config", strlen(s.config.yaml), s.config.yaml);
    EXPECT(p, "/runs/seed", 7);
    EXPECT(p, "/runs/origin", 1500000000);
    EXPECT(p, "/runs/status", RUN_OK);
    EXPECT(p, "/runs/jobs_begin", 0);
    EXPECT(p, "/runs/jobs_count", 4);
    EXPECT(p, "/runs/series_count", 0);
    cr_assert(results_has_part(in(dir, "parts"), "0000000000000001"));
    cr_assert_not(results_has_part(in(dir, "parts"), "0000000000000002"));
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, every_column_says_its_unit_and_every_code_its_name)
{
    char *dir = folder_make();
    struct run_sample s;
    run_sample_init(&s, four, 4, 1);
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    const char *p = in(dir, "0000000000000001.h5");
    for (int t = 0; t < RESULTS_TABLES; t++)
        for (uint32_t i = 0; i < results_table(t)->n_columns; i++) {
            const struct column_spec *c = &results_table(t)->columns[i];
            char name[128], unit[64] = "";
            snprintf(name, sizeof name, "/%s/%s", results_table(t)->name, c->name);
            hid_t dataset = open_column(p, name), attribute = H5Aopen(dataset, "units", H5P_DEFAULT);
            cr_assert_geq(attribute, 0, "%s has no units", name);
            hid_t type = H5Aget_type(attribute);
            cr_assert_leq(H5Tget_size(type), sizeof unit);
            H5Aread(attribute, type, unit);
            cr_assert_str_eq(unit, c->unit);
            H5Tclose(type);
            H5Aclose(attribute);
            type = H5Dget_type(dataset);
            for (uint32_t m = 0; m < c->n_members; m++) {
                uint8_t value = (uint8_t)m;
                char member[64];
                cr_assert_geq(H5Tenum_nameof(type, &value, member, sizeof member), 0);
                cr_assert_str_eq(member, c->members[m]);
            }
            H5Tclose(type);
            H5Dclose(dataset);
        }
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, codes_are_those_of_the_program)
{
    const struct column_spec *status = results_column(RESULTS_JOBS, "status");
    cr_assert_eq(status->n_members, JOB_STATUSES);
    for (uint32_t i = 0; i < status->n_members; i++)
        cr_assert_str_eq(status->members[i], job_status_text((enum job_status)i));
    const struct column_spec *trace = results_column(RESULTS_JOBS, "trace_status");
    cr_assert_eq(trace->n_members, TRACE_KILLED + 1);
    for (uint32_t i = 0; i < trace->n_members; i++)
        cr_assert_str_eq(trace->members[i], trace_status_text((enum trace_status)i));
    const struct column_spec *event = results_column(RESULTS_EVENTS, "event");
    cr_assert_eq(event->n_members, DECISION_CAPACITY + 1);
    for (uint32_t i = 0; i < event->n_members; i++)
        cr_assert_str_eq(event->members[i], decision_kind_text((enum decision_kind)i));
    cr_assert_eq(results_column(RESULTS_SEGMENTS, "kind")->n_members, SEGMENT_QUEUED + 1);
    cr_assert_eq(results_column(RESULTS_RUNS, "status")->n_members, RUN_OVERLOADED + 1);
}

Test(results, long_columns_come_back_over_the_borders_of_slices_and_chunks)
{
    enum { N = 2 * 65536 + 4321 };
    char *dir = folder_make();
    struct run_sample s;
    run_sample_many(&s, N, 1);
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    const char *p = in(dir, "0000000000000001.h5");
    size_t n, width;
    double *ends = read_f64(p, "/jobs/end", &n), *preemptions = read_f64(p, "/jobs/preemptions", &n);
    double *lost = read_f64(p, "/jobs/lost", &n);
    char *ids = read_text(p, "/jobs/id", &n, &width);
    cr_assert_eq(n, N);
    for (uint32_t i = 0; i < N; i++) {
        const struct workload *w = &s.workload;
        size_t length = w->id_at[i + 1] - w->id_at[i];
        cr_assert_eq(ends[i], (double)s.result.jobs[i].end_ns / 1e9);
        cr_assert_eq(preemptions[i], s.result.jobs[i].preemptions);
        cr_assert_eq(lost[i], 0);
        cr_assert_eq(strnlen(ids + i * width, width), length);
        cr_assert_eq(memcmp(ids + i * width, w->id_text + w->id_at[i], length), 0);
    }
    free(ends);
    free(preemptions);
    free(lost);
    free(ids);
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, the_same_run_gives_the_same_bytes_at_another_time_and_place)
{
    char *dir = folder_make();
    struct run_sample s;
    run_sample_many(&s, 3000, 5);
    cr_assert_eq(results_write_part(in(dir, "x"), &s.output, NULL), 0);
    sleep(1); /* HDF5 counts times of objects in seconds */
    cr_assert_eq(results_write_part(in(dir, "y"), &s.output, NULL), 0);
    cr_assert(file_equal(in(dir, "x/0000000000000005.h5"), in(dir, "y/0000000000000005.h5")));
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, a_job_that_changes_changes_the_digest)
{
    struct run_sample s;
    char before[65], after[65];
    run_sample_init(&s, four, 4, 1);
    strcpy(before, s.output.digest);
    s.result.jobs[1].lost_ns++;
    results_digest(&s.result, &s.workload, after);
    cr_assert_str_neq(before, after);
    s.result.jobs[1].lost_ns--;
    results_digest(&s.result, &s.workload, after);
    cr_assert_str_eq(before, after);
    s.result.jobs[3].status = STATUS_KILLED;
    results_digest(&s.result, &s.workload, after);
    cr_assert_str_neq(before, after);
    run_sample_fini(&s);
}

Test(results, the_digest_is_over_every_core_column)
{
    struct run_sample s;
    char before[65], after[65];
    run_sample_init(&s, four, 4, 1);
    strcpy(before, s.output.digest);
    struct job *j = &s.result.jobs[1];
    int64_t *const times[] = {&s.workload.submit_ns[1], &j->start_ns, &j->end_ns, &j->run_ns,
                              &j->overhead_ns,          &j->lost_ns,  &j->gpu_ns};
    uint32_t *const counts[] = {&s.workload.gpus[1], &j->preemptions, &j->moves, &j->restarts};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        ++*times[i];
        results_digest(&s.result, &s.workload, after);
        cr_expect_str_neq(before, after, "time %zu", i);
        --*times[i];
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        ++*counts[i];
        results_digest(&s.result, &s.workload, after);
        cr_expect_str_neq(before, after, "count %zu", i);
        --*counts[i];
    }
    s.result.n_jobs--;
    results_digest(&s.result, &s.workload, after);
    cr_expect_str_neq(before, after, "a job less");
    s.result.n_jobs++;
    results_digest(&s.result, &s.workload, after);
    cr_expect_str_eq(before, after);
    run_sample_fini(&s);
}

/* ---- parts that are not whole ---- */

Test(results, a_part_cut_short_anywhere_does_not_count)
{
    char *dir = folder_make();
    struct run_sample s;
    run_sample_many(&s, 500, 1);
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    const char *p = in(dir, "0000000000000001.h5");
    size_t n;
    char *bytes = file_bytes(p, &n);
    cr_assert(results_has_part(dir, "0000000000000001"));
    for (size_t cut = 0; cut < n; cut += n / 40 + 1) {
        FILE *f = fopen(p, "wb");
        cr_assert_eq(fwrite(bytes, 1, cut, f), cut);
        fclose(f);
        cr_assert_not(results_has_part(dir, "0000000000000001"), "cut to %zu of %zu bytes", cut, n);
    }
    free(bytes);
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, a_part_in_the_making_does_not_count_and_its_leftover_does_not_hinder)
{
    char *dir = folder_make();
    struct run_sample s;
    run_sample_init(&s, four, 4, 1);
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    cr_assert_eq(rename(in(dir, "0000000000000001.h5"), in(dir, "0000000000000001.h5.tmp")), 0);
    cr_assert_not(results_has_part(dir, "0000000000000001"));
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    cr_assert(results_has_part(dir, "0000000000000001"));
    cr_assert_not(file_exists(in(dir, "0000000000000001.h5.tmp")));
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, a_failed_run_has_a_row_but_no_part)
{
    char *dir = folder_make();
    struct run_sample s;
    run_sample_init(&s, four, 4, 1);
    s.output.result = NULL;
    s.output.message = "the policy gives up";
    s.output.digest[0] = '\0';
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    cr_assert_not(results_has_part(dir, "0000000000000001"));
    const char *p = in(dir, "0000000000000001.failed.h5");
    EXPECT(p, "/runs/status", RUN_FAILED);
    EXPECT_TEXT(p, "/runs/message", 19, "the policy gives up");
    EXPECT(p, "/runs/jobs_count", 0);
    EXPECT(p, "/summary/jct_mean", NAN);
    run_sample_fini(&s);
    folder_remove(dir);
}

/* A file may grow to every possible size before the disk is full: each time an error, no part, nothing left over, and no harm to what comes. */
Test(results, a_full_disk_gives_an_error_and_no_part)
{
    char *dir = folder_make();
    struct run_sample s;
    struct error err;
    struct rlimit old, limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    run_sample_many(&s, 3000, 1);
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    size_t n;
    free(file_bytes(in(dir, "0000000000000001.h5"), &n));
    rename(in(dir, "0000000000000001.h5"), in(dir, "whole.h5"));
    for (size_t at = 0; at < n; at += n / 60 + 1) {
        limit = old;
        limit.rlim_cur = at;
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        int status = results_write_part(dir, &s.output, &err);
        setrlimit(RLIMIT_FSIZE, &old);
        cr_assert_eq(status, BRAID_FAILED, "%zu bytes of %zu", at, n);
        cr_assert_not_null(strstr(err.message, "too large"), "%s", err.message);
        cr_assert_not_null(strstr(err.file, "0000000000000001.h5"));
        cr_assert_not(file_exists(in(dir, "0000000000000001.h5")));
        cr_assert_not(file_exists(in(dir, "0000000000000001.h5.tmp")));
    }
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    cr_assert(file_equal(in(dir, "0000000000000001.h5"), in(dir, "whole.h5")));
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, what_cannot_be_written_is_told_with_its_place)
{
    char *dir = folder_make();
    struct run_sample s;
    struct error err = {0};
    run_sample_init(&s, four, 4, 1);
    cr_assert_eq(results_write_part(in(dir, "no/such"), &s.output, &err), BRAID_FAILED);
    cr_assert_not_null(strstr(err.file, "no/such"));
    cr_assert_eq(mkdir(in(dir, "0000000000000001.h5"), 0777), 0);
    cr_assert_eq(results_write_part(dir, &s.output, &err), BRAID_FAILED);
    cr_assert_not_null(strstr(err.message, "folder"), "%s", err.message);
    FILE *f = fopen(in(dir, "file"), "w");
    fclose(f);
    cr_assert_eq(results_write_part(in(dir, "file"), &s.output, &err), BRAID_FAILED);
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, a_folder_without_permission_is_told)
{
    if (geteuid() == 0)
        cr_skip_test("root may write everywhere");
    char *dir = folder_make();
    struct run_sample s;
    struct error err = {0};
    run_sample_init(&s, four, 4, 1);
    chmod(dir, 0555);
    cr_assert_eq(results_write_part(dir, &s.output, &err), BRAID_FAILED);
    cr_assert_not_null(strstr(err.message, "Permission denied"));
    chmod(dir, 0755);
    run_sample_fini(&s);
    folder_remove(dir);
}

/* ---- putting together ---- */

/* Parts 1..n of `sizes` jobs, in `dir`. */
static void write_parts(const char *dir, const uint32_t *sizes, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct run_sample s;
        run_sample_many(&s, sizes[i], i + 1);
        s.config.n_swept = 1 + i % 2;
        s.swept[0] = (struct swept){"seed", i % 2 == 0 ? "1" : "1000"};
        s.swept[1] = (struct swept){"odd/even", "yes"};
        cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
        run_sample_fini(&s);
    }
}

static const char *part(const char *dir, unsigned number)
{
    char name[64];
    snprintf(name, sizeof name, "%016x.h5", number);
    return in(dir, name);
}

Test(results, runs_come_in_order_of_id_with_their_rows)
{
    char *dir = folder_make();
    const uint32_t sizes[] = {5, 0, 20000, 3};
    write_parts(dir, sizes, 4);
    const char *sources[] = {part(dir, 4), part(dir, 2), part(dir, 3), part(dir, 1)};
    const char *out = in(dir, "out.h5");
    cr_assert_eq(results_assemble(out, sources, 4, NULL), 0);
    EXPECT_TEXT(out, "/runs/run", 16, "0000000000000001", "0000000000000002", "0000000000000003", "0000000000000004");
    EXPECT(out, "/runs/jobs_begin", 0, 5, 5, 20005);
    EXPECT(out, "/runs/jobs_count", 5, 0, 20000, 3);
    EXPECT_TEXT(out, "/runs/sweep.seed", 4, "1", "1000", "1", "1000");
    EXPECT_TEXT(out, "/runs/sweep.odd_even", 3, "", "yes", "", "yes");
    EXPECT(out, "/summary/jobs", 1, 2, 3, 4);
    size_t n;
    double *submit = read_f64(out, "/jobs/submit", &n), *jobs = read_f64(out, "/jobs/job", &n);
    cr_assert_eq(n, 20008);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = i < 5 ? i : i < 20005 ? i - 5 : i - 20005;
        cr_assert_eq(jobs[i], rank);
        cr_assert_eq(submit[i], rank * 0.5);
    }
    free(submit);
    free(jobs);
    folder_remove(dir);
}

Test(results, the_file_does_not_depend_on_the_way_its_runs_came)
{
    char *dir = folder_make();
    const uint32_t sizes[] = {5, 9000, 70000, 3};
    write_parts(dir, sizes, 4);
    const char *p1 = part(dir, 1), *p2 = part(dir, 2), *p3 = part(dir, 3), *p4 = part(dir, 4);
    const char *all = in(dir, "all.h5"), *odd = in(dir, "odd.h5"), *even = in(dir, "even.h5"),
               *again = in(dir, "again.h5");
    cr_assert_eq(results_assemble(all, (const char *[]){p1, p2, p3, p4}, 4, NULL), 0);
    cr_assert_eq(results_assemble(odd, (const char *[]){p3, p1}, 2, NULL), 0);
    cr_assert_eq(results_assemble(even, (const char *[]){p2, p4}, 2, NULL), 0);
    cr_assert_eq(results_assemble(again, (const char *[]){even, odd}, 2, NULL), 0);
    cr_assert(file_equal(all, again));
    cr_assert_eq(results_assemble(again, (const char *[]){even, p1, odd, all}, 4, NULL), 0);
    cr_assert(file_equal(all, again));
    /* a file may be one of its own sources */
    cr_assert_eq(results_assemble(odd, (const char *[]){odd, even}, 2, NULL), 0);
    cr_assert(file_equal(all, odd));
    folder_remove(dir);
}

Test(results, runs_that_are_left_out_leave_no_trace)
{
    char *dir = folder_make();
    struct run_sample s;
    const uint32_t sizes[] = {5, 700};
    write_parts(dir, sizes, 2);
    run_sample_init(&s, four, 4, 3); /* its texts are wider */
    s.config.policy.label = "a label that is much longer";
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    run_sample_fini(&s);
    const char *p1 = part(dir, 1), *p2 = part(dir, 2), *p3 = part(dir, 3);
    const char *all = in(dir, "all.h5"), *two = in(dir, "two.h5"), *picked = in(dir, "picked.h5");
    cr_assert_eq(results_assemble(all, (const char *[]){p1, p2, p3}, 3, NULL), 0);
    cr_assert_eq(results_assemble(two, (const char *[]){p1, p2}, 2, NULL), 0);
    const char *ids[] = {"0000000000000001", "0000000000000002"};
    const struct assemble_options only = {.only = ids, .n_only = 2};
    cr_assert_eq(results_assemble_runs(picked, (const char *[]){all}, 1, &only, NULL), 0);
    cr_assert(file_equal(two, picked));
    folder_remove(dir);
}

Test(results, places_in_the_config_are_kept_unless_the_config_of_now_says_otherwise)
{
    char *dir = folder_make();
    for (unsigned i = 1; i <= 3; i++) {
        struct run_sample s;
        run_sample_init(&s, four, 4, i);
        s.config.index = 30 - i;
        cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
        run_sample_fini(&s);
    }
    const char *p1 = part(dir, 1), *p2 = part(dir, 2), *p3 = part(dir, 3);
    const char *all = in(dir, "all.h5"), *merged = in(dir, "merged.h5"), *moved = in(dir, "moved.h5");
    cr_assert_eq(results_assemble(all, (const char *[]){p1, p2}, 2, NULL), 0);
    EXPECT(all, "/runs/position", 29, 28);
    cr_assert_eq(results_assemble(merged, (const char *[]){p3, all}, 2, NULL), 0);
    EXPECT(merged, "/runs/position", 29, 28, 27);
    const char *ids[] = {"0000000000000001", "0000000000000002", "0000000000000003"};
    const struct assemble_options now = {
        .only = ids, .n_only = 3, .positions = (const int64_t[]){4, -1, 5}, .may_link = true};
    cr_assert_eq(results_assemble_runs(moved, (const char *[]){merged}, 1, &now, NULL), 0);
    EXPECT(moved, "/runs/position", 4, 28, 5);
    EXPECT(merged, "/runs/position", 29, 28, 27);
    folder_remove(dir);
}

Test(results, a_file_of_an_older_version_has_no_places_and_is_taken_all_the_same)
{
    char *dir = folder_make();
    const uint32_t sizes[] = {5, 7};
    write_parts(dir, sizes, 2);
    const char *old = part(dir, 1), *out = in(dir, "out.h5"), *alone = in(dir, "alone.h5");
    hid_t file = H5Fopen(old, H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert_geq(H5Ldelete(file, "/runs/position", H5P_DEFAULT), 0);
    H5Fclose(file);
    cr_assert_eq(results_assemble(out, (const char *[]){part(dir, 2), old}, 2, NULL), 0);
    EXPECT(out, "/runs/position", -1, 0);
    const struct assemble_options link = {.may_link = true};
    cr_assert_eq(results_assemble_runs(alone, (const char *[]){old}, 1, &link, NULL), 0);
    EXPECT(alone, "/runs/position", -1);
    folder_remove(dir);
}

Test(results, one_part_alone_is_the_file)
{
    char *dir = folder_make();
    const uint32_t sizes[] = {70001};
    write_parts(dir, sizes, 1);
    const char *p = part(dir, 1), *copied = in(dir, "copied.h5"), *linked = in(dir, "linked.h5");
    const struct assemble_options link = {.may_link = true};
    cr_assert_eq(results_assemble(copied, &p, 1, NULL), 0);
    cr_assert(file_equal(p, copied));
    cr_assert_eq(results_assemble_runs(linked, &p, 1, &link, NULL), 0);
    cr_assert(file_equal(p, linked));
    cr_assert_eq(results_assemble_runs(linked, &linked, 1, &link, NULL), 0);
    cr_assert(file_equal(p, linked));
    cr_assert_not(file_exists(in(dir, "linked.h5.link")));
    folder_remove(dir);
}

Test(results, more_sources_than_may_be_open_at_once)
{
    enum { N = 90 };
    char *dir = folder_make();
    uint32_t sizes[N];
    const char *sources[N];
    for (unsigned i = 0; i < N; i++)
        sizes[i] = i;
    write_parts(dir, sizes, N);
    for (unsigned i = 0; i < N; i++)
        sources[i] = strdup(part(dir, i + 1));
    const char *out = in(dir, "out.h5");
    cr_assert_eq(results_assemble(out, sources, N, NULL), 0);
    size_t n;
    double *begin = read_f64(out, "/runs/jobs_begin", &n);
    cr_assert_eq(n, N);
    for (unsigned i = 0; i < N; i++)
        cr_assert_eq(begin[i], i * (i - 1.0) / 2);
    free(begin);
    for (unsigned i = 0; i < N; i++)
        free((char *)sources[i]);
    folder_remove(dir);
}

Test(results, two_different_runs_of_one_id_are_refused)
{
    char *dir = folder_make();
    struct run_sample a, b;
    struct error err = {0};
    mkdir(in(dir, "x"), 0777);
    run_sample_many(&a, 10, 1);
    run_sample_many(&b, 10, 1);
    b.output.metrics.value[7] += 1e-9;
    cr_assert_eq(results_write_part(in(dir, "x"), &a.output, NULL), 0);
    cr_assert_eq(results_write_part(in(dir, "y"), &b.output, NULL), 0);
    const char *sources[] = {in(dir, "x/0000000000000001.h5"), in(dir, "y/0000000000000001.h5")};
    cr_assert_eq(results_assemble(in(dir, "out.h5"), sources, 2, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "differs"), "%s", err.message);
    cr_assert_not(file_exists(in(dir, "out.h5")));
    run_sample_fini(&a);
    run_sample_fini(&b);
    folder_remove(dir);
}

Test(results, a_finished_run_wins_over_a_failed_one)
{
    char *dir = folder_make();
    struct run_sample s;
    run_sample_many(&s, 10, 1);
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    s.output.result = NULL;
    s.output.digest[0] = '\0';
    s.output.message = "no";
    cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
    const char *sources[] = {in(dir, "0000000000000001.failed.h5"), in(dir, "0000000000000001.h5")};
    cr_assert_eq(results_assemble(in(dir, "out.h5"), sources, 2, NULL), 0);
    cr_assert(file_equal(in(dir, "out.h5"), sources[1]));
    run_sample_fini(&s);
    folder_remove(dir);
}

Test(results, a_source_that_is_no_results_file_is_bad_input)
{
    char *dir = folder_make();
    struct error err = {0};
    FILE *f = fopen(in(dir, "text.h5"), "w");
    fputs("run,end\n", f);
    fclose(f);
    const char *text = in(dir, "text.h5"), *none = in(dir, "none.h5");
    cr_assert_eq(results_assemble(in(dir, "out.h5"), &text, 1, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.file, "text.h5"));
    cr_assert_eq(results_assemble(in(dir, "out.h5"), &none, 1, &err), BRAID_BAD_INPUT);
    cr_assert_not(file_exists(in(dir, "out.h5")));
    folder_remove(dir);
}

Test(results, an_earlier_file_stays_when_the_new_one_cannot_be_written)
{
    char *dir = folder_make();
    struct rlimit old, limit;
    struct error err = {0};
    const uint32_t sizes[] = {3000, 4000};
    signal(SIGXFSZ, SIG_IGN);
    write_parts(dir, sizes, 2);
    const char *sources[] = {part(dir, 1), part(dir, 2)}, *out = in(dir, "out.h5"), *copy = in(dir, "copy.h5");
    cr_assert_eq(results_assemble(out, sources, 1, NULL), 0);
    cr_assert_eq(results_assemble(copy, sources, 1, NULL), 0);
    hid_t reader = H5Fopen(out, H5F_ACC_RDONLY, H5P_DEFAULT); /* open elsewhere: no hindrance */
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    for (limit.rlim_cur = 0; limit.rlim_cur < 400000; limit.rlim_cur += 33333) {
        setrlimit(RLIMIT_FSIZE, &limit);
        int status = results_assemble(out, sources, 2, &err);
        setrlimit(RLIMIT_FSIZE, &old);
        cr_assert_eq(status, BRAID_FAILED);
        cr_assert(file_equal(out, copy));
        cr_assert_not(file_exists(in(dir, "out.h5.tmp")));
    }
    cr_assert_eq(results_assemble(out, sources, 2, &err), 0, "%s", err.message);
    H5Fclose(reader);
    EXPECT(out, "/runs/jobs_count", 3000, 4000);
    folder_remove(dir);
}

Test(results, the_id_depends_on_config_and_trace_alone)
{
    struct run_sample s;
    char a[17], b[17];
    run_sample_init(&s, four, 4, 1);
    results_run_id(&s.config, &s.workload, a);
    cr_assert_eq(strlen(a), 16);
    s.config.policy.label = "another";
    results_run_id(&s.config, &s.workload, b);
    cr_assert_str_eq(a, b);
    s.workload.digest[31] ^= 1;
    results_run_id(&s.config, &s.workload, b);
    cr_assert_str_neq(a, b);
    s.workload.digest[31] ^= 1;
    s.config.identity = "policy: sjf\n";
    results_run_id(&s.config, &s.workload, b);
    cr_assert_str_neq(a, b);
    run_sample_fini(&s);
}
