/* braid compare: what must hold for a comparison to be believed. Which way is better, which means, which jobs. */
#include "fixture_results.h"
#include "output/report_compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char dir[256], path[300], out[32768];
static struct report_file file;
static struct error err;
static struct fixture f;

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
    snprintf(path, sizeof path, "%s/out.h5", dir);
    fixture_init(&f);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(compare_fair, .init = setup, .fini = teardown);

static void save(void)
{
    cr_assert(fixture_write(&f, path));
    fixture_fini(&f);
}

static void build(struct compare *c, const struct compare_options *o)
{
    cr_assert_eq(report_file_open(&file, path, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(compare_build(c, &file, 1, o, &err), BRAID_OK, "%s", err.message);
}

static void done(struct compare *c)
{
    compare_fini(c);
    report_file_close(&file);
}

static bool is_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* Every metric but the first two, `jobs` and `finished`, is 2 under fifo and 4 under the other policy: twice as good or twice as bad, as its direction says. */
Test(compare_fair, every_metric_has_its_direction)
{
    size_t n;
    const struct metric_info *table = metrics_table(&n);
    const char *names[METRICS_MAX];
    f.is_summary_kept = true;
    for (unsigned run = 0; run < 2; run++) {
        fixture_run(&f, run == 0 ? "01" : "02", run == 0 ? "fifo" : "other", 1);
        fixture_job(&f, "one", 1, 0, 0, 1);
        for (size_t m = 0; m < n; m++) {
            bool is_count = strcmp(table[m].name, "jobs") == 0 || strcmp(table[m].name, "finished") == 0;
            fixture_number(&f, RESULTS_SUMMARY, table[m].name, run == 0 || is_count ? 2 : 4);
        }
    }
    save();
    for (size_t m = 0; m < n; m++)
        names[m] = table[m].name;
    struct compare c;
    build(&c, &(struct compare_options){.metrics = names, .n_metrics = (uint32_t)n});
    for (size_t m = 0; m < n; m++) {
        const struct compare_cell *cell = &c.groups[1].cells[m];
        double ratio = table[m].better < 0 ? 0.5 : table[m].better > 0 ? 2 : NAN;
        cr_expect(is_near(cell->ratio.mean, ratio), "%s: %g", names[m], cell->ratio.mean);
        cr_expect(m < 2 || is_near(cell->difference.mean, 2), "%s", names[m]);
        cr_expect_eq(c.groups[0].cells[m].is_extreme, false);
    }
    done(&c);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s --metrics jain_index,jct_mean,events --counts none", path),
                 0);
    cr_expect(strstr(out, "higher is better  lower is better\n") != NULL, "%s", out);
    cr_expect(strstr(out, "2.00  +100.0 %   0.50  -100.0 %\n") != NULL, "%s", out);
    cr_expect(strstr(out, "ratio = policy / fifo, then the gain policy / fifo - 1") != NULL, "%s", out);
    cr_expect(strstr(out, "runs") == NULL && strstr(out, "pairs  ") == NULL, "no counts: %s", out);
}

/* A value of 0, or worlds apart: the difference in the metric's unit, and no inf, nan or -782731 %. */
Test(compare_fair, a_ratio_that_says_nothing_is_a_difference)
{
    static const double waits[] = {3600, 0, 3, 3.6};
    static const char *const ids[] = {"01", "02", "03", "04"}, *const labels[] = {"fifo", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        fixture_run(&f, ids[i], labels[i], 1);
        fixture_job(&f, "one", 1, 0, waits[i], 7200);
    }
    save();
    for (int i = 0; i < 4; i++) {
        struct compare c;
        const char *metrics[] = {"wait_mean"};
        build(&c, &(struct compare_options){.metrics = metrics, .n_metrics = 1, .baseline = labels[i]});
        for (uint32_t g = 0; g < c.n_groups; g++) {
            const struct compare_cell *cell = &c.groups[g].cells[0];
            double base = waits[i], mine = cell->mean.mean;
            bool says = base > 0 && mine > 0 && base <= 1000 * mine && mine <= 1000 * base;
            cr_expect_eq(cell->is_extreme, !says, "%g against %g", mine, base);
            cr_expect(is_near(cell->ratio.mean, says ? base / mine : NAN), "%g against %g", mine, base);
            cr_expect(is_near(cell->difference.mean, mine - base));
        }
        done(&c);
        cr_expect_eq(fixture_braid(out, sizeof out, "compare %s --metrics wait_mean --baseline %s", path, labels[i]),
                     0);
        cr_expect(strstr(out, "inf") == NULL && strstr(out, "nan") == NULL, "%s", out);
        cr_expect(strstr(out, i == 1   ? "+60.0 min"
                              : i == 2 ? "-3.00 s"
                              : i == 3 ? "-3.60 s"
                                       : "-60.0 min") != NULL,
                  "%s", out);
        fixture_braid(out, sizeof out, "compare %s --metrics wait_mean --baseline %s --format json", path, labels[i]);
        cr_expect(strstr(out, "\"ratio\": null, \"ratio_low\": null, \"ratio_high\": null, \"improvement\": null") !=
                      NULL,
                  "%s", out);
    }
}

/* Waits of 10, 10 and 1000 s against 20, 20 and 500 s: worse in the mean (340 against 180), better in two of three pairs. */
Test(compare_fair, two_means_that_disagree_are_named)
{
    static const double fifo[] = {20, 20, 500}, other[] = {10, 10, 1000};
    static const char *const ids[] = {"01", "02", "03", "04", "05", "06"};
    for (unsigned i = 0; i < 6; i++) {
        fixture_run(&f, ids[i], i < 3 ? "fifo" : "other", i % 3);
        fixture_job(&f, "one", 1, 0, i < 3 ? fifo[i] : other[i - 3], 2000);
    }
    save();
    struct compare c;
    const char *metrics[] = {"wait_mean"};
    build(&c, &(struct compare_options){.metrics = metrics, .n_metrics = 1});
    const struct compare_cell *cell = &c.groups[1].cells[0];
    cr_expect(is_near(cell->ratio.mean, cbrt(2.0 * 2 * 0.5)));
    cr_expect(is_near(cell->of_means.mean, 540.0 / 1020));
    cr_expect(cell->of_means.low < cell->of_means.mean && cell->of_means.high > cell->of_means.mean);
    cr_expect(compare_disagrees(cell) && !compare_disagrees(&c.groups[0].cells[0]));
    done(&c);
    fixture_braid(out, sizeof out, "compare %s --metrics wait_mean", path);
    cr_expect(strstr(out, "%% !\n") != NULL || strstr(out, "% !\n") != NULL, "%s", out);
    cr_expect(strstr(out, "! other, wait_mean: the ratio of the means is 0.529") != NULL, "%s", out);
    cr_expect(strstr(out, " ± ") != NULL && strstr(out, "Averaged over seed") != NULL, "%s", out);
}

/* Three loads are no sample; seeds and declared replicates are. */
Test(compare_fair, intervals_are_over_replicates_alone)
{
    static const struct {
        const char *key;
        bool is_sample;
    } cases[] = {
        {"seed", true},        {"trace.bootstrap", true},     {"trace.bootstrap.days", true}, {"trace.replicate", true},
        {"trace.load", false}, {"trace.bootstrapped", false}, {"policy.seed", false}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        fixture_init(&f);
        if (strcmp(cases[k].key, "seed") != 0)
            fixture_sweep(&f, cases[k].key);
        static const char *const ids[] = {"01", "02", "03", "04", "05", "06"}, *const values[] = {"1", "2", "3"};
        for (unsigned i = 0; i < 6; i++) {
            bool is_seed = strcmp(cases[k].key, "seed") == 0;
            char name[80];
            fixture_run(&f, ids[i], i < 3 ? "fifo" : "other", is_seed ? i % 3 : 1);
            snprintf(name, sizeof name, RESULTS_SWEEP_PREFIX "%s", cases[k].key);
            if (!is_seed)
                fixture_text(&f, RESULTS_RUNS, name, values[i % 3]);
            fixture_job(&f, "one", 1, 0, 0, (i < 3 ? 30 : 10) + i % 3);
        }
        save();
        struct compare c;
        const char *metrics[] = {"jct_mean"}, *by[] = {"policy"};
        build(&c, &(struct compare_options){.metrics = metrics, .n_metrics = 1, .by = by, .n_by = 1});
        cr_assert_eq(c.n_groups, 2);
        cr_expect_eq(key_is_replicate(cases[k].key), cases[k].is_sample);
        cr_expect_eq(c.is_sample, cases[k].is_sample, "%s", cases[k].key);
        cr_assert_eq(c.n_averaged, 1);
        cr_expect_str_eq(c.averaged[0], cases[k].key);
        const struct interval *mean = &c.groups[0].cells[0].mean, *ratio = &c.groups[1].cells[0].ratio;
        cr_expect(is_near(mean->low, cases[k].is_sample ? 31 - 4.302652729911275 / sqrt(3) : 30), "%g", mean->low);
        cr_expect(cases[k].is_sample == !is_near(ratio->high, 3), "%g", ratio->high);
        done(&c);
        fixture_braid(out, sizeof out, "compare %s --by policy", path);
        cr_expect((strstr(out, "95 % t interval") != NULL) == cases[k].is_sample, "%s", out);
        cr_expect((strstr(out, "no random sample") != NULL) != cases[k].is_sample, "%s", out);
        cr_expect(strstr(out, cases[k].key) != NULL);
    }
}

/* Four jobs under fifo; `lose` never runs the long one, `mend` runs it and rejects another. */
static void write_losers(bool with_jobs)
{
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "a", 1, 0, 10, 20);
    fixture_job(&f, "b", 1, 0, 20, 30);
    fixture_job(&f, "c", 1, 0, 30, 50);
    fixture_job(&f, "long", 1, 0, 50, 5000);
    fixture_run(&f, "02", "lose", 1);
    fixture_job(&f, "a", 1, 0, 20, 30);
    fixture_job(&f, "b", 1, 0, 40, 50);
    fixture_job(&f, "c", 1, 0, 60, 80);
    fixture_job(&f, "long", 1, 0, 5, -1);
    fixture_run(&f, "03", "mend", 1);
    fixture_job(&f, "a", 1, 0, 5, 10);
    fixture_job(&f, "b", 1, 0, -1, 0);
    fixture_job(&f, "c", 1, 0, 10, 25);
    fixture_job(&f, "long", 1, 0, 50, 5000);
    if (!with_jobs) {
        fixture_summarize(&f);
        f.is_without_jobs = true;
    }
    save();
}

