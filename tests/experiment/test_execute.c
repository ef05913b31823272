#include "experiment/execute.h"
#include "experiment/load_capacity.h"
#include "experiment/outcome.h"
#include "output/results_source.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../output/run_sample.h"

/* Six runs over two traces. */
static const char six[] = "name: six\n"
                          "trace: {generate: {model: poisson, jobs: 400}, load: 0.8}\n"
                          "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
                          "output: {jobs: on, series: 1 h, segments: on, events: on}\n"
                          "sweep: {policy: [fifo, sjf, srtf], seed: [1, 2]}\n";

/* The same with more seeds: more than two workers and their queue can hold. */
static const char twelve[] = "name: twelve\n"
                             "trace: {generate: {model: poisson, jobs: 400}, load: 0.8}\n"
                             "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
                             "sweep: {policy: [fifo, sjf, srtf], seed: [1, 2, 3, 4]}\n";

struct world {
    char *dir;
    struct experiment x;
    struct execute_options o;
    struct execute_report report;
    struct error err;
    char output[512];
    volatile int cancel;
    uint32_t cancel_after; /* runs; 0: never */
    uint32_t told, ended;  /* calls of the progress, and those with a run */
};

static void on_progress(void *self, const struct execute_progress *p)
{
    struct world *w = self;
    w->told++;
    w->ended += p->run != NULL;
    if (w->cancel_after > 0 && p->done == w->cancel_after)
        w->cancel = 1;
}

static void world_load(struct world *w, const char *yaml)
{
    const char *path = in(w->dir, "c.yaml");
    FILE *f = fopen(path, "w");
    fputs(yaml, f);
    fclose(f);
    cr_assert_eq(experiment_load(&w->x, path, NULL, 0, &w->err), 0, "%s", w->err.message);
}

static void world_init(struct world *w, const char *yaml)
{
    *w = (struct world){.dir = folder_make()};
    world_load(w, yaml);
    snprintf(w->output, sizeof w->output, "%s/out.h5", w->dir);
    w->o = (struct execute_options){.output = w->output,
                                    .threads = 1,
                                    .check = true,
                                    .progress = on_progress,
                                    .progress_self = w,
                                    .cancel = &w->cancel};
}

static void world_fini(struct world *w)
{
    experiment_fini(&w->x);
    folder_remove(w->dir);
}

static int execute(struct world *w)
{
    w->err = (struct error){0};
    w->told = w->ended = 0;
    return experiment_execute(&w->x, &w->o, &w->report, &w->err);
}

/* Execute to another file and compare it with `w->output`. */
static bool same_as_fresh(struct world *w)
{
    struct execute_report report;
    const struct execute_options o = {.output = in(w->dir, "fresh.h5"), .threads = 1};
    cr_assert_eq(experiment_execute(&w->x, &o, &report, &w->err), 0, "%s", w->err.message);
    return file_equal(w->output, o.output);
}

/* A policy that refuses its parameters, as bad input. */
static int init_refused(void *self, struct sched *s, const union param *v, struct error *err)
{
    (void)self, (void)s, (void)v;
    return error_set(err, BRAID_BAD_INPUT, "this policy never starts");
}
static void schedule_nothing(void *self, struct sched *s)
{
    (void)self, (void)s;
}
static const struct policy_ops refusing = {.abi_version = BRAID_POLICY_ABI,
                                           .size = sizeof(struct policy_ops),
                                           .name = "refusing",
                                           .summary = "refuses",
                                           .source = "",
                                           .state_size = 8,
                                           .init = init_refused,
                                           .schedule = schedule_nothing};

Test(execute, any_number_of_threads_gives_the_same_bytes)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_assert(w.report.is_complete);
    cr_assert_eq(w.report.planned, 6);
    cr_assert_eq(w.report.done, 6);
    cr_assert_eq(w.ended, 6);
    cr_assert_not(file_exists(in(w.dir, "out.h5.parts")));
    char first[512];
    snprintf(first, sizeof first, "%s", w.output);
    for (int threads = 2; threads <= 8; threads *= 2) {
        snprintf(w.output, sizeof w.output, "%s/out%d.h5", w.dir, threads);
        w.o.threads = threads;
        cr_assert_eq(execute(&w), 0, "%s", w.err.message);
        cr_assert_eq(w.report.done, 6);
        cr_assert(file_equal(first, w.output), "%d threads", threads);
    }
    world_fini(&w);
}

