/* scratch.h - trace files that exist for one test. */
#ifndef TESTS_TRACES_SCRATCH_H
#define TESTS_TRACES_SCRATCH_H

#include "traces/trace.h"

#include <stddef.h>

enum { SCRATCH_PATH = 512 };

/* A folder of its own for a test; scratch_fini removes it with all its files. */
struct scratch {
    char folder[SCRATCH_PATH / 2];
};
void scratch_init(struct scratch *s);
void scratch_fini(struct scratch *s);

/* The path of `name` in the folder. */
const char *scratch_path(const struct scratch *s, const char *name, char *path);

/* Write `n` bytes to `name`, plain or as gzip; returns the path. */
const char *scratch_write(const struct scratch *s, const char *name, const void *bytes, size_t n, char *path);
const char *scratch_gzip(const struct scratch *s, const char *name, const void *bytes, size_t n, char *path);

/* The whole file, to be freed; the test fails when it cannot be read. */
char *scratch_read(const char *path, size_t *n);

/* A spec that reads all of `path`. */
struct trace_spec scratch_spec(const char *path);

/* Load `text` as a file; `out` is the status, `err` what went wrong. */
int scratch_load_text(const struct scratch *s, const char *text, struct workload *w, struct error *err);

/* Rows counted under `reason`. */
uint64_t scratch_count(const struct workload *w, const char *reason);
/* Line of the first of them. */
uint64_t scratch_line(const struct workload *w, const char *reason);

#endif
