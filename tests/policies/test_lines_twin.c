/* Lines that cross against a plain table, over a million random operations. Values are such that doubles hold them exactly. */
#include "tests/dice.h"
#include "inside.h"
#include "policies/lines.h"

#include <criterion/criterion.h>

enum { IDS = 40, OPERATIONS = 1000000 };

/* The twin: a row an id. */
struct row {
    bool is_in;
    double slope, at;
    uint32_t turn;
};

static double value_of(const struct row *r, double q)
{
    return r->at * q + r->slope;
}

/* Of least (or greatest) value, of equal ones by turn; IDS: none. */
static uint32_t twin_first(const struct row *rows, double q, bool from_top, const bool *left_out)
{
    uint32_t best = IDS;
    for (uint32_t id = 0; id < IDS; id++) {
        if (!rows[id].is_in || (left_out != NULL && left_out[id]))
            continue;
        double v = value_of(&rows[id], q), b = best < IDS ? value_of(&rows[best], q) : 0;
        if (best == IDS || (from_top ? v > b : v < b) ||
            (v == b && (from_top ? rows[id].turn > rows[best].turn : rows[id].turn < rows[best].turn)))
            best = id;
    }
    return best;
}

static void check_first(const struct lines *l, const struct row *rows, double q, uint32_t i)
{
    double value = 0;
    uint32_t turn = 0, got = lines_first(l, q, &value, &turn), want = twin_first(rows, q, false, NULL);
    cr_assert_eq(got, want < IDS ? want : JOBSET_NONE, "operation %u: %u is first, in the twin %u", i, got, want);
    cr_assert(want == IDS || (value == value_of(&rows[want], q) && turn == rows[want].turn), "operation %u", i);
}

static void check_walk(struct lines *l, const struct row *rows, double q, uint32_t i)
{
    bool seen[IDS] = {false};
    double value = 0;
    lines_walk(l);
    for (;;) {
        uint32_t got = lines_walk_next(l, q, &value), want = twin_first(rows, q, true, seen);
        cr_assert_eq(got, want < IDS ? want : JOBSET_NONE, "operation %u: %u is next, in the twin %u", i, got, want);
        if (want == IDS)
            return;
        cr_assert_eq(value, value_of(&rows[want], q), "operation %u", i);
        seen[want] = true;
    }
}

static double roll_number(uint64_t *dice)
{
    switch (dice_roll(dice, 6)) {
    case 0:
        return 0.0;
    case 1:
        return -0.0; /* the same number */
    default:
        return ((double)dice_roll(dice, 17) - 8) / 4;
    }
}

static void operations(void *self, struct sched *s)
{
    static const double qs[] = {1, 0.5, 0.25, 0x1p-6, 0x1p-20};
    struct jobset_pool pool;
    struct lines l = {0};
    struct row rows[IDS] = {0};
    uint64_t dice = 0x123456789abcdef;
    uint32_t n_turns = 0;
    (void)self;
    jobset_pool_init(&pool, s);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t id = dice_roll(&dice, IDS), n_slopes = i / 30000 % 3 == 0 ? 2 : 9;
        struct row *r = &rows[id];
        double q = qs[dice_roll(&dice, 5)];
        if (r->is_in && dice_roll(&dice, 4) > 0) {
            lines_erase(&l, r->slope, r->at, r->turn);
            r->is_in = false;
        } else if (!r->is_in) {
            *r = (struct row){true, roll_number(&dice) * n_slopes, roll_number(&dice), n_turns++};
            if (dice_roll(&dice, 3) == 0) /* turns come back, too: a node that moves keeps its own */
                r->turn = UINT32_MAX - id;
            cr_assert(lines_insert(&l, &pool, r->slope, r->at, r->turn, id));
        }
        check_first(&l, rows, q, i);
        if (i % 64 == 0)
            check_walk(&l, rows, q, i);
    }
}

Test(lines, a_million_random_operations_agree_with_a_plain_table)
{
    struct test_case *c = case_create(1, 1);
    inside_run(c, &(struct inside){.begin = operations});
    case_destroy(c);
}
