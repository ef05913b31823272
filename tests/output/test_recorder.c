#include "output/recorder_tables.h"
#include "output/results_source.h"
#include "run_sample.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct run_result ends_at(int64_t end_ns)
{
    return (struct run_result){.totals = {.last_end_ns = end_ns, .stop_ns = end_ns}};
}

static double at(const struct recorder_tables *t, uint64_t bin, uint32_t scope, enum series_name name)
{
    return t->series[(bin * t->n_scopes + scope) * t->n_names + name];
}

/*
 * One queue of 4 GPUs, steps of 10 s:   0 .. 10   1 GPU from 5 on            -> 5 / 40, count 1 at its end
 *                                      10 .. 20   3 GPUs from 10 on, 0 at 20 -> 30 / 40, count 0 (the instant at 20 belongs to it)
 *                                      20 .. 30   nothing                    -> 0
 *                                      30 .. 40   the run ends at 33
 */
Test(recorder, counts_are_of_the_end_and_utilisations_over_the_bin)
{
    const struct output_spec what = {.series_step_ns = 10 * S};
    struct recorder *r = recorder_create(&what, 1, NULL);
    struct run_watch w = recorder_watch(r);
    cr_assert_null(w.segment);
    cr_assert_null(w.decision);
    w.levels(w.self, 0, 0, &(struct run_levels){.capacity_gpus = 4, .all_capacity_gpus = 4});
    w.levels(w.self, 5 * S, 0,
             &(struct run_levels){.running_jobs = 1, .allocated_gpus = 1, .capacity_gpus = 4, .all_capacity_gpus = 4});
    w.levels(w.self, 10 * S, 0,
             &(struct run_levels){2, .running_jobs = 2, .allocated_gpus = 3, .capacity_gpus = 4, .all_capacity_gpus = 4,
                                  .queued_gpus = 7});
    w.levels(w.self, 20 * S, 0, &(struct run_levels){.capacity_gpus = 4, .all_capacity_gpus = 4});
    struct run_result end = ends_at(33 * S);
    cr_assert(recorder_finish(r, &end));
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_assert_eq(t.n_scopes, 1);
    cr_assert_eq(t.n_bins, 4);
    cr_assert_eq(at(&t, 0, 0, SERIES_GPU_UTILIZATION), 5.0 / 40);
    cr_assert_eq(at(&t, 1, 0, SERIES_GPU_UTILIZATION), 30.0 / 40);
    cr_assert_eq(at(&t, 2, 0, SERIES_GPU_UTILIZATION), 0);
    cr_assert_eq(at(&t, 0, 0, SERIES_QUEUED_JOBS), 2);
    cr_assert_eq(at(&t, 0, 0, SERIES_QUEUED_GPUS), 7);
    cr_assert_eq(at(&t, 0, 0, SERIES_ALLOCATED_GPUS), 3);
    cr_assert_eq(at(&t, 1, 0, SERIES_RUNNING_JOBS), 0);
    cr_assert_eq(at(&t, 1, 0, SERIES_CAPACITY_GPUS), 4);
    recorder_destroy(r);
}

Test(recorder, several_queues_have_scopes_of_their_own_and_one_for_all)
{
    const struct output_spec what = {.series_step_ns = 10 * S};
    struct recorder *r = recorder_create(&what, 2, NULL);
    struct run_watch w = recorder_watch(r);
    w.levels(w.self, 0, 0,
             &(struct run_levels){.queued_jobs = 1, .allocated_gpus = 1, .capacity_gpus = 2, .all_capacity_gpus = 2});
    w.levels(w.self, 0, 1,
             &(struct run_levels){.queued_jobs = 4, .allocated_gpus = 3, .capacity_gpus = 6, .all_capacity_gpus = 8});
    w.levels(w.self, 5 * S, 1,
             &(struct run_levels){.queued_jobs = 4, .allocated_gpus = 0, .capacity_gpus = 0, .all_capacity_gpus = 2});
    struct run_result end = ends_at(10 * S);
    cr_assert(recorder_finish(r, &end));
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_assert_eq(t.n_scopes, 3);
    cr_assert_eq(t.n_bins, 1);
    cr_assert_eq(at(&t, 0, 0, SERIES_QUEUED_JOBS), 5);
    cr_assert_eq(at(&t, 0, 1, SERIES_QUEUED_JOBS), 1);
    cr_assert_eq(at(&t, 0, 2, SERIES_QUEUED_JOBS), 4);
    cr_assert_eq(at(&t, 0, 0, SERIES_GPU_UTILIZATION), 25.0 / 50);
    cr_assert_eq(at(&t, 0, 1, SERIES_GPU_UTILIZATION), 0.5);
    cr_assert_eq(at(&t, 0, 2, SERIES_GPU_UTILIZATION), 0.5);
    recorder_destroy(r);
}

