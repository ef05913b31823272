#include "policies/compose.h"

COMPOSED(policy_las, "las",
         "Least attained service first, preemptive, with a quantum of safety",
         "Nuyens and Wierman, 2008; Gu et al., NSDI'19, 2D-LAS",
         KNOWS_NOTHING, "las", "skip", "quantum", "6 min", "0 s", "gpu_time");
