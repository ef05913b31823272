/* Sweeps and --set: which runs come out, in which order, and what cannot be swept. */
#include "experiment/config_fixture.h"

Test(sweep, last_key_is_fastest)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(fixture_load(&f,
                              "trace: x\n"
                              "sweep:\n"
                              "  policy: [fifo, {order: srsf, fill: easy}]\n"
                              "  trace.load: [0.7, recorded]\n"
                              "  seed: [1, 2, 3]\n",
                              NULL),
                 BRAID_OK, "%s", f.err.message);
    cr_assert_eq(f.x.n_runs, 12);
    for (uint32_t i = 0; i < 12; i++) {
        const struct run_config *r = &f.x.runs[i];
        cr_expect_eq(r->index, i);
        cr_expect_str_eq(r->policy.ops->name, i < 6 ? "fifo" : "compose");
        cr_expect_eq(r->trace.load, i / 3 % 2 == 0 ? 0.7 : 0);
        cr_expect_eq(r->seed, i % 3 + 1);
        cr_assert_eq(r->n_swept, 3);
        cr_expect_str_eq(r->swept[0].key, "policy");
        cr_expect_str_eq(r->swept[0].value, i < 6 ? "fifo" : "{order: srsf, fill: easy}");
        cr_expect_str_eq(r->swept[1].key, "trace.load");
        cr_expect_str_eq(r->swept[1].value, i / 3 % 2 == 0 ? "0.7" : "recorded");
    }
    cr_assert_eq(f.x.n_axes, 3);
    cr_expect_str_eq(f.x.axes[2].key, "seed");
    cr_expect_str_eq(f.x.axes[2].value, "3");
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(sweep, keys_below_a_short_form_and_in_lists)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(
        fixture_load(
            &f,
            "trace: x\n"
            "policy: srtf\n"
            "cluster: {nodes: [{count: 3}, {count: 4}]}\n"
            "sweep: {policy.fill: [strict, skip], cluster.nodes.1.count: [5, 6], estimate.source: [exact, trace]}\n",
            NULL),
        BRAID_OK, "%s", f.err.message);
    cr_assert_eq(f.x.n_runs, 8);
    cr_expect_str_eq(f.x.runs[0].policy.ops->name, "srtf");
    cr_expect_eq(f.x.runs[0].cluster.groups[0].count, 3);
    cr_expect_eq(f.x.runs[0].cluster.groups[1].count, 5);
    cr_expect_eq(f.x.runs[7].cluster.groups[1].count, 6);
    cr_expect_eq(f.x.runs[7].estimate.source, ESTIMATE_TRACE);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, "trace: x\nsweep: {cluster.vcs: [none, {NO: {nodes: 8}}]}\n", NULL), BRAID_OK);
    cr_expect_eq(f.x.runs[0].cluster.n_vcs, 0);
    cr_expect_str_eq(f.x.runs[1].cluster.vcs[0].name, "NO");
    cr_expect_str_eq(f.x.runs[1].swept[0].value, "{\"NO\": {nodes: 8}}");
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(sweep, variants_of_a_policy_are_told_apart)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(
        fixture_load(
            &f,
            "trace: x\nsweep: {policy: [srtf, {fill: easy, name: srtf}, {name: srtf, fill: strict, label: mine}, "
            "sjf, {name: fifo, fill: easy}]}\n",
            NULL),
        BRAID_OK, "%s", f.err.message);
    static const char *const labels[] = {"srtf", "srtf fill=easy", "mine", "sjf", "fifo"};
    for (int i = 0; i < 5; i++)
        cr_expect_str_eq(f.x.runs[i].policy.label, labels[i]);
    cr_expect_str_eq(f.x.runs[1].swept[0].value, "{fill: easy, name: srtf}");
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(sweep, files_are_read_once)
{
    struct fixture f;
    static const char table[] = "gpus,overhead\n1,3\n";
    fixture_init(&f);
    fixture_write(&f, "o.csv", table, strlen(table));
    cr_assert_eq(fixture_load(&f, "trace: x\nmodel: {start_overhead: {table: o.csv}}\nsweep: {seed: [1, 2]}\n", NULL),
                 BRAID_OK);
    cr_expect_eq(f.x.runs[0].overhead.start.rows, f.x.runs[1].overhead.start.rows);
    cr_expect_eq(f.x.runs[0].cluster.groups, f.x.runs[1].cluster.groups);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(sweep, errors_name_the_swept_value)
{
    static const struct bad_config cases[] = {
        {"trace: x\nsweep: {polcy: [fifo]}\n", "c.yaml:2:9: unknown key in 'sweep': 'polcy'; did you mean 'policy'?"},
        {"trace: x\nsweep: {policy: fifo}\n",
         "c.yaml:2:17: 'sweep.policy' wants a list of values such as [a, b], or a range {from: A, to: B, step: C}"},
        {"trace: x\nsweep: {policy: []}\n", "c.yaml:2:17: 'sweep.policy' has no values: nothing would be run"},
        {"trace: x\nsweep: [a]\n", "c.yaml:2:8: 'sweep' wants a map of keys to lists, such as {policy: [fifo, srtf]}"},
        {"trace: x\nsweep:\n  seed: [1, 2,\n    1]\n",
         "c.yaml:4:5: 'sweep.seed' has the value '1' twice (first in line 3)"},
        {"trace: x\nsweep:\n  policy:\n    - fifo\n    - fifoo\n",
         "c.yaml:5:7: unknown policy 'fifoo'; did you mean 'fifo'?"},
        {"trace: x\nsweep: {trace.load: [0.7, 090]}\n",
         "c.yaml:2:27: 'trace.load' is '090': a leading zero can be read as octal; write '90'"},
        {"trace: x\nsweep: {trace.lod: [1]}\n", "c.yaml:2:9: unknown key in 'trace': 'lod'; did you mean 'load'?"},
        {"trace: x\nsweep: {seed.x: [1]}\n", "c.yaml:2:9: 'seed' wants a whole number, not a map"},
        {"trace: x\nseed: 1\nsweep: {seed.x: [1]}\n", "c.yaml:3:9: 'seed.x' cannot be set: 'seed' is not a map"},
        {"trace: x\nsweep: {policy..x: [1]}\n", "c.yaml:2:9: 'policy..x' is not a key: a name is missing beside a dot"},
        {"trace: x\ncluster: {nodes: [{count: 1}]}\nsweep: {cluster.nodes.1.gpus: [2]}\n",
         "c.yaml:3:9: 'cluster.nodes.1.gpus' cannot be set: the list has 1 item, numbered from 0, and no '1'"},
        {"trace: x\nsweep: {output.jobs: [on]}\n", "c.yaml:2:9: 'output.jobs' cannot be swept: it changes no result"},
        {"trace: x\nsweep: {sweep: [on]}\n", "c.yaml:2:9: 'sweep' cannot be swept: it changes no result"},
        {"trace: x\nsweep: {policy.fill: [easy], policy: [srtf]}\n",
         "c.yaml:2:30: 'sweep.policy' would undo 'sweep.policy.fill'; write it first"},
        {"trace: x\nsweep: {policy: [fifo, {name: fifo}]}\n",
         "c.yaml:2:1: runs 0 and 1 of the sweep come out the same: a swept key does not count in them; sweep the "
         "section as a "
         "whole instead"},
        {"trace: x\nsweep: {estimate.source: [exact, noise], estimate.sigma: [0.1, 0.2]}\n",
         "c.yaml:2:1: runs 0 and 1 of the sweep ..."},
    };
    EXPECT_BAD(cases);
}

Test(sweep, too_many_runs_are_refused_before_they_are_made)
{
    char yaml[16000];
    size_t n = (size_t)snprintf(yaml, sizeof yaml, "trace: x\nsweep:\n");
    for (int k = 0; k < 40; k++) {
        n += (size_t)snprintf(yaml + n, sizeof yaml - n, "  policy.k%d: [0", k);
        for (int i = 1; i < 50; i++)
            n += (size_t)snprintf(yaml + n, sizeof yaml - n, ",%d", i);
        n += (size_t)snprintf(yaml + n, sizeof yaml - n, "]\n");
    }
    const struct bad_config cases[] = {
        {yaml, "c.yaml:5:3: the sweep makes 125000 runs or more; at most 100000 are possible"}};
    EXPECT_BAD(cases);
}

Test(sweep, too_many_keys_are_refused)
{
    char yaml[4000];
    size_t n = (size_t)snprintf(yaml, sizeof yaml, "trace: x\nsweep:\n");
    for (int k = 0; k < 65; k++)
        n += (size_t)snprintf(yaml + n, sizeof yaml - n, "  policy.k%d: [0]\n", k);
    const struct bad_config cases[] = {{yaml, "c.yaml:67:3: more than 64 keys are swept"}};
    EXPECT_BAD(cases);
}

Test(sweep, set_changes_keys_before_the_sweep)
{
    static const char yaml[] = "trace: x\nseed: 9\nsweep: {seed: [1, 2], policy: [fifo, sjf]}\n";
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(fixture_load(&f, yaml, "seed=3"), BRAID_OK);
    cr_expect_eq(f.x.n_runs, 2);
    cr_expect_eq(f.x.runs[1].seed, 3);
    cr_expect_eq(f.x.runs[0].n_swept, 1);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, yaml, "sweep.seed=[4, 5, 6]"), BRAID_OK);
    cr_expect_eq(f.x.n_runs, 6);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, yaml, "trace.load=0.5"), BRAID_OK);
    cr_expect_eq(f.x.runs[3].trace.load, 0.5);
    cr_expect_str_eq(f.x.runs[3].trace.shown_path, "x");
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, yaml, "sweep={}"), BRAID_OK);
    cr_expect_eq(f.x.n_runs, 1);
    cr_expect_eq(f.x.runs[0].seed, 9);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, yaml, "model={restart_overhead: 5 s}"), BRAID_OK);
    cr_expect_eq(f.x.runs[0].overhead.restart.constant_ns, 5000000000);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(sweep, errors_of_set_name_the_option)
{
    static const struct {
        const char *set, *error;
    } cases[] = {
        {"seed=010", "--set seed=010: 'seed' is '010': a leading zero can be read as octal; write '10'"},
        {"sed=3", "--set sed=3: unknown key 'sed'; did you mean 'seed'?"},
        {"trace.lod=3", "--set trace.lod=3: unknown key in 'trace': 'lod'; did you mean 'load'?"},
        {"seed", "--set seed: wants KEY=VALUE, such as trace.load=0.9"},
        {"=3", "--set =3: wants KEY=VALUE, such as trace.load=0.9"},
        {"seed=", "--set seed=: a value is missing"},
        {"stop={at: [}",
         "--set stop={at: [}: not valid YAML: did not find expected node content while parsing a flow node"},
        {"stop={at: 1, at: 2}", "--set stop={at: 1, at: 2}: key 'at' is repeated"},
        {"policy.fill=easy", "--set policy.fill=easy: 'policy.fill' would be undone by the sweep of 'policy'; set "
                             "'policy', or write it in the sweep"},
    };
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[1200];
        cr_expect_eq(fixture_load(&f, "trace: x\nsweep: {policy: [fifo, sjf]}\n", cases[i].set), BRAID_BAD_INPUT);
        cr_expect_str_eq(fixture_error(&f, error, sizeof error), cases[i].error);
    }
    fixture_fini(&f);
}

