/* From rows to a workload: order, window, filters, digest, writing. */
#include "base/number.h"
#include "traces/scratch.h"
#include "traces/writer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct scratch scratch;
static struct workload w;
static struct error err;

static void before(void)
{
    scratch_init(&scratch);
    workload_init(&w);
    err = (struct error){0};
}

static void after(void)
{
    workload_fini(&w);
    scratch_fini(&scratch);
}

TestSuite(trace, .init = before, .fini = after);

static void load_spec(const struct trace_spec *spec)
{
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, spec, &err), BRAID_OK, "%s", err.message);
}

static void load(const char *text)
{
    workload_fini(&w);
    cr_assert_eq(scratch_load_text(&scratch, text, &w, &err), BRAID_OK, "%s", err.message);
}

/* The ids in rank order, each followed by a blank. */
static const char *ids(char *out)
{
    size_t n = 0;
    for (uint32_t j = 0; j < w.n_jobs; j++)
        n += (size_t)sprintf(out + n, "%.*s ", (int)(w.id_at[j + 1] - w.id_at[j]), w.id_text + w.id_at[j]);
    out[n] = '\0';
    return out;
}

Test(trace, ranks_follow_submission_order_column_and_natural_id)
{
    char out[256];
    load("id,submit,duration,gpus\nj10,5,1,1\nj9,5,1,1\nj1,5,1,1\nz,4,1,1\na,6,1,1\n");
    cr_assert_str_eq(ids(out), "z j1 j9 j10 a ");
    load("id,submit,duration,gpus,order\nj10,5,1,1,1\nj9,5,1,1,\nj1,5,1,1,2\nz,6,1,1,0\n");
    cr_assert_str_eq(ids(out), "j10 j1 j9 z ", "a job without an order comes last");
}

Test(trace, rows_alike_but_for_other_columns_are_ordered_by_their_text)
{
    load("submit_time,gpu_num,duration,vc\n0,1,9,b\n0,1,10,b\n0,1,10,a\n0,1,9,b\n");
    cr_assert_eq(w.duration_ns[0], 10 * NS_PER_S);
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "a");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[1]), "b");
    cr_assert_eq(w.duration_ns[2], 9 * NS_PER_S, "\"0,1,10\" comes before \"0,1,9\" as text");
    cr_assert_eq(scratch_count(&w, "duplicate_row"), 1);
}

/* Radix sort against the promise, on times that need all of its passes. */
Test(trace, any_times_are_sorted_stably)
{
    enum { N = 5000 };
    char *text = malloc(N * 40 + 64), path[SCRATCH_PATH];
    size_t n = (size_t)sprintf(text, "id,submit,duration,gpus\n");
    uint64_t x = 1;
    for (int i = 0; i < N; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        n += (size_t)sprintf(text + n, "%d,%llu.%09llu,1,1\n", N - i,
                             (unsigned long long)(x >> 33) % (i % 3 == 0 ? 50 : 9000000),
                             (unsigned long long)(x >> 20) % (i % 2 == 0 ? 1 : 1000000000));
    }
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", text, n, path));
    load_spec(&spec);
    cr_assert_eq(w.n_jobs, N);
    for (uint32_t j = 1; j < N; j++) {
        cr_assert_leq(w.submit_ns[j - 1], w.submit_ns[j]);
        if (w.submit_ns[j - 1] == w.submit_ns[j])
            cr_assert_lt(text_compare_natural(w.id_text + w.id_at[j - 1], w.id_at[j] - w.id_at[j - 1],
                                              w.id_text + w.id_at[j], w.id_at[j + 1] - w.id_at[j]),
                         0);
    }
    free(text);
}

static const char small[] = "id,submit,duration,gpus,vc,user,status\n"
                            "a,2020-01-01 00:00:10.5,1,1,x,u1,passed\n"
                            "b,2020-01-01 00:00:20,1,1,y,u2,failed\n"
                            "c,2020-01-01 00:00:30,1,1,x,u1,killed\n"
                            "d,2020-01-01 00:00:40,1,1,z,u3,unknown\n";

