#include "traces/guess.h"

#include "base/number.h"
#include "traces/job_end.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NONE = UINT32_MAX };

/* Names by which columns go, in lower case and without anything but letters and digits; the likelier ones first. */
static const char *const ids[] = {"jobid", "id",  "jobidraw", "idjob", "jobnumber",
                                  "jobno", "jid", "taskid",   "job",   NULL};
static const char *const submits[] = {"submit",
                                      "submittime",
                                      "timesubmit",
                                      "submissiontime",
                                      "submitted",
                                      "submittedtime",
                                      "submitat",
                                      "submittedat",
                                      "submitts",
                                      "submittimestamp",
                                      "submissiondate",
                                      "submitdate",
                                      "tsubmit",
                                      "submittimes",
                                      "submittimems",
                                      "submitms",
                                      "qtime",
                                      "arrivaltime",
                                      "arrival",
                                      "createtime",
                                      "creationtime",
                                      "createdtime",
                                      "createdat",
                                      "created",
                                      "ctime",
                                      "timestamp",
                                      "submissionts",
                                      "time",
                                      NULL};
static const char *const starts[] = {
    "start",   "starttime",      "timestart", "startingtime", "started",      "startedtime", "startedat", "startdate",
    "startts", "starttimestamp", "begin",     "begintime",    "dispatchtime", "starttimems", "startms",   NULL};
static const char *const ends[] = {
    "end",          "endtime",  "timeend",    "finishtime", "finish",         "finished",
    "ended",        "endedat",  "enddate",    "endts",      "completiontime", "terminationtime",
    "endtimestamp", "stoptime", "finishedat", "endtimems",  "endms",          NULL};
static const char *const durations[] = {
    "duration",    "runtime",     "elapsed",         "elapsedraw",   "executiontime", "elapsedtime",    "actualruntime",
    "durations",   "durationsec", "durationseconds", "runtimes",     "runtimesec",    "runtimeseconds", "durationms",
    "durationmin", "runmin",      "runtimemin",      "runtimems",    "runtimeh",      "durationh",      "runsec",
    "runseconds",  "elapseds",    "elapsedms",       "usedwalltime", "walltimeused",  "wallclockused",  "wallclocktime",
    "ruwallclock", "jobduration", "timeused",        "usedtime",     "run",           "wallclock",      NULL};
static const char *const walltimes[] = {"walltime", NULL};
static const char *const estimates[] = {
    "timelimit",   "timelimitraw",      "wallclockreq",   "requestedtime", "walltimereq", "reqtime",
    "reqwalltime", "requestedwalltime", "wallclocklimit", "walltimelimit", "timereq",     "timelimitmin",
    "estimate",    "estimatedruntime",  "userestimate",   "timelimits",    "limit",       NULL};
static const char *const gpus[] = {
    "gpus",      "gpu",           "gpusreq",       "reqgpus",  "gpunum",     "numgpu",       "numgpus", "ngpus",
    "ngpu",      "requestedgpus", "gpusrequested", "gpucount", "gpurequest", "gpurequested", "gpureq",  "allocgpus",
    "gpusalloc", "gpuallocated",  "totalgpus",     "gpusused", "usedgpus",   "gputotal",     NULL};
static const char *const resources[] = {"reqtres",   "tresreq",   "reqgres", "gresreq",  "alloctres",  "tresalloc",
                                        "allocgres", "gresalloc", "gres",    "gresused", "tresperjob", NULL};
static const char *const resources_of_node[] = {"trespernode", "grespernode", NULL};
static const char *const gpus_of_node[] = {"gpuspernode", "gpupernode", "ngpuspernode", "numgpuspernode", NULL};
static const char *const node_counts[] = {"nodes",      "nnodes",        "numnodes", "nodenum",
                                          "nodecount",  "nodesreq",      "reqnodes", "nodesalloc",
                                          "allocnodes", "numnodesalloc", NULL};
static const char *const vcs[] = {"vc",   "virtualcluster", "partition", "queue", "queuename", "qname",
                                  "pool", "account",        "project",   "group", NULL};
static const char *const users[] = {"user", "username", "userid", "iduser", "uid", "owner", NULL};
static const char *const names[] = {"jobname", "name", NULL};
static const char *const models[] = {"model", "modelname", "network", NULL};
static const char *const states[] = {"status",     "state",   "jobstate", "jobstatus",
                                     "finalstate", "outcome", "result",   NULL};
