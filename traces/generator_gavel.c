/* The workload of Gavel's generator (Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads", OSDI'20), by
 * the rules in its release (utils.py and scheduler.py):
 *
 *   arrivals   Poisson
 *   durations  60 s x 10^U(1.5, 3) of 80 % of the jobs, 60 s x 10^U(3, 4) of the others
 *   sizes      1, 2, 4, 8 GPUs with probabilities 0.70, 0.10, 0.15, 0.05
 *   deadlines  if wanted: 1.2, 2 and 10 times the duration, a third each (here for all models)
 *
 * Assumption: a job every 700 s, where Gavel is told; one user; braid's networks instead of Gavel's, with times of their own.
 */
#include "traces/generator_model.h"

static const struct profile_size sizes[] = {{1, 70}, {2, 10}, {4, 15}, {8, 5}};
static const struct profile_class classes[] = {
    {.gpus_from = 1,
     .n_parts = 2,
     .parts = {{0.8, PART_LOGUNIFORM, 1897.3665961010276, 60000}, {0.2, PART_LOGUNIFORM, 60000, 600000}}},
};

static const struct profile profile = {
    .rate_per_day = 86400.0 / 700,
    .burst = 1,
    .vcs = 1,
    .users = 1,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .longest_s = 600000,
};

const struct generator_model generator_gavel = {
    .name = "gavel",
    .summary = "Gavel's generator: Poisson arrivals, loguniform durations, 1 to 8 GPUs",
    .profile = &profile,
};
