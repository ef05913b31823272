#include "cli/cli.h"

int cmd_diff(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("diff", "not built yet");
}
