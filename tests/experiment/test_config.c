/* Configs that are right: every key ends up where it belongs, and the texts of a run say what decides it. */
#include "base/number.h"
#include "experiment/config_fixture.h"
#include "experiment/config_keys.h"

#include <stdarg.h>
#include <sys/wait.h>

Test(config, trace_alone_is_enough)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(fixture_load(&f, "trace: sub/x.csv\n", NULL), BRAID_OK, "%s", f.err.message);
    cr_expect_str_eq(f.x.name, "c");
    cr_assert_eq(f.x.n_runs, 1);
    const struct run_config *r = &f.x.runs[0];
    char path[512];
    snprintf(path, sizeof path, "%s/sub/x.csv", f.folder);
    cr_expect_str_eq(r->trace.path, path);
    cr_expect_str_eq(r->trace.shown_path, "sub/x.csv");
    cr_expect_str_eq(r->trace.format, "auto");
    cr_expect(!r->trace.has_begin && !r->trace.has_end && !r->trace.is_generated && !r->trace.strict);
    cr_expect_eq(r->trace.jobs, TRACE_NO_LIMIT);
    cr_expect_eq(r->trace.load, 0);
    cr_expect_eq(r->trace.n_vcs, 0);
    cr_expect_eq(r->cluster.n_groups, 1);
    cr_expect_eq(r->cluster.groups[0].count, 8);
    cr_expect_eq(r->cluster.groups[0].gpus, 8);
    cr_expect_eq(r->cluster.groups[0].memory_kib, 0);
    cr_expect_eq(r->cluster.n_vcs, 0);
    cr_expect_str_eq(r->policy.ops->name, "fifo");
    cr_expect_str_eq(r->policy.label, "fifo");
    cr_expect_str_eq(r->placement.ops->name, "consolidate");
    cr_expect_eq(r->estimate.source, ESTIMATE_EXACT);
    cr_expect_eq(r->estimate.on_exceed, ESTIMATE_RUN_ON);
    cr_expect_eq(r->overhead.start.constant_ns, 0);
    cr_expect_eq(r->overhead.restart.constant_ns, 0);
    cr_expect(!r->measure.has_from);
    cr_expect_eq(r->measure.to_ns, RUN_NO_LIMIT);
    cr_expect_eq(r->stop.at_ns, RUN_NO_LIMIT);
    cr_expect_eq(r->stop.queue, UINT32_MAX);
    cr_expect_eq(r->output.jobs, OUTPUT_AUTO);
    cr_expect_eq(r->output.series_step_ns, 0);
    cr_expect(!r->output.segments && !r->output.events);
    cr_expect_str_eq(r->compat, "none");
    cr_expect_eq(r->seed, 1);
    cr_expect_eq(r->n_swept, 0);
    fixture_unload(&f);
    fixture_fini(&f);
}

static const char every_key[] =
    "name: whole\n"
    "trace:\n"
    "  path: x.csv\n"
    "  format: philly_csv\n"
    "  applications: sub/lengths.csv\n"
    "  window: [2017-10-01, \"2017-10-08 12:00:00\"]\n"
    "  jobs: 2000\n"
    "  load: 0.9\n"
    "  load_scope: vc\n"
    "  failed: merge_attempts\n"
    "  strict: on\n"
    "  vcs: [NO, 010, 1:30, 6214e9, 0x10]\n"
    "  profiles: {table: o.csv, jobs: all, mix: [1, 0, 2.5, 1], seed: 9}\n"
    "  bootstrap: {days: same_weekday, length: 21, seed: 12}\n"
    "  deadlines: {factor: [0.5, 1.5], share: 0.25, jobs: all, seed: 11}\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: fast, count: 4, gpus: 8, gpu: v100, gpu_memory: 16 GiB, cpus: 92, memory: 520 GB}\n"
    "    - {count: 2, gpus: 0, cpus: 1.5, nodes_per_rack: 1}\n"
    "    - {count: 1, vc: own}\n"
    "  nodes_per_rack: 2\n"
    "  vcs:\n"
    "    6214e9: {nodes: 1, of: fast}\n"
    "    NO: {gpus: 8, shrink: preempt}\n"
    "    010: {gpus: 0, changes: q.csv}\n"
    "policy: {name: srtf, label: mine, quantum: 2 min}\n"
    "placement: {name: count}\n"
    "estimate: {source: noise, sigma: 0.25, on_exceed: kill}\n"
    "model: {start_overhead: {by_gpus: {8: 30 s, 1: 7 s}}, restart_overhead: {table: o.csv},\n"
    "        fidelity: stage, profile_error: 0.1,\n"
    "        interleave: {groups: 3, order: worst, kinds: [storage+cpu, gpu, network], inflation: [1, 1.25]}}\n"
    "measure: {from: 1 d, to: 2 d, warm_up: 3 h}\n"
    "stop: {at: 1.5 h, queue: 100}\n"
    "output: {jobs: off, series: 1 h, segments: on, events: true}\n"
    "compat: none\n"
    "seed: 7\n";

