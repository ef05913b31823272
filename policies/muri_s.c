#include "policies/muri.h"

MURI_POLICY(policy_muri_s, "muri_s", "Multi-resource interleaving, least remaining GPU-service first",
            KNOWS_ESTIMATE | KNOWS_PROFILE);