/* More threads than runs: the others are lent to policies that search. */
Test(execute, lent_threads_change_no_byte)
{
    static const char searching[] = "name: searching\n"
                                    "trace: {generate: {model: poisson, jobs: 300}, load: 1.1}\n"
                                    "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
                                    "sweep: {policy: [%s], seed: [1]}\n";
    static const char *const policies[] = {"ga", "ga, {name: pso, victims: 4}"};
    for (int k = 0; k < 2; k++) {
        struct world w;
        char yaml[512], first[512];
        snprintf(yaml, sizeof yaml, searching, policies[k]);
        world_init(&w, yaml);
        cr_assert_eq(execute(&w), 0, "%s", w.err.message);
        snprintf(first, sizeof first, "%s", w.output);
        for (int threads = 3; threads <= 8; threads += 5) {
            snprintf(w.output, sizeof w.output, "%s/out%d.h5", w.dir, threads);
            w.o.threads = threads;
            cr_assert_eq(execute(&w), 0, "%s", w.err.message);
            cr_assert(file_equal(first, w.output), "%d threads", threads);
        }
        world_fini(&w);
    }
}

Test(execute, what_a_clock_decided_is_not_reused)
{
    static const char clocked[] = "name: clocked\n"
                                  "trace: {generate: {model: poisson, jobs: 100}, load: 1.0}\n"
                                  "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
                                  "sweep: {policy: [fifo, {name: sa, budget_ms: 5, deterministic: false}]}\n";
    struct world w;
    world_init(&w, clocked);
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    w.o.resume = true;
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_assert_eq(w.report.reused, 1);
    cr_assert_eq(w.report.done, 1);
    world_fini(&w);
}

Test(execute, every_run_is_in_the_file_under_its_id)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    struct results_source s;
    cr_assert_eq(results_source_open(&s, w.output, NULL), 0);
    cr_assert_eq(s.n_runs, 6);
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(s.runs[i].count[RESULTS_JOBS], 400);
        cr_assert_gt(s.runs[i].count[RESULTS_SERIES], 0);
        cr_assert_gt(s.runs[i].count[RESULTS_SEGMENTS], 0);
        cr_assert_gt(s.runs[i].count[RESULTS_ALLOCS], 0);
        cr_assert_gt(s.runs[i].count[RESULTS_EVENTS], 0);
        struct workload workload;
        struct run_result result;
        char digest[65];
        uint32_t found = 0;
        for (uint32_t k = 0; k < 6; k++) {
            cr_assert_eq(experiment_run_one(&w.x.runs[k], true, &workload, &result, NULL), 0);
            char id[17];
            results_run_id(&w.x.runs[k], &workload, id);
            results_digest(&result, &workload, digest);
            if (strcmp(id, s.runs[i].id) == 0) {
                found++;
                cr_assert_str_eq(digest, s.runs[i].digest);
            }
            run_result_fini(&result);
            workload_fini(&workload);
        }
        cr_assert_eq(found, 1);
    }
    results_source_fini(&s);
    world_fini(&w);
}

/* What another config left behind is gone when this one's file is whole. */
Test(execute, parts_of_another_config_do_not_stay)
{
    struct world w;
    world_init(&w, twelve);
    w.cancel_after = 3;
    cr_assert_eq(execute(&w), BRAID_FAILED);
    cr_assert(file_exists(in(w.dir, "out.h5.parts")));
    experiment_fini(&w.x);
    world_load(&w,
               "name: one\ntrace: {generate: {model: poisson, jobs: 50}}\ncluster: {nodes: [{count: 4, gpus: 8}]}\n");
    w.cancel = 0;
    w.cancel_after = 0;
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_expect_not(file_exists(in(w.dir, "out.h5.parts")));
    world_fini(&w);
}

