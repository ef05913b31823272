/* braid trace: the table of its subcommands, and check. */
#include "cli/cmd_trace.h"

#include "base/names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"info", "what is in a trace: sizes, durations, users, arrivals, load", cmd_trace_info},
    {"check", "count every row: kept, or dropped and why", cmd_trace_check},
    {"guess", "propose the columns of a table that is of no known format", cmd_trace_guess},
    {"convert", "write any readable trace as braid csv, SWF or Batsim JSON", cmd_trace_convert},
    {"sample", "a part of a trace, or a new one drawn from its days", cmd_trace_sample},
    {"diff", "compare two readings: which jobs, which columns", cmd_trace_diff},
    {"generate", "make up a trace from a model", cmd_trace_generate},
    {"fit", "measure a trace: a model that makes more of the same", cmd_trace_fit},
};
enum { N_SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

/* Behind a reason: which columns its rows are at fault in. */
static void print_columns(const struct trace_report *report, const struct trace_count *c)
{
    for (uint32_t i = 0; i < report->n_columns; i++) {
        const struct trace_column_count *column = &report->columns[i];
        if (strcmp(column->reason, c->reason) != 0)
            continue;
        printf("  %-22s %10" PRIu64 "  column '%s'", "", column->rows, column->column);
        if (column->line > 0)
            printf(", first: line %" PRIu64, column->line);
        const char *hint = trace_value_hint(column->value);
        printf(": '%s'%s%s\n", column->value, hint[0] != '\0' ? "; " : "", hint);
    }
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
                puts(dropped == 1 ? "\ndropped, by reason" : "\nremarks (the rows are kept)");
            is_first = false;
            printf("  %-22s %10" PRIu64 "  %s\n", c->reason, c->rows, c->advice);
            print_columns(report, c);
            if (with_examples && c->example_line > 0)
                printf("  %-22s %10s  first: line %" PRIu64 "%s%s\n", "", "", c->example_line,
                       c->example[0] != '\0' ? ": " : "", c->example);
            else if (with_examples && c->example[0] != '\0')
                printf("  %-22s %10s  first: %s\n", "", "", c->example);
        }
    }
}

void trace_dropped_print(const struct trace_report *report)
{
    uint64_t dropped = report->rows_read - report->rows_kept;
    fprintf(stderr, " (%" PRIu64 " of %" PRIu64 " rows dropped%s)\n", dropped, report->rows_read,
            dropped > 0 ? "; 'braid trace check' tells why" : "");
}

/* With --strict: the first row, by line, that reading strictly would stop at. */
static int strict_fault(const struct trace_report *report, const char *path, struct error *err)
{
    const struct trace_count *first = NULL;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < report->n_counts; i++) {
        const struct trace_count *c = &report->counts[i];
        if (!c->is_fault)
            continue;
        rows += c->rows;
        if (first == NULL || c->example_line < first->example_line)
            first = c;
    }
    if (first == NULL)
        return BRAID_OK;
    const struct trace_column_count *column = NULL;
    for (uint32_t i = 0; i < report->n_columns && column == NULL; i++)
        if (report->columns[i].reason == first->reason && report->columns[i].line == first->example_line)
            column = &report->columns[i];
    char where[160] = "";
    if (column != NULL)
        snprintf(where, sizeof where, " (column '%s': '%s')", column->column, column->value);
    return error_at(err, BRAID_BAD_INPUT, path, first->example_line > INT_MAX ? INT_MAX : (int)first->example_line, 0,
                    "%" PRIu64 " %s at fault; the first is here: %s%s, %s", rows, rows == 1 ? "row is" : "rows are",
                    first->reason, where, first->advice);
}

int cmd_trace_check(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace check FILE [--format NAME] [--failed run|drop|merge_attempts] [--applications FILE]\n"
        "                         [--strict]\n"
        "                         [--columns LIST [--separator NAME] [--header WORD] [--unit UNIT]]\n\n"
        "Read a trace and count every row: kept as a job, or dropped under a named reason, each with its first\n"
        "example, the columns and values that are to blame, and what can be done. A row with fewer fields than the\n"
        "header, or more, is dropped. Remarks are about rows that are kept. Ends with status 0; with 2 when nothing\n"
        "can be read or, with --strict, when a row is at fault. Steps of Slurm jobs and the like are no fault; a last\n"
        "line without an end is one where its last value is used.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "fmasCXHU", 1, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    struct workload w;
    struct error err = {0};
    a.spec.strict = false; /* every reason is worth seeing, not the first row alone */
    int code = trace_arguments_load(&a, &w, &err);
    if (w.report.rows_read > 0) {
        char hex[DIGEST_HEX + 1];
        printf("trace      %s\nformat     %s\n", a.spec.path, w.report.format);
        if (code == BRAID_OK) {
            digest_hex(w.digest, DIGEST_BYTES, hex);
            printf("digest     %.16s\n", hex);
        }
        trace_report_print(&w.report, true);
    }
    if (code == BRAID_OK && a.strict)
        code = strict_fault(&w.report, a.spec.path, &err);
    workload_fini(&w);
    int finished = cli_finish();
    return code != BRAID_OK ? cli_fail(&err) : finished;
}

static int help_trace(FILE *out)
{
    fputs("usage: braid trace SUBCOMMAND ...\n\n", out);
    for (int i = 0; i < N_SUBCOMMANDS; i++)
        fprintf(out, "  %-8s  %s\n", subcommands[i].name, subcommands[i].help);
    fputs("\n'braid trace SUBCOMMAND --help' tells more.\n\n", out);
    trace_formats_print(out);
    return 0;
}

int cmd_trace(int argc, char **argv)
{
    if (argc < 2)
        return cli_usage("trace", "what? info, check, guess, convert, sample, diff, generate or fit");
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
