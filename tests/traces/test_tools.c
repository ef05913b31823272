/* Samples, comparisons and conversions of traces, as functions and as a user runs them. */
#include "base/number.h"
#include "traces/compare.h"
#include "traces/sample.h"
#include "traces/scratch.h"
#include "traces/writer.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static struct scratch scratch;
static struct workload w, other;
static struct error err;

static void before(void)
{
    scratch_init(&scratch);
    workload_init(&w);
    workload_init(&other);
    err = (struct error){0};
}

static void after(void)
{
    workload_fini(&w);
    workload_fini(&other);
    scratch_fini(&scratch);
}

TestSuite(tools, .init = before, .fini = after);

static void load(struct workload *out, const char *text)
{
    workload_fini(out);
    cr_assert_eq(scratch_load_text(&scratch, text, out, &err), BRAID_OK, "%s", err.message);
}

static const char *ids(const struct workload *x, char *out)
{
    size_t n = 0;
    for (uint32_t j = 0; j < x->n_jobs; j++)
        n += (size_t)sprintf(out + n, "%.*s ", (int)(x->id_at[j + 1] - x->id_at[j]), x->id_text + x->id_at[j]);
    out[n] = '\0';
    return out;
}

/* Run ARGS of the program in the scratch folder; its exit status, and both outputs in `out`. */
static int run(const char *arguments, char *out, size_t size)
{
    const char *program = getenv("BRAID");
    char command[2048];
    if (program == NULL)
        cr_skip_test("the environment does not say where the program is (BRAID)");
    snprintf(command, sizeof command, "cd '%s' && '%s' %s 2>&1", scratch.folder, program, arguments);
    FILE *p = popen(command, "r");
    cr_assert_not_null(p);
    size_t n = fread(out, 1, size - 1, p);
    out[n] = '\0';
    int status = pclose(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_part(const char *out, const char *part)
{
    cr_assert_not_null(strstr(out, part), "'%s' is not in:\n%s", part, out);
}

/* ---- sample ---------------------------------------------------------------------------------------------------- */

/* Four days; the first begins at 06:00, the last ends at 06:00. */
static const char days[] = "id,submit,duration,gpus,vc,user,start\n"
                           "a,2020-01-01 06:00:00,10,1,x,u1,\n"
                           "b,2020-01-02 03:00:00,10,1,x,u2,2020-01-02 03:00:07\n"
                           "c,2020-01-02 21:00:00.5,10,2,y,u1,\n"
                           "d,2020-01-03 12:00:00,10,1,y,u3,\n"
                           "e,2020-01-04 06:00:00,10,1,x,u1,\n";

Test(tools, samples_keep_days_vcs_and_users)
{
    char out[64];
    static const char *const y[] = {"y"}, *const u[] = {"u1", "u3"}, *const nobody[] = {"nobody"};
    load(&w, days);
    struct sample_spec spec = {.has_days = true, .day_begin = 1, .day_end = 3};
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_str_eq(ids(&other, out), "b c d ");
    cr_assert_eq(other.origin_utc_s, 1577934000, "2020-01-02 03:00:00");
    cr_assert_eq(other.submit_ns[0], 0);
    cr_assert_eq(other.start_ns[0], 7 * NS_PER_S);
    cr_assert_eq(other.users.count, 3);

    spec = (struct sample_spec){.vcs = y, .n_vcs = 1, .users = u, .n_users = 2};
    workload_fini(&other);
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_str_eq(ids(&other, out), "c d ");
    cr_assert_eq(other.vcs.count, 1, "names that no job bears are gone");
    cr_assert_eq(other.submit_ns[0], 500000000, "time 0 is floored to the second");

    spec = (struct sample_spec){.users = nobody, .n_users = 1};
    workload_fini(&other);
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "nobody"), "%s", err.message);
    spec = (struct sample_spec){.has_days = true, .day_begin = 9, .day_end = 10};
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "no job is left"), "%s", err.message);
}

