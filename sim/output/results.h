/* results.h - writing and reading a results file (HDF5, schema 1; docs/schema.md is made from results_schema.c).
 *
 *   run ──▶ OUT.h5.parts/<run>.h5 (whole, fsynced, renamed) ──assemble in order of run id──▶ OUT.h5 (beside, renamed)
 *
 * A table is a group of equal-length one-dimensional datasets, one a column, each with attribute `units`. One column table in
 * results_schema.c drives the writer, the assembler, the reader's checks and the docs.
 */
#ifndef OUTPUT_RESULTS_H
#define OUTPUT_RESULTS_H

#include "base/digest.h"
#include "experiment/experiment.h"
#include "output/metrics.h"
#include "output/recorder.h"

enum { RUN_ID_HEX = 16 };

/* First 16 hex digits of SHA-256 over (identity, trace digest, schema). `out` has RUN_ID_HEX + 1 bytes. */
void results_run_id(const struct run_config *config, const struct workload *w, char *out);

/* Everything about one run that is stored. */
struct run_output {
    const struct run_config *config;
    const char *name; /* of the experiment */
    char id[RUN_ID_HEX + 1];
    const struct workload *workload; /* as run: scaled */
    const struct run_result *result; /* NULL: the run failed, and `message` says why */
    const struct recorder *recorder; /* may be NULL */
    const char *message;             /* NULL or "" when it did not fail */
    const char *remarks;             /* NULL or "": none */
    bool keeps_jobs;                 /* whether /jobs gets rows */
    struct metrics metrics;          /* NaN all over when it failed */
    char digest[DIGEST_HEX + 1];     /* results_digest; "" when it failed */
};

/* SHA-256 over the core columns of the jobs (rank, submit, start, end, run_time, overhead, lost, gpu_time in ns, GPUs, counts, status). */
void results_digest(const struct run_result *r, const struct workload *w, char out_hex[DIGEST_HEX + 1]);

/* Which tables a run keeps, as /runs/output says it: "summary, jobs, series 60 s, segments, events"; returns `out`. */
const char *results_output_text(const struct output_spec *o, bool keeps_jobs, char *out, size_t size);

/* Write `parts_dir/<id>.h5` whole or not at all (the folder is made when absent); a failed run goes to `<id>.failed.h5`, which never counts
 * as a part that is there. BRAID_FAILED with the place. */
int results_write_part(const char *parts_dir, const struct run_output *o, struct error *err);

/* Is there a readable, complete part for `id`? */
bool results_has_part(const char *parts_dir, const char *id);

/* Make `path` from the files in `sources` (parts, or results files for `merge`), runs in order of id, each id once; whole or not there.
 * A run that is finished wins over the same one failed; of equal ones the first source's is taken; two that differ in digest or metrics are
 * an error. Memory is bounded by one block of rows whatever the size. */
int results_assemble(const char *path, const char *const *sources, size_t n_sources, struct error *err);

#endif
