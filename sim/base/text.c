#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character that begins at text[0]; 0: none does (a wrong byte, one cut off, too long a form, a surrogate). */
static size_t character(const unsigned char *text, size_t n)
{
    unsigned char c = text[0];
    size_t length = c < 0x80                ? 1
                    : c >= 0xc2 && c < 0xe0 ? 2
                    : c >= 0xe0 && c < 0xf0 ? 3
                    : c >= 0xf0 && c < 0xf5 ? 4
                                            : 0;
    if (length == 0 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0) || (c == 0xf0 && text[1] < 0x90) ||
        (c == 0xf4 && text[1] >= 0x90))
        return 0;
    return length;
}

static bool is_control(const unsigned char *text, size_t length)
{
    return (length == 1 && (text[0] < 0x20 || text[0] == 0x7f)) || (length == 2 && text[0] == 0xc2 && text[1] < 0xa0);
}

/* Most text is plain ASCII: eight bytes at once are between ' ' and '~'. */
static size_t plain_prefix(const char *text, size_t n)
{
    const uint64_t high = UINT64_C(0x8080808080808080), ones = UINT64_C(0x0101010101010101);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v;
        memcpy(&v, text + i, sizeof v);
        uint64_t is_low = (v | high) - ones * 0x20; /* bit 7 falls where the byte is below 0x20 */
        uint64_t is_del = (v & ~high) + ones;       /* bit 7 rises where the byte is 0x7f */
        if (((v | is_del) & high) != 0 || (is_low & high) != high)
            return i;
    }
    return i;
}

unsigned text_flaws(const char *text, size_t n)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned flaws = TEXT_FINE;
    for (size_t i = plain_prefix(text, n); i < n;) {
        size_t length = character(at + i, n - i);
        if (length == 0)
            flaws |= TEXT_NOT_UTF8;
        else if (is_control(at + i, length))
            flaws |= TEXT_CONTROL;
        i += length > 0 ? length : 1;
    }
    return flaws;
}

size_t text_clean(char *out, size_t room, const char *text, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        size_t length = character(at + i, n - i), size = length;
        char put[TEXT_GROWTH];
        if (length == 0 && at[i] >= 0xa0) {
            put[0] = (char)(0xc0 | at[i] >> 6);
            put[1] = (char)(0x80 | (at[i] & 0x3f));
            size = 2;
        } else if (length == 0) {
            memcpy(put, (char[]){'\\', 'x', digits[at[i] >> 4], digits[at[i] & 15]}, TEXT_GROWTH);
            size = TEXT_GROWTH;
        } else if (is_control(at + i, length)) {
            put[0] = ' ';
            size = 1;
        } else {
            memcpy(put, text + i, length);
        }
        if (size >= room - used)
            break;
        memcpy(out + used, put, size);
        used += size;
        i += length > 0 ? length : 1;
    }
    out[used] = '\0';
    return used;
}

void text_clean_message(char *text, size_t room)
{
    size_t n = strlen(text);
    if (text_flaws(text, n) == TEXT_FINE)
        return;
    char copy[1024]; /* longer than any message: those are fields of struct error */
    n = n < sizeof copy ? n : sizeof copy;
    memcpy(copy, text, n);
    text_clean(text, room, copy, n);
}
