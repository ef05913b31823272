/* braid export: every form of output, read back. */
#include "fixture_results.h"
#include "output/export_file.h"
#include "output/export_number.h"

#include "base/number.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

static char dir[256], path[300], out[65536];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    snprintf(path, sizeof path, "%s/out.h5", dir);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(export, .init = setup, .fini = teardown);

/* Two nodes of 4 GPUs (the fixture's config): `wide` holds all of node 1 and GPU 3 of node 0, is preempted, and goes on with
 * GPUs 0-2 of node 0 and node 1's first two; `back` is rejected; `late` never starts. */
static void write_run(bool with_segments)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_run(&f, "0a", "las", 1);
    fixture_job(&f, "wide", 5, 0.1, 1, 31.25);
    fixture_number(&f, RESULTS_JOBS, "preemptions", 1);
    fixture_text(&f, RESULTS_JOBS, "user", "Doe, \"J\"");
    fixture_job(&f, "back", 64, 2, -1, 2);
    fixture_job(&f, "late", 1, 3, 3, -1);
    fixture_text(&f, RESULTS_JOBS, "status", "unfinished");
    fixture_number(&f, RESULTS_JOBS, "start", NAN);
    if (with_segments) {
        fixture_segment(&f, 0, 1, 10, "run", 0, 3, 1);
        fixture_alloc(&f, 1, 0, 4);
        fixture_segment(&f, 0, 10, 20, "queued", 0, 0, 0);
        fixture_segment(&f, 0, 20, 31.25, "run", 0, 0, 3);
        fixture_alloc(&f, 1, 0, 2);
    }
    fixture_series(&f, 10, "cluster", "queued_jobs", 1);
    fixture_series(&f, 10, "vc1", "queued_jobs", 1);
    fixture_series(&f, 20, "cluster", "queued_jobs", 2);
    fixture_event(&f, 1, "start", 0, "head of the queue; it fits");
    fixture_number(&f, RESULTS_SUMMARY, "gpu_utilization", 0.1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

Test(export, numbers_are_the_shortest_that_read_back)
{
    char text[EXPORT_NUMBER_MAX];
    cr_expect_str_eq(number_shortest(0.1, text), "0.1");
    cr_expect_str_eq(number_shortest(3600, text), "3600");
    cr_expect_str_eq(number_shortest(1.0 / 3, text), "0.3333333333333333");
    cr_expect_str_eq(number_shortest(0.1 + 0.2, text), "0.30000000000000004");
    cr_expect_str_eq(number_shortest(-INFINITY, text), "-inf");
    double hard[] = {5e-324, 1.7976931348623157e308, 123456789.123456789, 2.2250738585072014e-308, 1e23};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        double back;
        number_shortest(hard[i], text);
        cr_expect(number_parse_double(text, strlen(text), &back) && back == hard[i], "%s", text);
    }
}

Test(export, jobs_as_csv_have_names_quotes_and_empty_cells_for_nan)
{
    write_run(false);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what jobs", path), 0);
    cr_expect(strncmp(out, "run,job,id,user,vc,gpus,submit,start,end,", 41) == 0, "%s", out);
    cr_expect(strstr(out, "\n0a00000000000000,0,wide,\"Doe, \"\"J\"\"\",large,5,0.1,1,31.25,") != NULL, "%s", out);
    cr_expect(strstr(out, ",back,ann,large,64,2,,2,") != NULL, "%s", out);
    cr_expect(strstr(out, "rejected,too_large_for_vc,passed\n") != NULL, "%s", out);
}

Test(export, units_are_a_second_line_when_asked_for)
{
    write_run(false);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what jobs --units", path), 0);
    cr_expect(strstr(out, "\n,,,,,GPU,s,s,s,s,s,s,") != NULL, "%s", out);
}

Test(export, summary_says_which_run_a_row_is)
{
    write_run(false);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what summary", path), 0);
    cr_expect(strncmp(out, "run,name,label,seed,status,sweep.policy,jobs,finished,unfinished,", 65) == 0, "%s", out);
    cr_expect(strstr(out, "\n0a00000000000000,fixture,las,1,ok,las,3,1,1,1,0,0,0,31.15,") != NULL, "%s", out);
}

static yajl_val parse(const char *text)
{
    char problem[200] = "";
    yajl_val v = yajl_tree_parse(text, problem, sizeof problem);
    cr_assert(v != NULL, "%s in: %.300s", problem, text);
    return v;
}

