#include <braid/braid.h>

const char *braid_version(void)
{
    return BRAID_VERSION; /* from meson.build */
}
