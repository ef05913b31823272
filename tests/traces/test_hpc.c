/* SWF, Slurm and Batsim: what becomes of their rows, that the shape of a file does not matter, and writing the first and the last. */
#include "base/number.h"
#include "traces/scratch.h"
#include "traces/writer_batsim.h"
#include "traces/writer_swf.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

TestSuite(hpc, .init = before, .fini = after);

static void load(const char *text, const char *format)
{
    workload_fini(&w);
    cr_assert_eq(scratch_load_text(&scratch, text, &w, &err), BRAID_OK, "%s", err.message);
    cr_assert_str_eq(w.report.format, format);
}

static void refuse_as(const char *text, const char *format, int line, const char *part)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "text", text, strlen(text), path));
    spec.format = format;
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_eq(err.line, line, "line %d: %s", err.line, err.message);
    cr_assert_not_null(strstr(err.message, part), "%s", err.message);
}

static void refuse(const char *text, int line, const char *part)
{
    refuse_as(text, "auto", line, part);
}

static void expect_id(uint32_t j, const char *id)
{
    cr_assert_eq(w.id_at[j + 1] - w.id_at[j], strlen(id), "job %u", j);
    cr_assert(memcmp(w.id_text + w.id_at[j], id, strlen(id)) == 0, "job %u", j);
}

/* ---- SWF --------------------------------------------------------------------------------------------------------- */

Test(hpc, swf_fields_become_columns)
{
    load("; Version: 2.2\n"
         ";UnixStartTime: 820454400 (a remark)\n"
         "\n"
         "  1  10  5  100  4  -1 -1  8  3600 1024 1  7 2  3 0 2 -1 -1\n"
         "2 20 -1 50.5 4 -1 -1 -1 -1 -1 0 7 2 -1 0 -1 1 60\n"
         "3 30 0 0 2 -1 -1 2 60 -1 5 -1 -1 -1 -1 -1 -1 -1\n",
         "swf");
    cr_assert_eq(w.n_jobs, 3);
    cr_assert(w.has_origin);
    cr_assert_eq(w.origin_utc_s, 820454410);
    cr_assert_eq(w.submit_ns[1], 10 * NS_PER_S);
    cr_assert_eq(w.gpus[0], 8, "field 8");
    cr_assert_eq(w.gpus[1], 4, "field 5, where 8 is not known");
    cr_assert_eq(w.start_ns[0], 5 * NS_PER_S);
    cr_assert_eq(w.start_ns[1], WORKLOAD_ABSENT);
    cr_assert_eq(w.duration_ns[1], 50500000000);
    cr_assert_eq(w.duration_ns[2], 0);
    cr_assert_eq(w.estimate_ns[0], 3600 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[1], WORKLOAD_ABSENT);
    cr_assert_eq(w.mem_kib[0], 8192, "kilobytes a processor");
    cr_assert_eq(w.trace_status[0], TRACE_PASSED);
    cr_assert_eq(w.trace_status[1], TRACE_FAILED);
    cr_assert_eq(w.trace_status[2], TRACE_KILLED);
    cr_assert_str_eq(names_text(&w.users, w.user[0]), "7");
    cr_assert_str_eq(names_text(&w.users, w.user[2]), "");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "2");
    cr_assert_str_eq(names_text(&w.names, w.name[0]), "3");
    expect_id(2, "3");
    cr_assert_eq(scratch_count(&w, "processors_as_gpus"), 3);
    cr_assert_eq(scratch_count(&w, "allocated_as_requested"), 1);
    cr_assert_eq(scratch_count(&w, "dependency_ignored"), 1);
    cr_assert_eq(scratch_count(&w, "blank_line"), 1);
}

static const char swf_faults[] = "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
                                 "2 1 0 -1 1 -1 -1 1 -1 -1 5 1 1 1 1 1 -1 -1\n"   /* no run time */
                                 "3 2 0 10 -1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n" /* no processors */
                                 "4 3 0 10 1 -1 -1 1 -1 -1 2 1 1 1 1 1 -1 -1\n"   /* a part of a job */
                                 "5 4 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1 99 99\n"
                                 "6 5 0 10 1 -1 -1 1 -1 -1 1\n"
                                 "7 x 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
                                 "8 -5 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
                                 "9 8 -7 10 1 -1 -1 1 y -1 9 1 1 1 1 1 -1 -1\n";

