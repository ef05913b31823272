#include "cli/cli.h"

int cmd_compare(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("compare", "not built yet");
}
