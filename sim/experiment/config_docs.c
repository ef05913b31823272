/* docs/config.md from the table of keys. */
#include "experiment/config_keys.h"
#include "experiment/experiment.h"
#include "traces/generator.h"
#include "traces/reader.h"

#include <stdio.h>
#include <string.h>

static const char *const intro =
    "# Config keys\n"
    "\n"
    "<!-- Made by `braid config docs` from the table of keys (sim/experiment/config_keys.c); do not edit. -->\n"
    "\n"
    "An experiment is one YAML file. Every key but `trace` has a default:\n"
    "\n"
    "```yaml\n"
    "trace: {path: philly.csv.gz, load: 0.9}\n"
    "cluster: {nodes: [{count: 8, gpus: 8, gpu: v100, cpus: 92, memory: 520 GB}]}\n"
    "model: {restart_overhead: {by_gpus: {1: 7 s, 8: 30 s}}}\n"
    "sweep: {policy: [fifo, srtf, {name: tiresias, thresholds: [3250, 7200]}], seed: [1, 2, 3]}\n"
    "```\n"
    "\n"
    "`braid config check FILE` says what is wrong with a config and where. It reads the traces unless they are very "
    "long,\n"
    "and refuses runs that would fail before their first event: weights of users that the trace does not have, "
    "guarantees of\n"
    "more GPUs than there are. `braid config show FILE` prints it with all defaults filled in.\n"
    "\n"
    "* **Numbers** are decimal. `010`, `0x10`, `1_000` and `1:30` are refused where a number is wanted, since YAML "
    "readers\n"
    "  do not agree on them. Where a text is wanted (the name of a VC), whatever is written is text: `NO`, `010`, "
    "`6214e9`.\n"
    "* **Times**: `250 ms`, `30 s`, `2 min`, `1.5 h`, `7 d` (also `us`, `ns`); a bare number counts seconds.\n"
    "* **Sizes**: `KB MB GB TB` are powers of 1000, `KiB MiB GiB TiB` of 1024; the unit is needed.\n"
    "* **Truth values** are `true` and `on`, `false` and `off`, and nothing else.\n"
    "* **Words** such as `all` or `never` may stand for a value where the table says so.\n"
    "* **Paths** are relative to the config file.\n"
    "* Unknown and repeated keys are errors. Anchors and aliases may be used (up to 100,000 values in all); merge "
    "keys\n"
    "  (`<<`) and tags may not.\n";

