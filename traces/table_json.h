/* table_json.h - a table in JSON: an array of objects, an object with such an array, or objects one after the other. For traces/table.c.
 *
 *     [ {row}, {row} ]          { "jobs": [ {row}, {row} ], … }          {row} {row}
 *
 * What a value is called: its key, for an object inside OUTER.INNER. A list inside a row is one
 * value: its plain values joined by commas, its objects as TYPE/NAME=COUNT (so Slurm's lists of resources read as in sacct -P).
 */
#ifndef TRACES_TABLE_JSON_H
#define TRACES_TABLE_JSON_H

#include "traces/table.h"

int table_json_read(struct table_reader *t, struct source *source, const char *path, struct error *err);

/* The names of the values of the first rows, as table_peek has them. */
int table_json_peek(struct table_peek *out, struct source *source, struct error *err);

#endif
