#include "policies/registry.h"

#include <dlfcn.h>
#include <string.h>

extern const struct policy_ops policy_compose, policy_conservative, policy_easy, policy_fifo, policy_fifo_skip,
    policy_gittins, policy_las, policy_ljf, policy_longest_waiting, policy_muri_l, policy_muri_s, policy_priority, policy_qssf, policy_random,
    policy_recorded, policy_round_robin, policy_sjf, policy_smallest, policy_srsf, policy_srtf, policy_tiresias;

static const struct policy_ops *const policies[] = {&policy_compose,
                                                    &policy_conservative,
                                                    &policy_easy,
                                                    &policy_fifo,
                                                    &policy_fifo_skip,
                                                    &policy_gittins,
                                                    &policy_las,
                                                    &policy_ljf,
                                                    &policy_longest_waiting,
                                                    &policy_muri_l,
                                                    &policy_muri_s,
                                                    &policy_priority,
                                                    &policy_qssf,
                                                    &policy_random,
                                                    &policy_recorded,
                                                    &policy_round_robin,
                                                    &policy_sjf,
                                                    &policy_smallest,
                                                    &policy_srsf,
                                                    &policy_srtf,
                                                    &policy_tiresias,
                                                    NULL};

const struct policy_ops *const *policy_list(void)
{
    return policies;
}

const struct policy_ops *policy_find(const char *name)
{
    for (const struct policy_ops *const *p = policies; *p != NULL; p++)
        if (strcmp((*p)->name, name) == 0)
            return *p;
    return NULL;
}

bool policy_preempts(const struct policy_ops *policy)
{
    static const struct policy_ops *const always[] = {&policy_gittins, &policy_muri_l, &policy_muri_s, &policy_tiresias};
    for (size_t i = 0; i < policy->n_params; i++)
        if (strcmp(policy->params[i].name, "preempt") == 0)
            return policy->params[i].def != NULL && strcmp(policy->params[i].def, "never") != 0;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (policy == always[i])
            return true;
    return false;
}

void policy_unload(void *library)
{
    if (library != NULL)
        dlclose(library);
}

/* What is wrong with a plugin's descriptor, or NULL. */
static const char *plugin_fault(const struct policy_ops *ops)
{
    if (ops == NULL)
        return "braid_policy() returns NULL";
    if (ops->abi_version != BRAID_POLICY_ABI)
        return "was built for another version of braid's policy interface; build it again";
    if (ops->size != sizeof(struct policy_ops))
        return "its struct policy_ops has another size; build it again with braid's own header";
    if (ops->name == NULL || ops->name[0] == '\0' || ops->summary == NULL || ops->source == NULL)
        return "name, summary and source must be given";
    if (ops->schedule == NULL)
        return "has no schedule()";
    if (ops->n_params > 0 && ops->params == NULL)
        return "counts parameters but lists none";
    return NULL;
}

const struct policy_ops *policy_load_plugin(const char *path, void **library, struct error *err)
{
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*library == NULL) {
        error_at(err, BRAID_BAD_INPUT, path, 0, 0, "cannot be loaded as a policy: %s", dlerror());
        return NULL;
    }
    const struct policy_ops *(*get)(void);
    void *symbol = dlsym(*library, BRAID_POLICY_SYMBOL);
    const char *fault = "exports no function " BRAID_POLICY_SYMBOL "()";
    const struct policy_ops *ops = NULL;
    if (symbol != NULL) {
        memcpy(&get, &symbol, sizeof get); /* ISO C has no cast from void * to a function */
        ops = get();
        fault = plugin_fault(ops);
    }
    if (fault != NULL) {
        error_at(err, BRAID_BAD_INPUT, path, 0, 0, "is no usable policy: %s", fault);
        policy_unload(*library);
        *library = NULL;
        return NULL;
    }
    return ops;
}