/* ---- several values in few words ------------------------------------------------------------------ */

/* The runs as "LABEL a=1 b=2", one a line: label, then the swept keys but the policy, by the end of their names. */
static void list_runs(const struct fixture *f, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < f->x.n_runs; i++) {
        const struct run_config *r = &f->x.runs[i];
        cr_assert_eq(r->index, i);
        used += (size_t)snprintf(out + used, size - used, "%s", r->policy.label);
        for (uint32_t k = 0; k < r->n_swept; k++) {
            const char *dot = strrchr(r->swept[k].key, '.');
            if (strcmp(r->swept[k].key, "policy") != 0)
                used += (size_t)snprintf(out + used, size - used, " %s=%s", dot != NULL ? dot + 1 : r->swept[k].key,
                                         r->swept[k].value);
        }
        used += (size_t)snprintf(out + used, size - used, "\n");
        cr_assert_lt(used, size);
    }
}

struct swept_runs {
    const char *yaml, *runs;
};

static void expect_runs(const struct swept_runs *cases, size_t n)
{
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < n; i++) {
        char out[4000], yaml[1000];
        snprintf(yaml, sizeof yaml, "trace: x\n%s\n", cases[i].yaml);
        cr_assert_eq(fixture_load(&f, yaml, NULL), BRAID_OK, "%s: %d:%d: %s", yaml, f.err.line, f.err.col,
                     f.err.message);
        list_runs(&f, out, sizeof out);
        cr_expect_str_eq(out, cases[i].runs, "%s\ngives\n%s\nnot\n%s", yaml, out, cases[i].runs);
        fixture_unload(&f);
    }
    fixture_fini(&f);
}
#define EXPECT_RUNS(cases) expect_runs((cases), sizeof(cases) / sizeof(cases)[0])

