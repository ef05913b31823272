/* The sorted sets of a policy against a plain array, over a million random operations. The sets take their memory from a run, so the
 * work is done inside the `init` of a policy of a run without jobs. */
#include "policies/jobset.h"
#include "tests/dice.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <string.h>

enum { JOBS = 256, SETS = 3, OPERATIONS = 1000000 };

static uint64_t dice = 0x2545f4914f6cdd1d;

static uint32_t roll(uint32_t sides)
{
    return dice_roll(&dice, sides);
}

/* The twin of one set: members in order of (key, job). */
struct row {
    int64_t key, length;
    uint32_t job;
};

struct twin {
    struct row rows[JOBS];
    uint32_t n;
};

static uint32_t twin_find(const struct twin *t, uint32_t job)
{
    uint32_t i = 0;
    while (i < t->n && t->rows[i].job != job)
        i++;
    return i;
}

static void twin_insert(struct twin *t, struct row row)
{
    uint32_t i = t->n++;
    for (; i > 0 && (t->rows[i - 1].key > row.key || (t->rows[i - 1].key == row.key && t->rows[i - 1].job > row.job));
         i--)
        t->rows[i] = t->rows[i - 1];
    t->rows[i] = row;
}

static void twin_erase(struct twin *t, uint32_t at)
{
    t->n--;
    memmove(&t->rows[at], &t->rows[at + 1], (t->n - at) * sizeof *t->rows);
}

static bool is_row(const struct jobset *set, uint32_t node, const struct row *row)
{
    const struct jobset_node *n = jobset_node(set, node);
    return n->job == row->job && n->key == row->key && n->length == row->length;
}

/* Forth by `next`, back by `prev`. */
static void check_walk(const struct jobset *set, const struct twin *t)
{
    uint32_t i = 0;
    cr_assert_eq(set->count, t->n);
    for (uint32_t node = set->first; node != JOBSET_NONE; node = jobset_node(set, node)->next, i++)
        cr_assert(i < t->n && is_row(set, node, &t->rows[i]));
    cr_assert_eq(i, t->n);
    for (uint32_t node = set->last; node != JOBSET_NONE; node = jobset_node(set, node)->prev)
        cr_assert(i > 0 && is_row(set, node, &t->rows[--i]));
    cr_assert_eq(i, 0u);
}

static void check_within(const struct jobset *set, const struct twin *t, int64_t length)
{
    uint32_t node = jobset_first_within(set, length), i = 0;
    while (i < t->n && t->rows[i].length > length)
        i++;
    cr_assert_eq(node == JOBSET_NONE, i == t->n, "length %lld", (long long)length);
    cr_assert(node == JOBSET_NONE || is_row(set, node, &t->rows[i]));
}

static int64_t roll_key(void)
{
    switch (roll(8)) {
    case 0:
        return INT64_MIN + (int64_t)roll(3);
    case 1:
        return INT64_MAX - (int64_t)roll(3);
    case 2:
        return 7; /* many alike */
    default:
        return (int64_t)roll(100) - 50;
    }
}

static int random_operations(void *self, struct sched *s, const union param *v, struct error *err)
{
    (void)self, (void)v, (void)err;
    static struct twin twins[SETS];
    struct jobset_pool pool;
    struct jobset sets[SETS];
    jobset_pool_init(&pool, s);
    for (int i = 0; i < SETS; i++)
        jobset_init(&sets[i], &pool);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t which = roll(SETS), job = roll(JOBS), at;
        struct jobset *set = &sets[which];
        struct twin *t = &twins[which];
        bool is_filling = i / 20000 % 2 == 0;
        at = twin_find(t, job);
        if (roll(100) < (is_filling ? 65u : 35u)) {
            if (at < t->n)
                continue; /* a job is in a set once */
            struct row row = {roll_key(), roll(5) == 0 ? (int64_t)roll(4) : (int64_t)roll(1000), job};
            cr_assert(jobset_insert(set, row.key, job, row.length));
            twin_insert(t, row);
        } else if (at < t->n) {
            if (roll(10) == 0)
                cr_assert_not(jobset_erase(set, t->rows[at].key ^ 1, job), "erased under a key that it does not have");
            cr_assert(jobset_erase(set, t->rows[at].key, job));
            twin_erase(t, at);
        } else {
            cr_assert_not(jobset_erase(set, roll_key(), job), "erased a job that is not there");
        }
        check_within(set, t, (int64_t)roll(1000));
        check_within(set, t, (int64_t)roll(4));
        if (i % 997 == 0)
            check_walk(set, t);
    }
    return 0;
}

static void do_nothing(void *self, struct sched *s)
{
    (void)self, (void)s;
}

static void run_init(int (*init)(void *, struct sched *, const union param *, struct error *))
{
    const struct policy_ops ops = {.abi_version = BRAID_POLICY_ABI,
                                   .size = sizeof ops,
                                   .name = "sets",
                                   .summary = "",
                                   .source = "",
                                   .state_size = 1,
                                   .init = init,
                                   .schedule = do_nothing};
    struct test_case *c = case_create(1, 1);
    c->spec.policy = (struct policy_spec){.ops = &ops, .label = "sets"};
    case_run(c);
    case_destroy(c);
}

Test(jobset, a_million_random_operations_agree_with_a_plain_array)
{
    run_init(random_operations);
}

static int duplicates(void *self, struct sched *s, const union param *v, struct error *err)
{
    (void)self, (void)v, (void)err;
    struct jobset_pool pool;
    struct jobset set;
    jobset_pool_init(&pool, s);
    jobset_init(&set, &pool);
    for (uint32_t job = 100; job-- > 0;)
        cr_assert(jobset_insert(&set, 5, job, 100 - (int64_t)job));
    uint32_t node = set.first;
    for (uint32_t job = 0; job < 100; job++, node = jobset_node(&set, node)->next)
        cr_expect_eq(jobset_node(&set, node)->job, job);
    cr_expect_eq(jobset_node(&set, jobset_first_within(&set, 30))->job, 70u);
    cr_expect_eq(jobset_first_within(&set, 0), JOBSET_NONE);
    cr_expect_not(jobset_erase(&set, 4, 50));
    cr_expect(jobset_erase(&set, 5, 50));
    cr_expect_not(jobset_erase(&set, 5, 50));
    cr_expect_eq(set.count, 99u);
    return 0;
}

Test(jobset, equal_keys_come_in_order_of_job)
{
    run_init(duplicates);
}