static void write_files(struct fixture *f)
{
    static const char quota[] = "time,010\n0,8\n86400,0\n";
    static const char overhead[] = "gpus,model,overhead\n8,bert,10.5\n1,other,10\n1,bert,4\n";
    fixture_write(f, "q.csv", quota, strlen(quota));
    fixture_write(f, "o.csv", overhead, strlen(overhead));
}

Test(config, every_key_is_laid_down)
{
    struct fixture f;
    fixture_init(&f);
    write_files(&f);
    cr_assert_eq(fixture_load(&f, every_key, NULL), BRAID_OK, "%d:%d: %s", f.err.line, f.err.col, f.err.message);
    const struct run_config *r = &f.x.runs[0];
    char path[512];
    snprintf(path, sizeof path, "%s/sub/lengths.csv", f.folder);
    cr_expect_str_eq(f.x.name, "whole");
    cr_expect_str_eq(r->trace.format, "philly_csv");
    cr_expect_str_eq(r->trace.applications_path, path);
    cr_expect_str_eq(r->trace.applications_shown, "sub/lengths.csv");
    cr_expect(r->trace.has_begin && r->trace.has_end && !r->trace.window_is_relative && r->trace.strict);
    cr_expect_eq(r->trace.begin_ns, 1506816000 * NS_PER_S);
    cr_expect_eq(r->trace.end_ns, (1506816000 + 7 * 86400 + 43200) * NS_PER_S);
    cr_expect_eq(r->trace.jobs, 2000);
    cr_expect_eq(r->trace.load, 0.9);
    cr_expect_eq(r->trace.load_scope, TRACE_LOAD_VC);
    cr_expect_eq(r->trace.failed, TRACE_FAILED_MERGE_ATTEMPTS);
    static const char *const vcs[] = {"NO", "010", "1:30", "6214e9", "0x10"};
    cr_assert_eq(r->trace.n_vcs, 5);
    for (int i = 0; i < 5; i++)
        cr_expect_str_eq(r->trace.vcs[i], vcs[i]);
    const struct stages_spec *stages = &r->trace.stages;
    cr_expect_str_eq(stages->table_shown, "o.csv");
    cr_expect(stages->jobs == STAGES_ALL && stages->seed == 9);
    cr_assert_eq(stages->mix.n, 4);
    cr_expect(stages->mix.v[0] == 1 && stages->mix.v[1] == 0 && stages->mix.v[2] == 2.5 && stages->mix.v[3] == 1);
    const struct bootstrap_spec *bootstrap = &r->trace.bootstrap;
    cr_expect(bootstrap->days == BOOTSTRAP_SAME_WEEKDAY && bootstrap->length_days == 21 && bootstrap->seed == 12);
    const struct deadlines_spec *deadlines = &r->trace.deadlines;
    cr_expect(deadlines->jobs == DEADLINES_ALL && deadlines->seed == 11 && deadlines->share == 0.25);
    cr_assert_eq(deadlines->factor.n, 2);
    cr_expect(deadlines->factor.v[0] == 0.5 && deadlines->factor.v[1] == 1.5);
    cr_assert_eq(r->cluster.n_groups, 3);
    const struct node_group_spec *g = r->cluster.groups;
    cr_expect(g[0].count == 4 && g[0].gpus == 8 && g[0].cpu_milli == 92000 && g[0].nodes_per_rack == 0);
    cr_expect_str_eq(g[0].gpu, "v100");
    cr_expect_eq(g[0].gpu_memory_kib, 16u << 20);
    cr_expect_eq(g[0].memory_kib, 507812500);
    cr_expect(g[1].count == 2 && g[1].gpus == 0 && g[1].cpu_milli == 1500 && g[1].nodes_per_rack == 1);
    cr_expect_str_eq(g[1].gpu, "");
    cr_expect_str_eq(g[0].name, "fast");
    cr_expect_str_eq(g[2].vc, "own");
    cr_expect_eq(r->cluster.nodes_per_rack, 2);
    cr_assert_eq(r->cluster.n_vcs, 4);
    const struct vc_spec *vc = r->cluster.vcs;
    cr_expect_str_eq(vc[0].name, "6214e9");
    cr_expect(vc[0].mode == VC_NODES && vc[0].amount == 1);
    cr_expect_str_eq(vc[0].of, "fast");
    cr_expect_str_eq(vc[3].name, "own");
    cr_expect_str_eq(vc[1].name, "NO");
    cr_expect(vc[1].mode == VC_GPUS && vc[1].amount == 8 && vc[1].shrink == VC_PREEMPT);
    cr_expect_str_eq(vc[2].name, "010");
    cr_expect(vc[2].mode == VC_GPUS && vc[2].amount == 0 && vc[2].shrink == VC_DRAIN);
    cr_expect_str_eq(vc[2].changes_shown, "q.csv");
    cr_expect_eq(vc[2].n_changes, 2);
    cr_expect_str_eq(r->policy.ops->name, "srtf");
    cr_expect_str_eq(r->policy.label, "mine");
    for (size_t i = 0; i < r->policy.ops->n_params; i++)
        if (strcmp(r->policy.ops->params[i].name, "quantum") == 0)
            cr_expect_eq(r->policy.params[i].i, 120 * NS_PER_S);
        else if (strcmp(r->policy.ops->params[i].name, "order") == 0)
            cr_expect_str_eq(r->policy.params[i].s, "srtf");
    cr_expect_str_eq(r->placement.ops->name, "count");
    cr_expect(r->estimate.source == ESTIMATE_NOISE && r->estimate.on_exceed == ESTIMATE_KILL);
    cr_expect_eq(r->estimate.sigma, 0.25);
    cr_assert_eq(r->overhead.start.n_rows, 2);
    cr_expect(r->overhead.start.rows[0].gpus == 1 && r->overhead.start.rows[0].ns == 7 * NS_PER_S);
    cr_expect(r->overhead.start.rows[1].gpus == 8 && r->overhead.start.rows[1].ns == 30 * NS_PER_S);
    cr_expect_eq(r->overhead.restart.n_rows, 3);
    cr_expect(r->sharing.groups == 3 && r->sharing.order == INTERLEAVE_WORST);
    cr_expect_eq(r->sharing.fidelity, SHARING_STAGE);
    cr_expect_eq(r->profile_error, 0.1);
    cr_expect_eq(r->sharing.n_kinds, 3);
    cr_expect(r->sharing.kind[1] == 0 && r->sharing.kind[3] == 2);
    cr_assert_eq(r->sharing.inflation.n, 2);
    cr_expect(r->sharing.inflation.v[0] == 1 && r->sharing.inflation.v[1] == 1.25);
    cr_expect_str_eq(r->overhead.restart.table_shown, "o.csv");
    cr_expect(r->measure.has_from);
    cr_expect_eq(r->measure.from_ns, 86400 * NS_PER_S);
    cr_expect_eq(r->measure.to_ns, 2 * 86400 * NS_PER_S);
    cr_expect_eq(r->measure.warm_up_ns, 3 * 3600 * NS_PER_S);
    cr_expect_eq(r->stop.at_ns, 5400 * NS_PER_S);
    cr_expect_eq(r->stop.queue, 100);
    cr_expect_eq(r->output.jobs, OUTPUT_OFF);
    cr_expect_eq(r->output.series_step_ns, 3600 * NS_PER_S);
    cr_expect(r->output.segments && r->output.events);
    cr_expect_eq(r->seed, 7);
    fixture_unload(&f);
    fixture_fini(&f);
}

