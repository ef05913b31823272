#include "cli/cli.h"

int cmd_merge(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("merge", "not built yet");
}
