#include "policies/compose.h"

COMPOSED(policy_rr_sjf, "rr_sjf",
         "Short jobs first inside a window that moves on: who ran for a quantum joins a later one",
         "round robin and shortest job first in one", KNOWS_ESTIMATE, "rr_sjf", "skip", "quantum", "6 min", "0 s",
         "gpu_time");
