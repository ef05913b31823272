#include "policies/compose.h"

COMPOSED(policy_ljf, "ljf", "Longest estimated job first; one that does not fit blocks the rest", "baseline",
         KNOWS_ESTIMATE, "ljf", "strict", "never", "6 min", "0 s", "gpu_time");
