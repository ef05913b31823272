/* Keys and values that are wrong: the place, what is wanted, and the nearest valid name. */
#include "experiment/config_fixture.h"

Test(config_keys, unknown_keys_name_the_nearest)
{
    static const struct bad_config cases[] = {
        {"trace: x\nplacment: y\n", "c.yaml:2:1: unknown key 'placment'; did you mean 'placement'?"},
        {"trcae: x\n", "c.yaml:1:1: unknown key 'trcae'; did you mean 'trace'?"},
        {"trace: {path: x, lod: 3}\n", "c.yaml:1:18: unknown key in 'trace': 'lod'; did you mean 'load'?"},
        {"trace: x\nload: 0.9\n", "c.yaml:2:1: unknown key 'load'; did you mean 'trace.load'?"},
        {"trace: x\nfaults: {}\n",
         "c.yaml:2:1: unknown key 'faults'; known: name, trace, cluster, policy, placement, estimate, "
         "model, measure, stop, output, compat, seed, sweep"},
        {"trace: x\ncluster:\n  network: {}\n",
         "c.yaml:3:3: unknown key in 'cluster': 'network'; known: nodes, file, gpus_per_node, nodes_per_rack, vcs"},
        {"trace: x\ncluster:\n  nodes:\n    - {count: 1, gpuz: 3}\n",
         "c.yaml:4:18: unknown key in 'cluster.nodes[]': 'gpuz'; did you mean 'gpus'?"},
        {"trace: x\ncluster:\n  vcs:\n    a: {nodes: 1, shrnk: drain}\n",
         "c.yaml:4:19: unknown key in 'cluster.vcs.a': 'shrnk'; did you mean 'shrink'?"},
        {"trace: x\nmodel: {start_overhead: {by_gpu: {1: 3 s}}}\n",
         "c.yaml:2:26: unknown key in 'model.start_overhead': 'by_gpu'; did you mean 'by_gpus'?"},
        {"trace: x\ncompat: mury\n",
         "c.yaml:2:9: 'compat' is 'mury', but must be one of none tiresias helios muri; did you mean 'muri'?"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, missing_keys_are_named)
{
    static const struct bad_config cases[] = {
        {"seed: 1\n", "c.yaml:1:1: 'trace' is missing; a config needs at least 'trace: PATH'"},
        {"trace: {load: 1}\n",
         "c.yaml:1:8: 'trace.path' is missing; name the trace's file, or make one with 'generate'"},
        {"trace: x\nestimate: {source: file}\n", "c.yaml:2:11: 'estimate.path' is missing"},
        {"trace: x\nestimate: file\n", "c.yaml:2:11: 'estimate.path' is missing"},
        {"trace: x\npolicy: {label: a}\n", "c.yaml:2:9: 'policy' needs a 'name'"},
        {"trace:\nseed: 1\n", "c.yaml:1:7: 'trace' must be a map such as {path: ...}"},
        {"trace: ''\n", "c.yaml:1:8: 'trace.path' is empty"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, numbers_that_yaml_readers_disagree_on_are_refused)
{
    static const struct bad_config cases[] = {
        {"trace: x\nseed: 010\n", "c.yaml:2:7: 'seed' is '010': a leading zero can be read as octal; write '10'"},
        {"trace: x\nseed: 00\n", "c.yaml:2:7: 'seed' is '00': a leading zero can be read as octal; write '0'"},
        {"trace: x\nseed: 0x10\n", "c.yaml:2:7: 'seed' wants a whole number, not '0x10'; numbers are decimal"},
        {"trace: x\nseed: 0o17\n", "c.yaml:2:7: 'seed' wants a whole number, not '0o17'; numbers are decimal"},
        {"trace: x\nseed: 1:30\n",
         "c.yaml:2:7: 'seed' wants a whole number, not '1:30'; numbers to base 60 are not read: "
         "write it in decimal"},
        {"trace: x\nseed: 1_000\n",
         "c.yaml:2:7: 'seed' wants a whole number, not '1_000'; write the digits without separators"},
        {"trace: {path: x, load: 00.9}\n",
         "c.yaml:1:24: 'trace.load' is '00.9': a leading zero can be read as octal; write '0.9'"},
        {"trace: {path: x, load: .nan}\n",
         "c.yaml:1:24: 'trace.load' wants a number or 'recorded', not '.nan'; it must be finite"},
        {"trace: x\nstop: {at: 1:30}\n",
         "c.yaml:2:12: 'stop.at' wants a time such as '30 s' or 'never', not '1:30'; numbers to base "
         "60 are not read: write a unit, such as '90 s', '90 min' or '1.5 h'"},
        {"trace: x\nstop: {at: 010 s}\n",
         "c.yaml:2:12: 'stop.at' is '010 s': a leading zero can be read as octal; write '10 s'"},
        {"trace: x\nmodel: {start_overhead: {by_gpus: {1: 7 s, 08: 9 s}}}\n",
         "c.yaml:2:44: 'model.start_overhead.by_gpus' is '08': a leading zero can be read as octal; write '8'"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, truth_values_are_four_words_only)
{
    static const struct bad_config cases[] = {
        {"trace: x\noutput: {segments: NO}\n", "c.yaml:2:20: 'output.segments' wants true or false, not 'NO'"},
        {"trace: x\noutput: {segments: yes}\n", "c.yaml:2:20: 'output.segments' wants true or false, not 'yes'"},
        {"trace: x\noutput: {jobs: True}\n", "c.yaml:2:16: 'output.jobs' wants true, false or auto, not 'True'"},
        {"trace: x\noutput: {jobs: 1}\n", "c.yaml:2:16: 'output.jobs' wants true, false or auto, not '1'"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, wrong_types_say_what_is_wanted)
{
    static const struct bad_config cases[] = {
        {"trace: x\nseed: abc\n", "c.yaml:2:7: 'seed' wants a whole number, not 'abc'"},
        {"trace: x\nseed: 1.5\n", "c.yaml:2:7: 'seed' wants a whole number, not '1.5'"},
        {"trace: x\nseed: [1]\n", "c.yaml:2:7: 'seed' wants a whole number, not a list"},
        {"trace: x\nseed: {a: 1}\n", "c.yaml:2:7: 'seed' wants a whole number, not a map"},
        {"trace: x\nseed:\n", "c.yaml:2:6: 'seed' has no value; it wants a whole number"},
        {"trace: {path: x, load: [0.7, 0.9]}\n", "c.yaml:1:24: 'trace.load' wants a number or 'recorded', not a list"},
        {"trace: [x]\n", "c.yaml:1:8: 'trace' must be a map such as {path: ...}, not a list"},
        {"trace: x\nstop: 5\n", "c.yaml:2:7: 'stop' must be a map such as {at: ...}"},
        {"trace: x\nstop:\n", "c.yaml:2:6: 'stop' must be a map such as {at: ...}"},
        {"trace: x\ncluster: {nodes: {count: 1}}\n",
         "c.yaml:2:18: 'cluster.nodes' wants a list of maps such as [{count: 8, gpus: 8}]"},
        {"trace: x\ncluster: {nodes: []}\n",
         "c.yaml:2:18: 'cluster.nodes' wants a list of maps such as [{count: 8, gpus: 8}]"},
        {"trace: x\ncluster: {nodes: [5]}\n",
         "c.yaml:2:19: 'cluster.nodes' wants maps such as {count: 8, gpus: 8} in its list"},
        {"trace: x\ncluster: {vcs: [a]}\n",
         "c.yaml:2:16: 'cluster.vcs' wants a map such as {NAME: {nodes: 4}}, or 'none'"},
        {"trace: x\ncluster: {vcs: {a: 3}}\n", "c.yaml:2:20: 'cluster.vcs.a' wants a map, {nodes: N} or {gpus: N}"},
        {"trace: x\nmodel: {restart_overhead: [1]}\n", "c.yaml:2:27: 'model.restart_overhead' wants a time such as '30 "
                                                       "s', {by_gpus: {1: 7 s, 8: 30 s}} or {table: FILE}"},
        {"trace: x\npolicy: [fifo]\n",
         "c.yaml:2:9: 'policy' wants one policy; to run several, write them under 'sweep'"},
        {"trace: x\nestimate: nois\n",
         "c.yaml:2:11: 'estimate.source' is 'nois', but must be one of exact trace noise user_mean "
         "file; did you mean 'noise'?"},
        {"trace: x\nname: a/b\n",
         "c.yaml:2:7: 'name' is 'a/b', but must be fit for a file's name: no '/', and no '.' at its beginning"},
        {"trace: {generate: {model: phily}}\n",
         "c.yaml:1:27: unknown 'trace.generate.model' 'phily'; did you mean 'philly'?"},
        {"trace: {path: x, format: helos}\n", "c.yaml:1:26: unknown 'trace.format' 'helos'; did you mean 'helios'?"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, wrong_units_list_the_right_ones)
{
    static const struct bad_config cases[] = {
        {"trace: x\nstop: {at: 30 sec}\n", "c.yaml:2:12: 'stop.at' is '30 sec': 'sec' is no unit of time; use one of "
                                           "ns us ms s min h d; did you mean 's'?"},
        {"trace: x\nstop: {at: 30 GB}\n",
         "c.yaml:2:12: 'stop.at' is '30 GB': 'GB' is no unit of time; use one of ns us ms s min h d"},
        {"trace: x\nstop: {queue: 5 jobs}\n",
         "c.yaml:2:15: 'stop.queue' wants a plain number (it counts jobs), not '5 jobs'"},
        {"trace: {path: x, load: 0.9 s}\n", "c.yaml:1:24: 'trace.load' wants a plain number, not '0.9 s'"},
        {"trace: x\ncluster: {nodes: [{memory: 520}]}\n",
         "c.yaml:2:28: 'cluster.nodes[].memory' is '520': a size needs a unit; write for example '520 GB'"},
        {"trace: x\ncluster: {nodes: [{memory: 520 Gb}]}\n",
         "c.yaml:2:28: 'cluster.nodes[].memory' is '520 Gb': 'Gb' is no unit of size; use one of KB MB GB TB (10^n) "
         "KiB MiB GiB "
         "TiB (2^n); did you mean 'GB'?"},
        {"trace: x\ncluster: {nodes: [{memory: 5 s}]}\n", "c.yaml:2:28: 'cluster.nodes[].memory' is '5 s': 's' is no "
                                                          "unit of size; use one of KB MB GB TB (10^n) KiB MiB GiB TiB "
                                                          "(2^n)"},
        {"trace: x\nmeasure: {from: 2017-10-01}\n",
         "c.yaml:2:17: 'measure.from' wants a time such as '30 s' or 'start', not "
         "'2017-10-01'; no date is read here: write the time since time 0"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, values_out_of_range_name_the_range)
{
    static const struct bad_config cases[] = {
        {"trace: {path: x, load: 0}\n",
         "c.yaml:1:24: 'trace.load' is 0, but must be from 0.0001 to 1000, or 'recorded'"},
        {"trace: {path: x, load: -1}\n",
         "c.yaml:1:24: 'trace.load' is -1, but must be from 0.0001 to 1000, or 'recorded'"},
        {"trace: {path: x, jobs: 0}\n", "c.yaml:1:24: 'trace.jobs' is 0, but must be from 1 to 4000000000, or 'all'"},
        {"trace: x\nseed: -1\n", "c.yaml:2:7: 'seed' is -1, but must be from 0 to 9007199254740992"},
        {"trace: x\nseed: 99999999999999999999\n", "c.yaml:2:7: 'seed': '99999999999999999999' is too large"},
        {"trace: x\nstop: {at: -1 s}\n",
         "c.yaml:2:12: 'stop.at' is -1 s, but must be from 0 s to 3153600000 s, or 'never'"},
        {"trace: x\nstop: {at: 1e30 d}\n", "c.yaml:2:12: 'stop.at': '1e30 d' is too large"},
        {"trace: x\noutput: {series: 0}\n",
         "c.yaml:2:18: 'output.series' is 0, but must be from 0.001 s to 31536000 s, or 'off'"},
        {"trace: x\ncluster: {nodes: [{cpus: 0}]}\n",
         "c.yaml:2:26: 'cluster.nodes[].cpus' is 0, but must be from 0.001 to 4000000, or 'unlimited'"},
        {"trace: x\ncluster: {vcs: {a: {nodes: 300}}}\n",
         "c.yaml:2:28: the virtual clusters want 300 nodes, the cluster has 8; ..."},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, keys_that_exclude_or_need_each_other)
{
    static const struct bad_config cases[] = {
        {"trace: {path: a, generate: {}}\n",
         "c.yaml:1:9: 'trace.path' cannot stand beside 'generate'; leave one of them out"},
        {"trace: a\ncluster: {nodes: [{count: 1}], file: x}\n",
         "c.yaml:2:11: 'cluster.nodes' cannot stand beside 'file'; leave one of them out"},
        {"trace: a\ncluster: {gpus_per_node: 4}\n", "c.yaml:2:11: 'cluster.gpus_per_node' needs 'file' beside it"},
        {"trace: a\ncluster: {vcs: {a: {nodes: 3, gpus: 3}}}\n",
         "c.yaml:2:21: 'cluster.vcs.a.nodes' cannot stand beside 'gpus'; leave one of them out"},
        {"trace: a\ncluster: {vcs: {a: {nodes: 3, shrink: drain}}}\n",
         "c.yaml:2:31: 'cluster.vcs.a.shrink' needs 'gpus' beside it"},
        {"trace: a\nmodel: {start_overhead: {by_gpus: {1: 1 s}, table: x}}\n",
         "c.yaml:2:26: 'model.start_overhead.by_gpus' cannot stand beside 'table'; leave one of them out"},
        {"trace: a\nmeasure: {from: 2 d, to: 1 d}\n",
         "c.yaml:2:26: 'measure.to' is not after 'measure.from': no job would count"},
        {"trace: a\npolicy: {name: fifo, plugin: x}\n",
         "c.yaml:2:10: 'policy.name' cannot stand beside 'plugin'; leave one of them out"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, windows_are_two_dates_or_two_times)
{
    static const struct bad_config cases[] = {
        {"trace: {path: a, window: [2017-10-01, 7 d]}\n",
         "c.yaml:1:39: 'trace.window' mixes a date and a time; write two dates or two times"},
        {"trace: {path: a, window: [2017-10-01, 2017-02-30]}\n",
         "c.yaml:1:39: 'trace.window': '2017-02-30' is no date; write YYYY-MM-DD or \"YYYY-MM-DD HH:MM:SS\", from 1970 "
         "to 2200"},
        {"trace: {path: a, window: [7 d, 1 d]}\n", "c.yaml:1:32: 'trace.window' ends before it begins"},
        {"trace: {path: a, window: 7 d}\n", "c.yaml:1:26: 'trace.window' wants a list of two, [begin, end]"},
        {"trace: {path: a, window: [1 d, 2 d, 3 d]}\n",
         "c.yaml:1:26: 'trace.window' wants a list of two, [begin, end]"},
        {"trace: {path: a, window: [1:30, end]}\n",
         "c.yaml:1:27: 'trace.window' wants a time such as '30 s' or 'start', not '1:30'..."},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, files_that_are_not_there_are_named)
{
    static const struct bad_config cases[] = {
        {"trace: a\ncluster: {file: none.csv}\n", "c.yaml:2:17: cannot open 'none.csv' (..."},
        {"trace: a\ncluster: {file: .}\n", "c.yaml:2:17: cannot read '.' (..."},
        {"trace: a\ncluster: {vcs: {a: {gpus: 8, changes: none.csv}}}\n", "c.yaml:2:39: cannot open 'none.csv' (..."},
        {"trace: a\nestimate: {source: file, path: none.csv}\n", "c.yaml:2:32: cannot open 'none.csv' (..."},
        {"trace: a\nmodel: {start_overhead: {table: none.csv}}\n", "c.yaml:2:33: cannot open 'none.csv' (..."},
        {"trace: a\npolicy: {plugin: none.so}\n", "c.yaml:2:18: cannot open 'none.so' (..."},
        {"trace: a\npolicy: {plugin: c.yaml}\n", "c.yaml:2:18: 'c.yaml': ..."},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, modules_and_their_parameters_are_checked)
{
    static const struct bad_config cases[] = {
        {"trace: a\npolicy: fifoo\n", "c.yaml:2:9: unknown policy 'fifoo'; did you mean 'fifo'?"},
        {"trace: a\npolicy: {name: zzzzzzz}\n", "c.yaml:2:16: unknown policy 'zzzzzzz'; known: ..."},
        {"trace: a\npolicy: {name: srtf, fil: easy}\n",
         "c.yaml:2:22: unknown parameter of policy 'srtf': 'fil'; did you mean 'fill'?"},
        {"trace: a\npolicy: {name: srtf, fill: esy}\n", "c.yaml:2:28: 'policy.fill' is 'esy', but must be one of ..."},
        {"trace: a\npolicy: {order: srsf, fil: easy}\n",
         "c.yaml:2:23: unknown parameter of policy 'compose': 'fil'; did you mean 'fill'?"},
        {"trace: a\npolicy: {name: srtf, quantum: 5 jobs}\n",
         "c.yaml:2:31: 'policy.quantum' is '5 jobs': 'jobs' is no unit of time; ..."},
        {"trace: a\nplacement: consolidat\n",
         "c.yaml:2:12: unknown placement 'consolidat'; did you mean 'consolidate'?"},
        {"trace: a\nplacement: {x: 1}\n",
         "c.yaml:2:12: 'placement' wants a name, or a map {name: NAME, PARAMETER: ...}"},
        {"trace: a\nplacement: {name: count, x: 1}\n",
         "c.yaml:2:26: unknown parameter of placement 'count': 'x'; none is known"},
    };
    EXPECT_BAD(cases);
}

Test(config_keys, what_is_meant_is_proposed)
{
    static const struct bad_config cases[] = {
        {"trace: x\nstop: {at: 5 m}\n",
         "c.yaml:2:12: 'stop.at' is '5 m': 'm' is no unit of time; use one of ns us ms s min h d; did you mean 'min'?"},
        {"trace: x\nstop: {at: 5 minutes}\n",
         "c.yaml:2:12: 'stop.at' is '5 minutes': 'minutes' is no unit of time; use one of ns us ms s min h d; did you mean 'min'?"},
        {"trace: x\nstop: {at: 5 mss}\n",
         "c.yaml:2:12: 'stop.at' is '5 mss': 'mss' is no unit of time; use one of ns us ms s min h d; did you mean 'ms'?"},
        {"trace: x\npolicy: {name: fifo, lable: a}\n",
         "c.yaml:2:22: unknown parameter of policy 'fifo': 'lable'; did you mean 'label'?"},
    };
    EXPECT_BAD(cases);
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(fixture_load(&f, "trace: x\npolicy: {name: fifo, completely_different: 1}\n", NULL), BRAID_BAD_INPUT);
    cr_expect(strstr(f.err.message, "known: ") != NULL && strstr(f.err.message, "plugin") == NULL &&
                  strstr(f.err.message, "label") == NULL,
              "%s", f.err.message);
    fixture_fini(&f);
}

Test(config_keys, a_label_is_one_line_of_text)
{
    static const struct bad_config cases[] = {
        {"trace: x\npolicy: {name: fifo, label: \"a\\nb\"}\n",
         "c.yaml:2:29: 'policy.label' has a line end; write a label of one line, without control characters"},
        {"trace: x\npolicy: {name: fifo, label: \"a\\tb\"}\n", "c.yaml:2:29: 'policy.label' has a tab; ..."},
        {"trace: x\npolicy: {name: fifo, label: \"a\\e[31m\"}\n", "c.yaml:2:29: 'policy.label' has a control character; ..."},
        {"trace: x\nsweep: {policy: [sjf, {name: fifo, label: \"a\\x85\"}]}\n", "c.yaml:2:43: 'policy.label' has a control..."},
    };
    EXPECT_BAD(cases);
}