Test(sweep, ranges_are_lists)
{
    static const struct swept_runs cases[] = {
        {"sweep: {seed: {from: 1, to: 3}}", "fifo seed=1\nfifo seed=2\nfifo seed=3\n"},
        {"sweep: {seed: {from: 9, to: 3, step: -3}}", "fifo seed=9\nfifo seed=6\nfifo seed=3\n"},
        {"sweep: {seed: {from: 1, to: 6, step: 2}}", "fifo seed=1\nfifo seed=3\nfifo seed=5\n"}, /* 7 is beyond */
        {"sweep: {trace.load: {from: 0.8, to: 1.1, step: 0.1}}",
         "fifo load=0.8\nfifo load=0.9\nfifo load=1\nfifo load=1.1\n"},
        {"sweep: {trace.load: {from: 0.05, to: 0.15, step: 0.050}}", "fifo load=0.05\nfifo load=0.1\nfifo load=0.15\n"},
        {"sweep: {stop.at: {from: 1 h, to: 2 h, step: 0.5 h}}", "fifo at=1 h\nfifo at=1.5 h\nfifo at=2 h\n"},
        {"sweep: {stop.at: {from: 1 h, to: 100 h, count: 3, log: true}}", "fifo at=1 h\nfifo at=10 h\nfifo at=100 h\n"},
        {"sweep: {trace.load: {from: 1, to: 2, count: 3}}", "fifo load=1\nfifo load=1.5\nfifo load=2\n"},
        {"sweep: {cluster.nodes.0.count: {from: 1, to: 8, count: 4, log: true}}\ncluster: {nodes: [{}]}",
         "fifo count=1\nfifo count=2\nfifo count=4\nfifo count=8\n"},
        {"sweep: {seed: {from: 1, to: 3, count: 9}}",
         "fifo seed=1\nfifo seed=2\nfifo seed=3\n"}, /* no whole number twice */
    };
    EXPECT_RUNS(cases);
    static const struct bad_config bad[] = {
        {"trace: x\nsweep: {seed: {from: 1}}\n", "c.yaml:2:15: 'sweep.seed': a range needs 'from' and 'to'"},
        {"trace: x\nsweep: {seed: {from: 1, to: 5, step: 0}}\n",
         "c.yaml:2:38: 'sweep.seed': this range never gets from 'from' to 'to'"},
        {"trace: x\nsweep: {seed: {from: 5, to: 1}}\n",
         "c.yaml:2:15: 'sweep.seed': this range never gets from 'from' to 'to'"},
        {"trace: x\nsweep: {trace.load: {from: 0.1, to: 1}}\n",
         "c.yaml:2:21: 'sweep.trace.load': a range of what is no plain whole..."},
        {"trace: x\nsweep: {stop.at: {from: 1 h, to: 90 min, step: 1 h}}\n",
         "c.yaml:2:34: 'sweep.stop.at': 'from' and 'to' must be in one unit"},
        {"trace: x\nsweep: {stop.at: {from: 1 h, to: 9 h, step: 10 min}}\n",
         "c.yaml:2:45: 'sweep.stop.at': 'step' must be in the unit of 'from'"},
        {"trace: x\nsweep: {seed: {from: 1, to: 9, steps: 2}}\n",
         "c.yaml:2:32: 'sweep.seed': 'steps' is no key of a range; use..."},
        {"trace: x\nsweep: {seed: {from: one, to: 9}}\n",
         "c.yaml:2:22: 'sweep.seed': 'from' of a range wants a decimal number..."},
        {"trace: x\nsweep: {seed: {from: 1, to: 9, step: 1, count: 3}}\n",
         "c.yaml:2:32: 'sweep.seed': 'step' cannot stand beside..."},
        {"trace: x\nsweep: {seed: {from: 1, to: 9, count: 1}}\n",
         "c.yaml:2:39: 'sweep.seed': 'count' of a range wants a whole..."},
        {"trace: x\nsweep: {seed: {from: 0, to: 9, count: 3, log: true}}\n",
         "c.yaml:2:47: 'sweep.seed': a range with 'log' goes..."},
        {"trace: x\nsweep: {seed: {from: 1, to: 999999}}\n",
         "c.yaml:2:15: 'sweep.seed': this range has 999999 values; at most 100000..."},
        {"trace: x\nsweep: {seed: {from: 0, to: 5, step: 2.5}}\n", "c.yaml:2:15: 'seed' wants a whole number..."},
    };
    EXPECT_BAD(bad);
}

