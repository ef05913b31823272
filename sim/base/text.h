/* text.h - text of foreign files, made fit to be stored and shown.
 *
 * A name in a trace may hold any bytes. What braid stores is UTF-8 without control characters, so that tables keep their lines, a terminal
 * takes no orders from a file, and JSON and HDF5 hold what they promise. Valid UTF-8 stays as it is. Of the bytes that are not, 0xA0 to 0xFF
 * are read as Latin-1, and 0x80 to 0x9F are written as \x80 to \x9f: names that differ stay different. A control character becomes a blank.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>

/* What is wrong with a text; bits. */
enum text_flaw {
    TEXT_FINE = 0,
    TEXT_NOT_UTF8 = 1, /* bytes that are no UTF-8 */
    TEXT_CONTROL = 2   /* control characters: below U+0020, and U+007F to U+009F */
};

enum { TEXT_GROWTH = 4 /* bytes that a byte may become */ };

/* All flaws of text[0..n). */
unsigned text_flaws(const char *text, size_t n);

/* Write text[0..n) to `out` as told above and end it by '\0'; what has no room is left out, no character by half. Returns the length. `room`
 * (> 0) of TEXT_GROWTH * n + 1 always suffices. */
size_t text_clean(char *out, size_t room, const char *text, size_t n);

/* The same in place, for messages: what text_clean would write, cut where `room` bytes are full. */
void text_clean_message(char *text, size_t room);

#endif
