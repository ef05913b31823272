/* recorder_tables.h - what a recorder has gathered, for results_write.c and tests. */
#ifndef OUTPUT_RECORDER_TABLES_H
#define OUTPUT_RECORDER_TABLES_H

#include "output/recorder.h"

struct segment_row {
    int64_t begin_ns, end_ns;
    double rate;
    uint32_t job;
    uint32_t group; /* number of the group it shares its GPUs with; UINT32_MAX: alone */
    uint8_t kind;   /* enum segment_kind */
};

struct alloc_row {
    uint64_t segment; /* row in the run's segments */
    uint32_t node, gpu_first, gpu_count;
};

/* A number that the policy told: what held at the end of a bin. */
struct observed_row {
    uint64_t bin;
    uint32_t scope; /* as in the series: 0 the cluster */
    uint32_t name;  /* in the list of observed names */
    double value;
};

enum { OBSERVED_NAMES = 64, OBSERVED_NAME_MAX = 64 };

struct event_row {
    int64_t at_ns;
    size_t why;   /* offset in the text of reasons */
    uint32_t job; /* UINT32_MAX: none */
    uint32_t vc;  /* of the workload; NAMES_NONE: none */
    uint8_t kind; /* enum decision_kind */
};

/* Order in which a scope's values of a bin are stored: levels always, resources in the order of a job's stages. */
enum series_name {
    SERIES_QUEUED_JOBS,
    SERIES_RUNNING_JOBS,
    SERIES_ALLOCATED_GPUS,
    SERIES_CAPACITY_GPUS,
    SERIES_GPU_UTILIZATION,
    SERIES_QUEUED_GPUS,
    SERIES_LEVELS,
    SERIES_STORAGE_UTILIZATION = SERIES_LEVELS,
    SERIES_CPU_UTILIZATION,
    SERIES_GPU_BUSY,
    SERIES_NETWORK_UTILIZATION,
    SERIES_NAMES,
};
const char *series_name_text(enum series_name n);

struct recorder_tables {
    const struct segment_row *segments;
    uint64_t n_segments;
    const struct alloc_row *allocs;
    uint64_t n_allocs;
    const struct event_row *events;
    uint64_t n_events;
    const char *why;      /* texts ended by '\0', at event_row.why */
    const double *series; /* [bin][scope][enum series_name] */
    uint64_t n_bins;
    uint32_t n_names;  /* SERIES_NAMES, or SERIES_LEVELS: the use of resources is not known */
    uint32_t n_scopes; /* scope 0: the cluster; then, where there is more than one, each instance */
    int64_t step_ns;   /* bin i ends at (i + 1) * step, the last one at `end_ns` */
    int64_t end_ns;
    const struct observed_row *observed;
    uint64_t n_observed;
    const char (*observed_names)[OBSERVED_NAME_MAX];
};

void recorder_tables(const struct recorder *r, struct recorder_tables *out);

#endif