Test(hpc, swf_rows_that_are_no_jobs_are_counted)
{
    load(swf_faults, "swf");
    cr_assert_not(w.has_origin, "no UnixStartTime, no date");
    cr_assert_eq(w.report.rows_read, 9);
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(scratch_count(&w, "no_duration"), 1);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "partial_execution"), 1);
    cr_assert_eq(scratch_line(&w, "partial_execution"), 4);
    cr_assert_eq(scratch_count(&w, "ambiguous_fields"), 1);
    cr_assert_eq(scratch_count(&w, "short_row"), 1);
    cr_assert_eq(scratch_count(&w, "bad_number"), 1);
    cr_assert_eq(scratch_count(&w, "negative_submit"), 1);
    cr_assert_eq(scratch_count(&w, "bad_optional"), 2, "the wait and the estimate of job 9");
    cr_assert_eq(scratch_count(&w, "unknown_status"), 1);
}

Test(hpc, swf_read_strictly_stops_at_the_first_fault)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", swf_faults, sizeof swf_faults - 1, path));
    spec.strict = true;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_eq(err.line, 2);
    cr_assert_not_null(strstr(err.message, "no_duration"), "%s", err.message);
}

Test(hpc, swf_logs_in_one_file_are_refused)
{
    refuse("; UnixStartTime: 100\n1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n; UnixStartTime: 900\n", 3, "split");
    refuse("; UnixStartTime: never\n1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n", 1, "UnixStartTime");
    refuse("; only a header\n", 0, "no job is left");
}

/* ---- Slurm ------------------------------------------------------------------------------------------------------- */

#define SLURM_HEADER "JobID|User|Account|Partition|JobName|Submit|Start|End|Elapsed|Timelimit|State|ReqTRES|AllocTRES\n"

static const char slurm[] = SLURM_HEADER
    "101|ann|ml|gpu|train|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T11:00:05|01:00:00|1-00:00:00|COMPLETED|"
    "billing=8,cpu=8,gres/gpu=2,mem=64G,node=1|cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G\n"
    "101.batch|||||2024-03-01T10:00:05|2024-03-01T10:00:05|2024-03-01T11:00:05|01:00:00||COMPLETED||gres/gpu=2\n"
    "102|bob|ml|gpu|a|b|2024-03-01T10:00:01|2024-03-01T10:00:09|2024-03-03T10:00:10|2-00:00:01|UNLIMITED|"
    "CANCELLED by 123|gres/gpu:a100=4|gres/gpu:a100=4\n"
    "103_4|bob|ml||multi\nline|2024-03-01T10:00:02|2024-03-01T10:00:09|2024-03-01T10:30:09|00:30:00|90:00|FAILED|"
    "cpu=4|cpu=4,gres/gpu=1\n"
    "104|cat|ml|gpu|x|2024-03-01T10:00:03|None|2024-03-01T10:00:09|00:00:00|02:00:00|CANCELLED by 7|gres/gpu=1|\n"
    "105_[1-9]|cat|ml|gpu|x|2024-03-01T10:00:03|Unknown|Unknown|00:00:00|02:00:00|PENDING|gres/gpu=1|\n"
    "106|cat|ml|gpu|x|2024-03-01T10:00:03|2024-03-01T10:00:09|Unknown|00:01:00|02:00:00|RUNNING|gres/gpu=1|\n"
    "107|cat|ml|cpu|x|2024-03-01T10:00:03|2024-03-01T10:00:09|2024-03-01T10:00:19|00:00:10|02:00:00|TIMEOUT|cpu=4|\n"
    "108|cat|ml\n"
    "109|cat|ml|gpu|x|2024-03-01T10:00:04|2024-03-01T10:00:09|2024-03-01T10:00:19|00:00:10||TIMEOUT|"
    "gres/gpumem=3G,gres/gpu:v100=1,gres/gpu:a100=1|gres/gpu=16\n";

