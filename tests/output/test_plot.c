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
                           "gantt-it_s__odd_-384a697c.png",
                           "gantt_jobs-fifo.png",
                           "gantt_jobs-it_s__odd_-384a697c.png"};
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

/* ---- texts of users in a script ------------------------------------------------------------------ */

static const char *quoted(struct plot_fonts *fonts, const char *text)
{
    FILE *gp = tmpfile();
    plot_text_quote(gp, fonts, text);
    rewind(gp);
    out[fread(out, 1, sizeof out - 1, gp)] = '\0';
    fclose(gp);
    return out;
}

Test(plot, texts_enter_a_script_as_text_alone)
{
    static const struct {
        const char *text, *form;
    } cases[] = {
        {"it's", "\"it\\047s\""},
        {"50 %d", "\"50 \\045d\""},
        {"`date` $(x) @M", "\"\\140date\\140 \\044(x) \\100M\""},
        {"a\nb\tc\x7f\xc2\x85\u2028", "\"a b c   \""},
        {"\\n\"", "\"\\134n\\042\""},
        {"{/Bold x}^_#!", "\"\\173/Bold x\\175\\136_\\043\\041\""},
        {"<<EOF", "\"<<EOF\""},
        {"Zo\xeb \xc0\xaf \xed\xa0\x80", "\"Zo? ?? ???\""}, /* Latin-1, overlong, a surrogate */
        {"\u202eabc\u202c\u200f", "\"abc\""},
        {"größe α", "\"größe α\""},
        {"a\x1e"
         "b",
         "\"a\\nb\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_str_eq(quoted(NULL, cases[i].text), cases[i].form);
    }
}

Test(plot, characters_of_no_font_are_question_marks_and_remembered)
{
    char paths[2000], file[320];
    snprintf(file, sizeof file, "%s/fc-list", dir);
    FILE *script = fopen(file, "w");
    fputs("#!/bin/sh\necho '20-7e a0-17f'; echo 6700 1f600-1f60f\n", script);
    fclose(script);
    chmod(file, 0755);
    snprintf(paths, sizeof paths, "%s:%s", dir, getenv("PATH"));
    setenv("PATH", paths, 1);
    struct plot_fonts fonts = {0}, svg = {.draws_all = true};
    cr_expect_str_eq(quoted(&fonts, "é α"), "\"é α\"");
    cr_expect(!fonts.is_asked && !fonts.has_missing, "what every font has is not asked for");
    cr_expect_str_eq(quoted(&fonts, "最短 😀"), "\"最? 😀\"");
    cr_expect(fonts.has_missing);
    cr_expect_str_eq(quoted(&svg, "最短"), "\"最短\"");
    cr_expect(!svg.has_missing);
    plot_fonts_fini(&fonts);
}

Test(plot, texts_are_measured_broken_and_cut_by_cells)
{
    char text[200];
    cr_expect_eq(plot_text_cells("fifo"), 4);
    cr_expect_eq(plot_text_cells("最短"), 4);
    cr_expect_eq(plot_text_cells("é\u0301"), 1);
    cr_expect_eq(plot_text_wrap(text, sizeof text, "weighted_round robin", 10, 3), 3);
    cr_expect_str_eq(text, "weighted_\x1eround\x1erobin");
    cr_expect_eq(plot_text_wrap(text, sizeof text, "xxxxxxxxxxxxxxxxxxxx", 8, 2), 2);
    cr_expect_str_eq(text, "xxxxxxxx\x1exxxxxxx…");
    cr_expect_eq(plot_text_wrap(text, sizeof text, "short", 8, 2), 1);
    cr_expect_str_eq(text, "short");
    plot_text_shorten(text, sizeof text, "abcdefghijklmnop", 8);
    cr_expect_str_eq(text, "abcde…op");
    cr_expect(plot_text_cells(text) <= 8);
}

Test(plot, different_texts_give_different_file_names)
{
    static const char *const texts[] = {"fifo", "a_b", "a b", "a/b", "α", "β", "../x", "", "最", "短"};
    enum { N = sizeof texts / sizeof texts[0] };
    char names[N + 2][64], longest[200];
    for (int i = 0; i < N; i++)
        plot_text_file_name(names[i], 40, texts[i]);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (int i = 0; i < 2; i++) {
        longest[150] = (char)('a' + i); /* where it is cut */
        plot_text_file_name(names[N + i], 40, longest);
    }
    cr_expect_str_eq(names[0], "fifo");
    cr_expect_str_eq(names[1], "a_b");
    for (int i = 0; i < N + 2; i++) {
        cr_expect(strlen(names[i]) <= 40 && strchr(names[i], '/') == NULL, "%s", names[i]);
        for (int k = 0; k < i; k++)
            cr_expect_str_neq(names[i], names[k]);
    }
}

/* Labels as an attacker writes them, in every place of every figure: they are drawn, and nothing is run. */
Test(plot, awkward_labels_are_drawn_in_all_figures)
{
    need_gnuplot();
    char label[1000];
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    snprintf(label, sizeof label,
             "50%% %%400d `touch %s/run` $(id) \" ' \\\" @M \" system('touch %s/run') # ! {x}_^ << "
             "EOF\nEOF\n\u202e\x01\xff \\",
             dir, dir);
    add_run(&f, "01", label, 1, 20, 2);
    for (int i = 0; i < 14; i++) { /* rows of dots and a key below */
        char id[8], name[320];
        snprintf(id, sizeof id, "%02d", i + 2);
        snprintf(name, sizeof name, "%d %.300s", i, label);
        add_run(&f, id, name, 1, i == 0 ? 20 : 3, 1);
        fixture_text(&f, RESULTS_JOBS, "id", label);
    }
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out,
                               "plot %s --figure jct_cdf,wait_cdf,utilization,queue,bars,bars_normalized,jct_by_gpus",
                               path),
                 0, "%s", out);
    cr_expect_eq(count_files(figures), 7, "%s", out);
    snprintf(label, sizeof label, "%s/run", dir);
    cr_expect_neq(access(label, F_OK), 0, "a label was run");
}

