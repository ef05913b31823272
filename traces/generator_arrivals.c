#include "traces/generator_arrivals.h"

#include "base/random.h"
#include "traces/generator_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of jobs of a burst has a power law, 1 / k^exponent up to the longest: most submissions are a single job, some are sweeps
 * of hundreds. Jobs of a burst follow each other in a twentieth of the mean distance of jobs. Both are assumptions, chosen
 * by looking at the reduced Philly trace, where 55 % of the jobs come within 10 s of the one before at a mean distance of 114 s. */
enum { BURST_LONGEST = 512 };
#define BURST_GAP 0.05
#define EXPONENT_MOST 40.0

struct arrivals_burst {
    double at; /* of its next job */
    uint32_t submission, left;
};

double arrivals_burst_mean(double exponent, double *square)
{
    double weight = 0, first = 0, second = 0;
    for (int k = BURST_LONGEST; k >= 1; k--) { /* small terms first */
        double w = pow(k, -exponent);
        weight += w;
        first += w * k;
        second += w * k * k;
    }
    *square = second / first;
    return first / weight;
}

double arrivals_burst_exponent(double mean)
{
    double low = 0, high = EXPONENT_MOST, square;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (arrivals_burst_mean(middle, &square) > mean)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static gsl_ran_discrete_t *burst_table(double mean)
{
    double weights[BURST_LONGEST], exponent = arrivals_burst_exponent(mean);
    for (int k = 1; k <= BURST_LONGEST; k++)
        weights[k - 1] = pow(k, -exponent);
    return gsl_ran_discrete_preproc(BURST_LONGEST, weights);
}

static void set_clock(struct arrivals *a, const struct profile *p, double rate_per_day)
{
    double total = 0;
    for (int i = 0; i < PROFILE_HOURS; i++) {
        a->per_hour[i] = p->week_jobs != NULL ? p->week_jobs[i]
                                              : (p->hour_jobs != NULL ? p->hour_jobs[i % 24] : 1) *
                                                    (p->day_jobs != NULL ? p->day_jobs[i / 24] : 1);
        total += a->per_hour[i];
    }
    a->per_week = 7 * rate_per_day;
    for (int i = 0; i < PROFILE_HOURS; i++)
        a->per_hour[i] *= a->per_week / total;
}

int arrivals_init(struct arrivals *a, const struct profile *p, double rate_per_day, double burst, uint64_t seed,
                  struct error *err)
{
    memset(a, 0, sizeof *a);
    set_clock(a, p, rate_per_day);
    a->burst = burst;
    a->submissions = random_stream(seed, "arrivals", "");
    a->bursts = random_stream(seed, "bursts", "");
    a->gaps = random_stream(seed, "gaps", "");
    a->burst_jobs = burst > 1 ? burst_table(burst) : NULL;
    if (a->submissions == NULL || a->bursts == NULL || a->gaps == NULL || (burst > 1 && a->burst_jobs == NULL))
        return generator_no_memory(err);
    a->next = gsl_ran_exponential(a->submissions, burst);
    return BRAID_OK;
}

void arrivals_fini(struct arrivals *a)
{
    gsl_rng *rng[] = {a->submissions, a->bursts, a->gaps};
    for (size_t i = 0; i < sizeof rng / sizeof rng[0]; i++)
        if (rng[i] != NULL)
            gsl_rng_free(rng[i]);
    if (a->burst_jobs != NULL)
        gsl_ran_discrete_free(a->burst_jobs);
    free(a->open);
    memset(a, 0, sizeof *a);
}

/* ---- the clock ------------------------------------------------------------------------------------- */

static int64_t clock_second(struct arrivals *a, double at)
{
    if (at - a->hour_at > a->per_week) {
        double weeks = floor((at - a->hour_at) / a->per_week);
        if (weeks * 604800 > (double)GENERATOR_LAST_S)
            return -1;
        a->hour_at += weeks * a->per_week;
        a->hour += (int64_t)weeks * PROFILE_HOURS;
    }
    double width = a->per_hour[a->hour % PROFILE_HOURS];
    while (at - a->hour_at > width) {
        a->hour_at += width;
        a->hour++;
        width = a->per_hour[a->hour % PROFILE_HOURS];
    }
    double part = width > 0 ? fmax(0, (at - a->hour_at) / width) : 0;
    int64_t second = a->hour * 3600 + (int64_t)(3600 * part);
    return second < GENERATOR_LAST_S ? second : -1;
}

/* ---- the bursts ------------------------------------------------------------------------------------ */

static bool comes_before(const struct arrivals_burst *x, const struct arrivals_burst *y)
{
    return x->at < y->at || (!(y->at < x->at) && x->submission < y->submission);
}

static void sift_down(struct arrivals *a)
{
    struct arrivals_burst moved = a->open[0];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= a->n_open)
            break;
        if (child + 1 < a->n_open && comes_before(&a->open[child + 1], &a->open[child]))
            child++;
        if (!comes_before(&a->open[child], &moved))
            break;
        a->open[i] = a->open[child];
        i = child;
    }
    a->open[i] = moved;
}

static bool open_burst(struct arrivals *a, struct arrivals_burst b)
{
    if (a->n_open == a->capacity) {
        uint32_t capacity = a->capacity * 2 + 64;
        struct arrivals_burst *grown = realloc(a->open, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        a->open = grown;
        a->capacity = capacity;
    }
    uint32_t i = a->n_open++;
    for (; i > 0 && comes_before(&b, &a->open[(i - 1) / 2]); i = (i - 1) / 2)
        a->open[i] = a->open[(i - 1) / 2];
    a->open[i] = b;
    return true;
}

/* The next job of the burst whose job is due; bursts without one leave the heap. */
static void advance_first(struct arrivals *a)
{
    struct arrivals_burst *b = &a->open[0];
    if (--b->left > 0)
        b->at += gsl_ran_exponential(a->gaps, BURST_GAP);
    else
        a->open[0] = a->open[--a->n_open];
    if (a->n_open > 1)
        sift_down(a);
}

int64_t arrivals_next(struct arrivals *a, uint32_t *submission)
{
    if (a->n_open > 0 && a->open[0].at < a->next) {
        double at = a->open[0].at;
        *submission = a->open[0].submission;
        advance_first(a);
        return clock_second(a, at);
    }
    double at = a->next;
    *submission = a->n_submissions++;
    a->next += gsl_ran_exponential(a->submissions, a->burst);
    uint32_t more = a->burst_jobs != NULL ? (uint32_t)gsl_ran_discrete(a->bursts, a->burst_jobs) : 0;
    if (more > 0) {
        double second = at + gsl_ran_exponential(a->gaps, BURST_GAP);
        if (!open_burst(a, (struct arrivals_burst){.at = second, .submission = *submission, .left = more}))
            return -2;
    }
    return clock_second(a, at);
}
