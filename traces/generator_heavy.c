/* A workload to strain a policy: a tail of durations so heavy that a few jobs are most of the work, and bursts.
 *
 *   durations  bounded Pareto B(60 s, 10^6 s, 1.1), the law of Harchol-Balter, Crovella and Murta, "On Choosing a Task Assignment Policy for a
 *              Distributed Server System", JPDC 59(2), 1999, whose exponents are near 1; its mean is 414 s, its median 113 s
 *   assumption everything else: GPU counts that are powers of two with Zipf's shares (exponent 1), bursts of four jobs in the mean
 */
#include "traces/generator_model.h"

static const struct profile_size sizes[] = {{1, 1.0},       {2, 1.0 / 2},   {4, 1.0 / 4},   {8, 1.0 / 8},
                                            {16, 1.0 / 16}, {32, 1.0 / 32}, {64, 1.0 / 64}, {128, 1.0 / 128}};
static const struct profile_class classes[] = {
    {.gpus_from = 1,
     .n_parts = 1,
     .parts = {{1, PART_PARETO, 1.1, 60}},
     .n_bands = 1,
     .bands = {{.to = 1, .passed = 0.8, .failed = 0.1, .killed = 0.1}}},
};

static const struct profile profile = {
    .rate_per_day = 10000,
    .burst = 4,
    .repeat = 0.5,
    .alike = 0.2,
    .vcs = 1,
    .users = 100,
    .user_exponent = 1.5,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .longest_s = 1e6,
};

const struct generator_model generator_heavy = {
    .name = "heavy",
    .summary = "bounded Pareto durations of exponent 1.1, sizes to 128 GPUs, strong bursts",
    .profile = &profile,
};
