#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static void check_piece(const unsigned char *p, size_t n)
{
    cr_assert_not_null(p);
    cr_assert_eq((uintptr_t)p % 16, 0u, "aligned to 16 bytes");
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(p[i], 0u, "zeroed");
}

Test(arena, pieces_of_all_sizes_are_aligned_zeroed_and_apart)
{
    enum { N = 3000 };
    static unsigned char *pieces[N];
    static size_t sizes[N];
    struct arena a;
    arena_init(&a);
    size_t total = 0;
    for (uint32_t i = 0; i < N; i++) {
        sizes[i] = i % 97 == 0 ? 16384 + i : i % 31 == 0 ? 5000 : i % 50;
        pieces[i] = arena_alloc(&a, sizes[i], 1);
        check_piece(pieces[i], sizes[i]);
        memset(pieces[i], (int)(i % 251 + 1), sizes[i]);
        total += sizes[i];
    }
    for (uint32_t i = 0; i < N; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            cr_assert_eq(pieces[i][k], i % 251 + 1, "piece %u was written over", i);
    cr_expect_geq(a.total, total);
    cr_expect_not(a.is_short);
    arena_fini(&a);
}

Test(arena, a_large_piece_first_leaves_small_ones_alone)
{
    struct arena a;
    arena_init(&a);
    unsigned char *large = arena_alloc(&a, 100000, 1), *small = arena_alloc(&a, 10, 1),
                  *again = arena_alloc(&a, 100000, 1);
    memset(large, 1, 100000);
    check_piece(small, 10);
    check_piece(again, 100000);
    memset(small, 2, 10);
    memset(again, 3, 100000);
    cr_expect_eq(large[99999], 1u);
    cr_expect_eq(small[9], 2u);
    unsigned char *next = arena_alloc(&a, 10, 1);
    cr_expect(next > small && next - small <= 32, "small pieces go on in their block"); /* 32: with a gap between them */
    arena_fini(&a);
}

Test(arena, nothing_is_a_valid_pointer)
{
    struct arena a;
    arena_init(&a);
    char *x = arena_alloc(&a, 0, 8), *y = arena_alloc(&a, 8, 0);
    cr_expect_not_null(x);
    cr_expect_not_null(y);
    cr_expect_neq(x, y);
    cr_expect_not(a.is_short);
    arena_fini(&a);
}

Test(arena, overflow_gives_null_and_is_remembered)
{
    struct arena a;
    arena_init(&a);
    cr_expect_null(arena_alloc(&a, SIZE_MAX, 2));
    cr_expect(a.is_short);
    a.is_short = false;
    cr_expect_null(arena_alloc(&a, SIZE_MAX / 8 + 1, 8));
    cr_expect_null(arena_alloc(&a, SIZE_MAX, 1));
    cr_expect_null(arena_alloc(&a, SIZE_MAX - 8, 1), "rounding up must not wrap");
    cr_expect(a.is_short);
    check_piece(arena_alloc(&a, 1, 1), 1); /* and goes on working */
    arena_fini(&a);
}

Test(arena, text_is_copied_and_ended)
{
    struct arena a;
    arena_init(&a);
    cr_expect_str_eq(arena_text(&a, "abcdef", 3), "abc");
    cr_expect_str_eq(arena_text(&a, "", 0), "");
    arena_fini(&a);
}

Test(arena, fini_leaves_an_empty_arena)
{
    struct arena a;
    arena_init(&a);
    arena_fini(&a);
    check_piece(arena_alloc(&a, 100, 1), 100);
    arena_fini(&a);
    cr_expect_eq(a.total, 0u);
}
