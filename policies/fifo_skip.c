#include "policies/compose.h"

COMPOSED(policy_fifo_skip, "fifo_skip",
         "First in, first out, but jobs that fit pass those that do not",
         "Gu et al., NSDI'19 (Tiresias), FJF",
         KNOWS_NOTHING, "fifo", "skip", "never", "6 min", "0 s", "gpu_time");
