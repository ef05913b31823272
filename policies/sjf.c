#include "policies/compose.h"

COMPOSED(policy_sjf, "sjf",
         "Shortest estimated job first; one that does not fit blocks the rest (sjf_skip and sjf_easy do not)",
         "Hu et al., SC'21 (Helios), SJF", KNOWS_ESTIMATE, "sjf", "strict", "never", "6 min", "0 s", "gpu_time");
