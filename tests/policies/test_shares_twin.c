/* Rows of shares that are found by bisection against a look at every row, over a million random questions to random trees. */
#include "tests/dice.h"
#include "fair_case.h"
#include "inside.h"
#include "policies/shares.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 120, TREES = 8, NAMES = 60, QUESTIONS = 1000000 / TREES };

/* The twin: rows as they stand in the file. */
struct row {
    char name[16];
    uint32_t parent; /* a row, ROWS: the root */
    bool is_parent;
};

static const char *paths[TREES];
static struct row trees[TREES][ROWS]; /* a test program runs each test in a process of its own */

/* Groups have names of their own, people may stand under several groups; names begin alike, so that order matters. */
static void plant(struct row *rows, uint64_t *dice, const char **path)
{
    static char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text, "name,parent\n");
    for (uint32_t i = 0; i < ROWS;) {
        struct row *r = &rows[i];
        bool is_group = dice_roll(dice, 4) == 0, is_twice = false;
        uint32_t parent = i > 0 ? dice_roll(dice, i + 1) : ROWS, depth = 1;
        parent = parent == i ? ROWS : parent;
        for (uint32_t up = parent; up != ROWS; up = rows[up].parent)
            depth++;
        if (depth > SHARES_DEPTH - 2 || (parent != ROWS && rows[parent].name[0] != 'g'))
            continue; /* under people stands nobody */
        if (is_group)
            snprintf(r->name, sizeof r->name, "g%u", i * 7 % ROWS);
        else
            snprintf(r->name, sizeof r->name, "u%s%u", dice_roll(dice, 2) == 0 ? "" : "u", dice_roll(dice, NAMES));
        for (uint32_t k = 0; k < i; k++)
            is_twice |= strcmp(rows[k].name, r->name) == 0 && rows[k].parent == parent;
        if (is_twice)
            continue;
        r->parent = parent;
        r->is_parent = false;
        if (parent != ROWS)
            rows[parent].is_parent = true;
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%s,%s\n", r->name, parent != ROWS ? rows[parent].name : "");
        i++;
    }
    *path = fair_file(text);
}

static bool is_below(const struct row *rows, uint32_t row, uint32_t ancestor)
{
    uint32_t up = rows[row].parent;
    while (up != ROWS && up != ancestor)
        up = rows[up].parent;
    return up == ancestor;
}

/* "The first" is the first by parent, where the root is the last. */
static uint32_t twin_below(const struct row *rows, const char *name, uint32_t ancestor)
{
    uint32_t best = ROWS;
    for (uint32_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0 && !rows[i].is_parent && is_below(rows, i, ancestor) &&
            (best == ROWS || rows[i].parent < rows[best].parent))
            best = i;
    return best;
}

static void operations(void *self, struct sched *s)
{
    uint64_t dice = 0x5555;
    (void)self;
    for (uint32_t t = 0; t < TREES; t++) {
        const struct row *rows = trees[t];
        struct shares shares;
        struct error err;
        cr_assert_eq(shares_load(&shares, s, paths[t], &err), BRAID_OK, "%s", err.message);
        cr_assert_eq(shares.n, (uint32_t)ROWS);
        for (uint32_t i = 0; i < ROWS; i++)
            cr_assert(strcmp(shares.rows[i].name, rows[i].name) == 0 && shares.rows[i].is_parent == rows[i].is_parent &&
                          shares.rows[i].parent == (rows[i].parent != ROWS ? rows[i].parent : SHARES_ROOT),
                      "tree %u, row %u", t, i);
        for (uint32_t q = 0; q < QUESTIONS; q++) {
            char name[16];
            uint32_t ancestor = dice_roll(&dice, ROWS + 1), n = 0, found = SHARES_ROOT, at = ROWS;
            if (dice_roll(&dice, 3) == 0)
                strcpy(name, rows[dice_roll(&dice, ROWS)].name);
            else
                snprintf(name, sizeof name, "%s%u", dice_roll(&dice, 2) == 0 ? "u" : "uu", dice_roll(&dice, NAMES));
            uint32_t want = twin_below(rows, name, ancestor);
            uint32_t got = shares_find_below(&shares, name, ancestor != ROWS ? ancestor : SHARES_ROOT);
            cr_assert_eq(got, want != ROWS ? want : SHARES_ROOT, "tree %u, question %u: '%s' is row %u, in the twin %u",
                         t, q, name, got, want);
            for (uint32_t i = 0; i < ROWS; i++)
                if (strcmp(rows[i].name, name) == 0) {
                    n++;
                    at = i;
                }
            bool has_jobs = dice_roll(&dice, 2) == 0, is_wrong = n > 1 || (n == 1 && has_jobs && rows[at].is_parent);
            int status = shares_find(&shares, name, has_jobs, &found, &err);
            cr_assert_eq(status, is_wrong ? BRAID_BAD_INPUT : BRAID_OK, "tree %u, question %u: '%s'", t, q, name);
            cr_assert(is_wrong || found == (n == 1 ? at : SHARES_ROOT), "tree %u, question %u: '%s' is row %u", t, q,
                      name, found);
        }
    }
}

Test(shares, a_million_random_questions_agree_with_a_look_at_every_row)
{
    struct test_case *c = case_create(1, 1);
    uint64_t dice = 0x777;
    for (uint32_t t = 0; t < TREES; t++)
        plant(trees[t], &dice, &paths[t]);
    inside_run(c, &(struct inside){.begin = operations});
    case_destroy(c);
}
