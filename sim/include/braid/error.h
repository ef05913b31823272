/* error.h - how braid reports what went wrong.
 *
 * Two kinds of error exist. Bad input or a failed operation is a *status*: the function returns a
 * non-zero `enum braid_status` and fills a `struct error` that names the place and the mend. A
 * programming error is an assertion (base/check.h). The library never prints and never exits.
 *
 * Example of what a user sees: `braid: philly.yaml:12:9: unknown key 'placment'; did you mean 'placement'?`
 */
#ifndef BRAID_ERROR_H
#define BRAID_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The value of a status is the exit status of the program that meets it. */
enum braid_status {
    BRAID_OK = 0,
    BRAID_FAILED = 1,    /* the work failed: a file cannot be written, a disk is full, memory is out */
    BRAID_BAD_INPUT = 2, /* bad usage or bad input: a config key, a trace row, a missing file */
};

/* All text is owned by the struct; nothing is to be freed. `line` and `col` count from 1, 0 = unknown. */
struct error {
    int code; /* enum braid_status */
    int line, col;
    char file[256];
    char message[768];
};

/* Fill `e` (which may be NULL) and return `code`, so that `return error_set(e, ...)` reads well. */
int error_set(struct error *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As error_set, with the place: `file` may be NULL, `line` and `col` may be 0. */
int error_at(struct error *e, int code, const char *file, int line, int col, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Write "FILE:LINE:COL: message" (the parts that are known) into `out`; returns `out`. */
const char *error_text(const struct error *e, char *out, unsigned long size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
