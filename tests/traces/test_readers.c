/* What each format's rows become: kept, or dropped under a name. */
#include "base/number.h"
#include "traces/scratch.h"

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
    err = (struct error){0};
}

static void after(void)
{
    workload_fini(&w);
    scratch_fini(&scratch);
}

TestSuite(readers, .init = before, .fini = after);

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
    cr_assert_str_eq(err.file, "trace.csv");
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

Test(readers, philly_csv)
{
    load("timestamp,duration,num_gpus,gpu_time,cluster\n"
         "2017-10-09 07:01:55,66.0,2,132.0,6214e9\n"
         "2017-10-09 06:13:03,2951.5,1,2951.5,103959\n",
         "philly_csv");
    cr_assert_eq(w.n_jobs, 2);
    cr_assert(w.has_origin);
    cr_assert_eq(w.origin_utc_s, 1507529583); /* date -u -d '2017-10-09 06:13:03' +%s */
    cr_assert_eq(w.submit_ns[0], 0);
    cr_assert_eq(w.submit_ns[1], 2932 * NS_PER_S);
    cr_assert_eq(w.duration_ns[0], 2951500 * INT64_C(1000000));
    cr_assert_eq(w.gpus[1], 2);
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "103959", "names are text whatever they look like");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[1]), "6214e9");
    expect_id(0, "0");
    expect_id(1, "1");
    cr_assert_null(w.start_ns);
}

Test(readers, every_bad_row_has_a_reason_and_a_line)
{
    load("id,submit,duration,gpus,start,estimate,status\n" /* 1 */
         "ok,0,10,1,,,passed\n"
         "a,,10,1,,,\n"
         "b,None,10,1,,,\n"
         "c,x,10,1,,,\n"
         "d,-5,10,1,,,\n" /* 6 */
         "e,0,10,0,,,\n"
         "f,0,10,,,,\n"
         "g,0,10,-2,,,\n"
         "h,0,10,0.5,,,\n"
         "i,0,10,1e30,,,\n" /* 11 */
         "j,0,,1,,,\n"
         "k,0,nan,1,,,\n"
         "l,0,-1,1,,,\n"
         "m,0,inf,1,,,\n"
         "n,0,1e300,1,,,\n" /* 16 */
         "o,0,9000000000,4,,,\n"
         "p,0\n"
         "q,2020-13-01 00:00:00,1,1,,,\n"
         "r,0,5,1,zero,,\n"
         "s,0,5,1,,-3,\n" /* 21 */
         "t,0,0,1,,,lost\n"
         "u,0,5,3.0,,,failed,surplus\n"
         "w,0,5,3.0,,,failed,\n"
         "v,7,5,1,3,,killed\n",
         "braid");
    cr_assert_eq(w.report.rows_read, 24);
    cr_assert_eq(w.report.rows_kept, 6);
    cr_assert_eq(w.n_jobs, 6);
    static const struct {
        const char *reason;
        uint64_t rows, line;
    } expected[] = {
        {"no_submit", 2, 3},       {"bad_number", 4, 5},
        {"negative_submit", 1, 6}, {"no_gpus", 2, 7},
        {"negative_gpus", 1, 9},   {"fractional_gpus", 1, 10},
        {"no_duration", 2, 12},    {"negative_duration", 1, 14},
        {"too_large", 1, 17},      {"short_row", 1, 18},
        {"bad_date", 1, 19},       {"bad_optional", 2, 20},
        {"unknown_status", 1, 22}, {"ambiguous_fields", 1, 23},
        {"extra_fields", 1, 24},   {"start_before_submit", 1, 25},
    };
    uint64_t dropped = 0;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        cr_expect_eq(scratch_count(&w, expected[i].reason), expected[i].rows, "%s: %d", expected[i].reason,
                     (int)scratch_count(&w, expected[i].reason));
        cr_expect_eq(scratch_line(&w, expected[i].reason), expected[i].line, "%s at %d", expected[i].reason,
                     (int)scratch_line(&w, expected[i].reason));
    }
    cr_assert_eq(w.report.n_counts, sizeof expected / sizeof expected[0]);
    for (uint32_t i = 0; i < w.report.n_counts; i++)
        dropped += w.report.counts[i].is_dropped ? w.report.counts[i].rows : 0;
    cr_assert_eq(w.report.rows_read, w.report.rows_kept + dropped, "no row is lost");
}

