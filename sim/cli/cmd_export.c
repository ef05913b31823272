#include "cli/cli.h"

int cmd_export(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_usage("export", "not built yet");
}
