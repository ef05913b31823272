/* sheet.h - a small csv file that stands beside a config (an inventory, quotas, shares, estimates, service times) being read: columns found by
 * name, numbers checked, errors that name file, line and column. Bytes and rows come from traces/source.h and traces/csv.h.
 */
#ifndef CLUSTER_SHEET_H
#define CLUSTER_SHEET_H

#include "base/arena.h"
#include "traces/csv.h"

#include <braid/error.h>

enum { SHEET_COLUMNS = 5 };

struct sheet {
    struct source source;
    struct csv csv;
    const char *shown; /* what errors call the file */
    struct arena *arena;
    struct error *err;
    uint32_t column[SHEET_COLUMNS]; /* where each wanted column stands; the caller's, or from sheet_header_has */
};

/* Open `path` (`shown` may be NULL). After an error there is nothing to close. */
int sheet_open(struct sheet *s, const char *path, const char *shown, struct arena *a, struct error *err);
void sheet_close(struct sheet *s);

/* The next row, which must have the first `n` wanted columns; *has_row false: the end. */
int sheet_next(struct sheet *s, uint32_t n, bool *has_row);

/* Field `field` of the present row without blanks around it, and whether it is `name`. */
struct csv_field sheet_field(const struct sheet *s, uint32_t field);
bool sheet_field_is(const struct sheet *s, uint32_t field, const char *name);

/* For the names of columns, in lower case: capitals in the file do not matter. UINT32_MAX: not there. */
bool sheet_header_is(const struct sheet *s, uint32_t field, const char *name);
uint32_t sheet_header_find(const struct sheet *s, const char *name);

/* Are all of `names` in the header? Then s->column says where. */
bool sheet_header_has(struct sheet *s, const char *const *names, uint32_t n);

/* A decimal number of wanted column `i` times `scale`, from `least` to `most` (before scaling); whole when scale is 1. */
int sheet_number(struct sheet *s, uint32_t i, const char *name, int64_t scale, int64_t least, int64_t most,
                 int64_t *out);

/* "NAME is 'FIELD'; give WANTED" at the field's place. */
int sheet_error(struct sheet *s, uint32_t field, const char *name, const char *wanted);
int sheet_out_of_memory(struct error *err);

/* `list` of n items of `size` bytes and one more, moved when n is a power of two; NULL: memory is out. Begin with NULL and 0. */
void *sheet_append(struct arena *a, void *list, uint32_t n, size_t size, const void *item);

#endif
