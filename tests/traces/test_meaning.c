/* What values mean, alike in all readers: zones, zeros, names, units; and that a fault names its column. */
#include "base/number.h"
#include "base/text.h"
#include "traces/scratch.h"
#include "traces/writer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct scratch scratch;
static struct workload w;
static struct error err;

static void before(void)
{
    scratch_init(&scratch);
    workload_init(&w);
}

static void after(void)
{
    workload_fini(&w);
    scratch_fini(&scratch);
}

TestSuite(meaning, .init = before, .fini = after);

static int load_code(const char *text, bool is_strict)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "t", text, strlen(text), path));
    spec.strict = is_strict;
    workload_fini(&w);
    err = (struct error){0};
    return trace_load(&w, &spec, &err);
}

static void load(const char *text)
{
    cr_assert_eq(load_code(text, false), BRAID_OK, "%s", err.message);
}

#define SLURM "JobID|User|Partition|Submit|Start|End|Elapsed|Timelimit|State|ReqTRES|AllocTRES\n"
#define SLURM_ROW(id, submit, start, elapsed, limit, state, asked, got)                                                \
    id "|u|p|" submit "|" start "||" elapsed "|" limit "|" state "|" asked "|" got "\n"
#define PHILLY(id, submitted)                                                                                          \
    "{\"status\":\"Pass\",\"vc\":\"v\",\"jobid\":\"" id "\",\"attempts\":[{\"start_time\":\"2017-10-07 02:00:00\","    \
    "\"end_time\":\"2017-10-07 "                                                                                       \
    "03:00:00\",\"detail\":[{\"ip\":\"m\",\"gpus\":[\"gpu0\"]}]}],\"submitted_time\":\"" submitted                     \
    "\",\"user\":\"u\"}"
#define ACME "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"

Test(meaning, times_with_and_without_a_zone_are_not_mixed)
{
    static const struct {
        const char *format, *text;
        uint32_t kept, mixed;
    } files[] = {
        {"braid",
         "id,submit,duration,gpus\na,2024-03-01 08:00:00+08:00,1,1\nb,2024-03-01 00:00:10,1,1\n"
         "c,2024-03-01T00:00:10Z,1,1\n",
         2, 1},
        {"braid",
         "id,submit,duration,gpus,start\na,2024-03-01 08:00:00,1,1,2024-03-01 08:00:00Z\n"
         "b,2024-03-01 08:00:00,1,1,2024-03-01 08:00:00\n",
         1, 1},
        {"philly_json", "[" PHILLY("a", "2017-10-07 01:00:00") "," PHILLY("b", "2017-10-07 10:17:16+09:00") "]\n", 1,
         1},
        {"acme",
         ACME
         "1,u,1,8,1,O,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 00:20:51+08:00,117,3,9\n"
         "2,u,1,8,1,O,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 00:20:51,117,3,9\n",
         1, 1},
        {"slurm",
         SLURM SLURM_ROW("1", "2024-03-01T10:00:00", "2024-03-01T10:00:00", "00:10:00", "", "COMPLETED", "gres/gpu=1",
                         "")
             SLURM_ROW("2", "2024-03-01T10:00:00+01:00", "1709280000", "00:10:00", "", "COMPLETED", "gres/gpu=1", ""),
         1, 1},
        {"helios", "vc,gpu_num,submit_time,duration\nv,1,2020-06-09 18:41:01,5\nv,1,2020-06-09 18:41:01-07:00,5\n", 1,
         1},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        load(files[i].text);
        cr_expect_str_eq(w.report.format, files[i].format);
        cr_expect_eq(w.n_jobs, files[i].kept, "%s %zu", files[i].format, i);
        cr_expect_eq(scratch_count(&w, "mixed_zones"), files[i].mixed, "%s %zu", files[i].format, i);
        cr_expect_eq(load_code(files[i].text, true), BRAID_BAD_INPUT);
        cr_expect_not_null(strstr(err.message, "mixed_zones"), "%s", err.message);
    }
}

#define SWF(id, run, allocated, requested, limit, status)                                                              \
    id " 0 5 " run " " allocated " -1 -1 " requested " " limit " -1 " status " 1 1 1 1 1 -1 -1\n"

