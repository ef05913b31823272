/* braid plot: figures are there and not empty, odd results give a figure or a message, and a failing gnuplot is seen. */
#include "fixture_results.h"
#include "output/plot.h"
#include "output/plot_gnuplot.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[256], path[300], figures[320], out[16384];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    snprintf(path, sizeof path, "%s/out.h5", dir);
    snprintf(figures, sizeof figures, "%s/out", dir);
    unsetenv("DISPLAY");
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(plot, .init = setup, .fini = teardown, .timeout = 120);

static void need_gnuplot(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        cr_skip_test("gnuplot is not installed");
}

static void add_run(struct fixture *f, const char *id, const char *label, unsigned seed, int n_jobs, double slow)
{
    fixture_run(f, id, label, seed);
    for (int i = 0; i < n_jobs; i++) {
        char name[16];
        double submit = 60 * i, start = submit + (i % 3) * 30 * slow, end = start + 100 + 10 * i;
        snprintf(name, sizeof name, "j%d", i);
        fixture_job(f, name, 1 + (unsigned)i % 4, submit, start, end);
        fixture_segment(f, (unsigned)i, start, end, "run", (unsigned)i % 2, 0, 1 + (unsigned)i % 4);
        fixture_series(f, 60 * (i + 1), "cluster", "gpu_utilization", 0.5);
        fixture_series(f, 60 * (i + 1), "cluster", "queued_jobs", i % 5);
    }
}

static void write_simple(void)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    add_run(&f, "01", "fifo", 1, 20, 2);
    add_run(&f, "02", "it's_{odd}", 1, 20, 1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

/* A file that begins with the bytes of its type and holds more than a frame. */
static void expect_figure(const char *name, const char *magic)
{
    char file[700], begin[16] = "";
    struct stat st;
    snprintf(file, sizeof file, "%s/%s", figures, name);
    cr_assert_eq(stat(file, &st), 0, "%s is not there:\n%s", file, out);
    cr_expect(st.st_size > 2000, "%s has %lld bytes", name, (long long)st.st_size);
    FILE *in = fopen(file, "rb");
    cr_assert(in != NULL);
    size_t n = fread(begin, 1, sizeof begin - 1, in);
    fclose(in);
    cr_expect(n > strlen(magic) && memcmp(begin, magic, strlen(magic)) == 0, "%s is no %s", name, magic);
}

static int count_files(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    if (d == NULL)
        return -1;
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

Test(plot, all_figures_are_drawn_without_a_display)
{
    need_gnuplot();
    write_simple();
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 0);
    const char *names[] = {"jct_cdf.png",
                           "wait_cdf.png",
                           "utilization.png",
                           "queue.png",
                           "bars.png",
                           "bars_normalized.png",
                           "jct_by_gpus.png",
                           "gantt-fifo.png",
                           "gantt-it_s__odd_.png",
                           "gantt_jobs-fifo.png",
                           "gantt_jobs-it_s__odd_.png"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_figure(names[i], "\x89PNG");
    cr_expect_eq(count_files(figures), (int)(sizeof names / sizeof names[0]), "nothing else is left behind");
}

Test(plot, resources_are_drawn_for_each_policy_where_the_series_tell_them)
{
    need_gnuplot();
    static const char *const names[] = {"storage_utilization", "cpu_utilization", "gpu_busy", "network_utilization"};
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    add_run(&f, "01", "fifo", 1, 20, 2);
    for (int i = 0; i < 80; i++)
        fixture_series(&f, 60 * (i / 4 + 1), "cluster", names[i % 4], 0.2 * (i % 4));
    add_run(&f, "02", "blind", 1, 20, 1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s --figure resources --type svg", path), 0);
    expect_figure("resources-fifo.svg", "<?xml");
    cr_expect_eq(count_files(figures), 1);
    cr_expect(strstr(out, "resources-blind: the trace has no stage times") != NULL, "%s", out);
    char file[700], text[200000];
    snprintf(file, sizeof file, "%s/resources-fifo.svg", figures);
    FILE *in = fopen(file, "r");
    cr_assert(in != NULL);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    static const char *const labels[] = {">storage<", ">CPU<", ">GPU<", ">network<"};
    for (int k = 0; k < 4; k++)
        cr_expect(strstr(text, labels[k]) != NULL, "%s", labels[k]);
}

Test(plot, pdf_and_svg_are_written)
{
    need_gnuplot();
    write_simple();
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s --type svg --figure jct_cdf,gantt", path), 0);
    expect_figure("jct_cdf.svg", "<?xml");
    expect_figure("gantt-fifo.svg", "<?xml");
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s --type pdf --figure bars", path), 0);
    expect_figure("bars.pdf", "%PDF");
}

Test(plot, other_swept_keys_give_figures_of_their_own)
{
    need_gnuplot();
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_sweep(&f, "trace.load");
    for (int i = 0; i < 8; i++) {
        char id[16];
        snprintf(id, sizeof id, "0%d", i);
        add_run(&f, id, i % 2 == 0 ? "fifo" : "srtf", 1 + (unsigned)i / 4, 5, 1);
        fixture_text(&f, RESULTS_RUNS, "sweep.trace.load", i / 2 % 2 == 0 ? "0.7" : "0.9");
    }
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s --figure jct_cdf,bars", path), 0);
    expect_figure("jct_cdf-trace.load=0.7.png", "\x89PNG");
    expect_figure("bars-trace.load=0.9.png", "\x89PNG");
    cr_expect_eq(count_files(figures), 4);
}

Test(plot, one_job_gives_figures)
{
    need_gnuplot();
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "alone", 1, 0, 0, 60);
    fixture_segment(&f, 0, 0, 60, "run", 0, 0, 1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 0);
    const char *names[] = {"jct_cdf.png", "wait_cdf.png", "bars.png", "jct_by_gpus.png", "gantt.png", "gantt_jobs.png"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_figure(names[i], "\x89PNG");
    cr_expect(strstr(out, "output: {series:") != NULL, "%s", out);
}

Test(plot, all_rejected_gives_a_message_and_what_can_be_drawn)
{
    need_gnuplot();
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "big", 100, 0, -1, 0);
    fixture_job(&f, "bigger", 1000, 5, -1, 5);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 0);
    expect_figure("gantt_jobs.png", "\x89PNG");
    cr_expect_eq(count_files(figures), 1);
    cr_expect(strstr(out, "jct_cdf: no job has finished") != NULL, "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s --figure jct_cdf", path), 2);
}

