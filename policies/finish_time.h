/* finish_time.h - finish-time fairness: rho = time in the shared cluster / time alone on a 1/N part of it (Mahajan et al., NSDI'20; as one
 * optimisation: Narayanan et al., OSDI'20, section 4.2).
 *
 * A job that gets its GPUs for the part x of the time from now on has
 *
 *     rho(x) = (age + remaining / x) / ideal         age: since submission; remaining: alone, on its GPUs;
 *                                                    ideal: whole time with GPUs for the part it would have of a 1/N cluster
 */
#ifndef POLICIES_FINISH_TIME_H
#define POLICIES_FINISH_TIME_H

#include <stdint.h>

struct finish_time {
    double gpus, age, remaining, ideal; /* remaining, ideal > 0; times in one unit */
    double x;                           /* out: 0 < x <= 1 */
};

/* The least rho that a job can have: with its GPUs all the time. */
double finish_time_best(const struct finish_time *j);

/* Find the parts x that make the largest rho as small as can be while sum(gpus * x) <= capacity (> 0); returns that rho.
 *
 * Where several x do, the one is taken whose next to largest rho is smallest, and so on: jobs that are worse off than the rest even with
 * x = 1 have that, all others the same rho, or less with x = 1. The common rho is the smallest double for which the parts fit, found by
 * bisection over all doubles: 64 passes over the jobs. */
double finish_time_solve(struct finish_time *jobs, uint32_t n, double capacity);

#endif
