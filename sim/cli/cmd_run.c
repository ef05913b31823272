#include "base/number.h"
#include "cli/cli.h"
#include "cli/crash.h"
#include "cli/progress.h"
#include "cli/run_table.h"
#include "experiment/execute.h"
#include "experiment/run_title.h"
#include "experiment/survey.h"
#include "output/results_schema.h"

#include <errno.h>
#include <getopt.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int help(void)
{
    fputs(
        "usage: braid run CONFIG.yaml [-o OUT.h5] [OPTION]...\n"
        "       braid run --schema\n"
        "\n"
        "Simulates every run of the config and stores all in one results file (docs/schema.md), which is whole or not "
        "there.\n"
        "\n"
        "  -o, --output OUT.h5   the results file; default results/NAME.h5, NAME as in the config\n"
        "      --set KEY=VALUE   set a key of the config, as trace.load=0.9; may be given often\n"
        "  -j, --jobs N          runs at a time; default: the number of processors\n"
        "      --resume          take finished runs from OUT.h5 and from OUT.h5.parts, compute the others\n"
        "      --shard I/N       only every Nth run, from the Ith (from 1) on; 'braid merge' puts the shards together\n"
        "      --dry-run         list the runs with their ids, compute nothing\n"
        "      --check           check the simulator's books while it runs (slow)\n"
        "      --fail-fast       stop at the first run that fails; else the others are stored\n"
        "      --quiet           print errors only\n"
        "      --progress[=json] say how far it is on stderr, also where that is no terminal; json: an object a line\n"
        "      --schema          print docs/schema.md, the description of a results file\n"
        "  -h, --help            this text\n"
        "\n"
        "Exit status: 0 all runs are stored, 1 something failed or was interrupted, 2 bad usage or bad input.\n",
        stdout);
    return cli_finish();
}

struct arguments {
    const char *config, *output;
    struct config_override *sets; /* room for argc */
    size_t n_sets;
    struct execute_options execute;
    enum progress_mode progress;
    bool is_dry, wants_help, wants_schema;
};

static bool shard_parse(struct execute_options *o, const char *text)
{
    const char *slash = strchr(text, '/');
    int64_t shard, of;
    if (slash == NULL || !number_parse_i64(text, (size_t)(slash - text), &shard) ||
        !number_parse_i64(slash + 1, strlen(slash + 1), &of) || shard < 1 || shard > of || of > UINT32_MAX)
        return false;
    o->shard = (uint32_t)shard;
    o->n_shards = (uint32_t)of;
    return true;
}

enum { OPT_SET = 256, OPT_RESUME, OPT_SHARD, OPT_DRY, OPT_CHECK, OPT_FAIL_FAST, OPT_QUIET, OPT_PROGRESS, OPT_SCHEMA };

static int option_take(struct arguments *a, int option, const char *given)
{
    int64_t n;
    switch (option) {
    case 'o':
        a->output = optarg;
        return 0;
    case 'j':
        if (!number_parse_i64(optarg, strlen(optarg), &n) || n < 1 || n > 4096)
            return cli_usage("run", "-j wants a number of runs at a time, 1 to 4096, not '%s'", optarg);
        a->execute.threads = (int)n;
        return 0;
    case OPT_SET:
        a->sets[a->n_sets++].text = optarg;
        return 0;
    case OPT_RESUME:
        a->execute.resume = true;
        return 0;
    case OPT_SHARD:
        return shard_parse(&a->execute, optarg)
                   ? 0
                   : cli_usage("run", "--shard wants I/N with I from 1 to N, not '%s'", optarg);
    case OPT_DRY:
        a->is_dry = true;
        return 0;
    case OPT_CHECK:
        a->execute.check = true;
        return 0;
    case OPT_FAIL_FAST:
        a->execute.fail_fast = true;
        return 0;
    case OPT_QUIET:
        a->progress = PROGRESS_QUIET;
        return 0;
    case OPT_PROGRESS:
        if (optarg != NULL && strcmp(optarg, "json") != 0 && strcmp(optarg, "bar") != 0)
            return cli_usage("run", "--progress is 'json' or nothing, not '%s'", optarg);
        a->progress = optarg != NULL && strcmp(optarg, "json") == 0 ? PROGRESS_JSON : PROGRESS_BAR;
        return 0;
    case OPT_SCHEMA:
        a->wants_schema = true;
        return 0;
    case 'h':
        a->wants_help = true;
        return 0;
    case ':':
        return cli_usage("run", "'%s' wants a value", given);
    default:
        return cli_usage("run", "unknown option '%s'", given);
    }
}

static int parse(struct arguments *a, int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"jobs", required_argument, NULL, 'j'},
        {"set", required_argument, NULL, OPT_SET},
        {"resume", no_argument, NULL, OPT_RESUME},
        {"shard", required_argument, NULL, OPT_SHARD},
        {"dry-run", no_argument, NULL, OPT_DRY},
        {"check", no_argument, NULL, OPT_CHECK},
        {"fail-fast", no_argument, NULL, OPT_FAIL_FAST},
        {"quiet", no_argument, NULL, OPT_QUIET},
        {"progress", optional_argument, NULL, OPT_PROGRESS},
        {"schema", no_argument, NULL, OPT_SCHEMA},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    a->execute.threads = omp_get_num_procs();
    optind = 0; /* main has not used getopt; 0 starts glibc's afresh */
    opterr = 0;
    for (;;) {
        int option = getopt_long(argc, argv, ":o:j:h", options, NULL);
        if (option == -1)
            break;
        int status = option_take(a, option, argv[optind - 1]);
        if (status != 0)
            return status;
    }
    if (a->wants_help || a->wants_schema)
        return 0;
    if (argc - optind != 1)
        return cli_usage("run", argc == optind ? "wants a config" : "wants one config, not %d", argc - optind);
    a->config = argv[optind];
    return 0;
}

