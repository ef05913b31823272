#include "cluster/placement.h"

#include "cluster/placement/modules.h"

#include <string.h>

static const struct placement_ops *const MODULES[] = {
    &placement_consolidate,
    &placement_first_fit,
    &placement_best_fit,
    &placement_worst_fit,
    &placement_spread,
    &placement_round_robin,
    &placement_weighted_round_robin,
    &placement_least_loaded,
    &placement_power_of_two,
    &placement_random,
    &placement_rack_local,
    &placement_count,
    &placement_yarn,
    NULL,
};

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
