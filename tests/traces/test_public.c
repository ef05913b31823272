/* The public traces: counts that were taken from the files by other means (a script over the same columns). */
#include "base/number.h"
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRACES "../shared/traces/"
#define INPUTS "../shared/reference/"

static const struct golden {
    const char *path, *format;
    uint64_t rows, no_gpus;
    double gpu_s;  /* sum of GPUs x duration */
    double span_s; /* first to last submission */
    uint32_t largest, vcs;
} goldens[] = {
    {TRACES "philly/philly.csv", "philly_csv", 82247, 0, 3521082502, 9408690, 128, 15},
    {TRACES "helios/earth_cluster_log_excerpt.csv", "helios", 3, 0, 713077, 27, 4, 3},
    {TRACES "tiresias/60_job.csv", "tiresias", 60, 0, 26624, 1779, 8, 1},
    {TRACES "chronus/MIX1.csv", "chronus", 30940, 184, 22279688, 20150, 32, 1},
    {TRACES "muri/trace1.csv", "muri", 1494, 0, 1379974477.235, 10817570, 32, 1},
    {TRACES "muri/trace2.csv", "muri", 5755, 0, 2966687708.252, 8572283, 32, 1},
    {TRACES "muri/trace3.csv", "muri", 992, 0, 420081856.545, 8166025, 32, 1},
    {TRACES "muri/trace4.csv", "muri", 2638, 0, 737646244.386, 7363956, 8, 1},
    {TRACES "muri/trace1_pr.csv", "muri", 1494, 0, 1379974477.235, 0, 32, 1},
    {TRACES "muri/trace2_pr.csv", "muri", 5755, 0, 2966687708.252, 0, 32, 1},
    {TRACES "muri/trace3_pr.csv", "muri", 992, 0, 420081856.545, 0, 32, 1},
    {TRACES "muri/trace4_pr.csv", "muri", 2638, 0, 737646244.386, 0, 8, 1},
    {TRACES "muri/job_type_1.csv", "muri", 992, 0, 420082851.118, 8166025, 32, 1},
    {TRACES "muri/job_type_2.csv", "muri", 992, 0, 420082937.119, 8166025, 32, 1},
    {TRACES "muri/job_type_3.csv", "muri", 992, 0, 420081764.965, 8166025, 32, 1},
    {TRACES "muri/job_type_4.csv", "muri", 992, 0, 420081856.545, 8166025, 32, 1},
    {INPUTS "tiresias/inputs/60_job.csv", "tiresias", 60, 0, 26624, 1779, 8, 1},
    {INPUTS "tiresias/inputs/philly480_job.csv", "tiresias", 480, 0, 23555715, 87803, 32, 1},
    {INPUTS "helios/inputs/D_oct03_05_div8cap_input.csv", "helios", 2634, 0, 16049372, 172685, 16, 8},
    {INPUTS "helios/inputs/E_oct09_div8cap_input.csv", "helios", 1352, 0, 6607963, 85799, 16, 8},
};

static void skip_without(const char *path)
{
    if (access(path, R_OK) != 0)
        cr_skip_test("%s is not here; scripts/fetch-traces says where it comes from", path);
}

Test(public, every_trace_reads_as_counted)
{
    skip_without(TRACES "philly/philly.csv");
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        const struct golden *g = &goldens[i];
        if (access(g->path, R_OK) != 0)
            continue;
        struct workload w;
        struct error err = {0};
        struct trace_spec spec = scratch_spec(g->path);
        cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s: %s", g->path, err.message);
        cr_expect_str_eq(w.report.format, g->format, "%s", g->path);
        cr_expect_eq(w.report.rows_read, g->rows, "%s", g->path);
        cr_expect_eq(w.n_jobs, g->rows - g->no_gpus, "%s", g->path);
        cr_expect_eq(scratch_count(&w, "no_gpus"), g->no_gpus, "%s", g->path);
        cr_expect_eq(w.vcs.count, g->vcs, "%s", g->path);
        double gpu_s = 0;
        uint32_t largest = 0;
        for (uint32_t j = 0; j < w.n_jobs; j++) {
            gpu_s += (double)w.gpus[j] * ((double)w.duration_ns[j] / 1e9);
            largest = w.gpus[j] > largest ? w.gpus[j] : largest;
        }
        cr_expect_lt(fabs(gpu_s - g->gpu_s), 0.01, "%s: %.3f", g->path, gpu_s);
        cr_expect_eq(largest, g->largest, "%s", g->path);
        cr_expect_eq((double)(w.submit_ns[w.n_jobs - 1] - w.submit_ns[0]) / 1e9, g->span_s, "%s", g->path);
        cr_expect_eq(w.submit_ns[0], 0, "%s", g->path);
        workload_fini(&w);
    }
}

Test(public, philly_keeps_its_duplicates_and_is_read_as_utc)
{
    skip_without(TRACES "philly/philly.csv");
    struct workload w;
    struct error err = {0};
    struct trace_spec spec = scratch_spec(TRACES "philly/philly.csv");
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.origin_utc_s, 1504521041, "2017-09-04 10:30:41");
    cr_assert_eq(w.report.rows_kept, 82247);
    cr_assert_eq(w.report.n_counts, 2);
    cr_assert_eq(scratch_count(&w, "blank_line"), 1);
    cr_assert_eq(scratch_line(&w, "blank_line"), 82249);
    cr_assert_eq(scratch_count(&w, "duplicate_row"), 65);
    uint32_t of_6214e9 = 0;
    for (uint32_t j = 0; j < w.n_jobs; j++)
        of_6214e9 += strcmp(names_text(&w.vcs, w.vc[j]), "6214e9") == 0;
    cr_assert_eq(of_6214e9, 41226);
    workload_fini(&w);
}

Test(public, raw_philly_jobs_with_and_without_merging)
{
    skip_without(TRACES "philly/cluster_job_log_excerpt.json");
    struct workload w;
    struct error err = {0};
    struct trace_spec spec = scratch_spec(TRACES "philly/cluster_job_log_excerpt.json");
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.report.rows_read, 4);
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "no_submit"), 1);
    cr_assert_eq(w.gpus[0], 8);
    cr_assert_eq(w.duration_ns[0], 193263 * NS_PER_S);
    cr_assert_eq(w.duration_ns[1], 469 * NS_PER_S);
    workload_fini(&w);
    spec.failed = TRACE_FAILED_MERGE_ATTEMPTS;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.duration_ns[0], 193256 * NS_PER_S, "without the 7 s between its attempts");
    cr_assert_eq(w.duration_ns[1], 43 * NS_PER_S);
    cr_assert_eq(scratch_count(&w, "attempt_without_times"), 3);
    workload_fini(&w);
}

Test(public, other_files_are_refused_by_name)
{
    static const char *const others[] = {TRACES "openb/openb_node_list_gpu_node.csv",
                                         TRACES "pai/machine_spec.csv",
                                         TRACES "philly/vc_nodes.csv",
                                         TRACES "muri/n8g8.csv",
                                         TRACES "tiresias/yarn-gput1000.csv"};
    skip_without(others[0]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct workload w;
        struct error err = {0};
        struct trace_spec spec = scratch_spec(others[i]);
        cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT, "%s", others[i]);
        workload_fini(&w);
    }
}