static struct trace_spec small_spec(char *path)
{
    return scratch_spec(scratch_write(&scratch, "small", small, sizeof small - 1, path));
}

Test(trace, windows_cut_and_move_time_zero)
{
    char path[SCRATCH_PATH], out[64];
    struct trace_spec spec = small_spec(path);
    load_spec(&spec);
    cr_assert_eq(w.origin_utc_s, 1577836810, "the earliest submission, floored to the second");
    cr_assert_eq(w.submit_ns[0], 500000000);

    spec.has_begin = spec.has_end = true;
    spec.begin_ns = INT64_C(1577836815) * NS_PER_S;
    spec.end_ns = INT64_C(1577836840) * NS_PER_S;
    load_spec(&spec);
    cr_assert_str_eq(ids(out), "b c ", "begin is in, end is out");
    cr_assert_eq(w.origin_utc_s, 1577836815, "the window's begin");
    cr_assert_eq(w.submit_ns[0], 5 * NS_PER_S);
    cr_assert_eq(scratch_count(&w, "outside_window"), 2);
    cr_assert_eq(w.report.rows_kept, 2);
    cr_assert_eq(w.vcs.count, 2, "names that no job bears are gone");

    spec.window_is_relative = true;
    spec.begin_ns = 10 * NS_PER_S;
    spec.end_ns = 30 * NS_PER_S;
    load_spec(&spec);
    cr_assert_str_eq(ids(out), "b c ");
    cr_assert_eq(w.origin_utc_s, 1577836820);

    spec.has_begin = false;
    spec.end_ns = 11 * NS_PER_S;
    load_spec(&spec);
    cr_assert_str_eq(ids(out), "a b ");

    spec.has_begin = true;
    spec.begin_ns = 100 * NS_PER_S;
    spec.end_ns = 200 * NS_PER_S;
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "outside_window 4"), "%s", err.message);
    spec.begin_ns = 300 * NS_PER_S;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "ends before"), "%s", err.message);
}

Test(trace, a_window_of_dates_needs_a_trace_of_dates)
{
    static const char text[] = "id,submit,duration,gpus\n1,0,1,1\n";
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", text, sizeof text - 1, path));
    spec.has_begin = true;
    spec.begin_ns = INT64_C(1577836815) * NS_PER_S;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "window has dates"), "%s", err.message);
}

Test(trace, filters_and_limit_are_counted)
{
    char path[SCRATCH_PATH], out[64];
    static const char *const vcs[] = {"x", "z"}, *const absent[] = {"X"};
    struct trace_spec spec = small_spec(path);
    spec.vcs = vcs;
    spec.n_vcs = 2;
    load_spec(&spec);
    cr_assert_str_eq(ids(out), "a c d ");
    cr_assert_eq(scratch_count(&w, "other_vc"), 1);
    spec.failed = TRACE_FAILED_DROP;
    load_spec(&spec);
    cr_assert_str_eq(ids(out), "a d ");
    cr_assert_eq(scratch_count(&w, "failed_or_killed"), 1);
    spec.jobs = 1;
    load_spec(&spec);
    cr_assert_str_eq(ids(out), "a ");
    cr_assert_eq(scratch_count(&w, "beyond_limit"), 1);
    cr_assert_eq(w.report.rows_read, 4);
    cr_assert_eq(w.report.rows_kept, 1);
    spec.vcs = absent;
    spec.n_vcs = 1;
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "x, y, z"), "%s", err.message);
}

/* ---- the digest ----------------------------------------------------------------------------------------------- */

static void expect_digest(const char *path, const uint8_t digest[DIGEST_BYTES], const char *what)
{
    struct trace_spec spec = scratch_spec(path);
    load_spec(&spec);
    cr_assert(memcmp(w.digest, digest, DIGEST_BYTES) == 0, "%s", what);
}