Test(readers, strict_stops_at_the_first_dropped_row)
{
    char path[SCRATCH_PATH];
    static const char text[] = "id,submit,duration,gpus\n1,0,5,1\n2,0,5,0\n3,0,-5,1\n";
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", text, sizeof text - 1, path));
    spec.strict = true;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_eq(err.line, 3);
    cr_assert_not_null(strstr(err.message, "no_gpus"), "%s", err.message);
}

Test(readers, helios)
{
    load("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
         "7,u1,vcA,8,16,1,TIMEOUT,2020-06-09 18:41:01,2020-06-09 18:42:01,2020-06-09 18:43:01,60,60\n"
         "8,u2,vcB,0,4,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:42:01,2020-06-09 18:43:01,60,60\n"
         "9,u2,vcB,1,4,1,CANCELLED,2020-06-09 18:41:02,2020-06-09 18:43:01,2020-06-09 18:42:01,60,60\n"
         "10,u2,vcB,1,4,1,CANCELLED,2020-06-09 18:41:02,2020-06-09 18:42:02,2020-06-09 18:43:02,,60\n"
         "11,u2,vcB,1,4.5,1,CANCELLED,2020-06-09 18:41:02,2020-06-09 18:42:02,2020-06-09 18:43:02,7,60\n"
         "12,u2,vcB,1,4,1,SUSPENDED,2020-06-09 18:41:02,,,0,0\n",
         "helios");
    cr_assert_eq(w.n_jobs, 4);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "end_before_start"), 1);
    cr_assert_eq(scratch_count(&w, "duration_differs"), 1);
    cr_assert_eq(scratch_count(&w, "unknown_status"), 1);
    expect_id(0, "7");
    cr_assert_eq(w.trace_status[0], TRACE_FAILED);
    cr_assert_eq(w.cpu_milli[0], 16000);
    cr_assert_eq(w.start_ns[0], 60 * NS_PER_S);
    cr_assert_eq(w.duration_ns[1], 60 * NS_PER_S, "from start and end where the column is empty");
    cr_assert_eq(w.duration_ns[2], 7 * NS_PER_S, "the column counts where there is one");
    cr_assert_eq(w.cpu_milli[2], 4500);
    cr_assert_eq(w.trace_status[1], TRACE_KILLED);
    cr_assert_eq(w.start_ns[3], WORKLOAD_ABSENT);
    cr_assert_eq(w.duration_ns[3], 0, "a job of no length is a job");
}

Test(readers, helios_inputs_have_seconds_and_an_order)
{
    load("jobname,vc,gpu_num,submit_time,duration,order\nj1,a,1,5,10,2\nj2,a,1,5,20,1\nj3,b,1,0,30,0\n", "helios");
    cr_assert_not(w.has_origin);
    cr_assert_eq(w.duration_ns[0], 30 * NS_PER_S);
    cr_assert_eq(w.duration_ns[1], 20 * NS_PER_S, "the order column settles what the submission leaves open");
    cr_assert_str_eq(names_text(&w.names, w.name[1]), "j2");
    expect_id(1, "1");
}

Test(readers, tiresias_and_muri)
{
    load("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n3,2,30,133,vgg11,147,23\n", "tiresias");
    cr_assert_eq(w.duration_ns[0], 147 * NS_PER_S);
    cr_assert_eq(w.submit_ns[0], 0, "time 0 is the first submission");
    cr_assert_str_eq(names_text(&w.models, w.model[0]), "vgg11");
    cr_assert_null(w.iterations, "that simulator does not use them");

    load("job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,"
         "resource_time_1,resource_time_2,priority\n0,4,1500,1000,bert,4,999000,0,190,0.5,163,18,1\n",
         "muri");
    cr_assert_eq(w.duration_ns[0], 190 * NS_PER_S, "iterations x iteration_time, in milliseconds");
    cr_assert_eq(w.estimate_ns[0], 999 * NS_PER_S);
    cr_assert_eq(w.stage_ns[0][0], 500000);
    cr_assert_eq(w.stage_ns[1][0], 0);
    cr_assert_eq(w.stage_ns[2][0], 163000000);
    cr_assert_eq(w.stage_ns[3][0], 18000000);
    cr_assert_eq(w.iterations[0], 1000);
    cr_assert_eq(w.iteration_ns[0], 190000000);
    cr_assert_float_eq(w.priority[0], 1, 0);
    cr_assert_eq(w.submit_ns[0], 500000000, "floored to the second");
}

