#include "policies/compose.h"

COMPOSED(policy_srtf, "srtf",
         "Shortest estimated remaining time first, preemptive; of equal ones who runs stays, then by submission",
         "Schrage, 1968; Gu et al., NSDI'19", KNOWS_ESTIMATE, "srtf", "skip", "when_better", "6 min", "0 s",
         "gpu_time");
