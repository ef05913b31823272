/* writer_swf.h - a workload as a file in the Standard Workload Format (docs/formats/swf.md). */
#ifndef TRACES_WRITER_SWF_H
#define TRACES_WRITER_SWF_H

#include "traces/losses.h"

/* Write `w` to `path`, as trace_write does, and tell in `lost` what the format has no place for. */
int trace_write_swf(const struct workload *w, const char *path, struct losses *lost, struct error *err);

#endif