Test(sweep, zipped_keys_move_together)
{
    static const struct swept_runs cases[] = {
        {"cluster: {nodes: [{count: 9}], vcs: {a: {nodes: 1}, b: {nodes: 1}}}\n"
         "sweep: {seed: [1, 2], zip: [{cluster.nodes.0.count: [2, 4], cluster.vcs.a.nodes: [1, 3]}]}",
         "fifo seed=1 count=2 nodes=1\nfifo seed=1 count=4 nodes=3\nfifo seed=2 count=2 nodes=1\nfifo seed=2 count=4 "
         "nodes=3\n"},
        {"sweep: {zip: {seed: {from: 1, to: 3}, trace.load: [0.5, 0.5, 0.7]}, policy: [fifo, sjf]}",
         "fifo seed=1 load=0.5\nsjf seed=1 load=0.5\nfifo seed=2 load=0.5\nsjf seed=2 load=0.5\nfifo seed=3 "
         "load=0.7\nsjf seed=3 "
         "load=0.7\n"},
    };
    EXPECT_RUNS(cases);
    static const struct bad_config bad[] = {
        {"trace: x\nsweep: {zip: [{seed: [1, 2], trace.load: [0.5]}]}\n",
         "c.yaml:2:42: the keys of one map of 'zip' want lists of one length: 'seed' has 2 values, 'trace.load' has 1"},
        {"trace: x\nsweep: {zip: [seed]}\n",
         "c.yaml:2:15: 'sweep.zip' wants maps of keys that move together, such as..."},
        {"trace: x\nsweep: {zip: [{seed: [1]}, {seed: [2]}]}\n",
         "c.yaml:2:29: 'sweep.seed' would undo 'sweep.seed'; write it first"},
        {"trace: x\nsweep: {zip: [{output.jobs: [on, off]}]}\n",
         "c.yaml:2:16: 'output.jobs' cannot be swept: it changes no result"},
    };
    EXPECT_BAD(bad);
    struct fixture f;
    fixture_init(&f);
    char text[1200];
    cr_assert_eq(fixture_load(&f, "trace: x\nsweep: {zip: [{seed: [1, 2], trace.load: [0.5, 0.6]}]}\n", "seed=3"),
                 BRAID_BAD_INPUT);
    cr_expect_str_eq(fixture_error(&f, text, sizeof text),
                     "--set seed=3: 'seed' would be undone by 'sweep.zip'; set 'sweep.zip', or write it in the sweep");
    fixture_fini(&f);
}