Test(plot, no_jobs_and_no_runs_give_a_message)
{
    need_gnuplot();
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 2);
    cr_expect(strstr(out, "output: {jobs: true}") != NULL, "%s", out);
    fixture_init(&f);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 2);
    cr_expect(strstr(out, "no finished run") != NULL, "%s", out);
}

Test(plot, absent_gnuplot_is_said_once_with_the_mend)
{
    write_simple();
    char *before = strdup(getenv("PATH"));
    setenv("PATH", dir, 1); /* the shell itself is found by popen */
    int status = fixture_braid(out, sizeof out, "plot %s", path);
    setenv("PATH", before, 1);
    free(before);
    cr_expect_eq(status, 1);
    cr_expect(strstr(out, "apt-get install gnuplot") != NULL, "%s", out);
    cr_expect(strstr(out, "gnuplot, which is not") == strstr(out, "gnuplot"), "once: %s", out);
}

/* A gnuplot of our own: `body` is a shell script. */
static void fake_gnuplot(const char *body)
{
    char file[320], paths[2000];
    snprintf(file, sizeof file, "%s/gnuplot", dir);
    FILE *script = fopen(file, "w");
    fprintf(script, "#!/bin/sh\n%s\n", body);
    fclose(script);
    chmod(file, 0755);
    snprintf(paths, sizeof paths, "%s:%s", dir, getenv("PATH"));
    setenv("PATH", paths, 1);
}

Test(plot, failing_gnuplot_is_a_failure_with_its_words)
{
    write_simple();
    fake_gnuplot("echo 'line 3: undefined variable: x' >&2; exit 3");
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 1);
    cr_expect(strstr(out, "status 3: line 3: undefined variable: x") != NULL, "%s", out);
    cr_expect_eq(count_files(figures), 0);
}

