#include "base/names.h"
#include "base/number.h"
#include "cli/cli.h"
#include "experiment/survey.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int help(void)
{
    fputs("usage: braid config check CONFIG [--set KEY=VALUE]...\n"
          "       braid config show CONFIG [--run I] [--set KEY=VALUE]...\n"
          "       braid config docs\n"
          "\n"
          "  check  says whether the config is right, how many runs it makes and what it sweeps; on standard error, "
          "what it leaves\n"
          "         out of the trace (read for this unless it is very long): jobs that will be rejected and why, "
          "virtual clusters and\n"
          "         nodes that nobody uses, loads above 1, jobs of the trace that were lost in reading; a run that "
          "would be "
          "refused\n"
          "         before its first event is an error\n"
          "  show   prints a run's config with all defaults filled in (I from 0; default 0)\n"
          "  docs   prints the reference of all keys (docs/config.md)\n",
          stdout);
    return cli_finish();
}

struct arguments {
    const char *config;
    struct config_override *sets;
    size_t n_sets;
    int64_t run;
};

/* Options and the one operand behind the verb; non-zero: the exit status. */
static int parse(struct arguments *a, int argc, char **argv)
{
    static const struct option options[] = {{"set", required_argument, NULL, 's'},
                                            {"run", required_argument, NULL, 'r'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const bool takes_run = strcmp(argv[0], "show") == 0;
    int c;
    optind = 0; /* main has not used getopt; 0 starts glibc's afresh */
    opterr = 0;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c == 's') {
            a->sets[a->n_sets++].text = optarg;
        } else if (c == 'r' && takes_run) {
            if (!number_parse_i64(optarg, strlen(optarg), &a->run) || a->run < 0)
                return cli_usage("config", "--run wants the number of a run, from 0, not '%s'", optarg);
        } else {
            return cli_usage("config", "%s: '%s' cannot be understood here", argv[0], argv[optind - 1]);
        }
    }
    if (argc - optind != 1)
        return cli_usage("config", "%s wants one config file", argv[0]);
    a->config = argv[optind];
    return 0;
}

/* A run that would be refused before its first event makes the config wrong. Remarks on what it leaves out go to stderr; they do not. */
static int check(const struct experiment *x)
{
    struct remarks remarks = {0};
    struct error refused = {0};
    for (uint32_t i = 0; i < x->n_runs; i++) {
        struct error err = {0};
        if (trace_find(&x->runs[i].trace, &err) != BRAID_OK)
            return cli_fail(&err);
    }
    survey_sweep(&remarks, x);
    if (survey_traces(&remarks, x, &refused) != BRAID_OK) {
        remarks_fini(&remarks);
        return cli_fail(&refused);
    }
    printf("%s: ok, %u run%s", x->path, x->n_runs, x->n_runs == 1 ? "" : "s");
    for (uint32_t i = 0; i < x->n_axes; i++)
        printf("%s%s (%s)", i == 0 ? "; swept: " : ", ", x->axes[i].key, x->axes[i].value);
    putchar('\n');
    fflush(stdout);
    remarks_write(&remarks, x, stderr);
    bool is_short = remarks.is_short;
    remarks_fini(&remarks);
    return is_short ? cli_fail(&(struct error){.code = BRAID_FAILED, .message = "out of memory"}) : 0;
}

static int show(const struct experiment *x, int64_t index)
{
    if (index >= x->n_runs)
        return cli_usage("config", "--run %lld: the config makes %u run%s, counted from 0", (long long)index, x->n_runs,
                         x->n_runs == 1 ? "" : "s");
    const struct run_config *run = &x->runs[index];
    printf("# run %u of %u", run->index, x->n_runs);
    for (uint32_t i = 0; i < run->n_swept; i++)
        printf("%s%s=%s", i == 0 ? ": " : ", ", run->swept[i].key, run->swept[i].value);
    printf("\n%s", run->yaml);
    return 0;
}

int cmd_config(int argc, char **argv)
{
    static const char *const verbs[] = {"check", "show", "docs"};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return help();
    if (argc < 2)
        return cli_usage("config", "wants check, show or docs");
    const char *verb = argv[1];
    if (strcmp(verb, "docs") == 0) {
        if (argc > 2)
            return cli_usage("config", "docs takes no arguments");
        config_write_docs(stdout);
        return cli_finish();
    }
    if (strcmp(verb, "check") != 0 && strcmp(verb, "show") != 0) {
        const char *near = text_nearest(verb, verbs, sizeof verbs / sizeof verbs[0]);
        return cli_usage("config", "unknown '%s'%s%s%s", verb, near != NULL ? "; did you mean '" : "",
                         near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    struct arguments a = {.sets = calloc((size_t)argc, sizeof *a.sets)};
    if (a.sets == NULL)
        return cli_fail(&(struct error){.code = BRAID_FAILED, .message = "out of memory"});
    int status = parse(&a, argc - 1, argv + 1);
    struct experiment x;
    struct error err;
    if (status == 0 && experiment_load(&x, a.config, a.sets, a.n_sets, &err) != BRAID_OK) {
        status = cli_fail(&err);
    } else if (status == 0) {
        if (strcmp(verb, "check") == 0)
            status = check(&x);
        else
            status = show(&x, a.run);
        experiment_fini(&x);
        status = status == 0 ? cli_finish() : status;
    }
    free(a.sets);
    return status;
}
