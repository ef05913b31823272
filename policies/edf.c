#include "policies/compose.h"

COMPOSED(policy_edf, "edf",
         "Earliest deadline first, preemptive; jobs without a deadline last; of equal ones who runs stays, then by "
         "submission",
         "Liu and Layland, JACM 20(1), 1973", KNOWS_ESTIMATE | KNOWS_DEADLINE, "edf", "skip", "when_better", "6 min",
         "0 s", "gpu_time");
