/* braid trace generate: a made-up workload as a file. */
#include "base/number.h"
#include "cli/cmd_trace.h"
#include "traces/generator.h"
#include "traces/writer.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int help(void)
{
    puts("usage: braid trace generate --jobs N -o OUT.csv[.gz] [--model NAME] [--seed S] [--rate PER_DAY]\n"
         "                            [--vcs N] [--users N] [--lean]\n\n"
         "Make up a workload and write it in braid's own csv. The same options give the same bytes.\n\n"
         "  --model NAME    one of the models below (default philly)\n"
         "  --jobs N        how many jobs\n"
         "  --seed S        another sample (default 1)\n"
         "  --rate PER_DAY  mean arrivals a day (default: the model's own)\n"
         "  --vcs N         virtual clusters (default: the model's own)\n"
         "  --users N       users (default: the model's own)\n"
         "  --lean          without job names, models, iterations and stage times\n"
         "  -o FILE         where to; gzip when it ends in .gz\n\n"
         "Models:");
    for (const char *const *m = generator_models(); *m != NULL; m++)
        printf("  %-8s  %s\n", *m, generator_summary(*m));
    return cli_finish();
}

/* A whole number up to `most`; false: not one. */
static bool parse_count(const char *text, uint32_t *out)
{
    uint64_t value;
    if (!number_parse_u64(text, strlen(text), &value) || value == 0 || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

int cmd_trace_generate(int argc, char **argv)
{
    enum { MODEL = 256, JOBS, SEED, RATE, VCS, USERS, LEAN };
    static const struct option options[] = {
        {"model", required_argument, NULL, MODEL}, {"jobs", required_argument, NULL, JOBS},
        {"seed", required_argument, NULL, SEED},   {"rate", required_argument, NULL, RATE},
        {"vcs", required_argument, NULL, VCS},     {"users", required_argument, NULL, USERS},
        {"lean", no_argument, NULL, LEAN},         {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},          {0},
    };
    static const char command[] = "trace generate";
    struct generator_spec spec = {.model = "philly", .seed = 1};
    const char *path = NULL;
    int option;
    optind = 0; /* start anew: the caller has read options of its own */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        bool is_good = true;
        switch (option) {
        case MODEL:
            spec.model = optarg;
            break;
        case JOBS:
            is_good = parse_count(optarg, &spec.jobs);
            break;
        case SEED:
            is_good = number_parse_u64(optarg, strlen(optarg), &spec.seed);
            break;
        case RATE:
            is_good = number_parse_double(optarg, strlen(optarg), &spec.rate_per_day) && spec.rate_per_day > 0;
            break;
        case VCS:
            is_good = parse_count(optarg, &spec.vcs);
            break;
        case USERS:
            is_good = parse_count(optarg, &spec.users);
            break;
        case LEAN:
            spec.is_lean = true;
            break;
        case 'o':
            path = optarg;
            break;
        case 'h':
            return help();
        default:
            return cli_usage(command, "unknown option or missing value at '%s'", argv[optind - 1]);
        }
        if (!is_good)
            return cli_usage(command, "'%s' is not a positive number for --%s", optarg, options[option - MODEL].name);
    }
    if (optind < argc)
        return cli_usage(command, "unexpected argument '%s'", argv[optind]);
    if (spec.jobs == 0)
        return cli_usage(command, "how many jobs? give --jobs N");
    if (path == NULL)
        return cli_usage(command, "where to? give -o FILE.csv or FILE.csv.gz");

    struct error err = {0};
    struct workload w;
    int code = generator_make(&w, &spec, &err);
    if (code == BRAID_OK) {
        code = trace_write(&w, path, &err);
        workload_fini(&w);
    }
    if (code != BRAID_OK)
        return cli_fail(&err);
    fprintf(stderr, "braid: wrote %" PRIu32 " jobs to %s\n", spec.jobs, path);
    return 0;
}
