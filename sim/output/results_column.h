/* results_column.h - one column of a results file as a stream of values (for results_writer.c). */
#ifndef OUTPUT_RESULTS_COLUMN_H
#define OUTPUT_RESULTS_COLUMN_H

#include "output/results_schema.h"

#include <hdf5.h>

struct writer_column {
    struct column_spec spec;
    hid_t dataset, type;
    size_t size;       /* of a value */
    uint64_t rows, at; /* in all, pushed so far */
    /* packed columns: */
    uint32_t chunk_rows, filled;
    uint8_t *chunk;
    uint8_t *steady;        /* a chunk of one value all over is compressed once: its value, … */
    uint8_t *steady_packed; /* … its compressed bytes */
    size_t steady_bytes;
};

/* Scratch for compressing, shared by the columns of a writer. */
struct column_scratch {
    uint8_t *shuffled, *packed;
    size_t packed_size;
};

/* Values in a chunk of a packed column of `rows` values of `size` bytes. */
uint32_t column_chunk_rows(uint64_t rows, size_t size);

/* Create the dataset in `group`. NULL, or what failed (a literal; "memory" when memory is out). On failure column_fini is still due. */
const char *column_init(struct writer_column *c, hid_t group, const struct column_spec *spec, size_t width,
                        uint64_t rows);
const char *column_push(struct writer_column *c, const void *values, uint32_t n, struct column_scratch *scratch);
const char *column_fini(struct writer_column *c);

/* The HDF5 type of a column in memory and in the file; close with H5Tclose. Negative: failed. */
hid_t column_type_create(const struct column_spec *spec, size_t width);

#endif