Test(compare_fair, a_policy_that_loses_jobs_is_compared_over_what_both_finished)
{
    write_losers(true);
    struct compare c;
    const char *metrics[] = {"jct_mean", "wait_p50", "makespan", "gpu_utilization", "success_rate"};
    build(&c, &(struct compare_options){.metrics = metrics, .n_metrics = 5});
    const struct compare_group *lose = &c.groups[1], *mend = &c.groups[2];
    cr_expect_str_eq(lose->values[0], "lose");
    cr_expect(lose->cells[0].mean.mean < c.groups[0].cells[0].mean.mean, "its mean looks far better");
    cr_expect(is_near(lose->cells[0].ratio.mean, (20 + 30 + 50) / (30.0 + 50 + 80)), "%g", lose->cells[0].ratio.mean);
    cr_expect(is_near(lose->cells[1].ratio.mean, 20.0 / 40));
    cr_expect(is_near(lose->cells[2].ratio.mean, 50.0 / 80));
    cr_expect(isnan(lose->cells[3].ratio.mean) && isnan(lose->cells[3].difference.mean),
              "of the whole run: not comparable");
    cr_expect_eq(lose->n_partly, 1);
    cr_expect_eq(lose->n_common, 3);
    cr_expect(is_near(mend->cells[0].ratio.mean, (20 + 50 + 5000) / (10.0 + 25 + 5000)));
    cr_expect(compare_is_marked(lose) && compare_is_marked(mend) && !compare_is_marked(&c.groups[0]));
    done(&c);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s", path), 0);
    cr_expect(strstr(out, "warning: 'lose' finished other jobs than 'fifo' (3 and 4 of 4): compared over the 3") !=
                  NULL,
              "%s", out);
    cr_expect(strstr(out, "forgot") == NULL && strstr(out, "nothing stopped") == NULL, "%s", out);
    cr_expect(strstr(out, "\nlose *  ") != NULL && strstr(out, "\n* not all of its jobs finished") != NULL, "%s", out);
    fixture_braid(out, sizeof out, "compare %s --format csv --metrics jct_mean", path);
    cr_expect(strstr(out, ",jobs finished in both,") != NULL, "%s", out);
}