Test(execute, an_interrupted_sweep_keeps_its_parts_and_is_taken_up_again)
{
    struct world w;
    for (int threads = 1; threads <= 2; threads++) {
        world_init(&w, twelve);
        w.cancel_after = 2;
        w.o.threads = threads;
        cr_assert_eq(execute(&w), BRAID_FAILED);
        cr_assert(w.report.was_interrupted);
        cr_assert_not(w.report.is_complete);
        cr_assert_geq(w.report.done, 2);
        cr_assert_lt(w.report.done, 12);
        cr_assert_not_null(strstr(w.err.message, "--resume"), "%s", w.err.message);
        cr_assert_not(file_exists(w.output));
        uint32_t stored = w.report.done;
        w.cancel = 0;
        w.cancel_after = 0;
        w.o.resume = true;
        cr_assert_eq(execute(&w), 0, "%s", w.err.message);
        cr_assert_eq(w.report.reused, stored);
        cr_assert_eq(w.report.done, 12 - stored);
        cr_assert(same_as_fresh(&w));
        cr_assert_not(file_exists(in(w.dir, "out.h5.parts")));
        /* and again: everything is there */
        cr_assert_eq(execute(&w), 0, "%s", w.err.message);
        cr_assert_eq(w.report.reused, 12);
        cr_assert(file_equal(w.output, in(w.dir, "fresh.h5")));
        world_fini(&w);
    }
}

Test(execute, without_resume_everything_is_computed_anew)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0);
    cr_assert_eq(execute(&w), 0);
    cr_assert_eq(w.report.reused, 0);
    cr_assert_eq(w.report.done, 6);
    world_fini(&w);
}

Test(execute, what_was_stored_under_another_description_is_computed_again)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0);
    experiment_fini(&w.x);
    char other[sizeof six + 10];
    snprintf(other, sizeof other, "%s", six);
    memset(strstr(other, ", events: on"), ' ', strlen(", events: on")); /* the same ids, other tables */
    world_load(&w, other);
    w.o.resume = true;
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_assert_eq(w.report.reused, 0);
    cr_assert(same_as_fresh(&w));
    world_fini(&w);
}

Test(execute, a_longer_sweep_takes_over_what_the_file_has)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0);
    experiment_fini(&w.x);
    char longer[sizeof six + 10];
    snprintf(longer, sizeof longer, "%.*s seed: [2, 3]}\n", (int)(strstr(six, " seed:") - six), six);
    world_load(&w, longer);
    w.o.resume = true;
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_assert_eq(w.report.reused, 3);
    cr_assert_eq(w.report.done, 3);
    cr_assert(same_as_fresh(&w));
    world_fini(&w);
}

Test(execute, a_damaged_part_is_computed_again)
{
    struct world w;
    world_init(&w, six);
    w.cancel_after = 3;
    cr_assert_eq(execute(&w), BRAID_FAILED);
    char id[17] = "";
    for (uint32_t i = 0; i < 6 && id[0] == '\0'; i++) {
        struct workload workload;
        cr_assert_eq(trace_load(&workload, &w.x.runs[i].trace, NULL), 0);
        results_run_id(&w.x.runs[i], &workload, id);
        workload_fini(&workload);
        char name[64];
        snprintf(name, sizeof name, "out.h5.parts/%s.h5", id);
        if (truncate(in(w.dir, name), 5000) != 0)
            id[0] = '\0';
    }
    cr_assert(id[0] != '\0');
    w.cancel = 0;
    w.cancel_after = 0;
    w.o.resume = true;
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_assert_eq(w.report.reused, 2);
    cr_assert(same_as_fresh(&w));
    world_fini(&w);
}

