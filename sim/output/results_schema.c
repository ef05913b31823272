#include "output/results_schema.h"

#include "output/metrics.h"

#include <string.h>

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof(a)[0]))

/* Members of the enums, in the order of the C enums they mirror (checked by a test). */
static const char *const run_statuses[] = {"ok", "failed", "overloaded"};
static const char *const job_statuses[] = {"finished", "unfinished", "rejected", "failed", "killed", "not_submitted"};
static const char *const trace_statuses[] = {"unknown", "passed", "failed", "killed"};
static const char *const segment_kinds[] = {"overhead", "run", "queued"};
static const char *const decisions[] = {"submit", "start",  "resume", "preempt", "move",
                                        "reject", "finish", "kill",   "requeue", "capacity"};

#define TEXT(name_, help_)                                                                                             \
    {                                                                                                                  \
        .name = name_, .type = COLUMN_TEXT, .unit = "", .help = help_, .is_packed = true, .rows_of = RESULTS_TABLES    \
    }
#define NUMBER(name_, type_, unit_, help_)                                                                             \
    {                                                                                                                  \
        .name = name_, .type = type_, .unit = unit_, .help = help_, .rows_of = RESULTS_TABLES                          \
    }
/* A number that is nearly always the same (0 preemptions): chunks that compress to nothing. */
#define STEADY(name_, type_, unit_, help_)                                                                             \
    {                                                                                                                  \
        .name = name_, .type = type_, .unit = unit_, .help = help_, .is_packed = true, .rows_of = RESULTS_TABLES       \
    }
#define CODE(name_, members_, help_)                                                                                   \
    {                                                                                                                  \
        .name = name_, .type = COLUMN_ENUM, .unit = "", .help = help_, .members = members_,                            \
        .n_members = COUNT(members_), .is_packed = true, .rows_of = RESULTS_TABLES                                     \
    }
/* A uint32 that is never larger. */
#define LIMITED(name_, unit_, at_most_, help_)                                                                         \
    {                                                                                                                  \
        .name = name_, .type = COLUMN_U32, .unit = unit_, .help = help_, .rows_of = RESULTS_TABLES,                    \
        .at_most = at_most_                                                                                            \
    }
enum { GPUS_OF_A_NODE = 65536 }; /* what `cluster.nodes[].gpus` allows */
#define ROWS(name_, table_, help_)                                                                                     \
    {                                                                                                                  \
        .name = name_, .type = COLUMN_I64, .unit = "", .help = help_, .rows_of = table_                                \
    }

#define RANGE(table_, id_)                                                                                             \
    ROWS(table_ "_begin", id_, "first row of this run in `/" table_ "`"),                                              \
        NUMBER(table_ "_count", COLUMN_I64, "", "its rows in `/" table_ "`; 0 where the output was off")

static const struct column_spec runs_columns[] = {
    TEXT("run", "16 hex digits: SHA-256 over the resolved config without output keys, the trace digest and the schema"),
    TEXT("name", "of the experiment"),
    TEXT("label", "what tables and figures call the policy"),
    TEXT("config", "the resolved config, YAML"),
    TEXT("trace_digest", "SHA-256 over the jobs of the trace before they were scaled to a load"),
    TEXT("trace_format", "how the trace was read"),
    NUMBER("rows_read", COLUMN_I64, "", "rows of the trace: `rows_kept` + those of `rows_dropped`"),
    NUMBER("rows_kept", COLUMN_I64, "", "rows that became jobs"),
    TEXT("rows_dropped", "the others by reason: `no_gpus 184, no_duration 2`"),
    NUMBER("seed", COLUMN_U64, "", "of every random stream of the run"),
    NUMBER("origin", COLUMN_I64, "s", "second that is time 0: UTC where the trace has dates, else of the trace's own clock. Add it to `submit`"),
    CODE("status", run_statuses, "`ok`; `failed`: see `message`; `overloaded`: ended by `stop.queue`"),
    TEXT("message", "why the run failed"),
    {.name = "remarks",
     .type = COLUMN_TEXT,
     .unit = "",
     .rows_of = RESULTS_TABLES,
     .is_packed = true,
     .is_late = true,
     .help =
         "what `braid run` remarks of the run on stderr, with \"; \" in between; mostly empty. Files of older versions "
         "lack it"},
    TEXT("digest", "SHA-256 over the core columns of the jobs: equal digests are equal schedules"),
    TEXT("output", "which tables were kept"),
    {.name = RESULTS_POSITION,
     .type = COLUMN_I64,
     .unit = "",
     .rows_of = RESULTS_TABLES,
     .is_late = true,
     .help =
         "place of the run in the order of its config, from 0 (the last swept key changes fastest): tables and figures "
         "list policies and values by it; -1: not known. Files of older versions lack it"},
    RANGE("jobs", RESULTS_JOBS),
    RANGE("series", RESULTS_SERIES),
    RANGE("segments", RESULTS_SEGMENTS),
    RANGE("allocs", RESULTS_ALLOCS),
    RANGE("events", RESULTS_EVENTS),
};