/* What `stop` ends at 14 s is known up to there: the last bin is 4 s long, of which 2 s with a GPU more. */
Test(recorder, the_last_bin_of_a_run_that_was_cut_ends_with_it)
{
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        const struct output_spec what = {.series_step_ns = 10 * S};
        struct recorder *r = recorder_create(&what, 1, NULL);
        struct run_watch w = recorder_watch(r);
        w.levels(w.self, 0, 0, &(struct run_levels){.allocated_gpus = 1, .capacity_gpus = 4, .all_capacity_gpus = 4});
        w.levels(w.self, 12 * S, 0,
                 &(struct run_levels){.allocated_gpus = 2, .capacity_gpus = 4, .all_capacity_gpus = 4});
        struct run_result end = {
            .totals = {.last_submit_ns = 500 * S, .last_end_ns = 9 * S, .stop_ns = 14 * S, .is_cut = is_cut}};
        cr_assert(recorder_finish(r, &end));
        struct recorder_tables t;
        recorder_tables(r, &t);
        cr_assert_eq(t.n_bins, 2);
        cr_expect_eq(t.end_ns, (is_cut ? 14 : 20) * S);
        cr_expect_eq(at(&t, 1, 0, SERIES_GPU_UTILIZATION), is_cut ? (2.0 + 4) / 16 : (2.0 + 16) / 40);
        recorder_destroy(r);
    }
}

/* Two queues of 6 GPUs each over a node of 8. */
Test(recorder, queues_that_share_nodes_have_no_more_than_the_nodes)
{
    const struct output_spec what = {.series_step_ns = 10 * S};
    struct recorder *r = recorder_create(&what, 2, NULL);
    struct run_watch w = recorder_watch(r);
    for (uint32_t q = 0; q < 2; q++)
        w.levels(w.self, 0, q, &(struct run_levels){.allocated_gpus = 4, .capacity_gpus = 6, .all_capacity_gpus = 8});
    struct run_result end = ends_at(10 * S);
    cr_assert(recorder_finish(r, &end));
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_expect_eq(at(&t, 0, 0, SERIES_CAPACITY_GPUS), 8);
    cr_expect_eq(at(&t, 0, 1, SERIES_CAPACITY_GPUS), 6);
    cr_expect_eq(at(&t, 0, 0, SERIES_GPU_UTILIZATION), 1);
    cr_expect_eq(at(&t, 0, 2, SERIES_GPU_UTILIZATION), 4.0 / 6);
    recorder_destroy(r);
}

Test(recorder, no_capacity_has_no_utilisation)
{
    const struct output_spec what = {.series_step_ns = S};
    struct recorder *r = recorder_create(&what, 1, NULL);
    struct run_watch w = recorder_watch(r);
    w.levels(w.self, 0, 0, &(struct run_levels){.queued_jobs = 1});
    struct run_result end = ends_at(S);
    cr_assert(recorder_finish(r, &end));
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_assert(isnan(at(&t, 0, 0, SERIES_GPU_UTILIZATION)));
    recorder_destroy(r);
}

/* ---- the use of resources ---- */

