/* workload.h - the jobs of a trace as the engine takes them: a structure of arrays, ordered by rank.
 *
 * Rank order is (submit, the trace's `order` column if any, id in natural order, then the whole row as text); it does
 * not depend on the order of the rows in the file. A trace without ids gets them from the rank ("0", "1", …).
 * Optional columns are NULL where the trace lacks them. A workload is read-only once loaded; runs share it.
 */
#ifndef TRACES_WORKLOAD_H
#define TRACES_WORKLOAD_H

#include "base/digest.h"
#include "base/names.h"

#include <braid/error.h>
#include <stdbool.h>
#include <stdint.h>

#define WORKLOAD_ABSENT INT64_MIN /* an optional time that this job lacks */

/* What the trace says became of the job. */
enum trace_status { TRACE_UNKNOWN, TRACE_PASSED, TRACE_FAILED, TRACE_KILLED };
const char *trace_status_text(enum trace_status s); /* "unknown" "passed" "failed" "killed" */

enum { WORKLOAD_STAGES = 4 }; /* storage, CPU, GPU, network */

/* A reason for which rows were dropped ("no_gpus", "no_duration", …) or kept with a remark ("duplicate_id", …). */
struct trace_count {
    const char *reason; /* a literal */
    const char *advice; /* a literal: what the reader means by it and what can be done */
    bool is_dropped;    /* false: kept, with a remark */
    bool is_fault;      /* what the row says is at fault: strict reading ends there */
    bool is_no_job;     /* dropped, and no GPU job of its own: CPU jobs, steps, records of another kind */
    bool is_asked_for;  /* dropped, for the config asked for it: window, filters */
    uint64_t rows;
    uint64_t example_line; /* line of the first such row in the file, from 1; 0 unknown */
    char example[96];      /* the beginning of that row */
};

/* How many of the rows under a reason are there for what one column says. */
struct trace_column_count {
    const char *reason; /* a literal */
    char column[48];
    uint64_t rows, line; /* line of the first of them, from 1; 0 unknown */
    char value[64];      /* what the first one says */
};

enum { TRACE_COUNTS_MAX = 64, TRACE_COLUMN_COUNTS_MAX = 32 };

/* Conservation of rows: read = kept + the dropped ones. Rows outside the window or the filters count as dropped, by reason. */
struct trace_report {
    char format[32]; /* name of the reader */
    uint64_t rows_read, rows_kept;
    uint32_t n_counts;
    struct trace_count counts[TRACE_COUNTS_MAX];
    uint32_t n_columns;
    struct trace_column_count columns[TRACE_COLUMN_COUNTS_MAX]; /* in order of the reasons' first appearance */
};

struct workload {
    uint32_t n_jobs;
    int64_t origin_utc_s; /* UTC second of time 0; 0 where the trace has relative times */
    bool has_origin;
    int64_t
        offset_s; /* without dates: the second of the trace's own clock that is time 0; else 0. Not in the digest. */

    /* always there, n_jobs each */
    int64_t *submit_ns;   /* >= 0, ascending */
    int64_t *duration_ns; /* ideal run time alone, >= 0 */
    uint32_t *gpus;       /* >= 1 */
    uint32_t *vc;         /* index into vcs */
    uint32_t *user;       /* index into users; one user "" where the trace has none */
    uint8_t *trace_status;
    uint64_t *id_at; /* n_jobs + 1 offsets into id_text; id j is id_text[id_at[j] .. id_at[j+1]) without '\0' */
    char *id_text;

    /* NULL where the trace lacks the column */
    int64_t *start_ns;    /* recorded first start */
    int64_t *estimate_ns; /* the trace's own estimate or wall-time limit */
    int64_t *deadline_ns; /* absolute */
    double *priority;
    uint32_t *name;        /* index into names: the user's job name */
    uint32_t *model;       /* index into models: the neural network */
    uint32_t *cpu_milli;   /* per job */
    uint64_t *gpu_mem_kib; /* memory it takes of each of its GPUs */
    uint32_t *gpu_milli;   /* the share it asks for of each of its GPUs: 1 to 1000, 1000 = whole GPUs */
    uint32_t *batch;       /* samples a step; 0: not said */
    uint64_t *mem_kib;     /* per job */
    uint32_t *gpu_type;    /* index into gpu_types, NAMES_NONE = any */
    int64_t *iterations;
    int64_t *iteration_ns;
    int64_t *stage_ns[WORKLOAD_STAGES]; /* all four or none */
    uint32_t *
        depends; /* index into depends_texts: ids of jobs that must have finished before, separated by ';' (traces/depends.h) */

    struct names vcs, users, names, models, gpu_types, depends_texts; /* each in natural order */
    struct trace_report report;
    uint8_t digest[DIGEST_BYTES]; /* over the jobs in rank order, before scaling to a load */
};

/* "no_gpus 184, no_duration 2": the dropped rows by reason, in order of the reasons' names; "" when none were. Returns `out`. */
const char *trace_dropped_text(const struct trace_report *report, char *out, size_t size);

/* Jobs of the trace that are lost, for no reason that was asked for: how many of how many jobs that it has. The reasons go to `out` as in
 * trace_dropped_text. Returns the share, 0 to 1. */
double trace_lost_share(const struct trace_report *report, uint64_t *lost, uint64_t *jobs, char *out, size_t size);

void workload_init(struct workload *w);
void workload_fini(struct workload *w);

/* Allocate the always-there columns for `n` jobs (zeroed) and, for each `true`, an optional one. BRAID_FAILED when out. */
struct workload_columns {
    bool start, estimate, deadline, priority, name, model, cpu, memory, gpu_type, gpu_memory, gpu_milli, batch,
        iterations, stages, depends;
};
int workload_alloc(struct workload *w, uint32_t n, const struct workload_columns *want, struct error *err);

/* The columns that `w` has. */
struct workload_columns workload_has(const struct workload *w);

/* `out` becomes a deep copy of the jobs `pick[0..n)` of `w`, in that order, with the names, report, origin and digest of `w`.
 * The caller sees to it that submissions ascend. */
int workload_select(struct workload *out, const struct workload *w, const uint32_t *pick, uint32_t n,
                    struct error *err);

/* Leave out the names that no job bears and put the others in natural order; false: memory is out, and `w` is only to be freed. */
bool workload_settle_names(struct workload *w);

/* Fill w->digest: SHA-256 over the time of its origin, the names and every column, jobs in rank order. The names must be in natural
 * order with none unused, for only then do equal jobs give equal digests. The report does not count. */
void workload_digest(struct workload *w);

#endif
