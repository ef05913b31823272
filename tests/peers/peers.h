/* peers.h - cases of other simulators: a config run as a user would, and a table of what the other one computed. */
#ifndef TESTS_PEERS_PEERS_H
#define TESTS_PEERS_PEERS_H

#include "experiment/experiment.h"

#include <stddef.h>

#define REFERENCE "../shared/reference/"

/* A csv file in memory: text fields by column name. */
struct peer_table {
    char *text;
    char **fields; /* n_rows * n_columns, behind the header's */
    uint32_t n_columns, n_rows;
};

/* Skips the test, saying so, when `path` is absent. */
void peer_need(const char *path);

/* The test fails when the file cannot be read or its rows are uneven. */
void peer_table_read(struct peer_table *t, const char *path);
void peer_table_fini(struct peer_table *t);
const char *peer_text(const struct peer_table *t, uint32_t row, const char *column); /* the column must exist */
int64_t peer_number(const struct peer_table *t, uint32_t row, const char *column);   /* a whole one */
int64_t peer_time_ns(const struct peer_table *t, uint32_t row, const char *column);  /* from seconds */

/* One run from the text of a config (loaded with experiment_load from a file in a temporary folder, books checked). The text may use
 * %s once, which becomes the absolute path of the folder `base`. */
struct peer_run {
    struct experiment x;
    struct workload w;
    struct run_result r;
};
void peer_run(struct peer_run *p, const char *yaml);
int peer_try(struct peer_run *p, const char *yaml, struct error *err); /* BRAID_OK: peer_run_fini is due */
void peer_run_fini(struct peer_run *p);

/* The job whose id (or name) is `text`; fails when there is none. */
uint32_t peer_job(const struct workload *w, const char *text, bool by_name);

/* Absolute path of `path`, to be freed. */
char *peer_path(const char *path);

/* What was compared, one line: "peers NAME: jobs N, mismatches M". */
struct peer_score {
    const char *peer, *what;
    uint32_t jobs, mismatches;
    char first[256]; /* the first mismatch */
};
/* Compare one value of a job, times in ns; the first that differs is remembered. */
bool peer_same(struct peer_score *s, const char *job, const char *value, int64_t ours, int64_t theirs);
void peer_report(const struct peer_score *s);

#endif