/* Two jobs with iterations of 10 s: "a" of 2 GPUs in v1 (storage 4, GPU 6), "b" of 1 GPU in v2 (CPU 5, network 5). */
static void two_braided_jobs(struct workload *w)
{
    workload_init(w);
    cr_assert_eq(workload_alloc(w, 2, &(struct workload_columns){.iterations = true, .stages = true}, NULL), 0);
    const int64_t stages[2][WORKLOAD_STAGES] = {{4, 0, 6, 0}, {0, 5, 0, 5}};
    for (uint32_t j = 0; j < 2; j++) {
        w->gpus[j] = 2 - j;
        w->vc[j] = names_add(&w->vcs, j == 0 ? "v1" : "v2", 2);
        w->iteration_ns[j] = 10 * S;
        for (int k = 0; k < WORKLOAD_STAGES; k++)
            w->stage_ns[k][j] = stages[j][k] * S;
    }
}

/*
 * Steps of 10 s. "a" runs 5 .. 25 at full speed, "b" 8 .. 28 at half; both are told when they end. Of 4 GPUs in all:
 *
 *   bin 0: a 5 s x 2 GPUs, b 2 s x 1    storage 0.4 x 10 / 40, GPU 0.6 x 10 / 40, CPU and network 0.25 x 2 / 40
 *   bin 1: a 10 s x 2,     b 10 s x 1   0.4 x 20 / 40 ...
 *   bin 2: a 5 s x 2,      b 8 s x 1
 *   bin 3: nothing
 */
static void record_work(struct recorder *r, uint32_t n_queues)
{
    struct run_watch w = recorder_watch(r);
    w.levels(w.self, 0, 0, &(struct run_levels){.capacity_gpus = n_queues > 1 ? 3 : 4, .all_capacity_gpus = 4});
    if (n_queues > 1)
        w.levels(w.self, 0, 1, &(struct run_levels){.capacity_gpus = 1, .all_capacity_gpus = 4});
    w.segment(w.self, 0, 2 * S, 5 * S, SEGMENT_OVERHEAD, 0, UINT32_MAX, NULL, 0);
    w.levels(w.self, 22 * S, 0, &(struct run_levels){.capacity_gpus = n_queues > 1 ? 3 : 4, .all_capacity_gpus = 4});
    w.segment(w.self, 0, 5 * S, 25 * S, SEGMENT_RUN, 1, UINT32_MAX, NULL, 0);
    w.segment(w.self, 1, 1 * S, 8 * S, SEGMENT_QUEUED, 0, UINT32_MAX, NULL, 0);
    w.segment(w.self, 1, 8 * S, 28 * S, SEGMENT_RUN, 0.5, UINT32_MAX, NULL, 0);
    struct run_result end = ends_at(33 * S);
    cr_assert(recorder_finish(r, &end));
}

Test(recorder, resources_are_used_when_a_segment_ran_not_when_it_was_told)
{
    const struct output_spec what = {.series_step_ns = 10 * S};
    struct workload w;
    two_braided_jobs(&w);
    struct recorder *r = recorder_create(&what, 1, NULL);
    cr_assert_eq(recorder_follow(r, &w, &(struct cluster_spec){0}, NULL), 0);
    record_work(r, 1);
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_assert_eq(t.n_names, SERIES_NAMES);
    cr_assert_eq(t.n_bins, 4);
    cr_assert_eq(t.n_segments, 0, "segments are not kept unless asked for");
    const double a[] = {10, 20, 10, 0}, b[] = {2, 10, 8, 0};
    for (uint64_t bin = 0; bin < 4; bin++) {
        cr_expect_float_eq(at(&t, bin, 0, SERIES_STORAGE_UTILIZATION), 0.4 * a[bin] / 40, 1e-12);
        cr_expect_float_eq(at(&t, bin, 0, SERIES_CPU_UTILIZATION), 0.25 * b[bin] / 40, 1e-12);
        cr_expect_float_eq(at(&t, bin, 0, SERIES_GPU_BUSY), 0.6 * a[bin] / 40, 1e-12);
        cr_expect_float_eq(at(&t, bin, 0, SERIES_NETWORK_UTILIZATION), 0.25 * b[bin] / 40, 1e-12);
    }
    recorder_destroy(r);
    workload_fini(&w);
}

