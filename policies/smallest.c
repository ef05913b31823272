#include "policies/compose.h"

COMPOSED(policy_smallest, "smallest",
         "Fewest GPUs first, preemptive",
         "Gu et al., NSDI'19 (Tiresias), smallest-first baseline",
         KNOWS_NOTHING, "smallest", "skip", "when_better", "6 min", "0 s", "gpu_time");
