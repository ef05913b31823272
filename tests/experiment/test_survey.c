/* What a config leaves out of its trace is said: before the run, and the same after it. */
#include "experiment/config_fixture.h"
#include "experiment/execute.h"
#include "experiment/survey.h"

#include "base/number.h"

#include <math.h>

/* Every 100 s a job of 1 GPU for 100 s, in turn in VC a and b, 40 in all; then the odd ones. */
static void write_trace(struct fixture *f)
{
    char text[4000];
    size_t n = (size_t)snprintf(text, sizeof text, "id,submit,duration,gpus,vc,gpu_type,memory\n");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%d,%d,100,1,%s,k80,1 GiB\n", i, i * 100,
                              i % 2 == 0 ? "a" : "b");
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "x1,50,10,1,debug,k80,\nx2,60,10,1,debug,k80,\nx3,70,10,1,Debug,k80,\nx4,80,10,1,a,K80,\n"
                          "x5,90,10,64,b,k80,\nx6,95,10,1,b,k80,999 GiB\n");
    fixture_write(f, "t.csv", text, n);
}

/* The remarks as lines. */
static char *lines(const struct remarks *r, const struct experiment *x)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    remarks_write(r, x, out);
    fclose(out);
    return text;
}

/* What `config check` says. */
static char *foreseen(struct fixture *f, const char *yaml)
{
    struct remarks r = {0};
    cr_assert_eq(fixture_load(f, yaml, NULL), BRAID_OK, "%d:%d: %s", f->err.line, f->err.col, f->err.message);
    survey_sweep(&r, &f->x);
    cr_expect_eq(survey_traces(&r, &f->x, &f->err), BRAID_OK, "%s", f->err.message);
    char *text = lines(&r, &f->x);
    remarks_fini(&r);
    return text;
}