Test(plot, one_failing_figure_does_not_end_the_others)
{
    write_simple();
    fake_gnuplot("grep -q 'Waiting time' \"$2\" && { echo 'line 3: no' >&2; exit 3; }; echo picture >\"$(dirname "
                 "\"$2\")/figure\"");
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s", path), 1);
    cr_expect(strstr(out, "wait_cdf.png: gnuplot failed with status 3: line 3: no") != NULL, "%s", out);
    cr_expect_eq(count_files(figures), 10, "%s", out);
}

/* ---- what figures say ----------------------------------------------------------------------------- */

Test(plot, distributions_end_at_the_share_that_finished)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "a", 1, 0, 0, 40);
    fixture_job(&f, "b", 1, 0, 10, 100);
    fixture_job(&f, "never", 64, 0, -1, 0);
    fixture_job(&f, "late", 1, 0, 20, -1);
    fixture_job(&f, "later", 1, 500, 500, -1);
    fixture_text(&f, RESULTS_JOBS, "reason", "not_submitted");
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    const char *data = drawn("jct_cdf");
    expect_rows(data, "\n40 25\n100 50\n");
    cr_expect(strstr(data, " 100\n") == NULL, "it does not reach 100 %%: %s", data);
}

Test(plot, failed_runs_are_told)
{
    need_gnuplot();
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    add_run(&f, "01", "fifo", 1, 5, 1);
    fixture_run(&f, "02", "srtf", 1);
    fixture_text(&f, RESULTS_RUNS, "status", "failed");
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s --figure jct_cdf", path), 0, "%s", out);
    cr_expect(strstr(out, "runs that failed are left out: 1 of 2, the first is 02") != NULL, "%s", out);
}

Test(plot, improvements_are_over_all_seeds)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    for (unsigned i = 0; i < 160; i++) { /* those behind the first 64 seeds are four times better, the others as good */
        char id[16];
        unsigned seed = i % 80 + 1;
        snprintf(id, sizeof id, "%04x", i);
        fixture_run(&f, id, i < 80 ? "fifo" : "srtf", seed);
        fixture_job(&f, "a", 1, 0, 0, i >= 80 && seed > 64 ? 25 : 100);
    }
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    const char *data = drawn("bars_normalized"), *row = strstr(data, "\n1 1.319507911 "); /* 4 ^ (16 / 80) */
    cr_expect(row != NULL, "%s", data);
}

