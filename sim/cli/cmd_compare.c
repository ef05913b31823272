#include "cli/cli.h"
#include "cli/compare_table.h"
#include "cli/report_args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static int help(void)
{
    fputs(
        "usage: braid compare OUT.h5... [options]\n\n"
        "Policies side by side: means over seeds, and the improvement over a baseline, paired by seed.\n\n"
        "  --baseline POLICY   compare with this policy (default: fifo, else the first of the config), or KEY=VALUE:\n"
        "                      with the same run under this value of a swept key (estimate.source=exact)\n"
        "  --by KEY,...        break down by vc, gpus, user, status, trace_status, hour (of the day, of submission) "
        "or\n"
        "                      length of the jobs (needs /jobs), or group by these swept keys only (also policy, "
        "seed,\n"
        "                      experiment, file, run)\n"
        "  --metrics M,...     columns of /summary; any quantile over the jobs (wait_p95, queued_p90, jct_p99.9,\n"
        "                      slowdown_p50); wall_s, cpu_s from OUT.cost.csv\n"
        "  --counts C,...      counts in the tables: none, all, or runs, pairs, jobs, finished, unfinished, rejected,\n"
        "                      failed, killed (default: the usual ones; none in latex)\n"
        "  --format F          table (default), csv, json, md, latex (with booktabs)\n\n"
        "An improvement is more than 1 where the policy is better, whichever way the metric goes; the header says "
        "which.\n"
        "Where other jobs finished than under the baseline the row is marked, and the improvement is over the jobs "
        "that\n"
        "finished in both.\n\n"
        "Exit status: 0 success, 1 the table could not be written, 2 bad usage or bad input.\n",
        stdout);
    return cli_finish();
}

static int print_compare(const struct compare *c, const struct compare_print *p)
{
    for (uint32_t i = 0; i < c->n_warnings; i++)
        fprintf(stderr, "braid compare: warning: %s\n", c->warnings[i]);
    struct error err;
    if (!compare_print_tables(c, p)) {
        error_set(&err, BRAID_FAILED, "out of memory");
        return cli_fail(&err);
    }
    return cli_finish();
}

int cmd_compare(int argc, char **argv)
{
    static const struct option options[] = {{"baseline", required_argument, NULL, 'b'},
                                            {"by", required_argument, NULL, 'k'},
                                            {"metrics", required_argument, NULL, 'm'},
                                            {"counts", required_argument, NULL, 'c'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct compare_print p = {.format = TABLE_FORMAT_TEXT};
    struct compare_options o = {0};
    struct word_list by = {0}, metrics = {0}, counts = {0};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":b:h", options, NULL)) != -1;) {
        bool ok = true;
        switch (c) {
        case 'b':
            o.baseline = optarg;
            break;
        case 'k':
            ok = word_list_add(&by, optarg);
            break;
        case 'm':
            ok = word_list_add(&metrics, optarg);
            break;
        case 'f':
            if (!table_format_parse(optarg, &p.format))
                return cli_usage("compare", "--format: '%s' is none of table, csv, json, md, latex", optarg);
            break;
        case 'c':
            ok = word_list_add(&counts, optarg);
            break;
        case 'h':
            return help();
        default:
            return report_args_bad("compare", c, argv);
        }
        if (!ok)
            return cli_usage("compare", "--%s: more than %d",
                             c == 'k'   ? "by"
                             : c == 'm' ? "metrics"
                                        : "counts",
                             WORD_LIST_MAX);
    }
    if (optind == argc)
        return cli_usage("compare", "which results files?");
    for (uint32_t i = 0; i < counts.n; i++)
        if (!compare_is_count(counts.words[i]))
            return cli_usage("compare",
                             "--counts: '%s' is none of none, all, runs, pairs, jobs, finished, unfinished, rejected, "
                             "failed, killed",
                             counts.words[i]);
    p.counts = counts.words;
    p.n_counts = counts.n;
    o.by = by.words;
    o.n_by = by.n;
    o.metrics = metrics.words;
    o.n_metrics = metrics.n;
    size_t n_files = (size_t)(argc - optind);
    struct report_file *files = NULL;
    struct compare comparison;
    struct error err = {0};
    int code = report_files_open(&files, argv + optind, n_files, &err);
    if (code == BRAID_OK) {
        code = compare_build(&comparison, files, n_files, &o, &err);
        if (code == BRAID_OK) {
            code = print_compare(&comparison, &p);
            compare_fini(&comparison);
        } else {
            code = cli_fail(&err);
        }
        report_files_close(files, n_files);
    } else {
        code = cli_fail(&err);
    }
    return code;
}
