/* bytes.h - a case is made of bytes: each question takes the next ones, and 0 once there are none left. So every sequence of bytes is a
 * case, and 0 should be the answer that makes it simple.
 */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *at;
    size_t left;
};

uint8_t bytes_next(struct bytes *b);
uint64_t bytes_take(struct bytes *b, unsigned count); /* that many bytes (up to 8) as a number, the lowest first */

/* A number from 0 to n - 1 (n <= 256: of one byte, else of two). */
uint32_t bytes_below(struct bytes *b, uint32_t n);

/* One of `n` names by the next byte, such that more names later on change what few bytes mean: the name whose hash with that byte
 * is the largest. */
size_t bytes_name(struct bytes *b, const char *(*name)(size_t i), size_t n);

/* A time in ns: whole seconds, thousandths or billionths, around which most things happen, or seldom any that braid knows. */
int64_t bytes_time(struct bytes *b, bool is_whole);

/* Text between bytes 0xff, which no text has: piece `i` of `all` (empty where there is none). */
struct bytes bytes_piece(const uint8_t *all, size_t n, unsigned i);

#endif