Test(execute, a_failed_run_is_a_row_that_says_why_and_is_tried_again)
{
    struct world w;
    for (int threads = 1; threads <= 2; threads++) {
        world_init(&w, six);
        w.o.threads = threads;
        const struct policy_ops *real = w.x.runs[2].policy.ops;
        w.x.runs[2].policy.ops = &refusing;
        cr_assert_eq(execute(&w), BRAID_FAILED);
        cr_assert_eq(w.report.failed, 1);
        cr_assert_eq(w.report.done, 5);
        cr_assert_not(w.report.is_complete);
        cr_assert_not_null(strstr(w.err.message, "this policy never starts"), "%s", w.err.message);
        struct results_source s;
        cr_assert_eq(results_source_open(&s, w.output, NULL), 0);
        cr_assert_eq(s.n_runs, 6);
        uint32_t failed = 0;
        for (uint32_t i = 0; i < 6; i++)
            failed += s.runs[i].status == RUN_FAILED;
        cr_assert_eq(failed, 1);
        results_source_fini(&s);
        cr_assert_not(file_exists(in(w.dir, "out.h5.parts")));
        w.x.runs[2].policy.ops = real;
        w.o.resume = true;
        cr_assert_eq(execute(&w), 0, "%s", w.err.message);
        cr_assert_eq(w.report.reused, 5);
        cr_assert(same_as_fresh(&w));
        world_fini(&w);
    }
}

Test(execute, fail_fast_stops_at_the_first_failure_and_leaves_the_file_alone)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0);
    cr_assert_eq(rename(w.output, in(w.dir, "before.h5")), 0);
    cr_assert_eq(link(in(w.dir, "before.h5"), w.output), 0);
    w.x.runs[0].policy.ops = &refusing;
    w.o.fail_fast = true;
    for (w.o.threads = 1; w.o.threads <= 2; w.o.threads++) {
        cr_assert_eq(execute(&w), BRAID_BAD_INPUT);
        cr_assert_eq(w.report.failed, 1);
        cr_assert_lt(w.report.done, 5);
        cr_assert(file_equal(w.output, in(w.dir, "before.h5")));
    }
    world_fini(&w);
}

Test(execute, when_all_runs_fail_the_earlier_file_stays)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0);
    cr_assert_eq(link(w.output, in(w.dir, "before.h5")), 0);
    for (uint32_t i = 0; i < w.x.n_runs; i++)
        w.x.runs[i].policy.ops = &refusing;
    cr_assert_eq(execute(&w), BRAID_BAD_INPUT);
    cr_assert_eq(w.report.failed, 6);
    cr_assert_str_eq(w.err.message, "this policy never starts");
    cr_assert(file_equal(w.output, in(w.dir, "before.h5")));
    cr_assert_not(file_exists(in(w.dir, "out.h5.parts")));
    world_fini(&w);
}

Test(execute, shards_put_together_are_the_whole)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(execute(&w), 0);
    char whole[512];
    snprintf(whole, sizeof whole, "%s", w.output);
    const char *parts[3];
    for (uint32_t i = 1; i <= 3; i++) {
        snprintf(w.output, sizeof w.output, "%s/shard%u.h5", w.dir, i);
        w.o.shard = i;
        w.o.n_shards = 3;
        cr_assert_eq(execute(&w), 0, "%s", w.err.message);
        cr_assert_eq(w.report.done, 2);
        parts[i - 1] = strdup(w.output);
    }
    cr_assert_eq(results_assemble(in(w.dir, "merged.h5"), parts, 3, NULL), 0);
    cr_assert(file_equal(whole, in(w.dir, "merged.h5")));
    /* shards into one file, one behind the other */
    snprintf(w.output, sizeof w.output, "%s/one.h5", w.dir);
    w.o.resume = true;
    for (w.o.shard = 1; w.o.shard <= 3; w.o.shard++)
        cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_assert(file_equal(whole, w.output));
    for (int i = 0; i < 3; i++)
        free((char *)parts[i]);
    world_fini(&w);
}

Test(execute, a_second_process_is_kept_away)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(mkdir(in(w.dir, "out.h5.parts"), 0777), 0);
    int fd = open(in(w.dir, "out.h5.parts/.lock"), O_RDWR | O_CREAT, 0666);
    cr_assert_eq(flock(fd, LOCK_EX), 0);
    cr_assert_eq(execute(&w), BRAID_FAILED);
    cr_assert_not_null(strstr(w.err.message, "another braid"), "%s", w.err.message);
    cr_assert_not(file_exists(w.output));
    close(fd);
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    world_fini(&w);
}

