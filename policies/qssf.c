#include "policies/compose.h"

COMPOSED(policy_qssf, "qssf", "Least estimated run time x GPUs first; one that does not fit blocks the rest",
         "Hu et al., SC'21 (Helios), quasi-shortest-service-first", KNOWS_ESTIMATE, "qssf", "strict", "never", "6 min",
         "0 s", "gpu_time");