Test(plot, baseline_and_metrics_can_be_chosen)
{
    write_two();
    char figure[200];
    snprintf(figure, sizeof figure, "bars_normalized --baseline srtf --metric jct_mean");
    expect_rows(drawn(figure), "\n0 0.5 0.5 0.5\n1 1 1 1\n");
    static const char *const bad[][2] = {{"--baseline none", "no policy is called 'none'"},
                                         {"--metric jct_maen", "unknown metric 'jct_maen'"},
                                         {"--window 5 h:2 h", "FROM before TO"}};
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(fixture_braid(out, sizeof out, "plot %s '%.*s' '%s'", path, (int)strcspn(bad[i][0], " "),
                                   bad[i][0], strchr(bad[i][0], ' ') + 1),
                     2, "%s", out);
        cr_expect(strstr(out, bad[i][1]) != NULL, "%s", out);
    }
}

/* Two jobs of a group: at every moment the row is divided by those that hold it. */
Test(plot, groups_divide_the_row_of_a_gpu)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "muri", 1);
    fixture_job(&f, "a", 1, 0, 0, 30);
    fixture_job(&f, "b", 1, 0, 10, 20);
    fixture_segment(&f, 0, 0, 10, "run", 0, 0, 1);
    fixture_segment(&f, 0, 10, 20, "run", 0, 0, 1);
    fixture_number(&f, RESULTS_SEGMENTS, "group", 3);
    fixture_segment(&f, 0, 20, 30, "run", 0, 0, 1);
    fixture_segment(&f, 1, 10, 20, "run", 0, 0, 1);
    fixture_number(&f, RESULTS_SEGMENTS, "group", 3);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    char body[700], file[320];
    snprintf(file, sizeof file, "%s/boxes", dir);
    snprintf(body, sizeof body,
             "grep -o 'rectangle from [^ ]* to [^ ]*' \"$2\" >'%s'; echo picture >\"$(dirname \"$2\")/figure\"", file);
    fake_gnuplot(body);
    cr_assert_eq(fixture_braid(out, sizeof out, "plot %s --figure gantt", path), 0, "%s", out);
    FILE *in = fopen(file, "r");
    cr_assert(in != NULL);
    out[fread(out, 1, sizeof out - 1, in)] = '\0';
    fclose(in);
    cr_expect_str_eq(out, "rectangle from 0,0 to 10,1\nrectangle from 10,0 to 20,0.5\nrectangle from 10,0.5 to 20,1\n"
                          "rectangle from 20,0 to 30,1\n");
}

Test(plot, pdf_of_the_same_results_has_the_same_bytes)
{
    need_gnuplot();
    write_two();
    char command[700];
    cr_expect_eq(fixture_braid(out, sizeof out, "plot %s --type pdf --figure bars -o %s/a", path, dir), 0, "%s", out);
    snprintf(command, sizeof command, "grep -a -q 'CreationDate (D:20000101' %s/a/bars.pdf", dir);
    cr_expect_eq(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s/a", dir);
    cr_expect_eq(system(command), 0);
}

Test(plot, what_a_point_of_the_queue_is_is_told)
{
    write_simple();
    char body[700], file[320];
    snprintf(file, sizeof file, "%s/note", dir);
    snprintf(body, sizeof body, "grep 'label 9003' \"$2\" >'%s'; echo picture >\"$(dirname \"$2\")/figure\"", file);
    fake_gnuplot(body);
    static const char *const words[][2] = {{"queue", "the number at that moment, every 60 s"},
                                           {"utilization", "each point is the mean over 60 s"}};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(fixture_braid(out, sizeof out, "plot %s --figure %s", path, words[i][0]), 0, "%s", out);
        FILE *in = fopen(file, "r");
        cr_assert(in != NULL);
        out[fread(out, 1, sizeof out - 1, in)] = '\0';
        fclose(in);
        cr_expect(strstr(out, words[i][1]) != NULL, "%s", out);
    }
}