static yajl_val at(yajl_val v, const char *a, const char *b)
{
    const char *names[] = {a, b, NULL};
    return yajl_tree_get(v, names, yajl_t_any);
}

Test(export, json_has_units_and_rows)
{
    write_run(false);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what jobs --format json", path), 0);
    yajl_val v = parse(out), rows = at(v, "rows", NULL);
    cr_expect_str_eq(YAJL_GET_STRING(at(v, "units", "submit")), "s");
    cr_assert(rows != NULL && YAJL_IS_ARRAY(rows));
    cr_assert_eq(YAJL_GET_ARRAY(rows)->len, 3);
    yajl_val job = YAJL_GET_ARRAY(rows)->values[0];
    cr_expect_str_eq(YAJL_GET_STRING(at(job, "user", NULL)), "Doe, \"J\"");
    cr_expect_eq(YAJL_GET_DOUBLE(at(job, "end", NULL)), 31.25);
    cr_expect(at(YAJL_GET_ARRAY(rows)->values[1], "start", NULL)->type == yajl_t_null);
    yajl_tree_free(v);
}

Test(export, events_say_why)
{
    write_run(false);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what events --run las", path), 0);
    cr_expect(strstr(out, ",1,start,0,,head of the queue; it fits\n") != NULL, "%s", out);
}

Test(export, batsim_counts_gpus_through_the_cluster_and_merges_intervals)
{
    write_run(true);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what batsim", path), 0);
    char *expected =
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
        "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
        "allocated_resources,consumed_energy,metadata\n"
        "wide#1,fixture,wide,0.1,5,-1,0,COMPLETED_KILLED,1,9,10,0.9,9.9,1.1,3-7,-1,"
        "\"vc:large user:Doe, \"\"J\"\" preemptions:1 moves:0 part:1/2\"\n"
        "wide#2,fixture,wide,10,5,-1,1,COMPLETED_SUCCESSFULLY,20,11.25,31.25,10,21.25,1.8888888888888,0-2 4-5,-1,"
        "\"vc:large user:Doe, \"\"J\"\" preemptions:1 moves:0 part:2/2\"\n"
        "back,fixture,back,2,64,-1,0,REJECTED,,,,,,,,-1,vc:large user:ann preemptions:0 moves:0\n"
        "late,fixture,late,3,1,-1,0,SUBMITTED,,,,,,,,-1,vc:small user:bob preemptions:0 moves:0\n";
    char *stretch = strstr(out, "1.8888888888888");
    if (stretch != NULL) /* digits beyond the 14th are the business of the number's own test */
        memmove(stretch + 15, stretch + strcspn(stretch, ","), strlen(stretch + strcspn(stretch, ",")) + 1);
    char *rows = strstr(out, "job_id,");
    cr_assert(rows != NULL && rows > out, "%s", out);
    cr_expect(strstr(out, "jobs that were preempted or moved (1) have a row for each time they held GPUs") < rows, "%s",
              out);
    memmove(out, rows, strlen(rows) + 1);
    cr_expect_str_eq(out, expected);
}

/* `killed` reached its estimate after 50 s; `a` and `b` shared GPU 0 of node 1 from 10 to 20; `held` lost its GPUs and waits at the end. */
static void write_odd_ends(void)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_run(&f, "0a", "las", 1);
    fixture_job(&f, "killed", 1, 0, 1977.844814098, 2027.844814098);
    fixture_text(&f, RESULTS_JOBS, "status", "killed");
    fixture_text(&f, RESULTS_JOBS, "reason", "estimate_exceeded");
    fixture_number(&f, RESULTS_JOBS, "run_time", 50);
    fixture_job(&f, "a", 1, 0, 5, 20);
    fixture_job(&f, "b", 1, 0, 10, 25);
    fixture_job(&f, "held", 2, 0, 30, -1);
    fixture_text(&f, RESULTS_JOBS, "status", "unfinished");
    fixture_number(&f, RESULTS_JOBS, "start", 30);
    fixture_number(&f, RESULTS_JOBS, "end", NAN);
    fixture_number(&f, RESULTS_JOBS, "queued", 90);
    fixture_segment(&f, 0, 1977.844814098, 1990.000000001, "overhead", 0, 0, 1);
    fixture_segment(&f, 0, 1990.000000001, 2027.844814098, "run", 0, 0, 1);
    fixture_segment(&f, 1, 5, 10, "run", 1, 0, 1);
    for (int k = 0; k < 2; k++) {
        fixture_segment(&f, 1 + (unsigned)k, 10, 20, "run", 1, 0, 1);
        fixture_number(&f, RESULTS_SEGMENTS, "group", 7);
    }
    fixture_segment(&f, 2, 20, 25, "run", 1, 0, 1);
    fixture_segment(&f, 3, 30, 40, "run", 1, 1, 2);
    fixture_series(&f, 10, "cluster", "gpu_utilization", 0.5);
    fixture_series(&f, 10, "cluster", "queued_jobs", 3);
    fixture_series(&f, 20, "cluster", "gpu_utilization", 0.25);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

