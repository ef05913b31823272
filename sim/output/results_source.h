/* results_source.h - a results file as a source of runs: for putting files together and for knowing what is already done.
 *
 * Opening checks the file against the schema: every table is there with every column, of one length, of the right type, and the rows of
 * every run lie inside. So a file that opens is complete.
 */
#ifndef OUTPUT_RESULTS_SOURCE_H
#define OUTPUT_RESULTS_SOURCE_H

#include "base/digest.h"
#include "output/results.h"
#include "output/results_schema.h"

#include <hdf5.h>
#include <stdbool.h>

struct source_run {
    char id[RUN_ID_HEX + 1];
    char digest[DIGEST_HEX + 1];
    uint8_t status;   /* enum run_status */
    int64_t position; /* in the order of its config; -1: not known */
    uint64_t row;     /* in /runs and /summary */
    uint64_t begin[RESULTS_TABLES], count[RESULTS_TABLES];
};

struct results_source {
    const char *path; /* the caller's */
    hid_t file;       /* negative: closed for now */
    char producer[64];
    uint32_t n_runs;
    struct source_run *runs;
    uint32_t n_sweeps;
    char (*sweeps)[RESULTS_NAME_MAX]; /* names of the swept columns, in byte order */
    bool has_positions;               /* false: the file is of an older version */
    bool is_short;                    /* memory ran out while they were listed */
};

/* BRAID_BAD_INPUT: not there, not a results file, damaged. `s` needs results_source_fini only on success. */
int results_source_open(struct results_source *s, const char *path, struct error *err);
void results_source_fini(struct results_source *s);

/* Let go of the file between uses, and open it again: many sources would use up the descriptors. */
void results_source_close(struct results_source *s);
int results_source_reopen(struct results_source *s, struct error *err);

/* Rows [begin, begin + n) of a column into `out` (text: padded to `width`). BRAID_BAD_INPUT when they cannot be read. */
int results_source_read(const struct results_source *s, const char *table, const struct column_spec *column,
                        size_t width, uint64_t begin, uint64_t n, void *out, struct error *err);

/* The width of a text column as stored. */
size_t results_source_width(const struct results_source *s, const char *table, const char *column);

/* What a run's row says of itself beside its id: name, label, config, kept tables, swept keys. A stored run may stand for a planned one only when
 * these agree as well. */
void results_describe(const struct run_config *config, const char *name, bool keeps_jobs, uint8_t out[DIGEST_BYTES]);
int results_source_describe(const struct results_source *s, uint64_t row, uint8_t out[DIGEST_BYTES], struct error *err);

#endif
