#include "policies/compose.h"

COMPOSED(policy_longest_waiting, "longest_waiting",
         "Longest time without GPUs first; one that does not fit blocks the rest",
         "Gu et al., NSDI'19 (Tiresias), longest-pending-first", KNOWS_NOTHING, "longest_waiting", "strict", "never",
         "6 min", "0 s", "gpu_time");