/* Rows of few distinct values, so that many tie, in two orders and every dress. */
Test(trace, the_digest_does_not_see_order_or_dress)
{
    enum { N = 400 };
    char *lines[N], *text = malloc(N * 80), path[SCRATCH_PATH];
    static const char header[] = "timestamp,duration,num_gpus,gpu_time,cluster";
    for (int i = 0; i < N; i++) {
        lines[i] = malloc(64);
        sprintf(lines[i], "2017-10-0%d 0%d:00:00,%d.0,%d,0,%s", 1 + i % 3, i % 7, 5 + i % 11, 1 + i % 2,
                i % 5 < 2 ? "6214e9" : "b");
    }
    static const struct {
        const char *what, *begin, *line_end, *last_end;
        int step;
        bool is_gzip;
    } dresses[] = {
        {"as it is", "", "\n", "\n", 1, false},
        {"shuffled", "", "\n", "\n", 171, false},
        {"CRLF", "", "\r\n", "\r\n", 1, false},
        {"byte order mark", "\xEF\xBB\xBF", "\n", "\n", 1, false},
        {"no last line end", "", "\n", "", 1, false},
        {"gzip", "", "\n", "\n", 1, true},
        {"shuffled gzip of CRLF", "", "\r\n", "", 77, true},
    };
    uint8_t digest[DIGEST_BYTES];
    for (size_t d = 0; d < sizeof dresses / sizeof dresses[0]; d++) {
        size_t n = (size_t)sprintf(text, "%s%s%s", dresses[d].begin, header, dresses[d].line_end);
        for (int i = 0; i < N; i++)
            n += (size_t)sprintf(text + n, "%s%s", lines[i * dresses[d].step % N],
                                 i + 1 < N ? dresses[d].line_end : dresses[d].last_end);
        (dresses[d].is_gzip ? scratch_gzip : scratch_write)(&scratch, "f", text, n, path);
        if (d == 0) {
            struct trace_spec spec = scratch_spec(path);
            load_spec(&spec);
            memcpy(digest, w.digest, sizeof digest);
        }
        expect_digest(path, digest, dresses[d].what);
    }
    lines[N / 2][21]++;
    size_t n = (size_t)sprintf(text, "%s\n", header);
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "%s\n", lines[i]);
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", text, n, path));
    load_spec(&spec);
    cr_assert(memcmp(w.digest, digest, DIGEST_BYTES) != 0, "another duration is another workload");
    for (int i = 0; i < N; i++)
        free(lines[i]);
    free(text);
}