static const struct column_spec jobs_columns[] = {
    TEXT("run", "of which run"),
    NUMBER("job", COLUMN_U32, "", "rank: position in order of submission, from 0"),
    TEXT("id", "as in the trace"),
    TEXT("user", "as in the trace"),
    TEXT("vc", "virtual cluster: as in the trace, or as `jobs` of a VC in the config wants it"),
    NUMBER("gpus", COLUMN_U32, "GPU", "demand"),
    NUMBER("submit", COLUMN_F64, "s", "from time 0"),
    NUMBER("start", COLUMN_F64, "s", "first start; NaN: never"),
    NUMBER("end", COLUMN_F64, "s", "end, or the moment of a rejection; NaN: unfinished or not submitted"),
    NUMBER("queued", COLUMN_F64, "s", "all time without GPUs"),
    NUMBER("run_time", COLUMN_F64, "s", "all time with GPUs: productive + `overhead` + `lost`"),
    NUMBER("jct", COLUMN_F64, "s",
           "`queued` + `run_time` of a job that ran to an end (finished, failed, killed); else NaN"),
    STEADY("overhead", COLUMN_F64, "s", "part of `run_time` spent on starts, restarts and moves"),
    STEADY("lost", COLUMN_F64, "s", "part of `run_time` whose work was lost"),
    NUMBER("work", COLUMN_F64, "s", "ideal run time alone"),
    NUMBER("gpu_time", COLUMN_F64, "GPU s", "integral of GPUs held"),
    STEADY("preemptions", COLUMN_U32, "", "times it lost its GPUs"),
    STEADY("moves", COLUMN_U32, "", "times it went on other GPUs without waiting"),
    STEADY("restarts", COLUMN_U32, "", "times it was resumed"),
    CODE("status", job_statuses, "what became of it in the simulation (`failed`: by no model yet)"),
    TEXT("reason", "why it was rejected, killed, left unfinished or not submitted"),
    CODE("trace_status", trace_statuses, "what the trace says became of it"),
};

static const struct column_spec series_columns[] = {
    TEXT("run", "of which run"),
    NUMBER("time", COLUMN_F64, "s",
           "end of the bin, from time 0; the bins are of one length but for the last of a run that `stop` ended, which "
           "ends there"),
    TEXT("scope", "`cluster` or the name of a virtual cluster"),
    TEXT("name",
         "counts at the end of the bin: `queued_jobs`, `running_jobs`, `allocated_gpus`, `capacity_gpus` (available, "
         "as in "
         "`gpu_utilization` of `/summary`), `queued_gpus` (demand of the queued jobs); averaged over the bin: "
         "`gpu_utilization` (allocated / capacity), and where the "
         "trace has stage times `storage_utilization`, `cpu_utilization`, `gpu_busy`, `network_utilization`: the time "
         "that "
         "each works for jobs / capacity (every GPU brings its share of the other resources; of a trace whose stage is "
         "longer than its iteration it may pass 1); behind all these, what the policy tells of itself, at the end of "
         "the bin as it was when the policy was last asked, so what changes by itself stands still in between (of "
         "`auction` "
         "and `proportional_price` prices, `revenue`, `granted` and `budget:USER`, in their own money; income and rent "
         "flow all "
         "the time, but are told when something happens)"),
    NUMBER("value", COLUMN_F64, "", "jobs, GPUs, a fraction or the policy's own unit, as `name` says"),
};

