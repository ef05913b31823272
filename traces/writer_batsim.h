/* writer_batsim.h - a workload as a file that the simulator Batsim reads (docs/formats/batsim.md). */
#ifndef TRACES_WRITER_BATSIM_H
#define TRACES_WRITER_BATSIM_H

#include "traces/losses.h"

/* Write `w` to `path`, as trace_write does, and tell in `lost` what the format has no place for. */
int trace_write_batsim(const struct workload *w, const char *path, struct losses *lost, struct error *err);

#endif