/* The test above is about all keys: one that is new must be added there. */
Test(config, every_key_of_the_table_is_tested)
{
    static const char *const elsewhere[] = {"columns",  "separator", "header",        "unit", "scale",
                                            "jobs",     "user",      "gpu_type",      "vc",   "gpus",
                                            "generate", "file",      "gpus_per_node", "sweep"};
    for (size_t i = 0; i < config_n_keys; i++) {
        char text[80];
        bool is_elsewhere = strcmp(config_keys[i].section, "trace.generate") == 0 ||
                            strncmp(config_keys[i].section, "trace.columns", 13) == 0; /* test_config_columns.c */
        snprintf(text, sizeof text, "%s:", config_keys[i].name);
        for (size_t k = 0; k < sizeof elsewhere / sizeof elsewhere[0]; k++)
            is_elsewhere |= strcmp(config_keys[i].name, elsewhere[k]) == 0;
        cr_expect(is_elsewhere || strstr(every_key, text) != NULL, "%s.%s is not tested", config_keys[i].section,
                  config_keys[i].name);
    }
}

Test(config, generated_traces_and_cluster_files)
{
    static const char nodes[] = "vc,node num\na,2\nb,3\n";
    struct fixture f;
    fixture_init(&f);
    fixture_write(&f, "vc.csv", nodes, strlen(nodes));
    cr_assert_eq(
        fixture_load(
            &f,
            "trace: {generate: {model: poisson, jobs: 50, rate_per_day: 3.5, vcs: 2, users: 9, lean: on}, window: "
            "[start, 7 d]}\n"
            "cluster: {file: vc.csv, gpus_per_node: 4}\n"
            "estimate: user_mean\n"
            "seed: 11\n",
            NULL),
        BRAID_OK, "%d:%d: %s", f.err.line, f.err.col, f.err.message);
    const struct run_config *r = &f.x.runs[0];
    cr_expect(r->trace.is_generated && r->trace.path == NULL && r->trace.generate.is_lean);
    cr_expect_str_eq(r->trace.generate.model, "poisson");
    cr_expect(r->trace.generate.jobs == 50 && r->trace.generate.vcs == 2 && r->trace.generate.users == 9);
    cr_expect_eq(r->trace.generate.rate_per_day, 3.5);
    cr_expect_eq(r->trace.generate.seed, 11, "the run's seed unless it has its own");
    cr_expect(!r->trace.has_begin && r->trace.has_end && r->trace.window_is_relative);
    cr_expect_eq(r->trace.end_ns, 7 * 86400 * NS_PER_S);
    cr_expect_eq(r->cluster.gpus_per_node, 4);
    cr_expect_eq(r->cluster.n_vcs, 2);
    cr_expect_eq(r->estimate.source, ESTIMATE_USER_MEAN);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, "trace: {generate: {seed: 3}}\n", NULL), BRAID_OK);
    cr_expect_eq(f.x.runs[0].trace.generate.seed, 3);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(config, compositions_are_named_by_their_parts)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(fixture_load(&f, "trace: x\npolicy: {fill: easy, order: srsf}\n", NULL), BRAID_OK, "%s",
                 f.err.message);
    cr_expect_str_eq(f.x.runs[0].policy.ops->name, "compose");
    cr_expect_str_eq(f.x.runs[0].policy.label, "srsf+easy");
    fixture_unload(&f);
    fixture_fini(&f);
}

