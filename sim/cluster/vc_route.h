/* vc_route.h - which jobs a virtual cluster (VC) takes whatever VC the trace names: `jobs` of a VC in the config. */
#ifndef CLUSTER_VC_ROUTE_H
#define CLUSTER_VC_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

/* Patterns of which one must match; none: everything does. */
struct route_texts {
    const char **v; /* `*` stands for any text, `?` for one byte */
    uint32_t n;
};

/* All conditions must hold. */
struct vc_route {
    bool is_given;
    uint32_t gpus_min, gpus_max;
    struct route_texts user, vc, name, gpu_type;
};

/* Does `text` match one of the patterns? */
bool route_matches(const struct route_texts *patterns, const char *text);

#endif
