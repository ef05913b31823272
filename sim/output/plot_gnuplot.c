#include "output/plot_gnuplot.h"

#include "output/export_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void plot_quote(struct plot_script *s, const char *text)
{
    plot_text_quote(s->gp, s->fonts, text);
}

/* A path is bytes, whatever they mean: all but the plainest as octal escapes. */
static void put_path(FILE *gp, const char *path)
{
    fputc('"', gp);
    for (; *path != '\0'; path++)
        fprintf(gp, isalnum((unsigned char)*path) || strchr("/._-", *path) != NULL ? "%c" : "\\%03o",
                (unsigned char)*path);
    fputc('"', gp);
}

int plot_script_init(struct plot_script *s, struct plot_fonts *fonts, struct error *err)
{
    *s = (struct plot_script){.fonts = fonts};
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(s->dir, sizeof s->dir, "%s/braid-plot-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    if (n < 0 || (size_t)n >= sizeof s->dir - 32 || mkdtemp(s->dir) == NULL) {
        s->dir[0] = '\0';
        return error_set(err, BRAID_FAILED,
                         "cannot make a temporary folder in %s: %s; set TMPDIR to one that can be written",
                         tmp != NULL && *tmp != '\0' ? tmp : "/tmp", strerror(errno));
    }
    char path[300];
    snprintf(path, sizeof path, "%s/script.gp", s->dir);
    s->gp = fopen(path, "w");
    if (s->gp == NULL) {
        int code = error_at(err, BRAID_FAILED, path, 0, 0, "cannot be written: %s", strerror(errno));
        plot_script_fini(s);
        return code;
    }
    fputs("cd ", s->gp);
    put_path(s->gp, s->dir);
    fputs("\nset output 'figure'\n", s->gp);
    return BRAID_OK;
}

void plot_script_fini(struct plot_script *s)
{
    if (s->gp != NULL)
        fclose(s->gp);
    DIR *dir = s->dir[0] != '\0' ? opendir(s->dir) : NULL;
    if (dir != NULL) {
        for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
            unlinkat(dirfd(dir), entry->d_name, 0);
        closedir(dir);
        rmdir(s->dir);
    }
    *s = (struct plot_script){0};
}

FILE *plot_data_open(struct plot_script *s, char name[16])
{
    char path[300];
    snprintf(name, 16, "data%d", s->n_data++ % 1000000);
    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    FILE *data = fopen(path, "w");
    s->is_broken = s->is_broken || data == NULL;
    return data;
}

void plot_data_close(struct plot_script *s, FILE *data)
{
    if (data == NULL)
        return;
    bool ok = !ferror(data);
    ok = fclose(data) == 0 && ok;
    s->is_broken = s->is_broken || !ok;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* The environment of gnuplot: ours, but numbers and times as in C. NULL when memory is out; its first entry and itself are to be freed. */
static char **plain_environment(void)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **out = calloc(n + 2, sizeof *out);
    if (out == NULL)
        return NULL;
    out[0] = strdup("LC_ALL=C.UTF-8");
    if (out[0] == NULL) {
        free(out);
        return NULL;
    }
    size_t kept = 1;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_", 3) != 0 && strncmp(environ[i], "GNUTERM=", 8) != 0)
            out[kept++] = environ[i];
    return out;
}