static const struct column_spec segments_columns[] = {
    TEXT("run", "of which run"),
    NUMBER("job", COLUMN_U32, "", "rank"),
    NUMBER("begin", COLUMN_F64, "s", "from time 0"),
    NUMBER("end", COLUMN_F64, "s", "from time 0"),
    CODE("kind", segment_kinds, "holding GPUs without progress, making progress, or waiting"),
    STEADY("rate", COLUMN_F64, "", "seconds of ideal run time done a second"),
    STEADY("group", COLUMN_I64, "", "jobs of one group share their GPUs; -1: alone"),
};

static const struct column_spec allocs_columns[] = {
    {.name = "segment", .type = COLUMN_I64, .unit = "", .help = "row of `/segments`", .rows_of = RESULTS_SEGMENTS},
    NUMBER("node", COLUMN_U32, "", "number of the node, from 0"),
    LIMITED("gpu_first", "", GPUS_OF_A_NODE, "first GPU of the node that is held"),
    LIMITED("gpu_count", "GPU", GPUS_OF_A_NODE, "consecutive GPUs held"),
    STEADY("share", COLUMN_F64, "", "share of each, 1 = the whole GPU (the jobs of a group take turns on it)"),
};

static const struct column_spec events_columns[] = {
    TEXT("run", "of which run"),
    NUMBER("time", COLUMN_F64, "s", "from time 0"),
    CODE("event", decisions, "what happened"),
    NUMBER("job", COLUMN_I64, "", "rank; -1: no job (a change of capacity)"),
    TEXT("vc", "queue in which it happened, empty where one queue rules all"),
    TEXT("why", "what the policy says about it"),
};

/* /summary repeats the table of metrics as columns, so that a metric is declared once. */
static const struct column_spec summary_run[] = {TEXT("run", "of which run")};

#define TABLE(name_, columns_, help_)                                                                                  \
    {                                                                                                                  \
        .name = name_, .help = help_, .columns = columns_, .n_columns = COUNT(columns_)                                \
    }

static const struct table_spec tables[RESULTS_TABLES] = {
    [RESULTS_RUNS] = TABLE("runs", runs_columns, "A row a run, in order of `run`"),
    [RESULTS_SUMMARY] = TABLE("summary", summary_run, "The same rows with every metric"),
    [RESULTS_JOBS] = TABLE("jobs", jobs_columns, "A row a job, by run and rank (`output.jobs`)"),
    [RESULTS_SERIES] = TABLE("series", series_columns, "Levels over time on a fixed step (`output.series`)"),
    [RESULTS_SEGMENTS] = TABLE("segments", segments_columns,
                               "Stretches of a job's life with one rate and one place (`output.segments`)"),
    [RESULTS_ALLOCS] = TABLE("allocs", allocs_columns, "The GPUs of each segment"),
    [RESULTS_EVENTS] = TABLE("events", events_columns, "The decision log (`output.events`)"),
};

static const char *const begin_columns[RESULTS_TABLES] = {
    [RESULTS_JOBS] = "jobs_begin",     [RESULTS_SERIES] = "series_begin", [RESULTS_SEGMENTS] = "segments_begin",
    [RESULTS_ALLOCS] = "allocs_begin", [RESULTS_EVENTS] = "events_begin",
};
static const char *const count_columns[RESULTS_TABLES] = {
    [RESULTS_JOBS] = "jobs_count",     [RESULTS_SERIES] = "series_count", [RESULTS_SEGMENTS] = "segments_count",
    [RESULTS_ALLOCS] = "allocs_count", [RESULTS_EVENTS] = "events_count",
};