Test(execute, what_cannot_be_written_is_known_before_anything_is_computed)
{
    struct world w;
    world_init(&w, six);
    cr_assert_eq(mkdir(w.output, 0777), 0);
    cr_assert_eq(execute(&w), BRAID_FAILED);
    cr_assert_not_null(strstr(w.err.message, "folder"), "%s", w.err.message);
    cr_assert_eq(w.told, 0);
    snprintf(w.output, sizeof w.output, "%s/none/out.h5", w.dir);
    cr_assert_eq(execute(&w), BRAID_FAILED);
    cr_assert_not_null(strstr(w.err.message, "make the folder first"), "%s", w.err.message);
    cr_assert_eq(w.told, 0);
    world_fini(&w);
}

Test(execute, a_full_disk_stops_the_sweep_and_what_is_stored_stays)
{
    struct world w;
    struct rlimit old, limit;
    world_init(&w, six);
    w.cancel_after = 3;
    cr_assert_eq(execute(&w), BRAID_FAILED);
    w.cancel = 0;
    w.cancel_after = 0;
    w.o.resume = true;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 20000;
    for (w.o.threads = 1; w.o.threads <= 2; w.o.threads++) {
        setrlimit(RLIMIT_FSIZE, &limit);
        int status = execute(&w);
        setrlimit(RLIMIT_FSIZE, &old);
        cr_assert_eq(status, BRAID_FAILED);
        cr_assert_not_null(strstr(w.err.file, "out.h5.parts/"), "%s", w.err.file);
        cr_assert_not(file_exists(w.output));
    }
    w.o.threads = 1;
    cr_assert_eq(execute(&w), 0, "%s", w.err.message);
    cr_assert_eq(w.report.reused, 3);
    cr_assert(same_as_fresh(&w));
    world_fini(&w);
}

Test(execute, a_trace_that_cannot_be_read_is_bad_input)
{
    struct world w;
    world_init(&w, "name: bad\n"
                   "trace: {path: bad.csv}\n"
                   "cluster: {nodes: [{count: 1, gpus: 1}]}\n"
                   "sweep: {policy: [fifo, sjf, srtf]}\n");
    FILE *f = fopen(in(w.dir, "bad.csv"), "w");
    fputs("what is this\n", f);
    fclose(f);
    for (w.o.threads = 1; w.o.threads <= 2; w.o.threads++) {
        cr_assert_eq(execute(&w), BRAID_BAD_INPUT);
        cr_assert_not_null(strstr(w.err.file, "bad.csv"), "%s: %s", w.err.file, w.err.message);
        cr_assert_not(file_exists(w.output));
        cr_assert_not(file_exists(in(w.dir, "out.h5.parts")));
    }
    world_fini(&w);
}

Test(execute, costs_are_beside_the_file_a_line_a_run)
{
    struct world w;
    world_init(&w, six);
    w.cancel_after = 2;
    cr_assert_eq(execute(&w), BRAID_FAILED);
    w.cancel = 0;
    w.cancel_after = 0;
    w.o.resume = true;
    cr_assert_eq(execute(&w), 0);
    size_t n;
    char *text = file_bytes(in(w.dir, "out.cost.csv"), &n);
    cr_assert_not_null(text);
    text[n] = '\0';
    static const char header[] = "run,wall_s,cpu_s,peak_memory_mb,threads,finished_at\n";
    cr_assert_eq(strncmp(text, header, strlen(header)), 0);
    struct results_source s;
    cr_assert_eq(results_source_open(&s, w.output, NULL), 0);
    const char *at = text + strlen(header);
    for (uint32_t i = 0; i < s.n_runs; i++) {
        double wall, cpu, memory;
        int threads;
        cr_assert_eq(strncmp(at, s.runs[i].id, 16), 0);
        cr_assert_eq(sscanf(at + 16, ",%lf,%lf,%lf,%d", &wall, &cpu, &memory, &threads), 4);
        cr_assert(wall >= 0 && cpu >= 0 && memory > 1 && threads == 1);
        at = strchr(at, '\n') + 1;
    }
    cr_assert_eq(*at, '\0');
    results_source_fini(&s);
    free(text);
    world_fini(&w);
}

/* ---- load ---- */