Test(tools, a_bootstrap_puts_whole_days_behind_each_other)
{
    load(&w, days);
    struct sample_spec spec = {.is_bootstrap = true, .seed = 5, .length_days = 40};
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_OK, "%s", err.message);
    int64_t midnight_ns = 1577923200 * NS_PER_S; /* 2020-01-02 */
    uint32_t of_day[40] = {0}, firsts = 0, seconds = 0;
    for (uint32_t j = 0; j < other.n_jobs; j++) {
        int64_t at_ns = other.origin_utc_s * NS_PER_S + other.submit_ns[j] - midnight_ns;
        int64_t day = at_ns / (86400 * NS_PER_S), clock_ns = at_ns % (86400 * NS_PER_S);
        char id = other.id_text[other.id_at[j]];
        cr_assert(day >= 0 && day < 40);
        of_day[day]++;
        cr_assert(id == 'b' || id == 'c' || id == 'd', "days that the trace cuts off are not drawn");
        cr_assert_eq(clock_ns, id == 'b'   ? 3 * 3600 * NS_PER_S
                               : id == 'c' ? 21 * 3600 * NS_PER_S + 500000000
                                           : 12 * 3600 * NS_PER_S);
        if (id == 'b')
            cr_assert_eq(other.start_ns[j] - other.submit_ns[j], 7 * NS_PER_S, "the start moves with the submission");
        firsts += id == 'b';
        seconds += id == 'd';
        if (j > 0)
            cr_assert_leq(other.submit_ns[j - 1], other.submit_ns[j]);
    }
    cr_assert(firsts > 8 && seconds > 8, "%u and %u of 40 days", firsts, seconds);
    cr_assert_eq(firsts + seconds, 40, "each day is one of the two");
    for (int d = 0; d < 40; d++)
        cr_assert(of_day[d] == 1 || of_day[d] == 2, "day %d is not whole", d);
}

Test(tools, a_bootstrap_is_told_by_its_seed_and_survives_a_file)
{
    char path[SCRATCH_PATH];
    uint8_t digest[DIGEST_BYTES];
    load(&w, days);
    struct sample_spec spec = {.is_bootstrap = true, .seed = 1, .length_days = 20};
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_OK, "%s", err.message);
    memcpy(digest, other.digest, sizeof digest);
    cr_assert_eq(trace_write(&other, scratch_path(&scratch, "s.csv", path), &err), BRAID_OK, "%s", err.message);
    workload_fini(&other);
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_OK);
    cr_assert(memcmp(digest, other.digest, sizeof digest) == 0, "the same seed, the same workload");
    struct trace_spec file = scratch_spec(path);
    workload_fini(&other);
    cr_assert_eq(trace_load(&other, &file, &err), BRAID_OK, "%s", err.message);
    cr_assert(memcmp(digest, other.digest, sizeof digest) == 0, "read again");
    cr_assert_eq(scratch_count(&other, "duplicate_id"), 0, "copies have ids of their own");
    workload_fini(&other);
    spec.seed = 2;
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_OK);
    cr_assert(memcmp(digest, other.digest, sizeof digest) != 0, "another seed, another workload");
}

/* Fifteen days with one job each, submitted at the hour of the day's number. */
static void load_fortnight(void)
{
    char text[1024];
    size_t n = (size_t)sprintf(text, "id,submit,duration,gpus\n");
    for (int d = 1; d <= 15; d++)
        n += (size_t)sprintf(text + n, "%d,2020-01-%02d %02d:00:00,1,1\n", d, d, d);
    load(&w, text);
}

