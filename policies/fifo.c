#include "policies/compose.h"

COMPOSED(policy_fifo, "fifo",
         "First in, first out: the head of the queue holds back all behind it",
         "first come, first served; Jeon et al., ATC'19 (Philly)",
         KNOWS_NOTHING, "fifo", "strict", "never", "6 min", "0 s", "gpu_time");
