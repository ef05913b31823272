#include "cli/cli.h"
#include "output/results.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static int help(void)
{
    fputs("usage: braid merge OUT.h5 PART.h5...\n"
          "\n"
          "Puts the runs of several results files (shards of one sweep, or parts that an interrupted one left in "
          "OUT.h5.parts)\n"
          "into one, in order of their ids, each once. OUT.h5 may be one of the PARTs. Two different runs of one id "
          "are an error.\n",
          stdout);
    return cli_finish();
}

int cmd_merge(int argc, char **argv)
{
    struct error err = {0};
    bool is_option = true;
    int n = 1; /* operands move to argv[1..n) */
    for (int i = 1; i < argc; i++) {
        if (is_option && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
            return help();
        if (is_option && strcmp(argv[i], "--") == 0)
            is_option = false;
        else if (is_option && argv[i][0] == '-' && argv[i][1] != '\0')
            return cli_usage("merge", "unknown option '%s'", argv[i]);
        else
            argv[n++] = argv[i];
    }
    if (n < 3)
        return cli_usage("merge", "wants a file to write and files to read");
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error to be told */
    int status = results_assemble(argv[1], (const char *const *)&argv[2], (size_t)n - 2, &err);
    return status != 0 ? cli_fail(&err) : 0;
}