/* `trace.bootstrap` of an experiment: the same draw as `trace sample --bootstrap` of what is left of the trace, another for another seed. */
Test(tools, a_trace_is_drawn_anew_when_it_is_loaded)
{
    char text[16384] = "id,submit,duration,gpus\n", path[SCRATCH_PATH];
    size_t n = strlen(text);
    for (int i = 0; i < 300; i++)
        n += (size_t)sprintf(text + n, "j%d,%d,%d,1\n", i, i * 7200, 10 + i);
    load(&w, text);
    scratch_write(&scratch, "t.csv", text, n, path);
    struct trace_spec spec = scratch_spec(path);
    struct sample_spec sample = {.is_bootstrap = true, .length_days = 5};
    struct workload last;
    workload_init(&last);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        spec.bootstrap = (struct bootstrap_spec){.days = BOOTSTRAP_ANY, .length_days = 5, .seed = sample.seed = seed};
        struct workload drawn, again;
        cr_assert_eq(trace_load(&drawn, &spec, &err), BRAID_OK, "%s", err.message);
        cr_assert_eq(trace_sample(&again, &w, &sample, &err), BRAID_OK, "%s", err.message);
        cr_expect(memcmp(drawn.digest, again.digest, sizeof drawn.digest) == 0);
        cr_expect(memcmp(drawn.digest, last.digest, sizeof drawn.digest) != 0, "seed %" PRIu64, seed);
        cr_expect_eq(drawn.report.rows_read, 300);
        workload_fini(&last);
        workload_fini(&again);
        last = drawn;
    }
    workload_fini(&last);
    spec.jobs = 12; /* of one day */
    cr_expect_eq(trace_load(&other, &spec, &err), BRAID_BAD_INPUT);
    cr_expect(strstr(err.message, "trace.csv") != NULL && strstr(err.message, "needs 2 or more") != NULL, "%s",
              err.message);
    spec.jobs = 90; /* of seven and a half */
    spec.bootstrap.days = BOOTSTRAP_SAME_WEEKDAY;
    cr_expect_eq(trace_load(&other, &spec, &err), BRAID_BAD_INPUT);
    cr_expect(strstr(err.message, "needs 8 or more") != NULL, "%s", err.message);
    spec.jobs = TRACE_NO_LIMIT;
    cr_expect_eq(trace_load(&other, &spec, &err), BRAID_BAD_INPUT);
    cr_expect(strstr(err.message, "no weekdays") != NULL, "a trace without dates: %s", err.message);
}

Test(tools, a_bootstrap_by_weekday_keeps_the_weekly_cycle)
{
    load_fortnight();
    struct sample_spec spec = {.is_bootstrap = true, .seed = 3, .length_days = 28, .same_weekday = true};
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(other.n_jobs, 28);
    bool is_moved = false;
    for (uint32_t j = 0; j < 28; j++) {
        int64_t at_s =
            other.origin_utc_s + other.submit_ns[j] / NS_PER_S - 1577923200; /* from 2020-01-02, the first whole day */
        int64_t source = at_s % 86400 / 3600;                                /* the hour tells the day of January */
        cr_assert_eq(at_s / 86400, j);
        cr_assert_eq((source - 2) % 7, j % 7, "a day stands for a day of its name");
        is_moved |= source != j + 2;
    }
    cr_assert(is_moved);
    load(&w, "id,submit,duration,gpus\na,0,1,1\nb,200000,1,1\n");
    workload_fini(&other);
    cr_assert_eq(trace_sample(&other, &w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "no dates"), "%s", err.message);
}

/* ---- compare --------------------------------------------------------------------------------------------------- */

Test(tools, equal_traces_compare_equal)
{
    struct comparison c;
    load(&w, days);
    load(&other, days);
    cr_assert_eq(trace_compare(&c, &w, &other, COMPARE_BY_ANY, &err), BRAID_OK);
    cr_assert_eq(c.matched, 5);
    cr_assert_eq(c.differing + c.only_a + c.only_b, 0);
    cr_assert_eq(c.first_a, NAMES_NONE);
    cr_assert(c.are_dated && !c.is_by_rank);
}

static const struct compare_column *column(const struct comparison *c, const char *name)
{
    for (uint32_t i = 0; i < c->n_columns; i++)
        if (strcmp(c->columns[i].name, name) == 0)
            return &c->columns[i];
    cr_assert_fail("no column %s", name);
    return NULL;
}

