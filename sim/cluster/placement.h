/* placement.h - which nodes a job gets. One module a file in sim/cluster/placement/, one const descriptor each.
 *
 * Two rules decide *whether* a job can be placed; the module decides *where*:
 *   PACKED  a job of at most G GPUs (G: the largest node it may use) takes one node; a larger one takes wholly free
 *           nodes, largest first, while they are not larger than what is still missing, and one node for the rest.
 *   POOL    any visible free GPUs will do.
 * CPU and memory, where asked and limited, are shared out over the nodes by GPUs and must fit as well.
 */
#ifndef CLUSTER_PLACEMENT_H
#define CLUSTER_PLACEMENT_H

#include "cluster/cluster.h"

#include <gsl/gsl_rng.h>

enum placement_rule { PLACEMENT_PACKED, PLACEMENT_POOL };

struct placement_ops {
    const char *name, *summary, *source;
    enum placement_rule rule;
    const struct param_spec *params;
    size_t n_params;
    size_t state_size; /* zeroed, one a run */
    int (*init)(void *self, const struct cluster *c, const union param *v, struct arena *a,
                struct error *err); /* may be NULL */
    /* Choose places for `d` among the visible free GPUs of the partition; at most `room` places (room >= the number of nodes
     * of the partition or d->gpus, whichever is less). Returns the number of places, 0: it does not fit. Quotas are the caller's. */
    uint32_t (*pick)(void *self, const struct cluster *c, uint32_t partition, const struct demand *d, gsl_rng *rng,
                     struct place *out, uint32_t room);
    /* Only for a module whose choice depends on earlier ones: make `to` go on like `from`. Both were initialised with the same parameters, for
     * clusters of the same shape; `c` is either. NULL: the state is scratch. */
    void (*copy)(void *to, const void *from, const struct cluster *c);
    /* Only for a module that may refuse what its rule allows (NULL elsewhere): a literal reason why `d` can never be placed even with
     * all nodes free, or NULL. Where it is set, placement_fits is necessary for `pick` to succeed but not sufficient. */
    const char *(*never)(const struct cluster *c, uint32_t partition, const struct demand *d);
};

/* The config's `placement: NAME` or `{name: NAME, …}`. Values are filled by the config loader. */
struct placement_spec {
    const struct placement_ops *ops;
    const union param *params;
};

/* All modules, ended by NULL; and one by name, or NULL. */
const struct placement_ops *const *placement_list(void);
const struct placement_ops *placement_find(const char *name);

/* Is there a place for `d` in the partition by `rule`? Near constant time. */
bool placement_fits(const struct cluster *c, uint32_t partition, const struct demand *d, enum placement_rule rule);

#endif