Test(export, batsim_says_what_it_cannot_hold)
{
    write_odd_ends();
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what batsim", path), 0);
    static const char *const words[] = {
        "\nkilled,fixture,killed,0,1,50,0,COMPLETED_WALLTIME_REACHED,1977.844814098,50,2027.844814098,",
        "\na,fixture,a,0,1,-1,1,COMPLETED_SUCCESSFULLY,5,15,20,",
        "preemptions:0 moves:0 shared:1\n",
        "\nheld#1,fixture,held,0,2,-1,0,COMPLETED_KILLED,30,10,40,30,40,4,5-6,",
        "\nheld#2,fixture,held,40,2,-1,0,SUBMITTED,,,,,,,,",
        "rows of jobs that shared their GPUs (2 jobs;",
        "jobs that were preempted or moved (1)"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect(strstr(out, words[i]) != NULL, "no %s in\n%s", words[i], out);
}

Test(export, batsim_without_segments_says_how_to_store_them)
{
    write_run(false);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what batsim", path), 2);
    cr_expect(strstr(out, "output: {segments: on}") != NULL, "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what segments", path), 2);
    cr_expect(strstr(out, "output: {segments: on}") != NULL, "%s", out);
}

static const char *text_of(yajl_val event, const char *key)
{
    yajl_val v = at(event, key, NULL);
    cr_assert(v != NULL && v->type == yajl_t_string, "an event without %s", key);
    return v->u.string;
}

static size_t count_events(yajl_val v, const char *ph)
{
    yajl_val events = at(v, "traceEvents", NULL);
    size_t n = 0;
    for (size_t i = 0; i < YAJL_GET_ARRAY(events)->len; i++)
        n += strcmp(text_of(YAJL_GET_ARRAY(events)->values[i], "ph"), ph) == 0;
    return n;
}

Test(export, trace_events_have_a_slice_a_gpu_and_names)
{
    write_run(true);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what trace-events", path), 0);
    yajl_val v = parse(out);
    cr_expect_eq(count_events(v, "X"), 10, "5 GPUs twice");
    cr_expect_eq(count_events(v, "C"), 2, "of the cluster, not of its parts");
    cr_expect_eq(count_events(v, "M"), 2 + 8 + 1, "2 nodes, 8 GPUs, 1 for the counters");
    yajl_val events = at(v, "traceEvents", NULL), first = NULL;
    for (size_t i = 0; first == NULL; i++)
        if (strcmp(text_of(YAJL_GET_ARRAY(events)->values[i], "ph"), "X") == 0)
            first = YAJL_GET_ARRAY(events)->values[i];
    cr_expect_str_eq(YAJL_GET_STRING(at(first, "name", NULL)), "wide");
    cr_expect_eq(YAJL_GET_DOUBLE(at(first, "ts", NULL)), 20e6);
    cr_expect_eq(YAJL_GET_DOUBLE(at(first, "dur", NULL)), 11.25e6);
    cr_expect_eq(YAJL_GET_INTEGER(at(first, "pid", NULL)), 0);
    cr_expect_eq(YAJL_GET_INTEGER(at(first, "tid", NULL)), 0);
    yajl_tree_free(v);
}

static long long ns_at(yajl_val event, const char *key)
{
    const char *text = YAJL_GET_NUMBER(at(event, key, NULL)), *point = strchr(text, '.');
    cr_assert(point != NULL && strlen(point) == 4, "three decimals, no more: %s", text);
    return 1000 * atoll(text) + atoll(point + 1);
}

