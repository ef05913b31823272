/* export_table.h - rows of tables of a results file as csv or JSON.
 *
 * csv: a line of names, RFC 4180 quotes, numbers that read back exactly, nothing for NaN. With `units` a second line holds the units.
 * JSON: {"table", "units": {column: unit}, "rows": [{column: value}]}; null for NaN.
 */
#ifndef OUTPUT_EXPORT_TABLE_H
#define OUTPUT_EXPORT_TABLE_H

#include "output/report_file.h"

#include <stdio.h>

enum export_format { EXPORT_CSV, EXPORT_JSON };

/* All rows of `table` (RESULTS_JOBS, …), or those of `run` when it is not NULL. RESULTS_SUMMARY comes with what tells its runs apart: name, label,
 * seed, status and the swept keys. BRAID_BAD_INPUT with the output key to set when there are no such rows. */
int export_table(FILE *out, const struct report_file *f, int table, const struct report_run *run,
                 enum export_format format, bool units, struct error *err);

/* "run 0a… has no rows in /segments; run again with …". */
int export_no_rows(const struct report_file *f, const struct report_run *run, int table, struct error *err);

/* One csv field, quoted where it must be. */
void export_csv_text(FILE *out, const char *text);
/* A number that reads back exactly; nothing for NaN. */
void export_csv_number(FILE *out, double value);

#endif