static const char *const outro =
    "\n"
    "## Policies\n"
    "\n"
    "```yaml\n"
    "policy: srtf                                                        # a name\n"
    "policy: {name: tiresias, thresholds: [3250, 7200], label: 2D-LAS}   # with parameters\n"
    "policy: {order: srsf, fill: easy}                                   # no name: a composition of parts\n"
    "policy: {plugin: ./my.so}                                           # a shared object of your own\n"
    "```\n"
    "\n"
    "`braid policy list` names all policies, `braid policy show NAME` explains one and its parameters. `label` is "
    "what\n"
    "tables and figures call it; default: the name, for a composition its parts;\n"
    "where policies of one sweep would be called the same, their parameters as well.\n"
    "\n"
    "## Virtual clusters\n"
    "\n"
    "Each virtual cluster (VC) is a queue of its own. A job goes to the VC that the trace names; one of a VC that is "
    "not "
    "listed is\n"
    "rejected as `unknown_vc`.\n"
    "\n"
    "```yaml\n"
    "nodes: [{count: 13, gpus: 8, gpu: a100, vc: research}, {count: 6, gpus: 8, gpu: v100}]   # a group's nodes belong "
    "to its VC\n"
    "vcs: {debug: {nodes: 1, of: v100}, teaching: {nodes: all, of: v100}}                     # so many of a type, and "
    "the rest of it\n"
    "vcs: {a: {nodes: 4}, b: {nodes: 4}}                                                      # the first four nodes, "
    "the next four\n"
    "vcs: {a: {gpus: 24, changes: quota.csv}, b: {gpus: 40}}                                  # quotas over shared "
    "nodes\n"
    "```\n"
    "\n"
    "Nodes are given out in this order: groups with `vc`; VCs with `nodes: N` and `of`; with `nodes: all` and `of`; "
    "with "
    "`nodes: N`;\n"
    "with `nodes: all`; what is left is shared by the quotas. Each takes the lowest free numbers, so more nodes in one "
    "group "
    "move no VC\n"
    "that is tied to another. The nodes of one VC must stand next to each other in the list.\n"
    "\n"
    "`jobs` of a VC takes jobs by what they are, in the order of the config; a job that no VC takes goes to the one "
    "that the trace names:\n"
    "\n"
    "```yaml\n"
    "vcs: {large: {nodes: 8, jobs: {gpus: '>= 8'}}, teaching: {nodes: 2, jobs: {user: 'stud*'}}, rest: {nodes: all, "
    "jobs: {vc: '*'}}}\n"
    "```\n"
    "\n"
    "## Sweeps\n"
    "\n"
    "`sweep` maps dotted keys to lists of values, and every combination is run, the last key fastest. A value may be\n"
    "anything that the key takes, maps included; an item of a list is named by its number (`cluster.nodes.0.count`). "
    "Keys\n"
    "are set in their order, so `policy` stands before `policy.quantum`. At most %d runs. Tables and figures list "
    "policies and values\n"
    "in the order of the config.\n"
    "\n"
    "```yaml\n"
    "sweep:\n"
    "  policy:\n"
    "    - fifo\n"
    "    - {name: las, fill: [skip, easy]}                                # one policy a value, the product of "
    "several; labels say which\n"
    "    - {name: tiresias, thresholds: [[3250], [3250, 7200]]}           # a parameter that is a list wants a list of "
    "lists\n"
    "  policy.quantum: [1 min, 1 h]                                       # policies without such a parameter have one "
    "run, not one a value\n"
    "  seed: {from: 1, to: 20}                                            # a range, both ends included\n"
    "  trace.scale: {from: 0.8, to: 1.2, step: 0.1}\n"
    "  stop.at: {from: 1 d, to: 64 d, count: 7, log: true}                # so many values, each the same factor above "
    "the last\n"
    "  zip:                                                               # the keys of one map move together\n"
    "    - {cluster.nodes.0.count: [37, 47, 74], cluster.vcs.research.nodes: [20, 30, 57]}\n"
    "```\n"
    "\n"
    "A range without `step` or `count` goes in steps of 1. Of a key that does not apply in a run, the results hold an "
    "empty value.\n"
    "\n"
    "## On the command line\n"
    "\n"
    "`--set KEY=VALUE` sets a dotted key to a YAML value before the sweep is expanded; a key that is swept is swept no "
    "more.\n"
    "`--set sweep.KEY=[A, B]` replaces the values of a sweep or adds one. Paths are still relative to the config "
    "file.\n";

static const char *type_text(const struct config_key *k)
{
    static const char *const names[] = {
        [KEY_INT] = "whole number",
        [KEY_NUMBER] = "number",
        [KEY_TIME] = "time",
        [KEY_SIZE] = "size",
        [KEY_BOOL] = "true, false",
        [KEY_SWITCH] = "true, false, auto",
        [KEY_TEXT] = "text",
        [KEY_PATH] = "path",
        [KEY_NUMBERS] = "list of numbers",
        [KEY_TEXTS] = "list of texts",
        [KEY_WINDOW] = "[begin, end]",
        [KEY_STEPS] = "map of GPUs to times",
        [KEY_OVERHEAD] = "time or map",
        [KEY_SECTION] = "map",
        [KEY_GROUPS] = "list of maps",
        [KEY_ROUTE] = "map",
        [KEY_COUNTS] = "number or condition",
        [KEY_MATCH] = "text or list of texts",
        [KEY_VCS] = "map of maps",
        [KEY_POLICY] = "name or map",
        [KEY_PLACEMENT] = "name or map",
        [KEY_SWEEP] = "map of lists",
        [KEY_COLUMN] = "column or map",
    };
    return k->type < sizeof names / sizeof names[0] ? names[k->type] : NULL;
}

static void write_type(FILE *out, const struct config_key *k)
{
    if (k->type == KEY_CHOICE) {
        for (const char *p = k->choices; *p != '\0'; p++)
            if (*p == '|')
                fputs(", ", out);
            else
                fputc(*p, out);
    } else if (k->type == KEY_SECTION && k->short_key != NULL) {
        fprintf(out, "map, or its `%s`", k->short_key);
    } else {
        fputs(type_text(k), out);
    }
    if (k->word != NULL)
        fprintf(out, ", `%s`", k->word);
}

