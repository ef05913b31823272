#include "base/names.h"
#include "cli/cli.h"
#include "cli/crash.h"

#include <braid/braid.h>
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", "run a config's experiment and store its results", cmd_run},
    {"compare", "a table of policies side by side", cmd_compare},
    {"diff", "which jobs differ between two runs, and where the schedules part", cmd_diff},
    {"plot", "figures of a results file (needs gnuplot)", cmd_plot},
    {"export", "jobs, series, segments, events or other formats as text", cmd_export},
    {"merge", "one results file from several", cmd_merge},
    {"trace", "look at, check, convert or generate traces", cmd_trace},
    {"policy", "list and explain policies", cmd_policy},
    {"config", "check a config without running it", cmd_config},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

/* What the signal handlers need: the one piece of state that a process has only one of. */
static struct {
    volatile int cancelled;
    char last_words[1024];
} signalled; // NOLINT

/* Whoever looks at `cancelled` ends in good order. What does not look, as a long search inside one decision or the generation of a long
 * trace, is ended a second later: all that is on the disk is whole at any time. */
static void on_signal(int number)
{
    signalled.cancelled = number;
    alarm(1);
}

static void on_alarm(int number)
{
    (void)number;
    ssize_t done = write(STDERR_FILENO, signalled.last_words, strlen(signalled.last_words));
    (void)done;
    _exit(BRAID_FAILED);
}

const volatile int *cli_cancel(void)
{
    return &signalled.cancelled;
}

void cli_catch_signals(const char *last_words)
{
    snprintf(signalled.last_words, sizeof signalled.last_words, "%s", last_words);
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND; /* a second signal ends at once */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
}

int cli_fail(const struct error *e)
{
    char text[1200];
    fprintf(stderr, "braid: %s\n", error_text(e, text, sizeof text));
    return e->code != 0 ? e->code : BRAID_FAILED;
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "braid %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (see 'braid %s --help')\n", command);
    return BRAID_BAD_INPUT;
}

int cli_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno != EPIPE)
        fprintf(stderr, "braid: cannot write to standard output: %s\n", strerror(errno));
    return BRAID_FAILED;
}

static int help(FILE *out)
{
    fputs("braid - a discrete-event simulator of schedulers for deep-learning GPU clusters\n\n"
          "usage: braid COMMAND ...\n\n",
          out);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].help);
    fputs("\n'braid COMMAND --help' tells more. 'braid --version' prints the version.\n", out);
    return 0;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    signal(SIGPIPE, SIG_IGN);
    crash_explain();
    if (argc < 2) {
        help(stderr);
        return BRAID_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return help(stdout) + cli_finish();
    if (strcmp(argv[1], "--version") == 0) {
        printf("braid %s\n", braid_version());
        return cli_finish();
    }
    const char *names[N_COMMANDS];
    for (int i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    const char *near = text_nearest(argv[1], names, N_COMMANDS);
    fprintf(stderr, "braid: unknown command '%s'%s%s%s (see 'braid --help')\n", argv[1], near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    return BRAID_BAD_INPUT;
}