Test(sweep, several_values_in_a_policy_are_a_policy_each)
{
    static const struct swept_runs cases[] = {
        {"sweep: {policy: [fifo, {name: las, quantum: [1 min, 3 h]}]}", "fifo\nlas quantum=1 min\nlas quantum=3 h\n"},
        {"sweep: {policy: [{name: srtf, fill: [skip, easy], quantum: [1 min, 2 min]}]}",
         "srtf fill=skip quantum=1 min\nsrtf fill=skip quantum=2 min\nsrtf fill=easy quantum=1 min\nsrtf fill=easy "
         "quantum=2 min\n"},
        {"sweep: {policy: [{order: [srsf, sjf], fill: easy}]}", "srsf+easy\nsjf+easy\n"},
        {"sweep: {policy: [{name: las, quantum: [1 min, 3 h], label: mine}]}",
         "mine quantum=1 min\nmine quantum=3 h\n"},
        /* a parameter that is a list wants a list of lists */
        {"sweep: {policy: [{name: tiresias, thresholds: [3250, 7200]}]}", "tiresias\n"},
        {"sweep: {policy: [{name: tiresias, thresholds: [[3250], [3250, 7200]]}]}",
         "tiresias thresholds=[3250]\ntiresias thresholds=[3250, 7200]\n"},
    };
    EXPECT_RUNS(cases);
    static const struct bad_config bad[] = {
        {"trace: x\nsweep: {policy: [{name: las, quantum: []}]}\n",
         "c.yaml:2:39: 'quantum' of a policy in 'sweep.policy' has no values..."},
        {"trace: x\nsweep: {policy: [{name: las, quantm: [1, 2]}]}\n",
         "c.yaml:2:30: unknown parameter of policy 'las': 'quantm'..."},
        {"trace: x\nsweep: {policy: [{name: las, quantum: [60 s, 60 s]}]}\n",
         "c.yaml:2:18: 'sweep.policy' has the value..."},
    };
    EXPECT_BAD(bad);
}