static void write_range(FILE *out, const struct config_key *k)
{
    const char *unit = k->type == KEY_TIME || k->type == KEY_OVERHEAD || k->type == KEY_STEPS ? "s"
                       : k->type == KEY_SIZE                                                  ? "KiB"
                       : k->unit != NULL                                                      ? k->unit
                                                                                              : "";
    if (k->min != 0 || k->max != 0)
        fprintf(out, "%.16g to %.16g%s%s", k->min, k->max, unit[0] != '\0' ? " " : "", unit);
}

/* When the key counts, in words. */
static void write_when(FILE *out, const struct config_key *k)
{
    const char *equals = k->when != NULL ? strchr(k->when, '=') : NULL;
    if (k->when == NULL || strcmp(k->when, k->name) == 0)
        return;
    if (equals != NULL)
        fprintf(out, " Counts with `%.*s: %s`.", (int)(equals - k->when), k->when, equals + 1);
    else if (k->when[0] == '!')
        fprintf(out, " Not beside `%s`.", k->when + 1);
    else
        fprintf(out, " Beside `%s`.", k->when);
}

static void write_key(FILE *out, const struct config_key *k)
{
    fprintf(out, "| `%s` | ", k->name);
    write_type(out, k);
    fputs(" | ", out);
    if (k->def != NULL)
        fprintf(out, "`%s`", k->def);
    else if (k->flags & KEY_REQUIRED)
        fputs("required", out);
    fputs(" | ", out);
    write_range(out, k);
    fprintf(out, " | %s", k->help);
    write_when(out, k);
    fputs(" |\n", out);
}

static const char *param_type_text(const struct param_spec *p)
{
    struct config_key key = config_key_of_param("", p);
    return p->type == PARAM_CHOICE ? p->choices : type_text(&key);
}

static void write_placements(FILE *out)
{
    fputs("\n## Placements\n\n"
          "*packed*: a job of at most one node's GPUs takes one node, a larger one whole nodes and a rest. *pool*: any "
          "free "
          "GPUs will do.\n\n"
          "| placement | rule | what it does |\n| --- | --- | --- |\n",
          out);
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++) {
        fprintf(out, "| `%s` | %s | %s", (*p)->name, (*p)->rule == PLACEMENT_PACKED ? "packed" : "pool", (*p)->summary);
        for (size_t i = 0; i < (*p)->n_params; i++) {
            const struct param_spec *s = &(*p)->params[i];
            fprintf(out, "%s `%s` (", i == 0 ? "<br>Parameters:" : ";", s->name);
            for (const char *c = param_type_text(s); *c != '\0'; c++)
                fputs(*c == '|' ? ", " : (char[]){*c, '\0'}, out);
            fprintf(out, "%s%s): %s", s->def != NULL ? ", default " : ", required", s->def != NULL ? s->def : "",
                    s->help);
        }
        fputs(" |\n", out);
    }
}

static void write_formats(FILE *out)
{
    fputs("\n## Trace formats\n\n| format | what it is |\n| --- | --- |\n", out);
    for (const struct trace_reader *const *r = reader_list(); *r != NULL; r++)
        fprintf(out, "| `%s` | %s |\n", (*r)->name, (*r)->summary);
    fputs("\n## Generator models\n\n| model | what it is |\n| --- | --- |\n", out);
    for (const char *const *m = generator_models(); *m != NULL; m++)
        fprintf(out, "| `%s` | %s |\n", *m, generator_summary(*m));
}

void config_write_docs(void *out)
{
    fputs(intro, out);
    const char *section = NULL;
    for (size_t i = 0; i < config_n_keys; i++) {
        const struct config_key *k = &config_keys[i];
        if (section == NULL || strcmp(section, k->section) != 0) {
            section = k->section;
            fprintf(out, "\n## %s%s%s\n\n| key | type | default | range | meaning |\n| --- | --- | --- | --- | --- |\n",
                    section[0] != '\0' ? "`" : "", section[0] != '\0' ? section : "The whole",
                    section[0] != '\0' ? "`" : "");
        }
        write_key(out, k);
    }
    fprintf(out, outro, EXPERIMENT_RUNS_MAX);
    write_placements(out);
    write_formats(out);
}
