#include "policies/compose.h"

COMPOSED(policy_srsf, "srsf",
         "Least estimated remaining time x GPUs first, preemptive; of equal ones who runs stays, then by submission",
         "Gu et al., NSDI'19 (Tiresias), SRSF", KNOWS_ESTIMATE, "srsf", "skip", "when_better", "6 min", "0 s",
         "gpu_time");