Test(compare_fair, without_stored_jobs_a_loser_has_no_ratio)
{
    write_losers(false);
    struct compare c;
    const char *metrics[] = {"jct_mean", "deadline_met_rate"};
    build(&c, &(struct compare_options){.metrics = metrics, .n_metrics = 2});
    for (uint32_t g = 1; g < 3; g++) {
        cr_expect_eq(c.groups[g].n_unknown, 1);
        cr_expect(isnan(c.groups[g].cells[0].ratio.mean) && isnan(c.groups[g].cells[0].difference.mean));
    }
    done(&c);
    cr_expect_eq(fixture_braid(out, sizeof out, "compare %s", path), 0);
    cr_expect(strstr(out, "cannot be told (the jobs are not stored (output: {jobs: true})): no ratio") != NULL, "%s",
              out);
}

Test(compare_fair, a_bucket_without_losses_needs_no_mark)
{
    write_losers(true);
    struct compare c;
    const char *by[] = {"length"}, *metrics[] = {"jct_mean"};
    build(&c, &(struct compare_options){.by = by, .n_by = 1, .metrics = metrics, .n_metrics = 1});
    for (uint32_t g = 0; g < c.n_groups; g++)
        if (strcmp(c.groups[g].values[0], "mend") == 0)
            cr_expect_eq(compare_is_marked(&c.groups[g]), strcmp(c.groups[g].values[1], "0 s to 1 min") == 0, "%s",
                         c.groups[g].values[1]);
    done(&c);
}