/* The resolved text of the first run, and its identity; to be freed. */
static char *text_of(struct fixture *f, const char *yaml, const char *set, bool identity)
{
    cr_assert_eq(fixture_load(f, yaml, set), BRAID_OK, "%d:%d: %s", f->err.line, f->err.col, f->err.message);
    char *text = strdup(identity ? f->x.runs[0].identity : f->x.runs[0].yaml);
    fixture_unload(f);
    return text;
}

Test(config, resolved_text_reads_back_as_itself)
{
    struct fixture f;
    fixture_init(&f);
    write_files(&f);
    char *first = text_of(&f, every_key, NULL, false);
    char *again = text_of(&f, first, NULL, false);
    cr_expect_str_eq(first, again);
    cr_expect_not_null(strstr(first, "vcs: [\"NO\", \"010\", \"1:30\", \"6214e9\", \"0x10\"]"));
    cr_expect_null(strstr(first, "output"));
    cr_expect_null(strstr(first, "whole"));
    free(first);
    free(again);
    fixture_fini(&f);
}

static void expect_same(struct fixture *f, bool same, const char *a, const char *b)
{
    char *x = text_of(f, a, NULL, true), *y = text_of(f, b, NULL, true);
    cr_expect_eq(strcmp(x, y) == 0, same, "%s\nand\n%s\nare %s", a, b, same ? "not the same" : "the same");
    free(x);
    free(y);
}

