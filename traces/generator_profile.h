/* generator_profile.h - what the generator knows of a workload, as plain tables. Internal to traces/.
 *
 * A profile is written by hand with its sources (generator_philly.c and its like), or measured from a trace (fit.h). What it holds is drawn in
 * this order, each purpose from a stream of its own:
 *
 *     submission ─ arrivals (week, burst) ─ repeats ──┬─ an earlier job again: its user, name, VC, size, network
 *          │                                          └─ a new one: VC ─ user ─ size ─ habit ─ network ─ GPU type
 *          └─ each of its jobs ─ rank of the duration (habit, alike) ─ duration of that rank ─ state by size and rank
 */
#ifndef TRACES_GENERATOR_PROFILE_H
#define TRACES_GENERATOR_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PROFILE_HOURS = 168, /* of a week, Monday 0 h first */
    PROFILE_PARTS_MAX = 8,
    PROFILE_BANDS_MAX = 4,
    PROFILE_KNOTS_MAX = 1024,
    PROFILE_CLASSES_MAX = 64,
    PROFILE_SIZES_MAX = 16384,
    PROFILE_VCS_MAX = 16384,
};
#define PROFILE_BURST_MAX 64.0
#define PROFILE_USERS_MAX 10000000u
#define PROFILE_SECONDS_MAX 4e9

/* Jobs of so many GPUs, relative to the others. */
struct profile_size {
    uint32_t gpus;
    double jobs;
};

/* A part of a mixture of durations. */
struct profile_part {
    double weight;
    enum { PART_LOGNORMAL, PART_PARETO, PART_LOGUNIFORM } law;
    /* lognormal: mean and standard deviation of ln(seconds); Pareto: exponent and least seconds, bounded by `longest_s`; loguniform: least
     * and most seconds */
    double a, b;
};

/* The share `u` of the durations is at most `seconds`; between knots the logarithm is interpolated. */
struct profile_knot {
    double u, seconds;
};

/* Shares of the states among jobs whose duration ranks above the last band and up to `to` (of 1) within their class. Their sum is 1. */
struct profile_band {
    double to, passed, failed, killed;
};

/* Jobs of `gpus_from` GPUs and more, up to the next class. Durations are a mixture, or a table from u = 0 to u = 1. */
struct profile_class {
    uint32_t gpus_from;
    uint32_t n_parts;
    struct profile_part parts[PROFILE_PARTS_MAX];
    const struct profile_knot *knots; /* NULL: the mixture */
    uint32_t n_knots;
    uint32_t n_bands; /* 0: all passed */
    struct profile_band bands[PROFILE_BANDS_MAX];
};

struct profile_share { /* of a named thing, or of a share of a GPU */
    const char *name;
    uint32_t milli;
    double jobs;
};

struct profile {
    double rate_per_day;
    bool has_origin;
    int64_t origin_utc_s;    /* a Monday, 0 h; without one, time 0 */
    const double *hour_jobs; /* 24, or NULL: all hours alike */
    const double *day_jobs;  /* 7, Monday first, or NULL */
    const double *week_jobs; /* PROFILE_HOURS, or NULL: hours x days */

    double burst;  /* jobs of a submission, in the mean: 1 to PROFILE_BURST_MAX */
    double repeat; /* share of submissions that repeat an earlier one: 0 to 1 */
    double alike;  /* share of the variance of the normal score of a duration that its name explains: 0 to 1 */

    uint32_t vcs, users;
    double vc_exponent, user_exponent;     /* of Zipf's laws: over the VCs, and over the users of one */
    const struct profile_share *vc_shares; /* named VCs in natural order instead of a law, or NULL */

    const struct profile_size *sizes;
    uint32_t n_sizes;
    const struct profile_class *classes; /* by gpus_from; the first takes smaller jobs too */
    uint32_t n_classes;
    double longest_s;

    const double *network_jobs;             /* by network, or NULL: all alike */
    const struct profile_share *gpu_shares; /* shares of a GPU that jobs of one GPU ask for; NULL: whole GPUs */
    uint32_t n_gpu_shares;
    const struct profile_share *gpu_types; /* in natural order; NULL: no job asks for one */
    uint32_t n_gpu_types;
    double typed; /* share of the jobs that ask for a type, where that is wanted */
};

#endif
