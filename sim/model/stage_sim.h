/* stage_sim.h - a group of braided jobs simulated stage by stage, to its steady state: what the closed form (interleave.h) is a short cut
 * for. The two share no code.
 *
 *                storage        CPU           GPU          network       (gap)
 *              ┌─────────┐   ┌─────────┐   ┌─────────┐   ┌─────────┐   ┌───────┐
 *         ┌──▶ │ A  (C)  │──▶│    B    │──▶│         │──▶│    D    │──▶│       │──┐
 *         │    └─────────┘   └─────────┘   └─────────┘   └─────────┘   └───────┘  │   C waits for A
 *         └────────────────────────────────────────────────────────────────────────┘
 *
 * Each job goes round through its stages in order, one resource a stage, without end; a stage of no time is passed over. What its
 * iteration takes beyond its stages is a gap in which it uses no resource and hinders nobody. Jobs do not wait for each other but at
 * resources: there is no lock step, a job of short stages may go round several times while another goes round once. A job does not
 * overlap with itself.
 *
 *   STAGE_EXCLUSIVE  a resource serves one job at a time to the end of its stage, first come, first served; of jobs that come at the same
 *                    instant the one of the lower slot goes first. Times are whole nanoseconds and the simulation is exact.
 *   STAGE_SHARED     a resource serves all jobs that are there at once, each of m at 1/m of its speed (processor sharing).
 *
 * The job of slot s begins, at time 0, with the stage that it would have in phase 0 of the closed form: slot 0 with the first, slot s
 * with stage (kinds - s). Which job has which slot is the order: as given (job i in slot i), or that of all arrangements in which the
 * jobs together do the most or the least work; of equal ones the first in lexical order. In these two the order in which the jobs are
 * listed does not matter.
 *
 * Steady state: after each iteration of the job with the longest chain the state (everybody's stage, what is left of it, the queues) is
 * compared with one kept from before (Brent's method: the kept one is replaced after 1, 2, 4, … of these iterations). A state that
 * comes again proves the period, and the rates are exact: iterations over time, both whole numbers. Under STAGE_SHARED what is left
 * may differ by STAGE_SAME_NS. Where nothing has come again within STAGE_CYCLES such iterations, or STAGE_EVENTS ends of stages, the
 * rates are the means since the last kept state but one, over at least half of all that was simulated: right to about one iteration
 * in 500, and never below those of jobs that run one after another.
 */
#ifndef MODEL_STAGE_SIM_H
#define MODEL_STAGE_SIM_H

#include "model/interleave.h" /* for the order's names alone */

#include <stdbool.h>
#include <stdint.h>

enum { STAGE_KINDS_MAX = 8, STAGE_JOBS_MAX = 8 };
enum { STAGE_CYCLES = 1024, STAGE_EVENTS = 1 << 18 };

#define STAGE_SAME_NS 1e-3

enum stage_discipline { STAGE_EXCLUSIVE, STAGE_SHARED };

/* Times in ns, >= 0, at least one more than 0. Whole numbers stay exact while the clock of STAGE_CYCLES iterations is below 2^53 ns. */
struct stage_job {
    int64_t stage_ns[STAGE_KINDS_MAX];
    int64_t gap_ns; /* behind the last stage */
};

struct stage_rule {
    enum stage_discipline discipline;
    enum interleave_order order;
    uint32_t kinds; /* 1 .. STAGE_KINDS_MAX */
};

struct stage_steady {
    double cycle_ns[STAGE_JOBS_MAX]; /* mean time of an iteration of each job, in the order of the jobs */
    uint32_t slot[STAGE_JOBS_MAX];
    double work; /* that all do together in a unit of time: the sum of chain / cycle, chain = stages and gap */
    int64_t
        period_ns; /* after which everything comes again (rounded under STAGE_SHARED); 0: not found, rates are means */
};

/* `n` jobs, 1 .. the kinds (each has a slot). Costs one simulation an arrangement, kinds! / (kinds - n)! of them unless the order is given; one
 * takes microseconds where the state comes again soon, STAGE_EVENTS x some 50 ns at worst. */
void stage_sim(struct stage_steady *out, const struct stage_rule *rule, const struct stage_job *jobs, uint32_t n);

#endif
