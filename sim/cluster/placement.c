#include "cluster/placement.h"

#include "cluster/placement/modules.h"

#include <string.h>

static const struct placement_ops *const MODULES[] = {&placement_consolidate, &placement_count, NULL};

const struct placement_ops *const *placement_list(void)
{
    return MODULES;
}

const struct placement_ops *placement_find(const char *name)
{
    for (size_t i = 0; MODULES[i] != NULL; i++)
        if (strcmp(MODULES[i]->name, name) == 0)
            return MODULES[i];
    return NULL;
}