Test(hpc, slurm_records_become_jobs)
{
    load(slurm, "slurm");
    cr_assert_eq(w.report.rows_read, 10);
    cr_assert_eq(w.n_jobs, 4);
    expect_id(0, "101");
    cr_assert_eq(w.origin_utc_s, 1709287200); /* date -u -d '2024-03-01 10:00:00' +%s */
    cr_assert_eq(w.gpus[0], 2);
    cr_assert_eq(w.duration_ns[0], 3600 * NS_PER_S);
    cr_assert_eq(w.start_ns[0], 5 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[0], 86400 * NS_PER_S);
    cr_assert_eq(w.cpu_milli[0], 8000);
    cr_assert_eq(w.mem_kib[0], UINT64_C(64) << 20);
    cr_assert_eq(w.gpu_type[0], NAMES_NONE, "what it got is no wish");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "gpu");

    cr_assert_str_eq(names_text(&w.names, w.name[1]), "a|b", "the surplus belongs to the name");
    cr_assert_eq(w.gpus[1], 4, "the sum over the types");
    cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[1]), "a100");
    cr_assert_eq(w.duration_ns[1], 172801 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[1], WORKLOAD_ABSENT, "UNLIMITED");
    cr_assert_eq(w.trace_status[1], TRACE_KILLED);

    expect_id(2, "103_4");
    cr_assert_str_eq(names_text(&w.names, w.name[2]), "multi line", "a line end in a name is a blank");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[2]), "ml", "the account, where there is no partition");
    cr_assert_eq(w.estimate_ns[2], 5400 * NS_PER_S, "minutes and seconds");

    cr_assert_eq(w.gpus[3], 2);
    cr_assert_eq(w.gpu_type[3], NAMES_NONE, "of two types");
    cr_assert_eq(scratch_count(&w, "job_step"), 1);
    cr_assert_eq(scratch_line(&w, "job_step"), 3);
    cr_assert_eq(scratch_count(&w, "never_started"), 2);
    cr_assert_eq(scratch_count(&w, "still_running"), 1);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "short_row"), 1);
    cr_assert_eq(scratch_line(&w, "short_row"), 11, "the record of two lines counts as two");
    cr_assert_eq(scratch_count(&w, "allocated_as_requested"), 1);
    cr_assert_eq(scratch_count(&w, "allocated_differs"), 1);
}

Test(hpc, slurm_steps_are_no_fault)
{
    static const char text[] = "JobID|Submit|ElapsedRaw|State|AllocTRES|\n"
                               "1|1709287200|60|COMPLETED|gres/gpu=1|\n"
                               "1.batch|1709287200|60|COMPLETED|gres/gpu=1|\n"
                               "1.0|1709287200|60|COMPLETED|gres/gpu=1|\n";
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", text, sizeof text - 1, path));
    spec.strict = true;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.n_jobs, 1);
    cr_assert_eq(w.duration_ns[0], 60 * NS_PER_S);
    cr_assert_eq(w.origin_utc_s, 1709287200, "seconds since 1970");
    cr_assert_eq(scratch_count(&w, "job_step"), 2);
    cr_assert_eq(w.report.rows_read, w.report.rows_kept + 2);
}

Test(hpc, slurm_fields_that_cannot_be_told_apart_are_dropped)
{
    load("JobID|JobName|Comment|Submit|Elapsed|ReqTRES\n"
         "1|a|b|c|2024-03-01T10:00:00|00:01:00|gres/gpu=1\n"
         "2|a|b|2024-03-01T10:00:00|00:01:00|gres/gpu=1\n",
         "slurm");
    cr_assert_eq(w.n_jobs, 1);
    cr_assert_eq(scratch_count(&w, "ambiguous_fields"), 1);
}

Test(hpc, slurm_headers_that_lack_what_a_job_needs_say_so)
{
    refuse("JobID|Elapsed|ReqTRES\n1|1|gres/gpu=1\n", 1, "lacks JobID or Submit");
    refuse("JobID|Submit|Elapsed\n1|2024-03-01T10:00:00|1\n", 1, "neither ReqTRES nor AllocTRES");
    refuse("JobID|Submit|Start|ReqTRES\n1|2024-03-01T10:00:00||\n", 1, "neither Elapsed nor both");
    refuse("JobID|Submit|Submit|Elapsed|ReqTRES\n1|a|b|1|\n", 1, "twice");
}

