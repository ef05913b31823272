/* columns.h - the columns of a workload as one table, so that allocating, permuting, hashing and releasing them are a loop each.
 *
 * Ids are not in the table: they are offsets into a text and have a shape of their own.
 */
#ifndef TRACES_COLUMNS_H
#define TRACES_COLUMNS_H

#include "traces/workload.h"

#include <stddef.h>

struct column {
    const char *name;
    size_t at;    /* offset of the pointer in struct workload */
    size_t size;  /* bytes of a value */
    int flag;     /* offset of its bool in struct workload_columns; -1: always there */
    int names_at; /* offset of the struct names that the values index; -1: plain values */
};

/* All columns, `*n` of them, in a fixed order. */
const struct column *columns_table(size_t *n);

/* The array of column `c`, or NULL, and setting it. */
void *column_get(const struct workload *w, const struct column *c);
void column_set(struct workload *w, const struct column *c, void *array);

bool column_is_wanted(const struct column *c, const struct workload_columns *want);
struct names *column_names(struct workload *w, const struct column *c); /* NULL: plain values */

/* out[i] = in[pick[i]] for `n` values of `size` bytes. */
void column_pick(void *restrict out, const void *restrict in, size_t size, const uint32_t *pick, uint32_t n);

#endif
