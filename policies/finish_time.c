#include "policies/finish_time.h"

#include <float.h>
#include <string.h>

double finish_time_best(const struct finish_time *j)
{
    return (j->age + j->remaining) / j->ideal;
}

/* The least part with which the job's rho is at most `rho`; 1 where none is enough. */
static double part_for(const struct finish_time *j, double rho)
{
    double left = rho * j->ideal - j->age;
    return left > j->remaining ? j->remaining / left : 1;
}

static double gpus_for(const struct finish_time *jobs, uint32_t n, double rho)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += jobs[i].gpus * part_for(&jobs[i], rho);
    return sum;
}

double finish_time_solve(struct finish_time *jobs, uint32_t n, double capacity)
{
    /* doubles >= 0 are in the order of their bits */
    double rho = 0, most = 0, largest = DBL_MAX / 4;
    if (gpus_for(jobs, n, 0) > capacity) {
        uint64_t low = 0, high;
        memcpy(&high, &largest, sizeof high);
        while (high - low > 1) { /* too small, enough */
            uint64_t mid = low + (high - low) / 2;
            memcpy(&rho, &mid, sizeof rho);
            if (gpus_for(jobs, n, rho) <= capacity)
                high = mid;
            else
                low = mid;
        }
        memcpy(&rho, &high, sizeof rho);
    }
    for (uint32_t i = 0; i < n; i++) {
        jobs[i].x = part_for(&jobs[i], rho);
        double has = (jobs[i].age + jobs[i].remaining / jobs[i].x) / jobs[i].ideal;
        most = has > most ? has : most;
    }
    return most;
}
