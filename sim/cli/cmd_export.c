#include "cli/cli.h"
#include "cli/report_args.h"
#include "output/export_batsim.h"
#include "output/export_file.h"
#include "output/export_table.h"
#include "output/export_trace.h"

#include "base/names.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* What can be exported: a table of the file, or a format of another program. */
static const struct what {
    const char *name;
    int table; /* RESULTS_TABLES: not a table */
    int (*write)(FILE *out, const struct report_file *f, const struct report_run *run, struct export_notes *notes,
                 struct error *err);
    enum export_format format; /* the only one, for what is not a table */
} whats[] = {
    {"jobs", RESULTS_JOBS, NULL, EXPORT_CSV},
    {"series", RESULTS_SERIES, NULL, EXPORT_CSV},
    {"segments", RESULTS_SEGMENTS, NULL, EXPORT_CSV},
    {"allocs", RESULTS_ALLOCS, NULL, EXPORT_CSV},
    {"events", RESULTS_EVENTS, NULL, EXPORT_CSV},
    {"summary", RESULTS_SUMMARY, NULL, EXPORT_CSV},
    {"runs", RESULTS_RUNS, NULL, EXPORT_CSV},
    {"batsim", RESULTS_TABLES, export_batsim, EXPORT_CSV},
    {"trace-events", RESULTS_TABLES, export_trace_events, EXPORT_JSON},
};
enum { N_WHATS = sizeof whats / sizeof whats[0] };

static int help(void)
{
    fputs("usage: braid export OUT.h5 --what WHAT [--run ID] [-o FILE] [--format csv|json] [--units]\n\n"
          "  --what WHAT    jobs, series, segments, allocs, events (the decision log, with why), summary, runs: a "
          "table;\n"
          "                 batsim: jobs.csv as Batsim writes it, for evalys and others (needs 'output: {segments: "
          "on}');\n"
          "                 a preempted job has a row each time it held GPUs; what the format cannot hold is told\n"
          "                 trace-events: JSON for ui.perfetto.dev\n"
          "  --run ID       the beginning of a run's id, or a policy's label; default: all runs (batsim and "
          "trace-events: the\n"
          "                 only one)\n"
          "  -o FILE        FILE is whole or as it was; a device or a pipe is written through; default, and '-': "
          "standard "
          "output\n"
          "  --format F     csv (default) or json\n"
          "  --units        csv: a second line with the unit of each column\n\n"
          "Numbers read back exactly; what does not exist (NaN) is an empty cell, null in JSON.\n"
          "Exit status: 0 success, 1 the file could not be written, 2 bad usage or bad input.\n",
          stdout);
    return cli_finish();
}

static const struct what *what_find(const char *name)
{
    for (int i = 0; i < N_WHATS; i++)
        if (strcmp(whats[i].name, name) == 0)
            return &whats[i];
    return NULL;
}

static int bad_what(const char *name)
{
    const char *names[N_WHATS];
    for (int i = 0; i < N_WHATS; i++)
        names[i] = whats[i].name;
    const char *near = text_nearest(name, names, N_WHATS);
    return cli_usage("export", "--what: '%s' cannot be exported%s%s%s", name, near != NULL ? "; did you mean '" : "",
                     near != NULL ? near : "", near != NULL ? "'?" : "");
}

struct request {
    const struct what *what;
    const char *run, *path, *format; /* NULL: not said */
    bool units;
};

static int export_to(FILE *out, const struct request *q, const struct report_file *f, struct export_notes *notes,
                     struct error *err)
{
    const struct report_run *run = NULL;
    if (q->run != NULL || q->what->write != NULL) {
        run = report_run_find(f, q->run, err);
        if (run == NULL)
            return err->code;
    }
    if (q->what->write != NULL)
        return q->what->write(out, f, run, notes, err);
    enum export_format format = q->format != NULL && strcmp(q->format, "json") == 0 ? EXPORT_JSON : EXPORT_CSV;
    return export_table(out, f, q->what->table, run, format, q->units, err);
}

static int export_run(const struct request *q, const char *input)
{
    struct report_file f;
    struct export_file out;
    struct export_notes notes = {0};
    struct error err = {0};
    int code = report_file_open(&f, input, &err);
    if (code == BRAID_OK) {
        if (q->path != NULL)
            code = outfile_refuse_input(q->path, input, &err);
        if (code == BRAID_OK)
            code = export_file_open(&out, q->path, stdout, &err);
        if (code == BRAID_OK)
            code = export_file_close(&out, export_to(out.out, q, &f, &notes, &err), &err);
        report_file_close(&f);
    }
    for (uint32_t i = 0; code == BRAID_OK && i < notes.n; i++)
        fprintf(stderr, "braid export: %s: %s\n", q->what->name, notes.text[i]);
    return code == BRAID_OK ? cli_finish() : cli_fail(&err);
}

int cmd_export(int argc, char **argv)
{
    static const struct option options[] = {{"what", required_argument, NULL, 'w'},
                                            {"run", required_argument, NULL, 'r'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"units", no_argument, NULL, 'u'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct request q = {0};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":w:r:o:f:h", options, NULL)) != -1;) {
        switch (c) {
        case 'w':
            q.what = what_find(optarg);
            if (q.what == NULL)
                return bad_what(optarg);
            break;
        case 'r':
            q.run = optarg;
            break;
        case 'o':
            q.path = outfile_is_stdout(optarg) ? NULL : optarg;
            break;
        case 'f':
            if (strcmp(optarg, "csv") != 0 && strcmp(optarg, "json") != 0)
                return cli_usage("export", "--format: '%s' is neither csv nor json", optarg);
            q.format = optarg;
            break;
        case 'u':
            q.units = true;
            break;
        case 'h':
            return help();
        default:
            return report_args_bad("export", c, argv);
        }
    }
    if (q.what == NULL)
        return cli_usage("export", "--what is wanted: jobs, series, segments, events, summary, batsim or trace-events");
    if (argc - optind != 1)
        return cli_usage("export", "one results file is wanted");
    if (q.what->write != NULL && q.format != NULL && (strcmp(q.format, "json") == 0) != (q.what->format == EXPORT_JSON))
        return cli_usage("export", "--what %s is %s", q.what->name, q.what->format == EXPORT_JSON ? "json" : "csv");
    return export_run(&q, argv[optind]);
}
