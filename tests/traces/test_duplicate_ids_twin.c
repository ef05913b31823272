/* Ids that come again, counted by hash, against a comparison with every earlier job: a million ids. */
#include "tests/dice.h"
#include "traces/rank.h"
#include "traces/rows.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { JOBS = 400, IDS = 1000000 };

static uint64_t dice = 0x2468ace13579;

static uint32_t roll(uint32_t sides)
{
    return dice_roll(&dice, sides);
}

Test(duplicate_ids, are_counted_as_by_comparison_with_all)
{
    static char text[JOBS * 16];
    static uint64_t at[JOBS + 1];
    static struct rows r;
    static struct error err;
    for (uint32_t left = IDS, round = 0; left > 0; round++) {
        uint32_t n = 1 + roll(JOBS), kinds = 1 + roll(round % 3 == 0 ? 2000 : 300), want = 0, first = JOBS;
        struct workload w = {.n_jobs = n, .id_at = at, .id_text = text};
        n = w.n_jobs = n < left ? n : left;
        left -= n;
        memset(&r, 0, sizeof r);
        r.has.id = true;
        for (uint32_t j = 0; j < n; j++) {
            bool is_there = false;
            at[j + 1] = at[j] + (uint64_t)sprintf(text + at[j], "%s%u", roll(2) == 0 ? "a" : "", roll(kinds));
            for (uint32_t k = 0; k < j && !is_there; k++)
                is_there = at[k + 1] - at[k] == at[j + 1] - at[j] &&
                           memcmp(text + at[k], text + at[j], at[j + 1] - at[j]) == 0;
            first = is_there && first == JOBS ? j : first;
            want += is_there;
        }
        cr_assert_eq(rank_count_duplicate_ids(&r, &w, &err), BRAID_OK);
        cr_assert_eq(r.counts[ROW_DUPLICATE_ID].rows, want, "round %u: %u of %u ids, in the twin %u", round,
                     (uint32_t)r.counts[ROW_DUPLICATE_ID].rows, n, want);
        cr_assert(want == 0 ||
                      strncmp(r.counts[ROW_DUPLICATE_ID].example, text + at[first], at[first + 1] - at[first]) == 0,
                  "round %u", round);
    }
}