Test(readers, braid_columns)
{
    load("gpus,id,submit,duration,memory,cpus,gpu_type,deadline,priority,stage_gpu,name,iterations,iteration_time\n"
         "2,x,2020-01-01 00:00:00.25Z,1.5,16 GiB,3.5,v100,2020-01-02T00:00:00Z,-2.5,0.125,\"a,\"\"b\"\"\",10,0.1\n"
         "1,y,2020-01-01 01:00:00+01:00,1,,,,,,,,,\n",
         "braid");
    expect_id(0, "y");
    cr_assert_eq(w.submit_ns[1], 250000000);
    cr_assert_eq(w.mem_kib[1], 16 << 20);
    cr_assert_eq(w.cpu_milli[1], 3500);
    cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[1]), "v100");
    cr_assert_eq(w.gpu_type[0], NAMES_NONE);
    cr_assert_eq(w.gpu_types.count, 1);
    cr_assert_eq(w.deadline_ns[1], 86400 * NS_PER_S);
    cr_assert_eq(w.deadline_ns[0], WORKLOAD_ABSENT);
    cr_assert_float_eq(w.priority[1], -2.5, 0);
    cr_assert_eq(w.stage_ns[2][1], 125000000);
    cr_assert_eq(w.stage_ns[0][1], 0);
    cr_assert_str_eq(names_text(&w.names, w.name[1]), "a,\"b\"");
    cr_assert_eq(w.iteration_ns[1], 100000000);
}

Test(readers, structural_damage_is_an_error_with_its_place)
{
    refuse("", 0, "empty");
    refuse("what,is,this\n1,2,3\n", 1, "no known trace format");
    refuse("id,submit,duration,gpus\n1,0,\"5,1\n", 2, "never closed");
    refuse("id,submit,duration,gpus,id\n1,0,5,1,2\n", 1, "twice");
    refuse("id,submit,duration,gpus\n1,0,5,1\n2,2020-01-01 00:00:00,5,1\n", 3, "one or the other");
    refuse("id,submit,duration,gpus\n", 0, "no job is left");
    refuse("id,submit,duration,gpus\n1,0,5,0\n", 0, "no_gpus 1");
    cr_assert_eq(w.report.rows_read, 1, "the report outlives the error");
}

Test(readers, a_format_can_be_forced)
{
    char path[SCRATCH_PATH];
    static const char text[] = "num_gpu,submit_time,duration\n4,3,9\n";
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", text, sizeof text - 1, path));
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    spec.format = "tiresias";
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.gpus[0], 4);
    workload_fini(&w);
    spec.format = "muri";
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "'iterations'"), "%s", err.message);
    spec.format = "tiresia";
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "did you mean 'tiresias'"), "%s", err.message);
}

Test(readers, unknown_columns_and_duplicates_are_remarks)
{
    load("id,submit,colour,duration,gpus,\n1,0,red,5,1,\n1,3,red,5,1,\n2,3,blue,5,1,\n1,3,red,5,1,\n", "braid");
    cr_assert_eq(w.n_jobs, 4);
    cr_assert_eq(scratch_count(&w, "unknown_column"), 2);
    cr_assert_eq(scratch_count(&w, "duplicate_id"), 2);
    cr_assert_eq(scratch_count(&w, "duplicate_row"), 1);
    cr_assert_eq(scratch_line(&w, "duplicate_row"), 5);
}

/* ---- raw Philly ------------------------------------------------------------------------------------------------- */

#define JOB(id, submitted, attempts)                                                                                   \
    "{\"status\":\"Pass\",\"vc\":\"6214e9\",\"jobid\":\"" id "\",\"submitted_time\":" submitted                        \
    ",\"user\":\"u\",\"attempts\":[" attempts "]}"
#define ATTEMPT(start, end, gpus)                                                                                      \
    "{\"start_time\":" start ",\"end_time\":" end ",\"detail\":[{\"ip\":\"m1\",\"gpus\":[" gpus "]}]}"
#define AT(clock) "\"2017-10-07 " clock "\""