Test(recorder, resources_of_each_queue_are_of_its_own_jobs)
{
    const struct output_spec what = {.series_step_ns = 10 * S, .segments = true};
    struct vc_spec vcs[] = {{.name = "v2"}, {.name = "v1"}}; /* not in the workload's order */
    const struct cluster_spec cluster = {.vcs = vcs, .n_vcs = 2};
    struct workload w;
    two_braided_jobs(&w);
    struct recorder *r = recorder_create(&what, 2, NULL);
    cr_assert_eq(recorder_follow(r, &w, &cluster, NULL), 0);
    record_work(r, 2); /* the queue of v2 has 3 GPUs, that of v1 one */
    struct recorder_tables t;
    recorder_tables(r, &t);
    cr_assert_eq(t.n_segments, 4);
    cr_expect_float_eq(at(&t, 1, 0, SERIES_GPU_BUSY), 0.6 * 20 / 40, 1e-12);
    cr_expect_float_eq(at(&t, 1, 1, SERIES_GPU_BUSY), 0, 1e-12);
    cr_expect_float_eq(at(&t, 1, 1, SERIES_CPU_UTILIZATION), 0.25 * 10 / 30, 1e-12);
    cr_expect_float_eq(at(&t, 1, 2, SERIES_GPU_BUSY), 0.6 * 20 / 10, 1e-12);
    cr_expect_float_eq(at(&t, 1, 2, SERIES_CPU_UTILIZATION), 0, 1e-12);
    recorder_destroy(r);
    workload_fini(&w);
}

/* The bins together are what the run's own totals say, groups and restarts included. */
Test(recorder, resources_of_all_bins_are_the_totals_of_the_run)
{
    struct test_case *c = case_create(2, 2);
    uint64_t x = 7;
    case_policy(c, "muri_s");
    c->spec.overhead.start.constant_ns = 2 * S;
    c->sharing = (struct sharing_spec){.fidelity = SHARING_STAGE, .groups = 2};
    for (int i = 0; i < 30; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint32_t job = case_job(c, i, (double)(5 + x % 60), 1 + (uint32_t)(x >> 20) % 2);
        for (int k = 0; k < WORKLOAD_STAGES; k++)
            c->jobs[job].iteration_ns += c->jobs[job].stage_ns[k] = (int64_t)(1 + (x >> (8 * k)) % 9) * S / 10;
    }
    case_run(c); /* makes the workload */
    struct sharing_model *sharing;
    cr_assert_eq(sharing_create(&sharing, &c->sharing, &c->w, NULL), 0);
    const struct output_spec what = {.series_step_ns = 7 * S};
    struct recorder *r = recorder_create(&what, 1, NULL);
    cr_assert_eq(recorder_follow(r, &c->w, &c->cluster, NULL), 0);
    struct run_spec spec = c->spec;
    struct run_result result;
    spec.sharing = sharing;
    spec.watch = recorder_watch(r);
    cr_assert_eq(run(&result, &spec, NULL), 0);
    cr_assert(recorder_finish(r, &result));
    struct recorder_tables t;
    recorder_tables(r, &t);
    for (int k = 0; k < WORKLOAD_STAGES; k++) {
        double sum = 0;
        for (uint64_t bin = 0; bin < t.n_bins; bin++)
            sum += at(&t, bin, 0, SERIES_LEVELS + k) * (double)t.step_ns * 4;
        cr_expect_gt(sum, 1e10);
        cr_expect_float_eq(sum, result.totals.resource_gpu_ns[k], 1e-9 * sum, "%d: %g, not %g", k, sum,
                           result.totals.resource_gpu_ns[k]);
    }
    run_result_fini(&result);
    recorder_destroy(r);
    sharing_destroy(sharing);
    case_destroy(c);
}

/* ---- through a file and back ---- */

static const struct sample_job two[] = {
    {"a", "ann", "v1", 2, 0, 10, 0, 10, 10, 0, 0},
    {"b", "bob", "v2", 4, 1, 10, 10, 20, 10, 0, 0},
};

