/* books.h - a results file as plain rows, read by HDF5 calls alone (docs/schema.md). One run a file. */
#ifndef TESTS_RANDOM_BOOKS_H
#define TESTS_RANDOM_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOOKS_TEXT = 64, BOOKS_METRICS = 48 };

enum books_kind { KIND_OVERHEAD, KIND_RUN, KIND_QUEUED };
enum books_status {
    WAS_FINISHED,
    WAS_UNFINISHED,
    WAS_REJECTED,
    WAS_FAILED,
    WAS_KILLED,
    WAS_NOT_SUBMITTED,
    WAS_STATUSES
};
enum books_event {
    DID_SUBMIT,
    DID_START,
    DID_RESUME,
    DID_PREEMPT,
    DID_MOVE,
    DID_REJECT,
    DID_FINISH,
    DID_KILL,
    DID_REQUEUE,
    DID_CAPACITY,
    DID_ALL
};

/* Times are seconds, as stored; NaN where they never came. */
struct books_run {
    char id[BOOKS_TEXT], message[512];
    int64_t rows_read, rows_kept, counts[5]; /* jobs, series, segments, allocs, events */
    int64_t begins[5];
    int64_t seed;
    int64_t status; /* 0 ok, 1 failed, 2 overloaded */
};

struct books_job {
    char run[BOOKS_TEXT], id[BOOKS_TEXT], user[BOOKS_TEXT], vc[BOOKS_TEXT], reason[BOOKS_TEXT];
    int64_t job, gpus, preemptions, moves, restarts, status, trace_status;
    double submit, start, end, queued, run_time, jct, overhead, lost, work, gpu_time;
};

struct books_series {
    char run[BOOKS_TEXT], scope[BOOKS_TEXT], name[BOOKS_TEXT];
    double time, value;
};

struct books_segment {
    char run[BOOKS_TEXT];
    int64_t job, kind, group;
    double begin, end, rate;
};

struct books_alloc {
    int64_t segment, node, gpu_first, gpu_count;
    double share;
};

struct books_event_row {
    char run[BOOKS_TEXT], vc[BOOKS_TEXT], why[BOOKS_TEXT];
    double time;
    int64_t event, job;
};

struct books {
    struct books_run run;
    char summary_run[BOOKS_TEXT];
    struct books_job *jobs;
    struct books_series *series;
    struct books_segment *segments;
    struct books_alloc *allocs;
    struct books_event_row *events;
    size_t n_runs, n_summaries, n_jobs, n_series, n_segments, n_allocs, n_events;
    char metric[BOOKS_METRICS][BOOKS_TEXT];
    double value[BOOKS_METRICS];
    size_t n_metrics;
    char why[256]; /* what could not be read */
};

/* False with `why` filled: the file is not as docs/schema.md says. Freed by books_free in any case. */
bool books_read(struct books *b, const char *path);
void books_free(struct books *b);

/* A metric of /summary; NaN when there is none of this name. */
double books_metric(const struct books *b, const char *name);

/* Change the value in `row` of a column of the file; a text by another of its length. False: there is no such column, or it has no such row. */
bool books_damage(const char *path, const char *table, const char *column, uint64_t row);

/* The columns of a table, at most `room` of them; how many there are, 0 where the table is not there. */
size_t books_columns(const char *path, const char *table, char (*out)[BOOKS_TEXT], size_t room);

#endif
