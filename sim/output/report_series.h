/* report_series.h - what the values of /series mean, as far as tables and figures need it. */
#ifndef OUTPUT_REPORT_SERIES_H
#define OUTPUT_REPORT_SERIES_H

#include <stdbool.h>

/* Is the series `name` a mean over its bin, which ends at its time? Else it is a level at that time. */
bool series_is_mean(const char *name);

#endif