static const char philly[] =
    "[" JOB("ok", AT("01:00:00"), ATTEMPT(AT("01:10:00"), AT("01:20:00"), "") "," ATTEMPT(AT("01:30:00"), AT("01:31:00"), "\"gpu0\",\"gpu1\"")) ",\n" JOB(
        "running", AT("01:00:00"),
        ATTEMPT(
            AT("01:10:00"), "null",
            "\"gpu0\"")) ",\n" JOB("none", AT("01:00:00"),
                                   ATTEMPT(
                                       "\"None\"", AT("01:10:00"),
                                       "\"gpu0\"")) ",\n" JOB("never", AT("01:00:00"),
                                                              "") ",\n" JOB("lost", "\"\"",
                                                                            ATTEMPT(
                                                                                AT("01:10:00"), AT("01:20:00"),
                                                                                "\"gpu0\"")) ",\n" JOB("back",
                                                                                                       AT("01:00:00"),
                                                                                                       ATTEMPT(
                                                                                                           AT("01:"
                                                                                                              "10:"
                                                                                                              "00"),
                                                                                                           AT("01:"
                                                                                                              "05:"
                                                                                                              "00"),
                                                                                                           "\"gpu0"
                                                                                                           "\"")) ","
                                                                                                                  "\n" JOB("date",
                                                                                                                           "\"yesterday\"",
                                                                                                                           ATTEMPT(
                                                                                                                               AT("01:10:00"),
                                                                                                                               AT("01:20:00"),
                                                                                                                               "\"gpu0\"")) ",\n" JOB("zero",
                                                                                                                                                      AT("01:00:00"),
                                                                                                                                                      ATTEMPT(
                                                                                                                                                          AT("01:10:00"),
                                                                                                                                                          AT("01:10:00"),
                                                                                                                                                          "\"gpu0\"")) "]";

Test(readers, philly_json)
{
    load(philly, "philly_json");
    cr_assert_eq(w.report.rows_read, 8);
    cr_assert_eq(w.n_jobs, 2);
    expect_id(0, "ok");
    cr_assert_eq(w.duration_ns[0], 21 * 60 * NS_PER_S, "first start to last end");
    cr_assert_eq(w.start_ns[0], 10 * 60 * NS_PER_S);
    cr_assert_eq(w.gpus[0], 2, "of the first attempt with GPUs");
    cr_assert_eq(w.duration_ns[1], 0);
    cr_assert_eq(scratch_count(&w, "no_duration"), 1);
    cr_assert_eq(scratch_count(&w, "still_running"), 1);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "no_submit"), 1);
    cr_assert_eq(scratch_count(&w, "end_before_start"), 1);
    cr_assert_eq(scratch_count(&w, "bad_date"), 1);
    cr_assert_eq(scratch_line(&w, "no_gpus"), 4);
}

Test(readers, philly_json_merged_attempts_add_up)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "f", philly, sizeof philly - 1, path));
    spec.failed = TRACE_FAILED_MERGE_ATTEMPTS;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.duration_ns[0], 11 * 60 * NS_PER_S);
}

Test(readers, philly_json_of_any_depth_ends_with_a_clear_error)
{
    enum { DEEP = 100000 };
    char *text = malloc(DEEP * 6 + 2);
    memset(text, '[', DEEP);
    text[DEEP] = '\0';
    refuse_as(text, "philly_json", 1, "is an array");
    size_t n = 0;
    text[n++] = '[';
    for (int i = 0; i < DEEP; i++)
        n += (size_t)sprintf(text + n, "{\"a\":");
    refuse_as(text, "philly_json", 1, "nested more than 32");
    refuse_as("[{\"attempts\":\n[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "philly_json", 2, "nested more than 32");
    free(text);
}

Test(readers, philly_json_damage_has_a_line)
{
    refuse_as("[\n{\"jobid\": 1,\n", "philly_json", 3, "malformed JSON");
    refuse_as("[\n{\"jobid\": oops}]", "philly_json", 2, "malformed JSON");
    refuse_as("[\n\"job\"]", "philly_json", 2, "this is a string");
    refuse_as("[]", "philly_json", 0, "no job is left");
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "object", "{\"jobs\": []}", 12, path));
    spec.format = "philly_json";
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "this is an object"), "%s", err.message);
    char *text = malloc((17 << 20) + 32);
    size_t n = (size_t)sprintf(text, "[{\"jobid\":\"");
    memset(text + n, 'x', 17 << 20);
    text[n + (17 << 20)] = '\0';
    refuse_as(text, "philly_json", 1, "16 MiB");
    free(text);
}
