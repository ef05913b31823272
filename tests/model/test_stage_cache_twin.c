/* Steady states that are kept against ones that are simulated anew.
 *
 * A million questions, of which one in a hundred is simulated again for comparison (that is what costs); the others must be what the same
 * question was told before.
 */
#include "tests/dice.h"
#include "model/stage_cache.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILES = 9, MOST = 3, KEYS = 10 * 10 * 10, OPERATIONS = 1000000 };

static uint64_t dice = 0xabcdef12345;

static uint32_t roll(uint32_t sides)
{
    return dice_roll(&dice, sides);
}

/* Times of members as listed, by what was listed. */
static struct {
    bool is_known;
    double cycle_ns[MOST];
} twin[KEYS];

static void simulated(const struct stage_rule *rule, const struct stage_job *profiles, const uint32_t *numbers,
                      uint32_t n, double *cycle_ns)
{
    struct stage_job jobs[MOST];
    struct stage_steady steady;
    uint32_t order[MOST]; /* equal members have theirs in the order in which they are listed */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        for (; rule->order != INTERLEAVE_GIVEN && k > 0 && numbers[order[k - 1]] > numbers[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        jobs[i] = profiles[numbers[order[i]]];
    stage_sim(&steady, rule, jobs, n);
    for (uint32_t i = 0; i < n; i++)
        cycle_ns[order[i]] = steady.cycle_ns[i];
}

static void compare(enum interleave_order order)
{
    struct stage_rule rule = {.discipline = STAGE_EXCLUSIVE, .order = order, .kinds = MOST};
    struct stage_job profiles[PROFILES];
    struct stage_cache c;
    uint32_t n_known = 0;
    memset(twin, 0, sizeof twin);
    memset(profiles, 0, sizeof profiles);
    stage_cache_init(&c, &rule);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t numbers[MOST], n = 1 + roll(MOST), key = 0;
        double got[MOST], want[MOST];
        if (c.n_profiles < PROFILES && roll(100) == 0) { /* they come one by one */
            struct stage_job *p = &profiles[c.n_profiles];
            for (uint32_t k = 0; k < MOST; k++)
                p->stage_ns[k] = 1 + roll(30);
            p->gap_ns = roll(3);
            cr_assert(stage_cache_add(&c, c.n_profiles, p));
            cr_assert(stage_cache_add(&c, 0, &(struct stage_job){.gap_ns = 99}), "it keeps what it is");
        }
        if (c.n_profiles == 0)
            continue;
        for (uint32_t k = 0; k < MOST; k++) {
            numbers[k] = roll(c.n_profiles);
            key = key * 10 + (k < n ? numbers[k] + 1 : 0);
        }
        stage_cache_cycles(&c, numbers, n, got);
        if (!twin[key].is_known || i % 100 == 0) {
            simulated(&rule, profiles, numbers, n, want);
            cr_assert(!twin[key].is_known || memcmp(want, twin[key].cycle_ns, n * sizeof *want) == 0);
            n_known += !twin[key].is_known;
            twin[key].is_known = true;
            memcpy(twin[key].cycle_ns, want, n * sizeof *want);
        }
        for (uint32_t k = 0; k < n; k++)
            cr_assert_eq(got[k], twin[key].cycle_ns[k], "operation %u: member %u of %u takes %g, in the twin %g", i, k,
                         n, got[k], twin[key].cycle_ns[k]);
    }
    cr_expect_eq(n_known, 9u + 81 + 729);
    cr_expect_geq(c.n_entries, order == INTERLEAVE_GIVEN ? n_known : 9u + 45 + 165);
    stage_cache_fini(&c);
}

Test(stage_cache, what_is_kept_is_what_is_simulated)
{
    compare(INTERLEAVE_BEST);
}

Test(stage_cache, what_is_kept_in_a_given_order_is_what_is_simulated)
{
    compare(INTERLEAVE_GIVEN);
}
