/* The set of nodes against a table of booleans, over a million random operations. */
#include "cluster/nodeset.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

static uint32_t naive_next(const bool *in, uint32_t size, uint32_t from)
{
    for (uint32_t i = from; i < size; i++)
        if (in[i])
            return i;
    return NODESET_NONE;
}

/* Random inserts and erases around a filling of about `fill` members, compared with a table of booleans after each. */
static void compare_with_table(uint32_t size, uint32_t fill, uint32_t steps)
{
    struct arena arena;
    struct nodeset s;
    arena_init(&arena);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, size + fill);
    bool *in = calloc(size, sizeof *in);
    cr_assert(in != NULL && nodeset_init(&s, size, &arena));
    uint32_t count = 0;
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t i = (uint32_t)gsl_rng_uniform_int(rng, size);
        bool grows = gsl_rng_uniform_int(rng, 2 * (unsigned long)fill) >= count;
        if (grows && !in[i]) {
            nodeset_insert(&s, i);
            in[i] = true;
            count++;
        } else if (!grows) {
            i = nodeset_next(&s, i);
            if (i == NODESET_NONE)
                i = nodeset_first(&s);
            cr_assert(i != NODESET_NONE && in[i]);
            nodeset_erase(&s, i);
            in[i] = false;
            count--;
        }
        uint32_t from = (uint32_t)gsl_rng_uniform_int(rng, size + 2ul);
        cr_assert_eq(nodeset_next(&s, from), naive_next(in, size, from), "size %u, from %u", size, from);
        cr_assert_eq(nodeset_has(&s, i), in[i]);
        cr_assert_eq(s.count, count);
    }
    free(in);
    gsl_rng_free(rng);
    arena_fini(&arena);
}

Test(nodeset, agrees_with_a_table_at_every_size_around_a_word)
{
    static const uint32_t SIZES[] = {1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        compare_with_table(SIZES[i], SIZES[i] / 2 + 1, 70000);
}

Test(nodeset, agrees_with_a_table_when_sparse_and_when_large)
{
    compare_with_table(4097, 3, 100000);
    compare_with_table(300000, 2000, 200000);
    compare_with_table(300000, 20, 2000);
}

Test(nodeset, an_empty_set_has_no_first_member)
{
    struct arena arena;
    struct nodeset s;
    arena_init(&arena);
    cr_assert(nodeset_init(&s, 0, &arena));
    cr_assert_eq(nodeset_first(&s), NODESET_NONE);
    cr_assert(nodeset_init(&s, 64 * 64 * 64 + 1, &arena));
    cr_assert_eq(s.n_levels, 4);
    cr_assert_eq(nodeset_first(&s), NODESET_NONE);
    nodeset_insert(&s, 64 * 64 * 64);
    cr_assert_eq(nodeset_first(&s), 64 * 64 * 64);
    cr_assert_eq(nodeset_next(&s, 64 * 64 * 64 + 1), NODESET_NONE);
    cr_assert_eq(nodeset_next(&s, UINT32_MAX), NODESET_NONE);
    arena_fini(&arena);
}
