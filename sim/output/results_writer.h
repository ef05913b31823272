/* results_writer.h - makes one results file, table after table, whole or not at all.
 *
 *   open ──▶ { table ──▶ push column by column, slice by slice ──▶ end } ... ──▶ commit   PATH.tmp ──fsync, rename──▶ PATH
 *                                                                          or abort    PATH.tmp removed, PATH as it was
 *
 * Columns are streams: a table's columns are pushed in slices of rows, in any interleaving; a packed column gathers its
 * slices into chunks of at most WRITER_CHUNK_BYTES, the others go straight to the file. So memory is bounded whatever the number of rows.
 * The bytes of the file depend on the calls alone. Not thread-safe: one thread a writer.
 */
#ifndef OUTPUT_RESULTS_WRITER_H
#define OUTPUT_RESULTS_WRITER_H

#include "output/results_column.h"
#include "output/results_driver.h"
#include "output/results_schema.h"

#include <braid/error.h>

/* Rows in a slice: whoever pushes the rows of one run begins at its first row and pushes this many of each column at a time,
 * so that a file does not depend on which way its rows came. */
enum { WRITER_SLICE = 8192 };
enum { WRITER_CHUNK_BYTES = 1 << 19, WRITER_CHUNK_ROWS = 1 << 16 };

struct results_writer {
    const char *path; /* shown in messages */
    char *place;      /* where it goes, links followed */
    char *temporary;  /* beside it */
    struct results_disk disk;
    hid_t file, driver;
    hid_t group; /* of the open table */
    struct writer_column *columns;
    uint32_t n_columns;
    struct column_scratch scratch;
    const char *broken; /* what HDF5 refused (a literal), or NULL */
    bool is_short;      /* memory ran out */
};

/* Begin `path` (kept as a pointer) as PATH.tmp; where PATH is a link, beside what it leads to. BRAID_FAILED: no such folder, no permission,
 * PATH is a folder, another process is writing it. BRAID_BAD_INPUT: PATH is a device, a pipe or standard output. */
int results_writer_open(struct results_writer *w, const char *path, struct error *err);

/* Begin a table of `rows` rows; widths[i] is the width of text column i (at least 1). Errors of the calls up to commit are remembered: a
 * caller may push on and ask once, or stop early when results_writer_has_failed. */
void results_writer_table(struct results_writer *w, const char *name, const struct column_spec *columns,
                          const size_t *widths, uint32_t n_columns, uint64_t rows);
void results_writer_push(struct results_writer *w, uint32_t column, const void *values, uint32_t n);
void results_writer_end(struct results_writer *w); /* every column has all its rows (asserted) */
bool results_writer_has_failed(const struct results_writer *w);

/* Finish the file and give it its name. BRAID_FAILED: what went wrong ("no space left on device"); PATH is as it was. */
int results_writer_commit(struct results_writer *w, struct error *err);
void results_writer_abort(struct results_writer *w);

/* What this version writes as `producer`. */
const char *results_producer(void);

/* fsync the folder that holds `path`, so that a rename in it lasts; errno, 0 when done or when the file system cannot. */
int folder_sync(const char *path);

#endif
