/* registry.h - the policies that braid knows by name, and those loaded from a `.so`. */
#ifndef POLICIES_REGISTRY_H
#define POLICIES_REGISTRY_H

#include <braid/policy.h>

/* All built-in policies in order of name, ended by NULL. */
const struct policy_ops *const *policy_list(void);

/* One by name, or NULL. */
const struct policy_ops *policy_find(const char *name);

/* Does it take GPUs from running jobs, with its parameters as they are by default? Of a plugin only a parameter `preempt` can tell. */
bool policy_preempts(const struct policy_ops *policy);

/* Load a plugin: its ops, and in *library the handle for policy_unload. NULL with `err` filled: the file is missing or no shared object,
 * does not export braid_policy(), or was built for another ABI. */
const struct policy_ops *policy_load_plugin(const char *path, void **library, struct error *err);
void policy_unload(void *library);

#endif
