/* writer.h - a workload as a file in braid's own csv (docs/formats/braid-csv.md). */
#ifndef TRACES_WRITER_H
#define TRACES_WRITER_H

#include "traces/workload.h"

/* Write `w` to `path` (gzip when it ends in ".gz"): beside it and renamed, so that `path` is whole or what it was. Reading the file
 * gives the same jobs with the same digest, provided that time 0 of `w` is its first submission floored to the second. The bytes
 * depend on `w` alone. BRAID_FAILED: the file cannot be written. */
int trace_write(const struct workload *w, const char *path, struct error *err);

#endif