Test(compare_fair, the_baseline_may_be_a_value_of_any_key)
{
    static const char *const ids[] = {"01", "02", "03", "04"};
    fixture_sweep(&f, "estimate.source");
    for (unsigned i = 0; i < 4; i++) {
        fixture_run(&f, ids[i], i < 2 ? "easy" : "fifo", 1);
        fixture_text(&f, RESULTS_RUNS, RESULTS_SWEEP_PREFIX "estimate.source", i % 2 == 0 ? "noise" : "exact");
        fixture_job(&f, "one", 1, 0, 0, 10 * (i + 1));
    }
    save();
    struct compare c;
    const char *metrics[] = {"jct_mean"}, *by[] = {"policy"};
    for (int with_by = 0; with_by < 2; with_by++) {
        build(&c, &(struct compare_options){.baseline = "estimate.source=exact",
                                            .metrics = metrics,
                                            .n_metrics = 1,
                                            .by = by,
                                            .n_by = (uint32_t)with_by});
        cr_assert_eq(c.n_groups, 4);
        for (uint32_t g = 0; g < 4; g++) {
            bool is_base = g % 2 == 0;
            cr_expect_str_eq(c.groups[g].values[0], g < 2 ? "easy" : "fifo");
            cr_expect_str_eq(c.groups[g].values[1], is_base ? "exact" : "noise");
            cr_expect(is_near(c.groups[g].cells[0].ratio.mean, is_base ? 1 : g == 1 ? 20.0 / 10 : 40.0 / 30));
        }
        done(&c);
    }
    build(&c, &(struct compare_options){.baseline = "policy=fifo", .metrics = metrics, .n_metrics = 1});
    cr_expect_str_eq(c.baseline, "fifo");
    cr_expect(is_near(c.groups[1].cells[0].ratio.mean, 40.0 / 20));
    done(&c);
}

Test(compare_fair, any_quantile_is_computed_from_the_jobs)
{
    fixture_run(&f, "01", "fifo", 1);
    for (int i = 0; i <= 10; i++)
        fixture_job(&f, "j", 1, 0, i, 11 + i);
    save();
    struct compare c;
    const char *metrics[] = {"queued_p90", "jct_p99.9", "slowdown_p50", "wait_p0", "wait_p99"};
    const double wanted[] = {9, 21 - 0.01, 16 / 11.0, 0, 9.9};
    build(&c, &(struct compare_options){.metrics = metrics, .n_metrics = 5});
    for (int m = 0; m < 4; m++)
        cr_expect(is_near(c.groups[0].cells[m].mean.mean, wanted[m]), "%s: %.12g", metrics[m],
                  c.groups[0].cells[m].mean.mean);
    done(&c);
    const char *by[] = {"vc"};
    build(&c, &(struct compare_options){.metrics = metrics, .n_metrics = 5, .by = by, .n_by = 1});
    for (int m = 0; m < 5; m++)
        cr_expect(is_near(c.groups[0].cells[m].mean.mean, wanted[m]), "%s: %.12g", metrics[m],
                  c.groups[0].cells[m].mean.mean);
    done(&c);
}

/* Submitted at 22:30, 23:30 and 0:30 of days from 1970 plus `origin`. */
Test(compare_fair, hours_are_of_the_day_in_utc)
{
    fixture_run(&f, "01", "fifo", 1);
    fixture_number(&f, RESULTS_RUNS, "origin", 1000 * 86400 + 22 * 3600);
    fixture_job(&f, "a", 1, 1800, 1800, 1810);
    fixture_job(&f, "b", 1, 5400, 5400, 5420);
    fixture_job(&f, "c", 1, 9000, 9000, 9030);
    fixture_job(&f, "d", 1, 9000 + 86400, 9000 + 86400, 9050 + 86400);
    save();
    struct compare c;
    const char *by[] = {"hour"}, *metrics[] = {"jct_mean"};
    static const char *const hours[] = {"0", "22", "23"};
    static const double means[] = {40, 10, 20};
    build(&c, &(struct compare_options){.by = by, .n_by = 1, .metrics = metrics, .n_metrics = 1});
    cr_assert_eq(c.n_groups, 3);
    for (int g = 0; g < 3; g++) {
        cr_expect_str_eq(c.groups[g].values[1], hours[g]);
        cr_expect(is_near(c.groups[g].cells[0].mean.mean, means[g]));
    }
    done(&c);
}

