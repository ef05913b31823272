/* A workload like the GPU jobs of the four Helios clusters together.
 *
 * Sources. [S]: the summary that the authors released, HeliosArtifact, analysis/1_compare with Philly trace/helios_cluster_summary.csv, row
 * "total". [P]: Hu et al., "Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters", SC'21.
 *
 *   published [S]  1,580,464 GPU jobs in the six months April to September 2020; mean 3.716 GPUs, median 1; mean duration 6,651.681 s, median
 *                  206 s; 39.99e9 + 30.72e9 + 7.29e9 GPU seconds of completed, cancelled and failed jobs; their counts 62.4, 22.1, 15.5 %
 *   published [P]  105 virtual clusters (table 1: 27 + 25 + 28 + 25); at most 2,048 GPUs a job and 50 days (table 2)
 *   solved for     centre and spread of the durations and how they grow with the GPUs: ln(s) is normal with mean 5.104 + 0.375 ln(GPUs) and
 *                  deviation 2.688, by which median and mean duration and the GPU seconds are those of [S]
 *   assumption     the shares of the GPU counts, chosen for their mean; the hours and days (fewer jobs at night, at noon and at 18 h); users
 *                  and skews; bursts, repeats, how alike they are; that the longest quarter of the jobs has the states of the GPU seconds
 */
#include "traces/generator_model.h"

static const struct profile_size sizes[] = {{1, 71500}, {2, 11000}, {4, 8000}, {8, 5200}, {16, 2202}, {32, 1376},
                                            {64, 771},  {128, 275}, {256, 77}, {512, 22}, {1024, 7},  {2048, 2}};

#define STATES                                                                                                         \
    .n_bands = 2, .bands = {                                                                                           \
                      {.to = 0.75, .passed = 0.661, .failed = 0.1757, .killed = 0.1633},                               \
                      {.to = 1, .passed = 0.513, .failed = 0.093, .killed = 0.394},                                    \
    }
static const struct profile_class classes[] = {
    {.gpus_from = 1, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 5.104, 2.688}}, STATES},
    {.gpus_from = 2, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 5.496, 2.688}}, STATES},
    {.gpus_from = 8, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 5.883, 2.688}}, STATES},
    {.gpus_from = 16, .n_parts = 1, .parts = {{1, PART_LOGNORMAL, 6.518, 2.688}}, STATES},
};

static const double hour_jobs[24] = {26, 19, 15, 13, 12, 12, 13, 17, 29, 45, 57, 59,
                                     46, 51, 61, 63, 62, 59, 45, 50, 54, 53, 48, 37};
static const double day_jobs[7] = {16, 16.5, 16.5, 16.5, 16, 10, 8.5};

static const struct profile profile = {
    .rate_per_day = 8636, /* 1,580,464 jobs in 183 days */
    .has_origin = true,
    .origin_utc_s = 1591574400, /* 2020-06-08, a Monday; hours are those of the clusters' clock */
    .hour_jobs = hour_jobs,
    .day_jobs = day_jobs,
    .burst = 2.5,
    .repeat = 0.6,
    .alike = 0.4,
    .vcs = 105,
    .users = 1000,
    .vc_exponent = 1,
    .user_exponent = 1,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .longest_s = 4320009,
};

const struct generator_model generator_helios = {
    .name = "helios",
    .summary = "like the four Helios clusters: short jobs, some of thousands of GPUs, 105 VCs",
    .profile = &profile,
};
