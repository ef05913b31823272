/* The program `braid run` as a whole: what it prints, how it ends, and what is on the disk when it is ended. */
#include "../output/run_sample.h"
#include "output/results_source.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

static const char three[] = "name: three\n"
                            "trace: {generate: {model: poisson, jobs: 300}, load: 0.8}\n"
                            "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
                            "sweep: {policy: [fifo, sjf, srtf]}\n";

/* Many runs that take a moment each: a signal surely comes in between. */
static const char many[] =
    "name: many\n"
    "trace: {generate: {model: poisson, jobs: 20000}, load: 0.8}\n"
    "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
    "output: {series: 1 h}\n"
    "sweep: {policy: [fifo, sjf], seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}\n";

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

/* Run "cd DIR; BRAID arguments" with stdout and stderr to DIR/out and DIR/err; the exit status. */
static int braid(const char *dir, const char *arguments)
{
    const char *program = getenv("BRAID");
    if (program == NULL)
        cr_skip_test("the environment variable BRAID does not name the program");
    char *command;
    cr_assert(asprintf(&command, "cd '%s' && exec '%s' %s >out 2>err", dir, program, arguments) > 0);
    int status = system(command);
    free(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *text_of(const char *dir, const char *name)
{
    size_t n;
    char *text = file_bytes(in(dir, name), &n);
    cr_assert_not_null(text, "%s", name);
    text[n] = '\0';
    return text;
}

static bool says(const char *dir, const char *name, const char *words)
{
    char *text = text_of(dir, name);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

static uint32_t n_parts(const char *dir)
{
    uint32_t n = 0;
    DIR *d = opendir(in(dir, "out.h5.parts"));
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        n += strlen(e->d_name) == RUN_ID_HEX + 3 && strcmp(e->d_name + RUN_ID_HEX, ".h5") == 0;
    if (d != NULL)
        closedir(d);
    return n;
}

Test(program, without_an_output_the_file_goes_under_results)
{
    char *dir = folder_make();
    write_text(in(dir, "c.yaml"), three);
    cr_assert_eq(braid(dir, "run c.yaml"), 0);
    cr_assert(file_exists(in(dir, "results/three.h5")));
    cr_assert(file_exists(in(dir, "results/three.cost.csv")));
    cr_assert(says(dir, "out", "results/three.h5: 3 runs"));
    cr_assert(says(dir, "out", "JCT mean"));
    cr_assert(says(dir, "out", "srtf"));
    char *err = text_of(dir, "err"); /* no terminal: no progress */
    cr_assert_str_eq(err, "");
    free(err);
    folder_remove(dir);
}

Test(program, the_bytes_depend_neither_on_threads_nor_on_the_time_zone)
{
    char *dir = folder_make();
    write_text(in(dir, "c.yaml"), three);
    cr_assert_eq(braid(dir, "run c.yaml -j 1 -o a.h5 --quiet"), 0);
    setenv("TZ", "Asia/Shanghai", 1);
    cr_assert_eq(braid(dir, "run c.yaml -j 2 -o b.h5 --quiet"), 0);
    setenv("TZ", "America/Los_Angeles", 1);
    cr_assert_eq(braid(dir, "run c.yaml -j 8 -o c.h5 --quiet"), 0);
    cr_assert(file_equal(in(dir, "a.h5"), in(dir, "b.h5")));
    cr_assert(file_equal(in(dir, "a.h5"), in(dir, "c.h5")));
    char *out = text_of(dir, "out"), *err = text_of(dir, "err"); /* quiet */
    cr_assert_str_eq(out, "");
    cr_assert_str_eq(err, "");
    free(out);
    free(err);
    folder_remove(dir);
}

Test(program, a_dry_run_lists_the_runs_and_makes_nothing)
{
    char *dir = folder_make();
    write_text(in(dir, "c.yaml"), three);
    cr_assert_eq(braid(dir, "run c.yaml --dry-run"), 0);
    cr_assert_not(file_exists(in(dir, "results")));
    char *list = text_of(dir, "out");
    cr_assert_eq(strncmp(list + 16, "  fifo\n", 7), 0, "%s", list);
    cr_assert_eq(braid(dir, "run c.yaml -o out.h5 --quiet"), 0);
    struct results_source s;
    cr_assert_eq(results_source_open(&s, in(dir, "out.h5"), NULL), 0);
    cr_assert_eq(s.n_runs, 3);
    for (uint32_t i = 0; i < s.n_runs; i++)
        cr_assert_not_null(strstr(list, s.runs[i].id));
    results_source_fini(&s);
    free(list);
    folder_remove(dir);
}

Test(program, progress_as_json_is_an_object_a_line)
{
    char *dir = folder_make();
    write_text(in(dir, "c.yaml"), three);
    cr_assert_eq(braid(dir, "run c.yaml -o out.h5 -j 2 --progress=json"), 0);
    char *text = text_of(dir, "err"), *rest = text, *line;
    uint32_t n = 0;
    double done = 0;
    bool ended = false;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        char why[200];
        yajl_val v = yajl_tree_parse(line, why, sizeof why);
        cr_assert_not_null(v, "%s: %s", line, why);
        const char *done_path[] = {"done", NULL}, *end_path[] = {"end", NULL};
        done = YAJL_GET_DOUBLE(yajl_tree_get(v, done_path, yajl_t_number));
        ended = YAJL_IS_TRUE(yajl_tree_get(v, end_path, yajl_t_any));
        yajl_tree_free(v);
        n++;
    }
    cr_assert_geq(n, 4);
    cr_assert_eq(done, 3);
    cr_assert(ended);
    free(text);
    folder_remove(dir);
}

Test(program, wrong_usage_is_told_with_status_2)
{
    static const char *const wrong[] = {"run",
                                        "run a.yaml b.yaml",
                                        "run --bla c.yaml",
                                        "run c.yaml -j 0",
                                        "run c.yaml -j x",
                                        "run c.yaml --shard 3/2",
                                        "run c.yaml --shard 0/2",
                                        "run c.yaml --progress=xml",
                                        "run c.yaml -o",
                                        "run none.yaml",
                                        "merge",
                                        "merge a.h5",
                                        "merge a.h5 none.h5",
                                        "merge --bla a b"};
    char *dir = folder_make();
    write_text(in(dir, "c.yaml"), three);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert_eq(braid(dir, wrong[i]), 2, "%s", wrong[i]);
        cr_assert(says(dir, "err", "braid"), "%s", wrong[i]);
    }
    cr_assert_not(file_exists(in(dir, "results")));
    folder_remove(dir);
}

Test(program, shards_are_merged)
{
    char *dir = folder_make();
    write_text(in(dir, "c.yaml"), three);
    cr_assert_eq(braid(dir, "run c.yaml -o whole.h5 --quiet"), 0);
    cr_assert_eq(braid(dir, "run c.yaml -o s1.h5 --shard 1/2 --quiet"), 0);
    cr_assert_eq(braid(dir, "run c.yaml -o s2.h5 --shard 2/2 --quiet"), 0);
    cr_assert_eq(braid(dir, "merge merged.h5 s2.h5 s1.h5"), 0);
    cr_assert(file_equal(in(dir, "whole.h5"), in(dir, "merged.h5")));
    folder_remove(dir);
}

/* ---- ended from outside ---- */

/* Start "run c.yaml -o out.h5 -j THREADS" of `many`, send `number` once a part is there, and return what waitpid says. */
static int start_and_end(const char *dir, const char *threads, int number)
{
    const char *program = getenv("BRAID");
    if (program == NULL)
        cr_skip_test("the environment variable BRAID does not name the program");
    write_text(in(dir, "c.yaml"), many);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        if (chdir(dir) != 0 || freopen("out", "w", stdout) == NULL || freopen("err", "w", stderr) == NULL)
            _exit(99);
        execl(program, "braid", "run", "c.yaml", "-o", "out.h5", "-j", threads, (char *)NULL);
        _exit(99);
    }
    const struct timespec pause = {.tv_nsec = 2000000};
    int status;
    for (int i = 0; i < 30000 && n_parts(dir) == 0; i++) {
        cr_assert_eq(waitpid(pid, &status, WNOHANG), 0, "it ended before there was a part");
        nanosleep(&pause, NULL);
    }
    cr_assert_eq(kill(pid, number), 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return status;
}

/* Take the sweep up again: the same bytes as in one go. */
static void finish_and_compare(const char *dir)
{
    cr_assert_not(file_exists(in(dir, "out.h5")));
    cr_assert_geq(n_parts(dir), 1);
    cr_assert_eq(braid(dir, "run c.yaml -o out.h5 -j 2 --resume --progress=json"), 0);
    cr_assert_not(says(dir, "err", "\"reused\": 0, \"done\": 32"));
    cr_assert_not(file_exists(in(dir, "out.h5.parts")));
    cr_assert_eq(braid(dir, "run c.yaml -o fresh.h5 -j 2 --quiet"), 0);
    cr_assert(file_equal(in(dir, "out.h5"), in(dir, "fresh.h5")));
}

Test(program, sigterm_leaves_a_state_to_resume)
{
    char *dir = folder_make();
    int status = start_and_end(dir, "2", SIGTERM);
    cr_assert(WIFEXITED(status));
    cr_assert_eq(WEXITSTATUS(status), 1);
    cr_assert(says(dir, "err", "interrupted"));
    cr_assert(says(dir, "err", "--resume"));
    finish_and_compare(dir);
    folder_remove(dir);
}

Test(program, sigint_without_threads_too)
{
    char *dir = folder_make();
    int status = start_and_end(dir, "1", SIGINT);
    cr_assert(WIFEXITED(status));
    cr_assert_eq(WEXITSTATUS(status), 1);
    finish_and_compare(dir);
    folder_remove(dir);
}

/* Where nothing looks at the signal: in the generation of a trace, in one long decision of a search. */
Test(program, sigterm_ends_the_program_wherever_it_is)
{
    static const char *const configs[] = {
        "trace: {generate: {model: philly, jobs: 200000000, lean: true}}\n",
        "trace: {generate: {model: poisson, jobs: 3000}, load: 3}\ncluster: {nodes: [{count: 1, gpus: 8}]}\n"
        "policy: {name: ga, population: 200, budget: 100000, window_jobs: 500}\n",
    };
    const char *program = getenv("BRAID");
    if (program == NULL)
        cr_skip_test("the environment variable BRAID does not name the program");
    enum { N = sizeof configs / sizeof *configs };
    char *dirs[N];
    pid_t children[N];
    for (int i = 0; i < N; i++) {
        dirs[i] = folder_make();
        write_text(in(dirs[i], "c.yaml"), configs[i]);
        children[i] = fork();
        if (children[i] == 0) {
            if (chdir(dirs[i]) != 0 || freopen("err", "w", stderr) == NULL)
                _exit(9);
            execl(program, program, "run", "c.yaml", "-o", "out.h5", "--quiet", "-j", "1", (char *)NULL);
            _exit(9);
        }
    }
    usleep(500000);
    time_t begin = time(NULL);
    for (int i = 0; i < N; i++)
        kill(children[i], SIGTERM);
    for (int i = 0; i < N; i++) {
        int status;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%d: %d", i, status);
        cr_expect(says(dirs[i], "err", "interrupted") && says(dirs[i], "err", "--resume"), "%d: %s", i,
                  text_of(dirs[i], "err"));
        cr_expect_not(file_exists(in(dirs[i], "out.h5")));
        folder_remove(dirs[i]);
    }
    cr_expect_leq(time(NULL) - begin, 10); /* an alarm after one second, on a busy machine */
}

Test(program, sigkill_leaves_whole_parts_only)
{
    char *dir = folder_make();
    int status = start_and_end(dir, "2", SIGKILL);
    cr_assert(WIFSIGNALED(status));
    finish_and_compare(dir);
    folder_remove(dir);
}

Test(program, a_full_disk_is_told_and_what_is_there_stays)
{
    char *dir = folder_make();
    cr_assert_eq(mkdir(in(dir, "disk"), 0777), 0);
    if (mount("tmpfs", in(dir, "disk"), "tmpfs", 0, "size=160k") != 0) {
        folder_remove(dir);
        cr_skip_test("a small disk cannot be mounted here");
    }
    write_text(in(dir, "c.yaml"), "name: small\n"
                                  "trace: {generate: {model: poisson, jobs: 10}}\n"
                                  "cluster: {nodes: [{count: 4, gpus: 8}]}\n");
    write_text(in(dir, "big.yaml"), three);
    int first = braid(dir, "run c.yaml -o disk/out.h5 --quiet");
    size_t n = 0, again = 0;
    char *before = file_bytes(in(dir, "disk/out.h5"), &n);
    int second = braid(dir, "run big.yaml -o disk/out.h5 -j 2 --quiet");
    bool told = says(dir, "err", "No space left on device") && says(dir, "err", "disk/out.h5.parts/");
    char *after = file_bytes(in(dir, "disk/out.h5"), &again);
    umount(in(dir, "disk"));
    cr_assert_eq(first, 0);
    cr_assert_eq(second, 1);
    cr_assert(told);
    cr_assert(before != NULL && after != NULL && n == again && memcmp(before, after, n) == 0);
    free(before);
    free(after);
    folder_remove(dir);
}

Test(program, the_page_on_the_schema_is_that_of_the_program)
{
    char *dir = folder_make();
    cr_assert_eq(braid(dir, "run --schema"), 0);
    cr_assert(file_equal(in(dir, "out"), "docs/schema.md"), "make it again: braid run --schema > docs/schema.md");
    folder_remove(dir);
}
