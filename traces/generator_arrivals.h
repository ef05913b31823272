/* generator_arrivals.h - when jobs come, and which of them come together. Internal to traces/.
 *
 * Arrivals are made in *operational time*: one unit is one job to be expected, so a rate that changes by the hour of the week is a
 * change of clock, made last.
 *
 *     operational   ──S─────S·····S·S···S────S──▶   submissions: Poisson; each is a burst of jobs that follow each other closely
 *     clock         │ night │ morning   │ noon      the integral of the rate, inverted
 *
 * Which job follows which is decided before the rate enters: under another rate, or another week, the same jobs come in the same order.
 */
#ifndef TRACES_GENERATOR_ARRIVALS_H
#define TRACES_GENERATOR_ARRIVALS_H

#include "traces/generator_profile.h"

#include <braid/error.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

struct arrivals_burst;

struct arrivals {
    /* the clock */
    double per_hour[PROFILE_HOURS], per_week; /* jobs expected */
    int64_t hour;                             /* since the beginning of the first week */
    double hour_at;                           /* operational time of its beginning */
    /* the submissions */
    double burst;
    double next; /* operational time of the next one */
    gsl_ran_discrete_t *burst_jobs;
    gsl_rng *submissions, *bursts, *gaps;
    struct arrivals_burst *open; /* a heap by time: bursts that have jobs to come */
    uint32_t n_open, capacity;
    uint32_t n_submissions;
};

/* `burst` from 1 to PROFILE_BURST_MAX. Free with arrivals_fini, also after an error. BRAID_FAILED: memory is out. */
int arrivals_init(struct arrivals *a, const struct profile *p, double rate_per_day, double burst, uint64_t seed,
                  struct error *err);
void arrivals_fini(struct arrivals *a);

/* The next job's second since the beginning of the first week, and the number of the submission that it belongs to (0, 1, …: a new
 * number is the last one plus 1). -1: beyond GENERATOR_LAST_S; -2: memory is out. */
int64_t arrivals_next(struct arrivals *a, uint32_t *submission);

/* Mean number of jobs of a burst, and the mean of its square over that mean, under a law with this exponent; and the exponent that has this
 * mean. */
double arrivals_burst_mean(double exponent, double *square);
double arrivals_burst_exponent(double mean);

#endif
