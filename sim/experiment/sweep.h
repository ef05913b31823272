/* sweep.h - `sweep:` maps dotted keys to values; the runs are their product, in order, the last key fastest.
 *
 *   sweep: {policy: [fifo, sjf], seed: {from: 1, to: 2}}   ->   fifo 1, fifo 2, sjf 1, sjf 2
 *
 * An axis is one key, or the keys of one map of `zip`, which move together. A key of a policy (or placement) that has no such parameter does not
 * apply in its runs: these are made once, and the key's value is "".
 */
#ifndef EXPERIMENT_SWEEP_H
#define EXPERIMENT_SWEEP_H

#include "base/config_tree.h"

#include <braid/policy.h>

enum { SWEEP_KEYS_MAX = 64 };

#define SWEEP_NONE UINT32_MAX

struct sweep_key {
    const char *key;
    struct config_place place;
    uint32_t axis;
    const struct config_item *values; /* as many as the axis has */
    const char **texts;               /* each value as YAML in one line */
    bool is_applied;                  /* in some run (sweep_count) */
};

struct sweep_axis {
    uint32_t first_key, n_keys, n;
};

/* The policy or placement that `node` of a run's tree means (NULL: the default), as far as it is known. */
struct sweep_module {
    const char *name;
    const struct param_spec *params;
    size_t n_params;
    bool is_composed; /* it has no name of its own */
};

/* What a sweep must know of modules: `kind` is "policy" or "placement". False: unknown, which is an error once the run is filled. */
struct sweep_modules {
    bool (*find)(void *self, const struct config_node *root, const char *kind, const struct config_node *node,
                 struct sweep_module *out);
    void *self;
};

struct sweep {
    struct sweep_key *keys;
    struct sweep_axis *axes;
    uint32_t n_keys, n_axes;
    uint32_t n_runs; /* 1 without axes */
    struct sweep_modules modules;
};

/* Check the map of `sweep` of the config `root` (NULL: no sweep) and lay out its axes. Errors: an unknown key or one that changes no result, what
 * is neither a list nor a range, no values, equal values, an axis that would undo an earlier one, too many keys, lists of `zip` that differ in
 * length, more than `most` runs. */
int sweep_init(struct sweep *s, struct arena *a, const struct config_node *root, const struct config_node *map,
               const struct sweep_modules *modules, uint32_t most, struct error *err);

/* Called for each run in order with its tree and, by key, the position of its value (SWEEP_NONE: the key does not apply). */
typedef int sweep_visit(void *self, const struct config_node *root, uint32_t run, const uint32_t *at);

/* Visit all runs; stops at the first that is not BRAID_OK. */
int sweep_expand(const struct sweep *s, struct arena *a, const struct config_node *root, sweep_visit *visit, void *self,
                 struct error *err);

/* sweep_range.c: is this map a range, {from: A, to: B, ...}? Its values as a list; NULL with `err`. `is_whole`: the key takes whole numbers. */
bool sweep_is_range(const struct config_node *node);
const struct config_node *sweep_range(struct arena *a, const struct config_node *range, const char *key, bool is_whole,
                                      struct error *err);

/* sweep_policy.c: the items of a list of policies in which a parameter with several values stands for one policy a value; NULL with `err`. */
const struct config_node *sweep_policies(const struct sweep_modules *m, struct arena *a, const struct config_node *root,
                                         const struct config_node *list, struct error *err);

/* Give the policies of the axis labels that tell them apart. */
int sweep_label(struct sweep *s, struct arena *a, const struct config_node *root, struct error *err);

#endif