Test(hpc, slurm_values_that_cannot_be_read_are_counted)
{
    load("JobID|Submit|Elapsed|Timelimit|State|ReqTRES|Priority\n"
         "1|2024-03-01T10:00:00|00:01:00|soon|COMPLETED|gres/gpu=1|5\n"
         "2|yesterday|00:01:00||COMPLETED|gres/gpu=1|\n"
         "3|2024-03-01T10:00:00|a while||COMPLETED|gres/gpu=1|\n"
         "4|2024-03-01T10:00:00|00:01:00||COMPLETED|gres/gpu=two|\n"
         "5|2024-03-01T10:00:00|00:01:00||SPECIAL|gres/gpu=1|high\n"
         "6|2024-03-01T10:00:00|-1:00||COMPLETED|gres/gpu=1|\n"
         "7|2024-03-01T10:00:00|99999999-00:00:00||COMPLETED|gres/gpu=1|\n",
         "slurm");
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_float_eq(w.priority[0], 5, 0);
    cr_assert_eq(scratch_count(&w, "bad_date"), 1);
    cr_assert_eq(scratch_count(&w, "bad_number"), 4);
    cr_assert_eq(scratch_count(&w, "bad_optional"), 2);
    cr_assert_eq(scratch_count(&w, "unknown_status"), 1);
}

/* ---- Batsim ------------------------------------------------------------------------------------------------------ */

static const char batsim[] = "{\"nb_res\": 4, \"jobs\": [\n"
                             "{\"id\": \"b\", \"subtime\": 1.5, \"res\": 2, \"profile\": \"d\", \"walltime\": 100},\n"
                             "{\"id\": 1, \"subtime\": 1, \"res\": 1, \"profile\": \"s\", \"walltime\": -1},\n"
                             "{\"id\": \"p\", \"subtime\": 2, \"res\": 1, \"profile\": \"parallel\"},\n"
                             "{\"id\": \"u\", \"subtime\": 3, \"res\": 1, \"profile\": \"nowhere\"},\n"
                             "{\"id\": \"c\", \"subtime\": 4, \"res\": 1, \"profile\": \"cycle\"},\n"
                             "{\"id\": \"n\", \"subtime\": 5, \"profile\": \"d\", \"extra\": {\"res\": 9}},\n"
                             "{\"id\": \"x\", \"subtime\": \"now\", \"res\": 1, \"profile\": \"d\"},\n"
                             "{\"id\": \"f\", \"subtime\": 6, \"res\": 1, \"profile\": \"fails\"}],\n"
                             "\"profiles\": {\"d\": {\"type\": \"delay\", \"delay\": 10.25},\n"
                             "\"fails\": {\"type\": \"DelayProfile\", \"delay\": 1, \"ret\": 2, \"np\": [1, {}]},\n"
                             "\"s\": {\"type\": \"composed\", \"repeat\": 3, \"seq\": [\"d\", \"fails\", \"d\"]},\n"
                             "\"cycle\": {\"type\": \"composed\", \"seq\": [\"d\", \"cycle\"]},\n"
                             "\"parallel\": {\"type\": \"parallel_homogeneous\", \"cpu\": 1e6, \"com\": 0}}}\n";

Test(hpc, batsim_profiles_tell_the_run_times)
{
    load(batsim, "batsim");
    cr_assert_eq(w.report.rows_read, 8);
    cr_assert_eq(w.n_jobs, 3);
    expect_id(0, "1");
    cr_assert_eq(w.duration_ns[0], 64500000000, "3 x (10.25 + 1 + 10.25)");
    cr_assert_eq(w.estimate_ns[0], WORKLOAD_ABSENT);
    expect_id(1, "b");
    cr_assert_eq(w.submit_ns[1], 500000000);
    cr_assert_eq(w.gpus[1], 2);
    cr_assert_eq(w.estimate_ns[1], 100 * NS_PER_S);
    cr_assert_eq(w.trace_status[1], TRACE_UNKNOWN);
    cr_assert_eq(w.trace_status[2], TRACE_FAILED);
    cr_assert_eq(scratch_count(&w, "no_duration"), 3);
    cr_assert_eq(scratch_line(&w, "no_duration"), 4);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "bad_number"), 1);
    cr_assert_eq(scratch_count(&w, "processors_as_gpus"), 3);
}

Test(hpc, batsim_profiles_may_come_first)
{
    load("{\"profiles\": {\"d\": {\"delay\": 7, \"type\": "
         "\"delay\"}},\"jobs\":[{\"profile\":\"d\",\"res\":1,\"id\":1,\"subtime\":0}]}",
         "batsim");
    cr_assert_eq(w.duration_ns[0], 7 * NS_PER_S);
}

