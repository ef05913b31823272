/* export_number.h - numbers as text that reads back exactly, the same in every locale. */
#ifndef OUTPUT_EXPORT_NUMBER_H
#define OUTPUT_EXPORT_NUMBER_H

enum { EXPORT_NUMBER_MAX = 40 };

/* The shortest of %.15g, %.16g and %.17g that reads back as `value`, with '.' as decimal point, into `out` (EXPORT_NUMBER_MAX bytes);
 * "nan", "inf" and "-inf" for those. Returns `out`. */
const char *number_shortest(double value, char *out);

#endif
