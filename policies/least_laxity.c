#include "policies/compose.h"

/* Laxities of jobs that wait cross those of jobs that run at any moment; the quantum is how often that is looked at. */
COMPOSED(policy_least_laxity, "least_laxity",
         "Least time to spare before the deadline first, preemptive, with a quantum of safety",
         "Dertouzos and Mok, IEEE TSE 15(12), 1989", KNOWS_ESTIMATE | KNOWS_DEADLINE, "least_laxity", "skip", "quantum",
         "6 min", "0 s", "gpu_time");