static const char *const exits[] = {"exitstatus", "exitcode", "returncode", NULL};
static const char *const priorities[] = {"priority", NULL};
static const char *const cpus[] = {"cpus",     "ncpus",  "numcpus",  "cpunum", "cpusreq", "reqcpus", "requestedcpus",
                                   "cpucount", "ncores", "numcores", "cores",  "cpu",     NULL};
static const char *const memories[] = {"memory",       "mem",       "memreq",   "reqmem", "memoryreq",
                                       "requestedmem", "reqmemory", "memorygb", "memgb",  "memorymb",
                                       "memmb",        "memorykb",  "memkb",    NULL};
static const char *const gpu_types[] = {"gputype", "gpumodel", "accelerator", "gpukind", NULL};
static const char *const deadlines[] = {"deadline", NULL};
static const char *const depends[] = {"depends", "dependency", "dependencies", NULL};
static const char *const waits[] = {"wait",   "waittime", "queuewait", "waitingtime", "queuedtime",
                                    "queued", "waits",    "waitsec",   NULL};

struct looking {
    struct guess *g;
    const struct table_peek *k;
};

static void note(char (*list)[GUESS_TEXT], uint32_t *n, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void note(char (*list)[GUESS_TEXT], uint32_t *n, const char *format, ...)
{
    va_list arguments;
    if (*n == GUESS_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(list[(*n)++], GUESS_TEXT, format, arguments);
    va_end(arguments);
}

#define MISSING(l, ...) note((l)->g->missing, &(l)->g->n_missing, __VA_ARGS__)
#define UNSURE(l, ...) note((l)->g->unsure, &(l)->g->n_unsure, __VA_ARGS__)

/* "Submit_Time (ms)" as "submittimems". */
static void simplify(const char *name, char *out, size_t size)
{
    size_t n = 0;
    for (; *name != '\0' && n + 1 < size; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out[n++] = c;
    }
    out[n] = '\0';
}

static uint32_t find(const struct looking *l, const char *const *wanted)
{
    for (; *wanted != NULL; wanted++)
        for (uint32_t c = 0; c < l->k->n_columns; c++) {
            char simple[TABLE_PEEK_TEXT];
            const char *dot = strrchr(l->k->names[c], '.'); /* of an object inside a row */
            simplify(l->k->names[c], simple, sizeof simple);
            if (strcmp(simple, *wanted) == 0)
                return c;
            simplify(dot != NULL ? dot + 1 : l->k->names[c], simple, sizeof simple);
            if (dot != NULL && strcmp(simple, *wanted) == 0)
                return c;
        }
    return NONE;
}

/* ---- what the values look like ------------------------------------------------------------------------------------------ */

struct look {
    uint32_t n, numbers, dates, clocks; /* values that are there; of these plain numbers, dates, spans with colons */
    bool is_whole, has_units;           /* all numbers are whole; a letter stands behind a digit, as in "64G" */
    double least, most;
    const char *example; /* "" where there is none */
};

static struct look look_at(const struct looking *l, uint32_t c)
{
    struct look k = {.is_whole = true, .example = ""};
    for (uint32_t r = 0; r < l->k->n_rows; r++) {
        const char *text = l->k->values[r][c];
        size_t n = strlen(text);
        double v;
        int64_t ns;
        if (n == 0 || strcmp(text, "Unknown") == 0 || strcmp(text, "None") == 0 || strcmp(text, "nan") == 0 ||
            strcmp(text, "NaN") == 0 || strcmp(text, "-") == 0 || strcmp(text, "UNLIMITED") == 0)
            continue;
        k.n++;
        k.example = k.example[0] == '\0' ? text : k.example;
        if (number_parse_double(text, n, &v)) {
            k.least = k.numbers == 0 || v < k.least ? v : k.least;
            k.most = k.numbers == 0 || v > k.most ? v : k.most;
            k.numbers++;
            k.is_whole &= v >= -9e15 && v <= 9e15 && (double)(int64_t)v - v >= 0 && (double)(int64_t)v - v <= 0;
        } else if (n >= 10 && text[4] == '-' && text[7] == '-') {
            k.dates++;
        } else if (number_parse_span(text, n, &ns)) {
            k.clocks++;
        } else if (text[0] >= '0' && text[0] <= '9') {
            k.has_units = true;
        }
    }
    return k;
}

/* The unit that ends the name of a column, or NULL: run_min, "elapsed (ms)", mem_GB. */
static const char *unit_of_name(const char *name)
{
    static const struct {
        const char *ending, *unit;
    } endings[] = {{"_ms", "ms"},   {"(ms)", "ms"},   {"_millis", "ms"}, {"_us", "us"},       {"_ns", "ns"},
                   {"_s", "s"},     {"(s)", "s"},     {"_sec", "s"},     {"_secs", "s"},      {"_seconds", "s"},
                   {"_min", "min"}, {"_mins", "min"}, {"(min)", "min"},  {"_minutes", "min"}, {"_h", "h"},
                   {"(h)", "h"},    {"_hours", "h"},  {"_hrs", "h"},     {"_days", "d"},      {"_kb", "KB"},
                   {"_mb", "MB"},   {"_gb", "GB"},    {"_kib", "KiB"},   {"_mib", "MiB"},     {"_gib", "GiB"},
                   {"_bytes", "B"}};
    char lower[TABLE_PEEK_TEXT];
    size_t n = strlen(name);
    for (size_t i = 0; i <= n && i < sizeof lower; i++)
        lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t m = strlen(endings[i].ending);
        if (n > m && n < sizeof lower && strcmp(lower + n - m, endings[i].ending) == 0)
            return endings[i].unit;
    }
    return NULL;
}

/* ---- proposals ---------------------------------------------------------------------------------------------------------- */

static struct mapping_source *propose(struct looking *l, const char *target, uint32_t c)
{
    uint32_t t = mapping_target_find(target);
    struct mapping_source *s = &l->g->mapping.sources[t];
    l->g->mapping.is_given[t] = true;
    s->column = c != NONE ? l->k->names[c] : NULL;
    return s;
}

static char *why(struct looking *l, const char *target)
{
    return l->g->why[mapping_target_find(target)];
}

/* Only by its name. */
static uint32_t propose_named(struct looking *l, const char *target, const char *const *wanted)
{
    uint32_t c = find(l, wanted);
    if (c == NONE || look_at(l, c).n == 0)
        return NONE;
    propose(l, target, c);
    snprintf(why(l, target), GUESS_TEXT, "by its name");
    return c;
}

/* A time of the clock. */
static uint32_t propose_stamp(struct looking *l, const char *target, const char *const *wanted)
{
    uint32_t c = find(l, wanted);
    struct look k = c != NONE ? look_at(l, c) : (struct look){0};
    if (c == NONE || k.n == 0)
        return NONE;
    struct mapping_source *s = propose(l, target, c);
    char *reason = why(l, target);
    if (k.dates > 0) {
        snprintf(reason, GUESS_TEXT, "by its name; dates such as %.30s%s", k.example,
                 number_has_zone(k.example, strlen(k.example)) ? "" : ", without a zone: taken as UTC");
        return c;
    }
    if (k.numbers == 0) {
        UNSURE(l, "%s: the values of '%s' look like no times (%.40s); dates are YYYY-MM-DD HH:MM:SS", target, s->column,
               k.example);
        return c;
    }
    const char *unit = unit_of_name(s->column);
    double seconds = k.most;
    s->unit = k.most > 1e17   ? "unix_ns"
              : k.most > 1e14 ? "unix_us"
              : k.most > 1e11 ? "unix_ms"
              : k.most > 5e8  ? "unix"
                              : unit;
    if (s->unit != NULL && s->unit != unit) {
        snprintf(reason, GUESS_TEXT, "by its name; numbers as large as times since 1970 (%.30s)", k.example);
        return c;
    }
    snprintf(reason, GUESS_TEXT, "by its name; numbers from %.12g to %.12g%s", k.least, seconds,
             unit != NULL ? ", the unit by its name" : "");
    if (unit == NULL)
        UNSURE(l,
               "%s: nothing tells the unit of '%s' (%.12g to %.12g); s is assumed, write {column: %s, unit: min} or "
               "another",
               target, s->column, k.least, seconds, s->column);
    return c;
}

static bool is_time_unit(const char *unit)
{
    const struct mapping_unit *u = unit != NULL ? mapping_unit_find(unit) : NULL;
    return u != NULL && u->is_time;
}

static uint32_t propose_span(struct looking *l, const char *target, const char *const *wanted)
{
    uint32_t c = find(l, wanted);
    struct look k = c != NONE ? look_at(l, c) : (struct look){0};
    if (c == NONE || k.n == 0)
        return NONE;
    struct mapping_source *s = propose(l, target, c);
    const char *unit = unit_of_name(s->column);
    if (k.clocks > k.numbers) {
        snprintf(why(l, target), GUESS_TEXT, "by its name; spans such as %.30s", k.example);
    } else if (is_time_unit(unit)) {
        s->unit = strcmp(unit, "s") != 0 ? unit : NULL;
        snprintf(why(l, target), GUESS_TEXT, "by its name, which tells the unit");
    } else {
        snprintf(why(l, target), GUESS_TEXT, "by its name; numbers from %.12g to %.12g", k.least, k.most);
        char simple[TABLE_PEEK_TEXT];
        simplify(s->column, simple, sizeof simple);
        if (strcmp(simple, "timelimit") == 0 || strcmp(simple, "timelimitraw") == 0) {
            s->unit = "min";
            snprintf(why(l, target), GUESS_TEXT, "by its name; numbers, which Slurm counts in minutes");
        } else if (strcmp(simple, "elapsedraw") != 0 && strncmp(simple, "ruw", 3) != 0) {
            UNSURE(l, "%s: nothing tells the unit of '%s' (%.12g to %.12g); s is assumed", target, s->column, k.least,
                   k.most);
        }
    }
    return c;
}

static bool stamp_value(const struct looking *l, const char *target, uint32_t row, double *seconds)
{
    uint32_t t = mapping_target_find(target);
    const struct mapping_source *s = &l->g->mapping.sources[t];
    int64_t ns;
    if (!l->g->mapping.is_given[t] || s->column == NULL)
        return false;
    for (uint32_t c = 0; c < l->k->n_columns; c++) {
        const char *text = l->k->values[row][c];
        if (l->k->names[c] != s->column)
            continue;
        if (number_parse_datetime(text, strlen(text), &ns)) {
            *seconds = (double)ns / 1e9;
            return true;
        }
        const struct mapping_unit *u = mapping_unit_find(s->unit != NULL ? s->unit : "s");
        return number_parse_double(text, strlen(text), seconds) && (*seconds *= (double)u->one / 1e9, true);
    }
    return false;
}

/* Where the table has start, end and duration, two of them tell the unit of the third. */
static void settle_unit(struct looking *l, uint32_t duration)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"ms", 0.001}, {"d", 86400}, {"us", 1e-6}};
    uint32_t votes[6] = {0}, n = 0, best = 0;
    for (uint32_t r = 0; r < l->k->n_rows; r++) {
        double start, end, v;
        const char *text = l->k->values[r][duration];
        if (!stamp_value(l, "start", r, &start) || !stamp_value(l, "end", r, &end) || end - start < 10 ||
            !number_parse_double(text, strlen(text), &v) || v <= 0)
            continue;
        n++;
        for (uint32_t u = 0; u < 6; u++) {
            double ratio = v * units[u].seconds / (end - start);
            votes[u] += ratio > 0.9 && ratio < 1.1;
        }
    }
    for (uint32_t u = 1; u < 6; u++)
        best = votes[u] > votes[best] ? u : best;
    if (n == 0 || votes[best] * 2 <= n)
        return;
    struct mapping_source *s = propose(l, "duration", duration);
    s->unit = best > 0 ? units[best].unit : NULL;
    snprintf(why(l, "duration"), GUESS_TEXT, "by its name; %s, since that is end - start in %u of %u rows",
             units[best].unit, votes[best], n);
    for (uint32_t i = 0; i < l->g->n_unsure; i++)
        if (strncmp(l->g->unsure[i], "duration:", 9) == 0) {
            l->g->n_unsure--;
            memmove(l->g->unsure[i], l->g->unsure[i + 1], (l->g->n_unsure - i) * GUESS_TEXT);
            break;
        }
}

