/* A workload like Alibaba's PAI in 2020: most jobs take a part of a GPU.
 *
 * Sources. [S]: AcmeTrace, data/cluster_summary.csv, row "PAI", which sums up the trace of Weng et al., "MLaaS in the Wild: Workload Analysis and
 * Scheduling in Large-Scale Heterogeneous GPU Clusters", NSDI'22. [O]: Alibaba's trace of 2023 (cluster-trace-gpu-v2023,
 * openb_pod_list_gpuspec33.csv), counted.
 *
 *   published [S]  1,037,085 GPU jobs in July and August 2020; mean 0.683 GPUs, median 0.5, at most 8; mean duration 4,787.109 s, median
 *                  480.667 s, longest 626,371 s
 *   measured [O]   of 7,064 GPU pods 1,987 ask for one type of GPU: T4 1,291, G2 331, P100 279, G3 86
 *   solved for     ln(s) is normal with mean 6.174 and deviation 2.222, by which median and mean duration are those of [S]
 *   assumption     the shares of the GPU counts and of the parts of a GPU, chosen for mean and median; that durations do not depend on
 *                  them; that the types of 2023 stand for those of 2020; states (no more than that a third fails, of any length); VCs, which
 *                  PAI has none of; 1,300 users (the authors say "over 1,300"), skews, hours, bursts, repeats (most tasks recur), how
 *                  alike they are
 */
#include "traces/generator_model.h"

static const struct profile_size sizes[] = {{1, 975}, {2, 15}, {4, 6}, {8, 4}};
static const struct profile_share gpu_shares[] = {
    {.milli = 100, .jobs = 6}, {.milli = 250, .jobs = 20}, {.milli = 500, .jobs = 37}, {.milli = 1000, .jobs = 37}};
static const struct profile_share gpu_types[] = {{.name = "G2", .jobs = 331},
                                                 {.name = "G3", .jobs = 86},
                                                 {.name = "P100", .jobs = 279},
                                                 {.name = "T4", .jobs = 1291}};

static const struct profile_class classes[] = {
    {.gpus_from = 1,
     .n_parts = 1,
     .parts = {{1, PART_LOGNORMAL, 6.174, 2.222}},
     .n_bands = 1,
     .bands = {{.to = 1, .passed = 0.67, .failed = 0.33}}},
};

static const double hour_jobs[24] = {44, 38, 34, 32, 30, 30, 31, 34, 38, 44, 52, 54,
                                     48, 50, 54, 56, 56, 54, 48, 48, 50, 50, 50, 48};

static const struct profile profile = {
    .rate_per_day = 16727, /* 1,037,085 jobs in 62 days */
    .has_origin = true,
    .origin_utc_s = 1594598400, /* 2020-07-13, a Monday; hours are those of the cluster's clock */
    .hour_jobs = hour_jobs,
    .burst = 2,
    .repeat = 0.8,
    .alike = 0.6,
    .vcs = 1,
    .users = 1300,
    .user_exponent = 1.2,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .longest_s = 626371,
    .gpu_shares = gpu_shares,
    .n_gpu_shares = sizeof gpu_shares / sizeof gpu_shares[0],
    .gpu_types = gpu_types,
    .n_gpu_types = sizeof gpu_types / sizeof gpu_types[0],
    .typed = 1987.0 / 7064,
};

const struct generator_model generator_pai = {
    .name = "pai",
    .summary = "like Alibaba's PAI of 2020: parts of a GPU, recurring jobs; GPU types if wanted",
    .profile = &profile,
};
