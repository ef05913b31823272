/* cli.h - the program `braid`: one file a subcommand, each `int cmd_NAME(int argc, char **argv)` with argv[0] = its name.
 *
 * Exit status: 0 success, 1 the work failed, 2 bad usage or bad input. Tables go to stdout, errors and progress to stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <braid/error.h>
#include <stdbool.h>

int cmd_run(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_config(int argc, char **argv);

/* Print "braid: FILE:LINE:COL: message" to stderr; returns e->code as exit status. */
int cli_fail(const struct error *e);

/* Print "braid NAME: message (see 'braid NAME --help')" to stderr; returns 2. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Flush stdout; 1 with a message when it could not be written (a full disk, a closed pipe), else 0. */
int cli_finish(void);

/* Non-zero after SIGINT or SIGTERM; cli_catch_signals installs the handlers. Where nobody looks at it for a second the program
 * ends with `last_words` (copied, cut after 1,023 bytes) on stderr and exit status 1. */
const volatile int *cli_cancel(void);
void cli_catch_signals(const char *last_words);

#endif
