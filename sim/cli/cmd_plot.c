#include "cli/cli.h"

int cmd_plot(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("plot", "not built yet");
}
