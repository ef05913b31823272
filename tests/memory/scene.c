#include "tests/memory/scene.h"
#include "tests/memory/faulty_alloc.h"
#include "tests/harness.h"

#include "cli/cli.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <getopt.h>
#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------------- */

static char root[PATH_MAX], folder[64];

void scene_open(void)
{
    cr_assert_not_null(getcwd(root, sizeof root));
    snprintf(folder, sizeof folder, "%s/braid-memory-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"); /* fsync is slow */
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

void scene_close(void)
{
    char command[128];
    cr_assert_eq(chdir(root), 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

const char *scene_root(void)
{
    return root;
}

void scene_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    cr_assert_eq(fclose(f), 0);
}

/* FNV-1a of a file's bytes; 0: it is not there. */
static uint64_t sum_of(const char *path)
{
    FILE *f = path != NULL ? fopen(path, "rb") : NULL;
    if (f == NULL)
        return 0;
    uint64_t sum = 0xcbf29ce484222325u;
    for (int c; (c = getc(f)) != EOF;)
        sum = (sum ^ (uint64_t)c) * 0x100000001b3u;
    fclose(f);
    return sum;
}

static void read_text(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f != NULL ? fread(out, 1, size - 1, f) : 0;
    out[n] = '\0';
    if (f != NULL)
        fclose(f);
}

/* A sanitizer's report belongs to the test, not to the command whose standard error is caught. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/* ---- a command ----------------------------------------------------------------------------------------- */

enum { WORDS = 32 };

struct played {
    int status;
    uint64_t printed, written;
    char message[1024]; /* what it said on standard error, the beginning */
};

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", cmd_run},     {"compare", cmd_compare}, {"diff", cmd_diff},
    {"plot", cmd_plot},   {"export", cmd_export},   {"merge", cmd_merge},
    {"trace", cmd_trace}, {"policy", cmd_policy},   {"config", cmd_config},
};

static int redirect(int fd, const char *path)
{
    int kept = dup(fd), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert(kept >= 0 && to >= 0);
    dup2(to, fd);
    close(to);
    return kept;
}

static void play(struct played *p, const char *words, const char *out)
{
    char text[1024], *argv[WORDS + 1];
    int argc = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *save = NULL, *word = strtok_r(text, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        cr_assert_lt(argc, (int)WORDS);
        argv[argc++] = word;
        for (char *c = word; *c != '\0'; c++)
            *c = *c == '~' ? ' ' : *c;
    }
    argv[argc] = NULL;
    size_t i = 0;
    while (i < sizeof commands / sizeof *commands && strcmp(commands[i].name, argv[0]) != 0)
        i++;
    cr_assert_lt(i, sizeof commands / sizeof *commands, "%s", argv[0]);
    if (out != NULL)
        unlink(out);
    fflush(stdout);
    fflush(stderr);
    int shown = redirect(STDOUT_FILENO, "stdout"), said = redirect(STDERR_FILENO, "stderr");
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(intptr_t)said);
    optind = 0; /* glibc: begin anew */
    p->status = commands[i].run(argc, argv);
    fflush(stdout);
    fflush(stderr);
    dup2(shown, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(intptr_t)STDERR_FILENO);
    close(shown);
    close(said);
    p->printed = sum_of("stdout");
    p->written = sum_of(out);
    read_text("stderr", p->message, sizeof p->message);
}

/* ---- every place ----------------------------------------------------------------------------------------- */

enum { SITES = 1 << 16, TRIES = CASES(2), CALLS = 1 << 18 };

static struct {
    uint64_t site;
    int tries;
} tried[SITES];
static uint64_t sites[CALLS];

static bool is_to_be_tried(uint64_t site)
{
    uint64_t i = site % SITES;
    while (tried[i].tries > 0 && tried[i].site != site)
        i = (i + 1) % SITES;
    tried[i].site = site;
    return tried[i].tries++ < TRIES;
}

static void expect(const struct played *is, const struct played *in_peace, const char *words, const char *out,
                   uint64_t call, bool for_good)
{
    const char *after = for_good ? " and all after it" : "";
    unsigned long long k = call;
    if (is->status == BRAID_OK) {
        cr_expect_eq(is->printed, in_peace->printed, "%s: allocation %llu%s: prints something else", words, k, after);
        cr_expect_eq(is->written, in_peace->written, "%s: allocation %llu%s: writes something else", words, k, after);
        return;
    }
    cr_expect(is->status == BRAID_FAILED && strstr(is->message, "memory") != NULL,
              "%s: allocation %llu%s: status %d, %s", words, k, after, is->status, is->message);
    if (is->written != 0) /* a results file keeps the runs that failed */
        cr_expect(H5Fis_hdf5(out) > 0, "%s: allocation %llu%s: leaves a broken file", words, k, after);
}

bool scene_works(const char *words)
{
    static struct played once;
    play(&once, words, NULL);
    return once.status == BRAID_OK;
}

void scene_play(const char *words, const char *out)
{
    static struct played in_peace, is;
    play(&in_peace, words, out); /* libraries keep what they allocate at first */
    int64_t live = alloc_live();
    alloc_record(sites, CALLS);
    play(&in_peace, words, out);
    uint64_t n = alloc_stop();
    cr_assert_eq(in_peace.status, BRAID_OK, "%s: %s", words, in_peace.message);
    cr_assert_leq(n, (uint64_t)CALLS, "%s", words);
    cr_assert_eq(alloc_live(), live, "%s: %lld pieces are left", words, (long long)(alloc_live() - live));
    const char *name = getenv("MEMORY_TRACE");
    int trace = name != NULL ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    alloc_trace(trace);
    for (uint64_t k = 0; k < n; k++) {
        if (!is_to_be_tried(sites[k]))
            continue;
        for (int for_good = 0; for_good < 2; for_good++) {
            if (trace >= 0)
                dprintf(trace, "%s: allocation %llu%s\n", words, (unsigned long long)k,
                        for_good ? " and all after it" : "");
            alloc_fail(k, for_good);
            play(&is, words, out);
            alloc_stop();
            expect(&is, &in_peace, words, out, k, for_good);
            cr_expect_eq(alloc_live(), live, "%s: allocation %llu%s: %lld pieces are left", words,
                         (unsigned long long)k, for_good ? " and all after it" : "", (long long)(alloc_live() - live));
            live = alloc_live();
        }
    }
    if (trace >= 0)
        close(trace);
    alloc_trace(0);
    play(&is, words, out); /* what comes next may want the file */
}