static void record(struct recorder *r)
{
    struct run_watch w = recorder_watch(r);
    const struct span first[] = {{3, 0, 2}}, second[] = {{1, 4, 3}, {2, 7, 1}};
    w.levels(w.self, 0, 0,
             &(struct run_levels){.running_jobs = 1, .allocated_gpus = 2, .capacity_gpus = 8, .all_capacity_gpus = 8});
    w.decision(w.self, 0, DECISION_SUBMIT, 0, 0, "");
    w.decision(w.self, 0, DECISION_START, 0, 0, "it is the head");
    w.decision(w.self, S, DECISION_SUBMIT, 1, 1, NULL);
    w.segment(w.self, 0, 0, 10 * S, SEGMENT_RUN, 1, UINT32_MAX, first, 1);
    w.segment(w.self, 1, 10 * S, 10 * S, SEGMENT_RUN, 1, UINT32_MAX, second, 2); /* takes no time: no segment */
    w.segment(w.self, 1, S, 10 * S, SEGMENT_QUEUED, 0, UINT32_MAX, NULL, 0);
    w.segment(w.self, 1, 10 * S, 12 * S, SEGMENT_OVERHEAD, 0, UINT32_MAX, second, 2);
    w.decision(w.self, 10 * S, DECISION_CAPACITY, UINT32_MAX, NAMES_NONE, "v1");
}

static void *read_column(const struct results_source *s, int table, const char *name, size_t *width)
{
    const struct column_spec *c = results_column(table, name);
    *width = c->type == COLUMN_TEXT ? results_source_width(s, results_table(table)->name, name) : column_size(c, 0);
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_runs; i++)
        n += s->runs[i].count[table];
    void *values = calloc(n + 1, *width);
    cr_assert_eq(results_source_read(s, results_table(table)->name, c, *width, 0, n, values, NULL), 0, "%s", name);
    return values;
}

Test(recorder, series_segments_and_decisions_reach_the_file)
{
    char *dir = folder_make();
    struct run_sample s;
    const struct output_spec what = {.series_step_ns = 15 * S, .segments = true, .events = true};
    for (unsigned number = 1; number <= 2; number++) {
        run_sample_init(&s, two, 2, number);
        s.result.totals.last_end_ns = s.result.totals.stop_ns = 20 * S;
        struct recorder *r = recorder_create(&what, 1, NULL);
        record(r);
        cr_assert(recorder_finish(r, &s.result));
        s.output.recorder = r;
        cr_assert_eq(results_write_part(dir, &s.output, NULL), 0);
        recorder_destroy(r);
        run_sample_fini(&s);
    }
    const char *parts[] = {in(dir, "0000000000000002.h5"), in(dir, "0000000000000001.h5")}, *out = in(dir, "out.h5");
    cr_assert_eq(results_assemble(out, parts, 2, NULL), 0);
    struct results_source f;
    cr_assert_eq(results_source_open(&f, out, NULL), 0);
    cr_assert_eq(f.runs[1].begin[RESULTS_SEGMENTS], 3);
    cr_assert_eq(f.runs[1].count[RESULTS_SEGMENTS], 3);
    cr_assert_eq(f.runs[1].count[RESULTS_ALLOCS], 3);
    cr_assert_eq(f.runs[1].count[RESULTS_EVENTS], 4);
    cr_assert_eq(f.runs[1].count[RESULTS_SERIES], 2 * SERIES_LEVELS); /* no stage times, no use of resources */
    size_t width;
    int64_t *segment = read_column(&f, RESULTS_ALLOCS, "segment", &width);
    uint32_t *node = read_column(&f, RESULTS_ALLOCS, "node", &width);
    uint8_t *kind = read_column(&f, RESULTS_SEGMENTS, "kind", &width);
    double *begin = read_column(&f, RESULTS_SEGMENTS, "begin", &width);
    int64_t *job = read_column(&f, RESULTS_EVENTS, "job", &width);
    const int64_t segments[] = {0, 2, 2, 3, 5, 5}; /* the second run's come behind the first's */
    const uint32_t nodes[] = {3, 1, 2, 3, 1, 2};
    const uint8_t kinds[] = {SEGMENT_RUN, SEGMENT_QUEUED, SEGMENT_OVERHEAD};
    const double begins[] = {0, 1, 10};
    const int64_t jobs[] = {0, 0, 1, -1};
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(segment[i], segments[i]);
        cr_assert_eq(node[i], nodes[i]);
        cr_assert_eq(kind[i], kinds[i % 3]);
        cr_assert_eq(begin[i], begins[i % 3]);
    }
    for (int i = 0; i < 8; i++)
        cr_assert_eq(job[i], jobs[i % 4]);
    char *why = read_column(&f, RESULTS_EVENTS, "why", &width);
    cr_assert_eq(width, strlen("it is the head"));
    cr_assert_eq(memcmp(why + 5 * width, "it is the head", width), 0);
    cr_assert_eq(why[0], '\0');
    cr_assert_eq(strncmp(why + 7 * width, "v1", width), 0);
    char *vc = read_column(&f, RESULTS_EVENTS, "vc", &width);
    cr_assert_eq(width, 2);
    cr_assert_eq(memcmp(vc, "v1v1v2\0\0", 8), 0);
    char *name = read_column(&f, RESULTS_SERIES, "name", &width);
    double *time = read_column(&f, RESULTS_SERIES, "time", &width),
           *value = read_column(&f, RESULTS_SERIES, "value", &width);
    cr_assert_eq(strncmp(name, "queued_jobs", 11), 0);
    cr_assert_eq(time[0], 15);
    cr_assert_eq(time[SERIES_LEVELS], 30);
    cr_assert_eq(value[SERIES_GPU_UTILIZATION], 0.25);
    void *all[] = {segment, node, kind, begin, job, why, vc, name, time, value};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    results_source_fini(&f);
    folder_remove(dir);
}

