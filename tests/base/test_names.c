#include "tests/dice.h"
#include "base/names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t dice = 0x9e3779b97f4a7c15;

static uint32_t roll(uint32_t sides)
{
    return dice_roll(&dice, sides);
}

static int compare(const char *a, const char *b)
{
    int c = text_compare_natural(a, strlen(a), b, strlen(b));
    return (c > 0) - (c < 0);
}

Test(names, ids_are_given_in_order_of_appearance)
{
    struct names n;
    names_init(&n);
    cr_expect_eq(names_find(&n, "a", 1), NAMES_NONE);
    cr_expect_eq(names_add(&n, "b", 1), 0u);
    cr_expect_eq(names_add(&n, "a", 1), 1u);
    cr_expect_eq(names_add(&n, "", 0), 2u);
    cr_expect_eq(names_add(&n, "bxx", 1), 0u, "only the bytes that were named count");
    cr_expect_eq(names_add(&n, "bxx", 2), 3u);
    cr_expect_eq(names_find(&n, "", 0), 2u);
    cr_expect_eq(names_find(&n, "bx", 2), 3u);
    cr_expect_eq(names_find(&n, "bxx", 3), NAMES_NONE);
    cr_expect_str_eq(names_text(&n, 3), "bx");
    cr_expect_eq(n.count, 4u);
    names_fini(&n);
    names_fini(&n); /* as after names_init */
}

Test(names, ten_thousand_names_are_found_again)
{
    struct names n;
    char text[32];
    names_init(&n);
    for (uint32_t i = 0; i < 10000; i++)
        cr_assert_eq(names_add(&n, text, (size_t)snprintf(text, sizeof text, "user%u", i * 7919 % 10007)), i);
    for (uint32_t i = 0; i < 10000; i++) {
        size_t length = (size_t)snprintf(text, sizeof text, "user%u", i * 7919 % 10007);
        cr_assert_eq(names_find(&n, text, length), i);
        cr_assert_eq(names_add(&n, text, length), i);
        cr_assert_str_eq(names_text(&n, i), text);
    }
    names_fini(&n);
}

Test(names, sorting_renumbers_in_natural_order)
{
    static const char *const texts[] = {"j10", "j9", "", "j09", "a", "j1", "B", "10", "9"};
    static const char *const sorted[] = {"", "9", "10", "B", "a", "j1", "j09", "j9", "j10"};
    enum { N = sizeof texts / sizeof *texts };
    struct names n;
    uint32_t map[N];
    names_init(&n);
    for (uint32_t i = 0; i < N; i++)
        names_add(&n, texts[i], strlen(texts[i]));
    cr_assert(names_sort(&n, map));
    for (uint32_t i = 0; i < N; i++) {
        cr_expect_str_eq(names_text(&n, i), sorted[i]);
        cr_expect_str_eq(names_text(&n, map[i]), texts[i]);
        cr_expect_eq(names_find(&n, texts[i], strlen(texts[i])), map[i]);
    }
    cr_expect_eq(names_add(&n, "new", 3), (uint32_t)N, "the table goes on working");
    names_fini(&n);
}

Test(names, sorting_none_is_no_error)
{
    struct names n;
    names_init(&n);
    cr_expect(names_sort(&n, NULL));
    names_fini(&n);
}

Test(natural_order, runs_of_digits_are_numbers)
{
    cr_expect_eq(compare("j9", "j10"), -1);
    cr_expect_eq(compare("application_1_99", "application_1_100"), -1);
    cr_expect_eq(compare("1.9", "1.10"), -1);
    cr_expect_eq(compare("a", "a0"), -1);
    cr_expect_eq(compare("a99999999999999999999999998", "a99999999999999999999999999"), -1, "longer than any integer");
    cr_expect_eq(compare("a1", "b0"), -1);
    cr_expect_eq(compare("\x7f", "\x80"), -1, "bytes have no sign");
    cr_expect_eq(compare("007", "7"), -1, "equal but for zeros: by bytes");
    cr_expect_eq(compare("007b", "7a"), 1, "zeros count last");
    cr_expect_eq(compare("", ""), 0);
    cr_expect_eq(text_compare_natural("ab", 1, "ac", 1), 0, "only the bytes that were named count");
}

static void roll_text(char *out)
{
    static const char alphabet[] = "0019aA-\xff";
    uint32_t n = roll(7);
    for (uint32_t i = 0; i < n; i++)
        out[i] = alphabet[roll(sizeof alphabet - 1)];
    out[n] = '\0';
}

Test(natural_order, is_total_antisymmetric_and_transitive)
{
    for (uint32_t i = 0; i < 300000; i++) {
        char a[8], b[8], c[8];
        roll_text(a);
        roll_text(b);
        roll_text(c);
        int ab = compare(a, b), bc = compare(b, c), ac = compare(a, c);
        cr_assert_eq(ab == 0, strcmp(a, b) == 0, "'%s' '%s': 0 only for equal text", a, b);
        cr_assert_eq(compare(b, a), -ab, "'%s' '%s'", a, b);
        if (ab <= 0 && bc <= 0)
            cr_assert_leq(ac, 0, "'%s' <= '%s' <= '%s'", a, b, c);
        if (ab >= 0 && bc >= 0)
            cr_assert_geq(ac, 0, "'%s' >= '%s' >= '%s'", a, b, c);
    }
}

Test(nearest, finds_what_was_meant)
{
    static const char *const keys[] = {"trace", "cluster", "policy", "placement", "estimate", "jobs"};
    enum { N = sizeof keys / sizeof *keys };
    cr_expect_str_eq(text_nearest("placment", keys, N), "placement");
    cr_expect_str_eq(text_nearest("polcy", keys, N), "policy");
    cr_expect_str_eq(text_nearest("job", keys, N), "jobs");
    cr_expect_str_eq(text_nearest("clutser", keys, N), "cluster"); /* two edits, 1 + 7 / 3 allowed */
    cr_expect_str_eq(text_nearest("trace", keys, N), "trace");
    cr_expect_null(text_nearest("frobnicate", keys, N));
    cr_expect_null(text_nearest("", keys, N));
    cr_expect_null(text_nearest("trace", keys, 0));
    cr_expect_str_eq(text_nearest("b", (const char *const[]){"a", "c"}, 2), "a", "the first of equals");
}

Test(nearest, long_words_are_nobody)
{
    char word[200];
    memset(word, 'x', sizeof word);
    word[199] = '\0';
    const char *const same[] = {word};
    cr_expect_null(text_nearest(word, same, 1));
    cr_expect_null(text_nearest("x", same, 1));
}
