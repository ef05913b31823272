/* number.h - numbers, times and sizes from text, the same in every locale.
 *
 * All parsers take exactly `n` bytes (no '\0' needed), allow blanks around the value and nothing else
 * behind it, and return false on anything that is not wholly a number in range. Decimal only: no hex, no
 * octal, no "inf" or "nan", no digit separators.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)

bool number_parse_i64(const char *text, size_t n, int64_t *out);
bool number_parse_u64(const char *text, size_t n, uint64_t *out);
bool number_parse_double(const char *text, size_t n, double *out); /* finite only; "66.0", "1e3", "-.5" */

/* A decimal number times `scale` (for example NS_PER_S: seconds to nanoseconds), exact in integers where
 * the digits allow it, rounded half away from zero below that; false when it does not fit in 64 bits. */
bool number_parse_scaled(const char *text, size_t n, int64_t scale, int64_t *out);

/* "30 s", "1.5h", "2 min", "1 d", "250 ms": nanoseconds. A bare number counts as seconds. */
bool number_parse_time(const char *text, size_t n, int64_t *out_ns);

/* "[DAYS-][[HH:]MM:]SS[.fraction]" as Slurm writes spans, and "1 day, 02:03:04" or "1 days 02:03:04" as Python does: nanoseconds, not
 * below 0. */
bool number_parse_span(const char *text, size_t n, int64_t *out_ns);

/* A limit as users write it for Slurm: as number_parse_span has it, and what counts from the other end: "MINUTES", "DAYS-HOURS",
 * "DAYS-HOURS:MINUTES". */
bool number_parse_limit(const char *text, size_t n, int64_t *out_ns);

/* "520 GB" (10^n), "16 GiB" (2^n), "4096" (bytes): KiB, rounded down. */
bool number_parse_size(const char *text, size_t n, uint64_t *out_kib);

/* Civil "YYYY-MM-DD[ T]HH:MM:SS[.fff][Z|+HH:MM]" or "YYYY-MM-DD" -> UTC nanoseconds since 1970. Without a zone
 * it is read as UTC: never the host's time zone. Years 1970 to 2200, impossible dates refused. */
bool number_parse_datetime(const char *text, size_t n, int64_t *out_ns);

/* Does the text, which number_parse_datetime takes, say its zone? */
bool number_has_zone(const char *text, size_t n);

/* Days since 1970-01-01 of a civil date of the proleptic Gregorian calendar, and back. */
int64_t date_to_days(int64_t year, int month, int day);
void date_from_days(int64_t days, int64_t *year, int *month, int *day);

#endif
