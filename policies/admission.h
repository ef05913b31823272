/* admission.h - the part of a composed policy that says whom to let in: `admission: feasible` accepts only what can be met.
 *
 * A job with a deadline is accepted when a plan of all accepted jobs with deadlines, this one included, meets every deadline; else it is
 * rejected as "deadline_cannot_be_met". Jobs without a deadline are always accepted. The plan is earliest deadline first over the GPUs that
 * the instance may use now, whoever fits; by estimates; as if nothing arrived any more:
 *
 *   preempt never      jobs that run hold their GPUs to their predicted ends, those without a deadline too
 *   else               GPUs are handed out anew at each predicted end, jobs without a deadline give way
 *
 * It counts GPUs, not nodes, and the overhead of the next start only. So what is accepted is met for certain only under `order: edf, fill: skip,
 * preempt: when_better`, the rules of the plan, with exact estimates, no overhead, no faults and no shrinking quota, on GPUs that no shape of a job can
 * waste. Else acceptance is a forecast: under `preempt: never` (and fill easy) jobs that come later start in gaps of the plan and are in the way of
 * accepted ones, `fill: strict` lets GPUs idle that the plan counts on, and other orders serve others first.
 *
 * A decision about n jobs costs O(n) where all fit at once, else O(log n) more for each end and start until nobody waits
 * (deadline_plan.h): accepting by plan is a rebuild by definition. What is predicted of a job is asked for when it arrives, starts or stops.
 */
#ifndef POLICIES_ADMISSION_H
#define POLICIES_ADMISSION_H

#include <braid/policy.h>

struct admission;

/* Memory of the run; needs ESTIMATE and DEADLINE. NULL when memory is out. */
struct admission *admission_create(struct sched *s, bool can_preempt);

/* `job` was submitted; it is asked for in the next round. */
void admission_push(struct admission *a, struct sched *s, uint32_t job);

/* The next job that is to be decided, in order of submission, and the decision; false: there is none. Call in `schedule` until then. */
bool admission_pop(struct admission *a, struct sched *s, uint32_t *job, bool *is_accepted);

/* An accepted job got GPUs or lost them. */
void admission_update(struct admission *a, struct sched *s, uint32_t job);

/* An accepted job has ended. */
void admission_forget(struct admission *a, struct sched *s, uint32_t job);

#endif
