#include "cli/cli.h"

int cmd_config(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("config", "not built yet");
}
