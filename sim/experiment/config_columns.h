/* config_columns.h - a mapping of columns from options, checked by the same table of keys as a config's. */
#ifndef EXPERIMENT_CONFIG_COLUMNS_H
#define EXPERIMENT_CONFIG_COLUMNS_H

#include "base/arena.h"
#include "traces/mapping.h"

/* `columns`: "id=job_id,submit=t", or a map in YAML, "{duration: {from: a, to: b}}"; the others as trace.separator, trace.header and
 * trace.unit, NULL: not given. `*out` and its texts come from `arena`. BRAID_BAD_INPUT: something of it is wrong. */
int config_columns_parse(const struct trace_mapping **out, const char *columns, const char *separator,
                         const char *header, const char *unit, struct arena *arena, struct error *err);

#endif
