/* What text of foreign files becomes. */
#include "base/text.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static void expect(const char *text, size_t n, unsigned flaws, const char *clean)
{
    char out[256];
    cr_expect_eq(text_flaws(text, n), flaws, "%s: %u", clean, text_flaws(text, n));
    cr_expect_eq(text_clean(out, sizeof out, text, n), strlen(clean));
    cr_expect_str_eq(out, clean);
    cr_expect_eq(text_flaws(out, strlen(out)), TEXT_FINE, "%s", clean);
}

Test(text, valid_text_stays)
{
    expect("", 0, TEXT_FINE, "");
    expect("a plain name, 20 bytes", 22, TEXT_FINE, "a plain name, 20 bytes");
    expect("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80~", 10, TEXT_FINE, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80~");
}

Test(text, other_bytes_are_latin_1_or_told_as_numbers)
{
    expect("Zo\xeb", 3, TEXT_NOT_UTF8, "Zo\xc3\xab");
    expect("\x80\x9f", 2, TEXT_NOT_UTF8, "\\x80\\x9f");
    expect("\xc0\xaf", 2, TEXT_NOT_UTF8, "\xc3\x80\xc2\xaf");                /* too long a form of '/' */
    expect("\xed\xa0\x80", 3, TEXT_NOT_UTF8, "\xc3\xad\xc2\xa0\\x80");       /* half of a pair */
    expect("\xf4\x90\x80\x80", 4, TEXT_NOT_UTF8, "\xc3\xb4\\x90\\x80\\x80"); /* beyond U+10FFFF */
    expect("ab\xe2\x82", 4, TEXT_NOT_UTF8, "ab\xc3\xa2\\x82");               /* cut off */
}

Test(text, control_characters_are_blanks)
{
    expect("a\nb\tc\033[0m\x7f", 10, TEXT_CONTROL, "a b c [0m ");
    expect("a\xc2\x9b"
           "31m",
           6, TEXT_CONTROL, "a 31m"); /* the one-character escape */
    expect("\x01\xff", 2, TEXT_CONTROL | TEXT_NOT_UTF8, " \xc3\xbf");
}

/* Each byte at each place of a longer text is judged as it is alone. */
Test(text, the_fast_way_sees_what_the_slow_one_sees)
{
    for (int byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < 19; at++) {
            char text[20] = "aaaaaaaaaaaaaaaaaaa", one = (char)byte;
            text[at] = one;
            cr_assert_eq(text_flaws(text, 19), text_flaws(&one, 1), "%d at %zu", byte, at);
        }
}

Test(text, what_has_no_room_is_left_out_whole)
{
    char out[6];
    cr_assert_eq(text_clean(out, sizeof out, "abcd\xc3\xa4", 6), 4);
    cr_assert_str_eq(out, "abcd");
    char message[8] = "ab\n\xeb"
                      "def";
    text_clean_message(message, sizeof message);
    cr_assert_str_eq(message, "ab \xc3\xab"
                              "de");
}
