/* cmd_trace.h - the subcommands of `braid trace`, a file each; argv[0] is the subcommand's name. */
#ifndef CLI_CMD_TRACE_H
#define CLI_CMD_TRACE_H

#include "cli/cli.h"

int cmd_trace_generate(int argc, char **argv);

#endif
