/* modules.h - the placement modules: to add one, write its file, name it here and in placement.c. */
#ifndef CLUSTER_PLACEMENT_MODULES_H
#define CLUSTER_PLACEMENT_MODULES_H

#include "cluster/placement.h"

extern const struct placement_ops placement_consolidate, placement_first_fit, placement_best_fit, placement_worst_fit,
    placement_spread, placement_round_robin, placement_weighted_round_robin, placement_least_loaded,
    placement_power_of_two, placement_random, placement_rack_local, placement_count, placement_yarn;

#endif
