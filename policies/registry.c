#include "policies/registry.h"

#include <dlfcn.h>
#include <string.h>

extern const struct policy_ops policy_antman, policy_themis_auction, policy_themis, policy_drf, policy_fair_share, policy_hierarchical, policy_max_min, policy_quota, policy_compose, policy_conservative, policy_easy, policy_fifo, policy_fifo_skip,
    policy_gittins, policy_las, policy_ljf, policy_longest_waiting, policy_muri_l, policy_muri_s, policy_optimal, policy_auction, policy_proportional_price, policy_priority, policy_qssf, policy_random,
    policy_recorded, policy_round_robin, policy_sjf, policy_sjf_easy, policy_sjf_skip, policy_smallest, policy_srsf, policy_srtf, policy_tiresias,
    policy_critical_path, policy_dynamic_priority, policy_edf, policy_gittins_past, policy_least_laxity, policy_mlfq, policy_rr_sjf, policy_time_window,
    policy_weighted_round_robin,
    policy_ga, policy_greedy_insert, policy_lookahead, policy_planner, policy_pso, policy_sa;

static const struct policy_ops *const policies[] = {&policy_antman,
                                                    &policy_auction,
                                                    &policy_compose,
                                                    &policy_conservative,
                                                    &policy_critical_path,
                                                    &policy_drf,
                                                    &policy_dynamic_priority,
                                                    &policy_easy,
                                                    &policy_edf,
                                                    &policy_fair_share,
                                                    &policy_fifo,
                                                    &policy_fifo_skip,
                                                    &policy_ga,
                                                    &policy_gittins,
                                                    &policy_gittins_past,
                                                    &policy_greedy_insert,
                                                    &policy_hierarchical,
                                                    &policy_las,
                                                    &policy_least_laxity,
                                                    &policy_ljf,
                                                    &policy_longest_waiting,
                                                    &policy_lookahead,
                                                    &policy_max_min,
                                                    &policy_mlfq,
                                                    &policy_muri_l,
                                                    &policy_muri_s,
                                                    &policy_optimal,
                                                    &policy_planner,
                                                    &policy_priority,
                                                    &policy_proportional_price,
                                                    &policy_pso,
                                                    &policy_qssf,
                                                    &policy_quota,
                                                    &policy_random,
                                                    &policy_recorded,
                                                    &policy_round_robin,
                                                    &policy_rr_sjf,
                                                    &policy_sa,
                                                    &policy_sjf,
                                                    &policy_sjf_easy,
                                                    &policy_sjf_skip,
                                                    &policy_smallest,
                                                    &policy_srsf,
                                                    &policy_srtf,
                                                    &policy_themis,
                                                    &policy_themis_auction,
                                                    &policy_time_window,
                                                    &policy_tiresias,
                                                    &policy_weighted_round_robin,
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
    static const struct policy_ops *const always[] = {&policy_antman, &policy_themis, &policy_themis_auction, &policy_gittins, &policy_gittins_past, &policy_muri_l, &policy_muri_s, &policy_tiresias, &policy_mlfq, &policy_weighted_round_robin};
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
    for (size_t i = 0; i < ops->n_params; i++) {
        const struct param_spec *p = &ops->params[i];
        if (p->name == NULL || p->name[0] == '\0' || p->help == NULL)
            return "has a parameter without name or help";
        if (p->type < PARAM_INT || p->type > PARAM_PATH || (p->type == PARAM_CHOICE && p->choices == NULL))
            return "has a parameter of no known type, or a choice without choices";
    }
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
