/* export_json.h - JSON to a stream, by YAJL. */
#ifndef OUTPUT_EXPORT_JSON_H
#define OUTPUT_EXPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>

/* NULL when memory is out; yajl_gen_free. */
yajl_gen export_json_create(FILE *out);

/* Text that is not UTF-8 (a trace may hold anything) is written with '?' for every byte beyond ASCII. */
void export_json_text(yajl_gen g, const char *text);
void export_json_key_text(yajl_gen g, const char *key, const char *text);

/* Reads back exactly; null for what is not finite. */
void export_json_number(yajl_gen g, double value);
void export_json_key_number(yajl_gen g, const char *key, double value);

void export_json_integer(yajl_gen g, int64_t value);
void export_json_key_integer(yajl_gen g, const char *key, int64_t value);

/* A line break between two values, so that large files stay readable. */
void export_json_line(FILE *out);

#endif
