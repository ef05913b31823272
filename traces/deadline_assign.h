/* deadline_assign.h - deadlines for traces that have none (`trace: {deadlines: {...}}`). */
#ifndef TRACES_DEADLINE_ASSIGN_H
#define TRACES_DEADLINE_ASSIGN_H

#include "traces/trace.h"

/* Each job gets submission + factor x duration as its deadline, the factor drawn evenly from [low, high) by the stream ("deadlines", spec->seed),
 * one draw a job whether it is used or not; as in ElasticFlow (Gu et al., ASPLOS'23, section 6.1, with [0.5, 1.5)). spec->share of the jobs have
 * one at all. DEADLINES_MISSING: jobs that have a deadline of their own keep it. Renews the digest. BRAID_BAD_INPUT: factors that are no
 * ascending pair; BRAID_FAILED: memory is out. */
int deadline_assign(struct workload *w, const struct deadlines_spec *spec, struct error *err);

#endif