Test(tools, differences_are_found_by_column)
{
    struct comparison c;
    char text[COMPARE_VALUE];
    load(&w, "id,submit,duration,gpus,user,priority\na,0,10,1,u1,0\nb,5,10,1,u1,0\nc,6,10,2,u1,1.5\nd,7,1,1,u1,0\n");
    load(&other, "id,submit,duration,gpus,estimate\nb,0,10,1,\nc,5,12.5,2,9\nd,7,1,1,\ne,8,1,1,\n");
    cr_assert_eq(trace_compare(&c, &w, &other, COMPARE_BY_ANY, &err), BRAID_OK);
    cr_assert_eq(c.matched, 3);
    cr_assert_eq(c.only_a, 1);
    cr_assert_eq(c.only_b, 1);
    cr_assert_eq(c.first_only_a, 0);
    cr_assert_eq(c.first_only_b, 3);
    cr_assert_eq(c.differing, 3);
    cr_assert_eq(c.first_a, 1);
    cr_assert_eq(c.first_b, 0);
    cr_assert_eq(column(&c, "submit")->jobs, 2);
    cr_assert_float_eq(column(&c, "submit")->largest, 5, 1e-12);
    cr_assert_eq(column(&c, "duration")->jobs, 1);
    cr_assert_float_eq(column(&c, "duration")->largest, 2.5, 1e-12);
    cr_assert_eq(column(&c, "user")->jobs, 3, "a user against none");
    cr_assert(isnan(column(&c, "user")->largest));
    cr_assert_eq(column(&c, "priority")->jobs, 1, "a column that is not there counts as 0");
    cr_assert_eq(column(&c, "estimate")->jobs, 1);
    cr_assert_eq(column(&c, "gpus")->jobs, 0);
    cr_assert_str_eq(compare_value(&c, 1, &other, 1, text), "12.5 s");
    cr_assert_str_eq(compare_value(&c, 4, &w, 1, text), "u1");
    cr_assert_str_eq(compare_value(&c, 4, &other, 1, text), "-");
    cr_assert_eq(trace_compare(&c, &w, &other, COMPARE_BY_RANK, &err), BRAID_OK);
    cr_assert_eq(c.matched, 4);
    cr_assert_eq(column(&c, "submit")->jobs, 2, "0 5 6 7 against 0 5 7 8");
}

Test(tools, duplicate_ids_are_matched_in_turn)
{
    struct comparison c;
    load(&w, "id,submit,duration,gpus\na,0,10,1\na,5,10,1\na,6,10,2\n");
    load(&other, "id,submit,duration,gpus\na,0,10,1\na,5,10,1\n");
    cr_assert_eq(trace_compare(&c, &w, &other, COMPARE_BY_ANY, &err), BRAID_OK);
    cr_assert_eq(c.matched, 2);
    cr_assert_eq(c.differing, 0);
    cr_assert_eq(c.only_a, 1);
    cr_assert_eq(c.first_only_a, 2);
    load(&other, "id,submit,duration,gpus\nx,0,10,1\ny,5,10,1\n");
    cr_assert_eq(trace_compare(&c, &w, &other, COMPARE_BY_ANY, &err), BRAID_OK);
    cr_assert(c.is_by_rank, "no id is in both");
    cr_assert_eq(c.differing, 0);
    cr_assert_eq(trace_compare(&c, &w, &other, COMPARE_BY_ID, &err), BRAID_OK);
    cr_assert_eq(c.only_a, 3);
    cr_assert_eq(c.only_b, 2);
}

/* ---- as a user runs them ------------------------------------------------------------------------------------------- */

