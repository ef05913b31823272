/* trace.h - from a trace file (or the generator) to a workload.
 *
 * A trace is read, cut to the window [begin, end), filtered, limited to `jobs` (the first by rank), drawn anew from its days where a
 * bootstrap is asked for, and later scaled to a load (trace_scale, which needs the cluster). Time 0 is the window's begin, else the earliest submission floored to the
 * second.
 */
#ifndef TRACES_TRACE_H
#define TRACES_TRACE_H

#include "traces/workload.h"

#include <stddef.h>

#define TRACE_NO_LIMIT UINT32_MAX

enum trace_failed { TRACE_FAILED_RUN, TRACE_FAILED_DROP, TRACE_FAILED_MERGE_ATTEMPTS };
enum trace_load_scope { TRACE_LOAD_CLUSTER, TRACE_LOAD_VC };

/* The generator's parameters (`trace: {generate: {...}}`). */
struct generator_spec {
    const char *model;             /* "philly", "poisson", …: traces/generator.h */
    const char *file, *file_shown; /* a fitted model instead (traces/fit.h); NULL: none */
    uint32_t jobs;                 /* > 0 */
    double rate_per_day;           /* mean arrivals a day; 0: the model's own */
    uint32_t vcs, users;           /* 0: the model's own */
    double burst;                  /* mean jobs of a submission, >= 1; 0: the model's own */
    double repeat;                 /* share of submissions that repeat an earlier one; < 0: the model's own */
    double deadlines;              /* share of jobs with a deadline */
    bool has_estimates;            /* round times that users asked for */
    bool has_gpu_types;            /* jobs may ask for a type of GPU, where the model knows of them */
    bool
        is_lean; /* without the columns name, model, GPU memory, iterations and stage times: 44 instead of 100 bytes a job */
    uint64_t seed; /* filled from the run's seed unless given */
};

/* Which jobs get stage times from a table: those without; all; all, whatever model the trace says that they are. */
enum stages_jobs { STAGES_MISSING, STAGES_ALL, STAGES_DRAWN };

/* Stage times from a table of profiles (`trace: {profiles: {...}}`): traces/stage_assign.h. */
struct stages_spec {
    const char *table, *table_shown; /* NULL: none */
    enum stages_jobs jobs;
    struct
    { /* weights of the models bound by storage, CPU, GPU, network; n = 0: the table's own; laid out as union param's list */
        const double *v;
        uint32_t n;
    } mix;
    uint64_t seed; /* filled from the run's seed unless given */
};

/* Which jobs get a deadline: those without one, or all. */
enum deadlines_jobs { DEADLINES_MISSING, DEADLINES_ALL };

/* Deadlines for a trace without them (`trace: {deadlines: {...}}`): traces/deadline_assign.h. */
struct deadlines_spec {
    struct { /* low and high; n = 0: none are given; laid out as union param's list */
        const double *v;
        uint32_t n;
    } factor;
    double share;
    enum deadlines_jobs jobs;
    uint64_t seed; /* filled from the run's seed unless given */
};

/* Days that the bootstrap draws: none (no bootstrap), any, or each for a day of the same name. */
enum bootstrap_days { BOOTSTRAP_NONE, BOOTSTRAP_ANY, BOOTSTRAP_SAME_WEEKDAY };

/* The trace drawn anew from its own days (`trace: {bootstrap: {...}}`): traces/sample.h. */
struct bootstrap_spec {
    enum bootstrap_days days;
    uint32_t length_days; /* 0: as many as the trace has whole days */
    uint64_t seed;        /* filled from the run's seed unless given */
};

struct trace_mapping;

struct trace_spec {
    const char *path;       /* NULL when generated; relative paths are resolved by the config loader */
    const char *shown_path; /* the path as written in the config */
    struct {                /* where the config names `path`; line 0: no config does */
        const char *file;
        int line, col;
    } place;
    const char *format;     /* "auto" or a reader's name */
    const struct trace_mapping *mapping; /* which column is what: traces/mapping.h; NULL: a known format */
    const char *applications_path,
        *applications_shown; /* lengths for a trace that has none: traces/applications.h; NULL: none */
    bool has_begin, has_end;
    bool window_is_relative;  /* times counted from the first submission, not dates */
    int64_t begin_ns, end_ns; /* UTC ns, or from the first submission */
    uint32_t jobs;            /* TRACE_NO_LIMIT: all */
    double load;              /* 0: as recorded */
    double scale;             /* rate of arrivals over the recorded one; 0: as recorded. Not beside load */
    enum trace_load_scope load_scope;
    enum trace_failed failed;
    bool strict;            /* the first row that would be dropped is an error with file:line */
    const char *const *vcs; /* keep only these virtual clusters; NULL: all */
    uint32_t n_vcs;
    bool is_generated;
    struct generator_spec generate;
    struct bootstrap_spec bootstrap;
    struct stages_spec stages;
    struct deadlines_spec deadlines;
};

struct trace_reader; /* traces/reader.h */

/* Is the file of `spec` there and readable? BRAID_BAD_INPUT at the place in the config, or at the file where no config names it. */
int trace_find(const struct trace_spec *spec, struct error *err);

/* Fill `out` (initialised here; free with workload_fini). BRAID_BAD_INPUT with file and line for what cannot be read, and when no job
 * is left; out->report then still says what became of the rows. */
int trace_load(struct workload *out, const struct trace_spec *spec, struct error *err);

/* What a value that cannot be read may be meant as: "milliseconds since 1970? write seconds"; "" where there is no telling. A literal. */
const char *trace_value_hint(const char *value);

/* GPU capacity over time of one virtual cluster or of all, as trace_scale needs it: the integral of capacity from `from_ns` to
 * `to_ns` in GPU-nanoseconds. `vc` is an index into w->vcs, or NAMES_NONE for the whole cluster. */
struct trace_capacity {
    void *self;
    double (*integral)(void *self, uint32_t vc, int64_t from_ns, int64_t to_ns);
    bool (*is_admissible)(void *self, uint32_t job); /* jobs that will be rejected do not count as load */
};

/* `out` becomes `w` with inter-arrival times multiplied so that sum(GPUs x duration) of the admissible jobs over the capacity
 * integral from first to last submission is `load` (> 0); ranks are made anew where virtual clusters are scaled each by its
 * own factor. Times other than submissions that are absolute (recorded start, deadline) keep their distance to the
 * submission. A scope with fewer than two distinct submissions stays as it is. */
int trace_scale(struct workload *out, const struct workload *w, double load, enum trace_load_scope scope,
                const struct trace_capacity *capacity, struct error *err);

/* The same by a factor on the rate of arrivals: inter-arrival times are divided by `scale` (> 0), whatever the cluster. */
int trace_scale_rate(struct workload *out, const struct workload *w, double scale, struct error *err);

#endif