/* results/NAME.h5 under the current folder, which is made. */
static char *output_default(const char *name, struct error *err)
{
    char *path;
    if (mkdir("results", 0777) != 0 && errno != EEXIST) {
        error_at(err, BRAID_FAILED, "results", 0, 0, "cannot make this folder: %s; choose another place with -o",
                 strerror(errno));
        return NULL;
    }
    if (asprintf(&path, "results/%s.h5", name) >= 0)
        return path;
    error_set(err, BRAID_FAILED, "out of memory");
    return NULL;
}

static void list_run(void *self, const struct run_config *run, const char *id)
{
    char title[512];
    printf("%s  %s\n", id, run_title(self, run, title, sizeof title));
}

/* What the progress tells, and the ids of the runs, for the table. */
struct watch {
    struct progress progress;
    const struct experiment *x;
    char (*ids)[RUN_ID_HEX + 1]; /* by index of the run */
};

static void watch_run(void *self, const struct execute_progress *e)
{
    struct watch *w = self;
    if (e->run != NULL)
        memcpy(w->ids[e->run->index], e->id, sizeof *w->ids);
    progress_show(&w->progress, e);
}

static int execute(struct arguments *a, const struct experiment *x, const char *output)
{
    struct error err = {0}, table_err = {0};
    struct execute_report report;
    struct remarks remarks = {0};
    struct watch watch = {.x = x, .ids = calloc((size_t)x->n_runs + 1, sizeof *watch.ids)};
    struct run_seat *seats = calloc((size_t)a->execute.threads + 1, sizeof *seats);
    char *interrupted = NULL, *crashed = NULL;
    if (asprintf(&interrupted,
                 "braid: %s: interrupted; the runs that had ended are stored in %s.parts; run again with --resume to "
                 "go on\n",
                 output, output) < 0)
        interrupted = NULL;
    if (asprintf(&crashed,
                 "braid: the runs that had ended are kept in %s.parts: take that run out of the config and run again "
                 "with --resume for the "
                 "others\n",
                 output) < 0)
        crashed = NULL;
    if (watch.ids == NULL || seats == NULL || interrupted == NULL || crashed == NULL) {
        free(watch.ids);
        free(seats);
        free(interrupted);
        free(crashed);
        error_set(&err, BRAID_FAILED, "out of memory");
        return cli_fail(&err);
    }
    cli_catch_signals(interrupted);
    crash_watch(seats, a->execute.threads, crashed);
    a->execute.seats = seats;
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error to be told */
    progress_init(&watch.progress, a->progress);
    a->execute.output = output;
    a->execute.progress = watch_run;
    a->execute.progress_self = &watch;
    a->execute.cancel = cli_cancel();
    a->execute.remarks = &remarks;
    survey_sweep(&remarks, x);
    int status = experiment_execute(x, &a->execute, &report, &err);
    if (report.is_written && a->progress != PROGRESS_QUIET) {
        if (run_table_print(output, x, (const char(*)[RUN_ID_HEX + 1]) watch.ids, &table_err) != 0)
            status = status != 0 ? status : cli_fail(&table_err);
        else
            printf("\n%s%s%s%s%s: %u run%s\n", report.trace[0] != '\0' ? "trace: " : "", report.trace,
                   report.has_more_traces ? " (and others)" : "", report.trace[0] != '\0' ? "\n" : "", output,
                   report.planned, report.planned == 1 ? "" : "s");
    }
    fflush(stdout); /* the remarks come behind the table where both go to one place */
    if (a->progress == PROGRESS_JSON)
        remarks_each(&remarks, x, progress_remark_json, NULL);
    else if (a->progress != PROGRESS_QUIET)
        remarks_write(&remarks, x, stderr);
    remarks_fini(&remarks);
    if (err.code != 0)
        status = cli_fail(&err);
    free(watch.ids);
    crash_watch(NULL, 0, NULL);
    free(seats);
    free(interrupted);
    free(crashed);
    int written = cli_finish();
    return status != 0 ? status : written;
}

int cmd_run(int argc, char **argv)
{
    struct arguments a = {.sets = calloc((size_t)argc + 1, sizeof *a.sets)};
    struct experiment x;
    struct error err = {0};
    char *output = NULL;
    int status = a.sets == NULL ? error_set(&err, BRAID_FAILED, "out of memory") : parse(&a, argc, argv);
    if (err.code != 0)
        cli_fail(&err);
    if (status != 0 || a.wants_help || a.wants_schema) {
        free(a.sets);
        if (status != 0)
            return status;
        if (a.wants_help)
            return help();
        results_schema_write_docs(stdout);
        return cli_finish();
    }
    status = experiment_load(&x, a.config, a.sets, a.n_sets, &err);
    free(a.sets);
    if (status != 0)
        return cli_fail(&err);
    if (a.is_dry) {
        status = experiment_list(&x, a.execute.shard, a.execute.n_shards, list_run, &x, &err);
        status = status != 0 ? cli_fail(&err) : cli_finish();
    } else {
        if (a.output == NULL)
            output = output_default(x.name, &err);
        if (a.output == NULL && output == NULL)
            status = cli_fail(&err);
        else
            status = execute(&a, &x, output != NULL ? output : a.output);
    }
    free(output);
    experiment_fini(&x);
    return status;
}
