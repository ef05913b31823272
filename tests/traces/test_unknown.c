/* Files that are no trace, or nearly one: what braid says that they are. And files of one shape that are not taken for a format by it. */
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
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

TestSuite(unknown, .init = before, .fini = after);

static int load(const char *bytes, size_t n, const char *format)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "t", bytes, n, path));
    spec.format = format;
    workload_fini(&w);
    err = (struct error){0};
    return trace_load(&w, &spec, &err);
}

static void expect_refusal(const char *text, const char *part)
{
    cr_expect_eq(load(text, strlen(text), "auto"), BRAID_BAD_INPUT, "%s", text);
    cr_expect_not_null(strstr(err.message, part), "'%s' is not in: %s", part, err.message);
}

Test(unknown, what_is_no_text_is_named)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *part;
    } files[] = {
        {"\x89HDF\r\n\x1a\n\0\0", 10, "HDF5"},
        {"PAR1\x15\x04", 6, "Parquet"},
        {"PK\x03\x04\x14\0", 6, "zip"},
        {"\xfd"
         "7zXZ\0\0",
         7, "xz -d"},
        {"\x28\xb5\x2f\xfd\x04", 5, "zstd -d"},
        {"BZh91AY", 7, "bzip2 -d"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", 63, "Git LFS"},
        {"<!DOCTYPE html>\n<html>\n", 23, "HTML"},
        {"\xff\xfei\0d\0", 6, "UTF-16"},
        {"id,submit,duration,gpus\ra,0,1,1\rb,1,1,1\r", 40, "tr '\\r' '\\n'"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (int forced = 0; forced < 2; forced++) {
            cr_expect_eq(load(files[i].bytes, files[i].n, forced ? "helios" : "auto"), BRAID_BAD_INPUT);
            cr_expect_not_null(strstr(err.message, files[i].part), "%s: %s", files[i].part, err.message);
        }
}

Test(unknown, headers_that_are_nearly_known)
{
    static const struct {
        const char *text, *part;
    } files[] = {
        {"ID,SUBMIT,DURATION,GPUS\na,0,1,1\n", "the nearest format is braid, which needs 'id' ('ID' is there)"},
        {"id,submit,duration,gpu\na,0,1,1\n", "the nearest format is braid, which needs 'gpus' ('gpu' is there)"},
        {"job,gpu_count,vc,submit_time,duration\n", "the nearest format is helios, which needs 'gpu_num'"},
        {"id;submit;duration;gpus\na;0;1;1\n",
         "separated by semicolons, not by commas; with commas it is a trace of format braid"},
        {"id|submit|duration|gpus\na|0|1|1\n", "separated by '|'"},
        {"id\tsubmit\tduration\tgpus\na\t0\t1\t1\n", "separated by tabs"},
        {"# made by me\nid,submit,duration,gpus\na,0,1,1\n", "is a comment"},
        {"a1,2024-03-01 08:00:00,4,1\na2,2024-03-01 08:00:00,4,1\n", "no header but a row"},
        {"       JobID    JobName     Submit\n------------ ---------- ----------\n1 a 2\n", "sacct without -P"},
        {"1|ann|2024-03-01T08:00:00|2024-03-01T09:00:00|4\n", "sacct without -n"},
        {"; Version: 2.2\n1 0 0 10 4\n", "has not the 18 numbers"},
        {"a,b,c\n1,2,3\n", "readable are braid, "},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        expect_refusal(files[i].text, files[i].part);
}

Test(unknown, a_header_alone_has_no_rows)
{
    expect_refusal("id,submit,duration,gpus\n", "no job is left of 0 rows: behind its beginning");
}

Test(unknown, json_is_told_by_its_keys)
{
    static const struct {
        const char *text, *part;
    } files[] = {
        {"[{\"a\":1,\"b\":{\"c\":2}},{\"a\":2}]", "an array of objects with 'a', 'b'; the Philly log"},
        {"[{\"job_id\":1,\"submit_time\":\"2020-01-01\",\"gpus_req\":4}]", "'job_id', 'submit_time', 'gpus_req'"},
        {"{\"jobs\":[{\"jobid\":1}],\"meta\":{}}", "an object with 'jobs', 'meta'"},
        {"{\"id\":1,\"submit\":2}\n{\"id\":2,\"submit\":2}\n", "JSON lines"},
        {"[1,2]", "an array without keys"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        expect_refusal(files[i].text, files[i].part);
}

/* As many tabs as Gavel's rows have do not make a Gavel trace. */
Test(unknown, tabs_alone_are_not_gavel)
{
    for (int columns = 7; columns <= 12; columns++) {
        char text[512] = "";
        for (int row = 0; row < 2; row++)
            for (int c = 0; c < columns; c++)
                sprintf(text + strlen(text), row == 0 ? "name%d%c" : "%d%c", c, c + 1 < columns ? '\t' : '\n');
        expect_refusal(text, "separated by tabs");
        expect_refusal(strchr(text, '\n') + 1, "no header but a row");
    }
    expect_refusal("id\tuser\tvc\tqueue\tcpus\tmem\tgpus\ttype\tprio\twait\tduration\tsubmit\n"
                   "jobA\tu1\tvc1\tgpu\t1\t500\t2\tx\t0\t3\t100\t0\n",
                   "separated by tabs");
}

Test(unknown, text_of_files_does_not_reach_a_terminal_raw)
{
    expect_refusal("id\033[31mX,foo\n1,2\n", "id [31mX,foo");
    cr_assert_null(strchr(err.message, '\033'));
}