Test(hpc, batsim_damage_has_a_line)
{
    refuse_as("{\"jobs\": [1]}", "batsim", 1, "is a JSON object");
    refuse_as("{\"jobs\":\n[[1]]}", "batsim", 2, "is a JSON object; this is an array");
    refuse_as("{\"jobs\": [],\n\"profiles\": {\"a\": 1}}", "batsim", 2, "each profile");
    refuse_as("{\"jobs\": [\n{\"id\": 1,\n", "batsim", 3, "malformed JSON");
    refuse_as("{\"jobs\": [\n{\"id\": oops}]}", "batsim", 2, "malformed JSON");
    refuse_as("{\"profiles\": {}}", "batsim", 0, "without a list of 'jobs'");
    refuse_as("{\"jobs\": []}", "batsim", 0, "no job is left");
    char *text = malloc(100000 * 6 + 2);
    size_t n = 0;
    for (int i = 0; i < 100000; i++)
        n += (size_t)sprintf(text + n, "{\"a\":");
    refuse_as(text, "batsim", 1, "nested more than 32");
    free(text);
}

/* A sequence of sequences as deep as anyone likes ends without a run time, not without a stack. */
Test(hpc, batsim_sequences_have_a_depth)
{
    enum { DEEP = 100000 };
    char *text = malloc(DEEP * 80 + 200);
    size_t n = (size_t)sprintf(text,
                               "{\"jobs\":[{\"id\":1,\"subtime\":0,\"res\":1,\"profile\":\"p0\"},"
                               "{\"id\":2,\"subtime\":0,\"res\":1,\"profile\":\"p%d\"}],\"profiles\":{",
                               DEEP);
    for (int i = 0; i < DEEP; i++)
        n += (size_t)sprintf(text + n, "\"p%d\":{\"type\":\"composed\",\"seq\":[\"p%d\"]},", i, i + 1);
    sprintf(text + n, "\"p%d\":{\"type\":\"delay\",\"delay\":1}}}", DEEP);
    load(text, "batsim");
    cr_assert_eq(w.n_jobs, 1);
    expect_id(0, "2");
    free(text);
}

/* ---- the shape of a file ------------------------------------------------------------------------------------------ */

static void expect_digest_of(const char *path, const uint8_t *digest, const char *what)
{
    struct workload other;
    struct trace_spec spec = scratch_spec(path);
    cr_assert_eq(trace_load(&other, &spec, &err), BRAID_OK, "%s: %s", what, err.message);
    cr_assert(memcmp(other.digest, digest, DIGEST_BYTES) == 0, "%s", what);
    workload_fini(&other);
}

/* With a byte order mark, CRLF, without the last line end, and as gzip, a file is the same workload. */
static void expect_same_in_any_shape(const char *text, size_t n)
{
    char path[SCRATCH_PATH], *other = malloc(2 * n + 4);
    uint8_t digest[DIGEST_BYTES];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "plain", text, n, path));
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    memcpy(digest, w.digest, sizeof digest);
    expect_digest_of(scratch_gzip(&scratch, "gz", text, n, path), digest, "gzip");
    memcpy(other, "\xEF\xBB\xBF", 3);
    memcpy(other + 3, text, n);
    expect_digest_of(scratch_write(&scratch, "bom", other, n + 3, path), digest, "byte order mark");
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    expect_digest_of(scratch_write(&scratch, "cut", text, n, path), digest, "no final newline");
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
            other[m++] = '\r';
        other[m++] = text[i];
    }
    other[m++] = '\n';
    expect_digest_of(scratch_write(&scratch, "crlf", other, m, path), digest, "CRLF");
    free(other);
}

/* The lines behind the first `head` ones in another order. */
static void expect_same_shuffled(const char *text, size_t n, int head)
{
    char path[SCRATCH_PATH], *other = malloc(n + 2), **lines = malloc((n + 1) * sizeof *lines);
    char *copy = strndup(text, n);
    size_t count = 0, at = 0;
    for (char *line = copy, *end; line != NULL && *line != '\0'; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        if (head-- > 0)
            at += (size_t)sprintf(other + at, "%s\n", line);
        else
            lines[count++] = line;
    }
    for (size_t i = 0; i < count; i++) /* 7 has no factor in common with these counts */
        at += (size_t)sprintf(other + at, "%s\n", lines[(i * 7 + 3) % count]);
    expect_digest_of(scratch_write(&scratch, "shuffled", other, at, path), w.digest, "shuffled");
    free(lines);
    free(copy);
    free(other);
}

