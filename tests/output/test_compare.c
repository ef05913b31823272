/* braid compare: groups, pairs, breakdowns and what it prints, on files whose numbers can be checked by hand. */
#include "fixture_results.h"
#include "output/report_compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char dir[256], path[300], out[16384];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    snprintf(path, sizeof path, "%s/out.h5", dir);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(compare, .init = setup, .fini = teardown);

static void add_run(struct fixture *f, const char *id, const char *policy, unsigned seed, const char *load, double jct)
{
    fixture_run(f, id, policy, seed);
    fixture_text(f, RESULTS_RUNS, "sweep.trace.load", load);
    fixture_job(f, "one", 1, 0, jct / 2, jct);
    fixture_job(f, "two", 4, 0, jct, 2 * jct);
    fixture_job(f, "big", 99, 5, -1, 5);
}

/* fifo and srtf, two loads, two seeds: at load 0.7 fifo / srtf = 2 and 8; at 0.9 both 1. */
static void write_sweep(void)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_sweep(&f, "trace.load");
    fixture_sweep(&f, "seed");
    add_run(&f, "01", "srtf", 1, "0.7", 10);
    add_run(&f, "02", "fifo", 2, "0.7", 80);
    add_run(&f, "03", "fifo", 1, "0.7", 20);
    add_run(&f, "04", "srtf", 2, "0.7", 10);
    add_run(&f, "05", "srtf", 2, "0.9", 7);
    add_run(&f, "06", "fifo", 1, "0.9", 7);
    add_run(&f, "07", "fifo", 2, "0.9", 7);
    add_run(&f, "08", "srtf", 1, "0.9", 7);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

static struct report_file file;
static struct error err;

static int build(struct compare *c, const struct compare_options *o)
{
    cr_assert_eq(report_file_open(&file, path, &err), BRAID_OK, "%s", err.message);
    return compare_build(c, &file, 1, o, &err);
}

Test(compare, pairs_runs_of_equal_seed_and_swept_values)
{
    write_sweep();
    struct compare c;
    cr_assert_eq(build(&c, &(struct compare_options){0}), BRAID_OK, "%s", err.message);
    cr_assert_eq(c.n_groups, 4);
    cr_expect_str_eq(c.baseline, "fifo");
    cr_expect_str_eq(c.groups[0].values[0], "fifo");
    cr_expect_str_eq(c.groups[1].values[0], "srtf");
    cr_expect_str_eq(c.groups[1].values[1], "0.7");
    cr_expect_str_eq(c.groups[3].values[1], "0.9");
    cr_expect_eq(c.groups[1].n_pairs, 2);
    cr_expect_str_eq(c.metrics[0], "jct_mean");
    cr_expect_float_eq(c.groups[0].cells[0].mean.mean, (1.5 * 20 + 1.5 * 80) / 2, 1e-9);
    cr_expect_float_eq(c.groups[1].cells[0].ratio.mean, 4, 1e-9);
    cr_expect(c.groups[1].cells[0].ratio.low < 1 && c.groups[1].cells[0].ratio.high > 16);
    cr_expect_float_eq(c.groups[3].cells[0].ratio.mean, 1, 1e-9);
    cr_expect_float_eq(c.groups[3].cells[0].ratio.high, 1, 1e-9, "equal pairs leave no doubt");
    cr_expect_eq(c.groups[0].counts[SAMPLE_REJECTED], 1);
    cr_expect_eq(c.n_warnings, 0);
    compare_fini(&c);
    report_file_close(&file);
}

Test(compare, by_swept_key_averages_over_the_others)
{
    write_sweep();
    struct compare c;
    const char *by[] = {"policy"};
    cr_assert_eq(build(&c, &(struct compare_options){.by = by, .n_by = 1}), BRAID_OK, "%s", err.message);
    cr_assert_eq(c.n_groups, 2);
    cr_expect_eq(c.groups[1].n_pairs, 4);
    cr_expect_float_eq(c.groups[1].cells[0].ratio.mean, 2, 1e-9, "geometric mean of 2, 8, 1, 1");
    compare_fini(&c);
    report_file_close(&file);
}

