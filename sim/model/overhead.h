/* overhead.h - time a job holds its GPUs before it makes progress: `start_overhead` at its first start,
 * `restart_overhead` at resumes and moves, under every policy alike.
 */
#ifndef MODEL_OVERHEAD_H
#define MODEL_OVERHEAD_H

#include "base/arena.h"
#include "base/names.h"

#include <braid/error.h>
#include <stdint.h>

/* One rule: a constant, steps by GPUs (`by_gpus: {1: 7 s, 8: 30 s}`: the value of the largest key <= the job's GPUs, the
 * smallest key's below it), or a table by GPUs and model (`table: FILE`, csv with columns gpus, model, overhead in seconds;
 * model "other" for those not named; GPUs as in by_gpus). */
struct overhead_row {
    uint32_t gpus;
    const char *model; /* NULL: every model */
    int64_t ns;
};

struct overhead_rule {
    int64_t constant_ns;
    const struct overhead_row *rows; /* ascending in GPUs */
    uint32_t n_rows;
    const char *table_path; /* read by overhead_rule_load into rows */
    const char *table_shown;
};

struct overhead_spec {
    struct overhead_rule start, restart;
};

int overhead_rule_load(struct overhead_rule *rule, struct arena *a, struct error *err);

/* The overhead of a job of `gpus` GPUs; `model` may be NULL. */
int64_t overhead_ns(const struct overhead_rule *rule, uint32_t gpus, const char *model);

#endif
