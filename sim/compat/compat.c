#include "compat/compat.h"

#include <string.h>

static const struct compat_ops *const DRIVERS[] = {&compat_tiresias, &compat_helios, NULL};

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

int compat_run(struct run_result *out, const struct run_spec *spec, struct error *err)
{
    struct error unseen;
    err = err != NULL ? err : &unseen;
    *err = (struct error){0};
    *out = (struct run_result){0};
    return spec->compat->run(out, spec, err);
}