/* 0 and -1 are "not known" wherever a limit stands. */
Test(meaning, a_limit_of_zero_is_none)
{
    static const char *const files[] = {
        SWF("1", "90", "4", "-1", "0", "1") SWF("2", "90", "4", "-1", "-1", "1"),
        "id,submit,duration,gpus,estimate\na,0,90,4,0\nb,0,90,4,\n",
        "{\"jobs\":[{\"id\":1,\"subtime\":0,\"res\":4,\"profile\":\"p\",\"walltime\":0},{\"id\":2,\"subtime\":0,"
        "\"res\":4,"
        "\"profile\":\"p\",\"walltime\":-1}],\"profiles\":{\"p\":{\"type\":\"delay\",\"delay\":90}}}",
        SLURM SLURM_ROW("1", "2024-03-01T10:00:00", "", "00:10:00", "00:00:00", "COMPLETED", "gres/gpu=1", "")
            SLURM_ROW("2", "2024-03-01T10:00:00", "", "00:10:00", "UNLIMITED", "COMPLETED", "gres/gpu=1", ""),
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        load(files[i]);
        cr_expect_eq(w.n_jobs, 2, "%s", w.report.format);
        for (uint32_t j = 0; j < w.n_jobs && w.estimate_ns != NULL; j++)
            cr_expect_eq(w.estimate_ns[j], WORKLOAD_ABSENT, "%s", w.report.format);
    }
}

Test(meaning, swf_jobs_that_never_ran_and_other_allocations)
{
    load(SWF("1", "0", "0", "8", "7200", "5") SWF("2", "-1", "-1", "8", "7200", "5")
             SWF("3", "0", "0", "8", "7200", "0") SWF("4", "0", "8", "8", "7200", "5")
                 SWF("5", "60", "18", "16", "7200", "1") SWF("6", "60", "8", "8", "9", "1"));
    cr_assert_eq(scratch_count(&w, "never_started"), 3);
    cr_assert_eq(w.n_jobs, 3, "the fourth held its processors for an instant");
    cr_assert_eq(scratch_count(&w, "allocated_differs"), 1);
    cr_assert_eq(scratch_line(&w, "allocated_differs"), 5);
}

Test(meaning, swf_dates_in_any_case)
{
    load("; unixstarttime : 820454400\n" SWF("1", "60", "4", "4", "90", "1"));
    cr_assert(w.has_origin);
    cr_assert_eq(w.origin_utc_s, 820454400);
}

Test(meaning, slurm_limits_and_requeued_records)
{
    load(SLURM SLURM_ROW("1", "2024-03-01T10:00:00", "2024-03-01T10:00:00", "01:04:49", "90", "REQUEUED", "gres/gpu=2",
                         "gres/gpu=2") SLURM_ROW("1", "2024-03-01T10:00:00", "2024-03-01T12:00:00", "00:10:00", "90",
                                                 "COMPLETED", "gres/gpu=2", "gres/gpu=2")
             SLURM_ROW("2", "2024-03-01T10:00:01", "Unknown", "00:00:00", "90", "REQUEUED", "gres/gpu=2", "")
                 SLURM_ROW("3", "2024-03-01T10:00:02", "2024-03-01T12:00:00", "00:10:00", "1-12", "COMPLETED",
                           "gres/gpu=2,mem=4Gn", "gres/gpu=2,cpu=abc"));
    cr_assert_eq(scratch_count(&w, "requeued"), 1);
    cr_assert_eq(scratch_count(&w, "never_started"), 1);
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(w.estimate_ns[0], 90 * 60 * NS_PER_S, "a plain limit is minutes");
    cr_assert_eq(w.estimate_ns[1], 36 * 3600 * NS_PER_S, "days and hours");
    cr_assert_eq(scratch_count(&w, "bad_optional"), 1, "memory and CPUs are not needed");
    cr_assert_eq(w.mem_kib[1], 0);
}

Test(meaning, jobs_that_still_run)
{
    load("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_"
         "time\n"
         "a,1,1,1,1000,,LS,Running,0,,5\nb,1,1,1,1000,,LS,Pending,0,,\nc,1,1,1,1000,,LS,Succeeded,0,9,5\n");
    cr_assert_eq(scratch_count(&w, "still_running"), 1);
    cr_assert_eq(scratch_count(&w, "never_started"), 1);
    cr_assert_eq(w.n_jobs, 1);
}

Test(meaning, words_of_other_logs_are_known)
{
    load("id,submit,duration,gpus,status\na,0,1,1,COMPLETED\nb,1,1,1,CANCELLED by 7\nc,2,1,1,TIMEOUT\nd,3,1,1,Pass\n"
         "e,4,1,1,what\n");
    cr_assert_eq(w.trace_status[0], TRACE_PASSED);
    cr_assert_eq(w.trace_status[1], TRACE_KILLED);
    cr_assert_eq(w.trace_status[2], TRACE_FAILED);
    cr_assert_eq(w.trace_status[3], TRACE_PASSED);
    cr_assert_eq(scratch_count(&w, "unknown_status"), 1);
    cr_assert_str_eq(w.report.columns[0].column, "status");
    cr_assert_str_eq(w.report.columns[0].value, "what");
}