/* How the values of column `c` name GPUs, as the argument of `tres`; NULL: they do not. */
static const char *resource_name(const struct looking *l, uint32_t c)
{
    bool has_numbers = false;
    for (uint32_t r = 0; r < l->k->n_rows; r++) {
        const char *text = l->k->values[r][c];
        if (strstr(text, "gres/gpu") != NULL)
            return "gres/gpu";
        if (strncmp(text, "gpu", 3) == 0 || strstr(text, ":gpu") != NULL)
            return "gpu";
        has_numbers |= text[0] >= '1' && text[0] <= '9' && strchr(text, '=') != NULL;
    }
    return has_numbers ? "" : NULL;
}

static bool propose_resources(struct looking *l, const char *const *wanted, bool is_of_node, uint32_t nodes)
{
    static const char *const gres[] = {"gres/gpu"}, *const plain[] = {"gpu"}, *const numbers[] = {"1001", "1002"};
    uint32_t c = find(l, wanted);
    const char *name = c != NONE ? resource_name(l, c) : NULL;
    if (name == NULL || (is_of_node && nodes == NONE))
        return false;
    struct mapping_source *s = propose(l, "gpus", c);
    s->times = is_of_node ? l->k->names[nodes] : NULL;
    s->tres = name[0] == '\0' ? (struct mapping_texts){numbers, 2}
                              : (struct mapping_texts){strcmp(name, "gpu") == 0 ? plain : gres, 1};
    snprintf(why(l, "gpus"), GUESS_TEXT, "a list of resources%s", is_of_node ? " of a node, times the nodes" : "");
    if (name[0] == '\0')
        UNSURE(l, "gpus: '%s' names resources by number; 1001 and 1002 are often GPUs, 'sacctmgr show tres' tells",
               s->column);
    return true;
}

