/* The pending-event set against a plain table, over a million random operations. */
#include "tests/dice.h"
#include "engine/evq.h"

#include <criterion/criterion.h>
#include <string.h>

enum { HANDLES = 300, OPERATIONS = 1000000 };

static uint64_t dice = 88172645463325252u;

static uint32_t roll(uint32_t sides)
{
    return dice_roll(&dice, sides);
}

/* The twin: one row a handle. */
static struct {
    bool is_pending;
    int64_t time;
    uint32_t class;
} twin[HANDLES];

/* First by time, class, handle; HANDLES: none. */
static uint32_t twin_first(void)
{
    uint32_t best = HANDLES;
    for (uint32_t h = 0; h < HANDLES; h++)
        if (twin[h].is_pending && (best == HANDLES || twin[h].time < twin[best].time ||
                                   (twin[h].time == twin[best].time && twin[h].class < twin[best].class)))
            best = h;
    return best;
}

Test(evq, a_million_random_operations_agree_with_a_plain_table)
{
    struct arena a;
    struct evq q;
    uint32_t n = 0;
    arena_init(&a);
    cr_assert(evq_init(&q, HANDLES, &a));
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t h = roll(HANDLES), what = roll(100);
        /* the share of sets swings, so that the set fills and empties again */
        uint32_t sets = i / 5000 % 2 == 0 ? 70 : 25;
        if (what < sets) {
            int64_t time = roll(20) == 0 ? (int64_t)(UINT64_C(1) << (roll(63))) : (int64_t)roll(50);
            uint32_t class = roll(4) == 0 ? roll(256) : roll(4);
            n += !twin[h].is_pending;
            twin[h].is_pending = true;
            twin[h].time = time;
            twin[h].class = class;
            evq_set(&q, h, time, class);
        } else if (what < 85) {
            n -= twin[h].is_pending;
            twin[h].is_pending = false;
            evq_cancel(&q, h);
        } else if (!evq_is_empty(&q)) {
            uint32_t first = twin_first();
            cr_assert_lt(first, (uint32_t)HANDLES);
            cr_assert_eq(evq_time(&q), twin[first].time);
            cr_assert_eq(evq_class(&q), twin[first].class);
            struct event e = evq_pop(&q);
            cr_assert(e.handle == first && e.time_ns == twin[first].time && e.class == twin[first].class,
                      "operation %u: popped (%lld, %u, %u), the first is (%lld, %u, %u)", i, (long long)e.time_ns,
                      e.class, e.handle, (long long)twin[first].time, twin[first].class, first);
            twin[first].is_pending = false;
            n--;
        }
        cr_assert_eq(evq_is_pending(&q, h), twin[h].is_pending);
        cr_assert_eq(evq_is_empty(&q), n == 0);
        if (i % 512 == 0)
            cr_assert(evq_check(&q, HANDLES), "operation %u", i);
    }
    arena_fini(&a);
}

Test(evq, an_empty_set_has_no_time)
{
    struct arena a;
    struct evq q;
    arena_init(&a);
    cr_assert(evq_init(&q, 1, &a));
    cr_assert_eq(evq_time(&q), INT64_MAX);
    evq_cancel(&q, 0); /* nothing to forget */
    cr_assert(evq_is_empty(&q));
    evq_set(&q, 0, 0, 0);
    cr_assert_eq(evq_time(&q), 0);
    arena_fini(&a);
}

Test(evq, order_is_time_then_class_then_handle)
{
    static const struct event in_order[] = {{3, 0, 7}, {3, 0, 9}, {3, 2, 1},
                                            {3, 4, 0}, {4, 0, 8}, {INT64_MAX - 1, 255, 2}};
    enum { N = sizeof in_order / sizeof *in_order };
    for (uint32_t shift = 0; shift < N; shift++) {
        struct arena a;
        struct evq q;
        arena_init(&a);
        cr_assert(evq_init(&q, 10, &a));
        for (uint32_t i = 0; i < N; i++) {
            const struct event *e = &in_order[(i * 5 + shift) % N]; /* 5 and 6 have no common factor: each once */
            evq_set(&q, e->handle, e->time_ns, e->class);
        }
        for (uint32_t i = 0; i < N; i++) {
            struct event e = evq_pop(&q);
            cr_expect(e.time_ns == in_order[i].time_ns && e.class == in_order[i].class &&
                      e.handle == in_order[i].handle);
        }
        arena_fini(&a);
    }
}

Test(evq, check_sees_a_broken_heap_and_a_broken_index)
{
    struct arena a;
    struct evq q;
    arena_init(&a);
    cr_assert(evq_init(&q, 8, &a));
    for (uint32_t h = 0; h < 8; h++)
        evq_set(&q, h, (int64_t)h, 0);
    cr_assert(evq_check(&q, 8));
    evq_key root = q.key[0];
    q.key[0] = q.key[7];
    q.key[7] = root;
    cr_expect_not(evq_check(&q, 8));
    q.key[7] = q.key[0];
    q.key[0] = root;
    cr_assert(evq_check(&q, 8));
    q.at[3] = 0;
    cr_expect_not(evq_check(&q, 8));
    arena_fini(&a);
}