/* Readers take the slices of a thread as a stack: none may begin inside another and end behind it. Here none overlap at all. */
Test(export, trace_events_of_one_thread_never_overlap)
{
    write_odd_ends();
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what trace-events", path), 0);
    yajl_val v = parse(out), events = at(v, "traceEvents", NULL), *all = YAJL_GET_ARRAY(events)->values;
    size_t n = YAJL_GET_ARRAY(events)->len, n_slices = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text_of(all[i], "ph"), "X") != 0)
            continue;
        n_slices++;
        long long begin = ns_at(all[i], "ts"), end = begin + ns_at(all[i], "dur");
        for (size_t k = 0; k < i; k++) {
            if (strcmp(text_of(all[k], "ph"), "X") != 0 ||
                YAJL_GET_INTEGER(at(all[i], "pid", NULL)) != YAJL_GET_INTEGER(at(all[k], "pid", NULL)) ||
                YAJL_GET_INTEGER(at(all[i], "tid", NULL)) != YAJL_GET_INTEGER(at(all[k], "tid", NULL)))
                continue;
            long long other = ns_at(all[k], "ts"), other_end = other + ns_at(all[k], "dur");
            cr_expect(end <= other || other_end <= begin, "[%lld, %lld) and [%lld, %lld)", begin, end, other,
                      other_end);
        }
    }
    cr_expect_eq(n_slices, 2 + 4 + 2);
    cr_expect(strstr(out, "\"GPU 0, shared, job 2\"") != NULL);
    cr_expect(strstr(out, "\"ts\":1977844814.098,\"dur\":12155185.903,") != NULL, "whole ns");
    cr_expect(strstr(out, "\"submit_s\":0,\"queued_s\":90,") != NULL);
    yajl_tree_free(v);
}

Test(export, trace_events_place_a_mean_over_its_bin_and_a_count_at_its_moment)
{
    write_odd_ends();
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what trace-events", path), 0);
    static const char *const words[] = {
        "\"ts\":0.000,\"args\":{\"gpu_utilization\":0.5}", "\"ts\":10000000.000,\"args\":{\"gpu_utilization\":0.25}",
        "\"ts\":20000000.000,\"args\":{\"gpu_utilization\":0}", "\"ts\":10000000.000,\"args\":{\"queued_jobs\":3}"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect(strstr(out, words[i]) != NULL, "no %s in\n%s", words[i], out);
}

Test(export, trace_events_without_segments_show_jobs)
{
    write_run(false);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what trace-events", path), 0);
    cr_expect(strstr(out, "segments are not stored") != NULL, "%s", out);
    char *json = strstr(out, "{\"display");
    cr_assert(json != NULL);
    memmove(out, json, strlen(json) + 1);
    yajl_val v = parse(out);
    cr_expect_eq(count_events(v, "X"), 2, "one job waits and runs");
    yajl_tree_free(v);
}

Test(export, file_is_whole_or_not_there)
{
    write_run(false);
    char to[320], command[400];
    snprintf(to, sizeof to, "%s/jobs.csv", dir);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what jobs -o %s", path, to), 0);
    cr_expect_str_eq(out, "");
    cr_expect_eq(access(to, R_OK), 0);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what series --run nonesuch -o %s/none.csv", path, dir), 2);
    cr_expect_eq(fixture_braid(out, sizeof out, "export %s --what jobs -o %s/absent/jobs.csv", path, dir), 1);
    cr_expect(strstr(out, "cannot be written") != NULL, "%s", out);
    snprintf(command, sizeof command, "test \"$(ls %s | sort | tr '\\n' ' ')\" = 'jobs.csv out.h5 '", dir);
    cr_expect_eq(system(command), 0, "something was left behind");
}

Test(export, full_disk_is_a_failure)
{
    if (access("/dev/full", W_OK) != 0)
        cr_skip_test("there is no /dev/full here");
    write_run(false);
    const char *braid = getenv("BRAID");
    char command[700];
    snprintf(command, sizeof command, "'%s' export %s --what jobs >/dev/full 2>%s/err", braid, path, dir);
    int status = system(command);
    cr_expect_eq(WEXITSTATUS(status), 1);
    snprintf(command, sizeof command, "grep -q 'cannot write' %s/err", dir);
    cr_expect_eq(system(command), 0);
}

Test(export, bad_arguments_name_the_mend)
{
    write_run(false);
    static const struct {
        const char *arguments, *words;
    } cases[] = {{"--what job", "did you mean 'jobs'"},
                 {"", "--what is wanted"},
                 {"--what batsim --format json", "is csv"},
                 {"--what jobs --format xml", "neither csv nor json"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(fixture_braid(out, sizeof out, "export %s %s", path, cases[i].arguments), 2);
        cr_expect(strstr(out, cases[i].words) != NULL, "%s: %s", cases[i].arguments, out);
    }
}
