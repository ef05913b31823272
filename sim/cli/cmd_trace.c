/* braid trace: the table of its subcommands, what they share, and the short ones, check and convert. */
#include "cli/cmd_trace.h"

#include "base/names.h"
#include "traces/reader.h"
#include "traces/writer.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"info", "what is in a trace: sizes, durations, users, arrivals", cmd_trace_info},
    {"check", "count every row: kept, or dropped and why", cmd_trace_check},
    {"convert", "write any readable trace in braid's own csv", cmd_trace_convert},
    {"generate", "make up a trace from a model", cmd_trace_generate},
};
enum { N_SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static void print_formats(FILE *out)
{
    fputs("Formats (told apart by content, plain or gzip):\n", out);
    for (const struct trace_reader *const *r = reader_list(); *r != NULL; r++)
        fprintf(out, "  %-12s  %s\n", (*r)->name, (*r)->summary);
}

int trace_arguments_read(struct trace_arguments *a, const char *takes, const char *help, int argc, char **argv)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'},
        {"strict", no_argument, NULL, 's'},
        {"output", required_argument, NULL, 'o'},
        {"failed", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {"applications", required_argument, NULL, 'a'},
        {0},
    };
    static const char *const failed[] = {"run", "drop", "merge_attempts"};
    char command[32];
    snprintf(command, sizeof command, "trace %s", argv[0]);
    *a = (struct trace_arguments){.spec = {.format = "auto", .jobs = TRACE_NO_LIMIT}};
    optind = 0; /* start anew */
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            print_formats(stdout);
            return 1 + cli_finish();
        }
        if (option == '?' || strchr(takes, option) == NULL)
            return 1 + cli_usage(command, "unknown option or missing value at '%s'", argv[optind - 1]);
        if (option == 'f')
            a->spec.format = optarg;
        if (option == 'a')
            a->spec.applications_path = a->spec.applications_shown = optarg;
        if (option == 's')
            a->spec.strict = true;
        if (option == 'o')
            a->output = optarg;
        if (option == 'm') {
            int i = 0;
            while (i < 3 && strcmp(failed[i], optarg) != 0)
                i++;
            if (i == 3)
                return 1 + cli_usage(command, "--failed is run, drop or merge_attempts, not '%s'", optarg);
            a->spec.failed = (enum trace_failed)i;
        }
    }
    if (optind == argc)
        return 1 + cli_usage(command, "which file?");
    if (optind + 1 < argc)
        return 1 + cli_usage(command, "one file at a time; unexpected '%s'", argv[optind + 1]);
    a->spec.path = a->spec.shown_path = argv[optind];
    return 0;
}

void trace_report_print(const struct trace_report *report, bool with_examples)
{
    printf("rows read  %12" PRIu64 "\n", report->rows_read);
    printf("kept       %12" PRIu64 "\n", report->rows_kept);
    printf("dropped    %12" PRIu64 "\n", report->rows_read - report->rows_kept);
    for (int dropped = 1; dropped >= 0; dropped--) {
        bool is_first = true;
        for (uint32_t i = 0; i < report->n_counts; i++) {
            const struct trace_count *c = &report->counts[i];
            if (c->is_dropped != (dropped == 1))
                continue;
            if (is_first)
                puts(dropped == 1 ? "\ndropped, by reason" : "\nremarks (nothing is lost)");
            is_first = false;
            printf("  %-22s %10" PRIu64 "  %s\n", c->reason, c->rows, c->advice);
            if (with_examples && c->example_line > 0)
                printf("  %-22s %10s  first: line %" PRIu64 "%s%s\n", "", "", c->example_line,
                       c->example[0] != '\0' ? ": " : "", c->example);
            else if (with_examples && c->example[0] != '\0')
                printf("  %-22s %10s  first: %s\n", "", "", c->example);
        }
    }
}

