/* A workload like the GPU jobs of the two Acme clusters, where large language models are developed.
 *
 * Source. [S]: the summary that the authors released, AcmeTrace, data/cluster_summary.csv, rows "Seren" and "Kalos"; the study is Hu et al.,
 * "Characterization of Large Language Model Development in the Datacenter", NSDI'24.
 *
 *   published [S]  663,813 and 19,907 GPU jobs, March to August 2023; mean 5.68 and 26.77 GPUs, medians 1, at most 1,024; mean durations
 *                  1,414.335 and 1,259.689 s, medians 122 and 124 s, longest 1,209,604 s; completed, cancelled, failed: 49.7, 7.5, 42.9 and
 *                  54.1, 6.2, 39.7 % of the jobs; 6.23e9, 17.51e9, 3.10e9 GPU seconds together
 *   solved for     ln(s) is normal with mean 4.385 + 0.586 ln(GPUs) and deviation 2.075, by which median, mean and GPU seconds of both clusters
 *                  together are those of [S]
 *   assumption     the shares of the GPU counts, chosen for their mean, the same in both clusters; hours and days; users; bursts, repeats,
 *                  how alike they are; that the longest 8 % of the jobs have other states than the rest, so that shares of the jobs and of
 *                  the GPU seconds both come near to [S]
 */
#include "traces/generator_model.h"

static const struct profile_size sizes[] = {{1, 66000}, {2, 4000},  {4, 3000},  {8, 19000}, {16, 2972}, {32, 1698},
                                            {64, 1104}, {128, 594}, {256, 255}, {512, 85},  {1024, 25}};

#define STATES                                                                                                         \
    .n_bands = 2, .bands = {                                                                                           \
                      {.to = 0.92, .passed = 0.5275, .failed = 0.4653, .killed = 0.0072},                              \
                      {.to = 1, .passed = 0.15, .failed = 0, .killed = 0.85},                                          \
    }
static const struct profile_class classes[] = {
    {.gpus_from = 1, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 4.385, 2.075}}, STATES},
    {.gpus_from = 2, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 5.001, 2.075}}, STATES},
    {.gpus_from = 8, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 5.604, 2.075}}, STATES},
    {.gpus_from = 16, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 6.192, 2.075}}, STATES},
    {.gpus_from = 64, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 7.265, 2.075}}, STATES},
};

static const double hour_jobs[24] = {36, 28, 22, 18, 16, 15, 16, 20, 30, 44, 56, 58,
                                     48, 50, 60, 62, 62, 58, 48, 50, 54, 54, 50, 44};
static const double day_jobs[7] = {15.5, 16, 16, 16, 15.5, 11, 10};

static const struct profile profile = {
    .rate_per_day = 3716, /* 683,720 jobs in 184 days */
    .has_origin = true,
    .origin_utc_s = 1683504000, /* 2023-05-08, a Monday; hours are those of the clusters' clock */
    .hour_jobs = hour_jobs,
    .day_jobs = day_jobs,
    .burst = 3,
    .repeat = 0.7,
    .alike = 0.4,
    .vcs = 2, /* the clusters */
    .users = 300,
    .vc_exponent = 5.06, /* 663,813 jobs to 19,907 */
    .user_exponent = 1,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .longest_s = 1209604,
};

const struct generator_model generator_acme = {
    .name = "acme",
    .summary =
        "like Acme's Seren and Kalos: language models, most jobs short, most GPU time in jobs of 64 GPUs and more",
    .profile = &profile,
};