/* Run `gnuplot -d script.gp` with its words in `log`. Returns errno of the start, or 0 with the wait status. */
static int spawn_gnuplot(const struct plot_script *s, int *status)
{
    char script[300], log[300];
    snprintf(script, sizeof script, "%s/script.gp", s->dir);
    snprintf(log, sizeof log, "%s/log", s->dir);
    char program[] = "gnuplot", defaults[] = "-d", *arguments[] = {program, defaults, script, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    char **environment = plain_environment();
    if (environment == NULL) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    pid_t pid = 0;
    int why = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (why == 0)
        why = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (why == 0)
        why = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (why == 0)
        why = posix_spawnp(&pid, program, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment[0]);
    free(environment);
    while (why == 0 && waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            why = errno;
    return why;
}

/* What gnuplot said: the line that holds its complaint, without the position marks around it. */
static void read_complaint(const struct plot_script *s, char *out, size_t size)
{
    char path[300], line[400];
    snprintf(path, sizeof path, "%s/log", s->dir);
    snprintf(out, size, "it says nothing");
    FILE *log = fopen(path, "r");
    while (log != NULL && fgets(line, sizeof line, log) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strspn(line, " \t^") != strlen(line))
            snprintf(out, size, "%.300s", line); /* the last one that is no mark */
    }
    if (log != NULL)
        fclose(log);
}

/* A PDF says when it was made; so that the same results give the same bytes, it says the same always. */
static void fix_date(char *block, size_t n)
{
    static const char key[] = "/CreationDate (D:", date[] = "20000101000000";
    for (char *at = block; (at = memchr(at, '/', n - (size_t)(at - block))) != NULL; at++) {
        size_t left = n - (size_t)(at - block);
        if (left < sizeof key + sizeof date)
            return;
        if (memcmp(at, key, sizeof key - 1) == 0 && strspn(at + sizeof key - 1, "0123456789") == sizeof date - 1)
            memcpy(at + sizeof key - 1, date, sizeof date - 1);
    }
}

static int move_figure(const struct plot_script *s, const char *path, struct error *err)
{
    char from[300];
    snprintf(from, sizeof from, "%s/figure", s->dir);
    FILE *in = fopen(from, "rb");
    struct stat st;
    if (in == NULL || fstat(fileno(in), &st) != 0)
        return error_at(err, BRAID_FAILED, path, 0, 0, "gnuplot ended without an error, but there is no picture");
    size_t n = (size_t)st.st_size;
    char *picture = malloc(n + 1);
    int code = BRAID_OK;
    if (picture == NULL)
        code = error_set(err, BRAID_FAILED, "out of memory");
    else if (fread(picture, 1, n, in) != n)
        code = error_at(err, BRAID_FAILED, from, 0, 0, "cannot be read: %s", strerror(errno));
    else if (n == 0)
        code = error_at(err, BRAID_FAILED, path, 0, 0, "gnuplot made an empty picture; the disk may be full");
    fclose(in);
    struct export_file out;
    if (code == BRAID_OK)
        code = export_file_open(&out, path, NULL, err);
    if (code == BRAID_OK) {
        if (n > 5 && memcmp(picture, "%PDF-", 5) == 0)
            fix_date(picture, n);
        fwrite(picture, 1, n, out.out);
        code = export_file_close(&out, BRAID_OK, err);
    }
    free(picture);
    return code;
}

int plot_script_run(struct plot_script *s, const char *path, struct error *err)
{
    fputs("\nunset output\n", s->gp);
    bool ok = !ferror(s->gp) && !s->is_broken;
    ok = fclose(s->gp) == 0 && ok;
    s->gp = NULL;
    if (!ok)
        return error_at(err, BRAID_FAILED, s->dir, 0, 0,
                        "cannot be written; the disk may be full: set TMPDIR to another folder");
    int status = 0, why = spawn_gnuplot(s, &status);
    if (why == ENOENT || (why == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return error_set(
            err, BRAID_FAILED,
            "figures are drawn by gnuplot, which is not installed; install it ('apt-get install gnuplot-nox' on "
            "Debian, 'brew install gnuplot' on macOS); everything but plots works without it");
    if (why != 0)
        return error_set(err, BRAID_FAILED, "gnuplot cannot be started: %s", strerror(why));
    if (WIFSIGNALED(status))
        return error_at(err, BRAID_FAILED, path, 0, 0, "gnuplot was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) {
        char words[320];
        read_complaint(s, words, sizeof words);
        return error_at(err, BRAID_FAILED, path, 0, 0, "gnuplot failed with status %d: %s", WEXITSTATUS(status), words);
    }
    return move_figure(s, path, err);
}
