#include "policies/compose.h"

COMPOSED(policy_round_robin, "round_robin",
         "Each job holds its GPUs for a quantum, then goes to the end of the queue",
         "round robin",
         KNOWS_NOTHING, "round_robin", "skip", "quantum", "6 min", "0 s", "gpu_time");
