/* bounds.h - what no schedule can beat: lower bounds on the sum of completion times and on the last end of a set of jobs.
 *
 * A schedule gives each job its GPUs for at least its duration, at a rate of 1 at most, in as many pieces as it likes, and never more GPUs
 * at once than there are. Each bound forgets something more of that, so it holds for every policy, with or without preemption, whatever
 * it knows and whatever overheads cost:
 *
 *   alone      a job takes its duration: jct >= d.
 *   fluid      Let job j take u_j of a machine that has U to give, where the u of jobs that may run at once never add up to more than U.
 *              A schedule is then one of a single machine of speed U that shares its speed among jobs of volume v_j = d_j u_j. There shortest
 *              remaining volume first is best for the sum of completion times (Schrage, Operations Research 16, 1968: SRPT).
 *   squashed   On the same machine let M_j be the mean instant at which job j is worked on. In the real schedule its rate is 1 at most, so
 *              it ends at M_j + d_j / 2 or later. The sum of M_j is least when the smallest whole volume goes first, with preemption
 *              (Goemans, Queyranne, Schulz, Skutella and Wang, SIAM J. Discrete Math. 15, 2002, theorem 2.5). With no releases this is the
 *              bound of Eastman, Even and Isaacs (Management Science 11, 1964) and, for jobs of many processors, the squashed area bound of
 *              Turek et al. (SPAA 1994).
 *
 * What a job takes, u of U, is told in several ways, and the best counts:
 *
 *   GPUs       u = g, U = G
 *   sizes      u = f(g), where f is a dual feasible function: wherever sizes fit into G, their f fit into U. With f of (Fekete and Schepers,
 *              Math. Programming 91, 2001, theorem 3.2), k = 1, 2, 3: x = (k + 1) g / G, f = k x where x is whole, else (k + 1) floor(x), U =
 *              k (k + 1). (Sizes that fit have sum x <= k + 1; unless all are whole the sum of the floors is a whole number below k + 1
 *              less the whole ones.) So jobs of more than G / 2 go one at a time, those of more than G / 3 two at a time, …
 *   resources  where jobs share GPUs (groups), a GPU is no longer one job's, but each of its resources still works for one job at a time:
 *              u = g x the part of its iteration for which a job works on the resource. A job that nobody knows to share has part 1.
 *
 * A bound on some of the jobs holds beside that on the others, so sets may be cut and the parts added: at the instants at which the machine of
 * speed U has nothing to do, and into the jobs that gain by the machine and those for which `alone` says more.
 *
 * The last end: r + d of any job, and for every instant t of a release, t + the volume released from t on / U.
 *
 * Left out: shapes (a job that must fit on one node), GPU types, CPU and host memory, overheads, estimates that kill, and that capacity may be less at times.
 */
#ifndef OUTPUT_BOUNDS_H
#define OUTPUT_BOUNDS_H

#include <braid/error.h>
#include <stdbool.h>
#include <stdint.h>

enum { BOUND_RESOURCES = 4 };

struct bound_job {
    int64_t submit_ns, duration_ns; /* >= 0 */
    uint32_t gpus;                  /* 1 .. the capacity (more counts as the capacity) */
    float part
        [BOUND_RESOURCES]; /* of its time for which it works on each resource, 0 .. 1; read only where jobs share GPUs */
};

struct bounds {
    double flow_ns;  /* least sum of (end - submit) */
    int64_t last_ns; /* no schedule ends earlier; INT64_MAX when that is beyond the end of time */
};

/* Bounds of `n` jobs in order of submission on `gpus` > 0 GPUs. `is_shared`: jobs may share GPUs, so whole GPUs bound nothing and the
 * resources do. O(n log n): a handful of passes over the jobs with a heap. BRAID_FAILED: memory. */
int bounds_compute(struct bounds *out, const struct bound_job *jobs, uint32_t n, uint64_t gpus, bool is_shared,
                   struct error *err);

#endif
