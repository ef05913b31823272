/* Profiles and kinds of groups that are looked up by hash against a table with a place for each, over a million random questions. */
#include "tests/dice.h"
#include "inside.h"
#include "policies/muri_worth.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 600, SIDES = 25, OPERATIONS = 1000000, KINDS = 26 * 26 * 26 * 26, FORGET = 300000 };

static const struct test_case *the_case; /* a test program runs each test in a process of its own */

/* Jobs of one length of each stage have one profile; 25 in all, so that there are 25^4 kinds of four. */
static int64_t stage(uint32_t profile, uint32_t k)
{
    return 1 + (k == 0 ? profile % 5 : k == 1 ? profile / 5 : 2);
}

static bool is_alike(uint32_t a, uint32_t b)
{
    const struct case_job *x = &the_case->jobs[a], *y = &the_case->jobs[b];
    return x->iteration_ns == y->iteration_ns && memcmp(x->stage_ns, y->stage_ns, sizeof x->stage_ns) == 0;
}

/* Where the twin keeps the number of a kind: a place for each sequence. */
static uint32_t place_of(const uint32_t *profiles, uint32_t n)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < MURI_GROUP_MAX; i++)
        at = at * 26 + (i < n ? profiles[i] + 1 : 0);
    return at;
}

static double use_of(struct sched *s, const uint32_t *jobs, uint32_t n)
{
    double rates[MURI_GROUP_MAX], use = 0;
    if (sched_group_rates(s, jobs, n, rates) != SCHED_OK)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct case_job *j = &the_case->jobs[jobs[i]];
        for (int k = 0; k < 4; k++)
            use += rates[i] * (double)j->stage_ns[k] / (double)j->iteration_ns / 4;
    }
    return use;
}

static void operations(void *self, struct sched *s)
{
    struct muri_worth w = {0};
    uint64_t dice = 0x1234567;
    uint32_t profile_of[JOBS], *number = malloc(KINDS * sizeof *number);
    uint32_t n_kinds = 0;
    (void)self;
    cr_assert(number != NULL);
    memset(number, 0xff, KINDS * sizeof *number);
    for (uint32_t j = 0; j < JOBS; j++) { /* equal profiles, and no others, have one number; the first comes first */
        uint32_t first = 0, most = 0;
        profile_of[j] = muri_profile_of(&w, s, j);
        while (!is_alike(first, j))
            first++;
        for (uint32_t i = 0; i < j; i++)
            most = profile_of[i] + 1 > most ? profile_of[i] + 1 : most;
        cr_assert_eq(profile_of[j], first < j ? profile_of[first] : most, "job %u", j);
    }
    cr_assert_eq(w.n_profiles, (uint32_t)SIDES);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t jobs[MURI_GROUP_MAX], profiles[MURI_GROUP_MAX], n = 1 + dice_roll(&dice, MURI_GROUP_MAX), kind;
        for (uint32_t k = 0; k < n; k++) {
            jobs[k] = dice_roll(&dice, JOBS);
            profiles[k] = profile_of[jobs[k]];
        }
        if (i % FORGET == FORGET - 1) { /* too few yet: nothing is forgotten */
            muri_worth_tidy(&w);
            cr_assert_eq(w.n_kinds, n_kinds);
        }
        uint32_t at = place_of(profiles, n), parts = 1 + dice_roll(&dice, n);
        if (parts < n) { /* from two kinds */
            uint32_t a = muri_kind_of(&w, s, profiles, parts), b = muri_kind_of(&w, s, profiles + parts, n - parts);
            uint32_t in_order[2][2] = {{place_of(profiles, parts), a}, {place_of(profiles + parts, n - parts), b}};
            for (int k = 0; k < 2; k++) {
                uint32_t *known = &number[in_order[k][0]];
                n_kinds += *known == UINT32_MAX;
                *known = *known == UINT32_MAX ? n_kinds - 1 : *known;
                cr_assert_eq(in_order[k][1], *known, "operation %u: part %d is kind %u, in the twin %u", i, k,
                             in_order[k][1], *known);
            }
            cr_assert_eq(muri_kind_together(&w, s, a, b, n - 1), MURI_NONE, "operation %u", i);
            kind = muri_kind_together(&w, s, a, b, n);
        } else {
            kind = muri_kind_of(&w, s, profiles, n);
        }
        if (number[at] == UINT32_MAX)
            number[at] = n_kinds++;
        cr_assert_eq(kind, number[at], "operation %u: kind %u, in the twin %u", i, kind, number[at]);
        cr_assert_eq(w.n_kinds, n_kinds, "operation %u", i);
        const struct muri_kind *k = &w.kinds[kind];
        cr_assert(muri_kind_size(k) == n && memcmp(k->profiles, profiles, n * sizeof *profiles) == 0, "operation %u",
                  i);
        if (i % 16 == 0)
            cr_assert_float_eq(k->use, use_of(s, jobs, n), 1e-12, "operation %u: %g", i, k->use);
    }
    free(number);
}

Test(muri_worth, a_million_random_questions_agree_with_a_table)
{
    struct test_case *c = case_create(1, 1);
    uint64_t dice = 31;
    c->sharing = (struct sharing_spec){.groups = 4, .order = INTERLEAVE_BEST};
    for (uint32_t j = 0; j < JOBS; j++) {
        uint32_t profile = dice_roll(&dice, SIDES);
        case_job(c, 0, 100, 1);
        for (uint32_t k = 0; k < 4; k++) {
            c->jobs[j].stage_ns[k] = stage(profile, k) * S;
            c->jobs[j].iteration_ns += c->jobs[j].stage_ns[k];
        }
    }
    the_case = c;
    inside_run(c, &(struct inside){.knows = KNOWS_PROFILE, .begin = operations});
    case_destroy(c);
}
