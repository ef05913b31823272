/* The reduced trace of Microsoft's Philly clusters: timestamp,duration,num_gpus,gpu_time,cluster (docs/formats/philly-csv.md). */
#include "base/number.h"
#include "traces/reader.h"

static const struct csv_column columns[] = {
    {"timestamp", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},  {"num_gpus", OF_GPUS, COLUMN_REQUIRED, 0},
    {"duration", OF_DURATION, COLUMN_REQUIRED, NS_PER_S}, {"cluster", OF_VC, COLUMN_TELLS, 0},
    {"gpu_time", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

static const struct csv_format format = {columns, sizeof columns / sizeof columns[0], NULL, NULL};

static const struct trace_wording wording[] = {{ROW_NO_DURATION, "no duration"}, {ROW_FINE, NULL}};

const struct trace_reader reader_philly_csv = {
    .name = "philly_csv",
    .summary = "Philly, reduced: timestamp,duration,num_gpus,gpu_time,cluster (seconds)",
    .csv = &format,
    .wording = wording,
};
