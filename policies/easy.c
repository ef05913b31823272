#include "policies/compose.h"

COMPOSED(policy_easy, "easy",
         "FIFO with EASY backfilling: nobody delays the head's reservation of GPUs, CPU, memory and type",
         "Lifka, JSSPP'95; Mu'alem and Feitelson, TPDS 12(6), 2001", KNOWS_ESTIMATE, "fifo", "easy", "never", "6 min",
         "0 s", "gpu_time");