static void propose_gpus(struct looking *l)
{
    uint32_t nodes = find(l, node_counts), of_node = find(l, gpus_of_node), c = find(l, gpus);
    if (c != NONE && look_at(l, c).numbers > 0) {
        propose(l, "gpus", c);
        snprintf(why(l, "gpus"), GUESS_TEXT, "by its name");
        return;
    }
    if (propose_resources(l, resources, false, nodes) || propose_resources(l, resources_of_node, true, nodes))
        return;
    if (of_node != NONE && nodes != NONE) {
        propose(l, "gpus", of_node)->times = l->k->names[nodes];
        snprintf(why(l, "gpus"), GUESS_TEXT, "GPUs of a node, times the nodes");
        return;
    }
    MISSING(l, "gpus: no column looks like a number of GPUs; if each job has one, write gpus: {constant: 1}%s%s",
            nodes != NONE ? "; or by nodes: gpus: {times: 8, column: " : "", nodes != NONE ? l->k->names[nodes] : "");
    if (nodes != NONE)
        strncat(l->g->missing[l->g->n_missing - 1], "}", 2);
}

static void propose_status(struct looking *l)
{
    uint32_t c = find(l, states), e = find(l, exits);
    struct look k = c != NONE ? look_at(l, c) : (struct look){0};
    if (k.n > 0 && k.numbers == 0) {
        propose(l, "status", c);
        snprintf(why(l, "status"), GUESS_TEXT, "by its name; words such as %.30s", k.example);
        for (uint32_t r = 0; r < l->k->n_rows; r++)
            if (l->k->values[r][c][0] != '\0' &&
                !job_end_find(l->k->values[r][c], strlen(l->k->values[r][c])).is_known) {
                UNSURE(
                    l,
                    "status: what '%.40s' means; add it as {column: %s, passed: [...], failed: [...], killed: [...]}",
                    l->k->values[r][c], l->k->names[c]);
                break;
            }
        return;
    }
    if (k.numbers > 0) {
        char simple[TABLE_PEEK_TEXT];
        uint32_t t = find(l, submits);
        simplify(t != NONE ? l->k->names[t] : "", simple, sizeof simple);
        if (strcmp(simple, "timesubmit") == 0) {
            propose(l, "status", c)->codes = JOB_CODES_SLURM;
            snprintf(why(l, "status"), GUESS_TEXT, "numbers of Slurm's states, as the other columns are Slurm's");
        } else {
            UNSURE(l, "status: '%s' has numbers; say whose they are: {column: %s, codes: slurm}, swf or exit",
                   l->k->names[c], l->k->names[c]);
        }
        return;
    }
    if (e != NONE && look_at(l, e).n > 0) {
        propose(l, "status", e)->codes = JOB_CODES_EXIT;
        snprintf(why(l, "status"), GUESS_TEXT, "an exit status");
    }
}