Test(compare, breakdown_by_gpus_recomputes_from_the_jobs)
{
    write_sweep();
    struct compare c;
    const char *by[] = {"gpus"}, *metrics[] = {"jct_mean", "wait_p99", "jobs"};
    struct compare_options o = {.by = by, .n_by = 1, .metrics = metrics, .n_metrics = 3, .baseline = "srtf"};
    cr_assert_eq(build(&c, &o), BRAID_OK, "%s", err.message);
    cr_assert_eq(c.n_groups, 12, "two loads, three sizes, two policies");
    const struct compare_group *g = &c.groups[0], *h = &c.groups[3];
    cr_expect_str_eq(g->values[0], "srtf");
    cr_expect_str_eq(g->values[2], "1");
    cr_expect_float_eq(g->cells[0].mean.mean, 10, 1e-9);
    cr_expect_float_eq(g->cells[1].mean.mean, 5, 1e-9);
    cr_expect_str_eq(h->values[2], "4", "natural order: 1, 4, 99");
    cr_expect_float_eq(h->cells[0].mean.mean, 100, 1e-9);
    cr_expect_float_eq(h->cells[0].ratio.mean, 0.25, 1e-9);
    cr_expect(isnan(c.groups[4].cells[0].mean.mean), "the job of 99 GPUs was rejected");
    cr_expect_eq(c.groups[4].counts[SAMPLE_REJECTED], 1);
    cr_expect_eq(c.groups[4].cells[2].mean.mean, 1);
    compare_fini(&c);
    report_file_close(&file);
}

Test(compare, breakdown_over_all_jobs_is_the_summary)
{
    write_sweep();
    struct compare c;
    const char *by[] = {"trace_status"}, *metrics[] = {"jct_mean", "jct_p50", "jct_p99", "wait_mean", "makespan"};
    struct compare_options o = {.by = by, .n_by = 1, .metrics = metrics, .n_metrics = 5};
    cr_assert_eq(build(&c, &o), BRAID_OK, "%s", err.message);
    struct compare_options whole = {.metrics = metrics, .n_metrics = 5};
    struct compare s;
    cr_assert_eq(compare_build(&s, &file, 1, &whole, &err), BRAID_OK);
    cr_assert_eq(c.n_groups, s.n_groups);
    for (uint32_t g = 0; g < c.n_groups; g++)
        for (int m = 0; m < 5; m++)
            cr_expect_float_eq(c.groups[g].cells[m].mean.mean, s.groups[g].cells[m].mean.mean, 1e-9, "group %u, %s", g,
                               metrics[m]);
    compare_fini(&s);
    compare_fini(&c);
    report_file_close(&file);
}

Test(compare, measure_of_the_config_limits_a_breakdown)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    fixture_text(&f, RESULTS_RUNS, "config", "measure: {from: start, to: 60 s, warm_up: 10 s}\n");
    for (int i = 0; i < 10; i++)
        fixture_job(&f, "j", 1, 10 * i, 10 * i, 10 * i + i); /* submitted at 0, 10, … 90: counted 10 … 50 */
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    struct compare c;
    const char *by[] = {"vc"};
    cr_assert_eq(build(&c, &(struct compare_options){.by = by, .n_by = 1}), BRAID_OK, "%s", err.message);
    cr_expect_eq(c.groups[0].counts[SAMPLE_JOBS], 5);
    cr_expect_float_eq(c.groups[0].cells[0].mean.mean, 3, 1e-9);
    compare_fini(&c);
    report_file_close(&file);
}

Test(compare, prints_counts_units_and_what_the_ratio_is)
{
    write_sweep();
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s", path), 0);
    const char *words[] = {"finished",        "unfinished",     "rejected", "jct_mean", "ratio = fifo / policy",
                           "lower is better", "geometric mean", "95 %",     "srtf"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect(strstr(out, words[i]) != NULL, "'%s' is not in:\n%s", words[i], out);
}

Test(compare, every_format_is_written)
{
    write_sweep();
    const char *formats[] = {"csv", "json", "md", "latex"},
               *begins[] = {"policy,trace.load,metric,unit,", "[", "fixture: ", "% fixture"};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(fixture_braid(out, sizeof out, "compare %s --format %s", path, formats[i]), 0);
        cr_expect(strncmp(out, begins[i], strlen(begins[i])) == 0, "%s", out);
    }
    fixture_braid(out, sizeof out, "compare %s --format csv --metrics jct_mean", path);
    cr_expect(strstr(out, "\nsrtf,0.7,jct_mean,s,lower,2,3,2,0,1,0,0,0,fifo,2,all jobs,95 % t interval,15,15,15,4,") !=
                  NULL,
              "%s", out);
}