static void expect_said(const char *text, const char *const *wanted, size_t n)
{
    size_t n_lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        n_lines += *c == '\n';
    cr_expect_eq(n_lines, n, "%zu lines, not %zu:\n%s", n_lines, n, text);
    for (size_t i = 0; i < n; i++)
        cr_expect(strstr(text, wanted[i]) != NULL, "missing: %s\nin:\n%s", wanted[i], text);
}
#define EXPECT_SAID(text, ...)                                                                                         \
    expect_said(text, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static const char odd[] = "trace: t.csv\n"
                          "cluster:\n"
                          "  nodes: [{count: 4, gpus: 8, gpu: k80, memory: 64 GiB}]\n"
                          "  vcs: {a: {nodes: 1}, b: {nodes: 1}, idle: {nodes: 1}}\n";

Test(survey, what_is_rejected_or_ignored_is_said_with_its_reason)
{
    struct fixture f;
    fixture_init(&f);
    write_trace(&f);
    char *text = foreseen(&f, odd);
    EXPECT_SAID(
        text, "3 of 46 jobs will be rejected as unknown_vc: VCs 'debug' (2), 'Debug' (1) are not in the cluster\n",
        "1 of 46 jobs will be rejected as gpu_type_absent: no node that they may use has GPUs of type 'K80'\n",
        "1 of 46 jobs will be rejected as too_large_for_cluster: they ask for up to 64 GPUs, more than ever fit (VC "
        "'b')\n",
        "1 of 46 jobs will be rejected as too_much_memory: they ask for up to 999 GiB of main memory, more than the "
        "nodes "
        "have (VC 'b')\n",
        "GPU type 'K80' of the trace and 'k80' of the cluster differ by case only",
        "no job of the trace is in VC 'idle' of the config\n",
        "1 node (8 GPUs) belongs to no virtual cluster and stays idle\n");
    free(text);

    /* the run says what has come of it, in the same words */
    struct remarks r = {0};
    struct workload w;
    struct run_result result;
    cr_assert_eq(experiment_run_one(&f.x.runs[0], true, &w, &result, &f.err), BRAID_OK, "%s", f.err.message);
    survey_run(&r, &f.x.runs[0], &w, &result);
    text = lines(&r, &f.x);
    cr_expect(
        strstr(text, "3 of 46 jobs are rejected as unknown_vc: VCs 'debug' (2), 'Debug' (1) are not in the cluster\n"),
        "%s", text);
    cr_expect(strstr(text, "1 of 46 jobs is rejected as too_much_memory"), "%s", text);
    free(text);
    remarks_fini(&r);
    run_result_fini(&result);
    workload_fini(&w);
    fixture_unload(&f);

    text = foreseen(
        &f, "trace: {path: t.csv, vcs: [a, b]}\ncluster: {nodes: [{count: 1, gpus: 64, gpu: k80}, {gpu: K80}]}\n");
    EXPECT_SAID(
        text,
        "the 2 virtual clusters of the trace ('b', 'a') are ignored, since 'cluster.vcs' lists none: all jobs share "
        "one queue\n");
    free(text);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(survey, nothing_is_said_where_nothing_is_left_out)
{
    struct fixture f;
    fixture_init(&f);
    write_trace(&f);
    char *text = foreseen(
        &f,
        "trace: {path: t.csv, vcs: [a], jobs: 5}\ncluster: {nodes: [{gpu: k80}, {gpu: K80}], vcs: {a: {nodes: 2}}}\n");
    cr_expect_str_eq(text, "");
    free(text);
    fixture_unload(&f);
    text = foreseen(&f, "trace: {generate: {model: philly, jobs: 100}}\ncluster: {nodes: [{count: 64}]}\n");
    cr_expect_str_eq(text, "");
    free(text);
    fixture_unload(&f);
    fixture_fini(&f);
}

/* Ten good jobs of 1 GPU, then `rows`. */
static char *foreseen_with(struct fixture *f, const char *rows, const char *keys)
{
    char text[4000], yaml[200];
    size_t n = (size_t)snprintf(text, sizeof text, "id,submit,duration,gpus\n");
    for (int i = 0; i < 10; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%d,%d,1,1\n", i, i * 100);
    n += (size_t)snprintf(text + n, sizeof text - n, "%s", rows);
    fixture_write(f, "t.csv", text, n);
    snprintf(yaml, sizeof yaml, "trace: {path: t.csv%s}\ncluster: {nodes: [{gpus: 8}]}\n", keys);
    char *said = foreseen(f, yaml);
    fixture_unload(f);
    return said;
}

Test(survey, a_trace_of_which_many_jobs_are_lost_is_named)
{
    static const struct {
        const char *rows, *keys, *said;
    } cases[] = {
        {"x,5,,1\ny,6,,1\nz,7,many,1\nv,8,1\n", "",
         "29 % of the trace's jobs (4 of 14) were dropped when it was read (bad_number 1, no_duration 2, short_row "
         "1): "},
        {"x,5,,1\ny,6,9,0\nz,7,9,0\nv,8,9,0\n", "",
         "9 % of the trace's jobs (1 of 11) were dropped when it was read (no_duration 1): "},
        {"x,5,9,0\ny,6,9,0\nz,7,9,0\n", "", NULL},          /* they ask for no GPU */
        {"x,5,9,1\ny,6,9,1\nz,7,9,1\n", ", jobs: 3", NULL}, /* that was asked for */
        {"x,5,,1\na,6,9,1\nb,6,9,1\nc,6,9,1\nd,6,9,1\ne,6,9,1\nf,6,9,1\ng,6,9,1\nh,6,9,1\ni,6,9,1\n", "",
         NULL}, /* 1 of 20 is not above 5 % */
    };
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *said = foreseen_with(&f, cases[i].rows, cases[i].keys);
        if (cases[i].said != NULL)
            cr_expect(strstr(said, cases[i].said) != NULL, "%zu: %s", i, said);
        else
            cr_expect(strstr(said, "dropped") == NULL, "%zu: %s", i, said);
        free(said);
    }
    fixture_fini(&f);
}

Test(survey, runs_that_would_be_refused_are_refused_before)
{
    static const char trace[] = "id,submit,duration,gpus,user\na,0,9,1,ann\n",
                      shares[] = "name,guarantee\nann,6\nbob,6\n";
    static const struct {
        const char *keys, *said; /* NULL: it is right */
    } cases[] = {
        {"policy: fifo\n", NULL},
        {"policy: {order: las, fill: easy, preempt: when_better}\n", "c.yaml: fill: easy counts on running jobs"},
        {"policy: {name: dynamic_priority, weights: \"ann=2\"}\n", NULL},
        {"policy: {name: dynamic_priority, weights: \"ann=2,bob=3\"}\n",
         "c.yaml: weights: no job of the trace is of user 'bob'"},
        {"sweep: {seed: [1, 2], policy: [fifo, {name: dynamic_priority, weights: \"bob=3\"}]}\n",
         "dynamic_priority, seed 1: weights: no job of the trace is of user 'bob'; leave it out, or use * (so in 2 of "
         "4 runs)"},
        {"policy: {name: quota, shares: shares.csv}\n", "guarantees of 12 GPUs in all, but the cluster has 8"},
        {"estimate: {source: trace}\n", "c.yaml: estimate.source is trace, but the trace has no estimates"},
    };
    struct fixture f;
    fixture_init(&f);
    fixture_write(&f, "t.csv", trace, sizeof trace - 1);
    fixture_write(&f, "shares.csv", shares, sizeof shares - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct remarks r = {0};
        char yaml[500], text[1200] = "";
        snprintf(yaml, sizeof yaml, "trace: t.csv\ncluster: {nodes: [{gpus: 8}]}\n%s", cases[i].keys);
        cr_assert_eq(fixture_load(&f, yaml, NULL), BRAID_OK, "%zu: %s", i, f.err.message);
        int status = survey_traces(&r, &f.x, &f.err);
        fixture_error(&f, text, sizeof text);
        cr_expect_eq(status, cases[i].said == NULL ? BRAID_OK : BRAID_BAD_INPUT, "%zu: %s", i, text);
        cr_expect(cases[i].said == NULL || strstr(text, cases[i].said) != NULL, "%zu: %s", i, text);
        remarks_fini(&r);
        fixture_unload(&f);
    }
    fixture_fini(&f);
}

Test(survey, a_load_above_1_is_said)
{
    struct fixture f;
    fixture_init(&f);
    write_trace(&f);
    static const char one[] =
        "trace: {path: t.csv, vcs: [a, b], jobs: 30%s}\ncluster: {nodes: [{gpus: 2, gpu: k80, vc: a}, {gpus: "
        "64, gpu: k80, vc: b}]}\n";
    char yaml[400];
    snprintf(yaml, sizeof yaml, one, ", load: 1");
    char *text = foreseen(&f, yaml);
    cr_expect(strstr(text, "load is above") == NULL || strstr(text, "the cluster (") == NULL, "%s", text);
    free(text);
    fixture_unload(&f);
    static const char all[] =
        "trace: {path: t.csv, vcs: [a, b]%s}\ncluster: {nodes: [{gpus: 2, gpu: k80, vc: a}, {gpus: 2, gpu: "
        "k80, vc: b}]}\n";
    snprintf(yaml, sizeof yaml, all, ", scale: 4");
    text = foreseen(&f, yaml);
    cr_expect(strstr(text, "the offered load is above 1 for VC 'b' (1.03): more GPU") == NULL, "%s", text);
    cr_expect(strstr(text, "the offered load is above 1 for the cluster (1.0"), "%s", text);
    free(text);
    fixture_unload(&f);
    snprintf(yaml, sizeof yaml, all, ", load: 1.2");
    text = foreseen(&f, yaml);
    cr_expect(strstr(text, "the offered load is above 1 for the cluster (1.20)"), "%s", text);
    free(text);
    fixture_unload(&f);
    text = foreseen(
        &f,
        "trace: {path: t.csv, vcs: [a], load: 0.5}\nsweep: {cluster.nodes: [[{gpu: k80}], [{count: 2, gpu: k80}]]}\n");
    cr_expect(strstr(text, "'trace.load' is relative to the cluster, and the sweep has 'cluster.nodes'"), "%s", text);
    free(text);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(survey, a_trace_that_cannot_be_read_is_said_and_the_config_is_still_right)
{
    struct fixture f;
    fixture_init(&f);
    char *text = foreseen(&f, "trace: nowhere.csv\nsweep: {seed: [1, 2]}\n");
    cr_expect(strstr(text, "the trace cannot be read: ") && strstr(text, "nowhere.csv"), "%s", text);
    free(text);
    fixture_unload(&f);
    text = foreseen(&f, "trace: {generate: {jobs: 300000000}}\n");
    EXPECT_SAID(text,
                "the trace was not read for this check, it has very many jobs; 'braid run' says what it rejects\n");
    free(text);
    fixture_unload(&f);
    text = foreseen(&f, "trace: {generate: {jobs: 50}}\ncluster: {nodes: [{count: 99}]}\nsweep: {seed: [1, 2, 3, 4, 5, "
                        "6, 7, 8, 9, 10]}\n");
    cr_expect(strstr(text, "8 of 10 traces were read for this check"), "%s", text);
    free(text);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(survey, scale_is_a_factor_on_the_recorded_rate_whatever_the_cluster)
{
    struct fixture f;
    struct workload w;
    struct run_result r;
    fixture_init(&f);
    write_trace(&f);
    cr_assert_eq(fixture_load(&f,
                              "trace: {path: t.csv, vcs: [a, b], scale: 1.25}\nsweep: {cluster.nodes.0.count: [3, "
                              "9]}\ncluster: {nodes: [{gpu: k80}]}\n",
                              NULL),
                 BRAID_OK, "%s", f.err.message);
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(experiment_run_one(&f.x.runs[i], true, &w, &r, &f.err), BRAID_OK, "%s", f.err.message);
        cr_expect_eq(w.submit_ns[0], 0);
        cr_expect_eq(w.submit_ns[w.n_jobs - 1], 3900 * NS_PER_S * 4 / 5);
        cr_expect_eq(w.submit_ns[1], 80 * NS_PER_S * 4 / 5);
        run_result_fini(&r);
        workload_fini(&w);
    }
    fixture_unload(&f);
    fixture_fini(&f);
    static const struct bad_config cases[] = {
        {"trace:\n  path: x\n  load: 0.9\n  scale: 1.2\n",
         "c.yaml:4:3: 'trace.scale' cannot stand beside 'trace.load'; leave one of them out: 'scale' is relative to "
         "the record, "
         "'load' to the capacity"},
        {"trace: {path: x, scale: 0}\n", "c.yaml:1:25: 'trace.scale' is 0, but must be from 0.0001 to 1000"},
    };
    EXPECT_BAD(cases);
}
