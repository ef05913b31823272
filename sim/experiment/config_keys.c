#include "experiment/config_keys.h"

#include "experiment/experiment.h"
#include "traces/mapping.h"

#include <stdio.h>
#include <string.h>

#define RUN(field, kind) .store = STORE_##kind, .offset = offsetof(struct run_config, field)
#define GROUP(field, kind) .store = STORE_##kind, .offset = offsetof(struct node_group_spec, field)
#define SHOWN(type, field) .shown = offsetof(struct type, field)
#define SOURCE(field, kind) .store = STORE_##kind, .offset = offsetof(struct mapping_source, field)
#define VC(field, kind) .store = STORE_##kind, .offset = offsetof(struct vc_spec, field)

enum { NODES_MAX = 1 << 24, GPUS_MAX = 1 << 24 };

/* Keys of one section stand together; their order is that of the resolved config. */
const struct config_key config_keys[] = {
    {"", "name", KEY_TEXT, .flags = KEY_NO_RESULT,
     .help = "What the experiment is called; results go to `results/NAME.h5`. Default: the file's name without its "
             "ending."},
    {"", "trace", KEY_SECTION, .short_key = "path", .flags = KEY_REQUIRED,
     .help = "The jobs. `trace: PATH` alone is enough."},
    {"", "cluster", KEY_SECTION, .help = "The nodes and virtual clusters (VCs)."},
    {"", "policy", KEY_POLICY, .def = "fifo", .short_key = "name",
     .help = "Who runs when: a name, or a map; see *Policies* below."},
    {"", "placement", KEY_PLACEMENT, .def = "consolidate", .short_key = "name",
     .help = "Which nodes a job gets: a name, or `{name: NAME, PARAMETER: ...}`; see *Placements* below."},
    {"", "estimate", KEY_SECTION, .short_key = "source",
     .help = "What policies may know of run times. `estimate: SOURCE` alone is enough."},
    {"", "model", KEY_SECTION, .help = "How fast jobs run and what starting them costs."},
    {"", "measure", KEY_SECTION, .help = "Which jobs the metrics count, by submission."},
    {"", "stop", KEY_SECTION,
     .help = "When a run ends before its last job; jobs that remain are counted as unfinished, those to come as "
             "not_submitted."},
    {"", "output", KEY_SECTION, .flags = KEY_NO_RESULT, .help = "Which tables are stored. Changes no result."},
    {"", "compat", KEY_CHOICE, .def = "none", .choices = "none|tiresias|helios|muri", RUN(compat, TEXT),
     .help = "Run with another simulator's semantics, its oddities included; see docs/compat.md."},
    {"", "seed", KEY_INT, .def = "1", .min = 0, .max = 9007199254740992, RUN(seed, U64),
     .help = "Seed of every random stream of the run."},
    {"", "sweep", KEY_SWEEP, .flags = KEY_NO_RESULT,
     .help = "Dotted keys, each with a list of values; all combinations are run. See *Sweeps* below."},

    {"trace", "path", KEY_PATH, .when = "!generate", .flags = KEY_REQUIRED | KEY_NO_IDENTITY, RUN(trace.path, TEXT),
     SHOWN(run_config, trace.shown_path), .help = "The trace file, plain or gzip."},
    {"trace", "generate", KEY_SECTION, .when = "generate", .help = "Make a trace instead of reading one."},
    {"trace", "bootstrap", KEY_SECTION, .when = "bootstrap", .short_key = "days",
     .help =
         "Draw the trace anew from its own days, with replacement: another sample of the same workload for each seed. "
         "`trace: {bootstrap: same_weekday}` with `sweep: {seed: [1, 2, 3]}` gives means with intervals."},
    {"trace", "profiles", KEY_SECTION, .when = "profiles",
     .help = "Give jobs the stage times of a table of models, for interleaving; durations stay as they are."},
    {"trace", "deadlines", KEY_SECTION, .when = "deadlines",
     .help = "Give jobs deadlines, in proportion to their durations."},
    {"trace", "format", KEY_TEXT, .def = "auto", .when = "!generate", RUN(trace.format, TEXT),
     .help = "The format, see *Trace formats* below; `auto`: told by the content."},
    {"trace", "columns", KEY_SECTION, .when = "columns",
     .help =
         "Read the file as a table of any shape, by these of its columns; see docs/formats/columns.md. `braid trace "
         "guess FILE` proposes them."},
    {"trace", "separator", KEY_CHOICE, .def = "auto", .when = "columns", .choices = MAPPING_SEPARATORS,
     RUN(table.separator, TEXT),
     .help = "What stands between the fields of such a table; `fixed`: columns of fixed width over a line of dashes."},
    {"trace", "header", KEY_CHOICE, .def = "auto", .when = "columns", .choices = "auto|true|false",
     RUN(table.header, TEXT),
     .help = "Whether its first row has the names of the columns. Without a header they are named 1, 2, ...; `auto`: "
             "there is "
             "none where all names are numbers."},
    {"trace", "unit", KEY_CHOICE, .def = "s", .when = "columns",
     .choices = "ns|us|ms|s|min|h|d|unix|unix_ms|unix_us|unix_ns", RUN(table.unit, TEXT),
     .help = "Unit of its times and spans that name none of their own. With `unix...` times count from 1970 and spans "
             "in s."},
    {"trace", "applications", KEY_PATH, .when = "!generate", .flags = KEY_NO_IDENTITY,
     RUN(trace.applications_path, TEXT), SHOWN(run_config, trace.applications_shown),
     .help = "How long the jobs run, for a trace that does not say (`pollux`, `gavel`): a csv of "
             "`application,gpus,batch_size,seconds,steps_per_s`, which goes before the reader's own table."},
    {"trace", "window", KEY_WINDOW, .def = "[start, end]",
     .help = "Keep jobs submitted in [begin, end): dates (`2017-10-01`, `2017-10-01 12:00:00`; UTC unless a zone is "
             "given) or times from the first submission (`7 d`); `start` and `end` leave a side open."},
    {"trace", "jobs", KEY_INT, .def = "all", .word = "all", .word_value = TRACE_NO_LIMIT, .min = 1, .max = 4000000000.0,
     RUN(trace.jobs, U32), .help = "Keep the first so many jobs."},
    {"trace", "load", KEY_NUMBER, .def = "recorded", .word = "recorded", .word_value = 0, .min = 0.0001, .max = 1000,
     .flags = KEY_NO_TRACE_KEY, RUN(trace.load, DOUBLE),
     .help =
         "Stretch the times between submissions until GPUs x duration over capacity is this. The capacity is that of "
         "the run: where the cluster is swept, every cluster gets arrivals of its own; see `scale`."},
    {"trace", "scale", KEY_NUMBER, .min = 0.0001, .max = 1000, .flags = KEY_NO_TRACE_KEY, RUN(trace.scale, DOUBLE),
     .help =
         "Rate of arrivals relative to the record, whatever the cluster: the times between submissions are divided by "
         "this. Not beside `load`."},
    {"trace", "load_scope", KEY_CHOICE, .def = "cluster", .choices = "cluster|vc", .flags = KEY_NO_TRACE_KEY,
     RUN(trace.load_scope, ENUM), .help = "Bring the cluster as a whole, or each VC, to `load`."},
    {"trace", "failed", KEY_CHOICE, .def = "run", .choices = "run|drop|merge_attempts", .when = "!generate",
     RUN(trace.failed, ENUM),
     .help = "Jobs recorded as failed or killed: `run` as long as recorded, `drop`, or `merge_attempts` into one job."},
    {"trace", "strict", KEY_BOOL, .def = "false", .when = "!generate", RUN(trace.strict, BOOL),
     .help = "Make the first row that would be dropped an error."},
    {"trace", "vcs", KEY_TEXTS, .def = "all", .word = "all", .help = "Keep only the jobs of these VCs."},

    {"trace.columns", "submit", KEY_COLUMN,
     .help = "When the job was submitted: dates, or numbers in a unit of time. Needed."},
    {"trace.columns", "id", KEY_COLUMN,
     .help = "The job's name or number; without, jobs are numbered in order of their submission."},
    {"trace.columns", "gpus", KEY_COLUMN, .help = "GPUs of the whole job. Needed; `{constant: 1}` will do."},
    {"trace.columns", "duration", KEY_COLUMN,
     .help =
         "How long it ran: numbers in a unit of time, or `D-HH:MM:SS`. Needed, unless `start` and `end` are given."},
    {"trace.columns", "start", KEY_COLUMN, .help = "When it started."},
    {"trace.columns", "end", KEY_COLUMN, .help = "When it ended."},
    {"trace.columns", "estimate", KEY_COLUMN, .help = "The run time that its user asked for."},
    {"trace.columns", "deadline", KEY_COLUMN, .help = "When it should have ended, a time as `submit`."},
    {"trace.columns", "vc", KEY_COLUMN, .help = "Its virtual cluster, queue or partition."},
    {"trace.columns", "user", KEY_COLUMN, .help = "Its user."},
    {"trace.columns", "name", KEY_COLUMN, .help = "Its name."},
    {"trace.columns", "model", KEY_COLUMN, .help = "What it trains."},
    {"trace.columns", "status", KEY_COLUMN, .help = "How it ended: words of any known log, or numbers with `codes`."},
    {"trace.columns", "priority", KEY_COLUMN, .help = "Its priority; larger goes first."},
    {"trace.columns", "cpus", KEY_COLUMN, .help = "CPUs of the whole job."},
    {"trace.columns", "memory", KEY_COLUMN,
     .help = "Memory of the whole job: `64 GB`, `64G`, or numbers in a unit of size (default bytes)."},
    {"trace.columns", "gpu_memory", KEY_COLUMN, .help = "Memory that it takes of each GPU, as `memory`."},
    {"trace.columns", "gpu_type", KEY_COLUMN, .help = "The type of GPU that it needs."},
    {"trace.columns", "gpu_milli", KEY_COLUMN, .help = "The share of each GPU that it asks for, in 1/1000."},
    {"trace.columns", "batch", KEY_COLUMN, .help = "Samples a step."},
    {"trace.columns", "iterations", KEY_COLUMN, .help = "Steps."},
    {"trace.columns", "iteration_time", KEY_COLUMN, .help = "Time a step."},
    {"trace.columns", "stage_storage", KEY_COLUMN, .help = "Time of a step's stage on storage."},
    {"trace.columns", "stage_cpu", KEY_COLUMN, .help = "Time of a step's stage on CPUs."},
    {"trace.columns", "stage_gpu", KEY_COLUMN, .help = "Time of a step's stage on GPUs."},
    {"trace.columns", "stage_network", KEY_COLUMN, .help = "Time of a step's stage on the network."},
    {"trace.columns", "depends", KEY_COLUMN,
     .help = "Ids of jobs that must have finished before, between `;` or blanks."},
    {"trace.columns", "order", KEY_COLUMN, .help = "Which of two jobs submitted at once comes first; the lower one."},

    {"trace.columns.NAME", "column", KEY_TEXT, SOURCE(column, TEXT),
     .help = "The column with the value. `NAME: COLUMN` alone is enough."},
    {"trace.columns.NAME", "constant", KEY_TEXT, SOURCE(constant, TEXT), .help = "The same value for every job."},
    {"trace.columns.NAME", "from", KEY_TEXT, SOURCE(from, TEXT), .help = "A span: from the time in this column ..."},
    {"trace.columns.NAME", "to", KEY_TEXT, SOURCE(to, TEXT), .help = "... to the time in this one."},
    {"trace.columns.NAME", "plus", KEY_TEXT, SOURCE(plus, TEXT),
     .help = "A column with a span that is added to the time in `column`: `start: {column: submit, plus: wait}`."},
    {"trace.columns.NAME", "times", KEY_TEXT, SOURCE(times, TEXT),
     .help = "A column or a number by which the value is multiplied: `gpus: {column: nodes, times: gpus_per_node}`; a "
             "column whose "
             "name is a number is `column 3`."},
    {"trace.columns.NAME", "unit", KEY_CHOICE, .choices = MAPPING_UNITS, SOURCE(unit, TEXT),
     .help =
         "What a plain number counts. Times: `ns` to `d`, from 1970 `unix` to `unix_ns`; sizes: `B` to `TiB`; GPUs and "
         "CPUs: `milli`, `percent`. Default: `trace.unit`, bytes, whole GPUs and CPUs."},
    {"trace.columns.NAME", "tres", KEY_TEXTS,
     .help = "The value is a list of resources such as `cpu=8,gres/gpu:a100=2` or `1=8,1001=2`: take the amount of "
             "this one, by name or number; of several, the first that the list has."},
    {"trace.columns.NAME", "codes", KEY_CHOICE, .choices = MAPPING_CODES, SOURCE(codes, ENUM),
     .help = "Of `status`: whose numbers they are; `exit`: an exit status."},
    {"trace.columns.NAME", "passed", KEY_TEXTS, .help = "Of `status`: more words for jobs that ended well."},
    {"trace.columns.NAME", "failed", KEY_TEXTS, .help = "Of `status`: more words for jobs that failed."},
    {"trace.columns.NAME", "killed", KEY_TEXTS,
     .help = "Of `status`: more words for jobs that were cancelled or killed."},

    {"trace.generate", "model", KEY_TEXT, .def = "philly", .when = "!file", RUN(trace.generate.model, TEXT),
     .help = "See *Generator models* below."},
    {"trace.generate", "file", KEY_PATH, RUN(trace.generate.file, TEXT), SHOWN(run_config, trace.generate.file_shown),
     .help = "A model measured by `braid trace fit` instead; see docs/generator.md."},
    {"trace.generate", "jobs", KEY_INT, .def = "2000", .min = 1, .max = 1000000000.0, RUN(trace.generate.jobs, U32),
     .help = "Number of jobs."},
    {"trace.generate", "rate_per_day", KEY_NUMBER, .def = "auto", .word = "auto", .word_value = 0, .min = 0.001,
     .max = 1e9, RUN(trace.generate.rate_per_day, DOUBLE), .unit = "jobs/d",
     .help = "Mean arrivals a day; `auto`: the model's own."},
    {"trace.generate", "vcs", KEY_INT, .def = "auto", .word = "auto", .word_value = 0, .min = 1, .max = 1000000,
     RUN(trace.generate.vcs, U32), .help = "Number of VCs; `auto`: the model's own."},
    {"trace.generate", "users", KEY_INT, .def = "auto", .word = "auto", .word_value = 0, .min = 1, .max = 10000000,
     RUN(trace.generate.users, U32), .help = "Number of users; `auto`: the model's own."},
    {"trace.generate", "burst", KEY_NUMBER, .def = "auto", .word = "auto", .word_value = 0, .min = 1, .max = 64,
     RUN(trace.generate.burst, DOUBLE), .unit = "jobs",
     .help = "Mean number of jobs that a user submits at once; 1: no bursts; `auto`: the model's own."},
    {"trace.generate", "repeat", KEY_NUMBER, .def = "auto", .word = "auto", .word_value = -1, .min = 0, .max = 1,
     RUN(trace.generate.repeat, DOUBLE),
     .help = "Share of the submissions that are an earlier job again: its user, name and GPUs, a duration like it; "
             "`auto`: the model's own."},
    {"trace.generate", "deadlines", KEY_NUMBER, .def = "0", .min = 0, .max = 1, RUN(trace.generate.deadlines, DOUBLE),
     .help = "Share of the jobs that have a deadline: 1.2, 2 or 10 times the duration after submission."},
    {"trace.generate", "estimates", KEY_BOOL, .def = "false", RUN(trace.generate.has_estimates, BOOL),
     .help = "Give jobs the round times that their users ask for (`estimate: trace` uses them)."},
    {"trace.generate", "gpu_types", KEY_BOOL, .def = "false", RUN(trace.generate.has_gpu_types, BOOL),
     .help = "Let jobs ask for a type of GPU where the model knows of types; the cluster must have them."},
    {"trace.generate", "lean", KEY_BOOL, .def = "false", RUN(trace.generate.is_lean, BOOL),
     .help = "Leave out job names, models, GPU memory, iterations and stage times: less memory for very long traces."},
    {"trace.generate", "seed", KEY_INT, .def = "run", .word = "run", .word_value = -1, .min = 0,
     .max = 9007199254740992, RUN(trace.generate.seed, U64), .help = "Seed of the generator; `run`: the run's `seed`."},

    {"trace.profiles", "table", KEY_PATH, .flags = KEY_REQUIRED, RUN(trace.stages.table, TEXT),
     SHOWN(run_config, trace.stages.table_shown),
     .help = "The table: one of configs/profiles, or one like it; see docs/interleaving.md."},
    {"trace.profiles", "jobs", KEY_CHOICE, .def = "missing", .choices = "missing|all|drawn",
     RUN(trace.stages.jobs, ENUM),
     .help = "Which jobs get theirs from the table: those that the trace gives none (`missing`), or `all`, by the "
             "trace's `model` "
             "where the table has it, else drawn; `drawn`: all are drawn, whatever model they are."},
    {"trace.profiles", "mix", KEY_NUMBERS, .min = 0, .max = 1000000000.0, RUN(trace.stages.mix, NUMBERS),
     .help = "Four weights for what is drawn: of the models bound by storage, CPU, GPU and network; without them every "
             "model has the "
             "table's weight."},
    {"trace.profiles", "seed", KEY_INT, .def = "run", .word = "run", .word_value = -1, .min = 0,
     .max = 9007199254740992, RUN(trace.stages.seed, U64), .help = "Seed of the draws; `run`: the run's `seed`."},

    {"trace.bootstrap", "days", KEY_CHOICE, .def = "any", .choices = "none|any|same_weekday",
     RUN(trace.bootstrap.days, ENUM),
     .help = "Which day may stand for a day of the trace: any, or one of the same weekday, which keeps the weekly "
             "cycle and "
             "needs a trace with dates; `none`: the trace as it is. Days are drawn with all their jobs, which keep "
             "their time "
             "of day; the days at both ends, which the trace cuts off, are not drawn."},
    {"trace.bootstrap", "length", KEY_INT, .def = "all", .word = "all", .word_value = 0, .min = 1, .max = 100000,
     RUN(trace.bootstrap.length_days, U32), .unit = "days",
     .help = "Days of the drawn trace; `all`: as many as the trace has whole days."},
    {"trace.bootstrap", "seed", KEY_INT, .def = "run", .word = "run", .word_value = -1, .min = 0,
     .max = 9007199254740992, RUN(trace.bootstrap.seed, U64), .help = "Seed of the draws; `run`: the run's `seed`."},

    {"trace.deadlines", "factor", KEY_NUMBERS, .flags = KEY_REQUIRED, .min = 0.001, .max = 1000000,
     RUN(trace.deadlines.factor, NUMBERS),
     .help = "`[low, high]`: a deadline is submission + factor x duration, the factor drawn evenly between the two for "
             "each job."},
    {"trace.deadlines", "share", KEY_NUMBER, .def = "1", .min = 0, .max = 1, RUN(trace.deadlines.share, DOUBLE),
     .help = "Share of the jobs that get one, drawn as well."},
    {"trace.deadlines", "jobs", KEY_CHOICE, .def = "missing", .choices = "missing|all", RUN(trace.deadlines.jobs, ENUM),
     .help = "Jobs to which the trace gives a deadline keep it (`missing`), or get a new one too (`all`)."},
    {"trace.deadlines", "seed", KEY_INT, .def = "run", .word = "run", .word_value = -1, .min = 0,
     .max = 9007199254740992, RUN(trace.deadlines.seed, U64), .help = "Seed of the draws; `run`: the run's `seed`."},

    {"cluster", "nodes", KEY_GROUPS, .def = "[{count: 8, gpus: 8}]", .when = "!file",
     .help = "Groups of equal nodes; see `cluster.nodes[]`."},
    {"cluster", "file", KEY_PATH, RUN(cluster.file, TEXT), SHOWN(run_config, cluster.file_shown),
     .help = "The nodes from a file: a Tiresias or Muri cluster spec, a table of nodes a VC, a node list of openb or "
             "Philly "
             "(`machineId,number of GPUs`), or what Slurm prints (`sinfo -N -o '%N %P %G %c %m'`, `scontrol show "
             "node`; partitions "
             "become VCs). See docs/formats/clusters.md."},
    {"cluster", "gpus_per_node", KEY_INT, .def = "8", .when = "file", .min = 1, .max = 65536,
     RUN(cluster.gpus_per_node, U32), .unit = "GPUs", .help = "For a table of nodes a VC."},
    {"cluster", "nodes_per_rack", KEY_INT, .def = "all", .word = "all", .word_value = 0, .min = 1, .max = NODES_MAX,
     RUN(cluster.nodes_per_rack, U32), .unit = "nodes", .help = "Size of a rack; `all`: one rack."},
    {"cluster", "vcs", KEY_VCS, .def = "none", .word = "none",
     .help =
         "Virtual clusters (VCs) by name; `none`: those that `nodes` or `file` name, else one queue over all nodes. "
         "See *Virtual clusters* below."},

    {"cluster.nodes[]", "count", KEY_INT, .def = "1", .min = 1, .max = NODES_MAX, GROUP(count, U32), .unit = "nodes",
     .help = "How many nodes are like this."},
    {"cluster.nodes[]", "gpus", KEY_INT, .def = "8", .min = 0, .max = 65536, GROUP(gpus, U32), .unit = "GPUs",
     .help = "GPUs of a node."},
    {"cluster.nodes[]", "gpu", KEY_TEXT, .def = "any", .word = "any", GROUP(gpu, TEXT), .help = "Type of its GPUs."},
    {"cluster.nodes[]", "gpu_memory", KEY_SIZE, .def = "unlimited", .word = "unlimited", .word_value = 0, .min = 1,
     .max = 1e15, GROUP(gpu_memory_kib, U64), .help = "Memory of one GPU."},
    {"cluster.nodes[]", "cpus", KEY_NUMBER, .def = "unlimited", .word = "unlimited", .word_value = 0, .min = 0.001,
     .max = 4000000, GROUP(cpu_milli, MILLI), .unit = "cores", .help = "CPU cores of a node."},
    {"cluster.nodes[]", "memory", KEY_SIZE, .def = "unlimited", .word = "unlimited", .word_value = 0, .min = 1,
     .max = 1e15, GROUP(memory_kib, U64), .help = "Main memory of a node."},
    {"cluster.nodes[]", "nodes_per_rack", KEY_INT, .def = "same", .word = "same", .word_value = 0, .min = 1,
     .max = NODES_MAX, GROUP(nodes_per_rack, U32), .unit = "nodes",
     .help = "Size of this group's racks; `same`: `cluster.nodes_per_rack`."},
    {"cluster.nodes[]", "vc", KEY_TEXT, GROUP(vc, TEXT),
     .help = "The VC that owns these nodes. Default: as `cluster.vcs` says."},
    {"cluster.nodes[]", "name", KEY_TEXT, GROUP(name, TEXT), .help = "By which `of` of a VC can mean this group."},

    {"cluster.vcs.NAME", "nodes", KEY_INT, .word = "all", .word_value = VC_ALL_NODES, .when = "!gpus", .min = 1,
     .max = NODES_MAX, VC(amount, U32), .unit = "nodes",
     .help = "The VC owns so many nodes; `all`: all that no other VC takes."},
    {"cluster.vcs.NAME", "of", KEY_TEXT, .when = "nodes", VC(of, TEXT),
     .help = "They are of this group (its `name`), else of this type of GPU. Default: any."},
    {"cluster.vcs.NAME", "gpus", KEY_INT, .when = "!nodes", .min = 0, .max = GPUS_MAX, VC(amount, U32), .unit = "GPUs",
     .help = "The VC may hold so many GPUs of the shared nodes at a time (a quota)."},
    {"cluster.vcs.NAME", "changes", KEY_PATH, .when = "gpus", VC(changes_path, TEXT), SHOWN(vc_spec, changes_shown),
     .help = "A table of the quota over time: a column of dates or times, and one named as the VC."},
    {"cluster.vcs.NAME", "shrink", KEY_CHOICE, .def = "drain", .choices = "drain|preempt", .when = "gpus",
     VC(shrink, ENUM),
     .help = "When a quota falls below what is held: let jobs end (`drain`), or take GPUs back (`preempt`)."},
    {"cluster.vcs.NAME", "jobs", KEY_ROUTE, .offset = offsetof(struct vc_spec, jobs),
     .help = "Take the jobs that match, whatever VC the trace names; the first VC of the config that matches gets a job."},

    {"cluster.vcs.NAME.jobs", "gpus", KEY_COUNTS,
     .help = "Jobs of so many GPUs: `8`, `'>= 8'`, `'> 8'`, `'<= 4'`, `'< 4'`, `2..7`."},
    {"cluster.vcs.NAME.jobs", "user", KEY_MATCH, .offset = offsetof(struct vc_route, user),
     .help = "Jobs of these users; here and below `*` stands for any text and `?` for one character, and what the trace lacks is an empty "
             "text."},
    {"cluster.vcs.NAME.jobs", "vc", KEY_MATCH, .offset = offsetof(struct vc_route, vc), .help = "Jobs of these VCs of the trace."},
    {"cluster.vcs.NAME.jobs", "name", KEY_MATCH, .offset = offsetof(struct vc_route, name), .help = "Jobs of these names."},
    {"cluster.vcs.NAME.jobs", "gpu_type", KEY_MATCH, .offset = offsetof(struct vc_route, gpu_type),
     .help = "Jobs that ask for these types of GPU."},

    {"estimate", "source", KEY_CHOICE, .def = "exact", .choices = "exact|trace|noise|user_mean|file",
     RUN(estimate.source, ENUM),
     .help =
         "Where predicted run times come from: the truth, the trace's own column, the truth times lognormal noise, the "
         "mean of the user's earlier jobs, or a file."},
    {"estimate", "sigma", KEY_NUMBER, .def = "0.5", .when = "source=noise", .min = 0, .max = 10,
     RUN(estimate.sigma, DOUBLE), .help = "Of the noise: estimate = duration x exp(sigma x N(0, 1))."},
    {"estimate", "path", KEY_PATH, .when = "source=file", .flags = KEY_REQUIRED, RUN(estimate.path, TEXT),
     SHOWN(run_config, estimate.path_shown), .help = "A csv with columns `id` and `estimate` (seconds)."},
    {"estimate", "on_exceed", KEY_CHOICE, .def = "run", .choices = "run|kill", RUN(estimate.on_exceed, ENUM),
     .help = "A job that reaches its estimate runs on, or is killed. How long one that runs on is predicted to go on: see "
             "[policies.md](policies.md#jobs-beyond-their-estimates)."},

    {"model", "start_overhead", KEY_OVERHEAD, .def = "0 s", .max = 31536000,
     .offset = offsetof(struct run_config, overhead.start),
     .help = "Time that a job holds its GPUs at its first start before it makes progress: a time, or a map (below)."},
    {"model", "restart_overhead", KEY_OVERHEAD, .def = "0 s", .max = 31536000,
     .offset = offsetof(struct run_config, overhead.restart), .help = "The same at each resume and move."},
    {"model", "fidelity", KEY_CHOICE, .def = "closed", .choices = "closed|stage", RUN(sharing.fidelity, ENUM),
     .help =
         "How fast jobs go that share their GPUs: all once a period, by the closed form (`closed`), or each as fast as "
         "a simulation of their stages says (`stage`); see docs/interleaving.md."},
    {"model", "profile_error", KEY_NUMBER, .def = "0", .min = 0, .max = 0.99, RUN(profile_error, DOUBLE),
     .help = "Policies see each stage time of a job off by up to this share, evenly drawn once a job; jobs run as they "
             "are."},
    {"model", "interleave", KEY_SECTION,
     .help = "Jobs that share their GPUs in turns, stage by stage (policies that group jobs, such as muri_s)."},

    {"model.*_overhead", "by_gpus", KEY_STEPS, .when = "!table", .max = 31536000,
     .help = "Steps by GPUs, `{1: 7 s, 8: 30 s}`: that of the largest key up to the job's GPUs."},
    {"model.*_overhead", "table", KEY_PATH, .when = "!by_gpus", .store = STORE_TEXT,
     .offset = offsetof(struct overhead_rule, table_path), SHOWN(overhead_rule, table_shown),
     .help = "A csv with columns `gpus`, `overhead` (seconds) and perhaps `model`; model `other`: those not named."},

    {"model.interleave", "groups", KEY_INT, .def = "1", .min = 1, .max = 4, RUN(sharing.groups, U32),
     .help = "The most jobs that may share a set of GPUs; 1: none do."},
    {"model.interleave", "order", KEY_CHOICE, .def = "best", .choices = "best|given|worst", RUN(sharing.order, ENUM),
     .help = "How the jobs of a group are arranged over the phases of their period."},
    {"model.interleave", "kinds", KEY_TEXTS, .def = "[storage, cpu, gpu, network]",
     .help = "The kinds of resource that can be used at the same time, in this order; those joined by `+` count as one "
             "(`[storage+cpu, gpu, network]`). A group has at most as many jobs as there are kinds."},
    {"model.interleave", "inflation", KEY_NUMBERS, .def = "[1]", .min = 1, .max = 100, RUN(sharing.inflation, NUMBERS),
     .help =
         "Factor on the period of a group by its number of jobs, from one job on; the last counts for larger groups."},

    {"measure", "from", KEY_TIME, .def = "start", .word = "start", .word_value = 0, .max = 3153600000.0,
     RUN(measure.from_ns, I64), .help = "From this time on, counted from time 0; `start`: the first submission."},
    {"measure", "to", KEY_TIME, .def = "end", .word = "end", .word_value = RUN_NO_LIMIT, .max = 3153600000.0,
     RUN(measure.to_ns, I64), .help = "Up to but not including this time; `end`: no bound."},
    {"measure", "warm_up", KEY_TIME, .def = "0 s", .max = 3153600000.0, RUN(measure.warm_up_ns, I64),
     .help = "Time after `from` that is left out as well."},

    {"stop", "at", KEY_TIME, .def = "never", .word = "never", .word_value = RUN_NO_LIMIT, .max = 3153600000.0,
     RUN(stop.at_ns, I64), .help = "The horizon, counted from time 0."},
    {"stop", "queue", KEY_INT, .def = "never", .word = "never", .word_value = UINT32_MAX, .min = 0, .max = 4000000000.0,
     RUN(stop.queue, U32), .unit = "jobs", .help = "Stop as overloaded when more jobs than this wait."},

    {"output", "jobs", KEY_SWITCH, .def = "auto", RUN(output.jobs, ENUM),
     .help = "The table of jobs; `auto`: unless there are more than 100 runs."},
    {"output", "series", KEY_TIME, .def = "off", .word = "off", .word_value = 0, .min = 0.001, .max = 31536000,
     RUN(output.series_step_ns, I64), .help = "Queue lengths and utilisation over time, with this step; a run may have 50 million rows of them."},
    {"output", "segments", KEY_BOOL, .def = "off", RUN(output.segments, BOOL),
     .help = "Who held which GPUs when (Gantt charts and exports need it)."},
    {"output", "events", KEY_BOOL, .def = "off", RUN(output.events, BOOL),
     .help = "The log of decisions and their reasons."},
};

