/* braid trace info, check and convert as a user runs them. */
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static struct scratch scratch;

static void before(void)
{
    scratch_init(&scratch);
}

static void after(void)
{
    scratch_fini(&scratch);
}

TestSuite(trace_cli, .init = before, .fini = after);

/* Run `braid trace ARGS` in the scratch folder; its exit status, and both outputs in `out`. */
static int braid(const char *arguments, char *out, size_t size)
{
    const char *program = getenv("BRAID");
    char command[2048];
    if (program == NULL)
        cr_skip_test("the environment does not say where the program is (BRAID)");
    snprintf(command, sizeof command, "cd '%s' && '%s' trace %s 2>&1", scratch.folder, program, arguments);
    FILE *p = popen(command, "r");
    cr_assert_not_null(p);
    size_t n = fread(out, 1, size - 1, p);
    out[n] = '\0';
    int status = pclose(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char rows[] =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "1,u1,a,1,4,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:42:01,60,0\n"
    "2,u2,b,0,4,1,COMPLETED,2020-06-09 18:41:02,2020-06-09 18:41:02,2020-06-09 18:42:01,59,0\n"
    "3,u2,b,8,4,1,FAILED,2020-06-10 18:41:02,2020-06-10 18:41:02,2020-06-10 19:41:02,3600,0\n";

static void expect_part(const char *out, const char *part)
{
    cr_assert_not_null(strstr(out, part), "'%s' is not in:\n%s", part, out);
}

Test(trace_cli, check_accounts_for_every_row)
{
    char out[8192], path[SCRATCH_PATH];
    scratch_write(&scratch, "t.csv", rows, sizeof rows - 1, path);
    cr_assert_eq(braid("check t.csv", out, sizeof out), 0, "%s", out);
    expect_part(out, "rows read             3\nkept                  2\ndropped               1\n");
    expect_part(out, "no_gpus                         1");
    expect_part(out, "first: line 3: 2,u2,b,0");
    cr_assert_eq(braid("check --strict t.csv", out, sizeof out), 2, "%s", out);
    expect_part(out, "no_gpus");
    expect_part(out, "braid: t.csv:3: 1 row is at fault");
    scratch_write(&scratch, "n.csv", "id,submit,duration,gpus\n1,0,1,0\n", 32, path);
    cr_assert_eq(braid("check n.csv", out, sizeof out), 2, "%s", out);
    expect_part(out, "no job is left");
    expect_part(out, "rows read             1");
    cr_assert_eq(braid("check absent.csv", out, sizeof out), 2);
    expect_part(out, "braid: absent.csv: cannot be opened");
}

Test(trace_cli, info_tells_what_is_there)
{
    char out[16384], path[SCRATCH_PATH];
    scratch_write(&scratch, "t.csv", rows, sizeof rows - 1, path);
    cr_assert_eq(braid("info t.csv", out, sizeof out), 0, "%s", out);
    expect_part(out, "2020-06-09 18:41:01 to 2020-06-10 18:41:02 UTC (1.00 days)");
    expect_part(out, "GPU-hours  8.0\n"); /* 60 s x 1 + 3600 s x 8 */
    expect_part(out, "   18          2 #####");
    expect_part(out, "  Wed          1");
    expect_part(out, "failed                        1  50.00            8.0");
    expect_part(out, "Missing    estimate deadline priority name model");
}

Test(trace_cli, convert_gives_the_same_jobs)
{
    char out[8192], again[8192], path[SCRATCH_PATH];
    scratch_write(&scratch, "t.csv", rows, sizeof rows - 1, path);
    cr_assert_eq(braid("convert t.csv -o c.csv.gz", out, sizeof out), 0, "%s", out);
    expect_part(out, "wrote 2 jobs to c.csv.gz (1 of 3 rows dropped");
    cr_assert_eq(braid("check t.csv | grep digest", out, sizeof out), 0);
    cr_assert_eq(braid("check --strict c.csv.gz | grep digest", again, sizeof again), 0);
    cr_assert_str_eq(out, again);
    cr_assert_eq(braid("convert t.csv", out, sizeof out), 2);
    cr_assert_eq(braid("convert t.csv -o absent/c.csv", out, sizeof out), 1, "%s", out);
    expect_part(out, "cannot be written");
}

Test(trace_cli, usage_and_help)
{
    char out[8192];
    cr_assert_eq(braid("--help", out, sizeof out), 0);
    expect_part(out, "philly_json");
    static const char *const helps[] = {"info --help", "check --help", "convert --help", "generate --help"};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(braid(helps[i], out, sizeof out), 0, "%s", helps[i]);
        expect_part(out, "usage: braid trace");
    }
    cr_assert_eq(braid("", out, sizeof out), 2);
    cr_assert_eq(braid("chek", out, sizeof out), 2);
    expect_part(out, "did you mean 'check'?");
    cr_assert_eq(braid("info", out, sizeof out), 2);
    cr_assert_eq(braid("info --colour x", out, sizeof out), 2);
    cr_assert_eq(braid("info a b", out, sizeof out), 2);
    cr_assert_eq(braid("check --failed maybe x", out, sizeof out), 2);
    expect_part(out, "run, drop or merge_attempts");
}

Test(trace_cli, info_tells_the_schedule_on_record)
{
    static const char text[] = "id,submit,duration,gpus,start,estimate\n"
                               "a,0,100,2,0,200\n"
                               "b,10,100,4,30,50\n"
                               "c,20,10,1,60,\n";
    char out[16384], path[SCRATCH_PATH];
    scratch_write(&scratch, "r.csv", text, sizeof text - 1, path);
    cr_assert_eq(braid("info r.csv", out, sizeof out), 0, "%s", out);
    expect_part(
        out,
        "wait                          3        20.0         4.0        20.0        36.0        39.6        40.0\n");
    expect_part(out, "GPUs in use on record: at most 7 at one time");
    expect_part(
        out,
        "duration / limit              2       1.250       0.650       1.250       1.850       1.985       2.000\n");
    expect_part(out, "beyond the limit: 50.00 % of them; without a limit: 33.33 % of all jobs\n");
    expect_part(out, "Demand: 30.5 GPUs on average");
    static const char late[] = "id,submit,duration,gpus\na,21,10,1\nb,25,5,1\n";
    scratch_write(&scratch, "l.csv", late, sizeof late - 1, path);
    cr_assert_eq(braid("convert l.csv -o m.csv", out, sizeof out), 0, "%s", out);
    expect_part(out, "time 0 is second 21 of the trace");
}