/* What is given to gnuplot to draw in a figure: its data, one file behind the other. */
static const char *drawn(const char *figure)
{
    char body[1000], file[320];
    snprintf(file, sizeof file, "%s/drawn", dir);
    snprintf(body, sizeof body, "cd \"$(dirname \"$2\")\"; cat data* >'%s'; echo picture >figure", file);
    fake_gnuplot(body);
    cr_assert_eq(fixture_braid(out, sizeof out, "plot %s --figure %s", path, figure), 0, "%s", out);
    FILE *in = fopen(file, "r");
    cr_assert(in != NULL);
    out[0] = '\n';
    size_t n = fread(out + 1, 1, sizeof out - 2, in);
    out[n + 1] = '\0';
    fclose(in);
    return out;
}

static void expect_rows(const char *data, const char *rows)
{
    cr_expect(strstr(data, rows) != NULL, "no\n%s\nin\n%s", rows, data);
}

/* fifo: completion after 100 and 40 s, waiting 60 and 10 s; srtf: 50 and 20 s, 20 and 5 s. */
static void write_two(void)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "a", 1, 0, 60, 100);
    fixture_job(&f, "b", 1, 0, 10, 40);
    fixture_series(&f, 60, "cluster", "gpu_utilization", 0.25);
    fixture_series(&f, 120, "cluster", "gpu_utilization", 0.75);
    fixture_run(&f, "02", "srtf", 1);
    fixture_job(&f, "a", 1, 0, 20, 50);
    fixture_job(&f, "b", 1, 0, 5, 20);
    fixture_series(&f, 60, "cluster", "gpu_utilization", 1);
    fixture_series(&f, 120, "cluster", "gpu_utilization", 0);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

Test(plot, curves_rise_to_the_share_of_jobs_that_are_done)
{
    write_two();
    expect_rows(drawn("jct_cdf"), "\n40 50\n100 100\n");
    expect_rows(out, "\n20 50\n50 100\n");
    expect_rows(drawn("wait_cdf"), "\n10 50\n60 100\n");
    expect_rows(out, "\n5 50\n20 100\n");
}

Test(plot, bars_are_means_and_improvements_over_the_first_policy)
{
    write_two();
    expect_rows(drawn("bars"), "\n0 70 70 70\n1 35 35 35\n"); /* mean completion; */
    expect_rows(out, "\n0 35 35 35\n1 12.5 12.5 12.5\n");     /* mean waiting */
    expect_rows(drawn("bars_normalized"), "\n0 1 1 1\n1 2 2 2\n");
    expect_rows(out, "\n0 1 1 1\n1 2.8 2.8 2.8\n");
}

Test(plot, utilisation_is_drawn_in_percent_over_each_step)
{
    write_two();
    expect_rows(drawn("utilization"), "\n0 25\n60 25\n60 75\n120 75\n");
    expect_rows(out, "\n0 100\n60 100\n60 0\n120 0\n");
}

Test(plot, empty_or_missing_picture_is_a_failure)
{
    write_simple();
    fake_gnuplot("exit 0");
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 1);
    cr_expect(strstr(out, "there is no picture") != NULL, "%s", out);
    fake_gnuplot(": > \"$(dirname \"$2\")/figure\"");
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 1);
    cr_expect(strstr(out, "empty picture") != NULL, "%s", out);
    cr_expect_eq(count_files(figures), 0);
}

Test(plot, folder_that_cannot_be_made_is_a_failure)
{
    write_simple();
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s -o %s/out.h5/x", path, dir), 1);
    cr_expect(strstr(out, "out.h5") != NULL, "%s", out);
}

Test(plot, bad_arguments_name_the_mend)
{
    write_simple();
    static const struct {
        const char *arguments, *words;
    } cases[] = {
        {"--figure jct_cfd", "did you mean 'jct_cdf'"}, {"--type jpg", "png, pdf, svg"}, {"--figure", "needs a value"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(fixture_braid(out, sizeof out, "plot %s %s", path, cases[i].arguments), 2);
        cr_expect(strstr(out, cases[i].words) != NULL, "%s: %s", cases[i].arguments, out);
    }
}

Test(plot, quotes_in_texts_are_doubled_and_lines_joined)
{
    FILE *gp = tmpfile();
    plot_quote(gp, "it's\na \\ {label}");
    rewind(gp);
    char text[64] = "";
    cr_assert(fgets(text, sizeof text, gp) != NULL);
    cr_expect_str_eq(text, "'it''s a \\ {label}'");
    fclose(gp);
}
