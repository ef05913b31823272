#include "compat/compat.h"

#include <string.h>

static const struct compat_ops *const DRIVERS[] = {&compat_tiresias, &compat_helios, &compat_muri, NULL};

const struct compat_ops *const *compat_list(void)
{
    return DRIVERS;
}

const struct compat_ops *compat_find(const char *name)
{
    for (size_t i = 0; DRIVERS[i] != NULL; i++)
        if (strcmp(DRIVERS[i]->name, name) == 0)
            return DRIVERS[i];
    return NULL;
}

const struct policy_ops *compat_find_policy(const struct compat_ops *compat, const char *name)
{
    for (size_t i = 0; compat != NULL && compat->policies != NULL && compat->policies[i] != NULL; i++)
        if (strcmp(compat->policies[i]->name, name) == 0)
            return compat->policies[i];
    return NULL;
}

int compat_run(struct run_result *out, const struct run_spec *spec, struct error *err)
{
    struct error unseen;
    err = err != NULL ? err : &unseen;
    *err = (struct error){0};
    *out = (struct run_result){0};
    if (spec->workload->depends != NULL)
        return error_set(err, BRAID_BAD_INPUT,
                         "compat: %s knows no dependencies between jobs; leave out the trace's column 'depends'",
                         spec->compat->name);
    return spec->compat->run(out, spec, err);
}
