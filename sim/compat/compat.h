/* compat.h - other simulators' semantics, to the letter: `compat: NAME` of the config.
 *
 * A driver is handed the whole run. It reads the same spec and workload and fills the same result as the engine, but time passes, jobs
 * are chosen and ends are counted as in the other simulator, its oddities included: this is the one place where scans and a second copy
 * of some logic are right, because the original has them. What each oddity does to results, and what the engine does instead, is in
 * docs/compat.md.
 *
 * A driver refuses what the other simulator does not have (a policy, a placement, estimates, overheads, fractions of a second) with a
 * message that lists what it has.
 */
#ifndef COMPAT_COMPAT_H
#define COMPAT_COMPAT_H

#include "engine/run.h"

struct compat_ops {
    const char *name, *summary, *source;
    /* As run(): `out` is empty at the call and after an error; `err` is never NULL. */
    int (*run)(struct run_result *out, const struct run_spec *spec, struct error *err);
    /* Policies that this driver knows beside, or instead of, the registry's: names and parameters, no schedule(). NULL: none. */
    const struct policy_ops *const *policies;
};

/* All drivers, ended by NULL; and one by name, or NULL. */
const struct compat_ops *const *compat_list(void);
const struct compat_ops *compat_find(const char *name);

/* run() for a spec with `compat` set. */
int compat_run(struct run_result *out, const struct run_spec *spec, struct error *err);

/* A policy of the driver's own by name; NULL: it has none of this name (`compat` NULL included). */
const struct policy_ops *compat_find_policy(const struct compat_ops *compat, const char *name);

extern const struct compat_ops compat_tiresias, compat_helios, compat_muri;

#endif
