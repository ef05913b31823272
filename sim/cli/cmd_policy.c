#include "cli/cli.h"

int cmd_policy(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("policy", "not built yet");
}
