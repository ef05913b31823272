/* mapping.h - which column of a table is what of a job (`trace.columns`), as the config or the command line says it.
 *
 * The targets are the columns of braid csv and `end`. Each gets its value from one source:
 *
 *     column                a column of the table, its unit said, its resource picked out of a list (`tres`), multiplied (`times`), or moved
 *                           by a span (`plus`)
 *     from, to              the span between two columns of times
 *     constant              the same for every job
 *
 * A mapping is plain data; its texts belong to whoever made it.
 */
#ifndef TRACES_MAPPING_H
#define TRACES_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/job_end.h"

#include <braid/error.h>

struct mapping_texts {
    const char *const *v;
    uint32_t n;
};

struct mapping_source {
    const char *column, *constant, *from, *to, *times, *plus,
        *unit;                                   /* NULL: not given; `times` is a column, or a number, or "column N" */
    struct mapping_texts tres;                   /* names or numbers of resources; the first that the list has */
    uint32_t codes;                              /* enum job_codes */
    struct mapping_texts passed, failed, killed; /* words for the end of a job, before those of job_end.h */
};

enum mapping_kind {
    MAPPING_TEXT,
    MAPPING_STAMP, /* a time of the trace's clock */
    MAPPING_SPAN,
    MAPPING_GPUS,
    MAPPING_CPUS,
    MAPPING_SIZE,
    MAPPING_PLAIN, /* a number as it is */
    MAPPING_STATUS
};

struct mapping_target {
    const char *name;
    int of; /* enum csv_field_of */
    enum mapping_kind kind;
};

/* All targets, `*n` of them: the submission first, on which other times depend. */
const struct mapping_target *mapping_targets(uint32_t *n);
enum { MAPPING_TARGETS = 28 };

struct trace_mapping {
    bool is_given[MAPPING_TARGETS]; /* by target */
    struct mapping_source sources[MAPPING_TARGETS];
    const char *separator; /* "auto", "comma", …: mapping_separators() */
    const char *header; /* "auto", "true", "false": the first row has the names; without, columns are named 1, 2, … */
    const char *unit;   /* of spans and plain times that name none of their own; NULL: s */
};

#define MAPPING_SEPARATORS "auto|comma|semicolon|tab|bar|colon|blanks|fixed"
#define MAPPING_UNITS "ns|us|ms|s|min|h|d|unix|unix_ms|unix_us|unix_ns|milli|percent|B|KB|MB|GB|TB|KiB|MiB|GiB|TiB"
#define MAPPING_CODES "none|slurm|swf|exit"

/* A unit: how many ns (times, spans), bytes (sizes) or thousandths (GPUs, CPUs) are one. */
struct mapping_unit {
    const char *name;
    int64_t one;
    bool is_time, is_unix, is_size, is_share;
};
const struct mapping_unit *mapping_unit_find(const char *name); /* NULL: no such unit */

/* Can `source` give target `t`? BRAID_BAD_INPUT with what is wrong and what to do, without a place. */
int mapping_check_source(const struct mapping_target *t, const struct mapping_source *source, struct error *err);

/* Is there enough to make a job of a row: submission, GPUs and a run time? */
int mapping_check(const struct trace_mapping *m, struct error *err);

/* Index of the target `name`; MAPPING_TARGETS: none. */
uint32_t mapping_target_find(const char *name);

#endif
