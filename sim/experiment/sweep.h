/* sweep.h - `sweep:` maps dotted keys to lists of values; the runs are their product, in order, the last key fastest.
 *
 *   sweep: {policy: [fifo, sjf], seed: [1, 2]}   ->   fifo 1, fifo 2, sjf 1, sjf 2
 */
#ifndef EXPERIMENT_SWEEP_H
#define EXPERIMENT_SWEEP_H

#include "base/config_tree.h"

enum { SWEEP_AXES_MAX = 64 };

struct sweep_axis {
    const char *key;
    struct config_place place;
    uint32_t n;
    const struct config_item *values;
    const char **texts; /* each value as YAML in one line */
};

struct sweep {
    struct sweep_axis *axes;
    uint32_t n_axes;
    uint32_t n_runs; /* 1 without axes */
};

/* Check the map of `sweep` (NULL: no sweep) and lay out its axes. Errors: an unknown key or one that changes no result, what
 * is not a list, an empty list, equal values, an axis that would undo an earlier one, too many axes, more than `most` runs. */
int sweep_init(struct sweep *s, struct arena *a, const struct config_node *map, uint32_t most, struct error *err);

/* Called for each run in order with its tree and the position of its value on each axis. */
typedef int sweep_visit(void *self, const struct config_node *root, uint32_t run, const uint32_t *at);

/* Visit all runs; stops at the first that is not BRAID_OK. */
int sweep_expand(const struct sweep *s, struct arena *a, const struct config_node *root, sweep_visit *visit, void *self,
                 struct error *err);

#endif
