/* Interned names against a plain list, over a million random operations. */
#include "tests/dice.h"
#include "base/names.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 120, OPERATIONS = 1000000, LONGEST = 9 };

static uint64_t dice = 0xdeadbeefcafe;

static uint32_t roll(uint32_t sides)
{
    return dice_roll(&dice, sides);
}

/* The twin: names by id. */
static char list[MOST][LONGEST + 1];
static uint32_t n_list;

static uint32_t twin_find(const char *text)
{
    for (uint32_t i = 0; i < n_list; i++)
        if (strcmp(list[i], text) == 0)
            return i;
    return NAMES_NONE;
}

/* Some that begin alike, some with digits, the empty one. */
static size_t roll_name(char *out)
{
    static const char *const starts[] = {"", "j", "ab", "user"};
    size_t n = strlen(strcpy(out, starts[roll(4)])), more = roll(4);
    for (; more > 0; more--)
        out[n++] = "019a"[roll(4)];
    out[n] = '\0';
    return n;
}

/* Ids follow natural order, and everybody's new id has its text. */
static void sort_both(struct names *n, uint32_t operation)
{
    static char before[MOST][LONGEST + 1];
    uint32_t map[MOST];
    memcpy(before, list, sizeof list);
    cr_assert(names_sort(n, map));
    for (uint32_t i = 0; i < n_list; i++) { /* by counting who comes before */
        uint32_t rank = 0;
        for (uint32_t k = 0; k < n_list; k++)
            rank += text_compare_natural(before[k], strlen(before[k]), before[i], strlen(before[i])) < 0;
        cr_assert_eq(map[i], rank, "operation %u: '%s'", operation, before[i]);
        strcpy(list[rank], before[i]);
    }
}

Test(names, a_million_random_operations_agree_with_a_plain_list)
{
    struct names n;
    names_init(&n);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        char text[LONGEST + 4];
        size_t length = roll_name(text);
        uint32_t want = twin_find(text), what = roll(100);
        strcpy(text + length, "0a"); /* what follows the name does not count */
        if (what < 10 && (want != NAMES_NONE || n_list < MOST)) {
            if (want == NAMES_NONE) {
                want = n_list++;
                memcpy(list[want], text, length);
                list[want][length] = '\0';
            }
            uint32_t got = names_add(&n, text, length);
            cr_assert_eq(got, want, "operation %u: '%.*s' is %u, in the twin %u", i, (int)length, text, got, want);
        } else {
            uint32_t got = names_find(&n, text, length);
            cr_assert_eq(got, want, "operation %u: '%.*s' is %u, in the twin %u", i, (int)length, text, got, want);
        }
        cr_assert_eq(n.count, n_list, "operation %u", i);
        if (n_list > 0) {
            uint32_t id = roll(n_list);
            cr_assert_str_eq(names_text(&n, id), list[id], "operation %u: id %u", i, id);
        }
        if (i % 997 == 0)
            sort_both(&n, i);
        if (n_list == MOST && roll(2000) == 0) { /* and again from none */
            names_fini(&n);
            n_list = 0;
        }
    }
    names_fini(&n);
}
