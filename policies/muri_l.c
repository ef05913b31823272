#include "policies/muri.h"

MURI_POLICY(policy_muri_l, "muri_l", "Multi-resource interleaving, least attained GPU-service first", KNOWS_PROFILE);
