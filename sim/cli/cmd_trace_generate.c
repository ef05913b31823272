/* braid trace generate: a made-up workload as a file. */
#include "base/number.h"
#include "base/outfile.h"
#include "cli/cmd_trace.h"
#include "traces/generator.h"
#include "traces/writer.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int help(void)
{
    puts("usage: braid trace generate --jobs N -o OUT.csv[.gz] [--model NAME | --file MODEL.yaml] [--seed S]\n"
         "                            [--rate PER_DAY] [--vcs N] [--users N] [--burst JOBS] [--repeat SHARE]\n"
         "                            [--deadlines SHARE] [--estimates] [--gpu-types] [--lean]\n\n"
         "Make up a workload and write it in braid's own csv. The same options give the same bytes.\n\n"
         "  --model NAME       one of the models below (default philly)\n"
         "  --file MODEL.yaml  a model measured by 'braid trace fit'\n"
         "  --jobs N           how many jobs\n"
         "  --seed S           another sample (default 1)\n"
         "  --rate PER_DAY     mean arrivals a day (default: the model's own, as of all the following)\n"
         "  --vcs N            virtual clusters\n"
         "  --users N          users\n"
         "  --burst JOBS       mean number of jobs that come together, from 1\n"
         "  --repeat SHARE     of submissions that are an earlier job again, 0 to 1\n"
         "  --deadlines SHARE  of jobs that have a deadline (default 0)\n"
         "  --estimates        round times that users ask for\n"
         "  --gpu-types        jobs may ask for a type of GPU (pai)\n"
         "  --lean             without job names, models, GPU memory, iterations and stage times\n"
         "  -o FILE            where to; gzip when it ends in .gz\n\n"
         "Models:");
    for (const char *const *m = generator_models(); *m != NULL; m++)
        printf("  %-8s  %s\n", *m, generator_summary(*m));
    return cli_finish();
}

/* A whole number from 1; false: not one. */
static bool parse_count(const char *text, uint32_t *out)
{
    uint64_t value;
    if (!number_parse_u64(text, strlen(text), &value) || value == 0 || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool parse_number(const char *text, double least, double most, double *out)
{
    return number_parse_double(text, strlen(text), out) && *out >= least && *out <= most;
}

struct arguments {
    struct generator_spec spec;
    const char *path;
    bool has_model;
};

enum { MODEL = 256, FITTED, JOBS, SEED, RATE, VCS, USERS, BURST, REPEAT, DEADLINES, ESTIMATES, GPU_TYPES, LEAN };

/* NULL, or what the value of the option must be. */
static const char *take(struct arguments *a, int option, const char *value)
{
    static const char count[] = "a number from 1", share[] = "a number from 0 to 1";
    struct generator_spec *spec = &a->spec;
    switch (option) {
    case MODEL:
        spec->model = value;
        a->has_model = true;
        return NULL;
    case FITTED:
        spec->file = spec->file_shown = value;
        return NULL;
    case JOBS:
        return parse_count(value, &spec->jobs) ? NULL : count;
    case SEED:
        return number_parse_u64(value, strlen(value), &spec->seed) ? NULL : "a whole number";
    case RATE:
        return parse_number(value, 1e-300, 1e12, &spec->rate_per_day) ? NULL : "a positive number";
    case VCS:
        return parse_count(value, &spec->vcs) ? NULL : count;
    case USERS:
        return parse_count(value, &spec->users) ? NULL : count;
    case BURST:
        return parse_number(value, 1, 64, &spec->burst) ? NULL : "a number from 1 to 64";
    case REPEAT:
        return parse_number(value, 0, 1, &spec->repeat) ? NULL : share;
    case DEADLINES:
        return parse_number(value, 0, 1, &spec->deadlines) ? NULL : share;
    case ESTIMATES:
        spec->has_estimates = true;
        return NULL;
    case GPU_TYPES:
        spec->has_gpu_types = true;
        return NULL;
    case LEAN:
        spec->is_lean = true;
        return NULL;
    default:
        a->path = value;
        return NULL;
    }
}

int cmd_trace_generate(int argc, char **argv)
{
    static const struct option options[] = {
        {"model", required_argument, NULL, MODEL},
        {"file", required_argument, NULL, FITTED},
        {"jobs", required_argument, NULL, JOBS},
        {"seed", required_argument, NULL, SEED},
        {"rate", required_argument, NULL, RATE},
        {"vcs", required_argument, NULL, VCS},
        {"users", required_argument, NULL, USERS},
        {"burst", required_argument, NULL, BURST},
        {"repeat", required_argument, NULL, REPEAT},
        {"deadlines", required_argument, NULL, DEADLINES},
        {"estimates", no_argument, NULL, ESTIMATES},
        {"gpu-types", no_argument, NULL, GPU_TYPES},
        {"lean", no_argument, NULL, LEAN},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    static const char command[] = "trace generate";
    struct arguments a = {.spec = {.model = "philly", .seed = 1, .repeat = -1}};
    int option;
    optind = 0; /* start anew: the caller has read options of its own */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        if (option == 'h')
            return help();
        if (option == '?')
            return cli_usage(command, "unknown option or missing value at '%s'", argv[optind - 1]);
        const char *wanted = take(&a, option, optarg);
        if (wanted != NULL)
            return cli_usage(command, "'%s' is not %s for --%s", optarg, wanted, options[option - MODEL].name);
    }
    if (optind < argc)
        return cli_usage(command, "unexpected argument '%s'", argv[optind]);
    if (a.spec.file != NULL && a.has_model)
        return cli_usage(command, "--model or --file, not both");
    if (a.spec.jobs == 0)
        return cli_usage(command, "how many jobs? give --jobs N");
    if (a.path == NULL)
        return cli_usage(command, "where to? give -o FILE.csv or FILE.csv.gz");

    struct error err = {0};
    struct workload w;
    if (outfile_refuse_input(a.path, a.spec.file, &err) != BRAID_OK)
        return cli_fail(&err);
    int code = generator_make(&w, &a.spec, &err);
    if (code == BRAID_OK) {
        code = trace_write(&w, a.path, &err);
        workload_fini(&w);
    }
    if (code != BRAID_OK)
        return cli_fail(&err);
    fprintf(stderr, "braid: wrote %" PRIu32 " jobs to %s\n", a.spec.jobs, a.path);
    return 0;
}
