#include "policies/compose.h"

COMPOSED(policy_critical_path, "critical_path",
         "The job on which the longest chain of dependent jobs hangs first",
         "Hu, Operations Research 9(6), 1961; Topcuoglu et al., TPDS 13(3), 2002 (upward rank)",
         KNOWS_ESTIMATE, "critical_path", "skip", "never", "6 min", "0 s", "gpu_time");