const struct table_spec *results_table(int table)
{
    return &tables[table];
}

const struct column_spec *results_column(int table, const char *name)
{
    for (uint32_t i = 0; i < tables[table].n_columns; i++)
        if (strcmp(tables[table].columns[i].name, name) == 0)
            return &tables[table].columns[i];
    return NULL;
}

const char *results_begin_column(int table)
{
    return begin_columns[table];
}

const char *results_count_column(int table)
{
    return count_columns[table];
}

struct column_spec results_metric_column(uint32_t metric)
{
    size_t n;
    const struct metric_info *m = &metrics_table(&n)[metric];
    struct column_spec c = NUMBER(m->name, COLUMN_F64, m->unit, m->definition);
    c.is_late = true;
    return c;
}

struct column_spec results_sweep_column(const char *key, char name[RESULTS_NAME_MAX])
{
    snprintf(name, RESULTS_NAME_MAX, RESULTS_SWEEP_PREFIX "%s", key);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    return (struct column_spec)TEXT(name, "a swept key: its value in this run, as YAML; empty where it does not apply");
}

size_t column_size(const struct column_spec *c, size_t width)
{
    switch (c->type) {
    case COLUMN_TEXT:
        return width;
    case COLUMN_U32:
        return sizeof(uint32_t);
    case COLUMN_ENUM:
        return sizeof(uint8_t);
    case COLUMN_F64:
    case COLUMN_I64:
    case COLUMN_U64:
        break;
    }
    return 8;
}

/* ---- docs/schema.md ---- */

static const char *type_text(enum column_type type)
{
    static const char *const names[] = {
        [COLUMN_TEXT] = "text",  [COLUMN_F64] = "float64", [COLUMN_I64] = "int64",
        [COLUMN_U64] = "uint64", [COLUMN_U32] = "uint32",  [COLUMN_ENUM] = "enum",
    };
    return names[type];
}

static void write_column(FILE *out, const struct column_spec *c)
{
    fprintf(out, "| `%s` | %s | %s | %s", c->name, type_text(c->type), c->unit, c->help);
    for (uint32_t i = 0; i < c->n_members; i++)
        fprintf(out, "%s`%s` %u", i == 0 ? ". Codes: " : ", ", c->members[i], i);
    fputs(" |\n", out);
}

/* A metric says also which way is better and what it is taken over. */
static void write_metric(FILE *out, const struct column_spec *c, const struct metric_info *m)
{
    static const char *const better[] = {"lower is better", "neither way is better", "higher is better"};
    fprintf(out, "| `%s` | %s | %s | %s (%s; %s) |\n", c->name, type_text(c->type), c->unit, c->help,
            better[m->better + 1], metrics_over_text(m->over));
}