static void propose_memory(struct looking *l)
{
    uint32_t c = find(l, memories);
    struct look k = c != NONE ? look_at(l, c) : (struct look){0};
    const char *unit = c != NONE ? unit_of_name(l->k->names[c]) : NULL;
    const struct mapping_unit *u = unit != NULL ? mapping_unit_find(unit) : NULL;
    if (k.n == 0)
        return;
    if (k.numbers > 0 && (u == NULL || !u->is_size)) {
        UNSURE(l,
               "memory: '%s' is a number without a unit; add {column: %s, unit: MiB} or another, and whether it is of "
               "the whole job",
               l->k->names[c], l->k->names[c]);
        return;
    }
    propose(l, "memory", c)->unit = k.numbers > 0 ? unit : NULL;
    snprintf(why(l, "memory"), GUESS_TEXT, "by its name");
}

static void propose_times(struct looking *l)
{
    uint32_t submit = propose_stamp(l, "submit", submits), start = propose_stamp(l, "start", starts);
    uint32_t end = propose_stamp(l, "end", ends), duration = propose_span(l, "duration", durations);
    uint32_t limit = propose_span(l, "estimate", estimates), wall = find(l, walltimes), wait = find(l, waits);
    if (submit == NONE)
        MISSING(l, "submit: no column looks like a time of submission%s%s%s",
                start != NONE ? "; the start would do, with no waiting: submit: " : "",
                start != NONE ? l->k->names[start] : "", "");
    if (duration != NONE && start != NONE && end != NONE)
        settle_unit(l, duration);
    if (wall != NONE && duration == NONE && (start == NONE || end == NONE)) {
        duration = propose_span(l, "duration", walltimes);
        UNSURE(l, "duration: '%s' may be what was used or what was asked for (then it is the estimate)",
               l->k->names[wall]);
    } else if (wall != NONE && limit == NONE) {
        propose_span(l, "estimate", walltimes);
        UNSURE(l, "estimate: '%s' may be what was asked for or what was used", l->k->names[wall]);
    }
    if (start == NONE && wait != NONE && submit != NONE && look_at(l, wait).n > 0) {
        struct mapping_source *s = propose(l, "start", submit);
        s->unit = l->g->mapping.sources[mapping_target_find("submit")].unit;
        s->plus = l->k->names[wait];
        snprintf(why(l, "start"), GUESS_TEXT, "submission and waiting time");
        start = submit;
    }
    if (duration == NONE && (start == NONE || end == NONE))
        MISSING(l, "duration: no column looks like a run time, and there are not both a start and an end");
}

