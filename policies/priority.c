#include "policies/compose.h"

COMPOSED(policy_priority, "priority",
         "Highest priority first; an hour of waiting is worth one point; one that does not fit blocks the rest",
         "multilevel priority with ageing", KNOWS_NOTHING, "priority", "strict", "never", "6 min", "1 h", "gpu_time");