Test(config, identity_is_what_decides_the_result)
{
    struct fixture f;
    fixture_init(&f);
    fixture_write(&f, "a.csv", "time,v\n0,8\n", 11);
    fixture_write(&f, "b.csv", "time,v\n0,8\n", 11);
    fixture_write(&f, "c.csv", "time,v\n0,9\n", 11);
#define QUOTA(file) "trace: x\ncluster: {vcs: {v: {gpus: 8, changes: " file "}}}\n"
    expect_same(&f, true, QUOTA("a.csv"), QUOTA("./b.csv"));
    expect_same(&f, false, QUOTA("a.csv"), QUOTA("c.csv"));
    expect_same(&f, true, "trace: x\nseed: 1\n", "seed: 1\ntrace: {path: other.csv}\n");
    expect_same(&f, true, "trace: {path: x, load: 0.90, jobs: 5}\n", "trace: {jobs: 5, load: 9e-1, path: x}\n");
    expect_same(&f, true, "trace: x\nstop: {at: 90 s}\n", "trace: x\nstop: {at: 1.5 min}\n");
    expect_same(&f, true, "trace: x\npolicy: srtf\n", "trace: x\npolicy: {name: srtf}\n");
    expect_same(&f, true, "trace: x\npolicy: {order: srsf, fill: easy}\n",
                "trace: x\npolicy: {fill: easy, order: srsf}\n");
    expect_same(&f, true, "trace: x\nname: a\noutput: {segments: on}\n", "trace: x\nname: b\n");
    expect_same(&f, false, "trace: x\nseed: 1\n", "trace: x\nseed: 2\n");
    expect_same(&f, false, "trace: {path: x, load: 0.9}\n", "trace: {path: x, load: 0.8}\n");
    expect_same(&f, false, "trace: x\ncluster: {vcs: {a: {nodes: 1}, b: {nodes: 2}}}\n",
                "trace: x\ncluster: {vcs: {b: {nodes: 2}, a: {nodes: 1}}}\n"); /* who owns which nodes */
    fixture_fini(&f);
}

Test(config, trace_key_leaves_out_what_comes_after_reading)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(
        fixture_load(
            &f, "trace: x\nsweep: {trace.load: [0.7, 0.9], policy: [fifo, sjf], seed: [1, 2], trace.jobs: [5, 6]}\n",
            NULL),
        BRAID_OK);
    for (uint32_t i = 0; i < f.x.n_runs; i++)
        for (uint32_t k = 0; k < f.x.n_runs; k++)
            cr_expect_eq(strcmp(f.x.runs[i].trace_key, f.x.runs[k].trace_key) == 0, i % 2 == k % 2);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, "trace: {generate: {}}\nsweep: {seed: [1, 2]}\n", NULL), BRAID_OK);
    cr_expect_str_neq(f.x.runs[0].trace_key, f.x.runs[1].trace_key);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, "trace: {generate: {seed: 5}}\nsweep: {seed: [1, 2]}\n", NULL), BRAID_OK);
    cr_expect_str_eq(f.x.runs[0].trace_key, f.x.runs[1].trace_key);
    fixture_unload(&f);
    fixture_fini(&f);
}

