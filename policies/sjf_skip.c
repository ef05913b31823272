#include "policies/compose.h"

COMPOSED(policy_sjf_skip, "sjf_skip", "Shortest estimated job first; jobs that fit pass those that do not",
         "shortest job first with first fit", KNOWS_ESTIMATE, "sjf", "skip", "never", "6 min", "0 s", "gpu_time");