/* What a run of `length_ns` says of its series with this step; NULL where they are kept. With or without what the policy tells. */
static const char *refusal(int64_t step_ns, int64_t length_ns, uint32_t n_queues, bool observes, struct error *err)
{
    const struct output_spec what = {.series_step_ns = step_ns};
    struct recorder *r = recorder_create(&what, n_queues, NULL);
    recorder_limit(r, 50000);
    struct run_watch w = recorder_watch(r);
    w.levels(w.self, 0, 0, &(struct run_levels){.capacity_gpus = 4, .all_capacity_gpus = 4});
    w.levels(w.self, length_ns / 2, 0, &(struct run_levels){.capacity_gpus = 4, .all_capacity_gpus = 4});
    if (observes) /* first told when the series are full */
        w.observe(w.self, length_ns / 2, 0, "price", 1);
    struct run_result end = ends_at(length_ns);
    bool is_kept = recorder_finish(r, &end);
    *err = (struct error){0};
    if (!is_kept)
        cr_expect_eq(recorder_explain(r, &end, err), BRAID_BAD_INPUT);
    recorder_destroy(r);
    return is_kept ? NULL : err->message;
}

Test(recorder, a_step_too_short_for_the_run_is_refused_with_the_shortest_that_does)
{
    static const struct {
        int64_t step_ns, length_ns;
        uint32_t n_queues;
        bool observes;
        const char *steps;
    } cases[] = {
        {S / 1000, 100000000 * S, 1, false, "100000000000 steps of 0.001 s"},
        {S / 1000, 100000000 * S, 1, true, "100000000000 steps of 0.001 s"},
        {S / 1000, 100000000 * S + 1, 40, false, "100000000001 steps of 0.001 s"},
        {S, 9000000000 * S, 1, false, "9000000000 steps of 1 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err;
        const char *text = refusal(cases[i].step_ns, cases[i].length_ns, cases[i].n_queues, cases[i].observes, &err);
        cr_assert_not_null(text, "case %zu", i);
        cr_expect_not_null(strstr(text, cases[i].steps), "%s", text);
        const char *named = strstr(text, "make the step ");
        cr_assert_not_null(named, "%s", text);
        int64_t least_ns = (int64_t)(strtod(named + 14, NULL) * 1000 + 0.5) * (S / 1000);
        text = refusal(least_ns, cases[i].length_ns, cases[i].n_queues, cases[i].observes, &err);
        cr_expect_null(text, "the step that was named: %s", text);
        if (!cases[i].observes) /* what is told only from the middle on has fewer rows than are reckoned with */
            cr_expect_not_null(
                refusal(least_ns - least_ns / 100, cases[i].length_ns, cases[i].n_queues, cases[i].observes, &err),
                "case %zu: a step 1 %% shorter does, too", i);
    }
}