Test(compare_fair, the_heading_says_how_many_traces_and_queues_of_preempted_jobs_are_shown)
{
    fixture_run(&f, "01", "fifo", 1);
    fixture_job(&f, "one", 1, 0, 0, 1);
    fixture_run(&f, "02", "las", 1);
    fixture_text(&f, RESULTS_RUNS, "trace_digest", "another");
    fixture_job(&f, "one", 1, 0, 0, 1);
    fixture_number(&f, RESULTS_SUMMARY, "preemptions", 3);
    save();
    fixture_braid(out, sizeof out, "compare %s", path);
    cr_expect(strstr(out, "fixture: 2 rows, 2 traces, ") != NULL, "%s", out);
    cr_expect(strstr(out, "queued_mean") != NULL &&
                  strstr(out, "wait: first start - submit. Jobs are preempted") != NULL,
              "%s", out);
    fixture_braid(out, sizeof out, "compare %s --format latex", path);
    cr_expect(strstr(out, "\\toprule") != NULL && strstr(out, "hline") == NULL && strstr(out, "rejected") == NULL, "%s",
              out);
}

/* What `braid run` itself prints: the config's order, marks, and waiting as it is. */
Test(compare_fair, the_table_of_a_run_marks_what_did_not_finish)
{
    char yaml[320], trace[320];
    snprintf(trace, sizeof trace, "%s/t.csv", dir);
    snprintf(yaml, sizeof yaml, "%s/c.yaml", dir);
    FILE *to = fopen(trace, "w");
    fputs("id,submit,duration,gpus\nlong,0,100,1\nshort,10,20,1\n", to);
    fclose(to);
    to = fopen(yaml, "w");
    fputs("trace: t.csv\ncluster: {nodes: [{count: 1, gpus: 1}]}\nstop: {at: 110}\n"
          "sweep: {policy: [srtf, fifo]}\n",
          to);
    fclose(to);
    cr_assert_eq(fixture_braid(out, sizeof out, "run %s -o %s --quiet", yaml, path), 0, "%s", out);
    cr_assert_eq(fixture_braid(out, sizeof out, "run %s -o %s", yaml, path), 0, "%s", out);
    const char *srtf = strstr(out, "\nsrtf * "), *fifo = strstr(out, "\nfifo * ");
    cr_expect(srtf != NULL && fifo != NULL && srtf < fifo, "the order of the config, and marks: %s", out);
    cr_expect(strstr(out, "* not all of its jobs finished") != NULL && strstr(out, "queued mean") != NULL, "%s", out);
    cr_assert_eq(fixture_braid(out, sizeof out, "compare %s --baseline srtf --counts none", path), 0, "%s", out);
    cr_expect(strstr(out, "'fifo' finished other jobs than 'srtf'") != NULL && strstr(out, "forgot") == NULL, "%s",
              out);
    cr_expect(strstr(out, "\nsrtf") < strstr(out, "\nfifo *"), "%s", out);
}

/* What all runs remark is told once, not once a run. */
Test(compare_fair, equal_remarks_are_told_once)
{
    char yaml[320], trace[320];
    snprintf(trace, sizeof trace, "%s/t.csv", dir);
    snprintf(yaml, sizeof yaml, "%s/c.yaml", dir);
    FILE *to = fopen(trace, "w");
    fputs("id,submit,duration,gpus,vc\na,0,100,1,x\nb,0,20,1,y\n", to);
    fclose(to);
    to = fopen(yaml, "w");
    fputs("trace: t.csv\ncluster: {nodes: [{count: 1, gpus: 1}]}\nsweep: {policy: [srtf, fifo, sjf]}\n", to);
    fclose(to);
    cr_assert_eq(fixture_braid(out, sizeof out, "run %s -o %s --quiet", yaml, path), 0, "%s", out);
    cr_assert_eq(fixture_braid(out, sizeof out, "compare %s 2>&1", path), 0, "%s", out);
    const char *told = strstr(out, "all 3 runs: ");
    cr_expect(told != NULL && strstr(told, "are ignored") != NULL, "%s", out);
    cr_expect(told != NULL && strstr(strstr(told, "are ignored") + 1, "are ignored") == NULL, "%s", out);
}
