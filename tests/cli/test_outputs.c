/* Every command that writes, to every kind of place: only regular files are replaced, and never one that is read. */
#include "../output/fixture_results.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char dir[256], out[8192];

/* OUT stands for the output. */
static const struct writer {
    const char *command;
    const char *input; /* that the output must not be; NULL: see the test of merge */
    bool is_hdf5;      /* needs a regular file */
    bool is_figure;    /* the file is named by its folder and figure */
} writers[] = {
    {"run c.yaml --quiet -o OUT", "c.yaml", true, false},
    {"merge OUT o.h5", NULL, true, false},
    {"export o.h5 --what jobs -o OUT", "o.h5", false, false},
    {"trace convert t.csv --to csv -o OUT", "t.csv", false, false},
    {"trace sample t.csv -o OUT", "t.csv", false, false},
    {"trace fit t.csv -o OUT", "t.csv", false, false},
    {"trace generate --file m.yaml --jobs 3 -o OUT", "m.yaml", false, false},
    {"plot o.h5 --figure jct_cdf --type svg -o figures", "o.h5", false, true},
};
enum { N_WRITERS = sizeof writers / sizeof writers[0] };

/* Runs a line of shell in the folder, with $BRAID; what it says goes to `out`. Returns its exit status. */
static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
    char body[1500], line[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    snprintf(line, sizeof line, "cd '%s' && { %s\n} 2>&1 </dev/null", dir, body);
    FILE *pipe = popen(line, "r");
    cr_assert(pipe != NULL);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

/* The name of the output file of `w`, when it is to be called `name`. */
static const char *place_of(const struct writer *w, const char *name)
{
    return w->is_figure ? "figures/jct_cdf.svg" : name;
}

static int write_to(const struct writer *w, const char *name)
{
    char command[400] = "", *at = command;
    for (const char *c = w->command; *c != '\0'; c++)
        if (strncmp(c, "OUT", 3) == 0) {
            at += sprintf(at, "%s", name);
            c += 2;
        } else
            *at++ = *c;
    *at = '\0';
    return shell("\"$BRAID\" %s", command);
}

static mode_t type_of(const char *name)
{
    char path[600];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return lstat(path, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

static void setup(void)
{
    char paths[2000];
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    cr_assert_eq(
        shell("{ echo id,submit,duration,gpus; for i in 1 2 3 4 5 6 7 8 9; do echo j$i,$((i * 40000)),"
              "$((i * 100)),$((i %% 2 + 1)); done; } >t.csv\n"
              "printf 'trace: t.csv\\ncluster: {nodes: [{count: 1, gpus: 4}]}\\npolicy: fifo\\n' >c.yaml\n"
              "printf '#!/bin/sh\\necho picture >\"$(dirname \"$2\")/figure\"\\n' >gnuplot; chmod +x gnuplot\n"
              "mkdir figures empty; \"$BRAID\" run c.yaml --quiet -o o.h5 && \"$BRAID\" trace fit t.csv -o m.yaml"),
        0, "%s", out);
    snprintf(paths, sizeof paths, "%s:%s", dir, getenv("PATH"));
    setenv("PATH", paths, 1);
}

/* Nothing is left beside the outputs, whatever became of them. */
static void expect_tidy(void)
{
    cr_expect_neq(shell("ls -d *.part* *.tmp *.link* figures/*.part* ./- 2>/dev/null | grep ."), 0, "left behind: %s",
                  out);
}

static void teardown(void)
{
    expect_tidy();
    shell("rm -rf figures empty");
    fixture_remove_dir(dir);
}

TestSuite(outputs, .init = setup, .fini = teardown, .timeout = 120);

Test(outputs, links_are_followed_and_what_they_lead_to_is_replaced)
{
    for (int i = 0; i < N_WRITERS; i++) {
        const char *place = place_of(&writers[i], "link"), *back = writers[i].is_figure ? "../" : "";
        shell("rm -f real empty/new; echo old >real; ln -sf %sother %s; ln -sf real other", back, place);
        cr_expect_eq(write_to(&writers[i], "link"), 0, "%s: %s", writers[i].command, out);
        cr_expect(type_of(place) == S_IFLNK && type_of("other") == S_IFLNK, "%s: the link stays", writers[i].command);
        cr_expect(shell("test -s real && ! grep -qx old real; e=$?; ln -sf empty/new other; exit $e") == 0,
                  "%s: what it leads to is new", writers[i].command);
        cr_expect_eq(write_to(&writers[i], "link"), 0, "it leads to nothing yet: %s: %s", writers[i].command, out);
        cr_expect(type_of(place) == S_IFLNK && type_of("empty/new") == S_IFREG, "%s", writers[i].command);
    }
}

Test(outputs, pipes_are_written_through)
{
    for (int i = 0; i < N_WRITERS; i++) {
        const struct writer *w = &writers[i];
        const char *place = place_of(w, "pipe");
        shell("rm -f got %s; mkfifo %s", place, place);
        if (!w->is_hdf5)
            shell("(timeout 20 cat %s >got; touch done) >/dev/null 2>&1 &", place);
        cr_expect_eq(write_to(w, "pipe"), w->is_hdf5 ? 2 : 0, "%s: %s", w->command, out);
        cr_expect(type_of(place) == S_IFIFO, "%s: the pipe stays", w->command);
        if (!w->is_hdf5)
            cr_expect_eq(
                shell(
                    "for i in 1 2 3 4 5 6 7 8 9; do test -e done && break; sleep 0.02; done; rm -f done; test -s got"),
                0, "%s: what it wrote came out", w->command);
        else
            cr_expect(strstr(out, "is a pipe, but results need a regular file") != NULL, "%s", out);
    }
}

static bool make_device(const char *name, unsigned minor_number)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
    if (mknod(path, S_IFCHR | 0666, makedev(1, minor_number)) != 0)
        return false;
    FILE *f = fopen(path, "w"); /* a folder may forbid devices */
    if (f != NULL)
        fclose(f);
    return f != NULL;
}

Test(outputs, devices_are_written_through)
{
    enum { NULL_DEVICE = 3, FULL_DEVICE = 7 };
    if (!make_device("device", NULL_DEVICE))
        cr_skip_test("only root makes devices, and not everywhere");
    for (int i = 0; i < N_WRITERS; i++) {
        const struct writer *w = &writers[i];
        const char *place = place_of(w, "device");
        cr_assert(make_device(place, NULL_DEVICE));
        cr_expect_eq(write_to(w, "device"), w->is_hdf5 ? 2 : 0, "%s: %s", w->command, out);
        cr_expect(type_of(place) == S_IFCHR, "%s: the device stays", w->command);
        if (w->is_hdf5)
            continue;
        cr_assert(make_device(place, FULL_DEVICE));
        cr_expect_eq(write_to(w, "device"), 1, "%s: a full device is a failure: %s", w->command, out);
        cr_expect(type_of(place) == S_IFCHR, "%s", w->command);
    }
}

Test(outputs, files_that_are_read_are_not_replaced)
{
    for (int i = 0; i < N_WRITERS; i++) {
        const struct writer *w = &writers[i];
        if (w->input == NULL)
            continue;
        shell("cp %s before", w->input);
        for (int by_link = w->is_figure; by_link < 2; by_link++) {
            const char *place = by_link ? place_of(w, "alias") : w->input;
            if (by_link) /* another name of the same file */
                shell("ln -f %s %s", w->input, place);
            cr_expect_eq(write_to(w, place), 2, "%s: %s", w->command, out);
            cr_expect(strstr(out, "would replace") != NULL, "%s", out);
            cr_expect_eq(shell("cmp %s before", w->input), 0, "%s: %s", w->command, out);
        }
    }
}

/* The trace and other files that a config names, and the file of costs beside the results. */
Test(outputs, run_replaces_no_file_that_its_config_names)
{
    static const char *const cases[][2] = {{"t.csv", "t.csv"}, {"e.csv", "e.csv"}, {"x.h5", "x.cost.csv"}};
    shell("{ echo id,estimate; for i in 1 2 3 4 5 6 7 8 9; do echo j$i,100; done; } >e.csv\n"
          "echo 'estimate: {source: file, path: e.csv}' >>c.yaml");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shell("ln -f t.csv x.cost.csv; cp %s before", cases[i][1]);
        cr_expect_eq(shell("\"$BRAID\" run c.yaml --quiet -o %s", cases[i][0]), 2, "%s", out);
        cr_expect(strstr(out, "would replace") != NULL, "%s", out);
        cr_expect_eq(shell("cmp %s before; test ! -e %s.parts", cases[i][1], cases[i][0]), 0, "%s", out);
    }
}

Test(outputs, merge_into_one_of_its_parts_keeps_every_run)
{
    cr_expect_eq(
        shell("sed 's/fifo/srtf/' c.yaml >d.yaml; \"$BRAID\" run d.yaml --quiet -o p.h5 && cp o.h5 q.h5 &&"
              "\"$BRAID\" merge q.h5 q.h5 p.h5 && \"$BRAID\" export q.h5 --what runs | grep -c ',fifo,\\|,srtf,'"),
        0);
    cr_expect_str_eq(out, "2\n");
}

Test(outputs, folders_stay_and_are_named)
{
    for (int i = 0; i < N_WRITERS; i++) {
        const char *place = place_of(&writers[i], "folder");
        shell("rm -rf %s; mkdir %s", place, place);
        cr_expect_eq(write_to(&writers[i], "folder"), 1, "%s: %s", writers[i].command, out);
        cr_expect(strstr(out, "is a folder") != NULL, "%s", out);
        cr_expect_eq(shell("rmdir %s", place), 0, "%s: %s", writers[i].command, out);
    }
}

Test(outputs, a_dash_is_standard_output)
{
    for (int i = 0; i < N_WRITERS; i++) {
        const struct writer *w = &writers[i];
        if (w->is_figure)
            continue;
        bool is_csv = strstr(w->command, "export") != NULL || strstr(w->command, "sample") != NULL;
        for (int k = 0; k < 2; k++) {
            const char *name = k == 0 ? "-" : "/dev/stdout";
            cr_expect_eq(write_to(w, name), w->is_hdf5 ? 2 : 0, "%s: %s", w->command, out);
            cr_expect(strstr(out, w->is_hdf5 ? "is an open stream, but results"
                                  : is_csv   ? "j9,"
                                             : "\n") != NULL,
                      "%s: %s", w->command, out);
        }
    }
    /* What is behind it stays: the stream is not opened anew, and no word of the summary is in it. */
    cr_expect_eq(shell("echo first >all; \"$BRAID\" export o.h5 --what jobs -o /dev/stdout >>all; head -n 1 all"), 0);
    cr_expect_str_eq(out, "first\n");
    cr_expect_eq(shell("\"$BRAID\" trace fit t.csv -o - 2>/dev/null | cmp - m.yaml"), 0, "%s", out);
    cr_expect_eq(shell("\"$BRAID\" plot o.h5 -o -"), 2);
    cr_expect(strstr(out, "-o names a folder") != NULL, "%s", out);
}

Test(outputs, traces_are_read_from_standard_input)
{
    cr_expect_eq(shell("cat t.csv | \"$BRAID\" trace check -"), 0, "%s", out);
    cr_expect(strstr(out, "kept                  9") != NULL, "%s", out);
    cr_expect_eq(shell("gzip -c t.csv | \"$BRAID\" trace convert - -o - --to swf | grep -c -v ';'"), 0, "%s", out);
    cr_expect(strstr(out, "9") != NULL, "%s", out);
}
