/* parts.h - the folder OUT.h5.parts: what an unfinished experiment has stored so far.
 *
 *   OUT.h5.parts/.lock            one process at a time
 *               /<run>.h5         a finished run, whole
 *               /<run>.failed.h5  a failed one: the row that says so
 *               /cost.csv         what each run cost
 *
 * On success the runs go to OUT.h5 and the costs to OUT.cost.csv, and the folder goes away.
 */
#ifndef EXPERIMENT_PARTS_H
#define EXPERIMENT_PARTS_H

#include "output/results_source.h"

/* A run that is stored and may be used again. */
struct stored_run {
    char id[RUN_ID_HEX + 1];
    uint8_t described[DIGEST_BYTES]; /* results_describe */
    bool is_in_final;                /* in OUT.h5, else in a part */
};

struct parts {
    const char *output; /* OUT.h5; the caller's */
    char *folder, *cost_path, *final_cost_path;
    int lock; /* descriptor */
    uint32_t n_stored;
    struct stored_run *stored; /* by id; a part comes before the same run in OUT.h5 */
};

/* Make the folder and lock it. With `resume` also list what is stored. BRAID_FAILED: OUT.h5 is a folder, the folder cannot be made, another
 * process has it. `p` needs parts_close only on success. */
int parts_open(struct parts *p, const char *output, bool resume, struct error *err);

/* Remove what is of no use later (rows of failed runs, what killed processes left) and unlock; the folder stays if anything is in it. */
void parts_close(struct parts *p);

/* The stored run with this id and description, or NULL. */
const struct stored_run *parts_find(const struct parts *p, const char *id, const uint8_t described[DIGEST_BYTES]);

/* Path of a part (to free); NULL when memory is out. */
char *parts_path(const struct parts *p, const char *id, bool is_failed);

/* Remember what a run cost. */
struct run_cost {
    double wall_s, cpu_s;
    double peak_memory_mb; /* of the process, so far */
    int threads;
    int64_t finished_at_s; /* UTC */
};
int parts_add_cost(const struct parts *p, const char *id, const struct run_cost *cost, struct error *err);

/* After OUT.h5 is made from the runs `ids` (ascending): write OUT.cost.csv and remove their parts; with `is_all` also the
 * parts that runs of other configs left there, which no file will ever take up. */
int parts_finish(const struct parts *p, const char *const *ids, uint32_t n_ids, bool is_all, struct error *err);

#endif