int cmd_trace_check(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace check FILE [--format NAME] [--failed run|drop|merge_attempts] [--applications FILE]\n"
        "                              [--strict]\n\n"
        "Read a trace and count every row: kept as a job, or dropped under a named reason, each with its first\n"
        "example and what can be done. Ends with status 0; with 2 when nothing can be read or, with --strict,\n"
        "when a row was dropped. --applications is the table of run times for a trace that has none.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "fsma", help, argc, argv);
    if (stop > 0)
        return stop - 1;
    struct workload w;
    struct error err = {0};
    bool is_strict = a.spec.strict;
    a.spec.strict = false; /* every reason is worth seeing, not the first row alone */
    int code = trace_load(&w, &a.spec, &err);
    uint64_t dropped = w.report.rows_read - w.report.rows_kept;
    if (w.report.rows_read > 0) {
        char hex[DIGEST_HEX + 1];
        printf("trace      %s\nformat     %s\n", a.spec.path, w.report.format);
        if (code == BRAID_OK) {
            digest_hex(w.digest, DIGEST_BYTES, hex);
            printf("digest     %.16s\n", hex);
        }
        trace_report_print(&w.report, true);
    }
    workload_fini(&w);
    int finished = cli_finish();
    if (code == BRAID_OK && is_strict && dropped > 0)
        code = error_at(&err, BRAID_BAD_INPUT, a.spec.path, 0, 0, "%" PRIu64 " rows are no jobs", dropped);
    return code != BRAID_OK ? cli_fail(&err) : finished;
}

int cmd_trace_convert(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace convert FILE -o OUT.csv[.gz] [--format NAME] [--failed run|drop|merge_attempts] "
        "[--applications FILE]\n                              [--strict]\n\n"
        "Read a trace and write its jobs in braid's own csv, whole or not at all. Reading that file gives the same\n"
        "jobs. Rows that are dropped are counted on stderr.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "fsmoa", help, argc, argv);
    if (stop > 0)
        return stop - 1;
    if (a.output == NULL)
        return cli_usage("trace convert", "where to? give -o FILE.csv or FILE.csv.gz");
    struct workload w;
    struct error err = {0};
    int code = trace_load(&w, &a.spec, &err);
    if (code == BRAID_OK) {
        code = trace_write(&w, a.output, &err);
        if (code == BRAID_OK)
            fprintf(stderr, "braid: wrote %" PRIu32 " jobs to %s (%" PRIu64 " of %" PRIu64 " rows dropped%s)\n",
                    w.n_jobs, a.output, w.report.rows_read - w.report.rows_kept, w.report.rows_read,
                    w.report.rows_read > w.report.rows_kept ? "; 'braid trace check' tells why" : "");
    }
    workload_fini(&w);
    return code == BRAID_OK ? 0 : cli_fail(&err);
}

static int help_trace(FILE *out)
{
    fputs("usage: braid trace SUBCOMMAND ...\n\n", out);
    for (int i = 0; i < N_SUBCOMMANDS; i++)
        fprintf(out, "  %-8s  %s\n", subcommands[i].name, subcommands[i].help);
    fputs("\n'braid trace SUBCOMMAND --help' tells more.\n\n", out);
    print_formats(out);
    return 0;
}

int cmd_trace(int argc, char **argv)
{
    if (argc < 2)
        return cli_usage("trace", "what? info, check, convert or generate");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help_trace(stdout) + cli_finish();
    const char *names[N_SUBCOMMANDS];
    for (int i = 0; i < N_SUBCOMMANDS; i++) {
        names[i] = subcommands[i].name;
        if (strcmp(argv[1], names[i]) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    }
    const char *near = text_nearest(argv[1], names, N_SUBCOMMANDS);
    return cli_usage("trace", "unknown subcommand '%s'%s%s%s", argv[1], near != NULL ? "; did you mean '" : "",
                     near != NULL ? near : "", near != NULL ? "'?" : "");
}
