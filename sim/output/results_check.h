/* results_check.h - what must hold of a results file before anything in it is believed.
 *
 *   every table       is there, and no other group
 *   every column      of the schema is there (is_late: may be absent), one-dimensional, as long as the others of its table,
 *                     of its type, size and unit, an enum with the codes of the schema, its values really in the file
 *   /runs, /summary   as long as each other, with the same runs in the same rows
 *   X_begin, X_count  rows that table X has
 *
 * Columns that the schema does not know are left alone (swept keys must be text). Codes that no member has are found where values are
 * read (report_table.h, results_source.h): a look at all of them here would be a look at the whole file.
 */
#ifndef OUTPUT_RESULTS_CHECK_H
#define OUTPUT_RESULTS_CHECK_H

#include "output/results_schema.h"

#include <braid/error.h>
#include <hdf5.h>

/* `rows`: of each table. BRAID_BAD_INPUT names file, table and column; BRAID_FAILED when memory is out. `err` may be NULL. */
int results_check(hid_t file, const char *path, uint64_t rows[RESULTS_TABLES], struct error *err);

#endif