Test(trace, time_zones_change_nothing)
{
    static const char *const zones[] = {"UTC", "Asia/Shanghai", "America/Los_Angeles"};
    static const char text[] = "timestamp,duration,num_gpus,gpu_time,cluster\n"
                               "2017-11-05 01:30:00,1.0,1,1.0,a\n2017-11-05 02:30:00,1.0,1,1.0,a\n";
    char path[SCRATCH_PATH];
    scratch_write(&scratch, "f", text, sizeof text - 1, path);
    for (int i = 0; i < 3; i++) {
        setenv("TZ", zones[i], 1);
        tzset();
        struct trace_spec spec = scratch_spec(path);
        load_spec(&spec);
        cr_assert_eq(w.origin_utc_s, 1509845400, "%s", zones[i]);
        cr_assert_eq(w.submit_ns[1], 3600 * NS_PER_S, "%s: an hour that some zones repeat", zones[i]);
    }
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static const char full[] =
    "id,submit,duration,gpus,vc,user,name,model,status,start,estimate,deadline,priority,cpus,memory,gpu_type,"
    "iterations,"
    "iteration_time,stage_storage,stage_cpu,stage_gpu,stage_network,order\n"
    "b,2020-01-01 00:00:00.123456789,1.000000001,3,v c,u,\"a,b\",m,failed,2020-01-01 00:01:00,90,2021-01-01 00:00:00,"
    "0.1,1.25,3 MiB,a100,7,0.5,0.1,0.2,0.3,0.4,1\n"
    "a,2020-01-01 00:00:00.123456789,0,1,\"q\"\"\",,,,,,,,,,,,,,,,,,2\n"
    "c,2019-12-31 23:59:59,12345678,2,vc,,\"two\nlines\",,passed,2019-12-31 23:59:00,,,,,,,,,,,,,\n";

Test(trace, what_is_written_reads_back_the_same)
{
    char path[SCRATCH_PATH], out_path[SCRATCH_PATH];
    static const char *const texts[] = {full, small, "id,submit,duration,gpus\n5,0.25,1,1\n3,0.25,2,2\n"};
    for (int i = 0; i < 3; i++) {
        struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", texts[i], strlen(texts[i]), path));
        load_spec(&spec);
        uint8_t digest[DIGEST_BYTES];
        memcpy(digest, w.digest, sizeof digest);
        uint32_t n = w.n_jobs;
        cr_assert_eq(trace_write(&w, scratch_path(&scratch, "out.csv", out_path), &err), BRAID_OK, "%s", err.message);
        expect_digest(out_path, digest, texts[i]);
        cr_assert_eq(trace_write(&w, scratch_path(&scratch, "out.csv.gz", out_path), &err), BRAID_OK);
        expect_digest(out_path, digest, "gzip");
        cr_assert_eq(w.n_jobs, n);
        cr_assert_str_eq(w.report.format, "braid");
        cr_assert_eq(w.report.rows_read, n);
        size_t bytes;
        char *packed = scratch_read(out_path, &bytes);
        cr_assert_eq((unsigned char)packed[0], 0x1f);
        cr_assert(memcmp(packed + 4, "\0\0\0\0", 4) == 0, "no time in the gzip header");
        free(packed);
    }
}

Test(trace, a_file_that_cannot_be_written_is_left_alone)
{
    char path[SCRATCH_PATH];
    load(small);
    cr_assert_eq(trace_write(&w, "/dev/full/out.csv", &err), BRAID_FAILED);
    cr_assert_not_null(strstr(err.message, "cannot be written"), "%s", err.message);
    scratch_path(&scratch, "folder", path);
    cr_assert_eq(mkdir(path, 0777), 0);
    cr_assert_eq(trace_write(&w, path, &err), BRAID_FAILED, "a folder is in the way");
    cr_assert_eq(rmdir(path), 0);
    struct stat st;
    char beside[SCRATCH_PATH + 32];
    snprintf(beside, sizeof beside, "%s.part-%ld", path, (long)getpid());
    cr_assert_neq(stat(beside, &st), 0, "nothing is left beside it");
}

Test(trace, picking_jobs_copies_every_column)
{
    load(full);
    struct workload some;
    static const uint32_t pick[] = {0, 2};
    cr_assert_eq(workload_select(&some, &w, pick, 2, &err), BRAID_OK);
    struct workload_columns has = workload_has(&some), had = workload_has(&w);
    cr_assert(memcmp(&has, &had, sizeof has) == 0);
    cr_assert_eq(some.n_jobs, 2);
    cr_assert_eq(some.deadline_ns[1], w.deadline_ns[2]);
    cr_assert_eq(some.stage_ns[3][1], w.stage_ns[3][2]);
    cr_assert_float_eq(some.priority[1], w.priority[2], 0);
    cr_assert_str_eq(names_text(&some.vcs, some.vc[1]), names_text(&w.vcs, w.vc[2]));
    cr_assert_eq(some.id_at[2], 2);
    cr_assert(memcmp(some.id_text, "ca", 2) == 0);
    workload_fini(&some);
}

Test(trace, a_generated_workload_takes_window_and_limit_too)
{
    struct trace_spec spec = {.is_generated = true,
                              .shown_path = "generated",
                              .jobs = TRACE_NO_LIMIT,
                              .generate = {.model = "poisson", .jobs = 500, .seed = 3}};
    load_spec(&spec);
    cr_assert_eq(w.n_jobs, 500);
    uint8_t digest[DIGEST_BYTES];
    memcpy(digest, w.digest, sizeof digest);
    load_spec(&spec);
    cr_assert(memcmp(w.digest, digest, sizeof digest) == 0);
    char path[SCRATCH_PATH];
    cr_assert_eq(trace_write(&w, scratch_path(&scratch, "g.csv", path), &err), BRAID_OK);
    expect_digest(path, digest, "written and read");
    spec.jobs = 20;
    load_spec(&spec);
    cr_assert_eq(w.n_jobs, 20);
    cr_assert_eq(w.report.rows_read, 500);
}
