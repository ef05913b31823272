#include "policies/compose.h"

COMPOSED(policy_random, "random", "Jobs in random order; one that does not fit blocks the rest", "baseline",
         KNOWS_NOTHING, "random", "strict", "never", "6 min", "0 s", "gpu_time");