void results_schema_write_docs(FILE *out)
{
    fputs("# A results file\n\n"
          "<!-- made by `braid run --schema > docs/schema.md`; do not edit -->\n\n",
          out);
    fprintf(out,
            "HDF5, schema %d. The root has the attributes `schema` (%d) and `producer` (\"braid VERSION\"). A table is "
            "a group of\n"
            "one-dimensional datasets of equal length, one a column; each dataset has an attribute `units` (empty: "
            "none).\n\n",
            RESULTS_SCHEMA, RESULTS_SCHEMA);
    fputs("* Times are float64 seconds from time 0 of the trace; what did not happen is NaN. They come from integer "
          "nanoseconds.\n"
          "* Text is fixed-length UTF-8, padded with zero bytes, as wide as the longest value of the file.\n"
          "* Codes are HDF5 enums over uint8.\n"
          "* All runs of an experiment share the tables; a run owns the rows `X_begin` to `X_begin + X_count` of table "
          "`/X`.\n"
          "* Nothing depends on when, where or how fast the file was made: the same experiment gives the same bytes. "
          "What the\n"
          "  simulator itself cost is in `OUT.cost.csv` beside it (wall and CPU seconds, peak memory, threads, time of "
          "the end).\n\n",
          out);
    fputs("In Python, a table as columns: text as text, codes as their words, numbers as they are.\n\n"
          "```python\n"
          "import h5py, numpy\n\n"
          "def columns(path, table):\n"
          "    def values(c):\n"
          "        words = h5py.check_enum_dtype(c.dtype)\n"
          "        if words:\n"
          "            return numpy.array(sorted(words, key=words.get))[c[:]]\n"
          "        return c.asstr()[:] if h5py.check_string_dtype(c.dtype) else c[:]\n"
          "    with h5py.File(path) as f:\n"
          "        return {name: values(c) for name, c in f[table].items()}\n"
          "```\n\n"
          "`pandas.DataFrame(columns(\"OUT.h5\", \"jobs\"))` is a data frame; "
          "`.merge(pandas.DataFrame(columns(\"OUT.h5\", "
          "\"runs\"))[[\"run\",\n\"label\"]])` puts the policy's label beside each job. In R, with Bioconductor's "
          "rhdf5:\n"
          "`as.data.frame(lapply(rhdf5::h5read(\"OUT.h5\", \"jobs\", bit64conversion = \"double\"), as.vector))`.\n\n"
          "Every program of braid that reads a results file checks it first: each table and column is there, with the "
          "type, "
          "the length, the\nunit and the codes that stand here, and the rows of each run are rows of the tables. A "
          "file that "
          "was changed otherwise is refused.\n\n",
          out);
    for (int t = 0; t < RESULTS_TABLES; t++) {
        fprintf(out, "## /%s\n\n%s.\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n", tables[t].name,
                tables[t].help);
        for (uint32_t i = 0; i < tables[t].n_columns; i++)
            write_column(out, &tables[t].columns[i]);
        if (t == RESULTS_RUNS)
            fputs("| `" RESULTS_SWEEP_PREFIX "KEY` | text |  | one column a swept key: its value in this run, as YAML; "
                  "empty where it does not apply |\n",
                  out);
        size_t n = 0;
        if (t == RESULTS_SUMMARY)
            metrics_table(&n);
        for (size_t i = 0; i < n; i++) {
            struct column_spec c = results_metric_column((uint32_t)i);
            write_metric(out, &c, &metrics_table(&n)[i]);
        }
        fputc('\n', out);
    }
    fputs("## What `braid compare --format csv` and `json` write\n\n"
          "A row a row of the table and metric, numbers in the metric's unit. Empty (`null`): there is none.\n\n"
          "| column | meaning |\n| --- | --- |\n"
          "| `policy` and the other keys | what the row is of |\n"
          "| `metric`, `unit`, `better` | `better`: `lower`, `higher`, or empty where neither way is better |\n"
          "| `runs`, `jobs` to `killed` | runs of the row; means of their counts |\n"
          "| `baseline`, `pairs` | what the row is compared with; runs that have a counterpart there |\n"
          "| `compared_over` | `all jobs`; `jobs finished in both`: other jobs finished than under the baseline; "
          "`unknown`: that cannot "
          "be told, and there is no ratio |\n"
          "| `low_high` | what the columns `_low` and `_high` are: `95 % t interval` where the runs of a row differ in "
          "the seed or "
          "another replicate, `range` (least, largest) where they differ in other keys too |\n"
          "| `mean`, `mean_low`, `mean_high` | arithmetic mean over the runs, each over its own finished jobs |\n"
          "| `ratio`, `ratio_low`, `ratio_high` | above 1: better than the baseline. baseline / this where lower is "
          "better, this / "
          "baseline where higher is; over pairs the geometric mean. None where a value is 0 or one is more than 1,000 "
          "times the other |\n"
          "| `improvement` | above 0: better. The reduction 1 - this / baseline, or the gain this / baseline - 1 |\n"
          "| `ratio_of_means`, …`_low`, …`_high` | as `ratio`, of the arithmetic means of the pairs |\n"
          "| `difference`, …`_low`, …`_high` | this - baseline, mean over the pairs |\n",
          out);
}
