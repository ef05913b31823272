#include "policies/compose.h"

/* What `policy: {order: .., fill: ..}` without a name means. */
COMPOSED(policy_compose, "compose", "Any composition of an order, a fill and a preemption rule", "policies/compose.h",
         KNOWS_ESTIMATE | KNOWS_DEADLINE, "fifo", "strict", "never", "6 min", "0 s", "gpu_time");