/* Without names there is little to go by but the shape of the values: say what each column holds. */
static void describe(struct looking *l)
{
    MISSING(l, "the table has no header: write which column is what by number, as in submit: 3");
    for (uint32_t c = 0; c < l->k->n_columns && c < GUESS_NOTES; c++) {
        struct look k = look_at(l, c);
        const char *what = k.n == 0           ? "empty"
                           : k.dates > 0      ? "dates"
                           : k.numbers == k.n ? "numbers"
                           : k.clocks > 0     ? "spans"
                                              : "texts";
        if (k.numbers == k.n && k.n > 0)
            UNSURE(l, "column %u: numbers from %.12g to %.12g", c + 1, k.least, k.most);
        else
            UNSURE(l, "column %u: %s%s%.40s", c + 1, what, k.n > 0 ? " such as " : "", k.example);
    }
}

void guess_columns(struct guess *out, const struct table_peek *peek)
{
    struct looking l = {out, peek};
    memset(out, 0, sizeof *out);
    out->mapping.separator = peek->separator;
    out->mapping.header = peek->has_header ? "auto" : "false";
    if (!peek->has_header) {
        describe(&l);
        return;
    }
    propose_named(&l, "id", ids);
    propose_times(&l);
    propose_gpus(&l);
    propose_named(&l, "vc", vcs);
    propose_named(&l, "user", users);
    propose_named(&l, "name", names);
    propose_named(&l, "model", models);
    propose_status(&l);
    propose_named(&l, "priority", priorities);
    propose_named(&l, "cpus", cpus);
    propose_memory(&l);
    propose_named(&l, "gpu_type", gpu_types);
    propose_stamp(&l, "deadline", deadlines);
    propose_named(&l, "depends", depends);
}