const size_t config_n_keys = sizeof config_keys / sizeof config_keys[0];

const struct config_key *config_section(const char *section, size_t *n)
{
    size_t first = 0;
    while (first < config_n_keys && strcmp(config_keys[first].section, section) != 0)
        first++;
    size_t end = first;
    while (end < config_n_keys && strcmp(config_keys[end].section, section) == 0)
        end++;
    *n = end - first;
    return config_keys + first;
}

const struct config_key *config_key_find(const char *section, const char *name)
{
    size_t n;
    const struct config_key *keys = config_section(section, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

const char *config_short_key(const char *path)
{
    const struct config_key *key = config_key_find("", path); /* only top-level keys have a short form */
    return key != NULL ? key->short_key : NULL;
}

struct config_key config_key_of_param(const char *section, const struct param_spec *p)
{
    static const enum key_type types[] = {
        [PARAM_INT] = KEY_INT,   [PARAM_NUMBER] = KEY_NUMBER, [PARAM_TIME] = KEY_TIME,       [PARAM_BOOL] = KEY_BOOL,
        [PARAM_TEXT] = KEY_TEXT, [PARAM_CHOICE] = KEY_CHOICE, [PARAM_NUMBERS] = KEY_NUMBERS, [PARAM_PATH] = KEY_PATH,
    };
    return (struct config_key){.section = section,
                               .name = p->name,
                               .type = types[p->type],
                               .def = p->def,
                               .min = p->min,
                               .max = p->max,
                               .unit = p->unit,
                               .choices = p->choices,
                               .flags = p->def == NULL ? KEY_REQUIRED : 0,
                               .help = p->help};
}

const char *config_key_path(const struct config_key *key, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", key->section, key->section[0] != '\0' ? "." : "", key->name);
    return out;
}
