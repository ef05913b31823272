#include "base/number.h"
#include "base/outfile.h"
#include "cli/cli.h"
#include "cli/report_args.h"
#include "output/plot.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static int help(void)
{
    fputs("usage: braid plot OUT.h5 [-o DIR] [--figure NAME,...] [--type png|pdf|svg] [--metric NAME,...]\n"
          "                  [--baseline POLICY] [--window FROM:TO]\n\n"
          "Figures by gnuplot; no display is needed. The paths of the figures go to standard output; remarks on what "
          "could not\n"
          "be drawn or is left out go to standard error.\n\n"
          "  -o DIR             where to; default: OUT without '.h5'\n"
          "  --figure NAME,...  these alone; default: all that the file has the tables for\n"
          "  --type T           png (default), pdf (the same bytes for the same results) or svg\n"
          "  --metric NAME,...  up to four metrics of /summary for bars and bars_normalized\n"
          "  --baseline POLICY  what bars_normalized compares with; default: the first policy\n"
          "  --window FROM:TO   times that gantt and gantt_jobs show, as 2 d:60 h; default: where most jobs wait, the "
          "same for\n"
          "                     all policies\n\n",
          stdout);
    const struct plot_figure_info *info;
    for (size_t i = 0; (info = plot_figure_at(i)) != NULL; i++)
        printf("  %-16s %s\n", info->name, info->help);
    fputs(
        "\nSwept keys other than policy and seed give figures of their own; the file names say which. One figure that "
        "fails\n"
        "does not end the others.\n"
        "Exit status: 0 success, 1 gnuplot or the folder failed, 2 bad usage or bad input (no figure could be "
        "drawn).\n",
        stdout);
    return cli_finish();
}

static int plot(const char *input, const struct plot_options *o)
{
    struct report_file f;
    struct plot_report report;
    struct error err = {0};
    int code = report_file_open(&f, input, &err);
    if (code != BRAID_OK)
        return cli_fail(&err);
    code = plot_file(&report, &f, o, &err);
    for (uint32_t i = 0; i < report.n_drawn; i++)
        puts(report.drawn[i]);
    for (uint32_t i = 0; (code == BRAID_OK || report.n_drawn > 0) && i < report.n_remarks; i++)
        fprintf(stderr, "braid plot: %s\n", report.remarks[i]);
    plot_report_fini(&report);
    report_file_close(&f);
    int finished = cli_finish();
    return code != BRAID_OK ? cli_fail(&err) : finished;
}

enum { METRICS_DRAWN = 4 };

static bool window_parse(struct plot_window *w, const char *text)
{
    const char *colon = strchr(text, ':');
    int64_t from_ns, to_ns;
    if (colon == NULL || !number_parse_time(text, (size_t)(colon - text), &from_ns) ||
        !number_parse_time(colon + 1, strlen(colon + 1), &to_ns) || from_ns < 0 || from_ns >= to_ns)
        return false;
    *w = (struct plot_window){true, (double)from_ns / (double)NS_PER_S, (double)to_ns / (double)NS_PER_S};
    return true;
}

int cmd_plot(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},   {"figure", required_argument, NULL, 'f'},
        {"type", required_argument, NULL, 't'},     {"metric", required_argument, NULL, 'm'},
        {"baseline", required_argument, NULL, 'b'}, {"window", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    struct plot_options o = {.type = "png"};
    struct word_list figures = {0}, metrics = {0};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:f:t:h", options, NULL)) != -1;) {
        switch (c) {
        case 'o':
            o.dir = optarg;
            break;
        case 'f':
            if (!word_list_add(&figures, optarg))
                return cli_usage("plot", "--figure: more than %d", WORD_LIST_MAX);
            break;
        case 't':
            o.type = optarg;
            break;
        case 'm':
            if (!word_list_add(&metrics, optarg) || metrics.n > METRICS_DRAWN)
                return cli_usage("plot", "--metric: more than %d", METRICS_DRAWN);
            break;
        case 'b':
            o.baseline = optarg;
            break;
        case 'w':
            if (!window_parse(&o.window, optarg))
                return cli_usage(
                    "plot", "--window is FROM:TO, two times with FROM before TO such as '2 d:60 h', not '%s'", optarg);
            break;
        case 'h':
            return help();
        default:
            return report_args_bad("plot", c, argv);
        }
    }
    if (argc - optind != 1)
        return cli_usage("plot", "one results file is wanted");
    char dir[1000];
    size_t stem = strlen(argv[optind]);
    if (stem > 3 && strcmp(argv[optind] + stem - 3, ".h5") == 0)
        snprintf(dir, sizeof dir, "%.*s", (int)(stem - 3), argv[optind]);
    else
        snprintf(dir, sizeof dir, "%s-figures", argv[optind]);
    if (o.dir == NULL)
        o.dir = dir;
    if (outfile_is_stdout(o.dir))
        return cli_usage("plot", "figures are files: -o names a folder, and '%s' is none", o.dir);
    o.figures = figures.words;
    o.n_figures = figures.n;
    o.metrics = metrics.words;
    o.n_metrics = metrics.n;
    return plot(argv[optind], &o);
}