/* A VC that owns 2 nodes of 4 GPUs, and two that share 2 more by quota: 6 GPUs, from 100 s on 2, and 4 GPUs. They share 8 GPUs at most. */
Test(execute, capacity_follows_quotas_and_counts_shared_nodes_once)
{
    struct world w;
    world_init(&w, "name: c\n"
                   "trace: {generate: {model: poisson, jobs: 10}}\n"
                   "cluster: {nodes: [{count: 4, gpus: 4}], vcs: {own: {nodes: 2}, q: {gpus: 6}, r: {gpus: 4}}}\n"
                   "policy: fifo\n");
    static const struct sample_job jobs[] = {
        {"a", "u", "own", 8, 0, 10, 0, 10, 10, 0, 0},  {"b", "u", "own", 9, 0, 10, 0, 10, 10, 0, 0},
        {"c", "u", "q", 6, 0, 10, 0, 10, 10, 0, 0},    {"d", "u", "r", 5, 0, 10, 0, 10, 10, 0, 0},
        {"e", "u", "gone", 1, 0, 10, 0, 10, 10, 0, 0},
    };
    struct vc_change change = {.at_ns = 100 * INT64_C(1000000000), .gpus = 2};
    w.x.runs[0].cluster.vcs[1].changes = &change;
    w.x.runs[0].cluster.vcs[1].n_changes = 1;
    struct run_sample s;
    run_sample_init(&s, jobs, 5, 1);
    struct load_capacity *c = load_capacity_create(&w.x.runs[0], &s.workload, &w.err);
    cr_assert_not_null(c, "%s", w.err.message);
    struct trace_capacity v = load_capacity_view(c);
    const int64_t second = 1000000000;
    cr_assert_eq(v.integral(v.self, 0, 0, 200 * second), 8 * 200e9);
    cr_assert_eq(v.integral(v.self, 1, 0, 200 * second), 6 * 100e9 + 2 * 100e9);
    cr_assert_eq(v.integral(v.self, 1, 90 * second, 101 * second), 6 * 10e9 + 2 * 1e9);
    cr_assert_eq(v.integral(v.self, 2, 50 * second, 60 * second), 4 * 10e9);
    cr_assert_eq(v.integral(v.self, 3, 0, 200 * second), 0);
    cr_assert_eq(v.integral(v.self, NAMES_NONE, 0, 200 * second), (8 + 8) * 100e9 + (8 + 6) * 100e9);
    const bool admissible[] = {true, false, true, false, false};
    for (uint32_t i = 0; i < 5; i++)
        cr_assert_eq(v.is_admissible(v.self, i), admissible[i], "job %u", i);
    load_capacity_destroy(c);
    run_sample_fini(&s);
    world_fini(&w);
}

Test(execute, a_trace_is_scaled_to_the_load_asked_for)
{
    struct world w;
    world_init(&w, six);
    struct workload workload;
    struct run_result result;
    cr_assert_eq(experiment_run_one(&w.x.runs[0], true, &workload, &result, NULL), 0);
    double work = 0;
    for (uint32_t i = 0; i < workload.n_jobs; i++)
        work += (double)workload.gpus[i] * (double)workload.duration_ns[i];
    double span = (double)(workload.submit_ns[workload.n_jobs - 1] - workload.submit_ns[0]);
    cr_assert_float_eq(work / (32 * span), 0.8, 1e-6);
    cr_assert_float_eq(result.totals.capacity_gpu_ns_window, 32 * span, 1e-6 * 32 * span);
    run_result_fini(&result);
    workload_fini(&workload);
    world_fini(&w);
}

Test(execute, jobs_are_stored_unless_there_are_many_runs)
{
    struct experiment x = {.n_runs = 100};
    struct run_config run = {.output.jobs = OUTPUT_AUTO};
    cr_assert(experiment_keeps_jobs(&x, &run));
    x.n_runs = 101;
    cr_assert_not(experiment_keeps_jobs(&x, &run));
    run.output.jobs = OUTPUT_ON;
    cr_assert(experiment_keeps_jobs(&x, &run));
    run.output.jobs = OUTPUT_OFF;
    x.n_runs = 1;
    cr_assert_not(experiment_keeps_jobs(&x, &run));
}