Test(hpc, the_shape_of_a_file_does_not_matter)
{
    expect_same_in_any_shape(swf_faults, sizeof swf_faults - 1);
    expect_same_shuffled(swf_faults, sizeof swf_faults - 1, 0);
    expect_same_in_any_shape(batsim, sizeof batsim - 1);
    static const char plain_slurm[] = "JobID|Submit|Elapsed|ReqTRES\n"
                                      "1|2024-03-01T10:00:00|00:01:00|gres/gpu=1\n"
                                      "2|2024-03-01T10:00:00|00:01:00|gres/gpu=2\n"
                                      "10|2024-03-01T10:00:00|00:02:00|gres/gpu=4\n";
    expect_same_in_any_shape(plain_slurm, sizeof plain_slurm - 1);
    expect_same_shuffled(plain_slurm, sizeof plain_slurm - 1, 1);
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static uint32_t lost(const struct losses *l, const char *beginning)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strncmp(l->all[i].what, beginning, strlen(beginning)) == 0)
            return l->all[i].jobs;
    return 0;
}

static const char rich[] =
    "id,submit,duration,gpus,vc,user,status,start,estimate,deadline,priority,model,memory,cpus,gpu_type\n"
    "a,2020-01-01 00:00:10.4,1.6,2,x,u1,passed,2020-01-01 00:00:20,90,2020-01-02 00:00:00,3,bert,5 KiB,2,v100\n"
    "b,2020-01-01 00:00:20,7,1,y,u2,killed,2020-01-01 00:00:19,,,,,,,\n"
    "c,2020-01-01 00:00:30,8,4,x,u1,failed,,0,,,,,,\n";

Test(hpc, swf_written_and_read_again)
{
    char path[SCRATCH_PATH];
    struct losses losses;
    load(rich, "braid");
    cr_assert_eq(trace_write_swf(&w, scratch_path(&scratch, "w.swf", path), &losses, &err), BRAID_OK, "%s",
                 err.message);
    cr_assert_eq(lost(&losses, "id"), 3);
    cr_assert_eq(lost(&losses, "fractions"), 1);
    cr_assert_eq(lost(&losses, "name of the user"), 3);
    cr_assert_eq(lost(&losses, "name of the virtual cluster"), 3);
    cr_assert_eq(lost(&losses, "recorded start, which is before"), 1);
    cr_assert_eq(lost(&losses, "memory to the KiB"), 1);
    cr_assert_eq(lost(&losses, "deadline"), 1);
    cr_assert_eq(lost(&losses, "priority"), 1);
    cr_assert_eq(lost(&losses, "model"), 1);
    cr_assert_eq(lost(&losses, "CPUs"), 1);
    cr_assert_eq(lost(&losses, "GPU type"), 1);
    cr_assert_eq(lost(&losses, "stage"), 0);
    struct trace_spec spec = scratch_spec(path);
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_str_eq(w.report.format, "swf");
    cr_assert_eq(w.n_jobs, 3);
    cr_assert_eq(w.origin_utc_s, 1577836810, "10.4 s rounds to 10 s");
    cr_assert_eq(w.submit_ns[1], 10 * NS_PER_S);
    cr_assert_eq(w.duration_ns[0], 2 * NS_PER_S);
    cr_assert_eq(w.gpus[2], 4);
    cr_assert_eq(w.start_ns[0], 10 * NS_PER_S);
    cr_assert_eq(w.start_ns[1], WORKLOAD_ABSENT);
    cr_assert_eq(w.estimate_ns[0], 90 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[2], WORKLOAD_ABSENT, "an estimate of 0 is none");
    cr_assert_eq(w.mem_kib[0], 4);
    cr_assert_eq(w.trace_status[0], TRACE_PASSED);
    cr_assert_eq(w.trace_status[1], TRACE_KILLED);
    cr_assert_eq(w.trace_status[2], TRACE_FAILED);
    cr_assert_str_eq(names_text(&w.vcs, w.vc[1]), "2");
    cr_assert_str_eq(names_text(&w.users, w.user[2]), "1");
}

