#include "output/report_series.h"

#include <string.h>

bool series_is_mean(const char *name)
{
    static const char *const means[] = {"gpu_utilization", "storage_utilization", "cpu_utilization", "gpu_busy",
                                        "network_utilization"};
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
        if (strcmp(means[i], name) == 0)
            return true;
    return false;
}
