/* cmd_trace.h - the subcommands of `braid trace`, a file each; argv[0] is the subcommand's name. */
#ifndef CLI_CMD_TRACE_H
#define CLI_CMD_TRACE_H

#include "cli/cli.h"

#include "traces/trace.h"

int cmd_trace_info(int argc, char **argv);
int cmd_trace_check(int argc, char **argv);
int cmd_trace_convert(int argc, char **argv);
int cmd_trace_generate(int argc, char **argv);

/* What info, check and convert read: FILE and how. */
struct trace_arguments {
    struct trace_spec spec;
    const char *output; /* -o; NULL: none */
};

/* Options of info, check and convert (`takes`: the letters f format, s strict, o output, m failed). Returns 0 to go on, else 1 + the exit
 * status: after --help (printed from `help`) or wrong usage. */
int trace_arguments_read(struct trace_arguments *a, const char *takes, const char *help, int argc, char **argv);

/* "rows read = kept + dropped", then a line a reason, to stdout. */
void trace_report_print(const struct trace_report *report, bool with_examples);

#endif