Test(hpc, batsim_written_and_read_again)
{
    char path[SCRATCH_PATH];
    struct losses losses;
    load(rich, "braid");
    cr_assert_eq(trace_write_batsim(&w, scratch_path(&scratch, "w.json", path), &losses, &err), BRAID_OK, "%s",
                 err.message);
    cr_assert_eq(lost(&losses, "date"), 3);
    cr_assert_eq(lost(&losses, "that it was killed"), 1);
    cr_assert_eq(lost(&losses, "recorded start"), 2);
    cr_assert_eq(lost(&losses, "id"), 0);
    struct trace_spec spec = scratch_spec(path);
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_str_eq(w.report.format, "batsim");
    expect_id(0, "a");
    cr_assert_eq(w.submit_ns[0], 400000000);
    cr_assert_eq(w.submit_ns[2], 20 * NS_PER_S);
    cr_assert_eq(w.duration_ns[0], 1600000000);
    cr_assert_eq(w.estimate_ns[0], 90 * NS_PER_S);
    cr_assert_eq(w.gpus[2], 4);
    cr_assert_eq(w.trace_status[0], TRACE_PASSED);
    cr_assert_eq(w.trace_status[1], TRACE_UNKNOWN);
    cr_assert_eq(w.trace_status[2], TRACE_FAILED);
}

Test(hpc, batsim_ids_that_are_not_unique_become_ranks)
{
    char path[SCRATCH_PATH];
    struct losses losses;
    load("id,submit,duration,gpus\n\"q\"\"\",0,1,1\n\"q\"\"\",1,1,1\n", "braid");
    cr_assert_eq(trace_write_batsim(&w, scratch_path(&scratch, "w.json", path), &losses, &err), BRAID_OK);
    cr_assert_eq(lost(&losses, "id"), 2);
    struct trace_spec spec = scratch_spec(path);
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    expect_id(1, "1");
    load("id,submit,duration,gpus\n\"q\"\"\\\",0,1,1\n", "braid");
    cr_assert_eq(trace_write_batsim(&w, path, &losses, &err), BRAID_OK);
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    expect_id(0, "q\"\\");
}

/* ---- public files: counted by a script over the same fields -------------------------------------------------------- */

static const struct golden {
    const char *path, *format;
    uint32_t jobs, largest;
    double gpu_s; /* sum of GPUs x duration */
    int64_t first_ns, span_ns;
    double estimates_s; /* their sum */
} goldens[] = {
    {"../shared/traces/swf/accasim_test_workload.swf", "swf", 25, 36, 6851022, 0, 3329894 * NS_PER_S, 817920},
    {"../shared/traces/batsim/medium_late.json", "batsim", 801, 16, 256450.464, 0, 16000 * NS_PER_S, 201240},
    {"../shared/traces/batsim/batsim_hpc_seed1_jobs250.json", "batsim", 250, 128, 969575.04, 245384206, 9362918013834,
     86200},
};

Test(hpc, public_files_read_as_counted_in_any_shape)
{
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        const struct golden *g = &goldens[i];
        if (access(g->path, R_OK) != 0)
            cr_skip_test("%s is not here; scripts/fetch-traces says where it comes from", g->path);
        size_t n;
        char *text = scratch_read(g->path, &n);
        expect_same_in_any_shape(text, n);
        if (strcmp(g->format, "swf") == 0)
            expect_same_shuffled(text, n, 0);
        free(text);
        double gpu_s = 0, estimates_s = 0;
        uint32_t largest = 0;
        for (uint32_t j = 0; j < w.n_jobs; j++) {
            gpu_s += (double)w.gpus[j] * ((double)w.duration_ns[j] / 1e9);
            estimates_s += (double)w.estimate_ns[j] / 1e9;
            largest = w.gpus[j] > largest ? w.gpus[j] : largest;
        }
        cr_expect_str_eq(w.report.format, g->format, "%s", g->path);
        cr_expect_eq(w.report.rows_read, g->jobs, "%s", g->path);
        cr_expect_eq(w.n_jobs, g->jobs, "%s", g->path);
        cr_expect_eq(largest, g->largest, "%s", g->path);
        cr_expect_lt(fabs(gpu_s - g->gpu_s), 0.001, "%s: %.6f", g->path, gpu_s);
        cr_expect_lt(fabs(estimates_s - g->estimates_s), 0.001, "%s: %.6f", g->path, estimates_s);
        cr_expect_eq(w.submit_ns[0], g->first_ns, "%s", g->path);
        cr_expect_eq(w.submit_ns[w.n_jobs - 1] - w.submit_ns[0], g->span_ns, "%s", g->path);
    }
}