Test(compare, warns_of_different_traces_and_missing_counterparts)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "one", 1, 0, 0, 1);
    fixture_run(&f, "02", "srtf", 1);
    fixture_text(&f, RESULTS_RUNS, "trace_digest", "another");
    fixture_job(&f, "one", 1, 0, 0, 1);
    fixture_run(&f, "03", "srtf", 2);
    fixture_job(&f, "one", 1, 0, 0, 1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s", path), 0);
    cr_expect(strstr(out, "warning: 'fifo' and 'srtf' did not run the same trace") != NULL, "%s", out);
    cr_expect(strstr(out, "1 of 2 runs have a counterpart") != NULL, "%s", out);
}

Test(compare, equal_labels_are_told_apart_by_their_parameters)
{
    struct fixture f;
    fixture_init(&f);
    fixture_sweep(&f, "policy");
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "one", 1, 0, 0, 8);
    fixture_run(&f, "02", "las", 1);
    fixture_text(&f, RESULTS_RUNS, "sweep.policy", "{name: las, quantum: 1}");
    fixture_job(&f, "one", 1, 0, 0, 4);
    fixture_run(&f, "03", "las", 1);
    fixture_text(&f, RESULTS_RUNS, "sweep.policy", "{name: las, quantum: 2}");
    fixture_job(&f, "one", 1, 0, 0, 2);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    struct compare c;
    cr_assert_eq(build(&c, &(struct compare_options){0}), BRAID_OK, "%s", err.message);
    cr_assert_eq(c.n_groups, 3);
    cr_expect_float_eq(c.groups[1].cells[0].ratio.mean, 2, 1e-9);
    cr_expect_float_eq(c.groups[2].cells[0].ratio.mean, 4, 1e-9);
    compare_fini(&c);
    report_file_close(&file);
}

Test(compare, costs_come_from_the_table_beside_the_file)
{
    write_sweep();
    char cost[320];
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s --metrics wall_s", path), 2);
    cr_expect(strstr(out, ".cost.csv") != NULL, "%s", out);
    snprintf(cost, sizeof cost, "%s/out.cost.csv", dir);
    FILE *csv = fopen(cost, "w");
    fputs("run,wall_s,cpu_s,ended\n0300000000000000,3.5,3,2026-01-01T00:00:00Z\n0100000000000000,7,6,x\n", csv);
    fclose(csv);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s --metrics wall_s --format csv", path), 0);
    cr_expect(strstr(out, "\nsrtf,0.7,wall_s,s,lower,2,3,2,0,1,0,0,0,fifo,2,all jobs,95 % t interval,7,,,0.5,,,-1,") !=
                  NULL,
              "%s", out);
}

Test(compare, bad_arguments_name_the_mend)
{
    write_sweep();
    static const struct {
        const char *arguments, *words;
    } cases[] = {{"--metrics jct_meen", "did you mean 'jct_mean'"},
                 {"--by trace.laod", "did you mean 'trace.load'"},
                 {"--baseline edf", "there are: srtf, fifo"},
                 {"--format xml", "table, csv"},
                 {"--counts jobs,fnished", "'fnished' is none of none, all, runs"},
                 {"--baseline trace.load=0.8", "no run has trace.load=0.8; there are: 0.7, 0.9"},
                 {"--baseline trace.laod=0.7", "'trace.laod' is no key"},
                 {"--metrics wait_p101", "unknown metric 'wait_p101'"},
                 {"--by vc --metrics gpu_utilization", "whole runs"},
                 {"--frobnicate", "--frobnicate"},
                 {"--by", "--by needs a value"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(fixture_braid(out, sizeof out, "compare %s %s", path, cases[i].arguments), 2);
        cr_expect(strstr(out, cases[i].words) != NULL, "%s: %s", cases[i].arguments, out);
    }
    cr_expect_eq(fixture_braid(out, sizeof out, "compare"), 2);
}

Test(compare, breakdown_without_stored_jobs_says_how_to_store_them)
{
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "01", "fifo", 1);
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s --by user", path), 2);
    cr_expect(strstr(out, "output: {jobs: true}") != NULL, "%s", out);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s", path), 0);
    cr_expect(strstr(out, "nan") == NULL, "%s", out);
}