Test(meaning, names_are_utf8_without_control_characters)
{
    load(
        "id,submit,duration,gpus,user,vc\nJ\xf6,0,1,1,Zo\xeb,\"a\nb\"\nx,1,1,1,Zo\xec,a\tb\ny,2,1,1,Zo\x85,\xc3\xa4\n");
    cr_assert_eq(w.n_jobs, 3);
    cr_assert_eq(scratch_count(&w, "not_utf8"), 4);
    cr_assert_eq(scratch_count(&w, "control_characters"), 2);
    cr_assert_eq(w.users.count, 3, "names that differ stay different");
    for (uint32_t u = 0; u < w.users.count; u++)
        cr_assert_eq(text_flaws(names_text(&w.users, u), strlen(names_text(&w.users, u))), TEXT_FINE);
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "a b");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[2]), "\xc3\xa4");
    cr_assert(memcmp(w.id_text, "J\xc3\xb6", 3) == 0);
    char path[SCRATCH_PATH];
    uint8_t digest[DIGEST_BYTES];
    memcpy(digest, w.digest, sizeof digest);
    cr_assert_eq(trace_write(&w, scratch_path(&scratch, "w.csv", path), &err), BRAID_OK, "%s", err.message);
    struct trace_spec spec = scratch_spec(path);
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_arr_eq(w.digest, digest, sizeof digest);
    cr_assert_eq(w.report.n_counts, 0);
}

Test(meaning, names_have_a_limit)
{
    char *text = malloc(12000);
    int n = sprintf(text, "id,submit,duration,gpus\n%s", "");
    memset(text + n, 'x', 4097);
    sprintf(text + n + 4097, ",0,1,1\nb,0,1,1\n");
    load(text);
    cr_assert_eq(w.n_jobs, 1);
    cr_assert_eq(scratch_count(&w, "long_text"), 1);
    free(text);
}

Test(meaning, faults_name_the_column_and_the_value)
{
    load("id,submit,duration,gpus,memory\na,0,INVALID,1,1\nb,x,1,1,1\nc,0,bad,1,1\nd,0,1,1,lots\n");
    cr_assert_eq(w.report.n_columns, 3);
    static const struct {
        const char *reason, *column, *value;
        uint64_t rows, line;
    } want[] = {{"bad_number", "duration", "INVALID", 2, 2},
                {"bad_number", "submit", "x", 1, 3},
                {"bad_optional", "memory", "lots", 1, 5}};
    for (int i = 0; i < 3; i++) {
        cr_expect_str_eq(w.report.columns[i].reason, want[i].reason);
        cr_expect_str_eq(w.report.columns[i].column, want[i].column);
        cr_expect_str_eq(w.report.columns[i].value, want[i].value);
        cr_expect_eq(w.report.columns[i].rows, want[i].rows);
        cr_expect_eq(w.report.columns[i].line, want[i].line);
    }
    cr_assert_eq(load_code("id,submit,duration,gpus\na,0,INVALID,1\n", true), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "column 'duration' says 'INVALID'"), "%s", err.message);
    cr_assert_str_eq(trace_value_hint("1709280000000"), "milliseconds since 1970? write seconds");
    cr_assert_str_eq(trace_value_hint("170928000"), "");
}

Test(meaning, units_that_cannot_be_meant)
{
    load("id,submit,duration,gpus,memory\na,1356996147,1,1,64 TiB\nb,1356996148,1,64,64 TiB\nc,2356996148,1,1,\n");
    cr_assert_eq(scratch_count(&w, "large_memory"), 1);
    cr_assert_eq(scratch_count(&w, "unix_seconds"), 3);
    cr_assert_eq(scratch_count(&w, "long_span"), 1);
}

/* Time 0 is the first submission; which second of the trace that is stays known. */
Test(meaning, the_offset_of_plain_seconds_is_kept)
{
    load("id,submit,duration,gpus\na,21.5,10,1\nb,25,5,1\n");
    cr_assert_not(w.has_origin);
    cr_assert_eq(w.offset_s, 21);
    cr_assert_eq(w.submit_ns[0], 500000000);
    load("id,submit,duration,gpus\na,2024-01-01,10,1\n");
    cr_assert_eq(w.offset_s, 0);
}
