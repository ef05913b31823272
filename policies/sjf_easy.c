#include "policies/compose.h"

COMPOSED(policy_sjf_easy, "sjf_easy",
         "Shortest estimated job first, with EASY backfilling: nobody delays the first job's reservation",
         "shortest job first; EASY backfilling: Mu'alem and Feitelson, TPDS 12(6), 2001", KNOWS_ESTIMATE, "sjf", "easy",
         "never", "6 min", "0 s", "gpu_time");