Test(tools, generated_converted_and_read_again_is_the_same_run)
{
    char out[8192], path[SCRATCH_PATH];
    static const char config[] = "name: t\ntrace: {path: %s}\ncluster: {nodes: [{count: 8, gpus: 8}]}\npolicy: srtf\n";
    cr_assert_eq(run("trace generate --jobs 300 --seed 7 -o a.csv", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace convert a.csv -o b.csv.gz", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace diff a.csv b.csv.gz", out, sizeof out), 0, "%s", out);
    expect_part(out, "matched by id: 300 jobs, 0 of them differ");
    char text[256];
    int n = snprintf(text, sizeof text, config, "a.csv");
    scratch_write(&scratch, "a.yaml", text, (size_t)n, path);
    n = snprintf(text, sizeof text, config, "b.csv.gz");
    scratch_write(&scratch, "b.yaml", text, (size_t)n, path);
    cr_assert_eq(run("run a.yaml -o a.h5 --quiet", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("run b.yaml -o b.h5 --quiet", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("export a.h5 --what jobs -o a.txt", out, sizeof out), 0);
    cr_assert_eq(run("export b.h5 --what jobs -o b.txt", out, sizeof out), 0);
    size_t n_a, n_b;
    char *a = scratch_read(scratch_path(&scratch, "a.txt", path), &n_a);
    char *b = scratch_read(scratch_path(&scratch, "b.txt", path), &n_b);
    cr_assert(n_a == n_b && memcmp(a, b, n_a) == 0, "the run's id is over the trace's digest, and so are its jobs");
    free(a);
    free(b);
}

/* Column `name` of a csv, one value a line. */
static char *cut_column(const char *name, const char *file, char *out, size_t size)
{
    char path[SCRATCH_PATH];
    size_t n, used = 0;
    char *text = scratch_read(scratch_path(&scratch, file, path), &n);
    int column_at = -1;
    char *rows = text;
    for (char *line = strsep(&rows, "\n"); line != NULL && *line != '\0'; line = strsep(&rows, "\n")) {
        int at = 0;
        for (char *field = strsep(&line, ","); field != NULL; field = strsep(&line, ","), at++) {
            if (column_at < 0 && strcmp(field, name) == 0)
                column_at = at;
            if (at == column_at)
                used += (size_t)snprintf(out + used, size - used, "%s\n", field);
        }
    }
    free(text);
    return out;
}

Test(tools, an_exported_run_replays_to_the_same_starts)
{
    static char out[65536], again[65536];
    char path[SCRATCH_PATH];
    static const char first[] = "name: a\ntrace: {generate: {jobs: 400, seed: 3}, load: 0.9}\n"
                                "cluster: {nodes: [{count: 4, gpus: 8}]}\npolicy: easy\nplacement: count\n";
    static const char replay[] =
        "name: b\ntrace: {path: a.csv}\ncluster: {nodes: [{count: 4, gpus: 8}]}\npolicy: recorded\nplacement: count\n";
    scratch_write(&scratch, "a.yaml", first, sizeof first - 1, path);
    scratch_write(&scratch, "b.yaml", replay, sizeof replay - 1, path);
    cr_assert_eq(run("run a.yaml -o a.h5 --quiet", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("export a.h5 --what jobs -o a.csv", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace check --strict a.csv", out, sizeof out), 0, "%s", out);
    expect_part(out, "format     braid_jobs");
    expect_part(out, "kept                400");
    cr_assert_eq(run("run b.yaml -o b.h5 --quiet", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("export b.h5 --what jobs -o b.csv", out, sizeof out), 0, "%s", out);
    cr_assert_str_eq(cut_column("start", "a.csv", out, sizeof out), cut_column("start", "b.csv", again, sizeof again));
    cr_assert_str_eq(cut_column("end", "a.csv", out, sizeof out), cut_column("end", "b.csv", again, sizeof again));
    expect_part(out, "end\n");
}

Test(tools, jobs_of_two_runs_are_not_one_workload)
{
    load(&w, "run,job,id,gpus,submit,start,work\nr1,0,a,1,0,0,10\nr1,1,b,1,0,,10\nr2,0,a,1,0,5,10\n");
    cr_assert_str_eq(w.report.format, "braid_jobs");
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(w.start_ns[0], 0);
    cr_assert_eq(w.start_ns[1], WORKLOAD_ABSENT);
    cr_assert_eq(scratch_count(&w, "other_run"), 1);
}

Test(tools, convert_tells_what_is_lost)
{
    char out[8192];
    cr_assert_eq(run("trace generate --jobs 50 -o a.csv", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace convert a.csv -o a.swf.gz", out, sizeof out), 0, "%s", out);
    expect_part(out, "wrote 50 jobs to a.swf.gz (0 of 50 rows dropped)");
    expect_part(out, "SWF has no place for");
    expect_part(out, "name of the user (a number instead), of 50 jobs");
    cr_assert_eq(run("trace check a.swf.gz", out, sizeof out), 0, "%s", out);
    expect_part(out, "format     swf");
    cr_assert_eq(run("trace convert a.csv -o a.json", out, sizeof out), 0, "%s", out);
    expect_part(out, "Batsim JSON has no place for");
    cr_assert_eq(run("trace convert a.csv -o a.out --to batsim", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace diff a.json a.out", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace convert a.csv -o a.out", out, sizeof out), 2);
    expect_part(out, "ends in none of .csv, .swf and .json");
    cr_assert_eq(run("trace convert a.csv -o a.out --to xml", out, sizeof out), 2);
    cr_assert_eq(run("trace convert a.csv -o absent/a.swf", out, sizeof out), 1);
    expect_part(out, "cannot be written");
}

Test(tools, diff_ends_with_a_status_that_scripts_can_use)
{
    char out[8192], path[SCRATCH_PATH];
    scratch_write(&scratch, "a.csv", days, sizeof days - 1, path);
    scratch_write(&scratch, "b.csv", "id,submit,duration,gpus\nb,2020-01-02 03:00:00,11,1\n", 51, path);
    cr_assert_eq(run("trace diff a.csv a.csv", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace diff a.csv b.csv", out, sizeof out), 1, "%s", out);
    expect_part(out, "matched by id: 1 jobs, 1 of them differ; only in A 4, only in B 0");
    expect_part(out, "first that differs: rank 1 in A, 0 in B, job 'b'");
    expect_part(out, "job 'b': 10 s, 11 s");
    cr_assert_eq(run("trace diff a.csv", out, sizeof out), 2);
    cr_assert_eq(run("trace diff a.csv absent.csv", out, sizeof out), 2);
    cr_assert_eq(run("trace diff a.csv b.csv --by name", out, sizeof out), 2);
}

Test(tools, sample_writes_a_trace)
{
    char out[8192], path[SCRATCH_PATH];
    scratch_write(&scratch, "a.csv", days, sizeof days - 1, path);
    cr_assert_eq(run("trace sample a.csv -o s.csv --days 1:3 --vcs y", out, sizeof out), 0, "%s", out);
    expect_part(out, "wrote 2 jobs, drawn from 5, to s.csv");
    cr_assert_eq(run("trace sample a.csv -o s.csv --bootstrap --seed 4 --length 9", out, sizeof out), 0, "%s", out);
    cr_assert_eq(run("trace check --strict s.csv", out, sizeof out), 0, "%s", out);
    static const char *const bad[] = {"--days 3", "--days 4:2", "--seed 1", "--bootstrap --length 0", "--vcs nope"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "trace sample a.csv -o s.csv %s", bad[i]);
        cr_assert_eq(run(arguments, out, sizeof out), 2, "%s: %s", bad[i], out);
    }
    cr_assert_eq(run("trace sample a.csv", out, sizeof out), 2);
}

Test(tools, check_read_strictly_names_the_first_line)
{
    char out[8192], path[SCRATCH_PATH];
    static const char text[] = "id,submit,duration,gpus\na,0,1,1\nb,1,-1,1\nc,2,1,0\n";
    scratch_write(&scratch, "a.csv", text, sizeof text - 1, path);
    cr_assert_eq(run("trace check --strict a.csv", out, sizeof out), 2, "%s", out);
    expect_part(out, "braid: a.csv:3: 2 rows are at fault; the first is here: negative_duration");
    cr_assert_eq(run("trace convert --strict a.csv -o b.csv", out, sizeof out), 2, "%s", out);
    expect_part(out, "braid: a.csv:3: negative_duration");
    static const char steps[] = "JobID|Submit|Elapsed|AllocTRES\n1|2024-01-01|1|gres/gpu=1\n1.batch|2024-01-01|1|\n";
    scratch_write(&scratch, "s.txt", steps, sizeof steps - 1, path);
    cr_assert_eq(run("trace check --strict s.txt", out, sizeof out), 0, "steps are no fault: %s", out);
}

Test(tools, info_tells_the_offered_load)
{
    static char out[32768];
    char path[SCRATCH_PATH];
    /* 100 s of submissions; x asks for 2 x 100 and 1 x 50 GPU-seconds, y for 4 x 75 */
    static const char text[] = "id,submit,duration,gpus,vc,status,gpu_type,estimate\n"
                               "a,0,100,2,x,passed,v100,9\nb,50,50,1,x,failed,,\nc,100,75,4,y,killed,a100,\n";
    scratch_write(&scratch, "t.csv", text, sizeof text - 1, path);
    cr_assert_eq(run("trace info t.csv --gpus 11", out, sizeof out), 0, "%s", out);
    expect_part(out, "11 GPUs                       3          0            0.2         11.0    0.500");
    cr_assert_null(strstr(out, "above"), "%s", out);
    cr_assert_eq(run("trace info t.csv --gpus 5", out, sizeof out), 0, "%s", out);
    expect_part(out, "1.100  above 1");
    expect_part(out, "braid: t.csv: the offered load is above 1.0");
    expect_part(out, "Partly     estimate 33.33 %, gpu_type 66.67 %");
    expect_part(out, "Arrivals over the whole span, 64 bins");
    expect_part(out, " 1 .. 10 min          2");
    expect_part(out, "       4          1       0.00     0.00   100.00");
    static const char config[] = "name: c\n"
                                 "cluster:\n"
                                 "  nodes: [{count: 1, gpus: 4, gpu: v100}, {count: 1, gpus: 2, gpu: a100}]\n"
                                 "  vcs: {x: {nodes: 1}, z: {nodes: 1}}\n";
    scratch_write(&scratch, "c.yaml", config, sizeof config - 1, path);
    cr_assert_eq(run("trace info t.csv --cluster c.yaml", out, sizeof out), 0, "%s", out);
    expect_part(out, "all                           3          1            0.1          6.0    0.417");
    expect_part(out, "x                             2          0            0.1          4.0    0.625");
    expect_part(out, "y                             1          1            0.0          0.0        -  no GPUs");
    cr_assert_eq(run("trace info t.csv --cluster absent.yaml", out, sizeof out), 2);
    cr_assert_eq(run("trace info t.csv --cluster c.yaml --gpus 3", out, sizeof out), 2);
    cr_assert_eq(run("trace info t.csv --gpus none", out, sizeof out), 2);
}

Test(tools, fetch_traces_lists_without_the_network)
{
    static char out[32768];
    FILE *p =
        popen("scripts/fetch-traces --list 2>&1 && scripts/fetch-traces --dry-run --all -o /nowhere/at/all 2>&1", "r");
    cr_assert_not_null(p);
    size_t n = fread(out, 1, sizeof out - 1, p);
    out[n] = '\0';
    cr_assert_eq(pclose(p), 0, "%s", out);
    expect_part(out, "philly: Microsoft Philly");
    expect_part(out, "licence   CC-BY-4.0");
    expect_part(out, "sha256  unknown");
    expect_part(out, "-> /nowhere/at/all/accasim/workload.swf");
    for (const char *at = out; (at = strstr(at, "http")) != NULL; at++)
        cr_assert(strncmp(at, "https://", 8) == 0, "%.60s", at);
    p = popen("scripts/fetch-traces --dry-run nothing-like-it 2>&1", "r");
    n = fread(out, 1, sizeof out - 1, p);
    out[n] = '\0';
    cr_assert_neq(pclose(p), 0);
    expect_part(out, "unknown trace 'nothing-like-it'; there are philly");
}