static char *slurp(FILE *in, size_t *n)
{
    char *text = NULL;
    *n = 0;
    for (size_t got = 1; got > 0; *n += got) {
        text = realloc(text, *n + 4097);
        cr_assert_not_null(text);
        got = fread(text + *n, 1, 4096, in);
    }
    text[*n] = '\0';
    return text;
}

Test(config, docs_are_those_of_the_table)
{
    char *made = NULL;
    size_t n_made, n_kept;
    FILE *out = open_memstream(&made, &n_made);
    cr_assert_not_null(out);
    config_write_docs(out);
    fclose(out);
    FILE *in = fopen("docs/config.md", "rb");
    cr_assert_not_null(in, "docs/config.md is missing; make it with 'braid config docs'");
    char *kept = slurp(in, &n_kept);
    fclose(in);
    cr_expect(strcmp(made, kept) == 0, "docs/config.md is out of date: braid config docs > docs/config.md");
    free(made);
    free(kept);
}

/* Run `braid config ARGS`; its output, to be freed. */
static char *braid_config(int *status, const char *format, ...)
{
    char arguments[600], command[1200];
    va_list args;
    size_t n;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    snprintf(command, sizeof command, "\"$BRAID\" config %s 2>&1", arguments);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    char *text = slurp(pipe, &n);
    int code = pclose(pipe);
    *status = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
    return text;
}

Test(config, command_checks_and_shows)
{
    static const char good[] = "trace: x\nsweep: {policy: [fifo, srtf], trace.load: [0.7, 0.9]}\n";
    static const char bad[] = "trace: x\nplacment: y\n";
    struct fixture f;
    int status;
    if (getenv("BRAID") == NULL)
        cr_skip_test("BRAID does not say where the program is");
    fixture_init(&f);
    fixture_write(&f, "good.yaml", good, strlen(good));
    fixture_write(&f, "bad.yaml", bad, strlen(bad));
    char *text = braid_config(&status, "check %s/good.yaml", f.folder);
    cr_expect_eq(status, 2, "there is no trace");
    cr_expect_not_null(strstr(text, "good.yaml:1:8: the trace 'x' cannot be opened (as "), "%s", text);
    cr_expect_not_null(strstr(text, "scripts/fetch-traces"), "%s", text);
    free(text);
    fixture_write(&f, "x", "", 0);
    text = braid_config(&status, "check %s/good.yaml", f.folder);
    cr_expect_eq(status, 0);
    cr_expect_not_null(strstr(text, "ok, 4 runs; swept: policy (2), trace.load (2)"), "%s", text);
    free(text);
    text = braid_config(&status, "check %s/bad.yaml", f.folder);
    cr_expect_eq(status, 2);
    cr_expect_not_null(strstr(text, "bad.yaml:2:1: unknown key 'placment'; did you mean 'placement'?"), "%s", text);
    free(text);
    text = braid_config(&status, "check %s/good.yaml --set trace.load=0.5 --set seed=3", f.folder);
    cr_expect_eq(status, 0);
    cr_expect_not_null(strstr(text, "ok, 2 runs; swept: policy (2)"), "%s", text);
    free(text);
    text = braid_config(&status, "show %s/good.yaml --run 3", f.folder);
    cr_expect_eq(status, 0);
    cr_expect_not_null(strstr(text, "# run 3 of 4: policy=srtf, trace.load=0.9\ntrace: {path: x, "), "%s", text);
    free(text);
    static const char *const wrong[] = {"show %s/good.yaml --run 4", "check", "chek x", "check %s/none.yaml",
                                        "check %s/good.yaml --set seed=010"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char arguments[400];
        snprintf(arguments, sizeof arguments, wrong[i], f.folder);
        text = braid_config(&status, "%s", arguments);
        cr_expect_eq(status, 2, "%s: %s", arguments, text);
        free(text);
    }
    fixture_fini(&f);
}