Test(sweep, a_key_of_some_policies_leaves_the_others_alone)
{
    static const struct swept_runs cases[] = {
        {"sweep: {policy: [fifo, tiresias, sjf], policy.thresholds: [[1], [1, 2]], seed: [1, 2]}",
         "fifo thresholds= seed=1\nfifo thresholds= seed=2\n"
         "tiresias thresholds=[1] seed=1\ntiresias thresholds=[1] seed=2\ntiresias thresholds=[1, 2] seed=1\ntiresias "
         "thresholds=[1, 2] seed=2\n"
         "sjf thresholds= seed=1\nsjf thresholds= seed=2\n"},
        {"sweep: {policy: [fifo, tiresias], zip: [{policy.thresholds: [[1], [1, 2]], seed: [1, 2]}]}",
         "fifo thresholds= seed=1\nfifo thresholds= seed=2\ntiresias thresholds=[1] seed=1\ntiresias thresholds=[1, 2] "
         "seed=2\n"},
    };
    EXPECT_RUNS(cases);
    static const struct bad_config bad[] = {
        {"trace: x\nsweep: {policy: [fifo, sjf], policy.quantm: [1, 2]}\n",
         "c.yaml:2:30: unknown parameter of policy 'fifo': 'quantm'..."},
        {"trace: x\npolicy: fifo\nsweep: {policy.thresholds: [[1], [1, 2]]}\n",
         "c.yaml:3:9: unknown parameter of policy 'fifo': 'thresholds'..."},
    };
    EXPECT_BAD(bad);
}
